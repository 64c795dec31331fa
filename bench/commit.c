/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * commit writes captures into a database through bourdond's store, and prints for each how much the files
 * grew and how long it took. It also makes the database of many captures on which readers are measured.
 */
#include "bench/made_busy.h"
#include "bench/made_samples.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/policy/policy.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/capture/capture_samples.h"
#include "consumer/store/store.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define DATABASE_BYTES_MAX (16UL << 30) /* large enough that no capture is evicted */
#define LIBRARIES 12U
#define SITES_OF_FUNCTION 3U /* frames in one function */

struct settings {
	const char *directory;
	unsigned long long captures, samples, stacks, depth;
	bool busy;
};

/* ---- a capture ---- */

static struct capture *drain(const struct rings *rings)
{
	struct capture_trigger trigger = made_trigger();
	struct capture *capture = capture_begin(&trigger, rings);

	if (!capture) {
		free(trigger.cgroup);
		return NULL;
	}
	capture_drain(capture, made_describe, NULL);
	capture_end(capture, trigger.triggered_ns + trigger.capture_ns, false);
	return capture;
}

static struct capture *make_capture(const struct settings *settings)
{
	struct made_shape shape = { (uint32_t)settings->stacks, (uint32_t)settings->depth };
	uint32_t samples = (uint32_t)settings->samples;
	/* one more: the oldest slot of a full ring is not read */
	_cleanup_free_ struct sample *slots = calloc(samples + 1UL, sizeof(*slots));

	if (!slots)
		return NULL;
	made_ring(&shape, 0, slots, samples);
	return drain(&(struct rings){ slots, samples + 1, 1, 0, NULL });
}

/* Returns NULL without memory. */
static struct capture *make_busy_capture(struct made_host *host, uint32_t number)
{
	_cleanup_free_ struct sample *on_cpu = calloc(BUSY_SAMPLES + 1UL, sizeof(*on_cpu));
	_cleanup_free_ struct sample *off_cpu = calloc(BUSY_SAMPLES + 1UL, sizeof(*off_cpu));
	struct capture *capture;
	uint32_t on_count, off_count;

	if (!on_cpu || !off_cpu || made_busy_rings(host, number, on_cpu, &on_count, off_cpu, &off_count))
		return NULL;
	capture = drain(&(struct rings){ on_cpu, BUSY_SAMPLES + 1, 1, 0, off_cpu });
	if (capture && made_busy_context(capture) < 0) {
		capture_free(capture);
		return NULL;
	}
	return capture;
}

/* ---- names, as the resolver makes them ---- */

/* How the frames of captures are named. */
struct made_names {
	uint32_t modules;
	uint32_t frames; /* their numbers are below that */
	uint32_t (*number)(uint64_t address, bool is_kernel);
	int (*name_module)(uint32_t module, struct resolved_module *ret_module);
	int (*name_frame)(uint32_t number, struct resolved_frame *ret_frame);
};

static int name_module(uint32_t number, struct resolved_module *ret_module)
{
	struct resolved_module module = { .kind = number ? MODULE_FILE : MODULE_KERNEL };

	snprintf(module.build_id, sizeof(module.build_id), "%040x", number);
	if (asprintf(&module.path, number ? "/usr/lib/x86_64-linux-gnu/libworker%02u.so.6" : "[kernel]",
		     number) < 0)
		return -ENOMEM;
	*ret_module = module;
	return 0;
}

static int name_modules(const struct made_names *names, struct resolved *resolved)
{
	int result = 0;

	resolved->modules = calloc(names->modules, sizeof(*resolved->modules));
	if (!resolved->modules)
		return -ENOMEM;
	for (; resolved->modules_count < names->modules && !result; resolved->modules_count++)
		result = names->name_module(resolved->modules_count,
					    &resolved->modules[resolved->modules_count]);
	return result;
}

/* `number` counts the frames of the kernel first, then those of the user. */
static int name_frame(uint32_t number, struct resolved_frame *ret_frame)
{
	bool is_kernel = number < MADE_KERNEL_FRAMES;
	uint32_t at = is_kernel ? number : number - MADE_KERNEL_FRAMES;
	struct resolved_frame frame = { .module = is_kernel ? 0 : 1 + at % LIBRARIES,
					.offset = (int64_t)at * MADE_FRAME_BYTES,
					.function_offset = at % SITES_OF_FUNCTION * MADE_FRAME_BYTES };

	if (asprintf(&frame.function, is_kernel ? "do_sys_work_%u" : "worker_handle_request_%u",
		     at / SITES_OF_FUNCTION) < 0)
		return -ENOMEM;
	*ret_frame = frame;
	return 0;
}

static uint32_t frame_number(uint64_t address, bool is_kernel)
{
	return (uint32_t)(address / MADE_FRAME_BYTES) + (is_kernel ? 0 : MADE_KERNEL_FRAMES);
}

static uint32_t busy_frame_number(uint64_t address, bool is_kernel)
{
	(void)is_kernel;
	return made_busy_frame(address);
}

static int name_stack(const struct made_names *names, const struct capture *capture, uint32_t position,
		      uint32_t *known, struct resolved *resolved)
{
	const struct stack *stack = &capture->stacks.stacks[position];
	uint32_t depth = (uint32_t)stack->kernel_depth + stack->user_depth;

	for (uint32_t i = 0; i < depth; i++) {
		uint32_t number =
			names->number(capture->stacks.frames[stack->first + i], i < stack->kernel_depth);

		if (!known[number]) {
			int result = names->name_frame(number, &resolved->frames[resolved->frames_count]);

			if (result < 0)
				return result;
			known[number] = ++resolved->frames_count;
		}
		resolved->of_stack_frame[stack->first + i] = known[number] - 1;
	}
	resolved->depths[position] = (uint16_t)depth;
	return 0;
}

static int name_capture(const struct made_names *names, const struct capture *capture,
			struct resolved *ret_resolved)
{
	/* of each number, position + 1 */
	_cleanup_free_ uint32_t *known = calloc(names->frames, sizeof(*known));
	struct resolved resolved = {
		.frames = calloc(names->frames, sizeof(struct resolved_frame)),
		.of_stack_frame = calloc(capture->stacks.frames_count + 1UL, sizeof(uint32_t)),
		.depths = calloc(capture->stacks.count + 1UL, sizeof(uint16_t)),
	};
	int result = known && resolved.frames && resolved.of_stack_frame && resolved.depths
			     ? name_modules(names, &resolved)
			     : -ENOMEM;

	for (uint32_t i = 0; i < capture->stacks.count && !result; i++)
		result = name_stack(names, capture, i, known, &resolved);
	if (result < 0)
		resolved_free(&resolved);
	else
		*ret_resolved = resolved;
	return result;
}

/* ---- the database ---- */

static uint64_t file_bytes(const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat at;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return stat(path, &at) ? 0 : (uint64_t)at.st_size;
}

static uint64_t database_bytes(const char *directory)
{
	return file_bytes(directory, DATABASE_FILE) + file_bytes(directory, DATABASE_FILE "-wal");
}

static int begin_run(struct store *store)
{
	static const char text[] = "[rule web]\ncomm = worker\ncpu.some = 5%\nwatch = system\n";
	const struct manifest manifest = { .abi = BOURDON_ABI, .kernel = "made", .cpus = 1, .hz = 47 };
	struct config_errors errors = { 0 };
	struct rule_ids ids;
	struct rule_set rules;
	int result = rules_read_text("made.conf", text, strlen(text), &rules, &errors);

	if (result < 0)
		return result;
	result = store_next_ids(store, &ids);
	if (!result)
		result = rules_assign_ids(&rules, NULL, &ids);
	if (!result)
		result = store_begin_run(store, &manifest, &policy_default, &rules);
	rules_free(&rules);
	return result;
}

static int commit(struct store *store, const struct settings *settings, struct capture *capture,
		  const struct resolved *resolved, const struct mappings *mappings)
{
	uint64_t before_bytes, began_ns, began_cpu_ns, ended_ns, ended_cpu_ns;
	int result = store_begin_capture(store, &capture->trigger, capture_available_history_ns(capture),
					 &capture->capture_id);

	if (result < 0)
		return result;
	before_bytes = database_bytes(settings->directory);
	began_ns = clock_monotonic_ns();
	began_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	result = store_commit_capture(store, capture, resolved, mappings, &(int64_t){ 0 },
				      &(struct stored_verdict){ 0 });
	ended_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	ended_ns = clock_monotonic_ns();
	if (!result)
		printf("us=%" PRIu64 " cpu_us=%" PRIu64 " bytes=%" PRIu64 " rows=%u stacks=%u frames=%u\n",
		       (ended_ns - began_ns) / 1000, (ended_cpu_ns - began_cpu_ns) / 1000,
		       database_bytes(settings->directory) - before_bytes, capture->rows_count,
		       capture->stacks.count, resolved->frames_count);
	return result;
}

static int name_and_commit(struct store *store, const struct settings *settings,
			   const struct made_names *names, uint32_t number, struct capture *capture,
			   const struct mappings *mappings)
{
	struct resolved resolved = { 0 };
	int result;

	if (!capture)
		return -ENOMEM;
	capture->trigger.triggered_at += (int64_t)(number * 60 * CLOCK_SECOND_NS);
	result = name_capture(names, capture, &resolved);
	if (!result)
		result = commit(store, settings, capture, &resolved, mappings);
	resolved_free(&resolved);
	capture_free(capture);
	return result;
}

/* The same capture over and over: from the second on its stacks are in the database. Or a busy host's. */
static int commit_all(struct store *store, const struct settings *settings)
{
	const struct made_names all_names[] = {
		{ LIBRARIES + 1, MADE_KERNEL_FRAMES + MADE_USER_FRAMES, frame_number, name_module,
		  name_frame },
		{ BUSY_MODULES, made_busy_frames((uint32_t)settings->captures), busy_frame_number,
		  made_busy_module, made_busy_name },
	};
	struct mappings *mappings = mappings_new();
	struct made_host host = { 0 };
	int result = mappings ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < settings->captures && !result; i++)
		result = name_and_commit(
			store, settings, &all_names[settings->busy], i,
			settings->busy ? make_busy_capture(&host, i) : make_capture(settings), mappings);
	made_host_free(&host);
	mappings_free(mappings);
	return result;
}

static int run(const struct settings *settings)
{
	atomic_uint_fast64_t give_up_ns;
	struct store *store = NULL;
	int result;

	atomic_init(&give_up_ns, 0);
	result = store_open(&store, settings->directory,
			    &(struct store_limits){ .bytes_max = DATABASE_BYTES_MAX }, NULL, &clock_of_kernel,
			    &give_up_ns);
	if (!result)
		result = begin_run(store);
	if (!result)
		result = commit_all(store, settings);
	if (!result)
		result = store_end_run(store);
	store_close(store);
	return result;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *captures = "1", *samples = "10000", *stacks = "500", *depth = "30", *busy = NULL;
	const struct option_spec options[] = {
		{ "captures", "N", "captures to write (1)", &captures },
		{ "samples", "N", "samples of each, a row each (10000)", &samples },
		{ "stacks", "N", "distinct stacks of each (500)", &stacks },
		{ "depth", "N", "frames of a stack (30)", &depth },
		{ "busy", NULL, "captures of a busy host, with their own numbers", &busy },
	};
	const struct command_spec command = { "commit",
					      "DIRECTORY [OPTION...]",
					      "Writes captures into DIRECTORY/" DATABASE_FILE
					      " and prints the time and size of each.",
					      "commit /var/tmp/database --captures 10",
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed = options_parse(&command, count, arguments, &words);

	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 1 || options_number(captures, 1, 100000, &ret_settings->captures) ||
	    options_number(samples, 1, 1000000, &ret_settings->samples) ||
	    options_number(stacks, 1, 10000, &ret_settings->stacks) ||
	    options_number(depth, 2, SAMPLE_USER_FRAMES, &ret_settings->depth)) {
		log_error("expected a directory, and numbers within their limits: see --help");
		return EXIT_USAGE;
	}
	ret_settings->directory = arguments[1];
	ret_settings->busy = busy != NULL;
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	struct settings settings;
	int parsed, error;

	log_init("commit");
	parsed = read_settings(argc, argv, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	error = run(&settings);
	if (error)
		log_error("cannot write the captures: %s", strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
