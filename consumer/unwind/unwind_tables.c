/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_tables.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/hash_index.h"
#include "common/log.h"
#include "consumer/symbolizer/spawner.h"
#include "consumer/symbolizer/table_stream.h"
#include "consumer/symbolizer/unwind_rules.h"
#include "consumer/unwind/unit_map.h"
#include "consumer/unwind/vdso.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/random.h>

#define RETRY_NS (60 * CLOCK_SECOND_NS) /* until what could not be had, or takes a call, is tried again */
#define PASSES_KEPT 64U                 /* a table that nobody uses is kept so long, unless room is short */
#define PROCESSES_MAX 32768U
#define DEATHS_MAX 3U                 /* of symbolizers, in one pass */
#define TIMEOUTS_MAX 8U               /* of one file, before it is left for a while */
#define FILE_NS (3 * CLOCK_SECOND_NS) /* what one file may take of a pass: others wait, too */
/* How often all of it may begin anew, to have room for other rules. */
#define ANEW_NS (600 * CLOCK_SECOND_NS)

/* What has been tried for a file. */
enum module_state { MODULE_NEW, MODULE_READY, MODULE_WITHOUT };

struct unwind_module {
	uint64_t inode; /* all three 0: the vDSO */
	uint32_t device_major, device_minor;
	enum module_state state;
	bool no_room;
	uint64_t retry_ns;     /* when to try again; 0: never */
	uint64_t next_look_ns; /* not before, where each look takes a process of bourdon-grant's, or was in
				  vain */
	struct timespec changed;
	int64_t bytes;
	unsigned int pass;     /* the last that needed it */
	unsigned int checked;  /* the last in which the file was looked at */
	bool is_suspect;       /* somebody has mapped it since: it may be another one under the same number */
	unsigned int timeouts; /* how often it was not ready in time */
	uint64_t first_page;   /* of the file */
	uint32_t page_at;      /* in the map */
	uint32_t pages, rows;
	uint32_t *chunks; /* in the map */
	uint32_t chunks_count;
};

/* The mappings of a process, and of all that have the same: those that it forked. */
struct layout {
	uint8_t digest[SHA256_DIGEST_SIZE];
	uint32_t first, count; /* in the map */
	uint32_t users;
};

struct process {
	uint32_t tgid;
	uint64_t started_ns;
	struct layout *layout; /* NULL: there was no room */
	unsigned int pass;
};

struct unwind_tables {
	const struct kernel_objects *kernel;
	int spawner_socket;
	struct unwind_gauges *gauges;
	int vdso;
	bool off;
	uint64_t seed;
	unsigned int pass;
	unsigned int scan_before; /* the scan that the last pass was about */
	struct unwind_module **modules;
	uint32_t modules_count, modules_room;
	struct hash_index modules_index;
	struct unwind_module *retired; /* what modules had before */
	uint32_t retired_count, retired_room;
	struct layout **layouts;
	uint32_t layouts_count, layouts_room;
	struct hash_index layouts_index;
	struct process *processes;
	uint32_t processes_count, processes_room;
	struct hash_index processes_index;
	struct unwind_rules rules; /* all that are in the map */
	uint32_t rules_max;
	bool rules_full;
	uint64_t begun_ns; /* when all of it began, or began anew */
	struct unit_map chunks, pages, mappings;
	uint64_t no_room_processes;
	struct log_limit failures;
	/* one pass */
	int symbolizer;
	unsigned int deaths;
	bool more;
	uint64_t now_ns, deadline_ns;
	const struct mappings *shown;
	struct mapped_files *files;
	/* of the process at hand, and of the table at hand */
	struct unwind_mapping layout[UNWIND_MAPPINGS_MAX];
	struct unwind_module *building;
	uint16_t rule_numbers[UNWIND_TABLE_RULES_MAX]; /* in the map, of the table's rules */
	__u32 keys[TABLE_PART_BYTES / sizeof(struct unwind_page)];
};

static int write_elements(const struct unwind_tables *tables, enum pin_map map, const __u32 *keys,
			  const void *elements, uint32_t count)
{
	__u32 written = count;

	return bpf_map_update_batch(tables->kernel->map_fds[map], keys, elements, &written, NULL);
}

/* ---- one table, as it comes from the symbolizer ---- */

static int begin_table(void *user, const struct table_head *head)
{
	struct unwind_tables *tables = user;
	struct unwind_module *module = tables->building;

	/* what is taken in vain is not to be had by the next file for a while */
	if (head->chunks > unit_map_room(&tables->chunks, clock_monotonic_ns()))
		return -ENOSPC;
	module->chunks = calloc((size_t)head->chunks + 1, sizeof(*module->chunks));
	if (!module->chunks)
		return -ENOMEM;
	for (; module->chunks_count < head->chunks; module->chunks_count++)
		if (unit_map_allocate(&tables->chunks, 1, clock_monotonic_ns(),
				      &module->chunks[module->chunks_count]))
			return -ENOSPC;
	if (unit_map_allocate(&tables->pages, head->pages, clock_monotonic_ns(), &module->page_at))
		return -ENOSPC;
	module->pages = head->pages;
	module->first_page = head->first_page;
	module->rows = head->rows;
	return 0;
}

/* Rules are few, and alike in all files: they stay. */
static int add_rule(struct unwind_tables *tables, const struct unwind_rule *rule, uint16_t *ret_number)
{
	uint32_t found = unwind_rules_find(&tables->rules, rule);

	if (found == HASH_INDEX_NONE) {
		found = tables->rules.count;
		if (found == tables->rules_max) {
			tables->rules_full = true;
			return -ENOSPC;
		}
		if (bpf_map_update_elem(tables->kernel->map_fds[PIN_UNWIND_RULES], &found, rule, BPF_ANY))
			return -errno;
		if (unwind_rules_add(&tables->rules, rule))
			return -ENOMEM;
	}
	*ret_number = (uint16_t)found;
	return 0;
}

static int write_rules(void *user, uint32_t from, const struct unwind_rule *rules, uint32_t count)
{
	struct unwind_tables *tables = user;
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++)
		result = add_rule(tables, &rules[i], &tables->rule_numbers[from + i]);
	return result;
}

static int write_chunks(void *user, uint32_t from, struct unwind_chunk *chunks, uint32_t count)
{
	struct unwind_tables *tables = user;

	for (uint32_t i = 0; i < count; i++)
		for (size_t row = 0; row < UNWIND_CHUNK_ROWS; row++)
			chunks[i].rows[row].rule = tables->rule_numbers[chunks[i].rows[row].rule];
	return write_elements(tables, PIN_UNWIND_ROWS, tables->building->chunks + from, chunks, count);
}

static int write_pages(void *user, uint32_t from, struct unwind_page *pages, uint32_t count)
{
	struct unwind_tables *tables = user;
	const struct unwind_module *module = tables->building;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = pages[i].first_row;

		tables->keys[i] = module->page_at + from + i;
		if (pages[i].rows)
			pages[i].first_row = module->chunks[row / UNWIND_CHUNK_ROWS] * UNWIND_CHUNK_ROWS +
					     row % UNWIND_CHUNK_ROWS;
	}
	return write_elements(tables, PIN_UNWIND_PAGES, tables->keys, pages, count);
}

/* ---- modules ---- */

static void empty_module(struct unwind_tables *tables, struct unwind_module *module)
{
	for (uint32_t i = 0; i < module->chunks_count; i++)
		unit_map_release(&tables->chunks, module->chunks[i], 1, clock_monotonic_ns());
	unit_map_release(&tables->pages, module->page_at, module->pages, clock_monotonic_ns());
	free(module->chunks);
	module->chunks = NULL;
	module->chunks_count = module->pages = module->rows = 0;
	module->state = MODULE_NEW;
}

/*
 * Takes a table away from a module. Until the next pass has written the entries of all processes anew, they
 * may lead to it.
 */
static void retire_table(struct unwind_tables *tables, struct unwind_module *module)
{
	if (module->pages &&
	    !array_make_room(tables->retired, tables->retired_count, tables->retired_room, 1U)) {
		tables->retired[tables->retired_count] = *module;
		tables->retired[tables->retired_count++].pass = tables->pass;
		module->chunks = NULL;
		module->chunks_count = module->pages = 0;
		tables->more = true;
	}
	empty_module(tables, module);
}

static void sweep_retired(struct unwind_tables *tables)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tables->retired_count; i++) {
		if (tables->retired[i].pass == tables->pass)
			tables->retired[kept++] = tables->retired[i];
		else
			empty_module(tables, &tables->retired[i]);
	}
	tables->retired_count = kept;
}

/* Makes room: tables that no process of this pass or the one before needs. */
static void empty_unused(struct unwind_tables *tables)
{
	for (uint32_t i = 0; i < tables->modules_count; i++)
		if (tables->modules[i]->pass + 1 < tables->pass)
			empty_module(tables, tables->modules[i]);
}

static int open_module(struct unwind_tables *tables, struct mapped_file *file, struct stat *ret_at)
{
	int fd;

	if (file)
		return mapped_files_open(tables->files, tables->shown, file, tables->deadline_ns, ret_at);
	fd = fcntl(tables->vdso, F_DUPFD_CLOEXEC, 0);
	return fd < 0 || fstat(fd, ret_at) ? -errno : fd;
}

/* 0, or -errno; *ret_symbolizer: it is the file's, and no other file would do better. */
static int compile(struct unwind_tables *tables, struct unwind_module *module, int fd)
{
	const struct table_receiver receiver = { begin_table, write_rules, write_chunks, write_pages,
						 tables };
	uint64_t patience_ns = clock_monotonic_ns() + FILE_NS;
	bool usable;
	int result;

	if (patience_ns > tables->deadline_ns)
		patience_ns = tables->deadline_ns;
	if (tables->symbolizer < 0 && tables->deaths < DEATHS_MAX)
		tables->symbolizer =
			spawner_request(tables->spawner_socket, SYMBOLIZER_SOON, tables->deadline_ns);
	if (tables->symbolizer < 0)
		return -EAGAIN;
	tables->building = module;
	result = table_receive(tables->symbolizer, fd, patience_ns, &receiver, &usable);
	if (!usable) {
		close(TAKE_FD(tables->symbolizer));
		tables->deaths += result == -EPIPE || result == -EBADMSG;
	}
	return result;
}

static void note_failure(struct unwind_tables *tables, struct unwind_module *module,
			 const struct mapped_file *file, int error)
{
	const char *path = file ? file->path : "[vdso]";

	empty_module(tables, module);
	/* not its fault, perhaps; but others wait, too */
	if (error == -EAGAIN || (error == -ETIMEDOUT && ++module->timeouts < TIMEOUTS_MAX)) {
		tables->more = true;
		return;
	}
	module->state = MODULE_WITHOUT;
	module->no_room = error == -ENOSPC;
	/* what the file is made of does not change; who may open it, and what has room, does */
	if (error != -EPIPE && error != -EBADMSG && error != -EFBIG && error != -ENODATA && error != -ENOTSUP)
		module->retry_ns = tables->now_ns + RETRY_NS;
	if (error == -ENODATA || error == -ENOTSUP || !log_allowed(&tables->failures, 5))
		return;
	if (error == -ENOSPC)
		log_warning(
			"no room for the unwind table of %s: raise bourdon-load --unwind-memory; its stacks are walked by frame pointers",
			path);
	else
		log_info("no unwind table for %s: %s; its stacks are walked by frame pointers", path,
			 error == -EPIPE     ? "the symbolizer ended over it"
			 : error == -EBADMSG ? "what the symbolizer says of it cannot be"
					     : strerror(-error));
}

/* Whether it is the file that the table was made of: the number of an inode may have gone to another one. */
static bool is_same(const struct unwind_module *module, const struct stat *at)
{
	return module->bytes == at->st_size && module->changed.tv_sec == at->st_ctim.tv_sec &&
	       module->changed.tv_nsec == at->st_ctim.tv_nsec;
}

static bool is_in_use(const struct unwind_tables *tables, const struct unwind_module *module)
{
	return module->state == MODULE_READY && module->pass + 1 >= tables->pass;
}

static void build(struct unwind_tables *tables, struct unwind_module *module, struct mapped_file *file)
{
	struct stat at = { 0 };
	_cleanup_close_ int fd = open_module(tables, file, &at);
	int result = fd;

	module->checked = tables->pass;
	/* nobody may open it now, or any more: it is most likely what it was */
	module->is_suspect = fd < 0 && is_in_use(tables, module);
	module->next_look_ns =
		module->is_suspect || (file && tables->files->asked) ? tables->now_ns + RETRY_NS : 0;
	if (module->is_suspect)
		return;
	if (fd >= 0 && is_same(module, &at) &&
	    (module->state == MODULE_READY ||
	     (module->state == MODULE_WITHOUT && (!module->retry_ns || tables->now_ns < module->retry_ns))))
		return;
	if (fd >= 0 && !is_same(module, &at))
		module->timeouts = 0;
	retire_table(tables, module);
	module->retry_ns = 0;
	module->no_room = false;
	if (fd >= 0) {
		module->changed = at.st_ctim;
		module->bytes = at.st_size;
		result = compile(tables, module, fd);
	}
	if (result == -ENOSPC) {
		empty_unused(tables); /* for the next time: readers may be at what was given back */
		tables->more = true;
	}
	if (result < 0)
		note_failure(tables, module, file, result);
	else
		module->state = MODULE_READY;
}

struct wanted_module {
	struct unwind_module **modules;
	struct unwind_module module;
};

static bool is_module(const void *user, uint32_t position)
{
	const struct wanted_module *wanted = user;
	const struct unwind_module *module = wanted->modules[position];

	return module->inode == wanted->module.inode && module->device_major == wanted->module.device_major &&
	       module->device_minor == wanted->module.device_minor;
}

static uint32_t hash_module(const struct unwind_tables *tables, const struct unwind_module *module)
{
	uint64_t identity[2] = { module->inode, (uint64_t)module->device_major << 32 | module->device_minor };

	return hash_bytes(tables->seed, identity, sizeof(identity));
}

static struct unwind_module *add_module(struct unwind_tables *tables, const struct unwind_module *wanted)
{
	struct unwind_module *module = malloc(sizeof(*module));

	if (!module || array_make_room(tables->modules, tables->modules_count, tables->modules_room, 1U) ||
	    hash_index_add(&tables->modules_index, hash_module(tables, wanted), tables->modules_count)) {
		free(module);
		return NULL;
	}
	*module = *wanted;
	tables->modules[tables->modules_count++] = module;
	return module;
}

/* Of a mapping that is of a file, or the vDSO. NULL without memory. */
static const struct unwind_module *need_module(struct unwind_tables *tables, const struct mapping *mapping)
{
	struct mapped_file *file = mapping->file;
	struct wanted_module wanted = { tables->modules, { .state = MODULE_NEW } };
	struct unwind_module *module;
	uint32_t found;

	if (file) {
		wanted.module.inode = file->inode;
		wanted.module.device_major = file->device_major;
		wanted.module.device_minor = file->device_minor;
	}
	found = hash_index_find(&tables->modules_index, hash_module(tables, &wanted.module), is_module,
				&wanted);
	module = found != HASH_INDEX_NONE ? tables->modules[found] : add_module(tables, &wanted.module);
	if (!module)
		return NULL;
	if (mapping->since > tables->scan_before && module->checked != tables->pass)
		module->is_suspect = true;
	if (module->pass == tables->pass && !module->is_suspect)
		return module;
	if (module->state == MODULE_NEW || (module->is_suspect && tables->now_ns >= module->next_look_ns) ||
	    (module->state == MODULE_READY && module->pass + 1 < tables->pass) ||
	    (module->retry_ns && tables->now_ns >= module->retry_ns)) {
		if (clock_monotonic_ns() < tables->deadline_ns) {
			build(tables, module, file);
		} else {
			tables->more = true;
			if (!is_in_use(tables, module))
				return NULL; /* until then it has none */
		}
	}
	module->pass = tables->pass;
	return module;
}

static void sweep_modules(struct unwind_tables *tables)
{
	uint32_t kept = 0;

	hash_index_free(&tables->modules_index);
	for (uint32_t i = 0; i < tables->modules_count; i++) {
		struct unwind_module *module = tables->modules[i];

		/* without memory it is only not found again, and built twice */
		if (tables->pass - module->pass > PASSES_KEPT ||
		    hash_index_add(&tables->modules_index, hash_module(tables, module), kept)) {
			empty_module(tables, module);
			free(module);
			continue;
		}
		tables->modules[kept++] = module;
	}
	tables->modules_count = kept;
}

/* ---- layouts ---- */

static uint32_t lay_out(struct unwind_tables *tables, const struct mapped_process *process)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < process->count && count < UNWIND_MAPPINGS_MAX; i++) {
		const struct mapping *mapping = &process->mappings[i];
		const struct unwind_module *module = NULL;

		if (mapping->scan != process->scan)
			continue;
		if ((mapping->file || mapping->flags & MAPPING_IS_VDSO) &&
		    !(mapping->flags & MAPPING_NO_PATH))
			module = need_module(tables, mapping);
		tables->layout[count] =
			(struct unwind_mapping){ .begins = mapping->begins, .ends = mapping->ends };
		if (module && module->state == MODULE_READY) {
			tables->layout[count].table_at = mapping->begins - mapping->file_offset +
							 module->first_page * UNWIND_PAGE_BYTES;
			tables->layout[count].first_page = module->page_at;
			tables->layout[count].pages = module->pages;
		}
		count++;
	}
	return count;
}

static void release_layout(struct layout *layout)
{
	if (layout)
		layout->users--; /* swept at the end of the pass */
}

static uint32_t hash_layout(const struct layout *layout)
{
	uint32_t hash;

	memcpy(&hash, layout->digest, sizeof(hash));
	return hash;
}

static void sweep_layouts(struct unwind_tables *tables)
{
	uint32_t kept = 0;

	hash_index_free(&tables->layouts_index);
	for (uint32_t i = 0; i < tables->layouts_count; i++) {
		struct layout *layout = tables->layouts[i];

		if (layout->users) {
			/* without memory it is only not found again, and written twice */
			hash_index_add(&tables->layouts_index, hash_layout(layout), kept);
			tables->layouts[kept++] = layout;
			continue;
		}
		unit_map_release(&tables->mappings, layout->first, layout->count, clock_monotonic_ns());
		free(layout);
	}
	tables->layouts_count = kept;
}

static int write_layout(struct unwind_tables *tables, const struct layout *layout)
{
	for (uint32_t i = 0; i < layout->count; i++)
		tables->keys[i] = layout->first + i;
	return layout->count
		       ? write_elements(tables, PIN_UNWIND_MAPS, tables->keys, tables->layout, layout->count)
		       : 0;
}

struct wanted_layout {
	struct layout **layouts;
	const struct layout *layout;
};

static bool is_layout(const void *user, uint32_t position)
{
	const struct wanted_layout *wanted = user;

	return !memcmp(wanted->layouts[position]->digest, wanted->layout->digest,
		       sizeof(wanted->layout->digest));
}

static struct layout *add_layout(struct unwind_tables *tables, const struct layout *wanted)
{
	struct layout *layout = malloc(sizeof(*layout));

	if (!layout || array_make_room(tables->layouts, tables->layouts_count, tables->layouts_room, 1U) ||
	    hash_index_add(&tables->layouts_index, hash_layout(wanted), tables->layouts_count)) {
		free(layout);
		return NULL;
	}
	*layout = *wanted;
	tables->layouts[tables->layouts_count++] = layout;
	return layout;
}

/* What is in tables->layout, of `count` mappings. NULL where there is no room. */
static struct layout *acquire_layout(struct unwind_tables *tables, uint32_t count)
{
	struct layout layout = { .count = count, .users = 1 }, *added;
	struct wanted_layout wanted = { tables->layouts, &layout };
	struct sha256_ctx context;
	uint32_t found;

	sha256_init(&context);
	sha256_update(&context, count * sizeof(tables->layout[0]), (const uint8_t *)tables->layout);
	sha256_digest(&context, sizeof(layout.digest), layout.digest);
	found = hash_index_find(&tables->layouts_index, hash_layout(&layout), is_layout, &wanted);
	if (found != HASH_INDEX_NONE) {
		tables->layouts[found]->users++;
		return tables->layouts[found];
	}
	if (count && unit_map_allocate(&tables->mappings, count, clock_monotonic_ns(), &layout.first))
		return NULL;
	added = write_layout(tables, &layout) ? NULL : add_layout(tables, &layout);
	if (!added)
		unit_map_release(&tables->mappings, layout.first, count, clock_monotonic_ns());
	return added;
}

/* ---- processes ---- */

struct wanted_process {
	const struct process *processes;
	uint32_t tgid;
	uint64_t started_ns;
};

static bool is_process(const void *user, uint32_t position)
{
	const struct wanted_process *wanted = user;
	const struct process *process = &wanted->processes[position];

	return process->tgid == wanted->tgid && process->started_ns == wanted->started_ns;
}

static uint32_t hash_process(uint32_t tgid, uint64_t started_ns)
{
	uint64_t identity[2] = { tgid, started_ns };

	return hash_bytes(0, identity, sizeof(identity));
}

static struct process *find_process(struct unwind_tables *tables, uint32_t tgid, uint64_t started_ns)
{
	struct wanted_process wanted = { tables->processes, tgid, started_ns };
	uint32_t hash = hash_process(tgid, started_ns);
	uint32_t found = hash_index_find(&tables->processes_index, hash, is_process, &wanted);

	if (found != HASH_INDEX_NONE)
		return &tables->processes[found];
	if (tables->processes_count == PROCESSES_MAX ||
	    array_make_room(tables->processes, tables->processes_count, tables->processes_room, 1U) ||
	    hash_index_add(&tables->processes_index, hash, tables->processes_count))
		return NULL;
	tables->processes[tables->processes_count] =
		(struct process){ .tgid = tgid, .started_ns = started_ns };
	return &tables->processes[tables->processes_count++];
}

/*
 * Written each time, also where nothing seems to have changed: exec takes the entry away, and what a process
 * execs may look as it did before.
 */
static void follow_process(struct unwind_tables *tables, const struct mapped_process *mapped)
{
	struct process *process = find_process(tables, mapped->tgid, mapped->started_ns);
	struct layout *before = process ? process->layout : NULL;
	struct unwind_process entry = { .started_ns = mapped->started_ns };

	if (!process) {
		tables->no_room_processes++;
		return;
	}
	process->pass = tables->pass;
	process->layout = acquire_layout(tables, lay_out(tables, mapped));
	if (process->layout) {
		entry.first = process->layout->first;
		entry.count = process->layout->count;
	}
	if (!process->layout ||
	    bpf_map_update_elem(tables->kernel->map_fds[PIN_UNWIND_PROCS], &mapped->tgid, &entry, BPF_ANY)) {
		bpf_map_delete_elem(tables->kernel->map_fds[PIN_UNWIND_PROCS], &mapped->tgid);
		tables->no_room_processes++;
	}
	release_layout(before);
}

/* Before others are written: one of them may have the id of a process that is gone. */
static void forget_gone(struct unwind_tables *tables)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tables->processes_count; i++)
		tables->processes[i].pass = 0;
	for (uint32_t i = 0; mappings_process(tables->shown, i); i++) {
		const struct mapped_process *mapped = mappings_process(tables->shown, i);
		struct wanted_process wanted = { tables->processes, mapped->tgid, mapped->started_ns };
		uint32_t found;

		if (mapped->scan != mappings_scan(tables->shown))
			continue;
		found = hash_index_find(&tables->processes_index,
					hash_process(mapped->tgid, mapped->started_ns), is_process, &wanted);
		if (found != HASH_INDEX_NONE)
			tables->processes[found].pass = tables->pass;
	}
	hash_index_free(&tables->processes_index);
	for (uint32_t i = 0; i < tables->processes_count; i++) {
		const struct process *process = &tables->processes[i];

		if (process->pass != tables->pass ||
		    hash_index_add(&tables->processes_index, hash_process(process->tgid, process->started_ns),
				   kept)) {
			bpf_map_delete_elem(tables->kernel->map_fds[PIN_UNWIND_PROCS], &process->tgid);
			release_layout(process->layout);
			continue;
		}
		tables->processes[kept++] = *process;
	}
	tables->processes_count = kept;
}

/* ---- a pass ---- */

/* What a daemon before this one wrote, or this one before it began anew: its numbers mean something else. */
static void forget_all(const struct kernel_objects *kernel)
{
	int fd = kernel->map_fds[PIN_UNWIND_PROCS];
	__u32 tgid;

	while (!bpf_map_get_next_key(fd, NULL, &tgid) && !bpf_map_delete_elem(fd, &tgid))
		;
}

/* Rules stay, because they are alike in all files: but for some that were made to be unlike. */
static void begin_anew(struct unwind_tables *tables)
{
	forget_all(tables->kernel);
	for (uint32_t i = 0; i < tables->processes_count; i++)
		release_layout(tables->processes[i].layout);
	tables->processes_count = 0;
	hash_index_free(&tables->processes_index);
	sweep_layouts(tables);
	for (uint32_t i = 0; i < tables->modules_count; i++) {
		empty_module(tables, tables->modules[i]);
		tables->modules[i]->retry_ns = 0;
	}
	unwind_rules_keep_first(&tables->rules);
	tables->rules_full = false;
	tables->begun_ns = tables->now_ns;
}

static void show(const struct unwind_tables *tables)
{
	struct unwind_gauges *gauges = tables->gauges;
	uint64_t with = 0, without = 0, no_room = 0, rows = 0;

	for (uint32_t i = 0; i < tables->modules_count; i++) {
		with += tables->modules[i]->state == MODULE_READY;
		without += tables->modules[i]->state == MODULE_WITHOUT;
		no_room += tables->modules[i]->state == MODULE_WITHOUT && tables->modules[i]->no_room;
		rows += tables->modules[i]->rows;
	}
	atomic_store(&gauges->modules, with);
	atomic_store(&gauges->modules_without, without);
	atomic_store(&gauges->modules_no_room, no_room);
	atomic_store(&gauges->rows, rows);
	atomic_store(&gauges->bytes, (uint64_t)tables->chunks.allocated * sizeof(struct unwind_chunk));
	atomic_store(&gauges->processes, tables->processes_count);
	atomic_store(&gauges->processes_no_room, tables->no_room_processes);
	atomic_store(&gauges->pending, tables->more);
}

bool unwind_tables_follow(struct unwind_tables *tables, const struct mappings *mappings,
			  struct mapped_files *files, uint64_t deadline_ns)
{
	if (tables->off)
		return false;
	tables->pass++;
	tables->now_ns = clock_monotonic_ns();
	tables->deadline_ns = deadline_ns;
	tables->shown = mappings;
	tables->files = files;
	tables->more = false;
	tables->deaths = 0;
	tables->no_room_processes = 0;
	if (tables->rules_full && tables->now_ns - tables->begun_ns >= ANEW_NS)
		begin_anew(tables);
	forget_gone(tables);
	for (uint32_t i = 0; mappings_process(mappings, i); i++)
		if (mappings_process(mappings, i)->scan == mappings_scan(mappings))
			follow_process(tables, mappings_process(mappings, i));
	sweep_layouts(tables);
	sweep_modules(tables);
	sweep_retired(tables);
	tables->scan_before = mappings_scan(mappings);
	if (tables->symbolizer >= 0)
		close(TAKE_FD(tables->symbolizer));
	show(tables);
	return tables->more;
}

static uint32_t entries_of(const struct kernel_objects *kernel, enum pin_map map)
{
	struct bpf_map_info info = { 0 };
	__u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(kernel->map_fds[map], &info, &bytes) ? 0 : info.max_entries;
}

int unwind_tables_open(struct unwind_tables **ret_tables, const struct kernel_objects *kernel,
		       int spawner_socket, struct unwind_gauges *gauges)
{
	const struct unwind_rule none = { .kind = UNWIND_NONE };
	struct unwind_tables *tables = calloc(1, sizeof(*tables));
	uint32_t chunks = entries_of(kernel, PIN_UNWIND_ROWS);
	uint16_t number;
	int result;

	if (!tables)
		return -ENOMEM;
	tables->kernel = kernel;
	tables->spawner_socket = spawner_socket;
	tables->gauges = gauges;
	tables->symbolizer = -EBADF;
	tables->begun_ns = clock_monotonic_ns();
	tables->off = chunks <= 1;
	tables->rules_max = entries_of(kernel, PIN_UNWIND_RULES);
	if (tables->rules_max > UINT16_MAX + 1U)
		tables->rules_max = UINT16_MAX + 1U;
	tables->vdso = vdso_open();
	result = getrandom(&tables->seed, sizeof(tables->seed), 0) < 0 ? -errno : 0;
	if (!result)
		result = unit_map_init(&tables->chunks, chunks);
	if (!result)
		result = unit_map_init(&tables->pages, entries_of(kernel, PIN_UNWIND_PAGES));
	if (!result)
		result = unit_map_init(&tables->mappings, entries_of(kernel, PIN_UNWIND_MAPS));
	forget_all(kernel);
	if (!result)
		result = add_rule(tables, &none, &number); /* is no. 0 */
	if (!tables->off)
		atomic_store(&gauges->bytes_max, (uint64_t)chunks * sizeof(struct unwind_chunk));
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
	for (uint32_t i = 0; i < tables->modules_count; i++) {
		free(tables->modules[i]->chunks);
		free(tables->modules[i]);
	}
	free(tables->modules);
	for (uint32_t i = 0; i < tables->retired_count; i++)
		free(tables->retired[i].chunks);
	free(tables->retired);
	for (uint32_t i = 0; i < tables->layouts_count; i++)
		free(tables->layouts[i]);
	free(tables->layouts);
	free(tables->processes);
	unwind_rules_free(&tables->rules);
	hash_index_free(&tables->modules_index);
	hash_index_free(&tables->layouts_index);
	hash_index_free(&tables->processes_index);
	unit_map_free(&tables->chunks);
	unit_map_free(&tables->pages);
	unit_map_free(&tables->mappings);
	cleanup_close(&tables->vdso);
	cleanup_close(&tables->symbolizer);
	free(tables);
}
