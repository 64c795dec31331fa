/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mappings.h"

#include "common/array.h"
#include "common/hash_index.h"
#include "common/process_index.h"
#include "consumer/target/iterator_stream.h"

#include <string.h>

#define PROCESSES_MAX 32768U
/* initial room of a process: most have no more mappings, and there are many processes */
#define MAPPINGS_FIRST 8U
#define MAPPINGS_MAX UNWIND_MAPPINGS_MAX /* of one process */
/* of all files together: limits a process that maps a file under 60,000 names */
#define PATH_BYTES_MAX (8UL << 20)

struct mappings {
	struct mapped_process *processes;
	uint32_t count, room;
	struct process_index by_process;
	struct mapped_file **files;
	uint32_t files_count, files_room;
	struct hash_index by_file;
	size_t path_bytes;
	unsigned int scan;
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

static struct mapped_file *intern_file(struct mappings *mappings, const struct mapping_record *record,
				       const char *path)
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
	if (mappings->path_bytes + record->path_bytes > PATH_BYTES_MAX ||
	    array_make_room(mappings->files, mappings->files_count, mappings->files_room, 1U))
		return NULL;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	*file = (struct mapped_file){ record->inode,
				      record->device_major,
				      record->device_minor,
				      1,
				      strndup(path, record->path_bytes),
				      0 };
	if (!file->path || hash_index_add(&mappings->by_file, hash, mappings->files_count)) {
		free(file->path);
		free(file);
		return NULL;
	}
	mappings->path_bytes += record->path_bytes;
	mappings->files[mappings->files_count++] = file;
	return file;
}

static void drop_file(struct mapped_file *file)
{
	if (file)
		file->users--; /* sweep_files() frees it: the index holds positions */
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
	struct mapped_process process = { .tgid = tgid, .started_ns = started_ns };

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
		drop_file(process->mappings[i].file);
	free(process->mappings);
}

/* Returns the first mapping that ends after the address. */
static uint32_t lower_bound(const struct mapped_process *process, uint64_t address)
{
	uint32_t low = 0, high = process->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (process->mappings[middle].ends <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Inserts a mapping and removes those it overlaps, which no longer exist. */
static bool insert_mapping(struct mapped_process *process, const struct mapping *mapping)
{
	uint32_t first = lower_bound(process, mapping->begins), last = first;

	while (last < process->count && process->mappings[last].begins < mapping->ends)
		drop_file(process->mappings[last++].file);
	if (first == last) {
		if (process->count == MAPPINGS_MAX ||
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
	return true;
}

/* ---- the iterator ---- */

struct mappings *mappings_new(void)
{
	return calloc(1, sizeof(struct mappings));
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
	if (mapping->begins != record->begins || mapping->ends != record->ends || !mapping->file ||
	    mapping->file->inode != record->inode || mapping->file->device_major != record->device_major ||
	    mapping->file->device_minor != record->device_minor)
		return NULL;
	return mapping;
}

static void add_record(struct mappings *mappings, const struct mapping_record *record, const char *path)
{
	struct mapped_process *process = find_process(mappings, record->tgid, record->started_ns);
	struct mapping mapping = {
		record->begins, record->ends, record->file_offset, record->flags, mappings->scan,
		mappings->scan, NULL
	};
	struct mapping *known;

	if (!process)
		process = add_process(mappings, record->tgid, record->started_ns);
	if (!process) {
		mappings->dropped++;
		return;
	}
	process->scan = mappings->scan;
	known = find_known(process, record);
	if (known && record->flags & MAPPING_NO_PATH) {
		known->scan = mappings->scan;
		return;
	}
	if (known && !(known->flags & MAPPING_NO_PATH))
		mapping.since = known->since;
	if (record->inode || record->path_bytes || record->flags & MAPPING_NO_PATH) {
		mapping.file = intern_file(mappings, record, path);
		if (!mapping.file)
			mapping.flags |= MAPPING_NO_PATH;
	}
	/* after an exec the old executable's mappings are still listed, but no longer as the executable */
	for (uint32_t i = 0; record->flags & MAPPING_IS_EXE && i < process->count; i++)
		if (process->mappings[i].file != mapping.file)
			process->mappings[i].flags &= ~MAPPING_IS_EXE;
	if (!insert_mapping(process, &mapping)) {
		mappings->dropped++;
		drop_file(mapping.file);
	}
}

long mappings_add_records(struct mappings *mappings, const char *records, size_t bytes)
{
	size_t consumed = 0;

	while (bytes - consumed >= sizeof(struct mapping_record)) {
		struct mapping_record record;

		memcpy(&record, records + consumed, sizeof(record));
		if (record.header.type != RECORD_MAPPING || record.header.bytes != sizeof(record) ||
		    record.path_bytes >= MAPPING_PATH_BYTES || record.begins >= record.ends)
			return -EBADMSG;
		if (bytes - consumed - sizeof(record) < record.path_bytes)
			break;
		if (memchr(records + consumed + sizeof(record), '\0', record.path_bytes))
			return -EBADMSG;
		add_record(mappings, &record, records + consumed + sizeof(record));
		consumed += sizeof(record) + record.path_bytes;
	}
	return (long)consumed;
}

void mappings_begin_scan(struct mappings *mappings)
{
	mappings->scan++;
}

/* The next scan reuses the number. What the abandoned scan has shown counts as shown by the one before. */
void mappings_abandon_scan(struct mappings *mappings)
{
	for (uint32_t i = 0; i < mappings->count; i++) {
		struct mapped_process *process = &mappings->processes[i];

		if (process->scan != mappings->scan)
			continue;
		process->scan--;
		for (uint32_t j = 0; j < process->count; j++)
			process->mappings[j].scan -= process->mappings[j].scan == mappings->scan;
	}
	mappings->scan--;
}

void mappings_forget(struct mappings *mappings, unsigned int scans)
{
	uint32_t kept = 0;

	process_index_clear(&mappings->by_process);
	for (uint32_t i = 0; i < mappings->count; i++) {
		struct mapped_process *process = &mappings->processes[i];

		if (mappings->scan - process->scan >= scans ||
		    process_index_add(&mappings->by_process, process->tgid, process->started_ns, kept)) {
			free_process(process);
			continue;
		}
		mappings->processes[kept++] = *process;
	}
	mappings->count = kept;
	sweep_files(mappings);
}

const struct mapping *mappings_find(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns,
				    uint64_t address)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);
	uint32_t found = process ? lower_bound(process, address) : 0;

	if (!process || found == process->count || process->mappings[found].begins > address)
		return NULL;
	return &process->mappings[found];
}

bool mappings_find_user(const struct mappings *mappings, const struct mapped_file *file, uint64_t before_ns,
			struct mapping_user *ret_user)
{
	struct mapping_user youngest = { 0 };

	for (uint32_t i = 0; i < mappings->count; i++) {
		const struct mapped_process *process = &mappings->processes[i];
		uint32_t at = 0;

		if (process->scan != mappings->scan || process->started_ns >= before_ns ||
		    process->started_ns <= youngest.started_ns)
			continue;
		while (at < process->count && process->mappings[at].file != file)
			at++;
		if (at < process->count)
			youngest = (struct mapping_user){ process->tgid, process->started_ns,
							  process->mappings[at].begins };
	}
	if (youngest.started_ns)
		*ret_user = youngest;
	return youngest.started_ns != 0;
}

const struct mapped_process *mappings_process(const struct mappings *mappings, uint32_t position)
{
	return position < mappings->count ? &mappings->processes[position] : NULL;
}

unsigned int mappings_scan(const struct mappings *mappings)
{
	return mappings->scan;
}

uint64_t mappings_dropped(const struct mappings *mappings)
{
	return mappings->dropped;
}

const char *mappings_exe(const struct mappings *mappings, uint32_t tgid, uint64_t started_ns)
{
	const struct mapped_process *process = find_process(mappings, tgid, started_ns);

	for (uint32_t i = 0; process && i < process->count; i++)
		if (process->mappings[i].flags & MAPPING_IS_EXE && process->mappings[i].file)
			return process->mappings[i].file->path;
	return NULL;
}
