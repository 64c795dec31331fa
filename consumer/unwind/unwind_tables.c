/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_tables.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"
#include "common/base/process_key.h"
#include "common/symbolizer/spawner.h"
#include "consumer/symbols/user_shares.h"
#include "consumer/unwind/unwind_layouts.h"
#include "consumer/unwind/unwind_modules.h"
#include "consumer/unwind/unwind_pass.h"

#include <bpf/bpf.h>

#define PROCESSES_MAX 32768U
/* How often all tables may be rebuilt to make room for other rules. */
#define ANEW_NS (600 * CLOCK_SECOND_NS)
/* The spawner forks at once, but it may have to wait for a CPU. */
#define SPAWN_NS (2 * CLOCK_SECOND_NS)

/* What each user has had of a pass: places in the map of mappings, and time. */
enum share { SHARE_PLACES, SHARE_NS };

struct process {
	uint64_t started_ns;
	uint32_t tgid; /* up to here the key */
	unsigned int pass;
	struct unwind_layout *layout; /* NULL: no room for it */
	bool is_bystander;
};

struct unwind_tables {
	const struct kernel_objects *kernel;
	int spawner_socket;
	struct unwind_gauges *gauges;
	bool off;
	unsigned int passes;
	uint32_t slice_before; /* last slice of a scan that the last pass worked on */
	uint64_t layout_share; /* mappings in the map that one user may have */
	struct unwind_space space;
	struct file_cache *cache;
	struct table_workers *workers;
	struct unwind_modules *modules;
	struct unwind_layouts *layouts;
	struct process *processes;
	uint32_t processes_count, processes_room;
	struct hash_index processes_index;
	uint64_t begun_ns; /* when the first table was built, or all of them were last rebuilt */
};

/* ---- processes ---- */

#define KEYS(tables) HASH_KEYS_BEFORE((tables)->processes, pass)

static struct process *find_or_add(struct unwind_tables *tables, uint32_t tgid, uint64_t started_ns)
{
	const struct process_key key = { started_ns, tgid };
	uint32_t found = hash_index_find_key(&tables->processes_index, KEYS(tables), &key);

	if (found == HASH_INDEX_NONE &&
	    (tables->processes_count == PROCESSES_MAX ||
	     hash_index_intern(&tables->processes_index, KEYS(tables), tables->processes,
			       tables->processes_count, tables->processes_room, &key, &found) < 0))
		return NULL;
	return &tables->processes[found];
}

/* Code that HotSpot compiled is in a mapping without a table. */
static void lay_out_hotspot(struct unwind_mapping *layout, uint32_t count, uint64_t libjvm, uint32_t number)
{
	for (uint32_t i = 0; i < count && number; i++) {
		if (layout[i].pages)
			continue;
		layout[i].table_at = libjvm;
		layout[i].first_page = number;
	}
}

/* Writes the process's mappings of this scan, with the places of their tables. Returns their number. */
static uint32_t lay_out(struct unwind_tables *tables, struct unwind_pass *pass,
			const struct mapped_process *process,
			struct unwind_mapping ret_layout[UNWIND_MAPPINGS_MAX])
{
	uint32_t count = 0, hotspot = 0;
	uint64_t libjvm = 0;

	for (uint32_t i = 0; i < process->count && count < UNWIND_MAPPINGS_MAX; i++) {
		const struct mapping *mapping = &process->mappings[i];
		struct unwind_mapping *to = &ret_layout[count];
		const struct unwind_place *place = NULL;
		uint64_t begin;

		if (!mapping_exists(process, mapping))
			continue;
		if ((mapping->file || mapping->flags & MAPPING_IS_VDSO) &&
		    !(mapping->flags & MAPPING_NO_PATH))
			place = unwind_modules_need(tables->modules, pass, mapping);
		*to = (struct unwind_mapping){ .begins = mapping->begins, .ends = mapping_ends(mapping) };
		if (!mapping->file && !(mapping->flags & MAPPING_IS_VDSO))
			to->first_page = UNWIND_OF_NO_FILE;
		if (place && mapping_find_offset(mapping, &begin)) {
			to->table_at = mapping->begins - begin + place->first_page * UNWIND_PAGE_BYTES;
			to->first_page = place->page_at;
			to->pages = place->pages;
			if (place->hotspot) {
				hotspot = place->hotspot;
				libjvm = mapping->begins - begin;
			}
		}
		count++;
	}
	lay_out_hotspot(ret_layout, count, libjvm, hotspot);
	return count;
}

/*
 * Writes the entry in each pass, even if nothing changed: exec removes it, and the new program may have the
 * mappings of the old one.
 */
static void follow_process(struct unwind_tables *tables, struct unwind_pass *pass,
			   const struct mapped_process *mapped, struct user_share *share)
{
	struct process *process = find_or_add(tables, mapped->tgid, mapped->started_ns);
	struct unwind_layout *before = process ? process->layout : NULL;
	struct unwind_process entry = { .started_ns = mapped->started_ns };
	struct unwind_mapping layout[UNWIND_MAPPINGS_MAX];
	uint64_t left = share->used[SHARE_PLACES] < tables->layout_share
				? tables->layout_share - share->used[SHARE_PLACES]
				: 0;

	if (!process) {
		pass->no_room_processes++;
		return;
	}
	process->pass = pass->number;
	process->is_bystander = mapped->is_bystander;
	process->layout =
		unwind_layouts_acquire(tables->layouts, layout, lay_out(tables, pass, mapped, layout), left);
	if (process->layout) {
		if (process->layout->pass != pass->number) /* processes that were forked share it */
			share->used[SHARE_PLACES] += process->layout->count;
		process->layout->pass = pass->number;
		entry.first = process->layout->first;
		entry.count = process->layout->count;
	}
	if (!process->layout ||
	    bpf_map_update_elem(tables->kernel->map_fds[PIN_UNWIND_PROCS], &mapped->tgid, &entry, BPF_ANY)) {
		bpf_map_delete_elem(tables->kernel->map_fds[PIN_UNWIND_PROCS], &mapped->tgid);
		pass->no_room_processes++;
	}
	unwind_layout_release(before);
}

struct place_in_order {
	bool is_bystander;
	uint32_t mappings, position;
};

static int compare_places(const void *a, const void *b)
{
	const struct place_in_order *one = a, *other = b;

	if (one->is_bystander != other->is_bystander)
		return one->is_bystander - other->is_bystander;
	return COMPARE(one->mappings, other->mappings) ?: COMPARE(one->position, other->position);
}

/* Follows a process in the time that its user has left. */
static void follow_in_time(struct unwind_tables *tables, struct unwind_pass *pass,
			   const struct mapped_process *mapped, struct user_shares *shares)
{
	struct user_share *share = user_shares_of(shares, mapped->uid);
	uint64_t most_ns = (pass->deadline_ns - pass->now_ns) / 2, whole_ns = pass->deadline_ns,
		 began_ns = clock_monotonic_ns(),
		 left_ns = share->used[SHARE_NS] < most_ns ? most_ns - share->used[SHARE_NS] : 0;

	pass->uid = mapped->uid;
	pass->is_bystander = mapped->is_bystander;
	if (began_ns + left_ns < whole_ns)
		pass->deadline_ns = began_ns + left_ns;
	follow_process(tables, pass, mapped, share);
	pass->deadline_ns = whole_ns;
	share->used[SHARE_NS] += clock_monotonic_ns() - began_ns;
}

/* Targets first, and of them those with few mappings: the others have to make do with what is left. */
static void follow_processes(struct unwind_tables *tables, struct unwind_pass *pass)
{
	struct user_shares shares = { .count = 0 };
	struct place_in_order *order = NULL;
	const struct mapped_process *mapped;
	uint32_t count = 0, room = 0;

	for (uint32_t i = 0; (mapped = mappings_process(pass->mappings, i)); i++) {
		if (!mappings_has(pass->mappings, mapped))
			continue;
		if (array_make_room(order, count, room, 1U)) {
			pass->more = true;
			break;
		}
		order[count++] = (struct place_in_order){ mapped->is_bystander, mapped->count, i };
	}
	if (count)
		qsort(order, count, sizeof(*order), compare_places);
	for (uint32_t i = 0; i < count; i++)
		follow_in_time(tables, pass, mappings_process(pass->mappings, order[i].position), &shares);
	free(order);
	user_shares_clear(&shares);
}

/* Runs before entries are written, because a new process may have the id of one that ended. */
static void forget_gone(struct unwind_tables *tables, const struct unwind_pass *pass)
{
	const struct mapped_process *mapped;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tables->processes_count; i++)
		tables->processes[i].pass = 0;
	for (uint32_t i = 0; (mapped = mappings_process(pass->mappings, i)); i++) {
		uint32_t found;

		if (!mappings_has(pass->mappings, mapped))
			continue;
		found = hash_index_find_key(&tables->processes_index, KEYS(tables),
					    &(struct process_key){ mapped->started_ns, mapped->tgid });
		if (found != HASH_INDEX_NONE)
			tables->processes[found].pass = pass->number;
	}
	hash_index_free(&tables->processes_index);
	for (uint32_t i = 0; i < tables->processes_count; i++) {
		const struct process process = tables->processes[i];

		tables->processes[kept] = process;
		if (process.pass == pass->number &&
		    !hash_index_add_key(&tables->processes_index, KEYS(tables), kept)) {
			kept++;
			continue;
		}
		bpf_map_delete_elem(tables->kernel->map_fds[PIN_UNWIND_PROCS], &process.tgid);
		unwind_layout_release(process.layout);
	}
	tables->processes_count = kept;
}

/* ---- a pass ---- */

/* Entries of an earlier daemon, or from before a rebuild, refer to other places. */
static void remove_entries(const struct kernel_objects *kernel)
{
	int fd = kernel->map_fds[PIN_UNWIND_PROCS];
	__u32 tgid;

	while (!bpf_map_get_next_key(fd, NULL, &tgid) && !bpf_map_delete_elem(fd, &tgid))
		;
}

/*
 * Rebuilds all tables because the map of rules is full. Rules stay in the map because most files share them;
 * files with unusual rules fill it over time.
 */
static void begin_anew(struct unwind_tables *tables, uint64_t now_ns)
{
	remove_entries(tables->kernel);
	for (uint32_t i = 0; i < tables->processes_count; i++)
		unwind_layout_release(tables->processes[i].layout);
	tables->processes_count = 0;
	hash_index_free(&tables->processes_index);
	unwind_layouts_sweep(tables->layouts);
	unwind_modules_empty(tables->modules);
	table_failures_clear(tables->gauges->failures);
	unwind_space_forget_rules(&tables->space);
	tables->begun_ns = now_ns;
}

static uint32_t count_targets(const struct unwind_tables *tables)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < tables->processes_count; i++)
		count += !tables->processes[i].is_bystander;
	return count;
}

static void show(const struct unwind_tables *tables, const struct unwind_pass *pass)
{
	struct unwind_gauges *gauges = tables->gauges;
	struct unwind_modules_counts counts = unwind_modules_count(tables->modules);

	atomic_store(&gauges->modules, counts.with);
	atomic_store(&gauges->modules_without, counts.without);
	atomic_store(&gauges->modules_no_room, counts.no_room);
	atomic_store(&gauges->rows, counts.rows);
	atomic_store(&gauges->bytes, unwind_space_bytes(&tables->space));
	atomic_store(&gauges->processes, count_targets(tables));
	atomic_store(&gauges->processes_no_room, pass->no_room_processes);
	atomic_store(&gauges->processes_cut, mappings_many(pass->mappings).cut);
	atomic_store(&gauges->pending, pass->more || unwind_modules_waiting(tables->modules));
	atomic_store(&gauges->kept, file_cache_count(tables->cache, FILE_CACHE_TABLES).files);
	atomic_store(&gauges->kept_bytes, file_cache_count(tables->cache, FILE_CACHE_TABLES).bytes);
	atomic_store(&gauges->loaded, file_cache_count(tables->cache, FILE_CACHE_TABLES).loaded);
	atomic_store(&gauges->named, file_cache_count(tables->cache, FILE_CACHE_NAMES).files);
	atomic_store(&gauges->named_bytes, file_cache_count(tables->cache, FILE_CACHE_NAMES).bytes);
}

/* One pass over the mappings, and then work on what it found missing. Returns true if that made something. */
static bool pass_over(struct unwind_tables *tables, const struct mappings *mappings,
		      struct mapped_files *files, uint64_t deadline_ns, bool *ret_more)
{
	struct unwind_pass pass = { .number = tables->passes + 1,
				    .slice_before = tables->slice_before,
				    .mappings = mappings,
				    .files = files,
				    .failures = tables->gauges->failures,
				    .now_ns = clock_monotonic_ns(),
				    .deadline_ns = deadline_ns };
	bool made;

	if (tables->space.rules_full && pass.now_ns - tables->begun_ns >= ANEW_NS)
		begin_anew(tables, pass.now_ns);
	forget_gone(tables, &pass);
	follow_processes(tables, &pass);
	unwind_layouts_sweep(tables->layouts);
	unwind_modules_sweep(tables->modules, &pass);
	tables->passes = pass.number;
	tables->slice_before = mappings_slice(mappings);
	made = unwind_modules_work(tables->modules, &pass, deadline_ns);
	show(tables, &pass);
	*ret_more = pass.more;
	return made;
}

enum unwind_left unwind_tables_follow(struct unwind_tables *tables, const struct mappings *mappings,
				      struct mapped_files *files, uint64_t deadline_ns)
{
	bool more = false;

	if (tables->off)
		return UNWIND_LEFT_NOTHING;
	while (pass_over(tables, mappings, files, deadline_ns, &more))
		;
	return unwind_modules_waiting(tables->modules) ? UNWIND_LEFT_WORK
	       : more                                  ? UNWIND_LEFT_PASS
						       : UNWIND_LEFT_NOTHING;
}

/* ---- opening ---- */

static uint32_t entries_of(const struct kernel_objects *kernel, enum pin_map map)
{
	struct bpf_map_info info = { 0 };
	__u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(kernel->map_fds[map], &info, &bytes) ? 0 : info.max_entries;
}

static int spawn(void *user, enum symbolizer_priority priority)
{
	const struct unwind_tables *tables = user;

	return spawner_request(tables->spawner_socket, priority, clock_monotonic_ns() + SPAWN_NS);
}

static int open_parts(struct unwind_tables *tables, struct cpu_budget *budget)
{
	const struct kernel_objects *kernel = tables->kernel;
	const struct unwind_maps maps = unwind_maps_of_kernel(kernel->map_fds);
	const struct unwind_space_sizes sizes = { .chunks = entries_of(kernel, PIN_UNWIND_ROWS),
						  .pages = entries_of(kernel, PIN_UNWIND_PAGES),
						  .rules = entries_of(kernel, PIN_UNWIND_RULES) };
	int result;

	tables->off = sizes.chunks <= 1;
	if (!tables->off)
		atomic_store(&tables->gauges->bytes_max,
			     (uint64_t)sizes.chunks * sizeof(struct unwind_chunk));
	tables->layout_share = entries_of(kernel, PIN_UNWIND_MAPS) / 2;
	result = unwind_space_init(&tables->space, &maps, &sizes);
	if (!result) {
		tables->workers = table_workers_new(&tables->space, budget, spawn, tables);
		result = tables->workers ? 0 : -ENOMEM;
	}
	if (!result)
		result = unwind_modules_new(&tables->modules, &tables->space, tables->workers, tables->cache);
	if (!result)
		result = unwind_layouts_new(&tables->layouts, &maps, entries_of(kernel, PIN_UNWIND_MAPS));
	return result;
}

int unwind_tables_open(struct unwind_tables **ret_tables, const struct kernel_objects *kernel,
		       const struct unwind_tools *tools, struct unwind_gauges *gauges)
{
	struct unwind_tables *tables = calloc(1, sizeof(*tables));
	int result;

	if (!tables)
		return -ENOMEM;
	tables->kernel = kernel;
	tables->spawner_socket = tools->spawner_socket;
	tables->cache = tools->cache;
	tables->gauges = gauges;
	tables->begun_ns = clock_monotonic_ns();
	remove_entries(kernel);
	result = table_failures_new(&gauges->failures);
	if (!result)
		result = open_parts(tables, tools->budget);
	if (result < 0)
		unwind_tables_close(tables);
	else
		*ret_tables = tables;
	return result;
}

void unwind_tables_close(struct unwind_tables *tables)
{
	if (!tables)
		return;
	table_failures_free(tables->gauges->failures);
	tables->gauges->failures = NULL;
	unwind_modules_free(tables->modules);
	table_workers_free(tables->workers);
	unwind_layouts_free(tables->layouts);
	unwind_space_free(&tables->space);
	free(tables->processes);
	hash_index_free(&tables->processes_index);
	free(tables);
}
