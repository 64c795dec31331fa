/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/why_fixture.h"

#include "common/cleanup.h"
#include "common/schema.h"

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
#define WAITED_CPU                                                                                           \
	" while nginx ×2 in nginx.service ran 1.00 s and waited 4.00 s for a CPU (80 % of their time), within 6.00 s"

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

const struct why_case why_cases[] = {
	{ "throttled", "cpu", "some", "/system.slice/nginx.service", "complete", "throttled by its own quota",
	  "/system.slice/nginx.service was throttled for 4.00 s, summed over its CPUs, in 50 of 51 periods, by its cpu.max of 0.50 CPUs, within 5.00 s",
	  USAGE TARGETS
	  ";"
	  "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"
	  "(7, 1, 5, '/system.slice/nginx.service', 'cpu.stat', 'throttled_usec', 1000, 4001000),"
	  "(7, 1, 5, '/system.slice/nginx.service', 'cpu.stat', 'nr_throttled', 10, 60), (7, 1, 5, '/system.slice', 'cpu.stat', 'throttled_usec', 5, 6),"
	  "(7, 1, 5, '/system.slice/nginx.service', 'cpu.stat', 'nr_periods', 10, 61),"
	  "(7, 1, 5, '/system.slice/nginx.service', 'cpu.max', 'quota_usec', 50000, 50000),"
	  "(7, 1, 5, '/system.slice/nginx.service', 'cpu.max', 'period_usec', 100000, 100000);",
	  "nginx ×2 in nginx.service: waited 4 s for a CPU", "the quota of nginx.service, 0.50 CPUs",
	  "raise the quota of nginx.service from 0.50 to 0.90 CPUs",
	  "systemctl set-property --runtime nginx.service CPUQuota=90%" },
	{ "throttled in a container that is no unit", "cpu", "some",
	  "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "complete",
	  "throttled by its own quota",
	  "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef was throttled for 4.00 s, summed over its CPUs, in 50 of 51 periods, by its cpu.max of 0.50 CPUs, within 5.00 s",
	  USAGE ROW(
		  8, "target", 600, 9000, 0, 0, 0, 0, 40,
		  40) ";"
		      "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) SELECT 7, 1, 5, cgroup, source, name, b, a FROM capture,"
		      "(SELECT 'cpu.stat' AS source, 'throttled_usec' AS name, 1000 AS b, 4001000 AS a UNION ALL SELECT 'cpu.stat', 'nr_throttled', 10, 60"
		      " UNION ALL SELECT 'cpu.stat', 'nr_periods', 10, 61 UNION ALL SELECT 'cpu.max', 'quota_usec', 50000, 50000"
		      " UNION ALL SELECT 'cpu.max', 'period_usec', 100000, 100000) WHERE capture_id = 7;",
	  "worker[601] in ", "the quota of ", "raise the quota of ",
	  "docker update --cpus=1.60 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
	{ "competing for a CPU, from another slice", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "competing processes",
	  "backup[201] in backup.service took 8.00 s of CPU time, 33 % of the machine's, mostly in compress (99 % of its samples)," WAITED_CPU
	  "; the stall is older than the 2 s of history",
	  USAGE TARGETS ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 40,
				 40) ", " ROW(4, "other", 900, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(3, 5),
	  "nginx ×2 in nginx.service: waited 4 s for a CPU",
	  "backup[201] in backup.service: 8 s of CPU time, 33 % of all",
	  "give batch.slice, where backup is, CPU weight 20",
	  "systemctl set-property --runtime batch.slice CPUWeight=20" },
	{ "competing for a CPU, in the same slice", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "competing processes",
	  "mysqld[301] in mysql.service took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(4, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ", " ROW(3, "other", 7900, 0, 0, 0,
										   0, 0, 40, 40) ";",
	  "nginx ×2 in nginx.service: waited 4 s for a CPU", "mysqld[301] in mysql.service: 8 s of CPU time",
	  "give mysql.service CPU weight 20", "systemctl set-property --runtime mysql.service CPUWeight=20" },
	{ "competing for a CPU, a user's session", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "competing processes",
	  "stress ×2 in session-3.scope took 16.00 s of CPU time, 67 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(5, "other", 8000, 0, 0, 0, 0, 0, 40,
				 40) ", " ROW(6, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(5, 5),
	  "nginx ×2 in nginx.service", "stress ×2 in session-3.scope: 16 s of CPU time, 67 % of all",
	  "give user.slice, where stress is, CPU weight 20",
	  "systemctl set-property --runtime user.slice CPUWeight=20" },
	{ "competing for a CPU, in one unit", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "competing processes",
	  "php[501] in nginx.service took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(7, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";", "nginx ×2 in nginx.service",
	  "php[501] in nginx.service: 8 s", "lower the priority of php[501]", "renice -n 10 -p 501" },
	{ "competing for a CPU, a container that is no unit", "cpu", "some", "/system.slice/nginx.service",
	  "complete", "competing processes",
	  "app[701] in /kubepods/burstable/podabc/0123456789ab took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(11, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";", "nginx ×2 in nginx.service",
	  "app[701] in ", "give /kubepods, where app is, CPU weight 20",
	  "echo 20 > /sys/fs/cgroup/kubepods/cpu.weight" },
	{ "competing for a CPU, kernel threads", "cpu", "some", "/system.slice/nginx.service", "complete",
	  "competing processes",
	  "kernel threads kworker ×2 took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(9, "kernel", 6000, 0, 0, 0, 0, 0, 0,
				 0) ", " ROW(10, "kernel", 2000, 0, 0, 0, 0, 0, 0, 0) ";" OTHERS_RAN(9, 6),
	  "nginx ×2 in nginx.service", "kernel threads kworker ×2: 8 s of CPU time",
	  "find out what the kernel thread kworker works for",
	  "bourdon --db bourdon.db why 7 --section others,groups,interrupts" },
	{ "competing for a CPU, denied by root's policy", "cpu", "some", "/system.slice/nginx.service",
	  "complete", "competing processes",
	  "processes that root's policy denies took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(3, "other", 5000, 0, 0, 0, 0, 0, 40, 40) ";", "nginx ×2 in nginx.service",
	  "processes that root's policy denies", "find out who they are",
	  "bourdon --db bourdon.db why 7 --section machine,groups,others" },
	{ "competing for a CPU, perhaps a quota of cgroup v1", "cpu", "some", "/system.slice/nginx.service",
	  "complete", "competing processes",
	  "backup[201] in backup.service took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU
	  "; the CPU controller is not that of cgroup v2: a quota of cgroup v1 would not be seen",
	  USAGE TARGETS ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";", "nginx ×2 in nginx.service",
	  "backup[201] in backup.service", "give batch.slice, where backup is",
	  "systemctl set-property --runtime batch.slice CPUWeight=20" },
	{ "its own threads", "cpu", "some", NULL, "complete", "its own threads",
	  "nginx ×2 in nginx.service took 20.00 s of CPU time, 83 % of the machine's, and waited 20.00 s (50 % of the targets' time), mostly for each other: all other processes ran 0.10 s, within 6.00 s; the stall began 3 s before the trigger",
	  USAGE ROW(1, "target", 10000, 10000, 0, 0, 0, 0, 40,
		    40) ", " ROW(2, "target", 10000, 10000, 0, 0, 0, 0, 40,
				 40) ", " ROW(3, "other", 100, 0, 0, 0, 0, 0, 40, 40) ";",
	  "nginx ×2 in nginx.service: waited 20 s for a CPU, ran 20 s",
	  "itself: nginx ×2 in nginx.service: 20 s of CPU time", "run fewer threads",
	  "bourdon --db bourdon.db why 7 --section stacks,functions,states,locks" },
	{ "competing for a disk", "io", "some", "/system.slice/nginx.service", "complete",
	  "competing processes",
	  "backup[201] in backup.service read 900.0 MiB and wrote 90.0 MiB, 99 % of what all processes did; nginx ×2 in nginx.service moved 10.0 MiB and waited 3.00 s for it, within 6.00 s",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 10, 0, 40,
		    40) ", " ROW(2, "target", 400, 0, 0, 1000, 0, 0, 40,
				 40) ", " ROW(3, "other", 900, 0, 0, 0, 900, 90, 40, 40) ";" OTHERS_RAN(3, 5),
	  "nginx ×2 in nginx.service: waited 3 s for a disk",
	  "backup[201] in backup.service: read 900 MiB, wrote 90 MiB",
	  "give batch.slice, where backup is, disk weight 20",
	  "systemctl set-property --runtime batch.slice IOWeight=20" },
	{ "its own I/O", "io", "full", "/system.slice/nginx.service", "complete", "its own I/O",
	  "nginx ×2 in nginx.service read 2048.0 MiB and wrote 0.0 MiB, all other processes 30.0 MiB, and waited 3.00 s for it, within 6.00 s",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 2000, 0, 40,
		    40) ", " ROW(2, "target", 400, 0, 0, 1000, 48, 0, 40, 40) ", " ROW(3, "other", 900, 0, 0,
										       0, 30, 0, 40, 40) ";",
	  "nginx ×2 in nginx.service: waited 3 s for a disk", "itself: nginx ×2 in nginx.service: read 2 GiB",
	  "read and write less", "bourdon --db bourdon.db why 7 --section stalls,bytes,cgroup_bytes,states" },
	{ "slow or busy device", "io", "some", "/system.slice/nginx.service", "complete",
	  "slow or busy device", "vda was busy for 90 % of 5.00 s, with 1000 requests of 4.50 ms each",
	  USAGE ROW(
		  1, "target", 600, 0, 0, 2000, 1, 0, 40,
		  40) ";"
		      "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, device, name, before, after) VALUES"
		      "(7, 0, 5000000000, 'system', 'diskstats', 'sda', 'busy_ms', 0, 100), (7, 0, 5000000000, 'system', 'diskstats', 'vda', 'busy_ms', 100, 4600),"
		      "(7, 0, 5000000000, 'system', 'diskstats', 'vda', 'reads', 0, 100), (7, 0, 5000000000, 'system', 'diskstats', 'vda', 'writes', 0, 900),"
		      "(7, 0, 5000000000, 'system', 'diskstats', 'vda', 'read_ms', 0, 500), (7, 0, 5000000000, 'system', 'diskstats', 'vda', 'write_ms', 0, 4000);",
	  "nginx[101] in nginx.service: waited 2 s for a disk",
	  "the disk vda: busy 90 % of the time, 4.5 ms a request", "give the disk less to do",
	  "bourdon --db bourdon.db why 7 --section bytes,groups,cgroup_bytes,stalls" },
	{ "reclaim at its own limit", "memory", "some", "/system.slice/nginx.service", "complete",
	  "reclaim at its own limit",
	  "/system.slice/nginx.service reached its memory.max of 64.0 MiB 42 times, and read 24.0 MiB again that had been evicted, within 5.00 s",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 60, 60) ", " ROW(
		  2, "target", 400, 0, 700, 0, 0, 0, 3,
		  3) ";"
		     "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"
		     "(7, 1, 5, '/system.slice/nginx.service', 'memory.events', 'max', 7, 49), (7, 1, 5, '/system.slice/nginx.service', 'memory.events.local', 'max', 7, 49),"
		     "(7, 1, 5, '/system.slice/nginx.service', 'memory.events', 'high', 7, 9999), (7, 1, 5, '/system.slice/nginx.service', 'memory.max', 'bytes', 67108864, 67108864),"
		     "(7, 1, 5, '/system.slice/nginx.service', 'memory.stat', 'workingset_refault_anon', 0, 2048), (7, 1, 5, '/system.slice/nginx.service', 'memory.stat', 'workingset_refault_file', 0, 4096);",
	  "nginx ×2 in nginx.service: waited 1.7 s for memory",
	  "memory.max of nginx.service, 64 MiB, met 42 times",
	  "raise memory.max of nginx.service from 64 MiB to 88 MiB",
	  "systemctl set-property --runtime nginx.service MemoryMax=88M" },
	{ "reclaim at the limit of a slice above", "memory", "some", "/system.slice/nginx.service",
	  "complete", "reclaim at its own limit",
	  "/system.slice reached its memory.high of 512.0 MiB 42 times, and read 0.0 MiB again that had been evicted, within 5.00 s",
	  USAGE ROW(
		  1, "target", 600, 0, 1000, 0, 0, 0, 60,
		  60) ";"
		      "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"
		      "(7, 1, 5, '/system.slice', 'memory.events.local', 'high', 7, 49), (7, 1, 5, '/system.slice', 'memory.high', 'bytes', 536870912, 536870912);",
	  "nginx[101] in nginx.service: waited 1 s for memory",
	  "memory.high of system.slice, 512 MiB, met 42 times",
	  "raise memory.high of system.slice from 512 MiB to 640 MiB",
	  "systemctl set-property --runtime system.slice MemoryHigh=640M" },
	{ "reclaim at a limit of cgroup v1", "memory", "some", "/system.slice/nginx.service", "complete",
	  "reclaim at its own limit",
	  "the targets were in reclaim for 1.00 s within 6.00 s, without any reclaim for the whole host: a cgroup reached its memory limit, but no memory.events say which",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 60, 60) ";",
	  "nginx[101] in nginx.service: waited 1 s for memory", "a memory limit, of its cgroup or one above",
	  "raise the limit of nginx.service, or of a slice above",
	  "systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice nginx.service" },
	{ "reclaim at a limit, of the cgroup that was scanned", "memory", "some", NULL, "complete",
	  "reclaim at its own limit",
	  "the targets were in reclaim for 1.00 s within 6.00 s, without any reclaim for the whole host; of cgroups /system.slice/mysql.service was scanned most, 5.0 MiB: it or one above it reached its memory limit",
	  USAGE ROW(
		  1, "target", 600, 0, 1000, 0, 0, 0, 60,
		  60) ";"
		      "INSERT INTO cgroup_memory(capture_id, cgroup, from_at, to_at, scanned_bytes) VALUES(7, '/', 1, 2, 9000000), (7, '/system.slice/mysql.service', 1, 2, 5242880), (7, '/x', 1, 2, 4096);",
	  "nginx[101] in nginx.service: waited 1 s for memory",
	  "the memory limit of mysql.service, or of a cgroup above it",
	  "raise the limit of mysql.service, or of a slice above",
	  "systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice mysql.service" },
	{ "global memory shortage, by who grew", "memory", "some", NULL, "complete", "global memory shortage",
	  "4 allocations on the host waited for reclaim, which scanned 1.0 MiB (kswapd: 0.0 MiB); 2.0 MiB were read again that had been evicted, within 5.00 s; mysqld[301] in mysql.service grew most, by 300.0 MiB to 400.0 MiB, within 6.00 s",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 900, 898) ", " ROW(4, "other", 600, 0, 0, 0, 0, 0,
									   400, 100) ";",
	  "nginx[101] in nginx.service: waited 1 s for memory",
	  "mysqld[301] in mysql.service: grew by 300 MiB to 400 MiB",
	  "limit the memory of mysql.service to 200 MiB",
	  "systemctl set-property --runtime mysql.service MemoryHigh=200M" },
	{ "global memory shortage, and nobody grew", "memory", "some", NULL, "complete",
	  "global memory shortage",
	  "kswapd scanned 4.0 MiB on the host, and no allocation waited for reclaim, within 5.00 s; the largest is mysqld[301] in mysql.service with 400.0 MiB",
	  USAGE ROW(1, "target", 600, 0, 1000, 0, 0, 0, 90, 90) ", " ROW(4, "other", 600, 0, 0, 0, 0, 0, 400,
									 400) ";",
	  "nginx[101] in nginx.service: waited 1 s for memory",
	  "mysqld[301] in mysql.service: the largest, 400 MiB", "free memory or add some",
	  "bourdon --db bourdon.db why 7 --section growth,groups,cgroups,reclaim" },
	{ "interrupts of the network", "irq", "full", NULL, "complete", "interrupts",
	  "interrupts took 0.60 s and soft interrupts 6.50 s, 29.6 % of the machine's time: NET_RX 6.20 s (25.8 %), within 6.00 s",
	  USAGE TARGETS
	  ";"
	  "INSERT INTO interrupt VALUES(7, 'softirq', 3, 'NET_RX', 1, 6, 4000000, 6200000000, 25.8), (7, 'irq', 36, 'eth0-rx', 1, 6, 9000, 600000000, 2.5);",
	  "nginx ×2 in nginx.service", "the soft interrupt NET_RX: 25.8 % of the machine's time",
	  "spread the network's queues over more CPUs",
	  "bourdon --db bourdon.db why 7 --section interrupts,machine,others" },
	{ "interrupts of a device", "irq", "full", NULL, "complete", "interrupts",
	  "interrupts took 6.60 s and soft interrupts 0.50 s, 29.6 % of the machine's time: nvme0q1 6.60 s (27.5 %), within 6.00 s",
	  "INSERT INTO interrupt VALUES(7, 'softirq', 3, 'NET_RX', 1, 6, 4000, 500000000, 2.1), (7, 'irq', 36, 'nvme0q1', 1, 6, 9000000, 6600000000, 27.5);",
	  "whatever ran on the CPUs that served the interrupts",
	  "the interrupt nvme0q1: 27.5 % of the machine's time",
	  "spread interrupt 36 (nvme0q1) over more CPUs", "cat /proc/irq/36/effective_affinity_list" },
	{ "the hypervisor took it", "cpu", "some", NULL, "complete", "the hypervisor took it",
	  "the hypervisor took 12.00 s, 50 % of the machine's time, within 6.00 s",
	  USAGE TARGETS
	  ";"
	  "INSERT INTO machine_time VALUES(7, 'steal', 1, 6000000001, 12000000000, 50.0), (7, 'targets', 1, 6000000001, 12000000000, 50.0);",
	  "nginx ×2 in nginx.service: waited 4 s for a CPU",
	  "the hypervisor: it gave 50.0 % of the machine's time to others", "ask whoever runs the host",
	  "bourdon --db bourdon.db why 7 --section machine,pressure,seconds" },
	{ "killed at its limit", NULL, NULL, "/system.slice/nginx.service", "complete", "kill",
	  "nginx[101] in /system.slice/nginx.service, which held 62.0 MiB, was killed by the kernel, because /system.slice/nginx.service had used up its 64.0 MiB; nginx ×2 in nginx.service grew most, by 52.0 MiB to 102.0 MiB, within 6.00 s",
	  USAGE ROW(1, "target", 600, 0, 0, 0, 0, 0, 62, 10) ", " ROW(
		  2, "target", 400, 0, 0, 0, 0, 0, 40,
		  40) ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 900,
			       100) ";" KILLED("oom", "'/system.slice/nginx.service', 67108864"),
	  "nginx ×2 in nginx.service: ran 1 s", "nginx ×2 in nginx.service: grew by 52 MiB to 102 MiB",
	  "raise memory.max of nginx.service from 64 MiB to 80 MiB",
	  "systemctl set-property --runtime nginx.service MemoryMax=80M" },
	{ "killed at a limit of cgroup v1", NULL, NULL, "/system.slice/nginx.service", "complete", "kill",
	  "nginx[101] in /system.slice/nginx.service, which held 62.0 MiB, was killed by the kernel, because nginx.service had used up its 64.0 MiB",
	  USAGE ROW(2, "target", 400, 0, 0, 0, 0, 0, 40, 40) ", " ROW(
		  3, "other", 8000, 0, 0, 0, 0, 0, 900, 100) ";" KILLED("oom", "'nginx.service', 67108864"),
	  "nginx[102] in nginx.service: ran 400 ms", "not known: who grew is not among what was recorded",
	  "raise the limit of nginx.service, or of a slice above: see which",
	  "systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice nginx.service" },
	{ "killed by systemd-oomd", NULL, NULL, NULL, "complete", "kill",
	  "nginx[101] in /system.slice/nginx.service, which held 62.0 MiB, was killed by systemd-oomd; backup[201] in backup.service grew most, by 800.0 MiB to 900.0 MiB, within 6.00 s",
	  USAGE TARGETS ", " ROW(3, "other", 8000, 0, 0, 0, 0, 0, 900, 100) ";" OTHERS_RAN(3, 5)
		  KILLED("oomd", "NULL, NULL"),
	  "nginx ×2 in nginx.service: ran 1 s", "backup[201] in backup.service: grew by 800 MiB to 900 MiB",
	  "limit the memory of backup.service to 450 MiB",
	  "systemctl set-property --runtime backup.service MemoryHigh=450M" },
	{ "negligible", "cpu", "some", "/system.slice/nginx.service", "complete", "negligible",
	  "nginx ×2 in nginx.service waited 2.2 % of their time for a CPU: 0.20 s, and ran 9.00 s, within 6.00 s",
	  USAGE ROW(1, "target", 9000, 200, 0, 0, 0, 0, 40, 40) ";",
	  "nginx[101] in nginx.service: waited 200 ms for a CPU, ran 9 s",
	  "nobody: the targets hardly waited", "nothing; or raise cpu.some of rule web",
	  "sudoedit /etc/bourdon/rules.d/web.conf" },
	{ "undetermined", "io", "some", "/system.slice/nginx.service", "complete", "undetermined",
	  "nginx[101] in nginx.service ran 0.60 s, waited 0.00 s for a CPU, 2.00 s for a disk and spent 0.00 s in reclaim, within 6.00 s; limits of the I/O controller (io.max) are not examined",
	  USAGE ROW(1, "target", 600, 0, 0, 2000, 1, 0, 40, 40) ";",
	  "nginx[101] in nginx.service: waited 2 s for a disk",
	  "not known: no number that was recorded explains the stall", "not known: see what waited",
	  "bourdon --db bourdon.db why 7 --section waiting,pressure,stalls,states,groups" },
	{ "recording", "cpu", "some", "/system.slice/nginx.service", "recording", NULL, NULL, "", "not known",
	  "not known: no verdict was stored", "not known yet",
	  "bourdon --db bourdon.db why 7 --section capture,waiting,stacks,stalls" },
	{ "asked for", NULL, NULL, NULL, "complete", NULL, NULL,
	  USAGE TARGETS
	  "; UPDATE capture SET rule = NULL, rule_id = NULL, asked_by = 'root', asked_by_uid = 0, asked_for = '--pid 101 --for 4s', trigger_mode = 'manual';",
	  "nginx ×2 in nginx.service: ran 1 s", "nobody: no shortage was looked for", "none is needed",
	  "bourdon --db bourdon.db why 7 --section stacks,functions,stalls,others" },
	{ "hostile names", "cpu", "some", "/system.slice/nginx.service", "complete", "competing processes",
	  "a;reboot\n[801] in /$(reboot)'; rm -rf ~ #`id`\\x0a/\\x1b[2J took 8.00 s of CPU time, 33 % of the machine's," WAITED_CPU,
	  USAGE TARGETS ", " ROW(12, "other", 8000, 0, 0, 0, 0, 0, 40, 40) ";" OTHERS_RAN(12, 5),
	  "nginx ×2 in nginx.service", "a;reboot\\x0a[801] in ", "CPU weight 20",
	  "echo 20 > $'/sys/fs/cgroup/$(reboot)\\047; rm -rf ~ #`id`\\012/cpu.weight'" },
	{ "stacks that are not whole", "cpu", "some", NULL, "complete", "its own threads",
	  "nginx ×2 in nginx.service took 20.00 s of CPU time, 83 % of the machine's, and waited 20.00 s (50 % of the targets' time), mostly for each other: all other processes ran 0.10 s, within 6.00 s; the stall began 3 s before the trigger",
	  USAGE ROW(1, "target", 10000, 10000, 0, 0, 0, 0, 40, 40) ", " ROW(3, "other", 100, 0, 0, 0, 0, 0,
									    40, 40) ";" NOT_WHOLE,
	  "nginx[101] in nginx.service: waited 10 s for a CPU", "itself: nginx[101] in nginx.service",
	  "run fewer threads", "bourdon --db bourdon.db why 7 --section stacks,functions,states,locks" },
	{ "a word of a later version", "cpu", "some", "/system.slice/nginx.service", "complete", "the moon",
	  "it was full", USAGE TARGETS ";", "nginx ×2 in nginx.service: waited 4 s",
	  "not known: this bourdon is older than that cause", "not known: see what waited",
	  "bourdon --db bourdon.db why 7 --section waiting,pressure,stalls,states,groups" },
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
	bool is_complete = !strcmp(one->state, "complete");
	char *sql = sqlite3_mprintf(
		"PRAGMA application_id = %d; PRAGMA user_version = %d; PRAGMA synchronous = OFF; BEGIN; %s %s"
		"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, "
		"triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns, cause, because, onset_at, "
		"sample_count, stack_count, interval_count, process_count) VALUES(7, 1, 1, 'web', %Q, %Q, 100000, 2000000, 'kernel', %Q, " FIRED_AT
		", " FIRED_AT " - 2000000000, iif(%d, " FIRED_AT
		" + 4000000000, NULL), 2000000000, %Q, %d, 47, 2000000000, %Q, "
		"%Q, " FIRED_AT " - 3200000000, 86, 4, 44, 2); %s %s"
		"INSERT INTO pressure SELECT 7, " FIRED_AT
		" + column1 * 250000000, ifnull((SELECT cgroup FROM capture), 'system'), "
		"ifnull((SELECT resource FROM capture), 'cpu'), column1 * 200000, column1 * 100000 FROM (VALUES(0), (4), (8), (12), (16)); COMMIT",
		SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql, host_sql, one->resource, one->kind,
		one->cgroup, is_complete, one->state,
		one->cause && !strcmp(one->cause, "negligible") ? 110000 : 1850000, one->cause, one->because,
		is_complete ? samples_sql : "", one->sql);

	why_sql(path, sql);
	sqlite3_free(sql);
}
