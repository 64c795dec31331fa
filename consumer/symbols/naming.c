/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/naming.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/log.h"
#include "consumer/symbols/jit_map.h"
#include "consumer/symbols/naming_file.h"

#include <inttypes.h>

/*
 * Limits on the names of one capture, and of one module in it. A target chooses its names: one offset may
 * have 32 inlined functions with names of 767 bytes, which escaping quadruples in the database. Names of
 * ordinary programs have some 50 bytes.
 */
#define NAMES_BYTES_MAX (8UL << 20)
#define MODULE_NAMES_BYTES_MAX (2UL << 20)
/*
 * How long naming goes on for modules whose files have to wait for bourdon-grant, once all others have their
 * names. No other capture is named meanwhile.
 */
#define PUT_OFF_NS (3 * CLOCK_SECOND_NS)
#define PUT_OFF_ROUND_NS (CLOCK_SECOND_NS / 10) /* between two tries */

/* The image is this process's own, so its symbolizer stays as credible as it was. */
static int name_vdso(struct naming_run *run)
{
	struct symbolize_module answer;
	int result;

	if (run->naming->vdso <= 0 || !supervisor_need(&run->symbolizers))
		return 0;
	result = symbolizer_open_module(run->symbolizers.socket, run->naming->vdso,
					supervisor_patience(&run->symbolizers), &answer);
	return result < 0 || !answer.readable ? result : naming_ask(run, SYMBOLIZE_NAMES, -1);
}

/* ---- JIT code ---- */

/* Offsets without a name in the perf map count as ordinary anonymous memory. */
static int leave_anonymous(struct naming_run *run, uint32_t position)
{
	struct resolved *resolved = run->resolved;
	uint32_t named = 0, anonymous;

	for (uint32_t i = run->plan.first[position]; i < run->plan.first[position + 1]; i++) {
		struct resolved_frame *frame = &resolved->frames[run->plan.frames[i]];

		if (frame->function) {
			named++;
			continue;
		}
		if (resolved_anonymous(resolved, &anonymous))
			return -ENOMEM;
		frame->module = anonymous;
	}
	if (!named)
		resolved->modules[position].kind = MODULE_NONE;
	return 0;
}

/*
 * Addresses are valid for one process only. A runtime may reuse them for other code and then appends to its
 * map, so the map's size is part of the version.
 */
static int name_jit(struct naming_run *run, uint32_t position)
{
	struct resolved_module *module = &run->resolved->modules[position];
	const struct capture_process *process = &run->capture->processes[module->process];
	struct stat at = { 0 };
	_cleanup_close_ int map = jit_map_open(run->naming->jit_map_directory, run->naming->mapped_files,
					       process, run->symbolizers.deadline_ns, &at);

	run->is_put_off = map == -EBUSY;
	snprintf(module->version, sizeof(module->version), "%u-%" PRIu64 "-%" PRIu64, process->tgid,
		 process->started_ns, (uint64_t)at.st_size);
	if (map < 0 || !supervisor_need(&run->symbolizers))
		return 0;
	files_read_note(&run->symbolizers.read, &at);
	return naming_ask(run, SYMBOLIZE_PERF_MAP, map);
}

static int name_module(struct naming_run *run, uint32_t position)
{
	const struct resolved_module *module = &run->resolved->modules[position];
	int result = naming_find_pending(run, position);

	if (result < 0 || !run->pending_count)
		return result;
	run->room.most = run->resolved->names_bytes + MODULE_NAMES_BYTES_MAX;
	if (run->room.most > NAMES_BYTES_MAX)
		run->room.most = NAMES_BYTES_MAX;
	run->room.is_exceeded = false;
	result = module->kind == MODULE_FILE   ? naming_file_name(run, &run->resolved->modules[position])
		 : module->kind == MODULE_VDSO ? name_vdso(run)
					       : name_jit(run, position);
	if (run->room.is_exceeded && !run->cut++)
		run->first_cut = run->resolved->modules[position].path;
	return result;
}

/* JIT code whose perf map has to wait stays as it is until then. */
static int name_one(struct naming_run *run, uint32_t position)
{
	struct resolved_module *module = &run->resolved->modules[position];
	int result;

	run->is_put_off = false;
	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO && module->kind != MODULE_JIT)
		return 0;
	if (module->was_late || naming_is_late(run)) {
		run->late++;
		module->was_late = true;
	} else {
		do
			result = name_module(run, position);
		while (result < 0 && result != -ENOMEM &&
		       supervisor_lose(&run->symbolizers, module->path, result));
		if (result == -ENOMEM)
			return result;
		module->was_lost = result < 0;
	}
	return module->kind == MODULE_JIT && !run->is_put_off && leave_anonymous(run, position) ? -ENOMEM : 0;
}

/* Names the first `count` modules of the plan. Moves those that have to wait to the front of it. */
static int name_each(struct naming_run *run, uint32_t count, uint32_t *ret_put_off)
{
	uint32_t put_off = 0;

	for (uint32_t i = 0; i < count; i++) {
		int result;

		if (run->naming->meanwhile)
			run->naming->meanwhile(run->naming->user);
		result = name_one(run, run->plan.modules[i]);
		if (result < 0)
			return result;
		if (run->is_put_off)
			run->plan.modules[put_off++] = run->plan.modules[i];
	}
	*ret_put_off = put_off;
	return 0;
}

/* Each request that can be sent by then is that of the target whose turn it is (grant_shares.h). */
static int name_put_off(struct naming_run *run, uint32_t put_off)
{
	const struct mapped_files *files = run->naming->mapped_files;
	const struct timespec pause = clock_timespec(PUT_OFF_ROUND_NS);
	uint64_t until_ns = clock_monotonic_ns() + PUT_OFF_NS;
	int result = 0;

	while (put_off && !result && !naming_is_late(run) && clock_monotonic_ns() < until_ns) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		if (!mapped_files_must_wait(files))
			result = name_each(run, put_off, &put_off);
	}
	for (uint32_t i = 0; i < put_off && !result; i++)
		if (run->resolved->modules[run->plan.modules[i]].kind == MODULE_JIT)
			result = leave_anonymous(run, run->plan.modules[i]);
	return result;
}

static int name_modules(struct naming_run *run)
{
	int result = naming_plan_make(run->capture, run->resolved, &run->plan);
	uint32_t put_off = 0;

	if (!result)
		result = name_each(run, run->plan.modules_count, &put_off);
	return result < 0 ? result : name_put_off(run, put_off);
}

/* At most one line of each kind for a capture: a target has as many modules as it likes. */
static void log_limits(const struct naming_run *run)
{
	if (run->cut)
		log_warning(
			"too many names in %s and %u more: the rest stay offsets (limit: 2 MiB a module, 8 MiB a capture)",
			run->first_cut, run->cut - 1);
	if (run->late)
		log_warning(
			"naming ended at its deadline: the frames of %u of %u modules of this capture get no names",
			run->late, run->plan.modules_count);
}

/* `hold`: mapping_hold_file() or mapping_drop_file(). */
static void hold_files(const struct resolved *resolved, void (*hold)(struct mapped_file *file))
{
	for (uint32_t i = 0; i < resolved->modules_count; i++)
		hold(resolved->modules[i].file);
}

int naming_run(const struct naming *naming, const struct capture *capture, const struct mappings *mappings,
	       uint64_t deadline_ns, struct resolved *resolved)
{
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	struct naming_run run = { .naming = naming,
				  .capture = capture,
				  .mappings = mappings,
				  .resolved = resolved,
				  .room = { .resolved = resolved },
				  .symbolizers = supervisor_begin(naming->spawner_socket, naming->counters,
								  naming->budget, deadline_ns),
				  .reply = reply };
	int result;

	/* somebody looks at a live second: it is not for idle CPUs alone */
	run.symbolizers.late = naming->cache != NULL;
	hold_files(resolved, mapping_hold_file);
	result = reply ? name_modules(&run) : -ENOMEM;
	hold_files(resolved, mapping_drop_file);
	file_cache_flush(naming->kept);
	if (!naming->cache && !naming_is_in_hurry(naming))
		log_limits(&run);
	resolved->failures = run.symbolizers.failures;
	supervisor_end(&run.symbolizers);
	naming_plan_free(&run.plan);
	free(run.pending);
	return result;
}
