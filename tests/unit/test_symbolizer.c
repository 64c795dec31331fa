/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that each invalid field of a reply is refused, that an invalid request is refused, and that a real,
 * confined symbolizer reads every kind of file and dies alone of one that is truncated while it reads.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/spawner.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/files.h"
#include "common/system/pass_fd.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* ---- replies ---- */

struct said {
	struct symbolize_request request;
	struct symbolize_reply reply;
	size_t bytes;
};

#define HEAD offsetof(struct symbolize_reply, text)

/* Three addresses: two functions with a source file, none, and a function that begins at offset 0. */
static void said_make(struct said *said)
{
	memset(said, 0, sizeof(*said));
	said->request.count = 4;
	said->reply.count = 3;
	said->reply.frames_count = 4;
	said->reply.depths[0] = 2;
	said->reply.depths[1] = said->reply.depths[2] = 1;
	memcpy(said->reply.text, "mainfreea.cc", 12);
	said->reply.frames[0] = (struct symbolize_frame){ 0, 4, 8, 4, 17, 0, 7 };
	said->reply.frames[1] = (struct symbolize_frame){ 4, 4, 8, 4, INT32_MAX, 0, 1 };
	said->reply.frames[2] = (struct symbolize_frame){ .name = 0 };
	said->reply.frames[3] = (struct symbolize_frame){ 4, 4, 12, 0, 0, 0, INT64_MAX };
	said->bytes = HEAD + 12;
}

static void lie_count_more(struct said *said)
{
	said->reply.count = 5;
}

static void lie_count_fewer(struct said *said)
{
	said->reply.count = 2; /* with one frame left over */
}

static void lie_count_huge(struct said *said)
{
	said->reply.count = UINT32_MAX;
}

static void lie_frames_more(struct said *said)
{
	said->reply.frames_count = 5;
}

static void lie_frames_fewer(struct said *said)
{
	said->reply.frames_count = 3;
}

static void lie_frames_huge(struct said *said)
{
	said->reply.frames_count = SYMBOLIZE_FRAMES_MAX + 1;
}

static void lie_no_depth(struct said *said)
{
	said->reply.depths[0] = 0;
}

static void lie_depth_huge(struct said *said)
{
	said->reply.depths[2] = UINT32_MAX - 1;
}

static void lie_too_deep(struct said *said)
{
	said->reply.count = 1;
	said->reply.depths[0] = said->reply.frames_count = SYMBOLIZE_DEPTH + 1;
	for (uint32_t i = 0; i <= SYMBOLIZE_DEPTH; i++)
		said->reply.frames[i] = said->reply.frames[0];
}

static void lie_inlined_unnamed(struct said *said)
{
	said->reply.frames[1].name_bytes = 0;
}

static void lie_unnamed_outer(struct said *said)
{
	said->reply.frames[0].name_bytes = 0;
}

static void lie_at(struct said *said)
{
	said->reply.frames[3].name = 9;
}

static void lie_at_behind(struct said *said)
{
	said->reply.frames[2].name = 13;
}

static void lie_at_huge(struct said *said)
{
	said->reply.frames[3].name = UINT32_MAX - 2; /* its end is in the range modulo 2^32 */
}

static void lie_file_at(struct said *said)
{
	said->reply.frames[1].file = 9;
}

static void lie_file_behind(struct said *said)
{
	said->reply.frames[3].file = 13;
}

static void lie_bytes(struct said *said)
{
	said->reply.frames[0].name_bytes = 13;
}

static void lie_bytes_huge(struct said *said)
{
	said->reply.frames[0].file_bytes = UINT32_MAX;
}

static void lie_line(struct said *said)
{
	said->reply.frames[0].line = (uint32_t)INT32_MAX + 1;
}

static void lie_name_too_long(struct said *said)
{
	memset(said->reply.text, 'n', SYMBOLIZE_NAME_BYTES + 1);
	said->reply.frames[0].name_bytes = SYMBOLIZE_NAME_BYTES + 1;
	said->bytes = HEAD + SYMBOLIZE_NAME_BYTES + 1;
}

static void lie_nul_in_name(struct said *said)
{
	said->reply.text[6] = '\0';
}

static void lie_control_in_name(struct said *said)
{
	said->reply.text[7] = '\x1b';
}

static void lie_control_in_file(struct said *said)
{
	said->reply.text[11] = '\n';
}

static void lie_function_offset(struct said *said)
{
	said->reply.frames[0].function_offset = (uint64_t)INT64_MAX + 1;
}

static void lie_span_before_the_file(struct said *said)
{
	said->request.offsets[0] = 3;
	said->reply.before[0] = 4;
	said->reply.after[0] = 1;
	said->reply.frames[0].function_offset = 4;
}

static void lie_span_before_its_function(struct said *said)
{
	said->request.offsets[0] = 30;
	said->reply.before[0] = 4;
	said->reply.after[0] = 1;
	said->reply.frames[0].function_offset = 3;
}

static void lie_span_without_its_offset(struct said *said)
{
	said->request.offsets[0] = 30;
	said->reply.before[0] = 1;
	said->reply.frames[0].function_offset = 1;
}

static void lie_span_before_huge(struct said *said)
{
	said->request.offsets[0] = 1ULL << 40;
	said->reply.before[0] = SYMBOLIZE_SPAN_MAX + 1;
	said->reply.after[0] = 1;
	said->reply.frames[0].function_offset = 1ULL << 40;
}

static void lie_span_huge(struct said *said)
{
	said->reply.after[0] = SYMBOLIZE_SPAN_MAX + 1;
}

static void lie_function_offset_unnamed(struct said *said)
{
	said->reply.frames[2].function_offset = UINT64_MAX;
}

static void lie_short(struct said *said)
{
	said->bytes = HEAD - 1;
}

static void lie_nothing(struct said *said)
{
	said->bytes = 0;
}

static void lie_text_cut(struct said *said)
{
	said->bytes--;
}

static void lie_long(struct said *said)
{
	said->bytes = sizeof(said->reply) + 1;
}

static void (*const lies[])(struct said *) = {
	lie_count_more,
	lie_count_fewer,
	lie_count_huge,
	lie_frames_more,
	lie_frames_fewer,
	lie_frames_huge,
	lie_no_depth,
	lie_depth_huge,
	lie_too_deep,
	lie_inlined_unnamed,
	lie_unnamed_outer,
	lie_at,
	lie_at_behind,
	lie_at_huge,
	lie_file_at,
	lie_file_behind,
	lie_bytes,
	lie_bytes_huge,
	lie_line,
	lie_name_too_long,
	lie_nul_in_name,
	lie_control_in_name,
	lie_control_in_file,
	lie_function_offset,
	lie_function_offset_unnamed,
	lie_span_before_the_file,
	lie_span_before_its_function,
	lie_span_without_its_offset,
	lie_span_before_huge,
	lie_span_huge,
	lie_short,
	lie_nothing,
	lie_text_cut,
	lie_long,
};

START_TEST(invalid_replies)
{
	struct said *said = malloc(sizeof(*said));

	said_make(said);
	ck_assert(symbolizer_reply_is_valid(&said->reply, said->bytes, &said->request));
	lies[_i](said);
	ck_assert(!symbolizer_reply_is_valid(&said->reply, said->bytes, &said->request));
	free(said);
}
END_TEST

START_TEST(valid_replies)
{
	struct said *said = malloc(sizeof(*said));

	said_make(said);
	said->reply.count = said->reply.frames_count = 0; /* no module: the other fields are not read */
	ck_assert(symbolizer_reply_is_valid(&said->reply, said->bytes, &said->request));
	ck_assert(symbolizer_reply_is_valid(&said->reply, HEAD, &said->request));
	said_make(said);
	memset(said->reply.text, 'n', sizeof(said->reply.text));
	said->reply.frames[0].name_bytes = said->reply.frames[0].file_bytes = SYMBOLIZE_NAME_BYTES;
	ck_assert(symbolizer_reply_is_valid(&said->reply, sizeof(said->reply), &said->request));
	free(said);
}
END_TEST

START_TEST(invalid_modules)
{
	struct symbolize_module module = { .readable = 1, .build_id_bytes = SYMBOLIZE_BUILD_ID_BYTES };

	ck_assert(symbolizer_module_is_valid(&module, sizeof(module)));
	ck_assert(!symbolizer_module_is_valid(&module, sizeof(module) - 1));
	ck_assert(!symbolizer_module_is_valid(&module, 0));
	module.build_id_bytes++;
	ck_assert(!symbolizer_module_is_valid(&module, sizeof(module)));
	module.build_id_bytes = 0;
	module.alternate_id_bytes = SYMBOLIZE_BUILD_ID_BYTES + 1;
	ck_assert(!symbolizer_module_is_valid(&module, sizeof(module)));
	module.alternate_id_bytes = 0;
	memset(module.debuglink, 'n', sizeof(module.debuglink));
	ck_assert(!symbolizer_module_is_valid(&module, sizeof(module)));
	module.debuglink[sizeof(module.debuglink) - 1] = '\0';
	ck_assert(symbolizer_module_is_valid(&module, sizeof(module)));
	memset(module.alternate, 'n', sizeof(module.alternate));
	ck_assert(!symbolizer_module_is_valid(&module, sizeof(module)));
}
END_TEST

/* ---- requests ---- */

struct request_case {
	uint32_t kind, count;
	int more; /* bytes more than the count says */
	bool has_fd, is_request;
};

static const struct request_case request_cases[] = {
	{ SYMBOLIZE_NAMES, 1, 0, false, true },
	{ SYMBOLIZE_NAMES, SYMBOLIZE_BATCH, 0, false, true },
	{ SYMBOLIZE_NAMES, 0, 0, false, false },
	{ SYMBOLIZE_NAMES, SYMBOLIZE_BATCH + 1, 0, false, false },
	{ SYMBOLIZE_NAMES, UINT32_MAX, 0, false, false },
	{ SYMBOLIZE_NAMES, 2, 8, false, false },
	{ SYMBOLIZE_NAMES, 2, -1, false, false },
	{ SYMBOLIZE_NAMES, 1, 0, true, false },
	{ SYMBOLIZE_MODULE, 0, 0, true, true },
	{ SYMBOLIZE_MODULE, 1, 0, true, false },
	{ SYMBOLIZE_MODULE, 0, 0, false, false },
	{ SYMBOLIZE_DEBUG_FILE, 0, 0, true, true },
	{ SYMBOLIZE_DEBUG_FILE, 0, 0, false, false },
	{ SYMBOLIZE_PERF_MAP, 3, 0, true, true },
	{ SYMBOLIZE_PERF_MAP, 0, 0, true, false },
	{ SYMBOLIZE_PERF_MAP, 3, 0, false, false },
	{ 0, 1, 0, false, false },
	{ UINT32_MAX, 1, 0, false, false },
	{ SYMBOLIZE_MODULE, 0, -8, true, false },
};

START_TEST(requests)
{
	const struct request_case *one = &request_cases[_i];
	union symbolizer_answer *answer = malloc(sizeof(*answer));
	const struct symbolize_request request = { .kind = one->kind, .count = one->count };
	struct symbolizer symbolizer = { .module = NULL };
	size_t bytes = SYMBOLIZE_REQUEST_BYTES((size_t)one->count) + (size_t)one->more,
	       open_before = descriptors_open();
	ssize_t answered = symbolizer_answer(&symbolizer, &request, bytes,
					     one->has_fd ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -EBADF,
					     answer);

	ck_assert_int_eq(answered > 0, one->is_request);
	if (!one->is_request)
		ck_assert_int_eq(answered, -EBADMSG);
	symbolizer_free(&symbolizer);
	ck_assert_uint_eq(descriptors_open(), open_before);
	free(answer);
}
END_TEST

START_TEST(one_module_after_another)
{
	union symbolizer_answer *answer = malloc(sizeof(*answer));
	struct symbolizer symbolizer = { .module = NULL };
	const struct symbolize_request module = { .kind = SYMBOLIZE_MODULE },
				       debug = { .kind = SYMBOLIZE_DEBUG_FILE };
	const struct symbolize_request names = { .kind = SYMBOLIZE_NAMES,
						 .count = 1,
						 .offsets = { symbols_offset("dwarf5", "place_spin") } };
	size_t open_before = descriptors_open();
	const size_t head = SYMBOLIZE_REQUEST_BYTES(0), one = SYMBOLIZE_REQUEST_BYTES(1);

	/* an empty debug file, and empty names */
	symbolizer_answer(&symbolizer, &debug, head, symbols_open("stripped.debug"), answer);
	ck_assert_uint_eq(answer->module.readable, 0);
	symbolizer_answer(&symbolizer, &names, one, -EBADF, answer);
	ck_assert_uint_eq(answer->names.count, 0);
	symbolizer_answer(&symbolizer, &module, head, symbols_open("dwarf5"), answer);
	ck_assert_uint_eq(answer->module.readable, 1);
	symbolizer_answer(&symbolizer, &names, one, -EBADF, answer);
	ck_assert_uint_eq(answer->names.frames_count, 3);
	/* an invalid module replaces a valid one */
	symbolizer_answer(&symbolizer, &module, head, symbols_open("made"), answer);
	ck_assert_uint_eq(answer->module.readable, 0);
	symbolizer_answer(&symbolizer, &names, one, -EBADF, answer);
	ck_assert_uint_eq(answer->names.count, 0);
	symbolizer_free(&symbolizer);
	ck_assert_uint_eq(descriptors_open(), open_before);
	free(answer);
}
END_TEST

/* ---- a real symbolizer ---- */

static uint64_t soon(void)
{
	return clock_monotonic_ns() + 30 * CLOCK_SECOND_NS;
}

/* The symbolizer refuses to run as root: this test drops root when it no longer needs it. */
static int start_spawner(void)
{
	int spawner = -1;

	if (!geteuid())
		ck_assert_int_eq(setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
					 setresuid(65534, 65534, 65534),
				 0);
	ck_assert_int_eq(spawner_start(&spawner), 0);
	return spawner;
}

static int start_symbolizer(int spawner, enum symbolizer_priority priority)
{
	int symbolizer = spawner_request(spawner, priority, soon());

	ck_assert_int_ge(symbolizer, 0);
	return symbolizer;
}

/* With all files that each may need, so that libdw makes all of its system calls. */
START_TEST(every_kind_of_file)
{
	static const char *const names[] = { "dwarf5",   "dwarf4", "clang",    "compressed",
					     "stripped", "packed", "linked",   "shared",
					     "symbols",  "made",   "unlinked", "symbols.xz" };
	static const char *const debug_files[] = { "stripped.debug", "linked.debug", "shared.alternate" };
	struct symbolize_request request = { .kind = SYMBOLIZE_NAMES, .count = SYMBOLIZE_BATCH };
	struct symbolize_reply *reply = malloc(sizeof(*reply));
	int files[ARRAY_SIZE(names)], more[ARRAY_SIZE(debug_files)];
	uint64_t text = symbols_offset("dwarf5", "place_spin") & ~0xfffUL;
	_cleanup_close_ int spawner = -EBADF, symbolizer = -EBADF;

	for (uint32_t i = 0; i < SYMBOLIZE_BATCH; i++)
		request.offsets[i] = text + 29UL * i;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		files[i] = symbols_open(names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(debug_files); i++)
		more[i] = symbols_open(debug_files[i]);
	spawner = start_spawner();
	symbolizer = start_symbolizer(spawner, SYMBOLIZER_LATER);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct symbolize_module module;

		ck_assert_int_eq(symbolizer_open_module(symbolizer, files[i], soon(), &module), 0);
		for (size_t j = 0; j < ARRAY_SIZE(debug_files); j++)
			ck_assert_int_eq(symbolizer_add_file(symbolizer, more[j], soon(), &module), 0);
		ck_assert_msg(symbolizer_name(symbolizer, -1, &request, soon(), reply) == 0, "%s", names[i]);
		if (module.readable)
			ck_assert_uint_gt(reply->count, 0);
		if (i < 4 || !strcmp(names[i], "shared") || !strcmp(names[i], "linked"))
			ck_assert_uint_gt(reply->frames_count, reply->count);
	}
	ck_assert_int_eq(
		symbolizer_name(symbolizer, files[9],
				&(struct symbolize_request){ .kind = SYMBOLIZE_PERF_MAP, .count = 1 }, soon(),
				reply),
		0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		close(files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(debug_files); i++)
		close(more[i]);
	free(reply);
}
END_TEST

static int maker_of(int socket)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	ck_assert_int_eq(getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes), 0);
	return peer.pid;
}

START_TEST(a_file_that_is_truncated_while_it_is_read)
{
	_cleanup_close_ int file = symbols_open("dwarf5"), copy = memfd_create("cut", MFD_CLOEXEC);
	_cleanup_close_ int spawner = -EBADF, symbolizer = -EBADF, next = -EBADF;
	struct symbolize_request request = { .kind = SYMBOLIZE_NAMES,
					     .count = 1,
					     .offsets = { symbols_offset("dwarf5", "place_spin") } };
	struct symbolize_reply *reply = malloc(sizeof(*reply));
	struct symbolize_module module;
	struct stat at;
	char *bytes;

	ck_assert_int_eq(fstat(file, &at), 0);
	bytes = malloc((size_t)at.st_size);
	ck_assert_int_eq(pread(file, bytes, (size_t)at.st_size, 0), at.st_size);
	ck_assert_int_eq(write(copy, bytes, (size_t)at.st_size), at.st_size);
	spawner = start_spawner();
	symbolizer = start_symbolizer(spawner, SYMBOLIZER_LATER);
	ck_assert_int_eq(symbolizer_open_module(symbolizer, copy, soon(), &module), 0);
	ck_assert_int_eq(ftruncate(copy, 4096), 0);
	/* SIGBUS: it is gone, and sends no reply */
	ck_assert_int_lt(symbolizer_name(symbolizer, -1, &request, soon(), reply), 0);
	next = start_symbolizer(spawner, SYMBOLIZER_LATER);
	ck_assert_int_eq(symbolizer_open_module(next, file, soon(), &module), 0);
	ck_assert_int_eq(symbolizer_name(next, -1, &request, soon(), reply), 0);
	ck_assert_uint_eq(reply->frames_count, 3);
	free(bytes);
	free(reply);
}
END_TEST

/* SO_PEERCRED names the spawner, which made the pair; the symbolizer is found as its child. */
static int nice_of_child(pid_t parent)
{
	_cleanup_free_ char *children = NULL;
	char path[64];
	size_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	ck_assert_int_eq(file_read_text(AT_FDCWD, path, 4096, &children, &bytes), 0);
	return getpriority(PRIO_PROCESS, (id_t)strtoul(children, NULL, 10));
}

/* Its priority is never above ours. */
START_TEST(a_symbolizer_has_the_priority_asked_for)
{
	SKIP_IF(getpriority(PRIO_PROCESS, 0) > 0 ? "the tests run at a low priority" : NULL);
	_cleanup_close_ int spawner = start_spawner();
	static const struct {
		enum symbolizer_priority priority;
		int nice;
	} cases[] = { { SYMBOLIZER_LATER, 19 }, { SYMBOLIZER_SOON, 5 }, { SYMBOLIZER_NOW, 0 } };
	_cleanup_close_ int symbolizer = start_symbolizer(spawner, cases[_i].priority);
	pid_t parent = maker_of(symbolizer);
	struct symbolize_module module;
	_cleanup_close_ int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(symbolizer_open_module(symbolizer, file, soon(), &module), 0);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)parent), getpriority(PRIO_PROCESS, 0));
	ck_assert_int_eq(nice_of_child(parent), cases[_i].nice);
}
END_TEST

SUITE(symbolizer)
{
	Suite *suite = suite_create(SANITIZED ? "symbolizer (without a confined one, under a sanitizer)"
					      : "symbolizer");
	TCase *replies = tcase_create("replies"), *asked = tcase_create("requests"),
	      *real = tcase_create("real");

	tcase_add_loop_test(replies, invalid_replies, 0, ARRAY_SIZE(lies));
	tcase_add_test(replies, valid_replies);
	tcase_add_test(replies, invalid_modules);
	tcase_add_loop_test(asked, requests, 0, ARRAY_SIZE(request_cases));
	tcase_add_test(asked, one_module_after_another);
	if (!SANITIZED) {
		tcase_add_test(real, every_kind_of_file);
		tcase_add_test(real, a_file_that_is_truncated_while_it_is_read);
		tcase_add_loop_test(real, a_symbolizer_has_the_priority_asked_for, 0, 3);
	}
	suite_add_tcase(suite, replies);
	suite_add_tcase(suite, asked);
	suite_add_tcase(suite, real);
	return suite;
}
