/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_layouts.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/hash_index.h"
#include "consumer/unwind/unit_map.h"

#include <string.h>

struct unwind_layouts {
	struct unwind_maps maps;
	struct unit_map room;
	struct unwind_layout **layouts;
	uint32_t layouts_count, layouts_room;
	struct hash_index index;
};

int unwind_layouts_new(struct unwind_layouts **ret_layouts, const struct unwind_maps *maps, uint32_t room)
{
	struct unwind_layouts *layouts = calloc(1, sizeof(*layouts));

	if (!layouts)
		return -ENOMEM;
	layouts->maps = *maps;
	if (unit_map_init(&layouts->room, room)) {
		free(layouts);
		return -ENOMEM;
	}
	*ret_layouts = layouts;
	return 0;
}

void unwind_layouts_free(struct unwind_layouts *layouts)
{
	if (!layouts)
		return;
	for (uint32_t i = 0; i < layouts->layouts_count; i++)
		free(layouts->layouts[i]);
	free(layouts->layouts);
	hash_index_free(&layouts->index);
	unit_map_free(&layouts->room);
	free(layouts);
}

static struct unwind_layout *add_layout(struct unwind_layouts *layouts, const struct unwind_layout *described)
{
	struct unwind_layout *layout = malloc(sizeof(*layout));

	if (!layout || array_make_room(layouts->layouts, layouts->layouts_count, layouts->layouts_room, 1U))
		goto failed;
	*layout = *described;
	layouts->layouts[layouts->layouts_count] = layout;
	if (hash_index_add_key(&layouts->index, HASH_KEYS_OF(layouts->layouts, digest),
			       layouts->layouts_count))
		goto failed;
	layouts->layouts_count++;
	return layout;
failed:
	free(layout);
	return NULL;
}

struct unwind_layout *unwind_layouts_acquire(struct unwind_layouts *layouts,
					     const struct unwind_mapping *mappings, uint32_t count,
					     uint64_t new_most)
{
	struct unwind_layout layout = { .count = count, .users = 1 }, *added = NULL;
	struct sha256_ctx context;
	uint32_t found;

	sha256_init(&context);
	sha256_update(&context, count * sizeof(*mappings), (const uint8_t *)mappings);
	sha256_digest(&context, sizeof(layout.digest), layout.digest);
	found = hash_index_find_key(&layouts->index, HASH_KEYS_OF(layouts->layouts, digest), layout.digest);
	if (found != HASH_INDEX_NONE) {
		layouts->layouts[found]->users++;
		return layouts->layouts[found];
	}
	if (count > new_most)
		return NULL;
	if (count && unit_map_allocate(&layouts->room, count, clock_monotonic_ns(), &layout.first))
		return NULL;
	if (!unwind_maps_write_from(&layouts->maps, PIN_UNWIND_MAPS, layout.first, mappings,
				    sizeof(*mappings), count))
		added = add_layout(layouts, &layout);
	if (!added)
		unit_map_release(&layouts->room, layout.first, count, clock_monotonic_ns());
	return added;
}

void unwind_layout_release(struct unwind_layout *layout)
{
	if (layout)
		layout->users--;
}

void unwind_layouts_sweep(struct unwind_layouts *layouts)
{
	uint32_t kept = 0;

	hash_index_free(&layouts->index);
	for (uint32_t i = 0; i < layouts->layouts_count; i++) {
		struct unwind_layout *layout = layouts->layouts[i];

		if (layout->users) {
			/*
			 * without memory the layout is not indexed, so the same layout may be written twice
			 */
			layouts->layouts[kept] = layout;
			hash_index_add_key(&layouts->index, HASH_KEYS_OF(layouts->layouts, digest), kept++);
			continue;
		}
		unit_map_release(&layouts->room, layout->first, layout->count, clock_monotonic_ns());
		free(layout);
	}
	layouts->layouts_count = kept;
}
