/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/why_fixture.h"

#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/verdict/verdict.h"

#include <check.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

/*
 * A host with four CPUs. nginx is what the rule is for; the others are what may take its resource. The capture is 6 s
 * long; it fired at 2026-11-25T00:50:33Z.
 */
#define FIRED_AT "1795567833000000000"

static const char host_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(1, 1, '0.1.0', 1, '6.12', 'web1', 4, 47);"
	"INSERT INTO rule(rule_id, run_id, rule, source, comm, watch, pattern_id, history_ns, capture_ns, cooldown_ns, triggers)"
	" VALUES(1, 1, 'web', '/etc/bourdon/rules.d/web.conf:1', 'nginx', 'cgroup', 1, 2000000000, 4000000000, 60000000000, '[]');"
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup, unit, container) VALUES"
	" (1, 1, 101, 1, 'nginx', '/usr/sbin/nginx', 33, '/system.slice/nginx.service', 'nginx.service', NULL),"
	" (2, 1, 102, 2, 'nginx', '/usr/sbin/nginx', 33, '/system.slice/nginx.service', 'nginx.service', NULL),"
	" (3, 1, 201, 3, 'backup', '/usr/bin/backup', 0, '/batch.slice/backup.service', 'backup.service', NULL),"
	" (4, 1, 301, 4, 'mysqld', '/usr/sbin/mysqld', 27, '/system.slice/mysql.service', 'mysql.service', NULL),"
	" (5, 1, 401, 5, 'stress', '/usr/bin/stress', 1000, '/user.slice/user-1000.slice/session-3.scope', 'session-3.scope', NULL),"
	" (6, 1, 402, 6, 'stress', '/usr/bin/stress', 1000, '/user.slice/user-1000.slice/session-3.scope', 'session-3.scope', NULL),"
	" (7, 1, 501, 7, 'php', '/usr/bin/php', 33, '/system.slice/nginx.service', 'nginx.service', NULL),"
	" (8, 1, 601, 8, 'worker', '/app/worker', 0, '/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', NULL,"
	"  '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'),"
	" (9, 1, 9, 9, 'kworker/0:1', NULL, 0, NULL, NULL, NULL),"
	" (10, 1, 10, 10, 'kworker/u8:2', NULL, 0, NULL, NULL, NULL),"
	" (11, 1, 701, 11, 'app', '/app/app', 0, '/kubepods/burstable/podabc/0123456789ab', NULL, '0123456789ab'),"
	/* names of somebody who wants a command of this report to do something else */
	" (12, 1, 801, 12, 'a;reboot\n', '/x', 1000, '/$(reboot)''; rm -rf ~ #`id`\\x0a/\\x1b[2J', NULL, NULL);"
	"INSERT INTO module(module_id, path, build_id, version, kind) VALUES(1, '[kernel]', 'ff', '', 'kernel'),"
	" (2, '/usr/sbin/nginx', 'aaaaaaaaaaaaaaaaaaaa', '', 'file'), (3, '/usr/bin/backup', 'bb', '', 'file');"
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES"
	" (1, 2, 1, 'main', 0, 0), (2, 2, 2, 'handle_request', 0, 0), (3, 2, 3, 'parse_header', 0, 0),"
	" (4, 1, 4, 'do_syscall_64', 0, 0), (5, 1, 5, 'ext4_file_read_iter', 0, 0), (6, 1, 6, 'folio_wait_bit_common', 0, 0),"
	" (7, 1, 7, 'io_schedule', 0, 0), (8, 1, 8, '__schedule', 0, 0), (9, 3, 9, 'main', 0, 0), (10, 3, 10, 'compress', 0, 0),"
	" (11, 1, 11, 'try_charge_memcg', 0, 0), (12, 2, 12, 'parse_header', 0, 0);"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root');"
	/* hashes of 16 bytes: 1 and 2 differ in where in parse_header they are; 3 waits for a disk, 4 for memory; 5 is the backup's */
	"INSERT INTO stack_node VALUES(1, NULL, '[1,2,3]', 1, 3, x'01010101010101010101010101010101'),"
	" (2, NULL, '[1,2,12]', 1, 3, x'02020202020202020202020202020202'),"
	" (3, NULL, '[1,2,4,5,6,7,8]', 1, 7, x'03030303030303030303030303030303'),"
	" (4, NULL, '[1,2,4,11]', 1, 4, x'04040404040404040404040404040404'),"
	" (5, NULL, '[9,10]', 1, 2, x'05050505050505050505050505050505');"
	"INSERT INTO sample_class(class, kind, stall, role) VALUES(1, 'on-cpu', 'none', 'target'), (2, 'off-cpu', 'cpu', 'target'),"
	" (3, 'off-cpu', 'io', 'target'), (4, 'off-cpu', 'memory', 'target'), (5, 'on-cpu', 'none', 'other'), (6, 'on-cpu', 'none', 'kernel');"
	"INSERT INTO thread VALUES(1, 1, 101, 'nginx'), (2, 2, 102, 'nginx'), (3, 3, 201, 'backup'), (5, 5, 401, 'stress'),"
	" (7, 7, 501, 'php'), (9, 9, 9, 'kworker/0:1'), (12, 12, 801, 'x'), (4, 4, 301, 'mysqld'), (8, 8, 601, 'worker');";

/* The targets' samples: they run in parse_header, and wait for everything. */
static const char samples_sql[] =
	"INSERT INTO sample_row VALUES(7, 1, 1, 1, -2, 20, 425000000, NULL), (7, 1, 2, 1, -1, 10, 212000000, NULL),"
	" (7, 2, 1, 1, 0, 8, 170000000, NULL), (7, 1, 1, 1, 1, 4, 85000000, NULL), (7, 1, 2, 2, -1, 6, 1300000000, NULL),"
	" (7, 1, 1, 2, 0, 9, 1900000000, NULL), (7, 1, 2, 2, 1, 9, 1700000000, NULL), (7, 3, 1, 3, 0, 7, 1500000000, NULL),"
	" (7, 3, 2, 3, 1, 3, 700000000, NULL), (7, 4, 1, 4, 0, 5, 900000000, NULL), (7, 4, 2, 4, 1, 5, 800000000, NULL);"
	"INSERT INTO loss VALUES(7, 'overwritten-slots', 0, 'sample'), (7, 'stack-not-whole', 0, 'stack');";

#define USAGE                                                                                                         \
	"INSERT INTO usage(capture_id, process_id, role, from_at, to_at, cpu_ns, stalled_cpu_ns, stalled_memory_ns, " \
	"stalled_io_ns, read_bytes, write_bytes, rss_bytes, rss_before_bytes) VALUES"
#define ROW(PROCESS, ROLE, CPU_MS, CPU_STALL_MS, MEMORY_STALL_MS, IO_STALL_MS, READ_MIB, WRITE_MIB, RSS_MIB, \
	    BEFORE_MIB)                                                                                      \
	"(7, " #PROCESS ", '" ROLE "', 1000000000, 7000000000, " #CPU_MS "000000, " #CPU_STALL_MS            \
	"000000, " #MEMORY_STALL_MS "000000, " #IO_STALL_MS "000000, " #READ_MIB " * 1048576, " #WRITE_MIB   \
	" * 1048576, " #RSS_MIB " * 1048576, " #BEFORE_MIB " * 1048576)"
#define TARGETS                                                                                              \
	ROW(1, "target", 600, 2000, 0, 0, 0, 0, 40, 40) ", " ROW(2, "target", 400, 2000, 0, 0, 0, 0, 40, 40)
/* Where the time of nginx's threads went, and who it waited for. */
#define TIME(ACCOUNT, MS)                                                                                    \
	"INSERT INTO account VALUES(7, 'nginx in nginx.service', '" ACCOUNT "', 2, " #MS "000000);"
#define BLAMED(WAIT, ROLE, PROGRAM, TGID, PROCESSES, MS, WHERE)                                              \
	"INSERT INTO blame VALUES(7, 'nginx in nginx.service', '" WAIT "', '" ROLE "', " PROGRAM ", " TGID   \
	", " PROCESSES ", " #MS "000000, " WHERE ", NULL);"
#define NGINX "'nginx', 'nginx.service', '/system.slice/nginx.service'"
#define BACKUP "'backup', 'backup.service', '/batch.slice/backup.service'"
#define MYSQLD "'mysqld', 'mysql.service', '/system.slice/mysql.service'"
#define NOBODY "NULL, NULL, NULL"
#define QUEUED TIME("queued", 4000) TIME("ran", 1000) TIME("sleep", 7000)
/* The largest neighbour has 3 of the 4 s of waiting. */
#define COMPETES(PROGRAM, TGID, PROCESSES)                                                                   \
	QUEUED BLAMED("queued", "own", NGINX, "NULL", "2", 200, "NULL")                                      \
		BLAMED("queued", "other", PROGRAM, TGID, PROCESSES, 3000, "NULL")

/* 108 small programs in 12 units, of which 62 have a row of blame. */
#define JOBS                                                                                                                      \
	"WITH job(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM job WHERE i < 108) INSERT INTO ended(capture_id, role, "            \
	"comm, cgroup, unit, denied, processes, cpu_ns, run_delay_ns, major_faults, read_bytes, write_bytes) "                    \
	"SELECT 7, 'other', 'job' || i, '/system.slice/jobs' || (i % 12) || '.service', 'jobs' || (i % 12) || '.service', 0, 1, " \
	"190000000, 240000000, 0, 0, 0 FROM job; INSERT INTO blame SELECT 7, 'nginx in nginx.service', 'queued', "                \
	"'other', comm, unit, cgroup, NULL, 1, 31000000, NULL, NULL FROM ended WHERE rowid <= 62;" BLAMED(                        \
		"queued", "other", NOBODY, "NULL", "46", 1488, "NULL")

/* nginx[101] is killed at the trigger, and no pressure has fired. */
#define KILLED(HOW, LIMIT)                                                                                   \
	"UPDATE capture SET trigger_mode = 'kill', stall_us = NULL, window_us = NULL, observed_us = NULL, "  \
	"onset_at = triggered_at;"                                                                           \
	"INSERT INTO killed SELECT 7, triggered_at, '" HOW                                                   \
	"', 'target', 'nginx', 101, '/system.slice/nginx.service', 'nginx.service', NULL, 65011712, 'php', " \
	"501, '/system.slice/nginx.service', 'nginx.service', " LIMIT ", 1 FROM capture;"

/* Processes of others are sampled in `compress`. */
#define OTHERS_RAN(THREAD, CLASS)                                                                            \
	"INSERT INTO sample_row VALUES(7, 5, " #THREAD ", " #CLASS ", 0, 120, NULL, NULL);"

/* Six files in which stacks end, of 86 samples and 94 more; one is that of the runtime of process 7. */
#define NOT_WHOLE                                                                                                         \
	"UPDATE process SET runtime = 'jvm' WHERE process_id = 7;"                                                        \
	"INSERT INTO module(module_id, path, build_id, version, kind) VALUES"                                             \
	" (20, '/opt/a/very/long/path/that/no/page/of/eighty/columns/has/room/for/lib/libcrypto.so.3', 'c', '', 'file')," \
	" (21, '[anonymous]', NULL, '', 'anonymous'), (22, '/lib/libplugin.so', 'd', '', 'file'),"                        \
	" (23, '/tmp/\x1b[31m\x0aevil', NULL, '', 'file'), (24, '[vdso]', NULL, '', 'vdso');"                             \
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES"                   \
	" (20, 20, 1, 'sha256', 0, 0), (21, 21, 1, '[anonymous]+0x1', NULL, 0), (22, 22, 1, 'run', 0, 0),"                \
	" (23, 23, 1, 'x', 0, 0), (24, 24, 1, 'y', 0, 0);"                                                                \
	"INSERT INTO stack_class VALUES(20, 0, 'eh-frame', 'no-rule'), (21, 0, 'frame-pointer', 'no-rule'),"              \
	" (22, 0, 'eh-frame', 'unmapped'), (23, 0, 'mixed', 'expression'), (24, 0, 'eh-frame', 'it is \x1b[2J'),"         \
	" (25, 1, 'eh-frame', 'depth');"                                                                                  \
	"INSERT INTO stack_node VALUES(20, NULL, '[20,3]', 20, 2, x'20'), (21, NULL, '[21]', 21, 1, x'21'),"              \
	" (22, NULL, '[22]', 22, 1, x'22'), (23, NULL, '[23]', 23, 1, x'23'), (24, NULL, '[24]', 24, 1, x'24'),"          \
	" (25, NULL, '[1,2]', 25, 2, x'25'), (26, 20, '[]', 22, 2, x'26'), (27, NULL, '[22,2]', 21, 2, x'27');"           \
	"INSERT INTO sample_row VALUES(7, 20, 1, 1, 0, 30, NULL, NULL), (7, 26, 1, 1, 0, 10, NULL, NULL),"                \
	" (7, 21, 7, 1, 0, 20, NULL, NULL), (7, 22, 1, 2, 0, 4, 1000, NULL), (7, 27, 1, 1, 0, 15, NULL, NULL),"           \
	" (7, 23, 1, 1, 0, 8, NULL, NULL), (7, 24, 1, 1, 0, 5, NULL, NULL), (7, 25, 1, 1, 0, 2, NULL, NULL);"

#define DOCKER "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define QUOTA_OF(CGROUP)                                                                                     \
	"INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"       \
	"(7, 1, 5, '" CGROUP "', 'cpu.stat', 'nr_throttled', 10, 60), (7, 1, 5, '" CGROUP                    \
	"', 'cpu.stat', 'nr_periods', 10, 61), (7, 1, 5, '" CGROUP                                           \
	"', 'cpu.max', 'quota_usec', 50000, 50000), (7, 1, 5, '" CGROUP                                      \
	"', 'cpu.max', 'period_usec', 100000, 100000);"
/* vda moved so many MiB in 100 requests, which took so long together. */
#define DISK(MIB, TOOK_MS)                                                                                             \
	"INSERT INTO statistic(capture_id, from_at, to_at, scope, source, device, name, before, after) VALUES"         \
	"(7, 0, 5000000000, 'system', 'diskstats', 'sda', 'busy_ms', 0, 10), (7, 0, 5000000000, 'system', "            \
	"'diskstats', 'vda', 'busy_ms', 0, 4500), (7, 0, 5000000000, 'system', 'diskstats', 'vda', 'reads', 0, 100), " \
	"(7, 0, 5000000000, 'system', 'diskstats', 'vda', 'read_bytes', 0, " #MIB                                      \
	" * 1048576), (7, 0, 5000000000, 'system', 'diskstats', 'vda', 'read_ms', 0, " #TOOK_MS ");"
#define RECLAIMED                                                                                            \
	TIME("memory", 1700) TIME("ran", 600) BLAMED("memory", "limit", NOBODY, "NULL", "NULL", 1700, "NULL")
#define SHORT                                                                                                \
	"INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"       \
	"(7, 1, 5, 'system', 'vmstat', 'allocstall_normal', 0, 4), (7, 1, 5, 'system', 'vmstat', 'pgscan_direct', 0, 256);"
/* Eight more threads of nginx, 101 to 108, which wait in parse_header, and 4 workers, 111 to 114. */
#define THREADS                                                                                                               \
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14) INSERT INTO thread SELECT 100 + i, 1, 1000 + i, " \
	"iif(i < 9, 'client', 'worker') FROM n WHERE i NOT IN (9, 10);"                                                       \
	"INSERT INTO sample_class(class, kind, stall, role) VALUES(7, 'off-cpu', 'none', 'target');"
#define WOKEN_AT_ONCE                                                                                                      \
	THREADS "INSERT INTO wake_row SELECT 7, thread_id, 1, 'none', NULL, 'target', 2, 1, 0, 99, 990000000 "             \
		"FROM thread WHERE thread = 'client'; WITH m(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM m WHERE j < 99) " \
		"INSERT INTO sample_row SELECT 7, 1, thread_id, 7, 0, 99, 990000000, "                                     \
		"group_concat((10 * j - 10) || ',' || (10 * j) || ',0', ' ') FROM thread, m WHERE thread = 'client' GROUP BY thread_id;"
#define NO_FREE_WORKER                                                                                                          \
	THREADS "INSERT INTO wake_row SELECT 7, thread_id, 1, 'none', NULL, 'target', 111 + thread_id % 4, 3, 0, 9, 990000000 " \
		"FROM thread WHERE thread = 'client'; INSERT INTO thread_state SELECT 7, 1, tid, thread, 'target', 'running', " \
		"NULL, NULL, NULL, NULL, 0, 1, 30 FROM thread WHERE thread = 'worker';"
#define LOOK "bourdon --db bourdon.db why 7 --section "

const struct why_case why_cases[] = {
	{ "throttled", "cpu", "some", "/system.slice/nginx.service", "complete", "quota",
	  USAGE TARGETS ";" TIME("throttled", 4000) TIME("ran", 1000)
		  BLAMED("throttled", "quota", "NULL, NULL, '/system.slice/nginx.service'", "NULL", "NULL",
			 4000, "'/system.slice/nginx.service'") QUOTA_OF("/system.slice/nginx.service"),
	  "nginx in nginx.service: 2 threads", "nginx.service",
	  "raise the quota of nginx.service from 0.50 to 0.90 CPUs",
	  "systemctl set-property --runtime nginx.service CPUQuota=90%" },
	{ "throttled in a container that is no unit", "cpu", "some", DOCKER, "complete", "quota",
	  USAGE ROW(8, "target", 600, 9000, 0, 0, 0, 0, 40,
		    40) ";"
			"INSERT INTO account VALUES(7, 'worker in " DOCKER
			"', 'throttled', 1, 9000000000), (7, 'worker in " DOCKER "', 'ran', 1, 600000000);"
			"INSERT INTO blame VALUES(7, 'worker in " DOCKER
			"', 'throttled', 'quota', NULL, NULL, '" DOCKER "', NULL, NULL, 9000000000, '" DOCKER
			"', NULL);" QUOTA_OF(DOCKER),
	  "worker in ", "", "raise the quota of ",
	  "docker update --cpus=1.60 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
	{ "throttled by a quota of cgroup v1", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "quota",
	  USAGE TARGETS ";" TIME("throttled", 4000) TIME("ran", 1000)
		  BLAMED("throttled", "quota", NOBODY, "NULL", "NULL", 4000, "'nginx'"),
	  "nginx in nginx.service", "nginx", "raise the CPU quota", LOOK "capture,machine,groups" },
	{ "a neighbour for a CPU, of another slice", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "neighbour",
	  USAGE TARGETS ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 40,
				 40) ", " ROW(4, "other", 900, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(3, 5)
		  COMPETES(BACKUP, "201", "1") BLAMED("queued", "other", MYSQLD, "301", "1", 800, "NULL"),
	  "nginx in nginx.service: 2 threads", "backup", "give batch.slice, where backup is, CPU weight 20",
	  "systemctl set-property --runtime batch.slice CPUWeight=20" },
	{ "a neighbour for a CPU, in the same slice", "cpu", "some", "/system.slice/nginx.service",
	  "complete", "neighbour",
	  USAGE TARGETS ", " ROW(4, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" COMPETES(MYSQLD, "301", "1"),
	  "nginx in nginx.service", "mysqld", "give mysql.service CPU weight 20",
	  "systemctl set-property --runtime mysql.service CPUWeight=20" },
	{ "a neighbour for a CPU, a user's session", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "neighbour",
	  USAGE TARGETS ", " ROW(5, "other", 8000, 0, 0, 0, 0, 0, 40,
				 40) ", " ROW(6, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(5, 5)
		  COMPETES("'stress', 'session-3.scope', '/user.slice/user-1000.slice/session-3.scope'",
			   "NULL", "2"),
	  "nginx in nginx.service", "stress", "give user.slice, where stress is, CPU weight 20",
	  "systemctl set-property --runtime user.slice CPUWeight=20" },
	{ "a neighbour for a CPU, in one unit", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "neighbour",
	  USAGE TARGETS ", " ROW(7, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" COMPETES(
		  "'php', 'nginx.service', '/system.slice/nginx.service'", "501", "1"),
	  "nginx in nginx.service", "php", "lower the priority of php[501]", "renice -n 10 -p 501" },
	{ "a neighbour for a CPU, a container that is no unit", "cpu", "some", "/system.slice/nginx.service",
	  "complete", "neighbour",
	  USAGE TARGETS ", " ROW(11, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" COMPETES(
		  "'app', NULL, '/kubepods/burstable/podabc/0123456789ab'", "701", "1"),
	  "nginx in nginx.service", "app", "give /kubepods, where app is, CPU weight 20",
	  "echo 20 > /sys/fs/cgroup/kubepods/cpu.weight" },
	{ "a neighbour for a CPU, kernel threads", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "neighbour",
	  USAGE TARGETS ", " ROW(9, "kernel", 6000, 0, 0, 0, 0, 0, 0,
				 0) ", " ROW(10, "kernel", 2000, 0, 0, 0, 0, 0, 0, 0) ";" OTHERS_RAN(9, 6)
		  QUEUED BLAMED("queued", "kernel", "'kworker', NULL, NULL", "NULL", "2", 3000, "NULL"),
	  "nginx in nginx.service", "kworker", "find out what the kernel thread kworker works for",
	  LOOK "others,groups,interrupts" },
	{ "a neighbour beside a victim in a user's slice", "cpu", "some",
	  "/user.slice/user-1000.slice/session-3.scope", "complete", "neighbour",
	  USAGE ROW(5, "target", 600, 2000, 0, 0, 0, 0, 40, 40) ", " ROW(
		  4, "other", 9000, 0, 0, 0, 0, 0, 40,
		  40) ";"
		      "INSERT INTO account VALUES(7, 'stress in session-3.scope', 'queued', 1, 4000000000),"
		      " (7, 'stress in session-3.scope', 'ran', 1, 600000000);"
		      "INSERT INTO blame VALUES(7, 'stress in session-3.scope', 'queued', 'other', " MYSQLD
		      ", 301, 1, 3800000000, NULL, NULL);",
	  /* system.slice holds bourdond: it gets no lower weight */
	  "stress in session-3.scope: 1 thread", "mysqld", "limit mysql.service to 0.75 CPUs",
	  "systemctl set-property --runtime mysql.service CPUQuota=75%" },
	{ "a neighbour that is init", "cpu", "some", "/system.slice/nginx.service", "complete", "neighbour",
	  USAGE TARGETS ";" COMPETES("'systemd', 'init.scope', '/init.scope'", "1", "1"),
	  "nginx in nginx.service", "systemd", "see what the first process of the host works for",
	  LOOK "others,groups" },
	{ "bourdon itself", "cpu", "some", "/system.slice/nginx.service", "complete", "neighbour",
	  USAGE TARGETS ";" QUEUED BLAMED("queued", "recorder",
					  "'bourdond', 'bourdond.service', '/system.slice/bourdond.service'",
					  "77", "1", 3000, "NULL"),
	  "nginx in nginx.service", "bourdon itself", "bourdon itself: have it record less",
	  LOOK "machine,groups,others" },
	{ "several neighbours", "cpu", "some", "/system.slice/nginx.service", "complete", "neighbours",
	  USAGE TARGETS ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 40,
				 40) ", " ROW(4, "other", 7900, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(3, 5)
		  QUEUED BLAMED("queued", "own", NGINX, "NULL", "2", 200,
				"NULL") BLAMED("queued", "other", BACKUP, "201", "1", 1500, "NULL")
			  BLAMED("queued", "other", MYSQLD, "301", "1", 1400, "NULL")
				  BLAMED("queued", "other", "'php', NULL, NULL", "501", "1", 800, "NULL"),
	  "nginx in nginx.service", "backup", "give batch.slice, where backup is, CPU weight 20",
	  "systemctl set-property --runtime batch.slice CPUWeight=20" },
	{ "a crowd", "cpu", "some", "/system.slice/nginx.service", "complete", "crowd",
	  USAGE TARGETS ", " ROW(3, "other", 1280, 0, 0, 0, 0, 0, 40, 40) ", " ROW(
		  4, "other", 1200, 0, 0, 0, 0, 0, 40, 40) ";" QUEUED BLAMED("queued", "own", NGINX, "NULL",
									     "2", 200, "NULL")
		  BLAMED("queued", "other", BACKUP, "201", "1", 200, "NULL")
			  BLAMED("queued", "other", MYSQLD, "301", "1", 190, "NULL") JOBS,
	  "nginx in nginx.service", "", "run fewer programs at once", LOOK "groups,machine,others" },
	{ "waiting for those whom root's policy denies", "cpu", "some", "/system.slice/nginx.service",
	  "complete", "undetermined",
	  USAGE TARGETS ", " ROW(3, "other", 5000, 0, 0, 0, 0, 0, 40, 40) ";" QUEUED BLAMED(
		  "queued", "unknown", NOBODY, "NULL", "NULL", 4000, "'denied'"),
	  "nginx in nginx.service", "", "not known: see what waited",
	  LOOK "waiting,pressure,stalls,states,groups" },
	{ "its own threads", "cpu", "some", NULL, "complete", "own threads",
	  USAGE ROW(1, "target", 10000, 10000, 0, 0, 0, 0, 40, 40) ", " ROW(
		  2, "target", 10000, 10000, 0, 0, 0, 0, 40, 40) ", " ROW(3, "other", 100, 0, 0, 0, 0, 0, 40,
									  40) ";" TIME("queued", 20000)
		  TIME("ran", 20000) BLAMED("queued", "own", NGINX, "NULL", "2", 18000, "NULL")
			  BLAMED("queued", "other", BACKUP, "201", "1", 1000, "NULL"),
	  "nginx in nginx.service", "nginx", "run fewer threads", LOOK "stacks,functions,states,locks" },
	{ "a storm", "cpu", "some", NULL, "complete", "storm",
	  USAGE TARGETS ";" TIME("queued", 4000) TIME("ran", 100)
		  BLAMED("queued", "own", NGINX, "NULL", "2", 3000, "NULL")
			  BLAMED("queued", "other", BACKUP, "201", "1", 900, "NULL") WOKEN_AT_ONCE,
	  "nginx in nginx.service", "nginx[102] in nginx.service wakes 8 of 8 threads at once",
	  "wake one thread for each task", LOOK "wakers,states,stacks,latency" },
	{ "a convoy", "cpu", "some", NULL, "complete", "convoy",
	  USAGE TARGETS ";" QUEUED TIME("lock", 20000) BLAMED(
		  "lock", "own", NGINX, "NULL", "2", 19000,
		  "'give_back'") "UPDATE blame SET then_account = 'queued';"
				 "INSERT INTO histogram_label VALUES(1, 'lock', 'futex 0123456789abcdef take_lock nginx.service');"
				 "INSERT INTO histogram_row VALUES(7, 1, 'during', 100, 90000, 20000000000);",
	  "nginx in nginx.service", "hands a lock on 15000 times a second in take_lock",
	  "take the lock more rarely", LOOK "locks,latency,stalls,states" },
	{ "a lock", "cpu", "some", "/system.slice/nginx.service", "complete", "lock",
	  USAGE TARGETS ";" QUEUED TIME("lock", 9000)
		  BLAMED("queued", "other", BACKUP, "201", "1", 4000, "NULL")
			  BLAMED("lock", "own", NGINX, "NULL", "2", 8800, "'give_back'"),
	  "nginx in nginx.service", "", "hold the lock shorter", LOOK "locks,wakers,stalls,states" },
	{ "a neighbour for a disk", "io", "some", "/system.slice/nginx.service", "complete", "neighbour",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 10, 0, 40,
		    40) ", " ROW(2, "target", 400, 0, 0, 1000, 0, 0, 40,
				 40) ", " ROW(3, "other", 900, 0, 0, 0, 900, 90, 40, 40) ";" OTHERS_RAN(3, 5)
		  TIME("io", 3000) TIME("ran", 1000) BLAMED("io", "other", BACKUP, "201", "1", 2900, "NULL")
			  BLAMED("io", "own", NGINX, "NULL", "2", 100, "NULL") DISK(990, 3000),
	  "nginx in nginx.service", "backup", "limit backup.service to read 30 MiB a second on vda",
	  "systemctl set-property --runtime backup.service IOReadBandwidthMax='/dev/vda 30M'" },
	{ "its own I/O", "io", "full", "/system.slice/nginx.service", "complete", "own I/O",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 2000, 0, 40,
		    40) ", " ROW(2, "target", 400, 0, 0, 1000, 48, 0, 40,
				 40) ", " ROW(3, "other", 900, 0, 0, 0, 30, 0, 40, 40) ";" TIME("io", 3000)
		  TIME("ran", 1000) BLAMED("io", "own", NGINX, "NULL", "2", 2950, "NULL")
			  BLAMED("io", "other", BACKUP, "201", "1", 50, "NULL") DISK(2078, 3000),
	  "nginx in nginx.service", "nginx", "read and write less", LOOK "stalls,bytes,cgroup_bytes,states" },
	{ "a slow device", "io", "some", "/system.slice/nginx.service", "complete", "device",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 1, 0, 40, 40) ";" TIME("io", 3000) TIME("ran", 600)
		  BLAMED("io", "own", NGINX, "NULL", "2", 3000, "NULL") DISK(1, 4500),
	  "nginx in nginx.service", "vda", "give the disk less to do",
	  LOOK "bytes,groups,cgroup_bytes,stalls" },
	{ "at a memory limit", "memory", "some", "/system.slice/nginx.service", "complete", "limit",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 60, 60) ", " ROW(
		  2, "target", 400, 0, 700, 0, 0, 0, 3,
		  3) ";" RECLAIMED
		     "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"
		     "(7, 1, 5, '/system.slice/nginx.service', 'memory.events', 'max', 7, 49), (7, 1, 5, '/system.slice/nginx.service', 'memory.events.local', 'max', 7, 49),"
		     "(7, 1, 5, '/system.slice/nginx.service', 'memory.max', 'bytes', 67108864, 67108864),"
		     "(7, 1, 5, '/system.slice/nginx.service', 'memory.stat', 'workingset_refault_anon', 0, 2048), (7, 1, 5, '/system.slice/nginx.service', 'memory.stat', 'workingset_refault_file', 0, 4096);",
	  "nginx in nginx.service", "nginx.service",
	  "raise memory.max of nginx.service from 64 MiB to 128 MiB",
	  "systemctl set-property --runtime nginx.service MemoryMax=128M" },
	{ "at the memory limit of a slice above", "memory", "some", "/system.slice/nginx.service", "complete",
	  "limit",
	  USAGE ROW(
		  1, "target", 600, 0, 1000, 0, 0, 0, 60,
		  60) ";" RECLAIMED
		      "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"
		      "(7, 1, 5, '/system.slice', 'memory.events.local', 'high', 7, 49), (7, 1, 5, '/system.slice', 'memory.high', 'bytes', 536870912, 536870912);",
	  "nginx in nginx.service", "system.slice", "raise memory.high of system.slice from 512 MiB to 1 GiB",
	  "systemctl set-property --runtime system.slice MemoryHigh=1024M" },
	{ "at a memory limit of cgroup v1", "memory", "some", "/system.slice/nginx.service", "complete",
	  "limit", USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 60, 60) ";" RECLAIMED,
	  "nginx in nginx.service", "", "raise the limit of nginx.service, or of a slice above",
	  "systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice nginx.service" },
	{ "memory shortage, a neighbour grew", "memory", "some", NULL, "complete", "neighbour",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 900,
		    898) ", " ROW(4, "other", 600, 0, 0, 0, 0, 0, 400, 100) ";" SHORT TIME("memory", 1700)
		  TIME("ran", 600) BLAMED("memory", "other", MYSQLD, "301", "1", 1680, "NULL")
			  BLAMED("memory", "own", NGINX, "NULL", "2", 20, "NULL"),
	  "nginx in nginx.service", "mysqld", "limit the memory of mysql.service to 200 MiB",
	  "systemctl set-property --runtime mysql.service MemoryHigh=200M" },
	{ "memory shortage, and nobody grew", "memory", "some", NULL, "complete", "memory shortage",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 90, 90) ", " ROW(
		  4, "other", 600, 0, 0, 0, 0, 0, 400, 400) ";" SHORT TIME("memory", 1700) TIME("ran", 600)
		  BLAMED("memory", "unknown", NOBODY, "NULL", "NULL", 1700, "'not recorded'"),
	  "nginx in nginx.service", "", "free memory or add some", LOOK "growth,groups,cgroups,reclaim" },
	{ "interrupts of the network", "irq", "full", NULL, "complete", "interrupts",
	  USAGE TARGETS ";" QUEUED BLAMED(
		  "queued", "irq", NOBODY, "NULL", "NULL", 3000,
		  "NULL") "INSERT INTO machine_time VALUES(7, 'softirq', 1, 6000000001, 6200000000, 25.8), (7, 'targets', 1, 6000000001, 17800000000, 74.2);"
			  "INSERT INTO interrupt VALUES(7, 'softirq', 3, 'NET_RX', 1, 6, 4000000, 6200000000, 25.8), (7, 'irq', 36, 'eth0-rx', 1, 6, 9000, 600000000, 2.5);",
	  "nginx in nginx.service", "NET_RX", "spread the network's queues over more CPUs",
	  LOOK "interrupts,machine,others" },
	{ "the hypervisor took it", "cpu", "some", NULL, "complete", "steal",
	  USAGE TARGETS ";" QUEUED BLAMED(
		  "queued", "steal", NOBODY, "NULL", "NULL", 3800,
		  "NULL") "INSERT INTO machine_time VALUES(7, 'steal', 1, 6000000001, 12000000000, 50.0), (7, 'targets', 1, 6000000001, 12000000000, 50.0);",
	  "nginx in nginx.service", "", "ask whoever runs the host", LOOK "machine,pressure,seconds" },
	{ "killed at its limit", NULL, NULL, "/system.slice/nginx.service", "complete", "kill",
	  USAGE ROW(1, "target", 600, 0, 0, 0, 0, 0, 62,
		    10) ", " ROW(2, "target", 400, 0, 0, 0, 0, 0, 40,
				 40) ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 900, 100) ";" TIME("ran", 1000)
		  KILLED("oom", "'/system.slice/nginx.service', 67108864"),
	  "nginx in nginx.service", "", "raise memory.max of nginx.service from 64 MiB to 128 MiB",
	  "systemctl set-property --runtime nginx.service MemoryMax=128M" },
	{ "killed at a limit of cgroup v1", NULL, NULL, "/system.slice/nginx.service", "complete", "kill",
	  USAGE ROW(2, "target", 400, 0, 0, 0, 0, 0, 40, 40) ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 900,
								      100) ";" TIME("ran", 400)
		  KILLED("oom", "'nginx.service', 67108864"),
	  "nginx in nginx.service", "", "raise the limit of nginx.service, or of a slice above: see which",
	  "systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice nginx.service" },
	{ "killed by systemd-oomd", NULL, NULL, NULL, "complete", "kill",
	  USAGE TARGETS ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 900, 100) ";" OTHERS_RAN(3, 5)
		  TIME("ran", 1000) KILLED("oomd", "NULL, NULL"),
	  "nginx in nginx.service", "backup", "limit the memory of backup.service to 450 MiB",
	  "systemctl set-property --runtime backup.service MemoryHigh=450M" },
	{ "negligible", "cpu", "some", "/system.slice/nginx.service", "complete", "negligible",
	  USAGE ROW(1, "target", 9000, 200, 0, 0, 0, 0, 40, 40) ";" TIME("ran", 9000) TIME("queued", 200)
		  BLAMED("queued", "other", BACKUP, "201", "1", 200,
			 "NULL") "UPDATE capture SET observed_us = 60000;",
	  "nginx in nginx.service", "", "nothing; or raise cpu.some of rule web, which is 100 ms",
	  LOOK "pressure,waiting,capture" },
	{ "asked for, and no worker was free", NULL, NULL, NULL, "complete", "pool",
	  USAGE TARGETS
	  "; UPDATE capture SET rule = NULL, rule_id = NULL, asked_by = 'root', asked_by_uid = 0, "
	  "asked_for = '--pid 101 --for 4s', trigger_mode = 'manual';" TIME("ran", 1000) TIME("peer", 30000)
		  BLAMED("peer", "own", NGINX, "NULL", "2", 29000, "NULL") NO_FREE_WORKER,
	  "nginx in nginx.service", "8 threads wait for 4 threads of worker, busy 100 %", "have more workers",
	  LOOK "states,wakers,stalls,stacks" },
	{ "asked for, and waited for a peer", NULL, NULL, NULL, "complete", "peer",
	  USAGE TARGETS
	  "; UPDATE capture SET rule = NULL, rule_id = NULL, asked_by = 'root', asked_by_uid = 0, "
	  "asked_for = '--pid 101 --for 4s', trigger_mode = 'manual';" TIME("ran", 1000) TIME("peer", 3000)
		  BLAMED("peer", "other", MYSQLD, "301", "1", 2900, "NULL"),
	  "nginx in nginx.service", "mysqld", "see what the other process did",
	  LOOK "wakers,states,stalls,others" },
	{ "asked for, and waited for the network", NULL, NULL, NULL, "complete", "network",
	  USAGE TARGETS
	  "; UPDATE capture SET rule = NULL, rule_id = NULL, asked_by = 'root', asked_by_uid = 0, "
	  "asked_for = '--pid 101 --for 4s', trigger_mode = 'manual';" TIME("ran", 1000) TIME("network", 3000)
		  BLAMED("network", "unknown", NOBODY, "NULL", "NULL", 2900, "NULL"),
	  "nginx in nginx.service", "", "look at the other host", LOOK "stalls,states,wakers" },
	{ "no accounts", "io", "some", "/system.slice/nginx.service", "complete", "undetermined",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 1, 0, 40, 40) ";",
	  "not known: this capture has no accounts", "", "not known: see what waited",
	  LOOK "waiting,pressure,stalls,states,groups" },
	{ "recording", "cpu", "some", "/system.slice/nginx.service", "recording", NULL, "", "not known yet",
	  "not known", "none: see what was recorded", LOOK "capture,stacks,functions,stalls,others" },
	{ "hostile names", "cpu", "some", "/system.slice/nginx.service", "complete", "neighbour",
	  USAGE TARGETS ", " ROW(12, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(12, 5)
		  COMPETES("'a;reboot\n', NULL, '/$(reboot)''; rm -rf ~ #`id`\\x0a/\\x1b[2J'", "801", "1"),
	  "nginx in nginx.service", "a;reboot\\x0a", "CPU weight 20",
	  "echo 20 > $'/sys/fs/cgroup/$(reboot)\\047; rm -rf ~ #`id`\\012/cpu.weight'" },
	{ "stacks that are not whole", "cpu", "some", NULL, "complete", "own threads",
	  USAGE ROW(1, "target", 10000, 10000, 0, 0, 0, 0, 40, 40) ";" TIME("queued", 20000)
		  TIME("ran", 20000) BLAMED("queued", "own", NGINX, "NULL", "2", 18000, "NULL") NOT_WHOLE,
	  "nginx in nginx.service", "nginx", "run fewer threads", LOOK "stacks,functions,states,locks" },
};
const size_t why_cases_count = ARRAY_SIZE(why_cases);

void why_sql(const char *path, const char *sql)
{
	char *message = NULL;
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	sqlite3_exec(sqlite, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s\n%s", message, sql);
	sqlite3_close(sqlite);
}

void why_case_put(const char *path, const struct why_case *one)
{
	bool is_complete = !strcmp(one->state, "complete"),
	     is_negligible = one->verdict && !strcmp(one->verdict, "negligible");
	char *sql = sqlite3_mprintf(
		"PRAGMA application_id = %d; PRAGMA user_version = %d; PRAGMA synchronous = OFF; BEGIN; %s %s"
		"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, "
		"triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns, verdict, verdict_version, onset_at, "
		"sample_count, stack_count, interval_count, process_count) VALUES(7, 1, 1, 'web', %Q, %Q, 100000, 2000000, 'kernel', %Q, " FIRED_AT
		", " FIRED_AT " - 2000000000, iif(%d, " FIRED_AT
		" + 4000000000, NULL), 2000000000, %Q, 1850000, 47, 2000000000, %Q, "
		"%d, " FIRED_AT " - 3200000000, 86, 4, 44, 2); %s %s"
		"INSERT INTO pressure SELECT 7, " FIRED_AT
		" + column1 * 250000000, ifnull((SELECT cgroup FROM capture), 'system'), "
		"ifnull((SELECT resource FROM capture), 'cpu'), column1 * %d, column1 * %d FROM (VALUES(0), (4), (8), (12), (16)); COMMIT",
		SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql, host_sql, one->resource, one->kind,
		one->cgroup, is_complete, one->state, one->verdict, VERDICT_VERSION,
		is_complete ? samples_sql : "", one->sql, is_negligible ? 5000 : 200000,
		is_negligible ? 2500 : 100000);

	why_sql(path, sql);
	sqlite3_free(sql);
}
