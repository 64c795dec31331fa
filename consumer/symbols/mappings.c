/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mappings.h"

#include "common/base/array.h"
#include "common/base/process_key.h"
#include "consumer/symbols/file_table.h"

#include <string.h>

#define PROCESSES_MAX 32768U
/* initial room of a process: a small program, the C library, the loader and the vDSO; there are many such processes */
#define MAPPINGS_FIRST 4U
#define ROOM_KEPT 64U /* of a process: more is given back at the end of its list */
/* A scan, which may be read in slices: the kernel goes on with its list of processes. */
struct scan {
	bool begun;
	uint32_t from; /* its first slice, which is its number */
	/* the process whose mappings the records belong to, and its user until its record says otherwise */
	bool listing;
	struct mapping_user process;
	uint32_t incomplete; /* lists that the next pass goes on with */
};

struct mappings {
	struct mapped_process *processes;
	uint32_t count, room;
	struct hash_index by_process;
	struct file_table files;
	struct mapping_room space;
	struct scan scans[MAPPINGS_KINDS], *current;
	uint32_t slice;
	uint32_t ended;   /* number of the last scan that ended */
	unsigned int age; /* times that mappings_grow_older() was called */
	uint32_t fresh;   /* mappings that the last slice showed first */
	struct mapping_user busy;
	bool has_busy;
	uint64_t dropped;
};

/* ---- processes ---- */

#define KEYS(mappings) HASH_KEYS_BEFORE((mappings)->processes, uid)

static struct mapped_process *find_process(const struct mappings *mappings, uint32_t tgid,
					   uint64_t started_ns)
{
	uint32_t found = hash_index_find_key(&mappings->by_process, KEYS(mappings),
					     &(struct process_key){ started_ns, tgid });

	return found == HASH_INDEX_NONE ? NULL : &mappings->processes[found];
}

static struct mapped_process *add_process(struct mappings *mappings, uint32_t tgid, uint64_t started_ns)
{
	struct mapped_process *process;
	uint32_t position = 0;

	if (mappings->count == PROCESSES_MAX ||
	    hash_index_intern(&mappings->by_process, KEYS(mappings), mappings->processes, mappings->count,
			      mappings->room, &((struct process_key){ started_ns, tgid }), &position) < 0)
		return NULL;
	process = &mappings->processes[position];
	process->exe_slice = UINT32_MAX;
	process->mappings = calloc(MAPPINGS_FIRST, sizeof(*process->mappings));
	process->room = process->mappings ? MAPPINGS_FIRST : 0;
	return process;
}

/* ---- the iterator ---- */

struct mappings *mappings_new(void)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));

	if (mappings)
		mappings->current = mappings->scans;
	return mappings;
}

void mappings_free(struct mappings *mappings)
{
	if (!mappings)
		return;
	for (uint32_t i = 0; i < mappings->count; i++)
		mapped_process_free(&mappings->processes[i]);
	free(mappings->processes);
	hash_index_free(&mappings->by_process);
	file_table_free(&mappings->files);
	mapping_room_clear(&mappings->space);
	free(mappings);
}

/* ---- users of a file ---- */

/* How many of the file's users have the uid. */
static uint32_t count_of_uid(const struct mapped_file *file, uint32_t uid)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < FILE_USERS; i++)
		count += file->youngest[i].slice && file->youngest[i].process.uid == uid;
	return count;
}

/*
 * The place for one more user: a free one, or that of the oldest user of the uid that has most of them. A uid
 * that has fewer needs no younger process for it, so no uid can drive all processes of another one out. Returns
 * NULL if there is no place.
 */
static struct file_user *find_place(struct mapped_file *file, const struct mapping_user *added)
{
	uint32_t count_added = count_of_uid(file, added->uid) + 1, count_found = 0;
	struct file_user *found = NULL;

	for (uint32_t i = 0; i < FILE_USERS; i++) {
		struct file_user *user = &file->youngest[i];
		uint32_t count = user->process.uid == added->uid ? count_added
								 : count_of_uid(file, user->process.uid);

		if (!user->slice)
			return user;
		if (count > count_found ||
		    (count == count_found && user->process.started_ns < found->process.started_ns)) {
			found = user;
			count_found = count;
		}
	}
	return count_found > count_added || found->process.started_ns < added->started_ns ? found : NULL;
}

/* Remembers the process if it is among the youngest that map the file, or the only one of its uid. */
static void note_user(const struct mappings *mappings, struct mapped_file *file,
		      const struct mapping_record *record, uint32_t uid)
{
	const struct file_user user = { { record->tgid, uid, record->started_ns, record->begins },
					mappings->slice + 1 };
	struct file_user *place;

	for (uint32_t i = 0; i < FILE_USERS; i++) {
		struct file_user *known = &file->youngest[i];

		if (known->slice && known->process.tgid == user.process.tgid &&
		    known->process.started_ns == user.process.started_ns) {
			if (known->slice != user.slice) /* the first mapping of the list counts */
				*known = user;
			return;
		}
		/* one that this scan has not shown may have ended */
		if (known->slice && known->slice <= mappings->current->from) {
			const struct mapped_process *process =
				find_process(mappings, known->process.tgid, known->process.started_ns);

			if (!process || !mappings_has(mappings, process))
				known->slice = 0;
		}
	}
	place = find_place(file, &user.process);
	if (place)
		*place = user;
}

/* ---- records ---- */

/* The list of the process is complete: what it did not show does not exist any more. */
static void end_list(struct mappings *mappings)
{
	struct scan *scan = mappings->current;
	struct mapped_process *process =
		scan->listing ? find_process(mappings, scan->process.tgid, scan->process.started_ns) : NULL;

	if (process) {
		process->listed = scan->from;
		process->epoch = process->listing == scan->from ? process->listing_epoch : 0;
		if (process->history)
			mapping_history_see(process->history,
					    &(struct mapping_sighting){ process->epoch, process->program,
									scan->from, mappings->slice });
		if (process->room > ROOM_KEPT)
			array_fit(process->mappings, process->count, process->room);
	}
	scan->listing = false;
}

static void begin_list(struct mappings *mappings, struct mapped_process *process)
{
	struct scan *scan = mappings->current;

	if (scan->listing && scan->process.tgid == process->tgid &&
	    scan->process.started_ns == process->started_ns)
		return;
	end_list(mappings);
	scan->listing = true;
	scan->process = (struct mapping_user){ .tgid = process->tgid, .started_ns = process->started_ns };
	process->is_cut = false;
}

/* Returns NULL without room. */
static struct mapped_process *see_process(struct mappings *mappings, uint32_t tgid, uint64_t started_ns)
{
	struct mapped_process *process = find_process(mappings, tgid, started_ns);

	if (!process)
		process = add_process(mappings, tgid, started_ns);
	if (!process) {
		mappings->dropped++;
		return NULL;
	}
	process->slice = mappings->slice;
	process->seen = mappings->age;
	return process;
}

/* Counts all mappings of the process; `sign` -1: no more. */
static void count_mappings(struct mappings *mappings, const struct mapped_process *process, int64_t sign)
{
	mapping_room_add_mappings(&mappings->space, process->uid, mapped_process_has_many(process),
				  sign * process->count);
}

static void describe(struct mappings *mappings, struct mapped_process *process,
		     const struct mapped_record *record)
{
	/* its mappings may move from one share to another */
	count_mappings(mappings, process, -1);
	process->uid = record->uid;
	if (process->program != record->program)
		process->epoch = 0; /* of another address space */
	process->program = record->program;
	process->in_kernel = record->mappings;
	memcpy(process->comm, record->comm, sizeof(process->comm) - 1);
	count_mappings(mappings, process, 1);
}

static void add_process_record(struct mappings *mappings, const struct mapped_record *record)
{
	struct mapped_process *process = see_process(mappings, record->tgid, record->started_ns);

	if (!process)
		return;
	describe(mappings, process, record);
	process->is_bystander = record->flags & MAPPED_BYSTANDER;
	if (record->flags & MAPPED_LISTED) {
		begin_list(mappings, process);
	} else if (record->flags & (MAPPED_MORE | MAPPED_BUSY)) {
		mappings->current->listing = false;
		if (record->flags & MAPPED_MORE) {
			mappings->current->incomplete++;
			return;
		}
		mappings->has_busy = true;
		mappings->busy =
			(struct mapping_user){ .tgid = process->tgid, .started_ns = process->started_ns };
	} else {
		process->is_cut |= (record->flags & MAPPED_CUT) != 0;
		end_list(mappings);
	}
}

static void add_record(struct mappings *mappings, const struct mapping_record *record, const char *path)
{
	struct mapped_process *process = see_process(mappings, record->tgid, record->started_ns);
	struct mapping mapping = { .begins = record->begins,
				   .bytes = (record->ends - record->begins) & MAPPING_BYTES_MAX,
				   .flags = (uint8_t)record->flags,
				   .file_offset = record->file_offset,
				   .since = mappings->slice,
				   .slice = mappings->slice };
	struct mapping *known;

	if (!process)
		return;
	begin_list(mappings, process);
	if (process->listing != mappings->current->from) {
		process->listing = mappings->current->from;
		process->listing_epoch = record->epoch;
	} else if (process->listing_epoch != record->epoch) {
		process->listing_epoch = 0;
	}
	known = mapped_process_known(process, record);
	if (known && record->flags & MAPPING_NO_PATH) {
		known->slice = mappings->slice;
		return;
	}
	if (known && !(known->flags & MAPPING_NO_PATH))
		mapping.since = known->since;
	mappings->fresh += mapping.since == mappings->slice;
	if (record->inode || record->path_bytes || record->flags & MAPPING_NO_PATH) {
		mapping.file =
			file_table_intern(&mappings->files, &mappings->space, record, path, process->uid);
		if (!mapping.file)
			mapping.flags |= MAPPING_NO_PATH;
	}
	if (record->flags & MAPPING_IS_EXE)
		mapped_process_forget_exe(process, mappings->current->from);
	if (!mapped_process_insert(process, &mapping, &mappings->space, mappings->current->from)) {
		mappings->dropped++;
		mapping_drop_file(mapping.file);
		return;
	}
	if (mapping.file &&
	    !(mapping.flags &
	      MAPPING_IS_TEXT)) /* bourdon-grant opens a file by an address at which it is mapped */
		note_user(mappings, mapping.file, record, process->uid);
}

/* Returns the bytes of the record, 0 if it is not whole, or -EBADMSG. */
static long add_next(struct mappings *mappings, const char *records, size_t bytes)
{
	struct mapping_record record;
	struct mapped_record process;

	if (bytes < sizeof(process))
		return 0;
	memcpy(&process, records, sizeof(process));
	if (process.header.type == RECORD_MAPPED && process.header.bytes == sizeof(process)) {
		add_process_record(mappings, &process);
		return sizeof(process);
	}
	if (process.header.type != RECORD_MAPPING || process.header.bytes != sizeof(record))
		return -EBADMSG;
	if (bytes < sizeof(record))
		return 0;
	memcpy(&record, records, sizeof(record));
	if (record.path_bytes >= MAPPING_PATH_BYTES || record.begins >= record.ends ||
	    record.ends - record.begins > MAPPING_BYTES_MAX)
		return -EBADMSG;
	if (bytes - sizeof(record) < record.path_bytes)
		return 0;
	if (memchr(records + sizeof(record), '\0', record.path_bytes))
		return -EBADMSG;
	add_record(mappings, &record, records + sizeof(record));
	return (long)(sizeof(record) + record.path_bytes);
}

long mappings_add_records(struct mappings *mappings, const char *records, size_t bytes)
{
	size_t consumed = 0;
	long got;

	while ((got = add_next(mappings, records + consumed, bytes - consumed)) > 0)
		consumed += (size_t)got;
	return got < 0 ? got : (long)consumed;
}

/* ---- scans ---- */

uint32_t mappings_begin_scan(struct mappings *mappings, uint32_t of)
{
	struct scan *scan = &mappings->scans[of];

	mappings->current = scan;
	mappings->slice++;
	if (!scan->begun) {
		*scan = (struct scan){ .begun = true, .from = mappings->slice };
	}
	mappings->has_busy = false;
	mappings->fresh = 0;
	return scan->from;
}

void mappings_end_scan(struct mappings *mappings)
{
	struct scan *scan = mappings->current;

	scan->begun = false;
	scan->listing = false;
	if (scan->from > mappings->ended)
		mappings->ended = scan->from;
}

bool mappings_end_pass(struct mappings *mappings)
{
	struct scan *scan = mappings->current;

	end_list(mappings);
	if (scan->incomplete) {
		scan->incomplete = 0;
		return true;
	}
	mappings_end_scan(mappings);
	return false;
}

void mappings_abandon_scan(struct mappings *mappings)
{
	mappings->current->begun = false;
	mappings->current->listing = false;
}

bool mappings_has(const struct mappings *mappings, const struct mapped_process *process)
{
	return process->slice >= mappings->ended;
}

uint32_t mappings_slice(const struct mappings *mappings)
{
	return mappings->slice;
}

void mappings_grow_older(struct mappings *mappings)
{
	mappings->age++;
}

size_t mappings_bytes(const struct mappings *mappings)
{
	return mappings->count * sizeof(*mappings->processes) +
	       mappings->space.mappings * sizeof(struct mapping) +
	       mappings->space.files * sizeof(struct mapped_file) + mappings->space.path_bytes +
	       mappings->space.histories * sizeof(struct mapping_history);
}

uint32_t mappings_fresh(const struct mappings *mappings)
{
	return mappings->fresh;
}

/* Counts again what each user has, but for the files. */
static void count_again(struct mappings *mappings)
{
	mapping_room_clear(&mappings->space);
	for (uint32_t i = 0; i < mappings->count; i++) {
		const struct mapped_process *process = &mappings->processes[i];

		count_mappings(mappings, process, 1);
		if (process->history)
			mapping_room_add_history(&mappings->space, process->uid);
	}
}

void mappings_forget(struct mappings *mappings, unsigned int age)
{
	uint32_t kept = 0;

	hash_index_free(&mappings->by_process);
	for (uint32_t i = 0; i < mappings->count; i++) {
		struct mapped_process *process = &mappings->processes[i];

		if (mappings->age - process->seen >= age) {
			mapped_process_free(process);
			continue;
		}
		mappings->processes[kept] = *process;
		if (hash_index_add_key(&mappings->by_process, KEYS(mappings), kept))
			mapped_process_free(process);
		else
			kept++;
	}
	mappings->count = kept;
	count_again(mappings);
	file_table_sweep(&mappings->files, &mappings->space);
}

const struct mapping *mappings_find(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
				    uint64_t address)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	return process ? mapped_process_at(process, address) : NULL;
}

const struct mapped_process *mappings_changed(const struct mappings *mappings, uint32_t tgid,
					      uint64_t started_ns, uint64_t since_ns)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	return process && process->changed_slice && process->changed_ns >= since_ns ? process : NULL;
}

/* Whether the process is a target and still maps the file where it did. */
static bool is_user(const struct mappings *mappings, const struct mapped_file *file,
		    const struct file_user *user)
{
	const struct mapped_process *process =
		user->slice ? find_process(mappings, user->process.tgid, user->process.started_ns) : NULL;
	const struct mapping *mapping;

	if (!process || process->is_bystander || !mappings_has(mappings, process))
		return false;
	mapping = mapped_process_at(process, user->process.begins);
	return mapping && mapping->file == file && mapping->begins == user->process.begins;
}

bool mappings_find_user(const struct mappings *mappings, const struct mapped_file *file, uint64_t before_ns,
			struct mapping_user *ret_user)
{
	const struct file_user *youngest = NULL;

	for (uint32_t i = 0; i < FILE_USERS; i++) {
		const struct file_user *user = &file->youngest[i];

		if (user->process.started_ns < before_ns &&
		    (!youngest || user->process.started_ns > youngest->process.started_ns) &&
		    is_user(mappings, file, user))
			youngest = user;
	}
	if (youngest)
		*ret_user = youngest->process;
	return youngest != NULL;
}

const struct mapped_process *mappings_process(const struct mappings *mappings, uint32_t position)
{
	return position < mappings->count ? &mappings->processes[position] : NULL;
}

struct mapped_file *mappings_file(const struct mappings *mappings, uint32_t position)
{
	return position < mappings->files.count ? mappings->files.files[position] : NULL;
}

struct mappings_many mappings_many(const struct mappings *mappings)
{
	struct mappings_many many = { .count = 0 };

	for (uint32_t i = 0; i < mappings->count; i++) {
		const struct mapped_process *process = &mappings->processes[i];

		if (!mappings_has(mappings, process))
			continue;
		many.cut += process->is_cut;
		many.count += mapped_process_has_many(process);
		many.unlisted += mapped_process_has_many(process) && !process->listed;
		if (!many.largest || process->in_kernel > many.largest->in_kernel)
			many.largest = process;
	}
	return many;
}

const struct mapped_process *mappings_busy(const struct mappings *mappings)
{
	return mappings->has_busy ? find_process(mappings, mappings->busy.tgid, mappings->busy.started_ns)
				  : NULL;
}

bool mappings_is_cut(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	return process && process->is_cut;
}

uint64_t mappings_dropped(const struct mappings *mappings)
{
	return mappings->dropped;
}

const struct mapped_process *mappings_of(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
					 uint32_t program)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	return process && process->program == program ? process : NULL;
}

const char *mappings_exe(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
			 uint32_t program)
{
	const struct mapped_process *process = mappings_of(mappings, tgid, started_ns, program);

	if (!process)
		return NULL;
	for (uint32_t i = 0; i < process->count; i++)
		if (process->mappings[i].flags & MAPPING_IS_EXE && process->mappings[i].file)
			return process->mappings[i].file->path;
	return NULL;
}
