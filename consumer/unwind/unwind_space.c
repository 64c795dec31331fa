/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_space.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/runtime_sign.h"
#include "common/symbolizer/table_stream.h"

#include <string.h>

struct unwind_retired {
	struct unwind_place place;
	unsigned int pass; /* the pass that retired it */
};

struct unwind_reception {
	struct unwind_space *space;
	struct unwind_place place;
	struct table_stream stream;
	uint32_t runtime;
	uint16_t rule_numbers[UNWIND_TABLE_RULES_MAX]; /* maps the table's rule numbers to those in the map */
};

static void receive_runtime(void *user, uint32_t sign)
{
	struct unwind_reception *reception = user;

	reception->runtime = sign;
}

/* A file that finds no room is one of many that only look like libjvm.so: compiled code has no table then. */
static uint32_t number_hotspot(struct unwind_space *space, const struct unwind_hotspot *hotspot)
{
	uint32_t found = 1;

	if (!hotspot->heaps)
		return 0;
	while (found < space->hotspots_count &&
	       memcmp(&space->hotspots[found], hotspot, sizeof(*hotspot)) != 0)
		found++;
	if (found < space->hotspots_count)
		return found;
	if (found == UNWIND_HOTSPOTS ||
	    unwind_maps_write_from(&space->maps, PIN_UNWIND_HOTSPOT, found, hotspot, sizeof(*hotspot), 1))
		return 0;
	space->hotspots[space->hotspots_count++] = *hotspot;
	return found;
}

static int receive_head(void *user, const struct table_head *head)
{
	struct unwind_reception *reception = user;
	struct unwind_space *space = reception->space;
	struct unwind_place *place = &reception->place;
	uint64_t room;

	if (!space)
		return 0;
	/* check first: a chunk allocated in vain is not free for another file for a while */
	room = unit_map_room(&space->chunks, clock_monotonic_ns());
	space->chunks_lacked = head->chunks > room ? head->chunks - (uint32_t)room : 0;
	if (space->chunks_lacked)
		return -ENOSPC;
	place->chunks = calloc((size_t)head->chunks + 1, sizeof(*place->chunks));
	if (!place->chunks)
		return -ENOMEM;
	for (; place->chunks_count < head->chunks; place->chunks_count++)
		if (unit_map_allocate(&space->chunks, 1, clock_monotonic_ns(),
				      &place->chunks[place->chunks_count]))
			return -ENOSPC;
	if (unit_map_allocate(&space->pages, head->pages, clock_monotonic_ns(), &place->page_at))
		return -ENOSPC;
	place->pages = head->pages;
	place->first_page = head->first_page;
	place->text_page = head->text_page;
	place->rows = head->rows;
	place->hotspot = number_hotspot(space, &head->hotspot);
	return 0;
}

static int number_rule(struct unwind_space *space, const struct unwind_rule *rule, uint16_t *ret_number)
{
	uint32_t found = unwind_rules_find(&space->rules, rule);
	int result;

	if (found == HASH_INDEX_NONE) {
		found = space->rules.count;
		if (found == space->rules_max) {
			space->rules_full = true;
			return -ENOSPC;
		}
		result =
			unwind_maps_write_from(&space->maps, PIN_UNWIND_RULES, found, rule, sizeof(*rule), 1);
		if (!result)
			result = unwind_rules_add(&space->rules, rule);
		if (result < 0)
			return result;
	}
	*ret_number = (uint16_t)found;
	return 0;
}

static int receive_rules(void *user, uint32_t from, struct unwind_rule *rules, uint32_t count)
{
	struct unwind_reception *reception = user;
	int result = 0;

	for (uint32_t i = 0; i < count && !result && reception->space; i++) {
		for (size_t step = 0; rules[i].kind == UNWIND_STEPS && step < UNWIND_STEPS_MAX; step++)
			rules[i].steps.rules[step] = reception->rule_numbers[rules[i].steps.rules[step]];
		result = number_rule(reception->space, &rules[i], &reception->rule_numbers[from + i]);
	}
	return result;
}

static int receive_chunks(void *user, uint32_t from, struct unwind_chunk *chunks, uint32_t count)
{
	const struct unwind_reception *reception = user;
	const struct unwind_maps *maps;

	if (!reception->space)
		return 0;
	maps = &reception->space->maps;
	for (uint32_t i = 0; i < count; i++)
		for (size_t row = 0; row < UNWIND_CHUNK_ROWS; row++)
			chunks[i].rows[row].rule = reception->rule_numbers[chunks[i].rows[row].rule];
	return maps->write(maps->user, PIN_UNWIND_ROWS, reception->place.chunks + from, chunks, count);
}

static int receive_pages(void *user, uint32_t from, struct unwind_page *pages, uint32_t count)
{
	const struct unwind_reception *reception = user;
	const struct unwind_place *place = &reception->place;

	if (!reception->space)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = pages[i].first_row;

		pages[i].uses = 0;
		if (pages[i].rows)
			pages[i].first_row = place->chunks[row / UNWIND_CHUNK_ROWS] * UNWIND_CHUNK_ROWS +
					     row % UNWIND_CHUNK_ROWS;
	}
	return unwind_maps_write_from(&reception->space->maps, PIN_UNWIND_PAGES, place->page_at + from, pages,
				      sizeof(*pages), count);
}

struct unwind_reception *unwind_reception_new(struct unwind_space *space)
{
	struct unwind_reception *reception = malloc(sizeof(*reception));

	if (!reception)
		return NULL;
	reception->space = space;
	reception->place = (struct unwind_place){ 0 };
	reception->stream = (struct table_stream){ 0 };
	reception->runtime = RUNTIME_NOT_READ;
	return reception;
}

int unwind_reception_take(struct unwind_reception *reception, struct table_message *message, size_t bytes)
{
	const struct table_receiver receiver = { receive_head,  receive_rules,   receive_chunks,
						 receive_pages, receive_runtime, reception };

	return table_take(&reception->stream, message, bytes, &receiver);
}

const struct table_stream *unwind_reception_stream(const struct unwind_reception *reception)
{
	return &reception->stream;
}

uint32_t unwind_reception_runtime(const struct unwind_reception *reception)
{
	return reception->runtime;
}

void unwind_reception_end(struct unwind_reception *reception, struct unwind_place *ret_place)
{
	if (!reception)
		return;
	if (ret_place)
		*ret_place = reception->place;
	else if (reception->space)
		unwind_space_release(reception->space, &reception->place);
	free(reception);
}

void unwind_space_release(struct unwind_space *space, struct unwind_place *place)
{
	uint64_t now_ns = clock_monotonic_ns();

	for (uint32_t i = 0; i < place->chunks_count; i++)
		unit_map_release(&space->chunks, place->chunks[i], 1, now_ns);
	unit_map_release(&space->pages, place->page_at, place->pages, now_ns);
	free(place->chunks);
	*place = (struct unwind_place){ 0 };
}

bool unwind_space_retire(struct unwind_space *space, struct unwind_place *place, unsigned int pass)
{
	if (!place->pages || array_make_room(space->retired, space->retired_count, space->retired_room, 1U))
		return false;
	space->retired[space->retired_count++] = (struct unwind_retired){ *place, pass };
	*place = (struct unwind_place){ 0 };
	return true;
}

void unwind_space_sweep(struct unwind_space *space, unsigned int pass)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < space->retired_count; i++) {
		if (space->retired[i].pass == pass)
			space->retired[kept++] = space->retired[i];
		else
			unwind_space_release(space, &space->retired[i].place);
	}
	space->retired_count = kept;
}

uint64_t unwind_space_uses(const struct unwind_space *space, const struct unwind_place *place)
{
	const struct unwind_maps *maps = &space->maps;
	struct unwind_page pages[UNWIND_MAPS_A_CALL];
	uint64_t uses = 0;

	for (uint32_t done = 0, part; done < place->pages; done += part) {
		uint64_t before = uses;

		part = place->pages - done < ARRAY_SIZE(pages) ? place->pages - done
							       : (uint32_t)ARRAY_SIZE(pages);
		if (maps->read(maps->user, PIN_UNWIND_PAGES, place->page_at + done, pages, part))
			break;
		for (uint32_t i = 0; i < part; i++) {
			uses += pages[i].uses;
			pages[i].uses = 0;
		}
		if (uses > before && unwind_maps_write_from(maps, PIN_UNWIND_PAGES, place->page_at + done,
							    pages, sizeof(pages[0]), part))
			break;
	}
	return uses;
}

void unwind_space_forget_rules(struct unwind_space *space)
{
	unwind_rules_keep_first(&space->rules);
	space->rules_full = false;
	space->hotspots_count = 1;
}

uint64_t unwind_space_bytes(const struct unwind_space *space)
{
	return (uint64_t)space->chunks.allocated * sizeof(struct unwind_chunk);
}

int unwind_space_init(struct unwind_space *space, const struct unwind_maps *maps,
		      const struct unwind_space_sizes *sizes)
{
	const struct unwind_rule none = { .kind = UNWIND_NONE };
	uint16_t number;
	int result;

	*space = (struct unwind_space){ .maps = *maps, .rules_max = sizes->rules, .hotspots_count = 1 };
	if (space->rules_max > UINT16_MAX + 1U)
		space->rules_max = UINT16_MAX + 1U;
	result = unit_map_init(&space->chunks, sizes->chunks);
	if (!result)
		result = unit_map_init(&space->pages, sizes->pages);
	return result ? result : number_rule(space, &none, &number);
}

void unwind_space_free(struct unwind_space *space)
{
	unit_map_free(&space->chunks);
	unit_map_free(&space->pages);
	unwind_rules_free(&space->rules);
	for (uint32_t i = 0; i < space->retired_count; i++)
		free(space->retired[i].place.chunks);
	free(space->retired);
}
