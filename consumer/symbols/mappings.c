/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mappings.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/hash_index.h"
#include "common/base/process_index.h"
#include "consumer/symbols/mapping_history.h"
#include "consumer/symbols/user_shares.h"

#include <string.h>

#define PROCESSES_MAX 32768U
/* initial room of a process: a small program, the C library, the loader and the vDSO; there are many such processes */
#define MAPPINGS_FIRST 4U
#define MAPPINGS_MAX UNWIND_MAPPINGS_MAX /* of one process */
#define ROOM_KEPT 64U                    /* of a process: more is given back at the end of its list */
/* of all processes: 5 MiB. 2,000 processes with 60 executable mappings each have as many */
#define MAPPINGS_TOTAL_MAX 131072U
#define FILES_MAX 32768U
/* of all files together: limits a process that maps a file under 60,000 names */
#define PATH_BYTES_MAX (8UL << 20)
#define HISTORIES_MAX 128U /* 230 KiB */

/* The part of each of these limits that one user can have; and the part of all processes with many mappings. */
#define SHARE_OF(limit) ((limit) / 2)
#define SHARE_OF_MANY(limit) ((limit) / 8)

enum share { SHARE_MAPPINGS, SHARE_FILES, SHARE_PATHS, SHARE_HISTORIES };

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
	struct process_index by_process;
	uint32_t mappings_count, of_many; /* of all processes, and of those with many mappings */
	uint32_t histories;
	struct mapped_file **files;
	uint32_t files_count, files_room;
	struct hash_index by_file;
	size_t path_bytes;
	struct user_shares shares;
	struct scan scans[MAPPINGS_KINDS], *current;
	uint32_t slice;
	uint32_t ended;   /* number of the last scan that ended */
	unsigned int age; /* times that mappings_grow_older() was called */
	uint32_t fresh;   /* mappings that the last slice showed first */
	struct mapping_user busy;
	bool has_busy;
	uint64_t dropped;
};

/* ---- files ---- */

struct wanted_file {
	const struct mappings *mappings;
	const struct mapping_record *record;
	const char *path;
};

static bool is_file(const void *user, uint32_t position)
{
	const struct wanted_file *wanted = user;
	const struct mapped_file *file = wanted->mappings->files[position];
	const struct mapping_record *record = wanted->record;

	return file->inode == record->inode && file->device_major == record->device_major &&
	       file->device_minor == record->device_minor && strlen(file->path) == record->path_bytes &&
	       !memcmp(file->path, wanted->path, record->path_bytes);
}

static uint32_t hash_file(uint64_t inode, uint32_t major, uint32_t minor, const char *path, size_t bytes)
{
	uint64_t identity[2] = { inode, (uint64_t)major << 32 | minor };

	return hash_number_and_bytes(hash_bytes(identity, sizeof(identity)), path, bytes);
}

static bool may_have_file(struct mappings *mappings, uint32_t uid, uint32_t path_bytes)
{
	const struct user_share *share = user_shares_of(&mappings->shares, uid);

	return mappings->files_count < FILES_MAX && mappings->path_bytes + path_bytes <= PATH_BYTES_MAX &&
	       share->used[SHARE_FILES] < SHARE_OF(FILES_MAX) &&
	       share->used[SHARE_PATHS] + path_bytes <= SHARE_OF(PATH_BYTES_MAX);
}

static void add_to_share(struct mappings *mappings, const struct mapped_file *file)
{
	struct user_share *share = user_shares_of(&mappings->shares, file->uid);

	share->used[SHARE_FILES]++;
	share->used[SHARE_PATHS] += strlen(file->path);
}

static struct mapped_file *intern_file(struct mappings *mappings, const struct mapping_record *record,
				       const char *path, uint32_t uid)
{
	struct wanted_file wanted = { mappings, record, path };
	uint32_t hash = hash_file(record->inode, record->device_major, record->device_minor, path,
				  record->path_bytes);
	uint32_t found = hash_index_find(&mappings->by_file, hash, is_file, &wanted);
	struct mapped_file *file;

	if (found != HASH_INDEX_NONE) {
		mappings->files[found]->users++;
		return mappings->files[found];
	}
	if (!may_have_file(mappings, uid, record->path_bytes) ||
	    array_make_room(mappings->files, mappings->files_count, mappings->files_room, 1U))
		return NULL;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	*file = (struct mapped_file){ .inode = record->inode,
				      .device_major = record->device_major,
				      .device_minor = record->device_minor,
				      .users = 1,
				      .uid = uid,
				      .path = strndup(path, record->path_bytes) };
	if (!file->path || hash_index_add(&mappings->by_file, hash, mappings->files_count)) {
		free(file->path);
		free(file);
		return NULL;
	}
	mappings->path_bytes += record->path_bytes;
	mappings->files[mappings->files_count++] = file;
	add_to_share(mappings, file);
	return file;
}

static void sweep_files(struct mappings *mappings)
{
	uint32_t kept = 0;

	hash_index_free(&mappings->by_file);
	for (uint32_t i = 0; i < mappings->files_count; i++) {
		struct mapped_file *file = mappings->files[i];

		if (!file->users) {
			mappings->path_bytes -= strlen(file->path);
			free(file->path);
			free(file);
			continue;
		}
		mappings->files[kept] = file;
		add_to_share(mappings, file);
		/* if out of memory, the file is not found again and stored twice */
		hash_index_add(&mappings->by_file,
			       hash_file(file->inode, file->device_major, file->device_minor, file->path,
					 strlen(file->path)),
			       kept++);
	}
	mappings->files_count = kept;
}

/* ---- processes ---- */

static struct mapped_process *find_process(const struct mappings *mappings, uint32_t tgid,
					   uint64_t started_ns)
{
	uint32_t found = process_index_find(&mappings->by_process, PROCESS_ARRAY(mappings->processes), tgid,
					    started_ns);

	return found == HASH_INDEX_NONE ? NULL : &mappings->processes[found];
}

static struct mapped_process *add_process(struct mappings *mappings, uint32_t tgid, uint64_t started_ns)
{
	struct mapped_process process = { .tgid = tgid, .started_ns = started_ns, .exe_slice = UINT32_MAX };

	if (mappings->count == PROCESSES_MAX ||
	    array_make_room(mappings->processes, mappings->count, mappings->room, 1U) ||
	    process_index_add(&mappings->by_process, tgid, started_ns, mappings->count))
		return NULL;
	process.mappings = calloc(MAPPINGS_FIRST, sizeof(*process.mappings));
	process.room = process.mappings ? MAPPINGS_FIRST : 0;
	mappings->processes[mappings->count] = process;
	return &mappings->processes[mappings->count++];
}

static void free_process(struct mapped_process *process)
{
	for (uint32_t i = 0; i < process->count; i++)
		mapping_drop_file(process->mappings[i].file);
	mapping_history_free(process->history);
	free(process->mappings);
}

static bool has_many(const struct mapped_process *process)
{
	return process->in_kernel > MAPPINGS_MAX;
}

/* Whether there is room for one more mapping of this process. */
static bool may_have_mapping(struct mappings *mappings, const struct mapped_process *process)
{
	const struct user_share *share = user_shares_of(&mappings->shares, process->uid);

	return process->count < MAPPINGS_MAX && mappings->mappings_count < MAPPINGS_TOTAL_MAX &&
	       share->used[SHARE_MAPPINGS] < SHARE_OF(MAPPINGS_TOTAL_MAX) &&
	       (!has_many(process) || mappings->of_many < SHARE_OF_MANY(MAPPINGS_TOTAL_MAX));
}

/* Counts the mappings that the process has gained, or lost. */
static void count_mappings(struct mappings *mappings, const struct mapped_process *process, uint32_t before)
{
	uint32_t gained = process->count - before; /* modulo 2^32 */

	mappings->mappings_count += gained;
	if (has_many(process))
		mappings->of_many += gained;
	user_shares_of(&mappings->shares, process->uid)->used[SHARE_MAPPINGS] += (uint64_t)(int32_t)gained;
}

/* Returns the first mapping that ends after the address. */
static uint32_t lower_bound(const struct mapped_process *process, uint64_t address)
{
	return array_partition_point(process->count, i, mapping_ends(&process->mappings[i]) <= address);
}

/* Whether an address in both is of another file, or of another place in it. Code that is made at run time is like other such code. */
static bool differs(const struct mapping *old, const struct mapping *mapping)
{
	if (mapping->flags & MAPPING_NO_PATH && !mapping->file)
		return false; /* it may be the same file */
	if (old->file == mapping->file && (old->flags | mapping->flags) & MAPPING_IS_TEXT)
		return false; /* a copy of the same code */
	return old->file != mapping->file ||
	       (old->file && old->begins - old->file_offset != mapping->begins - mapping->file_offset);
}

static void make_history(struct mappings *mappings, struct mapped_process *process)
{
	struct user_share *share = user_shares_of(&mappings->shares, process->uid);

	if (mappings->histories == HISTORIES_MAX || share->used[SHARE_HISTORIES] == SHARE_OF(HISTORIES_MAX))
		return;
	process->history = calloc(1, sizeof(*process->history));
	if (!process->history)
		return;
	mappings->histories++;
	share->used[SHARE_HISTORIES]++;
	/* the list before this one */
	mapping_history_see(process->history,
			    &(struct mapping_sighting){ process->epoch, process->program, process->listed,
							mappings->current->from - 1 });
}

/* Takes over the hold of the file of a mapping that another one replaces. */
static void replace(struct mappings *mappings, struct mapped_process *process, const struct mapping *old,
		    const struct mapping *mapping)
{
	if (!differs(old, mapping)) {
		mapping_drop_file(old->file);
		return;
	}
	process->changed_ns = clock_monotonic_ns();
	if (!process->changed_slice)
		process->changed_slice = mappings->slice;
	if (!process->history)
		make_history(mappings, process);
	if (process->history)
		mapping_history_keep(process->history, old);
	else
		mapping_drop_file(old->file);
}

/* Inserts a mapping and removes those it overlaps, which no longer exist. */
static bool insert_mapping(struct mappings *mappings, struct mapped_process *process,
			   const struct mapping *mapping)
{
	uint32_t first = lower_bound(process, mapping->begins), last = first, before = process->count;

	while (last < process->count && process->mappings[last].begins < mapping_ends(mapping))
		replace(mappings, process, &process->mappings[last++], mapping);
	if (first == last) {
		if (!may_have_mapping(mappings, process) ||
		    array_make_room(process->mappings, process->count, process->room, 1U))
			return false;
		last = first + 1;
		memmove(&process->mappings[last], &process->mappings[first],
			(process->count - first) * sizeof(*mapping));
		process->count++;
	} else {
		memmove(&process->mappings[first + 1], &process->mappings[last],
			(process->count - last) * sizeof(*mapping));
		process->count -= last - first - 1;
	}
	process->mappings[first] = *mapping;
	count_mappings(mappings, process, before);
	return true;
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
		free_process(&mappings->processes[i]);
	free(mappings->processes);
	process_index_clear(&mappings->by_process);
	for (uint32_t i = 0; i < mappings->files_count; i++) {
		free(mappings->files[i]->path);
		free(mappings->files[i]);
	}
	free(mappings->files);
	hash_index_free(&mappings->by_file);
	user_shares_clear(&mappings->shares);
	free(mappings);
}

/* Returns the known mapping of the same file at the same addresses, or NULL. */
static struct mapping *find_known(const struct mapped_process *process, const struct mapping_record *record)
{
	uint32_t found = lower_bound(process, record->begins);
	struct mapping *mapping;

	if (found == process->count)
		return NULL;
	mapping = &process->mappings[found];
	if (mapping->begins != record->begins || mapping_ends(mapping) != record->ends || !mapping->file ||
	    mapping->file->inode != record->inode || mapping->file->device_major != record->device_major ||
	    mapping->file->device_minor != record->device_minor)
		return NULL;
	return mapping;
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

static void describe(struct mappings *mappings, struct mapped_process *process,
		     const struct mapped_record *record)
{
	uint32_t before = process->count;

	if (process->uid != record->uid || has_many(process) != (record->mappings > MAPPINGS_MAX)) {
		process->count = 0; /* its mappings move from one share to another */
		count_mappings(mappings, process, before);
	}
	process->uid = record->uid;
	if (process->program != record->program)
		process->epoch = 0; /* of another address space */
	process->program = record->program;
	process->in_kernel = record->mappings;
	memcpy(process->comm, record->comm, sizeof(process->comm) - 1);
	if (process->count != before) {
		process->count = before;
		count_mappings(mappings, process, 0);
	}
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

/* After an exec the old executable's mappings are still known, but no longer as the executable. */
static void forget_exe(const struct mappings *mappings, struct mapped_process *process)
{
	uint32_t from = mappings->current->from;

	if (process->exe_slice == from)
		return;
	process->exe_slice = from;
	for (uint32_t i = 0; i < process->count; i++)
		if (process->mappings[i].slice < from)
			process->mappings[i].flags &= (uint8_t)~MAPPING_IS_EXE;
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
	known = find_known(process, record);
	if (known && record->flags & MAPPING_NO_PATH) {
		known->slice = mappings->slice;
		return;
	}
	if (known && !(known->flags & MAPPING_NO_PATH))
		mapping.since = known->since;
	mappings->fresh += mapping.since == mappings->slice;
	if (record->inode || record->path_bytes || record->flags & MAPPING_NO_PATH) {
		mapping.file = intern_file(mappings, record, path, process->uid);
		if (!mapping.file)
			mapping.flags |= MAPPING_NO_PATH;
	}
	if (record->flags & MAPPING_IS_EXE)
		forget_exe(mappings, process);
	if (!insert_mapping(mappings, process, &mapping)) {
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

bool mapping_exists(const struct mapped_process *process, const struct mapping *mapping)
{
	return mapping->slice >= process->listed;
}

uint32_t mappings_slice(const struct mappings *mappings)
{
	return mappings->slice;
}

/* Counts again what each user has. */
static void share_out(struct mappings *mappings)
{
	user_shares_clear(&mappings->shares);
	mappings->mappings_count = mappings->of_many = mappings->histories = 0;
	for (uint32_t i = 0; i < mappings->count; i++) {
		const struct mapped_process *process = &mappings->processes[i];
		bool has_history = process->history;

		count_mappings(mappings, process, 0);
		mappings->histories += has_history;
		user_shares_of(&mappings->shares, process->uid)->used[SHARE_HISTORIES] += has_history;
	}
}

void mappings_grow_older(struct mappings *mappings)
{
	mappings->age++;
}

size_t mappings_bytes(const struct mappings *mappings)
{
	return mappings->count * sizeof(*mappings->processes) +
	       mappings->mappings_count * sizeof(struct mapping) +
	       mappings->files_count * sizeof(struct mapped_file) + mappings->path_bytes +
	       mappings->histories * sizeof(struct mapping_history);
}

uint32_t mappings_fresh(const struct mappings *mappings)
{
	return mappings->fresh;
}

void mappings_forget(struct mappings *mappings, unsigned int age)
{
	uint32_t kept = 0;

	process_index_clear(&mappings->by_process);
	for (uint32_t i = 0; i < mappings->count; i++) {
		struct mapped_process *process = &mappings->processes[i];

		if (mappings->age - process->seen >= age ||
		    process_index_add(&mappings->by_process, process->tgid, process->started_ns, kept)) {
			free_process(process);
			continue;
		}
		mappings->processes[kept++] = *process;
	}
	mappings->count = kept;
	share_out(mappings);
	sweep_files(mappings);
}

static const struct mapping *mapping_of(const struct mapped_process *process, uint64_t address)
{
	uint32_t found = lower_bound(process, address);

	return found == process->count || process->mappings[found].begins > address
		       ? NULL
		       : &process->mappings[found];
}

const struct mapping *mappings_find(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
				    uint64_t address)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	return process ? mapping_of(process, address) : NULL;
}

const struct mapped_process *mappings_changed(const struct mappings *mappings, uint32_t tgid,
					      uint64_t started_ns, uint64_t since_ns)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	return process && process->changed_slice && process->changed_ns >= since_ns ? process : NULL;
}

bool mapping_has_changed(const struct mapped_process *process, uint64_t address)
{
	const struct mapping *mapping;

	if (process->history && mapping_history_has(process->history, address))
		return true;
	if (process->history && !mapping_history_is_full(process->history))
		return false;
	/* what was there is not known any more */
	mapping = mapping_of(process, address);
	return mapping && mapping->since >= process->changed_slice;
}

uint32_t mapping_sighting(const struct mapped_process *process, uint32_t program, uint32_t epoch)
{
	const struct mapping_sighting *sighting =
		process->history && epoch ? mapping_history_sighting(process->history, program, epoch) : NULL;

	return sighting ? sighting->from : 0;
}

const struct mapping *mapping_seen_at(const struct mapped_process *process, uint64_t address,
				      uint32_t sighting)
{
	const struct mapping_sighting *seen =
		process->history ? mapping_history_of(process->history, sighting) : NULL;
	const struct mapping *mapping = mapping_of(process, address);

	if (!seen)
		return NULL;
	return mapping && mapping_was_seen(mapping, seen, address)
		       ? mapping
		       : mapping_history_find(process->history, seen, address);
}

/* Whether the process is a target and still maps the file where it did. */
static bool is_user(const struct mappings *mappings, const struct mapped_file *file,
		    const struct file_user *user)
{
	const struct mapped_process *process =
		user->slice ? find_process(mappings, user->process.tgid, user->process.started_ns) : NULL;
	uint32_t found;

	if (!process || process->is_bystander || !mappings_has(mappings, process))
		return false;
	found = lower_bound(process, user->process.begins);
	return found < process->count && process->mappings[found].file == file &&
	       process->mappings[found].begins == user->process.begins;
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
	return position < mappings->files_count ? mappings->files[position] : NULL;
}

struct mappings_many mappings_many(const struct mappings *mappings)
{
	struct mappings_many many = { .count = 0 };

	for (uint32_t i = 0; i < mappings->count; i++) {
		const struct mapped_process *process = &mappings->processes[i];

		if (!mappings_has(mappings, process))
			continue;
		many.cut += process->is_cut;
		many.count += has_many(process);
		many.unlisted += has_many(process) && !process->listed;
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
