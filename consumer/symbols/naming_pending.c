/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/naming_pending.h"

#include "common/base/array.h"
#include "common/base/clock.h"

bool naming_is_in_hurry(const struct naming *naming)
{
	return naming->hurry && atomic_load(naming->hurry);
}

bool naming_is_late(const struct naming_run *run)
{
	return naming_is_in_hurry(run->naming) || clock_monotonic_ns() >= run->symbolizers.deadline_ns;
}

static struct frame_name name_of(const struct symbolize_reply *reply, const struct symbolize_frame *frame)
{
	return (struct frame_name){ .function = frame->name_bytes ? reply->text + frame->name : NULL,
				    .function_bytes = frame->name_bytes,
				    .function_offset = (int64_t)frame->function_offset,
				    .file = frame->file_bytes ? reply->text + frame->file : NULL,
				    .file_bytes = frame->file_bytes,
				    .line = frame->line };
}

static int receive_names(struct naming_run *run, const uint32_t *places)
{
	const struct symbolize_reply *reply = run->reply;
	uint32_t position = 0;
	int result = 0;

	for (uint32_t i = 0; i < reply->count && !result; i++) {
		struct name_chain chain = name_chain_begin(&run->room, places[i]);
		struct frame_name names[SYMBOLIZE_DEPTH];
		uint32_t depth = reply->depths[i];

		for (uint32_t j = 0; j < depth && !result; j++) {
			names[j] = name_of(reply, &reply->frames[position++]);
			result = name_chain_add(&chain, &names[j]);
		}
		if (!result && run->index && reply->after[i] && !run->room.is_exceeded)
			result = name_index_add(run->index, (uint64_t)run->resolved->frames[places[i]].offset,
						reply->before[i], reply->after[i], names, depth);
	}
	return result;
}

int naming_use_index(struct naming_run *run, uint32_t at, bool names_only)
{
	uint32_t left = at;
	int result = 0;

	for (uint32_t i = at; i < run->pending_count && run->index; i++) {
		uint32_t place = run->pending[i];
		struct name_chain chain = name_chain_begin(&run->room, place);

		result = name_index_find(run->index, (uint64_t)run->resolved->frames[place].offset,
					 name_chain_add, &chain);
		if (result == -ENOMEM)
			return result;
		if (result == -ENOENT || (names_only && !run->resolved->frames[place].function))
			run->pending[left++] = place;
	}
	if (run->index)
		run->pending_count = left;
	return 0;
}

int naming_ask(struct naming_run *run, uint32_t kind, int perf_map)
{
	uint32_t at = 0;

	while (at < run->pending_count) {
		struct symbolize_request request = { .kind = kind };
		int result;

		for (uint32_t i = at; i < run->pending_count && request.count < SYMBOLIZE_BATCH; i++)
			request.offsets[request.count++] =
				(uint64_t)run->resolved->frames[run->pending[i]].offset;
		result = symbolizer_name(run->symbolizers.socket, perf_map, &request,
					 supervisor_patience(&run->symbolizers), run->reply);
		if (result < 0)
			return result;
		if (!run->reply->count)
			return 0;
		result = receive_names(run, run->pending + at);
		at += run->reply->count;
		if (!result)
			result = naming_use_index(run, at, false);
		if (result < 0)
			return result;
	}
	return 0;
}

int naming_find_pending(struct naming_run *run, uint32_t module)
{
	run->pending_count = 0;
	for (uint32_t i = run->plan.first[module]; i < run->plan.first[module + 1]; i++) {
		uint32_t place = run->plan.frames[i];

		if (run->resolved->frames[place].function)
			continue;
		if (array_make_room(run->pending, run->pending_count, run->pending_room, 1U))
			return -ENOMEM;
		run->pending[run->pending_count++] = place;
	}
	return 0;
}

int naming_reuse(struct naming_run *run, const struct resolved_module *module)
{
	const struct known_frames *known = &run->naming->known;
	uint32_t left = 0;

	for (uint32_t i = 0; i < run->pending_count && !naming_is_late(run); i++) {
		uint32_t place = run->pending[i];
		int64_t offset = run->resolved->frames[place].offset;
		struct name_chain chain = name_chain_begin(&run->room, place);
		int result;

		chain.wants_file =
			run->has_debug_file &&
			!known_files_is_settled(run->naming->files, &run->file, true, offset, true);
		result = known->find ? known->find(known->user, module->path, module->build_id,
						   module->version, offset, name_chain_add, &chain)
				     : 0;
		if (result == -ENOMEM)
			return result;
		if (!chain.count && !known_files_is_settled(run->naming->files, &run->file,
							    run->has_debug_file, offset, false))
			run->pending[left++] = place;
	}
	run->pending_count = left;
	return 0;
}

void naming_settle(struct naming_run *run)
{
	for (uint32_t i = 0; i < run->pending_count; i++) {
		const struct resolved_frame *frame = &run->resolved->frames[run->pending[i]];

		if (!frame->function || !frame->file)
			known_files_settle(run->naming->files, &run->file, run->has_debug_file, frame->offset,
					   frame->function);
	}
}
