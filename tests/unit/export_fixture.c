/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/export_fixture.h"

#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "tests/unit/helpers.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The trigger is at 1,790,000,100 s; the capture begins 2 s before it and ends 3 s after it. */
static const char facts_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz)"
	" VALUES(1, 1, '0.1.0', 1, '6.18', 'host', 2, 47);"
	"INSERT INTO capture(capture_id, run_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, triggered_at,"
	" began_at, ended_at, history_ns, state, observed_us, hz, verdict, victim) VALUES(1, 1, 'web', 'io', 'some', 1000, 1000000,"
	" 'kernel', '/web', 1790000100000000000, 1790000098000000000, 1790000103000000000, 2000000000, 'complete', 2000, 47,"
	" 'device', 'web in web.service');"
	"INSERT INTO module(module_id, path, build_id, version, kind) VALUES(1, '[kernel]', 'cafe', '', 'kernel'),"
	" (2, '/usr/bin/web', 'beef01', '', 'file'), (3, 'ext4', NULL, '1', 'module'), (4, '[jit]', NULL, '1', 'jit');"
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES"
	" (1, 2, 100, 'main', 4, '/src/main.c', 42, 0), (2, 2, 200, 'outer', 8, '/src/o.c', 7, 0),"
	" (3, 2, 200, 'inner', NULL, '/src/i.c', 9, 1), (4, 1, 300, 'schedule', 16, NULL, NULL, 0),"
	" (5, 3, 400, 'ext4_read', 0, NULL, NULL, 0), (6, 4, 140000000000000, 'Jit::run', 0, NULL, NULL, 0),"
	" (7, 2, 500, 'web+0x1f4', NULL, NULL, NULL, 0), (8, 2, 300, 'inner', 1, '/src/i.c', 11, 0);"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'none', NULL);"
	"INSERT INTO stack_node VALUES(1, NULL, '[1]', NULL, NULL, NULL), (2, 1, '[2,3]', 1, 3, x'01'), (3, 1, '[8,4]', 1, 3, x'02'),"
	" (4, NULL, '[4,5]', 2, 2, x'03'), (5, 2, '[6]', 1, 4, x'04'), (6, NULL, '[7]', 1, 1, x'05'), (7, NULL, '[]', 2, 0, x'06');"
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup, unit) VALUES"
	" (1, 1, 4242, 1, 'web', '/usr/bin/web', 33, '/web', 'web.service'), (2, 1, 5000, 1, 'hog', NULL, 0, '/hog', NULL),"
	" (3, 1, 7, 1, 'kworker/0:1', NULL, NULL, NULL, NULL), (4, 1, 4242, 1, 'exec-ed', '/usr/bin/other', 33, '/web', 'web.service');"
	"INSERT INTO thread VALUES(1, 1, 4242, 'web'), (2, 1, 4243, 'worker'), (3, 1, 4243, 'renamed'), (4, 2, 5000, 'hog'),"
	" (5, 3, 7, 'kworker/0:1'), (6, 4, 4242, 'exec-ed');"
	"INSERT INTO sample_class(class, kind, stall, role) VALUES(1, 'on-cpu', 'none', 'target'), (2, 'on-cpu', 'none', 'other'),"
	" (3, 'on-cpu', 'none', 'kernel'), (4, 'off-cpu', 'io', 'target'), (5, 'off-cpu', 'none', 'target'),"
	" (6, 'off-cpu', 'memory+io', 'target'), (7, 'off-cpu', 'cpu', 'target'), (8, 'on-cpu', 'memory', 'target');"
	"INSERT INTO sample_row(capture_id, stack_id, thread_id, class, second, samples, weight_ns, times) VALUES"
	" (1, 2, 1, 1, -2, 2, NULL, '10,0],[20,1'), (1, 5, 1, 1, 0, 3, NULL, '0,0],[21,0],[21,1'), (1, 6, 3, 1, 1, 1, NULL, '5,0'),"
	" (1, 2, 2, 1, 1, 20, NULL, NULL), (1, 7, 1, 8, 2, 1, NULL, '199,1'), (1, 2, 4, 2, 0, 4, NULL, '1,1],[22,1],[43,1],[65,1'),"
	" (1, 4, 5, 3, 0, 2, NULL, '7,1],[900,0'), (1, 2, 6, 1, 2, 1, NULL, '300,0'),"
	" (1, 3, 2, 4, 1, 2, 150000000, '-100,20,0],[30,60,null'), (1, 3, 1, 5, 1, 1, 500000000, '-10000,100,1'),"
	" (1, 4, 1, 6, 2, 1, 40000000, '100,140,0'), (1, 3, 2, 7, 2, 1, 3000000, '5,8,1'), (1, 3, 2, 5, -1, 0, 7000000, NULL);"
	"INSERT INTO wake_row VALUES(1, 2, 3, 'io', NULL, 'interrupt', NULL, NULL, 0, 2, 150000000);"
	"INSERT INTO pressure VALUES(1, 1790000100000000000, 'system', 'io', 1000000, 500000),"
	" (1, 1790000101000000000, 'system', 'io', 1400000, 600000), (1, 1790000103000000000, 'system', 'io', 2000000, 600000);"
	"INSERT INTO killed VALUES(1, 1790000101500000000, 'oom', 'other', 'mysqld', 77, '/mysql', 'mysql.service', NULL, 1073741824,"
	" 'bash', 78, '/user', NULL, '/system.slice', 2147483648, 1), (1, 1790000102000000000, 'signal', 'rest', NULL, NULL, NULL, NULL,"
	" NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3);"
	"INSERT INTO histogram_label VALUES(1, 'lock', 'mutex ext4_read'), (2, 'block.size', 'vda read web.service');"
	"INSERT INTO histogram_row VALUES(1, 1, 'during', 99, 3, 33000), (1, 1, 'before', 80, 2, 9000), (1, 2, 'during', 80, 1, 4096);"
	"INSERT INTO latency_measured VALUES(1, 'lock', 'during', 1, 2, 3, 3, 0, 1, 0), (1, 'lock', 'before', 1, 2, 3, 2, 0, 0, 0),"
	" (1, 'block.size', 'during', 1, 2, 3, 1, 0, 0, 0);"
	"INSERT INTO growth_row VALUES(1, 2, 4, 5, 8388608);"
	"INSERT INTO thread_look VALUES(1, 0, 10, 20), (1, 1, 5, 10);"
	"INSERT INTO thread_state(capture_id, process_id, tid, thread, state, syscall, second, seconds, samples) VALUES"
	" (1, 1, 4242, 'web', 'S', 'read', 0, 2, 15), (1, 1, 4243, 'worker', 'S', 'futex', 0, 1, 10),"
	" (1, 1, 4243, 'worker', 'D', NULL, 1, 1, 5), (1, 2, 5000, 'hog', 'D', NULL, 1, 1, 5);"
	"UPDATE thread_state SET role = 'other' WHERE process_id = 2;"
	"INSERT INTO loss VALUES(1, 'torn-slots', 0, 'sample');";

static const char all_sample_sql[] =
	"CREATE TEMP VIEW all_sample AS SELECT 'target' AS role, kind, stall, samples, weight_ns FROM sample UNION ALL "
	"SELECT role, kind, stall, samples, weight_ns FROM other_sample";

static sqlite3 *open_database(const struct export_fixture *fixture)
{
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(fixture->path, &sqlite), SQLITE_OK);
	return sqlite;
}

static void execute(sqlite3 *sqlite, const char *sql)
{
	char *message = NULL;

	sqlite3_exec(sqlite, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", message, sql);
}

void export_fixture_make(struct export_fixture *fixture)
{
	char *head = sqlite3_mprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				     SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
	sqlite3 *sqlite;

	fixture->directory = directory_make();
	fixture->path = path_join(fixture->directory, "bourdon.db");
	sqlite = open_database(fixture);
	execute(sqlite, head);
	execute(sqlite, "BEGIN");
	execute(sqlite, schema_sql);
	execute(sqlite, facts_sql);
	execute(sqlite, "COMMIT");
	sqlite3_close(sqlite);
	sqlite3_free(head);
}

void export_fixture_free(struct export_fixture *fixture)
{
	directory_remove(fixture->directory);
	free(fixture->path);
	free(fixture->directory);
}

void export_fixture_run(const struct export_fixture *fixture, const char *sql)
{
	sqlite3 *sqlite = open_database(fixture);

	execute(sqlite, sql);
	sqlite3_close(sqlite);
}

/* Each is the bytes of a name, in hexadecimal, because SQL has no NUL: escape sequences, quotes, lines, HTML, invalid UTF-8, text that runs backwards. */
static const char *const hostile_names[] = {
	"1b5d303b6f776e656407",                                                 /* ESC ] 0 ; owned BEL */
	"1b5b324a1b5b33316d",                                                   /* ESC [ 2 J ESC [ 3 1 m */
	"27226024286964296022275c",                                             /* '"`$(id)`"'\ */
	"3c2f7363726970743e3c7363726970743e616c6572742831293c2f7363726970743e", /* </script><script>alert(1)</script> */
	"610a620d09630a2037",         /* lines, with a number at the end */
	"613b623b6d61696e203432",     /* a;b;main 42 */
	"ffc08080 61eda0807a",        /* invalid UTF-8 */
	"e280ae67706a2e657865e2808b", /* text that runs backwards, and a character without width */
	"3d312b31",                   /* =1+1 */
	"25732 56e2531782028696e2078292028 2b203129", /* %s%n%1x (in x) (+ 1) */
};

void export_fixture_make_hostile(const struct export_fixture *fixture)
{
	sqlite3 *sqlite = open_database(fixture);
	int names = ARRAY_SIZE(hostile_names);

	for (int i = 0; i < names; i++) {
		char hexadecimal[128] = "", *to = hexadecimal, *name, *sql;

		for (const char *from = hostile_names[i]; *from; from++)
			if (*from != ' ')
				*to++ = *from;
		*to = '\0';
		name = sqlite3_mprintf("CAST(x'%s' AS TEXT)", hexadecimal);
		sql = sqlite3_mprintf(
			"UPDATE process SET comm = %s, exe = %s, cgroup = %s, unit = %s WHERE process_id %% %d = %d;"
			"UPDATE thread SET thread = %s || thread_id WHERE thread_id %% %d = %d;"
			"UPDATE module SET path = %s || module_id, build_id = %s || module_id WHERE module_id %% %d = %d;"
			"UPDATE frame_row SET function = %s || frame_id, file = %s WHERE frame_id %% %d = %d;"
			"UPDATE killed SET comm = %s, unit = %s, by_comm = %s WHERE %d = 4;"
			"UPDATE pressure SET scope = %s, resource = %s WHERE %d = 2;"
			"UPDATE thread_state SET state = %s WHERE %d = 2;"
			"UPDATE capture SET rule = %s, resource = %s, kind = %s, cgroup = %s, verdict = %s, victim = %s, note = %s WHERE %d = 3;"
			"UPDATE run SET hostname = %s, kernel = %s, version = %s WHERE %d = 7;",
			name, name, name, name, names, i, name, names, i, name, name, names, i, name, name,
			names, i, name, name, name, i, name, name, i, name, i, name, name, name, name, name,
			name, name, i, name, name, name, i);
		execute(sqlite, sql);
		sqlite3_free(sql);
		sqlite3_free(name);
	}
	sqlite3_close(sqlite);
}

char *export_fixture_ask(const struct export_fixture *fixture, const char *sql, const char *parameter)
{
	sqlite3 *sqlite = open_database(fixture);
	sqlite3_stmt *statement;
	const char *text;
	char *copy;

	execute(sqlite, all_sample_sql);
	ck_assert_msg(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s",
		      sqlite3_errmsg(sqlite), sql);
	if (parameter)
		sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_STATIC);
	ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", sqlite3_errmsg(sqlite), sql);
	text = (const char *)sqlite3_column_text(statement, 0);
	copy = strdup(text ? text : "");
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	return copy;
}

int64_t export_fixture_number(const struct export_fixture *fixture, const char *sql)
{
	_cleanup_free_ char *text = export_fixture_ask(fixture, sql, NULL);

	return strtoll(text, NULL, 10);
}
