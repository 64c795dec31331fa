/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapped_process.h"

#include "common/base/array.h"
#include "common/base/clock.h"

#include <string.h>

#define MAPPINGS_MAX UNWIND_MAPPINGS_MAX /* of one process */

void mapped_process_free(struct mapped_process *process)
{
	for (uint32_t i = 0; i < process->count; i++)
		mapping_drop_file(process->mappings[i].file);
	mapping_history_free(process->history);
	free(process->mappings);
}

bool mapped_process_has_many(const struct mapped_process *process)
{
	return process->in_kernel > MAPPINGS_MAX;
}

/* Returns the first mapping that ends after the address. */
static uint32_t lower_bound(const struct mapped_process *process, uint64_t address)
{
	return array_partition_point(process->count, i, mapping_ends(&process->mappings[i]) <= address);
}

const struct mapping *mapped_process_at(const struct mapped_process *process, uint64_t address)
{
	uint32_t found = lower_bound(process, address);

	return found == process->count || process->mappings[found].begins > address
		       ? NULL
		       : &process->mappings[found];
}

struct mapping *mapped_process_known(const struct mapped_process *process,
				     const struct mapping_record *record)
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

bool mapping_exists(const struct mapped_process *process, const struct mapping *mapping)
{
	return mapping->slice >= process->listed;
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

static void make_history(struct mapped_process *process, struct mapping_room *room, uint32_t from)
{
	if (!mapping_room_has_history(room, process->uid))
		return;
	process->history = calloc(1, sizeof(*process->history));
	if (!process->history)
		return;
	mapping_room_add_history(room, process->uid);
	/* the list before this one */
	mapping_history_see(process->history, &(struct mapping_sighting){ process->epoch, process->program,
									  process->listed, from - 1 });
}

/* Takes over the hold of the file of a mapping that another one replaces. */
static void replace(struct mapped_process *process, const struct mapping *old, const struct mapping *mapping,
		    struct mapping_room *room, uint32_t from)
{
	if (!differs(old, mapping)) {
		mapping_drop_file(old->file);
		return;
	}
	process->changed_ns = clock_monotonic_ns();
	if (!process->changed_slice)
		process->changed_slice = mapping->slice;
	if (!process->history)
		make_history(process, room, from);
	if (process->history)
		mapping_history_keep(process->history, old);
	else
		mapping_drop_file(old->file);
}

bool mapped_process_insert(struct mapped_process *process, const struct mapping *mapping,
			   struct mapping_room *room, uint32_t from)
{
	uint32_t first = lower_bound(process, mapping->begins), last = first, before = process->count;

	while (last < process->count && process->mappings[last].begins < mapping_ends(mapping))
		replace(process, &process->mappings[last++], mapping, room, from);
	if (first == last) {
		if (process->count == MAPPINGS_MAX ||
		    !mapping_room_has_mapping(room, process->uid, mapped_process_has_many(process)) ||
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
	mapping_room_add_mappings(room, process->uid, mapped_process_has_many(process),
				  (int64_t)process->count - before);
	return true;
}

void mapped_process_forget_exe(struct mapped_process *process, uint32_t from)
{
	if (process->exe_slice == from)
		return;
	process->exe_slice = from;
	for (uint32_t i = 0; i < process->count; i++)
		if (process->mappings[i].slice < from)
			process->mappings[i].flags &= (uint8_t)~MAPPING_IS_EXE;
}

bool mapping_has_changed(const struct mapped_process *process, uint64_t address)
{
	const struct mapping *mapping;

	if (process->history && mapping_history_has(process->history, address))
		return true;
	if (process->history && !mapping_history_is_full(process->history))
		return false;
	/* what was there is not known any more */
	mapping = mapped_process_at(process, address);
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
	const struct mapping *mapping = mapped_process_at(process, address);

	if (!seen)
		return NULL;
	return mapping && mapping_was_seen(mapping, seen, address)
		       ? mapping
		       : mapping_history_find(process->history, seen, address);
}
