/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of `bourdon flame`: the tree of functions, which samples it has, and its picture, also of hostile names.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/picture/flame_tree.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/page_fixture.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <expat.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

static char *directory, *path;

static void set_up(void)
{
	directory = directory_make();
	path = path_join(directory, "bourdon.db");
	page_fixture_write(path);
}

static void tear_down(void)
{
	directory_remove(directory);
	free(path);
	free(directory);
}

static void expect_xml(const char *words, const char *svg)
{
	XML_Parser parser = XML_ParserCreate(NULL);

	ck_assert_msg(XML_Parse(parser, svg, (int)strlen(svg), XML_TRUE) == XML_STATUS_OK,
		      "%s: line %lu: %s\n%.3000s", words, XML_GetCurrentLineNumber(parser),
		      XML_ErrorString(XML_GetErrorCode(parser)), svg);
	XML_ParserFree(parser);
}

/* What "bourdon flame" with these words writes; the caller frees it. */
static char *svg_of(const char *words)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s flame %s", path, words);

	ck_assert_msg(!ran.status, "%s: %s", words, ran.err);
	expect_xml(words, ran.out);
	return TAKE_PTR(ran.out);
}

static void change(const char *sql)
{
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sqlite);
}

static void assert_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part), "'%s' is not in:\n%.3000s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' is in:\n%.3000s", part, text);
}

static void expect_has(const char *words, const char *part)
{
	_cleanup_free_ char *svg = svg_of(words);

	assert_has(svg, part);
}

/* The number of times that `part` is in the text. */
static int times_in(const char *text, const char *part)
{
	int times = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		times++;
	return times;
}

/* ---- the tree ---- */

struct planted {
	struct database database;
	struct profile profile;
	struct flame_tree tree;
	uint32_t *leaves;
};

static void plant(struct planted *planted, int64_t capture_id)
{
	*planted = (struct planted){ 0 };
	ck_assert_int_eq(database_open(path, &planted->database), 0);
	ck_assert_int_eq(profile_load(&planted->database, capture_id, PROFILE_OF_ALL, &planted->profile), 0);
	ck_assert_int_eq(flame_tree_add(&planted->tree, &planted->profile, &planted->leaves), 0);
}

static void uproot(struct planted *planted)
{
	free(planted->leaves);
	flame_tree_free(&planted->tree);
	profile_free(&planted->profile);
	database_close(&planted->database);
}

/* The path to a node: "root;a;b", each with the first letter of its kind. The caller frees it. */
static char *path_of(const struct flame_tree *tree, uint32_t node)
{
	char *text = strdup("");

	for (; node; node = tree->nodes[node].parent) {
		const struct flame_frame *frame = &tree->frames[tree->nodes[node].frame];
		char *longer;

		ck_assert_uint_lt(tree->nodes[node].parent, node);
		ck_assert_int_gt(asprintf(&longer, "%s:%c%s%s", frame->function,
					  *flame_kind_name(frame->kind), *text ? ";" : "", text),
				 0);
		free(text);
		text = longer;
	}
	return text;
}

static bool has_path(const struct planted *planted, const char *wanted)
{
	for (uint32_t i = 0; i < planted->profile.samples_count; i++) {
		_cleanup_free_ char *found = path_of(&planted->tree, planted->leaves[i]);

		if (!strcmp(found, wanted))
			return true;
	}
	return false;
}

START_TEST(each_stack_is_a_path_from_the_program_inwards)
{
	static const char *const paths[] = {
		"web:p;main:u;work:u;spin:i",            /* inlined */
		"web:p;main:u;work:u;do_syscall:k",      /* kernel */
		"web:p;main:u;Jit::run:j",               /* a perf map */
		"web:p;[outer frames missing]:m;work:u", /* truncated */
		"web:p;[no stack]:m",
		"web:p;main:u;[anonymous]+0x10:u", /* unknown */
		"hog:p;main:u;work:u",             /* another program's */
	};
	struct planted planted;

	plant(&planted, 1);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		ck_assert_msg(has_path(&planted, paths[i]), "no sample is at %s", paths[i]);
	uproot(&planted);
}
END_TEST

START_TEST(a_function_at_two_lines_is_one_node)
{
	struct planted planted;
	uint32_t works = 0;

	plant(&planted, 1);
	for (uint32_t i = 1; i < planted.tree.nodes_count; i++) {
		_cleanup_free_ char *found = path_of(&planted.tree, i);

		works += !strcmp(found, "web:p;main:u;work:u");
	}
	ck_assert_uint_eq(works, 1);
	uproot(&planted);
}
END_TEST

START_TEST(a_second_profile_shares_the_nodes)
{
	_cleanup_profile_ struct profile other = { 0 };
	struct planted planted;
	uint32_t nodes, *leaves;

	plant(&planted, 1);
	nodes = planted.tree.nodes_count;
	ck_assert_int_eq(profile_load(&planted.database, 1, PROFILE_OF_ALL, &other), 0);
	ck_assert_int_eq(flame_tree_add(&planted.tree, &other, &leaves), 0);
	ck_assert_uint_eq(planted.tree.nodes_count, nodes);
	ck_assert_mem_eq(leaves, planted.leaves, other.samples_count * sizeof(*leaves));
	free(leaves);
	uproot(&planted);
}
END_TEST

/* ---- the picture ---- */

/* What a graph has: the totals are those that SQL adds up from page_fixture.c. */
static const struct {
	const char *words, *title;
} graphs[] = {
	{ "1", "targets: on CPU, 14 samples" },
	{ "1 --role other", "others than the targets: on CPU, 9 samples" },
	{ "1 --role all --icicle", "all processes: on CPU, 23 samples" },
	{ "1 --kind offcpu", "targets: waiting, 1.43 s" },
	{ "1 --kind offcpu --stall io", "targets: waiting for I/O, 930 ms" },
	{ "1 --stall memory", "targets: waiting for memory, 30 ms" },
	{ "1 --stall none", "targets: waiting, for no resource, 500 ms" },
};

START_TEST(the_root_has_the_samples_that_were_asked_for)
{
	expect_has(graphs[_i].words, graphs[_i].title);
}
END_TEST

START_TEST(each_frame_has_a_title_with_its_share)
{
	_cleanup_free_ char *svg = svg_of("1");

	assert_has(svg, "<title>spin (/usr/bin/web) — 5 samples, 35.7 %, inlined, /src/web.c</title>");
	assert_has(svg, "<title>work (/usr/bin/web) — 9 samples, 64.3 %, user, /src/web.c</title>");
	assert_has(svg, "class=\"bar\"");
	assert_has(svg, "class=\"dots\"");
	assert_has(svg, "class=\"stripes\"");
	ck_assert_int_eq(times_in(svg, "<title"), times_in(svg, "</title>"));
	ck_assert_int_eq(times_in(svg, "<g "), times_in(svg, "</g>"));
}
END_TEST

START_TEST(a_share_of_almost_nothing_is_text)
{
	_cleanup_free_ char *svg = NULL;

	change("UPDATE sample_row SET samples = 1000 * samples WHERE capture_id = 1 AND stack_id <> 7;"
	       "UPDATE sample_row SET samples = 5 WHERE capture_id = 1 AND stack_id = 7");
	svg = svg_of("1");
	assert_has(svg, " — 5 samples, &lt;0.1 %, missing</title>");
}
END_TEST

/* Each choice of both captures, the second with hostile names everywhere. */
START_TEST(every_picture_is_xml)
{
	static const char *const kinds[] = { "", "--kind offcpu", "--stall io", "--stall memory",
					     "--stall none" },
				 *const roles[] = { "", "--role target", "--role other", "--role kernel",
						    "--role all" };
	int pictures = 0;

	change("UPDATE sample_row SET samples = 3000 * samples WHERE thread_id <> 2");
	for (size_t i = 0; i < 4 * ARRAY_SIZE(kinds) * ARRAY_SIZE(roles); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };
		char words[128];

		snprintf(words, sizeof(words), "%zu %s %s %s", 1 + i % 2, i & 2 ? "--icicle" : "",
			 kinds[i / 4 % ARRAY_SIZE(kinds)], roles[i / 4 / ARRAY_SIZE(kinds)]);
		ran = command_run_words("--db %s flame %s", path, words);
		if (ran.status) /* without such samples, or choices that do not go together */
			continue;
		expect_xml(words, ran.out);
		pictures++;
	}
	ck_assert_int_ge(pictures, 16);
}
END_TEST

START_TEST(the_root_of_an_icicle_is_at_the_top)
{
	_cleanup_free_ char *flame = svg_of("1"), *icicle = svg_of("1 --icicle");

	/* the first frame of the file is the program with most samples */
	assert_has(icicle, "x=\"16.00\" y=\"92\" width=\"1168.00\"");
	assert_has_not(flame, "x=\"16.00\" y=\"92\" width=\"1168.00\"");
}
END_TEST

START_TEST(a_picture_loads_and_runs_nothing)
{
	static const char *const active[] = { "<script", "href",   "url(http",
					      "@import", "<image", "<foreignObject" };
	_cleanup_free_ char *svg = svg_of("2");

	for (size_t i = 0; i < ARRAY_SIZE(active); i++)
		assert_has_not(svg, active[i]);
	ck_assert_int_eq(times_in(svg, "<svg"), 1);
}
END_TEST

START_TEST(hostile_names_are_text)
{
	_cleanup_free_ char *svg = svg_of("2");

	assert_has(svg, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;");
	assert_has(svg, "]]&gt;&lt;/title&gt;&lt;/svg&gt;");
	assert_has(svg, "&#39;&quot;`$(id)`");
	assert_has(svg, "\\x1b]0;owned\\x07");
	assert_has(svg, "\\xe2\\x80\\xaegpj.exe");
	for (const char *at = svg; *at; at++)
		ck_assert_msg(*at == '\n' || *at == '\t' || (unsigned char)*at >= 0x20, "byte %d", *at);
	ck_assert_ptr_null(strstr(svg, "\xef\xbf\xbf"));
}
END_TEST

/* ---- the command ---- */

START_TEST(mistakes_are_refused)
{
	static const struct {
		const char *words, *says;
	} mistakes[] = {
		{ "--role nobody", "--role 'nobody' is unknown: expected target, other, kernel or all" },
		{ "--kind both", "--kind 'both' is unknown: expected oncpu, offcpu, on-cpu or off-cpu" },
		{ "--stall irq",
		  "--stall 'irq' is unknown: expected cpu, memory, io, memory+io, memory+cpu or none" },
		{ "--kind oncpu --stall io", "--stall is of waiting" },
		{ "--role other --kind offcpu", "others than targets are recorded on CPU alone" },
		{ "--json", "'flame' takes no --json" },
	};
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s flame 1 %s", path, mistakes[_i].words);

	ck_assert_int_eq(ran.status, EXIT_USAGE);
	assert_has(ran.err, mistakes[_i].says);
}
END_TEST

START_TEST(a_capture_without_such_samples_has_no_picture)
{
	expect_command_fails("capture 2 has no samples of targets waiting for memory",
			     "--db %s flame 2 --stall memory", path);
}
END_TEST

START_TEST(the_file_is_written_for_its_owner_alone)
{
	_cleanup_free_ char *file = path_join(directory, "out.svg"), *svg = svg_of("1"), *written = NULL;
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	struct stat at;
	FILE *stream;

	file_put(file, "before", 6);
	ran = command_run_words("--db %s flame 1 -o %s", path, file);
	ck_assert_msg(!ran.status, "%s", ran.err);
	ck_assert_str_eq(ran.out, "");
	ck_assert_int_eq(stat(file, &at), 0);
	ck_assert_int_eq(at.st_mode & 0777, 0600);
	ck_assert_int_eq(at.st_size, (off_t)strlen(svg));
	written = calloc(1, (size_t)at.st_size + 1);
	stream = fopen(file, "re");
	ck_assert_uint_eq(fread(written, 1, (size_t)at.st_size, stream), (size_t)at.st_size);
	fclose(stream);
	ck_assert_str_eq(written, svg);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_named)
{
	expect_command_fails("cannot write '/nowhere/out.svg'", "--db %s flame 1 -o /nowhere/out.svg", path);
}
END_TEST

SUITE(flame)
{
	Suite *suite = suite_create("flame");
	TCase *tests = tcase_create("flame");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, each_stack_is_a_path_from_the_program_inwards);
	tcase_add_test(tests, a_function_at_two_lines_is_one_node);
	tcase_add_test(tests, a_second_profile_shares_the_nodes);
	tcase_add_loop_test(tests, the_root_has_the_samples_that_were_asked_for, 0, ARRAY_SIZE(graphs));
	tcase_add_test(tests, each_frame_has_a_title_with_its_share);
	tcase_add_test(tests, a_share_of_almost_nothing_is_text);
	tcase_add_test(tests, every_picture_is_xml);
	tcase_add_test(tests, the_root_of_an_icicle_is_at_the_top);
	tcase_add_test(tests, a_picture_loads_and_runs_nothing);
	tcase_add_test(tests, hostile_names_are_text);
	tcase_add_loop_test(tests, mistakes_are_refused, 0, 6);
	tcase_add_test(tests, a_capture_without_such_samples_has_no_picture);
	tcase_add_test(tests, the_file_is_written_for_its_owner_alone);
	tcase_add_test(tests, a_file_that_cannot_be_written_is_named);
	suite_add_tcase(suite, tests);
	return suite;
}
