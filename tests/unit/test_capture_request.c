/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a request for a capture is the same after it was written and read, that every mistake in one has its text, and
 * what the options say of it.
 */
#include "common/base/cleanup.h"
#include "common/protocol/capture_request.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

#define SECOND 1000000000ULL

/* Reads a line, which is a copy. */
static const char *read_text(const char *text, struct capture_request *ret_request)
{
	_cleanup_free_ char *copy = strdup(text);
	struct status_line line;

	ck_assert_int_eq(status_line_parse(copy, &line), 0);
	ck_assert_str_eq(line.kind, "capture");
	return capture_request_read(&line, ret_request);
}

static char *write_text(const struct capture_request *request)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	capture_request_write(request, out);
	fclose(out);
	ck_assert_ptr_eq(strchr(text, '\n'), text + bytes - 1);
	text[bytes - 1] = '\0';
	return text;
}

static struct capture_request plain(void)
{
	return (struct capture_request){ .kinds = CAPTURE_ON_CPU | CAPTURE_OFF_CPU, .for_ns = 30 * SECOND };
}

static void expect_same(const struct capture_request *request, const char *options)
{
	_cleanup_free_ char *line = write_text(request), *text = capture_request_text(request), *again = NULL;
	struct capture_request back;
	const char *why = read_text(line, &back);

	ck_assert_msg(!why, "%s: %s", line, why);
	again = write_text(&back);
	ck_assert_str_eq(again, line);
	ck_assert_str_eq(text, options);
}

START_TEST(what_is_written_is_read)
{
	struct capture_request request = plain();
	_cleanup_free_ char *line = NULL;
	const char *why;

	request.everyone = true;
	expect_same(&request, "--all --for 30s");

	request = plain();
	request.pids_count = 2;
	request.pids[0] = 1;
	request.pids[1] = INT32_MAX;
	request.before_ns = SECOND / 2;
	request.kinds = CAPTURE_ON_CPU;
	expect_same(&request, "--pid 1 --pid 2147483647 --for 30s --before 500ms --on-cpu");

	request = plain();
	request.has_comm = true;
	ck_assert_int_eq(comm_pattern_parse("a \tb\n\\x*", &request.comm, &why), 0);
	strcpy(request.unit, "nginx@*.service");
	request.kinds = CAPTURE_OFF_CPU;
	request.for_ns = SECOND + 1;
	expect_same(&request, "--comm a \tb\n\\x* --unit nginx@*.service --for 1000000001ns --off-cpu");

	request = plain();
	request.everyone = true;
	request.has_probes = true;
	expect_same(&request, "--all --for 30s --probes none");
	request.probes = 1U << LATENCY_BLOCK | 1U << LATENCY_LOCK;
	expect_same(&request, "--all --for 30s --probes block,lock");
	request.probes = LATENCY_ALL;
	expect_same(&request, "--all --for 30s --probes all");

	request = plain();
	memset(request.cgroup, 'c', CGROUP_PATH_BYTES);
	request.cgroup[0] = '/';
	memset(request.note, '\xff', CAPTURE_NOTE_BYTES);
	line = write_text(&request);
	ck_assert_ptr_null(read_text(line, &request));
	ck_assert_uint_eq(strlen(request.cgroup), CGROUP_PATH_BYTES);
	ck_assert_uint_eq(strlen(request.note), CAPTURE_NOTE_BYTES);
}
END_TEST

START_TEST(the_longest_request_has_room)
{
	struct capture_request request = plain();
	_cleanup_free_ char *line = NULL;

	memset(request.cgroup, '\xff', CGROUP_PATH_BYTES);
	request.cgroup[0] = '/';
	memset(request.note, '\x01', CAPTURE_NOTE_BYTES);
	request.has_comm = true;
	memset(request.comm.text, '\t', ABI_COMM_BYTES - 1);
	line = write_text(&request);
	/* a path of bytes that are no text takes four times as many, and is refused as too long a request */
	ck_assert_uint_gt(strlen(line), CAPTURE_REQUEST_BYTES_MAX);
	memset(request.cgroup + 1, 'c', CGROUP_PATH_BYTES - 1);
	free(line);
	line = write_text(&request);
	ck_assert_uint_lt(strlen(line), CAPTURE_REQUEST_BYTES_MAX);
}
END_TEST

#define FOR "\tfor_ns=1000000000\tbefore_ns=0\tkinds=3"

static const struct {
	const char *line, *why;
} mistakes[] = {
	{ "capture", "name the processes" },
	{ "capture" FOR, "name the processes" },
	{ "capture\tall=1", "expected samples" },
	{ "capture\tall=1\tkinds=3", "--for: from 1s" },
	{ "capture\tall=1\tkinds=0\tfor_ns=1000000000", "expected samples" },
	{ "capture\tall=1\tkinds=4\tfor_ns=1000000000", "a number" },
	{ "capture" FOR "\tall=0", "all: expected 1" },
	{ "capture" FOR "\tall=", "all: expected 1" },
	{ "capture" FOR "\tall=1\tpids=1", "stand alone" },
	{ "capture" FOR "\tall=1\tcomm=web", "stand alone" },
	{ "capture" FOR "\tpids=1\tunit=a.service", "stand alone" },
	{ "capture" FOR "\tunit=a.service\tcgroup=/a", "not both" },
	{ "capture" FOR "\tpids=", "--pid" },
	{ "capture" FOR "\tpids=,", "--pid" },
	{ "capture" FOR "\tpids=1,", "--pid" },
	{ "capture" FOR "\tpids=1,,2", "--pid" },
	{ "capture" FOR "\tpids=0", "--pid" },
	{ "capture" FOR "\tpids=-1", "--pid" },
	{ "capture" FOR "\tpids=1 2", "--pid" },
	{ "capture" FOR "\tpids=2147483648", "--pid" },
	{ "capture" FOR "\tpids=99999999999999999999", "--pid" },
	{ "capture" FOR "\tpids=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "more than 16" },
	{ "capture" FOR "\tcomm=", "" },
	{ "capture" FOR "\tcomm=a-name-of-sixteen", "" },
	{ "capture" FOR "\tcgroup=a", "--cgroup" },
	{ "capture" FOR "\tcgroup=", "a text is empty" },
	{ "capture" FOR "\tcgroup=/a/../b", "--cgroup" },
	{ "capture" FOR "\tcgroup=/..", "--cgroup" },
	{ "capture" FOR "\tcgroup=/.", "--cgroup" },
	{ "capture" FOR "\tcgroup=/a//b", "--cgroup" },
	{ "capture" FOR "\tcgroup=/a/", "--cgroup" },
	{ "capture" FOR "\tcgroup=//", "--cgroup" },
	{ "capture" FOR "\tall=1\tall=1", "twice" },
	{ "capture" FOR "\tall=1\tfor_ns=1", "twice" },
	{ "capture" FOR "\tall=1\tname=x", "does not know" },
	{ "capture" FOR "\tall=1\t=x", "does not know" },
	{ "capture\tall=1\tkinds=3\tfor_ns=999999999", "--for: from 1s" },
	{ "capture\tall=1\tkinds=3\tfor_ns=3600000000001", "a number" },
	{ "capture\tall=1\tkinds=3\tfor_ns=1e9", "a number" },
	{ "capture\tall=1\tkinds=3\tfor_ns=18446744073709551616", "a number" },
	{ "capture\tall=1\tkinds=3\tfor_ns=1000000000\tbefore_ns=600000000001", "a number" },
};

START_TEST(every_mistake_has_its_text)
{
	struct capture_request request = { .for_ns = 42 };
	const char *why = read_text(mistakes[_i].line, &request);

	ck_assert_msg(why && strstr(why, mistakes[_i].why), "%s gave %s", mistakes[_i].line,
		      why ? why : "NULL");
	ck_assert_uint_eq(request.for_ns, 42);
}
END_TEST

START_TEST(paths_that_are_right)
{
	static const char *const paths[] = { "/", "/a", "/a/b", "/..a", "/a/...", "/.a/b." };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct capture_request request = plain();

		strcpy(request.cgroup, paths[i]);
		ck_assert_msg(!capture_request_mistake(&request), "%s", paths[i]);
	}
}
END_TEST

/* Whatever bytes a field has, the request is refused, or is one that can be written. */
START_TEST(any_bytes)
{
	static const char *const keys[] = { "for_ns", "before_ns", "kinds",  "all",  "pids",
					    "comm",   "unit",      "cgroup", "note", "other" };
	struct dice dice = dice_new(20);
	uint32_t right = 0;

	for (int round = 0; round < 20000; round++) {
		char text[512] = "capture" FOR;
		struct capture_request request;

		for (uint32_t fields = dice_below(&dice, 3); fields <= 3; fields++) {
			size_t used = strlen(text);

			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "\t%s=", keys[dice_below(&dice, ARRAY_SIZE(keys))]);
			for (uint32_t bytes = dice_below(&dice, 8); bytes; bytes--)
				text[used++] = "0123456789,/.*a\\x\x7f\xff\x1b[ -"[dice_below(&dice, 24)];
			text[used] = '\0';
		}
		if (read_text(text, &request))
			continue;
		right++;
		free(write_text(&request));
		free(capture_request_text(&request));
		HOLDS(!capture_request_mistake(&request));
	}
	ck_assert_uint_gt(right, 0);
}
END_TEST

SUITE(capture_request)
{
	Suite *suite = suite_create("capture_request");
	TCase *request = tcase_create("request");

	tcase_add_test(request, what_is_written_is_read);
	tcase_add_test(request, the_longest_request_has_room);
	tcase_add_loop_test(request, every_mistake_has_its_text, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(request, paths_that_are_right);
	tcase_add_test(request, any_bytes);
	suite_add_tcase(suite, request);
	return suite;
}
