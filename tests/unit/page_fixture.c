/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/page_fixture.h"

#include "common/base/cleanup.h"
#include "common/store/schema.h"

#include <check.h>
#include <sqlite3.h>
#include <stdio.h>

/* The names of tests/e2e/hostile.bats, as bytes that bourdond would not store; and those that matter to XML and HTML. */
#define NAME_ESC "char(27) || ']0;owned' || char(7)"
#define NAME_SCRIPT "'<script>alert(1)</script>&amp;'"
#define NAME_TITLE "']]></title></svg><svg onload=alert(1)>'"
#define NAME_QUOTES "'''\"`$(id)`\"'''"
#define NAME_BIDI "char(8238) || 'gpj.exe' || char(8203)"
#define NAME_BYTES "CAST(x'ffc08080' AS TEXT) || char(65535) || '\\u003c\\'"
#define NAME_COMMENT "'<!--<script>' || char(10) || '@DATA@@SCRIPT@'"

static const char rows_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz)"
	" VALUES(1, 1, '0.1.0', 1, '6.18', 'host', 8, 50), (2, 1, " NAME_SCRIPT ", 1, " NAME_TITLE
	", " NAME_SCRIPT ", 8, 50);"
	"INSERT INTO rule(rule_id, run_id, rule, source, comm, watch, pattern_id, history_ns, capture_ns, cooldown_ns) VALUES"
	" (1, 1, 'web', 'r.conf:1', '*', 'cgroup', 1, 2000000000, 2000000000, 1000000000), (2, 2, " NAME_QUOTES
	", " NAME_SCRIPT ", " NAME_TITLE ", 'cgroup', 1, 1, 1, 1);"
	"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup,"
	" triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns, verdict, victim) VALUES"
	" (1, 1, 1, 'web', 'io', 'some', 100000, 1000000, 'kernel', '/web', 1790000000000000000, 1789999998000000000,"
	" 1790000002000000000, 2000000000, 'complete', 400000, 50, 2000000000, 'own I/O', 'web in web.service'),"
	" (2, 2, 2, " NAME_QUOTES ", 'cpu', 'some', 1000, 1000000, 'kernel', " NAME_SCRIPT
	", 1790000100000000000, 1790000098000000000, 1790000102000000000, 2000000000, 'complete', 1, 50, NULL, " NAME_COMMENT
	", " NAME_TITLE ");"
	"INSERT INTO module(module_id, path, version, kind) VALUES(1, '/usr/bin/web', '', 'file'), (2, '[kernel]', '', 'kernel'),"
	" (3, '[jit]', '', 'jit'), (4, '[anonymous]', '', 'anonymous'), (5, " NAME_SCRIPT
	", '', 'file'), (6, " NAME_QUOTES ", '', 'jit');"
	/* work at lines 7 and 9 */
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES"
	" (1, 1, 1, 'main', 0, '/src/web.c', 3, 0), (2, 1, 2, 'work', 0, '/src/web.c', 7, 0), (3, 1, 3, 'work', 2, '/src/web.c', 9, 0),"
	" (4, 1, 3, 'spin', 0, '/src/web.c', 20, 1), (5, 2, 1, 'do_syscall', 0, NULL, NULL, 0), (6, 3, 1, 'Jit::run', 0, NULL, NULL, 0),"
	" (7, 4, 16, '[anonymous]+0x10', NULL, NULL, NULL, 0), (11, 5, 1, " NAME_ESC ", 0, " NAME_SCRIPT
	", 1, 0), (12, 5, 2, " NAME_SCRIPT ", 0, NULL, NULL, 0), (13, 5, 3, " NAME_TITLE
	", 0, NULL, NULL, 0), (14, 6, 4, " NAME_QUOTES ", 0, NULL, NULL, 0), (15, 6, 5, " NAME_BIDI
	", 0, NULL, NULL, 0), (16, 6, 6, " NAME_BYTES ", 0, NULL, NULL, 0), (17, 6, 7, " NAME_COMMENT
	", 0, NULL, NULL, 0);"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'eh-frame', 'memory'), (3, 0, 'none', NULL);"
	"INSERT INTO stack_node VALUES(1, NULL, '[1]', NULL, NULL, NULL), (2, 1, '[2]', 1, 2, x'02'), (3, 1, '[3,4]', 1, 3, x'03'),"
	" (4, 2, '[5]', 1, 3, x'04'), (5, 1, '[6]', 1, 2, x'05'), (6, NULL, '[2]', 2, 1, x'06'), (7, NULL, '[]', 3, 0, x'07'),"
	" (8, 1, '[7]', 1, 2, x'08'), (9, NULL, '[11,12,13,14,15,16,17]', 1, 7, x'09');"
	"INSERT INTO process VALUES(1, 1, 11, 1, 'web', '/usr/bin/web', 33, '/web', NULL, NULL, NULL, NULL),"
	" (2, 1, 22, 1, 'hog', NULL, 0, '/hog', 'hog.service', NULL, NULL, NULL), (3, 2, 33, 1, " NAME_SCRIPT
	", " NAME_TITLE ", 0, " NAME_SCRIPT ", " NAME_QUOTES ", NULL, NULL, NULL);"
	"INSERT INTO thread VALUES(1, 1, 11, 'web'), (2, 1, 12, 'worker'), (3, 2, 22, 'hog'), (4, 3, 33, " NAME_BIDI
	");"
	"INSERT INTO sample_class(class, kind, stall, role) VALUES(1, 'on-cpu', 'none', 'target'), (2, 'on-cpu', 'none', 'other'),"
	" (3, 'off-cpu', 'io', 'target'), (4, 'off-cpu', 'memory+io', 'target'), (5, 'off-cpu', 'none', 'target');"
	/* capture, stack, thread, class, second, samples, weight_ns, times */
	"INSERT INTO sample_row VALUES"
	" (1, 2, 1, 1, -2, 2, NULL, '0,0],[20,1'), (1, 3, 2, 1, -1, 3, NULL, '5,0],[25,0],[999,1'), (1, 3, 2, 1, 0, 2, NULL, '0,2],[500,2'),"
	" (1, 4, 1, 1, 1, 2, NULL, '10,0],[30,0'), (1, 5, 1, 1, 1, 2, NULL, NULL), (1, 6, 1, 1, 0, 1, NULL, '40,0'),"
	" (1, 7, 1, 1, 0, 1, NULL, '41,0'), (1, 8, 1, 1, 0, 1, NULL, '42,0'), (1, 2, 3, 2, 0, 4, NULL, '1,0],[2,0],[3,0],[4,0'),"
	" (1, 2, 3, 2, 1, 5, NULL, '1,0],[2,0],[3,0],[4,0'),"
	/* one interval from -100 ms to 700 ms, and one of 100 ms; the sum of shorter ones is in the second */
	" (1, 2, 1, 3, -1, 0, 100000000, NULL), (1, 2, 1, 3, 0, 2, 800000000, '-100,700,0],[800,900,1'),"
	" (1, 2, 2, 4, 1, 1, 30000000, '100,130,null'), (1, 2, 2, 5, 1, 0, 500000000, NULL),"
	" (2, 9, 4, 1, 0, 1, NULL, '5,0');"
	"INSERT INTO pressure VALUES(1, 1790000000000000000, '/web', 'io', 0, 0), (1, 1790000001000000000, '/web', 'io', 500000, 1000),"
	" (2, 1790000100000000000, " NAME_SCRIPT ", " NAME_QUOTES
	", 0, 0), (2, 1790000101000000000, " NAME_SCRIPT ", " NAME_QUOTES ", 500, 0);"
	"INSERT INTO statistic VALUES(1, 1, 2, 'system', 'vmstat', NULL, 'pgfault', 1, 5), (2, 1, 2, " NAME_SCRIPT
	", " NAME_TITLE ", " NAME_QUOTES ", " NAME_COMMENT ", 1, 5);"
	"INSERT INTO machine_time VALUES(1, 'targets', 1, 4000000001, 3000000000, 75.0), (1, 'idle', 1, 4000000001, 1000000000, 25.0),"
	" (2, " NAME_SCRIPT ", 1, 2, 1, 100.0);"
	"INSERT INTO loss VALUES(1, 'ring-overwritten', 0, 'sample'), (2, " NAME_SCRIPT ", 5, 'sample');";

void page_fixture_write(const char *path)
{
	_cleanup_free_ char *identity = NULL;
	const char *statements[4];
	char *message = NULL;
	sqlite3 *sqlite;

	ck_assert_int_gt(asprintf(&identity, "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN",
				  SCHEMA_APPLICATION_ID, SCHEMA_VERSION),
			 0);
	statements[0] = identity;
	statements[1] = schema_sql;
	statements[2] = rows_sql;
	statements[3] = "COMMIT";
	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		sqlite3_exec(sqlite, statements[i], NULL, NULL, &message);
		ck_assert_msg(!message, "%s", message);
	}
	sqlite3_close(sqlite);
}
