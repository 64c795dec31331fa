/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how the addresses of a capture become names: frames of this process and of the kernel, through a real
 * confined symbolizer and through fake ones that die or lie; that a file counts only if it is the one that
 * was mapped; and that each frame of a hostile stack gets some name.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/spawner.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/files.h"
#include "common/system/pass_fd.h"
#include "consumer/capture/capture_samples.h"
#include "consumer/symbols/resolve.h"
#include "consumer/symbols/supervisor.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define TRIGGERED 1000000000000UL
#define TGID 77U
#define STARTED (1000 + TGID) /* as in sample_make() */

static const char kernel_text[] = "0 _text\n4096 vfs_read\n8192 ksys_read\n1610612736 ext4_read ext4\n";

static __attribute__((noinline)) int first_function(int x)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" ::: "memory");
	return x + 1;
}

static __attribute__((noinline)) int second_function(int x)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" ::: "memory");
	return x + 2;
}

static uint64_t address_of(int (*function)(int))
{
	return (uint64_t)(uintptr_t)function;
}

/* ---- a capture and its mappings ---- */

struct scene {
	struct capture *capture;
	struct mappings *mappings;
	struct kernel_symbols symbols;
	struct manifest manifest;
	struct resolved resolved;
	struct mapped_files mapped_files; /* opened by path only */
	struct naming naming;             /* spawner_socket is set by resolve() */
	uint32_t epoch;                   /* of the mappings that are added */
	char exe[PATH_MAX]; /* as the mapping iterator names it, or a copy that others may read */
};

/* Adds one executable mapping of this process, as a record of the iterator. `inode` 0: that of the file. */
static void map(struct scene *scene, uint64_t begins, uint64_t ends, uint64_t offset, const char *path,
		uint64_t inode, uint32_t flags)
{
	struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) },
					 .tgid = TGID,
					 .started_ns = STARTED,
					 .begins = begins,
					 .ends = ends,
					 .file_offset = offset,
					 .flags = flags,
					 .epoch = scene->epoch,
					 .path_bytes = (uint32_t)strlen(path) };
	char bytes[sizeof(record) + PATH_MAX];
	struct stat at = { 0 };

	if (*path && !stat(path, &at)) {
		record.device_major = major(at.st_dev);
		record.device_minor = minor(at.st_dev);
	}
	record.inode = inode ? inode : at.st_ino;
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), path, record.path_bytes);
	ck_assert_int_eq(mappings_add_records(scene->mappings, bytes, sizeof(record) + record.path_bytes),
			 (long)(sizeof(record) + record.path_bytes));
}

static void map_this_process(struct scene *scene)
{
	_cleanup_file_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128], own[PATH_MAX] = "";

	ck_assert_int_gt(readlink(OWN_PATH, own, sizeof(own) - 1), 0);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t begins, ends, offset;
		char mode[8], path[PATH_MAX] = "";

		ck_assert_int_ge(sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s",
					&begins, &ends, mode, &offset, path),
				 4);
		if (mode[2] != 'x')
			continue;
		if (!strcmp(path, own))
			map(scene, begins, ends, offset, scene->exe, 0, MAPPING_IS_EXE);
		else if (path[0] == '/')
			map(scene, begins, ends, offset, path, 0, 0);
		else
			map(scene, begins, ends, 0, "", 0, strcmp(path, "[vdso]") ? 0 : MAPPING_IS_VDSO);
	}
}

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	(void)user;
	(void)sample;
	process->role = USAGE_TARGET;
	return true;
}

/* The samples have so many different stacks. */
static void scene_make_of(struct scene *scene, const struct sample *samples, uint32_t count, uint32_t stacks)
{
	const struct capture_trigger trigger = { .triggered_ns = TRIGGERED, .capture_ns = 1000000000 };
	struct fake_ring ring;
	struct rings rings;
	ssize_t bytes;

	*scene = (struct scene){ .mappings = mappings_new(),
				 .symbols = { .text = kernel_text, .bytes = sizeof(kernel_text) - 1 },
				 .naming = { .debug_root = "/nowhere", .jit_map_directory = "/nowhere" } };
	strcpy(scene->manifest.kernel_build_id, "00ff");
	scene->manifest.loaded_at = 4711;
	bytes = readlink(OWN_PATH, scene->exe, sizeof(scene->exe) - 1);
	ck_assert_int_gt(bytes, 0);
	fake_ring_make(&ring, count + 2);
	for (uint32_t i = 0; i < count; i++)
		fake_ring_write(&ring, &samples[i]);
	rings = (struct rings){ ring.slots, ring.slots_count, 1, 0, NULL };
	scene->capture = capture_begin(&trigger, &rings);
	capture_drain(scene->capture, describe, NULL);
	fake_ring_free(&ring);
	ck_assert_uint_eq(scene->capture->stacks.count, stacks);
}

static void scene_make(struct scene *scene, const struct sample *samples, uint32_t count)
{
	scene_make_of(scene, samples, count, count);
}

static void scene_free(struct scene *scene)
{
	resolved_free(&scene->resolved);
	resolved_free(&scene->resolved);
	capture_free(scene->capture);
	mappings_free(scene->mappings);
}

static void resolve_until(struct scene *scene, int spawner, uint64_t deadline_ns)
{
	scene->naming.spawner_socket = spawner;
	scene->naming.mapped_files = &scene->mapped_files;
	ck_assert_int_eq(resolve_capture(scene->capture, scene->mappings, &scene->symbols, &scene->manifest,
					 &scene->naming, deadline_ns, &scene->resolved),
			 0);
	for (uint32_t i = 0; i < scene->resolved.frames_count; i++)
		ck_assert_ptr_nonnull(scene->resolved.frames[i].function);
}

static void resolve(struct scene *scene, int spawner)
{
	resolve_until(scene, spawner, clock_monotonic_ns() + 30 * CLOCK_SECOND_NS);
}

/* Resolves without a symbolizer, and asserts that a warning is logged. */
static void resolve_alone(struct scene *scene)
{
	int ends[2], saved = log_divert();

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	close(ends[1]);
	resolve(scene, ends[0]);
	close(ends[0]);
	free(log_diverted(saved));
}

/* Frame `position` of stack `stack`. */
static const struct resolved_frame *frame_at(const struct scene *scene, uint32_t stack, uint32_t position)
{
	uint32_t at = scene->capture->stacks.stacks[stack].first + position;

	return &scene->resolved.frames[scene->resolved.of_stack_frame[at]];
}

static const struct resolved_module *module_at(const struct scene *scene, uint32_t stack, uint32_t position)
{
	return &scene->resolved.modules[frame_at(scene, stack, position)->module];
}

static void expect_frame(const struct scene *scene, uint32_t stack, uint32_t position, const char *function,
			 int64_t function_offset, enum module_kind kind)
{
	const struct resolved_frame *frame = frame_at(scene, stack, position);

	ck_assert_str_eq(frame->function, function);
	ck_assert_int_eq(frame->function_offset, function_offset);
	ck_assert_int_eq(module_at(scene, stack, position)->kind, kind);
}

/* ---- kernel frames ---- */

START_TEST(kernel_frames)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 6, 0, 0);
	struct scene scene;

	sample.kernel_frames[0] = 4096;       /* the leaf: its own address */
	sample.kernel_frames[1] = 8192;       /* a caller; the call before it ends vfs_read */
	sample.kernel_frames[2] = 8193;       /* one byte into ksys_read */
	sample.kernel_frames[3] = 0x60000011; /* in a module */
	sample.kernel_frames[4] = 100000000;  /* in no symbol */
	sample.kernel_frames[5] = KERNEL_FRAME_UNKNOWN;
	scene_make(&scene, &sample, 1);
	resolve(&scene, -1); /* no symbolizer is needed */
	expect_frame(&scene, 0, 0, "vfs_read", 0, MODULE_KERNEL);
	expect_frame(&scene, 0, 1, "vfs_read", 4095, MODULE_KERNEL);
	expect_frame(&scene, 0, 2, "ksys_read", 0, MODULE_KERNEL);
	expect_frame(&scene, 0, 3, "ext4_read", 16, MODULE_KERNEL_MODULE);
	expect_frame(&scene, 0, 4, "[kernel]+0x5f5e0ff", -1, MODULE_KERNEL);
	expect_frame(&scene, 0, 5, "[kernel]-0x80000000", -1, MODULE_KERNEL);
	ck_assert_uint_eq(scene.resolved.unresolved, 2);
	ck_assert_str_eq(module_at(&scene, 0, 0)->path, "[kernel]");
	ck_assert_str_eq(module_at(&scene, 0, 0)->build_id, "00ff");
	ck_assert_str_eq(module_at(&scene, 0, 3)->path, "ext4");
	ck_assert_str_eq(module_at(&scene, 0, 3)->build_id, "");
	ck_assert_str_eq(module_at(&scene, 0, 3)->version, "4711");
	scene_free(&scene);
}
END_TEST

START_TEST(without_kernel_symbols)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 1, 0, 0x1000);
	struct scene scene;

	scene_make(&scene, &sample, 1);
	scene.symbols = (struct kernel_symbols){ 0 };
	resolve(&scene, -1);
	expect_frame(&scene, 0, 0, "[kernel]+0x1000", -1, MODULE_KERNEL);
	scene_free(&scene);
}
END_TEST

/* ---- frames without a file ---- */

START_TEST(frames_without_a_file)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 1, 4, 0);
	struct scene scene;

	sample.user_frames[0] = 0x10008;
	sample.user_frames[1] = 0x7fff00000009; /* the address before it is in the vDSO */
	sample.user_frames[2] = 0x10009; /* as the caller of another frame: the same place as the leaf */
	sample.user_frames[3] = 0x40001;
	scene_make(&scene, &sample, 1);
	map(&scene, 0x10000, 0x11000, 0, "", 0, 0);
	map(&scene, 0x7fff00000000, 0x7fff00001000, 0, "", 0, MAPPING_IS_VDSO);
	map(&scene, 0x40000, 0x41000, 0, "", 99, MAPPING_NO_PATH);
	resolve(&scene, -1);
	expect_frame(&scene, 0, 1, "[anonymous]+0x10008", -1, MODULE_ANONYMOUS);
	expect_frame(&scene, 0, 2, "[vdso]+0x8", -1, MODULE_VDSO);
	ck_assert_ptr_eq(frame_at(&scene, 0, 3), frame_at(&scene, 0, 1));
	expect_frame(&scene, 0, 4, "[anonymous]+0x40000", -1, MODULE_ANONYMOUS);
	ck_assert_str_eq(module_at(&scene, 0, 2)->build_id, "00ff");
	ck_assert_uint_eq(scene.resolved.depths[0], 5);
	ck_assert_uint_eq(scene.resolved.unresolved, 3);
	scene_free(&scene);
}
END_TEST

/* Frames above the first unmapped one are noise: the stack ends with the unmapped one. */
START_TEST(a_stack_ends_at_the_first_unmapped_frame)
{
	struct sample samples[] = { sample_make(TGID, TRIGGERED, 2, 5, 0),
				    sample_make(TGID, TRIGGERED, 0, 1, 0),
				    sample_make(TGID, TRIGGERED, 3, 0, 0),
				    sample_make(TGID, TRIGGERED, 0, 2, 0) };
	struct scene scene;

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i].user_frames[0] = samples[i].user_frames[1] = 0x10008;
	samples[0].user_frames[2] = 0x30001;
	samples[0].user_frames[3] = 0x10010; /* mapped again, but above an unmapped frame */
	samples[1].user_frames[0] = 0x50001;
	scene_make(&scene, samples, ARRAY_SIZE(samples));
	map(&scene, 0x10000, 0x11000, 0, "", 0, 0);
	resolve(&scene, -1);
	ck_assert_uint_eq(scene.resolved.depths[0], 5);
	ck_assert_uint_eq(scene.resolved.depths[1], 1);
	ck_assert_uint_eq(scene.resolved.depths[2], 3);
	ck_assert_uint_eq(scene.resolved.depths[3], 2);
	expect_frame(&scene, 0, 4, "[unknown]", -1, MODULE_ANONYMOUS);
	/* all unmapped addresses are the same frame */
	ck_assert_ptr_eq(frame_at(&scene, 1, 0), frame_at(&scene, 0, 4));
	scene_free(&scene);
}
END_TEST

/* A user stack may hold any number, in the leaf or above it. */
/* The executable's code, moved to memory of no file: where it is in the file is known once its table was made. */
START_TEST(code_in_memory_of_no_file)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 0, 1, 0);
	struct scene scene;

	sample.user_frames[0] = 0x10108;
	scene_make(&scene, &sample, 1);
	map(&scene, 0x10000, 0x11000, 0x1000, "/none/program", 5, MAPPING_IS_EXE | MAPPING_IS_TEXT);
	if (_i) /* the first page with code is page 2 of the file */
		mappings_find(scene.mappings, TGID, STARTED, 0x10108)->file->text = 3;
	resolve(&scene, -1);
	if (_i)
		expect_frame(&scene, 0, 0, "program+0x3108", -1, MODULE_FILE);
	else
		expect_frame(&scene, 0, 0, "[anonymous]+0x10108", -1, MODULE_ANONYMOUS);
	scene_free(&scene);
}
END_TEST

/* Two files were at one address: a sample is of the one that a scan saw at the sample's epoch, or of none. */
START_TEST(what_was_replaced_is_named_by_the_epoch)
{
	static const char *const expected[] = { "first+0x100", "second+0x100", "[unknown]" };
	struct sample samples[4];
	struct scene scene;

	for (uint32_t i = 0; i < ARRAY_SIZE(samples); i++) {
		samples[i] = sample_make(TGID, TRIGGERED + i, 1, 2, 0);
		samples[i].user_frames[0] = 0x10100;
		samples[i].user_frames[1] = 0x40001; /* a caller in what stays */
		samples[i].epoch = 10 + 2 * i;
		samples[i].user_ended = UNWIND_ENDED_ROOT;
	}
	samples[3].epoch = 10;
	scene_make_of(&scene, samples, ARRAY_SIZE(samples), 1);
	scene.capture->covered_from_ns = scene.capture->offcpu_from_ns = 0;
	for (uint32_t i = 0; i < 2; i++) {
		mappings_begin_scan(scene.mappings, MAPPINGS_OF_FEW);
		scene.epoch = 10 + 2 * i;
		map(&scene, 0x10000, 0x11000, 0, i ? "/none/second" : "/none/first", 1 + i, 0);
		map(&scene, 0x40000, 0x41000, 0, "/none/program", 3, 0);
		ck_assert(!mappings_end_pass(scene.mappings));
	}
	resolve(&scene, -1);
	ck_assert_uint_eq(scene.capture->rows_count, 3); /* the last sample is of the first one's row */
	for (uint32_t i = 0; i < scene.capture->rows_count; i++) {
		const struct capture_row *row = &scene.capture->rows[i];
		const struct stack *stack = &scene.capture->stacks.stacks[row->stack];

		ck_assert_str_eq(frame_at(&scene, row->stack, 1)->function, expected[i]);
		ck_assert_uint_eq(scene.resolved.depths[row->stack], i == 2 ? 2 : 3);
		ck_assert_uint_eq(stack->ended, i == 2 ? UNWIND_ENDED_CHANGED : UNWIND_ENDED_ROOT);
		ck_assert(stack->truncated == (i == 2));
		if (i != 2)
			ck_assert_str_eq(frame_at(&scene, row->stack, 2)->function, "program+0x0");
	}
	scene_free(&scene);
}
END_TEST

START_TEST(hostile_addresses)
{
	static const uint64_t addresses[] = { 0,
					      1,
					      UINT64_MAX,
					      UINT64_MAX - 1,
					      1UL << 63,
					      (1UL << 63) + 1,
					      (1UL << 63) - 1,
					      0xffffffffff600400U };
	struct sample samples[2 * ARRAY_SIZE(addresses)];
	struct scene scene;

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		samples[i] = sample_make(TGID, TRIGGERED, 0, 1 + (int)(i % 2), 0);
		samples[i].user_frames[0] = 0x10008;
		samples[i].user_frames[i % 2] = addresses[i / 2];
	}
	scene_make(&scene, samples, ARRAY_SIZE(samples));
	map(&scene, 0x10000, 0x11000, 0, "", 0, 0);
	resolve(&scene, -1);
	for (uint32_t i = 0; i < ARRAY_SIZE(samples); i++)
		expect_frame(&scene, i, i % 2, "[unknown]", -1, MODULE_ANONYMOUS);
	scene_free(&scene);
}
END_TEST

/* Mapped addresses in the upper half of the address space, as of vsyscall, are not negative numbers. */
START_TEST(high_addresses)
{
	struct sample samples[] = { sample_make(TGID, TRIGGERED, 0, 1, 0xffffffffff600400U),
				    sample_make(TGID, TRIGGERED, 0, 1, 1UL << 63) };
	struct scene scene;

	scene_make(&scene, samples, ARRAY_SIZE(samples));
	map(&scene, 1UL << 63, (1UL << 63) + 4096, 0, "", 0, 0);
	map(&scene, 0xffffffffff600000U, 0xffffffffff601000U, 0, "", 0, 0);
	resolve(&scene, -1);
	expect_frame(&scene, 0, 0, "[anonymous]+0xffffffffff600400", -1, MODULE_ANONYMOUS);
	expect_frame(&scene, 1, 0, "[anonymous]+0x8000000000000000", -1, MODULE_ANONYMOUS);
	scene_free(&scene);
}
END_TEST

START_TEST(a_capture_without_frames)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 0, -EFAULT, 0);
	struct scene scene;

	scene_make(&scene, &sample, 1);
	resolve(&scene, -1);
	ck_assert_uint_eq(scene.resolved.frames_count, 0);
	ck_assert_uint_eq(scene.resolved.unresolved, 0);
	scene_free(&scene);
}
END_TEST

/* ---- functions of this process ---- */

/* kernel_0; first_function + 4; second_function, as a caller; first_function + 4, as a caller. */
static struct sample own_stack(void)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 1, 3, 0);

	ck_assert_int_eq(first_function(1) + second_function(1), 5);
	sample.user_frames[0] = address_of(first_function) + 4;
	sample.user_frames[1] = address_of(second_function) + 1;
	sample.user_frames[2] = address_of(first_function) + 5;
	return sample;
}

static void expect_own_names(const struct scene *scene)
{
	expect_frame(scene, 0, 0, "_text", 0, MODULE_KERNEL);
	expect_frame(scene, 0, 1, "first_function", 4, MODULE_FILE);
	expect_frame(scene, 0, 2, "second_function", 0, MODULE_FILE);
	ck_assert_ptr_eq(frame_at(scene, 0, 3), frame_at(scene, 0, 1));
	ck_assert_int_eq(frame_at(scene, 0, 1)->offset,
			 (int64_t)own_offset((const void *)first_function) + 4);
	ck_assert_str_eq(module_at(scene, 0, 1)->path, scene->exe);
	ck_assert_uint_eq(scene->resolved.unresolved, 0);
}

static void expect_no_own_names(const struct scene *scene)
{
	char expected[PATH_MAX + 32];

	snprintf(expected, sizeof(expected), "%s+0x%" PRIx64, strrchr(scene->exe, '/') + 1,
		 own_offset((const void *)first_function) + 4);
	expect_frame(scene, 0, 1, expected, -1, MODULE_FILE);
	ck_assert_uint_eq(scene->resolved.unresolved, 2);
}

/* A copy of this program that others may read. */
static void copy_own(const char *directory, char path[PATH_MAX])
{
	_cleanup_free_ char *bytes = NULL;
	size_t length;

	snprintf(path, PATH_MAX, "%s/unit", directory);
	ck_assert_int_eq(file_read_text(AT_FDCWD, OWN_PATH, 256 << 20, &bytes, &length), 0);
	file_put(path, bytes, length);
	ck_assert_int_eq(chmod(directory, 0755) || chmod(path, 0644), 0);
}

/* The symbolizer refuses to run as root: this test drops root when it no longer needs it. */
START_TEST(through_a_confined_symbolizer)
{
	_cleanup_free_ char *directory = directory_make();
	char copy[PATH_MAX];
	struct sample sample = own_stack();
	size_t open = descriptors_open();
	struct scene scene;
	int spawner = -1;

	copy_own(directory, copy);
	if (!geteuid())
		ck_assert_int_eq(setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
					 setresuid(65534, 65534, 65534),
				 0);
	ck_assert_int_eq(spawner_start(&spawner), 0);
	for (int round = 0; round < 3; round++) { /* one spawner serves all captures */
		scene_make(&scene, &sample, 1);
		strcpy(scene.exe, copy);
		map_this_process(&scene);
		resolve(&scene, spawner);
		expect_own_names(&scene);
		scene_free(&scene);
	}
	close(spawner);
	ck_assert_uint_eq(descriptors_open(), open);
}
END_TEST

START_TEST(without_a_symbolizer)
{
	struct sample sample = own_stack();
	struct scene scene;

	scene_make(&scene, &sample, 1);
	map_this_process(&scene);
	resolve_alone(&scene);
	expect_no_own_names(&scene);
	ck_assert_str_eq(scene.resolved.frames[scene.resolved.of_stack_frame[0]].function, "_text");
	scene_free(&scene);
}
END_TEST

/* ---- fake symbolizers ---- */

enum manners { HONEST, HANGS_AT_FIRST, DIES_AT_FIRST, LIES_AT_FIRST, REPLIES_NOTHING, DIES_ALWAYS, HANGS };

struct actor {
	int socket; /* this test's end of the spawner's socket */
	enum manners manners;
	unsigned int spawned, requests, largest;
	char last_work; /* the purpose of the last symbolizer */
	unsigned int of_kind[SYMBOLIZE_PERF_MAP + 1];
};

/* A reply that no honest symbolizer sends, whatever the request. */
static void lie(uint32_t kind, union symbolizer_answer *answer)
{
	if (kind == SYMBOLIZE_NAMES)
		answer->names.frames[0].name = UINT32_MAX;
	else
		answer->module.build_id_bytes = UINT32_MAX;
}

/* Serves one symbolizer's socket until it is closed. */
static void serve(struct actor *actor, int socket)
{
	union symbolizer_answer *answer = calloc(1, sizeof(*answer));
	struct symbolizer symbolizer = { .module = NULL };
	struct symbolize_request request;
	ssize_t got;
	int fd = -1;

	while ((got = pass_fd_receive(socket, &request, sizeof(request), &fd)) > 0) {
		ssize_t bytes = symbolizer_answer(&symbolizer, &request, (size_t)got, fd, answer);
		bool bad = actor->manners == DIES_ALWAYS || (actor->manners != HONEST && !actor->requests);

		HOLDS(bytes > 0);
		actor->requests++;
		actor->of_kind[request.kind]++;
		if (request.count > actor->largest)
			actor->largest = request.count;
		if (actor->manners == HANGS || (actor->manners == HANGS_AT_FIRST && actor->spawned == 1))
			continue;
		if (actor->manners == HANGS_AT_FIRST)
			bad = false;
		if (bad && actor->manners == REPLIES_NOTHING)
			bytes = 1;
		else if (bad && actor->manners == LIES_AT_FIRST)
			lie(request.kind, answer);
		else if (bad)
			break;
		if (pass_fd_send(socket, answer, (size_t)bytes, -1))
			break;
	}
	symbolizer_free(&symbolizer);
	free(answer);
	close(socket);
}

static void *act(void *user)
{
	struct actor *actor = user;
	char byte;
	int fd;

	while (pass_fd_receive(actor->socket, &byte, 1, &fd) == 1) {
		int pair[2];

		HOLDS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
		HOLDS(pass_fd_send(actor->socket, "s", 1, pair[0]) == 0);
		close(pair[0]);
		actor->spawned++;
		actor->last_work = byte;
		serve(actor, pair[1]);
	}
	return NULL;
}

static struct actor resolve_with(struct scene *scene, enum manners manners, char **ret_said)
{
	struct actor actor = { .manners = manners };
	int pair[2], saved = log_divert();
	pthread_t thread;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	actor.socket = pair[1];
	ck_assert_int_eq(pthread_create(&thread, NULL, act, &actor), 0);
	resolve_until(scene, pair[0], clock_monotonic_ns() + (manners == HANGS ? 1 : 30) * CLOCK_SECOND_NS);
	close(pair[0]);
	pthread_join(thread, NULL);
	close(pair[1]);
	*ret_said = log_diverted(saved);
	return actor;
}

START_TEST(an_honest_symbolizer)
{
	struct sample sample = own_stack();
	_cleanup_free_ char *said = NULL;
	struct actor actor;
	struct scene scene;

	scene_make(&scene, &sample, 1);
	map_this_process(&scene);
	actor = resolve_with(&scene, HONEST, &said);
	expect_own_names(&scene);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(actor.spawned, 1);
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_MODULE], 1);
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], 1);
	ck_assert_uint_eq(scene.resolved.failures, 0);
	ck_assert_str_eq(strrchr(frame_at(&scene, 0, 1)->file, '/') + 1, "test_resolve.c");
	ck_assert_uint_gt(frame_at(&scene, 0, 1)->line, 0);
	ck_assert_uint_eq(actor.largest, 2); /* one request for each address */
	scene_free(&scene);
}
END_TEST

/*
 * The frame of the C library comes first and costs the symbolizer; a second one names the frames of this
 * program.
 */
START_TEST(a_symbolizer_that_dies_costs_one_module)
{
	static const enum manners bad[] = { DIES_AT_FIRST, LIES_AT_FIRST, REPLIES_NOTHING };
	struct sample sample = own_stack();
	_cleanup_free_ char *said = NULL;
	struct actor actor;
	struct scene scene;

	memmove(&sample.user_frames[1], &sample.user_frames[0], 3 * sizeof(sample.user_frames[0]));
	sample.user_frames[0] = (uint64_t)(uintptr_t)getenv;
	sample.user_frames[1] = address_of(first_function) + 5;
	sample.user_depth = 4;
	scene_make(&scene, &sample, 1);
	map_this_process(&scene);
	ck_assert_ptr_nonnull(mappings_find(scene.mappings, TGID, STARTED, sample.user_frames[0]));
	if (!strcmp(mappings_find(scene.mappings, TGID, STARTED, sample.user_frames[0])->file->path,
		    scene.exe)) {
		scene_free(&scene); /* linked statically, or a sanitizer's wrapper: one module only */
		return;
	}
	actor = resolve_with(&scene, bad[_i], &said);
	ck_assert_int_eq(frame_at(&scene, 0, 1)->function_offset, -1);
	expect_frame(&scene, 0, 2, "first_function", 4, MODULE_FILE);
	expect_frame(&scene, 0, 3, "second_function", 0, MODULE_FILE);
	ck_assert_uint_eq(scene.resolved.unresolved, 1);
	ck_assert_uint_eq(actor.spawned, 2);
	ck_assert_uint_eq(scene.resolved.failures, 1);
	ck_assert_ptr_nonnull(strstr(said, "the symbolizer died reading "));
	ck_assert_ptr_nonnull(strstr(said, module_at(&scene, 0, 1)->path));
	scene_free(&scene);
}
END_TEST

START_TEST(symbolizers_that_always_die)
{
	struct sample sample = own_stack();
	_cleanup_free_ char *said = NULL;
	struct scene scene;

	scene_make(&scene, &sample, 1);
	map_this_process(&scene);
	resolve_with(&scene, DIES_ALWAYS, &said);
	expect_no_own_names(&scene);
	ck_assert_uint_eq(scene.resolved.failures, 1); /* there is one module */
	scene_free(&scene);
}
END_TEST

START_TEST(a_symbolizer_that_hangs_is_abandoned)
{
	struct sample sample = own_stack();
	uint64_t began_ns = clock_monotonic_ns(), took_ns;
	_cleanup_free_ char *said = NULL;
	struct scene scene;

	scene_make(&scene, &sample, 1);
	map_this_process(&scene);
	resolve_with(&scene, HANGS, &said);
	took_ns = clock_monotonic_ns() - began_ns;
	ck_assert_uint_ge(took_ns, CLOCK_SECOND_NS);
	ck_assert_uint_lt(took_ns, 10 * CLOCK_SECOND_NS);
	expect_no_own_names(&scene);
	scene_free(&scene);
}
END_TEST

/* An idle-class symbolizer may never run on a busy host: one of a higher class replaces it, and answers. */
START_TEST(an_idle_symbolizer_is_replaced)
{
	struct sample sample = own_stack();
	uint64_t began_ns = clock_monotonic_ns();
	_cleanup_free_ char *said = NULL;
	struct actor actor;
	struct scene scene;

	scene_make(&scene, &sample, 1);
	map_this_process(&scene);
	actor = resolve_with(&scene, HANGS_AT_FIRST, &said);
	ck_assert_uint_lt(clock_monotonic_ns() - began_ns, 20 * CLOCK_SECOND_NS * patience());
	expect_own_names(&scene);
	ck_assert_uint_eq(actor.spawned, 2);
	ck_assert_int_eq(actor.last_work, SYMBOLIZER_SOON);
	ck_assert_uint_eq(scene.resolved.failures, 0);
	ck_assert_str_eq(said, "");
	scene_free(&scene);
}
END_TEST

/* Of the two seconds of a baseline, too, the symbolizers that get a CPU on a busy host have a half. */
START_TEST(an_idle_symbolizer_has_half_of_the_time)
{
	uint64_t deadline_ns = clock_monotonic_ns() + 2 * CLOCK_SECOND_NS;
	struct supervisor symbolizers = supervisor_begin(-EBADF, NULL, NULL, deadline_ns);

	ck_assert_uint_lt(supervisor_patience(&symbolizers), deadline_ns);
	symbolizers.late = true;
	ck_assert_uint_eq(supervisor_patience(&symbolizers), deadline_ns);
	supervisor_end(&symbolizers);
}
END_TEST

/* A request holds 64 frames; a file with more of them gets several requests, and no frame is lost. */
START_TEST(many_frames_go_in_batches)
{
	static const uint32_t counts[] = { 63, 64, 65, 127, 128, 129, 500 };
	uint32_t count = counts[_i], samples_count = (count + 99) / 100;
	_cleanup_free_ struct sample *samples = calloc(samples_count, sizeof(*samples));
	_cleanup_free_ char *said = NULL;
	uint64_t text = address_of(first_function);
	uint32_t places = 0;
	struct actor actor;
	struct scene scene;

	for (uint32_t i = 0; i < samples_count; i++) {
		samples[i] = sample_make(TGID, TRIGGERED, 0,
					 (int)(count - i * 100 < 100 ? count - i * 100 : 100), 0);
		for (int j = 0; j < samples[i].user_depth;
		     j++) /* the leaf has its own address, a caller the one behind it */
			samples[i].user_frames[j] = text - i * 100 - (uint64_t)j + (j > 0);
	}
	scene_make(&scene, samples, samples_count);
	map_this_process(&scene);
	actor = resolve_with(&scene, HONEST, &said);
	for (uint32_t i = 0; i < scene.resolved.frames_count; i++)
		places += !scene.resolved.frames[i].inlined;
	ck_assert_uint_eq(places, count);
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], (count + SYMBOLIZE_BATCH - 1) / SYMBOLIZE_BATCH);
	ck_assert_uint_eq(actor.largest, count < SYMBOLIZE_BATCH ? count : SYMBOLIZE_BATCH);
	expect_frame(&scene, 0, 0, "first_function", 0, MODULE_FILE);
	scene_free(&scene);
}
END_TEST

/* ---- files that are not the mapped one ---- */

START_TEST(another_file_under_the_same_path)
{
	struct sample sample = own_stack();
	struct scene scene;
	struct stat at;

	scene_make(&scene, &sample, 1);
	ck_assert_int_eq(stat(scene.exe, &at), 0);
	map(&scene, address_of(first_function) & ~0xfffUL, (address_of(second_function) | 0xfff) + 0x1000,
	    own_offset((const void *)first_function) & ~0xfffUL, scene.exe, at.st_ino + 1, 0);
	map(&scene, address_of(first_function) & ~0xfffUL, (address_of(first_function) | 0xfff) + 0x1000,
	    own_offset((const void *)first_function) & ~0xfffUL, scene.exe, at.st_ino + 1, 0);
	{
		_cleanup_free_ char *said = NULL;
		struct actor actor = resolve_with(&scene, HONEST, &said);

		ck_assert_uint_eq(actor.requests, 0); /* no request for another file than the mapped one */
	}
	ck_assert_int_eq(frame_at(&scene, 0, 1)->function_offset, -1);
	scene_free(&scene);
}
END_TEST

struct odd_case {
	const char *path; /* "": made below */
	bool makes_fifo;
};

static const struct odd_case odd_cases[] = { { "/nowhere/at/all", false },
					     { "/usr/bin/gone (deleted)", false },
					     { "/", false },
					     { "relative/path", false },
					     { "", true } };

START_TEST(files_that_cannot_be_opened)
{
	const struct odd_case *one = &odd_cases[_i];
	_cleanup_free_ char *directory = directory_make(), *fifo = path_join(directory, "fifo"), *said = NULL;
	struct sample sample = sample_make(TGID, TRIGGERED, 0, 1, 0x5008);
	struct scene scene;

	ck_assert_int_eq(mkfifo(fifo, 0600), 0); /* opening it must not wait for a writer */
	scene_make(&scene, &sample, 1);
	map(&scene, 0x5000, 0x6000, 0x100, one->makes_fifo ? fifo : one->path, one->makes_fifo ? 0 : 99, 0);
	resolve_with(&scene, HONEST, &said);
	ck_assert_int_eq(module_at(&scene, 0, 0)->kind, MODULE_FILE);
	ck_assert_int_eq(frame_at(&scene, 0, 0)->offset, 0x108);
	ck_assert_int_eq(frame_at(&scene, 0, 0)->function_offset, -1);
	ck_assert_ptr_nonnull(strstr(frame_at(&scene, 0, 0)->function, "+0x108"));
	scene_free(&scene);
	directory_remove(directory);
}
END_TEST

/* Files that only root may write have no version; for others it is made of owner, times and size. */
static void version_of(const struct stat *at, bool has_build_id, char version[64])
{
	if (at->st_uid || at->st_mode & (S_IWGRP | S_IWOTH))
		snprintf(version, 64, "%u-%ld.%09ld-%ld", at->st_uid, at->st_ctim.tv_sec, at->st_ctim.tv_nsec,
			 at->st_size);
	else if (!has_build_id)
		snprintf(version, 64, "%ld.%09ld-%ld", at->st_mtim.tv_sec, at->st_mtim.tv_nsec, at->st_size);
	else
		version[0] = '\0';
}

/* A text that is mapped executable: without a build id, its time and size identify it. */
START_TEST(a_file_without_a_build_id_has_a_version)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "code"), *said = NULL;
	struct sample sample = sample_make(TGID, TRIGGERED, 0, 1, 0x5008);
	struct stat at;
	struct scene scene;
	char expected[64];

	file_put(path, "no ELF at all\n", 14);
	ck_assert_int_eq(stat(path, &at), 0);
	scene_make(&scene, &sample, 1);
	map(&scene, 0x5000, 0x6000, 0, path, 0, 0);
	resolve_with(&scene, HONEST, &said);
	expect_frame(&scene, 0, 0, "code+0x8", -1, MODULE_FILE);
	ck_assert_str_eq(module_at(&scene, 0, 0)->build_id, "");
	version_of(&at, false, expected);
	ck_assert_str_eq(module_at(&scene, 0, 0)->version, expected);
	scene_free(&scene);
	directory_remove(directory);
}
END_TEST

/* ---- inlined functions and debug files ---- */

/* A sample at a label of a program of tests/make_symbols.sh, and the mapping of that program. */
static void make_file_scene(struct scene *scene, const char *path, const char *labels, const char *label)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 0, 1, 0x100000 + symbols_offset(labels, label));

	scene_make(scene, &sample, 1);
	map(scene, 0x100000, 0x200000, 0, path, 0, 0);
}

static void make_symbols_scene(struct scene *scene, const char *name, const char *labels, const char *label)
{
	_cleanup_free_ char *path = symbols_path(name), *real = realpath(path, NULL);

	make_file_scene(scene, real, labels, label);
}

static void expect_chain(const struct scene *scene, const struct resolved_frame *frame)
{
	static const char *const functions[] = { "hog::outer(unsigned int)",
						 "void hog::twice<hog::Counter>(hog::Counter&, unsigned int)",
						 "hog::Counter::spin(unsigned int)" };
	static const uint32_t lines[] = { 305, 204, 102 };

	for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++) {
		ck_assert_str_eq(frame->function, functions[i]);
		ck_assert_uint_eq(frame->inlined, i);
		ck_assert_uint_eq(frame->line, lines[i]);
		ck_assert_str_eq(strrchr(frame->file, '/') + 1, "inlines.cc");
		ck_assert_int_ge(frame->function_offset, 0);
		ck_assert_int_eq(!frame->inner, i == ARRAY_SIZE(functions) - 1);
		ck_assert_uint_eq(frame->module, frame_at(scene, 0, 0)->module);
		ck_assert_int_eq(frame->offset, frame_at(scene, 0, 0)->offset);
		frame = &scene->resolved.frames[frame->inner];
	}
}

START_TEST(inlined_functions)
{
	_cleanup_free_ char *said = NULL;
	struct scene scene;

	make_symbols_scene(&scene, "dwarf5", "dwarf5", "place_spin");
	resolve_with(&scene, HONEST, &said);
	expect_chain(&scene, frame_at(&scene, 0, 0));
	ck_assert_uint_eq(scene.resolved.depths[0], 1);
	ck_assert_uint_eq(scene.resolved.frames_count, 3);
	ck_assert_str_eq(said, "");
	scene_free(&scene);
}
END_TEST

/* Below `root`, in the directory of its build id. */
static void install_debug_file(const char *root, const char *build_id)
{
	_cleanup_free_ char *path = NULL, *debug_file = symbols_path("stripped.debug"),
			    *real = realpath(debug_file, NULL);

	ck_assert_int_gt(asprintf(&path, "%s/.build-id/%.2s/%s.debug", root, build_id, build_id + 2), 0);
	file_put_below(root, path + strlen(root) + 1, "");
	ck_assert_int_eq(unlink(path) || symlink(real, path), 0);
}

/* Resolves again, with other names; the caller frees what is logged. */
static struct actor resolve_again(struct scene *scene, char **said)
{
	resolved_free(&scene->resolved);
	free(*said);
	return resolve_with(scene, HONEST, said);
}

START_TEST(a_separate_debug_file)
{
	_cleanup_free_ char *said = NULL, *root = directory_make();
	struct scene scene;
	struct actor actor;
	char build_id[sizeof(scene.resolved.modules[0].build_id)];

	make_symbols_scene(&scene, "stripped", "dwarf5", "place_spin");
	resolve_with(&scene, HONEST, &said);
	ck_assert_int_eq(frame_at(&scene, 0, 0)->function_offset, -1);
	strcpy(build_id, module_at(&scene, 0, 0)->build_id);
	ck_assert_uint_eq(strlen(build_id), 40);
	install_debug_file(root, build_id);
	scene.naming.debug_root = root;
	actor = resolve_again(&scene, &said);
	expect_chain(&scene, frame_at(&scene, 0, 0));
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_DEBUG_FILE], 1);
	scene_free(&scene);
	directory_remove(root);
}
END_TEST

/* Beside the program, under the name in its link section. */
START_TEST(a_linked_debug_file)
{
	_cleanup_free_ char *said = NULL;
	struct scene scene;
	struct actor actor;

	make_symbols_scene(&scene, "linked", "unlinked", "place_spin");
	actor = resolve_with(&scene, HONEST, &said);
	expect_chain(&scene, frame_at(&scene, 0, 0));
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_DEBUG_FILE], 1);
	ck_assert_str_eq(module_at(&scene, 0, 0)->build_id, "");
	ck_assert_str_ne(module_at(&scene, 0, 0)->version, "");
	scene_free(&scene);
}
END_TEST

/* What an earlier capture found, and what the resolver asked for. */
struct memory {
	const char *build_id;
	const char *file;
	char version[64];
	unsigned int asked;
	int result; /* returned instead of a name, if not 0 */
};

static int remember(void *user, const char *path, const char *build_id, const char *version, int64_t offset,
		    frame_name_add take, void *taker)
{
	struct memory *memory = user;
	struct frame_name outer = { "outer", 5, 7, memory->file, memory->file ? 4 : 0, 10 };
	struct frame_name inner = { "inner", 5, 3, memory->file, memory->file ? 4 : 0, 20 };
	int result;

	HOLDS(offset > 0 && path[0] == '/');
	strcpy(memory->version, version);
	memory->asked++;
	memory->build_id = strdup(build_id);
	if (memory->result)
		return memory->result;
	result = take(taker, &outer);
	return result ? result : take(taker, &inner);
}

START_TEST(known_names_are_not_asked_for_again)
{
	struct memory memory = { .file = "a.cc" };
	struct own_counters counters = { 0 };
	_cleanup_free_ char *said = NULL;
	struct actor actor;
	struct scene scene;

	make_symbols_scene(&scene, "dwarf5", "dwarf5", "place_spin");
	scene.naming.known = (struct known_frames){ remember, &memory };
	scene.naming.files = known_files_new();
	scene.naming.counters = &counters;
	for (int round = 0; round < 3; round++) {
		const struct resolved_frame *outer;

		actor = resolve_with(&scene, HONEST, &said);
		/* the first time only, a symbolizer reads the build id of the file */
		ck_assert_uint_eq(actor.spawned, round ? 0 : 1);
		ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], 0);
		ck_assert_uint_eq(memory.asked, (unsigned int)round + 1);
		outer = frame_at(&scene, 0, 0);
		ck_assert_str_eq(outer->function, "outer");
		ck_assert_int_eq(outer->function_offset, 7);
		ck_assert_str_eq(outer->file, "a.cc");
		ck_assert_uint_eq(outer->line, 10);
		ck_assert_str_eq(scene.resolved.frames[outer->inner].function, "inner");
		ck_assert_str_eq(module_at(&scene, 0, 0)->build_id, memory.build_id);
		ck_assert_str_eq(module_at(&scene, 0, 0)->version, memory.version);
		resolved_free(&scene.resolved);
		free((char *)memory.build_id);
		free(TAKE_PTR(said));
	}
	ck_assert_uint_eq(own_counted(&counters, OWN_SYMBOLIZERS), 1);
	ck_assert_uint_eq(own_counted(&counters, OWN_SYMBOLIZER_REQUESTS), 1);
	/* an address without a known name is asked for */
	memory.result = -ENOENT;
	actor = resolve_with(&scene, HONEST, &said);
	expect_chain(&scene, frame_at(&scene, 0, 0));
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], 1);
	free((char *)memory.build_id);
	known_files_free(scene.naming.files);
	scene_free(&scene);
}
END_TEST

/* Owner and mode of a file, and whether its path and build id are enough to identify it. */
struct ownership {
	uid_t uid;
	mode_t mode;
	bool is_the_system_s;
};

static const struct ownership ownerships[] = {
	{ 0, 0755, true },  { 0, 0444, true },     { 0, 0775, false },
	{ 0, 0757, false }, { 1000, 0755, false }, { 1000, 0555, false },
};

START_TEST(only_files_of_root_are_identified_by_their_build_id)
{
	const struct ownership *one = &ownerships[_i];
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "program"),
			    *from = symbols_path("dwarf5"), *command = NULL, *said = NULL;
	struct memory memory = { .file = "a.cc" };
	struct scene scene;
	struct stat at;
	char expected[64];

	SKIP_IF(no_root());
	ck_assert_int_gt(asprintf(&command, "cp '%s' '%s'", from, path), 0);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(chown(path, one->uid, 0) || chmod(path, one->mode) || stat(path, &at), 0);
	make_file_scene(&scene, path, "dwarf5", "place_spin");
	scene.naming.known = (struct known_frames){ remember, &memory };
	resolve_with(&scene, HONEST, &said);
	version_of(&at, true, expected);
	ck_assert_int_eq(!expected[0], one->is_the_system_s);
	ck_assert_str_eq(module_at(&scene, 0, 0)->version, expected);
	ck_assert_str_eq(memory.version, expected);
	free((char *)memory.build_id);
	scene_free(&scene);
	directory_remove(directory);
}
END_TEST

/* A stripped program, names that `memory` knows, and debug files below `root`. */
static void make_debug_root_scene(struct scene *scene, struct memory *memory, const char *root)
{
	make_symbols_scene(scene, "stripped", "dwarf5", "place_spin");
	scene->naming.known = (struct known_frames){ remember, memory };
	scene->naming.files = known_files_new();
	scene->naming.debug_root = root;
}

static void free_debug_root_scene(struct scene *scene, const char *root)
{
	known_files_free(scene->naming.files);
	scene_free(scene);
	directory_remove(root);
}

/* The symbolizer is asked once for an address without a name, until a new debug file is installed. */
START_TEST(an_address_without_a_name_is_asked_for_once)
{
	_cleanup_free_ char *root = directory_make();
	struct memory memory = { .result = -ENOENT };
	struct actor actor;
	struct scene scene;

	make_debug_root_scene(&scene, &memory, root);
	for (int round = 0; round < 4; round++) {
		char *said;

		if (round == 2)
			install_debug_file(root, module_at(&scene, 0, 0)->build_id);
		resolved_free(&scene.resolved);
		actor = resolve_with(&scene, HONEST, &said);
		ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], round != 1);
		if (round < 2)
			ck_assert_int_eq(frame_at(&scene, 0, 0)->function_offset, -1);
		else
			expect_chain(&scene, frame_at(&scene, 0, 0));
		free((char *)memory.build_id);
		free(said);
	}
	free_debug_root_scene(&scene, root);
}
END_TEST

/* The name is known without source lines; then a debug file is installed. */
START_TEST(a_debug_file_that_is_installed_later)
{
	_cleanup_free_ char *said = NULL, *root = directory_make();
	struct memory memory = { .file = NULL };
	struct actor actor;
	struct scene scene;

	make_debug_root_scene(&scene, &memory, root);
	actor = resolve_with(&scene, HONEST, &said);
	ck_assert_str_eq(frame_at(&scene, 0, 0)->function, "outer");
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], 0);
	install_debug_file(root, memory.build_id);
	free((char *)memory.build_id);
	actor = resolve_again(&scene, &said);
	expect_chain(&scene, frame_at(&scene, 0, 0));
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], 1);
	free((char *)memory.build_id);
	free_debug_root_scene(&scene, root);
}
END_TEST

/* What was named for a live second, of a program without source lines, is in no database: the capture that follows asks again. */
START_TEST(names_of_a_live_second_are_asked_for_again)
{
	struct memory memory = { .result = -ENOENT };
	struct scene scene;

	make_symbols_scene(&scene, "symbols", "symbols", "place_spin");
	scene.naming.known = (struct known_frames){ remember, &memory };
	scene.naming.files = known_files_new();
	scene.naming.cache = name_cache_new();
	for (int round = 0; round < 2; round++) {
		_cleanup_free_ char *said = NULL;

		resolved_free(&scene.resolved);
		resolve_with(&scene, HONEST, &said);
		ck_assert_str_eq(frame_at(&scene, 0, 0)->function, "hog::outer(unsigned int)");
		free((char *)memory.build_id);
		name_cache_free(scene.naming.cache);
		scene.naming.cache = NULL;
	}
	known_files_free(scene.naming.files);
	scene_free(&scene);
}
END_TEST

/* ---- the index of names ---- */

/* Nobody can set the time of change: it has to pass. */
static void await_settled(const char *path)
{
	struct file_key key;
	struct stat at;

	do {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 100000000 }, NULL);
		ck_assert_int_eq(stat(path, &at), 0);
		key = file_key_of(&at, at.st_dev);
	} while (!file_key_is_settled(&key));
}

/* A copy of a program in a directory of its own, that did not change just now; the caller frees and removes. */
static char *old_program(const char *directory, const char *name)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char *path = path_join(directory, name);
	_cleanup_free_ char *from = symbols_path(name), *command = NULL;

	ck_assert_int_gt(asprintf(&command, "cp '%s' '%s'", from, path), 0);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	await_settled(path);
	return path;
}

/* The names of one program, some by DWARF and some by symbols, are asked for once: not again by a daemon that begins anew. */
START_TEST(spans_are_asked_for_once)
{
	static const atomic_uint_fast64_t never = 0;
	_cleanup_free_ char *said = NULL, *state = directory_make(), *directory = directory_make(),
			    *path = old_program(directory, "dwarf5");
	struct actor actor;
	struct scene scene;

	make_file_scene(&scene, path, "dwarf5", "place_spin");
	for (int round = 0; round < 4; round++) {
		/* as a new daemon has it: nothing but the state directory */
		scene.naming.kept = file_cache_open(state, &never);
		ck_assert_ptr_nonnull(scene.naming.kept);
		resolved_free(&scene.resolved);
		free(TAKE_PTR(said));
		if (round == 3) /* the file is another one from now on */
			ck_assert_int_eq(chmod(path, 0700), 0);
		actor = resolve_with(&scene, HONEST, &said);
		ck_assert_uint_eq(actor.spawned, round == 0 || round == 3);
		ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_NAMES], round == 0 || round == 3);
		expect_chain(&scene, frame_at(&scene, 0, 0));
		ck_assert_str_ne(module_at(&scene, 0, 0)->build_id, "");
		ck_assert(module_at(&scene, 0, 0)->has_bias);
		ck_assert_uint_eq(file_cache_count(scene.naming.kept, FILE_CACHE_NAMES).files, 1);
		file_cache_close(scene.naming.kept);
	}
	scene_free(&scene);
	directory_remove(state);
	directory_remove(directory);
}
END_TEST

/* The functions of a program without DWARF: one address of each is enough. */
START_TEST(other_addresses_of_a_function_need_no_symbolizer)
{
	static const atomic_uint_fast64_t never = 0;
	_cleanup_free_ char *said = NULL, *state = directory_make(), *directory = directory_make(),
			    *path = old_program(directory, "symbols");
	uint64_t spin = symbols_offset("symbols", "place_spin");
	struct file_cache *kept = file_cache_open(state, &never);

	ck_assert_ptr_nonnull(kept);
	for (uint64_t more = 0; more < 3; more++) {
		struct sample sample = sample_make(TGID, TRIGGERED, 0, 1, 0x100000 + spin + more);
		const struct resolved_frame *frame;
		struct actor actor;
		struct scene scene;

		scene_make(&scene, &sample, 1);
		map(&scene, 0x100000, 0x200000, 0, path, 0, 0);
		scene.naming.kept = kept;
		free(TAKE_PTR(said));
		actor = resolve_with(&scene, HONEST, &said);
		ck_assert_uint_eq(actor.spawned, !more);
		frame = frame_at(&scene, 0, 0);
		ck_assert_str_eq(frame->function, "hog::outer(unsigned int)");
		ck_assert_int_eq(frame->function_offset - (int64_t)more,
				 (int64_t)(spin - symbols_offset("symbols", "_ZN3hog5outerEj")));
		scene_free(&scene);
	}
	file_cache_close(kept);
	directory_remove(state);
	directory_remove(directory);
}
END_TEST

/* What was found without a debug file is not all that there is, once there is one. */
START_TEST(an_index_holds_for_its_debug_file)
{
	static const atomic_uint_fast64_t never = 0;
	_cleanup_free_ char *said = NULL, *state = directory_make(), *directory = directory_make(),
			    *root = directory_make(), *path = old_program(directory, "stripped");
	struct actor actor;
	struct scene scene;

	make_file_scene(&scene, path, "dwarf5", "place_spin");
	scene.naming.debug_root = root;
	scene.naming.kept = file_cache_open(state, &never);
	for (int round = 0; round < 4; round++) {
		if (round == 2)
			install_debug_file(root, module_at(&scene, 0, 0)->build_id);
		resolved_free(&scene.resolved);
		free(TAKE_PTR(said));
		actor = resolve_with(&scene, HONEST, &said);
		ck_assert_msg(actor.of_kind[SYMBOLIZE_NAMES] == (round % 2 == 0), "round %d: %s", round,
			      said);
		if (round < 2)
			ck_assert_int_eq(frame_at(&scene, 0, 0)->function_offset, -1);
		else
			expect_chain(&scene, frame_at(&scene, 0, 0));
	}
	file_cache_close(scene.naming.kept);
	scene_free(&scene);
	directory_remove(state);
	directory_remove(directory);
	directory_remove(root);
}
END_TEST

/* The debug file beside one path of a file says nothing of its other paths, and one that is put there later is found. */
START_TEST(a_linked_debug_file_is_of_its_path)
{
	static const atomic_uint_fast64_t never = 0;
	_cleanup_free_ char *said = NULL, *state = directory_make(), *directory = directory_make(),
			    *theirs = directory_make(), *path = old_program(directory, "linked"),
			    *other = path_join(theirs, "linked"),
			    *debug_file = path_join(theirs, "linked.debug"),
			    *real = symbols_path("linked.debug"), *command = NULL;
	struct file_cache *kept = file_cache_open(state, &never);

	ck_assert_int_eq(link(path, other), 0);
	await_settled(path);
	ck_assert_int_gt(asprintf(&command, "cp '%s' '%s'", real, debug_file), 0);
	for (int round = 0; round < 5; round++) {
		bool is_linked = round == 2 || round == 4;
		struct actor actor;
		struct scene scene;

		if (round == 2)
			ck_assert_int_eq(system(command), 0);
		make_file_scene(&scene, round == 0 || round == 3 ? path : other, "unlinked", "place_spin");
		scene.naming.kept = kept;
		free(TAKE_PTR(said));
		actor = resolve_with(&scene, HONEST, &said);
		ck_assert_msg(actor.spawned == (round == 0 || is_linked), "round %d", round);
		if (is_linked)
			expect_chain(&scene, frame_at(&scene, 0, 0));
		else
			ck_assert_int_eq(frame_at(&scene, 0, 0)->function_offset, -1);
		scene_free(&scene);
	}
	file_cache_close(kept);
	directory_remove(state);
	directory_remove(directory);
	directory_remove(theirs);
}
END_TEST

/*
 * A file may take over the symbolizer that reads it, which then lies about the files that follow. So files of others have other
 * symbolizers; and what one says that everybody may have made lie is for this capture alone.
 */
START_TEST(nothing_is_kept_that_others_may_have_said)
{
	static const atomic_uint_fast64_t never = 0;
	static const char *const names[] = { "dwarf5", "dwarf4", "clang", "compressed", "symbols" };
	static const uid_t owners[] = { 1000, 1001, 0, 1001, 0 };
	static const mode_t modes[] = { 0755, 0755, 0755, 0777, 0755 };
	_cleanup_free_ char *said = NULL, *state = directory_make(), *directory = directory_make();
	struct sample samples[ARRAY_SIZE(names)];
	struct file_cache *kept = file_cache_open(state, &never);
	char *paths[ARRAY_SIZE(names)];
	struct actor actor;
	struct scene scene;

	SKIP_IF(no_root());
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		samples[i] = sample_make(TGID, TRIGGERED, 0, 1,
					 0x100000 * (i + 1) + symbols_offset(names[i], "place_spin"));
		paths[i] = old_program(directory, names[i]);
		ck_assert_int_eq(chown(paths[i], owners[i], 0) || chmod(paths[i], modes[i]), 0);
	}
	scene_make(&scene, samples, ARRAY_SIZE(names));
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		await_settled(paths[i]);
		map(&scene, 0x100000 * (i + 1), 0x100000 * (i + 2), 0, paths[i], 0, 0);
	}
	scene.naming.kept = kept;
	actor = resolve_with(&scene, HONEST, &said);
	ck_assert_uint_eq(actor.spawned, 4); /* root's reads the file that everybody may write, too */
	ck_assert_uint_eq(file_cache_count(kept, FILE_CACHE_NAMES).files, 4);
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat at;
		struct file_key key;

		ck_assert_str_eq(frame_at(&scene, i, 0)->function, "hog::outer(unsigned int)");
		ck_assert_int_eq(stat(paths[i], &at), 0);
		key = file_key_of(&at, at.st_dev);
		ck_assert_int_eq(file_cache_has(kept, FILE_CACHE_NAMES, &key), modes[i] == 0755);
		free(paths[i]);
	}
	scene_free(&scene);
	file_cache_close(kept);
	directory_remove(state);
	directory_remove(directory);
}
END_TEST

/* `bourdon symbolize` may have written them there. */
START_TEST(the_database_names_what_the_index_does_not)
{
	static const atomic_uint_fast64_t never = 0;
	_cleanup_free_ char *said = NULL, *state = directory_make(), *directory = directory_make(),
			    *path = old_program(directory, "stripped");
	struct memory memory = { .result = -ENOENT };
	struct actor actor;
	struct scene scene;

	make_file_scene(&scene, path, "dwarf5", "place_spin");
	scene.naming.kept = file_cache_open(state, &never);
	scene.naming.known = (struct known_frames){ remember, &memory };
	actor = resolve_with(&scene, HONEST, &said);
	ck_assert_uint_eq(actor.spawned, 1);
	ck_assert_int_eq(frame_at(&scene, 0, 0)->function_offset, -1);
	free((char *)memory.build_id);
	memory.result = 0;
	actor = resolve_again(&scene, &said);
	ck_assert_uint_eq(actor.spawned, 0);
	ck_assert_str_eq(frame_at(&scene, 0, 0)->function, "outer");
	free((char *)memory.build_id);
	file_cache_close(scene.naming.kept);
	scene_free(&scene);
	directory_remove(state);
	directory_remove(directory);
}
END_TEST

/* ---- perf maps ---- */

/* A process whose runtime has written the perf map `map`, in a directory of its own. */
struct jit_scene {
	struct scene scene;
	char *directory, *path;
};

static void make_jit_scene(struct jit_scene *jit, const struct sample *samples, uint32_t count,
			   const char *map)
{
	jit->directory = directory_make();
	jit->path = path_join(jit->directory, "perf-77.map");
	file_put(jit->path, map, strlen(map));
	scene_make(&jit->scene, samples, count);
	for (uint32_t i = 0; i < jit->scene.capture->processes_count; i++)
		jit->scene.capture->processes[i].uid = geteuid();
	jit->scene.naming.jit_map_directory = jit->directory;
}

static void free_jit_scene(struct jit_scene *jit)
{
	scene_free(&jit->scene);
	directory_remove(jit->directory);
	free(jit->directory);
	free(jit->path);
}

START_TEST(jit_code)
{
	_cleanup_free_ char *said = NULL;
	struct sample samples[] = { sample_make(TGID, TRIGGERED, 0, 1, 0x10008),
				    sample_make(TGID, TRIGGERED, 0, 1, 0x10108),
				    sample_make(TGID, TRIGGERED, 0, 1, 0x20004) };
	struct actor actor;
	struct jit_scene jit;
	char version[64];

	make_jit_scene(&jit, samples, ARRAY_SIZE(samples), "10000 20 Jit::spin\n20000 8 Jit::mapped\n");
	map(&jit.scene, 0x10000, 0x11000, 0, "", 0, 0);
	map(&jit.scene, 0x20000, 0x21000, 0x5000, "/memfd:doublemapper (deleted)", 99, 0);
	actor = resolve_with(&jit.scene, HONEST, &said);
	expect_frame(&jit.scene, 0, 0, "Jit::spin", 8, MODULE_JIT);
	expect_frame(&jit.scene, 1, 0, "[anonymous]+0x10108", -1, MODULE_ANONYMOUS);
	expect_frame(&jit.scene, 2, 0, "Jit::mapped", 4, MODULE_JIT);
	ck_assert_uint_eq(actor.of_kind[SYMBOLIZE_PERF_MAP], 1);
	ck_assert_uint_eq(actor.requests, 1);
	ck_assert_uint_eq(jit.scene.resolved.unresolved, 1);
	ck_assert_str_eq(module_at(&jit.scene, 0, 0)->path, "[jit]");
	snprintf(version, sizeof(version), "%u-%u-39", TGID, STARTED);
	ck_assert_str_eq(module_at(&jit.scene, 0, 0)->version, version);
	ck_assert_str_eq(module_at(&jit.scene, 1, 0)->path, "[anonymous]");
	ck_assert_str_eq(module_at(&jit.scene, 1, 0)->version, "");
	free_jit_scene(&jit);
}
END_TEST

/* The same addresses in another process are other code. */
START_TEST(jit_code_of_two_processes)
{
	_cleanup_free_ char *said = NULL;
	struct sample samples[] = { sample_make(TGID, TRIGGERED, 0, 1, 0x10008),
				    sample_make(TGID, TRIGGERED, 0, 1, 0x10008) };
	struct jit_scene jit;

	samples[1].started_ns++; /* another process with the same pid */
	make_jit_scene(&jit, samples, ARRAY_SIZE(samples), "10000 20 spin\n");
	ck_assert_uint_eq(jit.scene.capture->processes_count, 2);
	map(&jit.scene, 0x10000, 0x11000, 0, "", 0, 0);
	resolve_with(&jit.scene, HONEST, &said);
	expect_frame(&jit.scene, 0, 0, "spin", 8, MODULE_JIT);
	expect_frame(&jit.scene, 1, 0, "[unknown]", -1,
		     MODULE_ANONYMOUS); /* the mappings of this process are not known */
	free_jit_scene(&jit);
}
END_TEST

/* Names above the limit of a module are dropped; the capture is kept. */
START_TEST(names_above_the_limit_are_dropped)
{
	enum { PLACES = 1000, NAME_BYTES = 700, MODULE_MOST = 2 << 20 };
	_cleanup_free_ char *said = NULL;
	_cleanup_free_ struct sample *samples = calloc(PLACES, sizeof(*samples));
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *map_file = open_memstream(&text, &bytes);
	char name[NAME_BYTES + 1];
	struct jit_scene jit;

	memset(name, 0xff, NAME_BYTES); /* escaped as \xff in the database */
	name[NAME_BYTES] = '\0';
	for (unsigned int i = 0; i < PLACES; i++) {
		samples[i] = sample_make(TGID, TRIGGERED, 0, 1, 0x100000 + 16UL * i);
		fprintf(map_file, "%x 10 %s\n", 0x100000 + 16 * i, name);
	}
	ck_assert_int_eq(fclose(map_file), 0);
	make_jit_scene(&jit, samples, PLACES, text);
	map(&jit.scene, 0x100000, 0x200000, 0, "", 0, 0);
	resolve_with(&jit.scene, HONEST, &said);
	ck_assert_uint_eq(jit.scene.resolved.names_bytes, MODULE_MOST / (4 * NAME_BYTES) * (4 * NAME_BYTES));
	ck_assert_uint_eq(jit.scene.resolved.unresolved, PLACES - MODULE_MOST / (4 * NAME_BYTES));
	ck_assert_ptr_nonnull(strstr(said, "too many names in [jit]"));
	free_jit_scene(&jit);
}
END_TEST

START_TEST(jit_code_without_a_symbolizer)
{
	struct sample sample = sample_make(TGID, TRIGGERED, 0, 1, 0x10008);
	struct jit_scene jit;

	make_jit_scene(&jit, &sample, 1, "10000 20 spin\n");
	map(&jit.scene, 0x10000, 0x11000, 0, "", 0, 0);
	resolve_alone(&jit.scene);
	expect_frame(&jit.scene, 0, 0, "[anonymous]+0x10008", -1, MODULE_ANONYMOUS);
	ck_assert_uint_eq(jit.scene.resolved.failures, 1);
	free_jit_scene(&jit);
}
END_TEST

SUITE(resolve)
{
	Suite *suite = suite_create(SANITIZED ? "resolve (without a confined symbolizer, under a sanitizer)"
					      : "resolve");
	TCase *places = tcase_create("places"), *names = tcase_create("names");

	tcase_add_test(places, kernel_frames);
	tcase_add_test(places, without_kernel_symbols);
	tcase_add_test(places, frames_without_a_file);
	tcase_add_test(places, a_stack_ends_at_the_first_unmapped_frame);
	tcase_add_loop_test(places, code_in_memory_of_no_file, 0, 2);
	tcase_add_test(places, what_was_replaced_is_named_by_the_epoch);
	tcase_add_test(places, hostile_addresses);
	tcase_add_test(places, high_addresses);
	tcase_add_test(places, a_capture_without_frames);
	if (!SANITIZED)
		tcase_add_test(names, through_a_confined_symbolizer);
	tcase_add_test(names, without_a_symbolizer);
	tcase_add_test(names, an_honest_symbolizer);
	tcase_add_loop_test(names, a_symbolizer_that_dies_costs_one_module, 0, 3);
	tcase_add_test(names, symbolizers_that_always_die);
	tcase_add_test(names, a_symbolizer_that_hangs_is_abandoned);
	tcase_add_test(names, an_idle_symbolizer_is_replaced);
	tcase_add_test(names, an_idle_symbolizer_has_half_of_the_time);
	tcase_add_loop_test(names, many_frames_go_in_batches, 0, 7);
	tcase_add_test(names, another_file_under_the_same_path);
	tcase_add_loop_test(names, files_that_cannot_be_opened, 0, ARRAY_SIZE(odd_cases));
	tcase_add_test(names, a_file_without_a_build_id_has_a_version);
	tcase_add_test(names, inlined_functions);
	tcase_add_test(names, a_separate_debug_file);
	tcase_add_test(names, a_linked_debug_file);
	tcase_add_test(names, known_names_are_not_asked_for_again);
	tcase_add_loop_test(names, only_files_of_root_are_identified_by_their_build_id, 0,
			    ARRAY_SIZE(ownerships));
	tcase_add_test(names, an_address_without_a_name_is_asked_for_once);
	tcase_add_test(names, a_debug_file_that_is_installed_later);
	tcase_add_test(names, names_of_a_live_second_are_asked_for_again);
	tcase_add_test(names, spans_are_asked_for_once);
	tcase_add_test(names, other_addresses_of_a_function_need_no_symbolizer);
	tcase_add_test(names, an_index_holds_for_its_debug_file);
	tcase_add_test(names, a_linked_debug_file_is_of_its_path);
	tcase_add_test(names, nothing_is_kept_that_others_may_have_said);
	tcase_add_test(names, the_database_names_what_the_index_does_not);
	tcase_add_test(names, jit_code);
	tcase_add_test(names, jit_code_of_two_processes);
	tcase_add_test(names, names_above_the_limit_are_dropped);
	tcase_add_test(names, jit_code_without_a_symbolizer);
	suite_add_tcase(suite, places);
	suite_add_tcase(suite, names);
	return suite;
}
