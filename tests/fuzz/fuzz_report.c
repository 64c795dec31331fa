/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a damaged database with bourdon's subcommands: each ends with a status, and prints nothing that a
 * terminal would interpret, on standard output and on standard error.
 *
 * An input is one byte for the subcommand, then damages: three bytes for the place, one for the number of
 * bytes, these bytes.
 */
#define _GNU_SOURCE 1 /* memfd_create() */

#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/escape.h"
#include "report/command.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Of compiler-rt: where reports go while standard error is captured. It declares the number as a pointer. */
void __sanitizer_set_report_fd(intptr_t fd);

#define DAMAGE_BYTES_MOST 16U
#define DAMAGES_MOST 256U
#define WORDS_MOST 12

/* Two captures with a row in every table. Small pages, so that a damage is likely to hit something. */
static const char rows_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz)"
	" VALUES(1, 1, '0.1.0', 1, '6.18', 'host', 8, 47);"
	"INSERT INTO rule(rule_id, run_id, rule, source, comm, watch, pattern_id, history_ns, capture_ns, cooldown_ns)"
	" VALUES(1, 1, 'web', 'web:1', 'nginx', 'system', 1, 10000000000, 5000000000, 60000000000);"
	"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode,"
	" cgroup, triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, expected_samples,"
	" received_samples, verdict, victim) VALUES"
	" (1, 1, 1, 'web', 'cpu', 'some', 150000, 2000000, 'kernel', '/web', 1790000100000000000,"
	" 1790000090000000000, 1790000105000000000, 9800000000, 'complete', 1240000, 47, 940, 931,"
	" 'neighbour', 'nginx in /web'),"
	" (2, 1, 1, 'disk', 'io', 'full', 150000, 2000000, 'sampled', NULL, 1790000200000000000,"
	" 1790000190000000000, NULL, 9800000000, 'recording', 160000, 47, NULL, NULL, NULL, NULL);"
	"INSERT INTO database VALUES(1, '0123456789abcdef0123456789abcdef', NULL);"
	"INSERT INTO cgroup(cgroup_id, path) VALUES(1, '/web');"
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup) VALUES"
	" (1, 1, 4242, 1, 'nginx', '/usr/sbin/nginx', 33, '/web'), (2, 1, 7, 1, 'hog', '/usr/bin/hog', 0, '/');"
	"INSERT INTO module(module_id, path, build_id, version, kind) VALUES"
	" (1, '[kernel]', NULL, '', 'kernel'), (2, '/usr/sbin/nginx', 'aa', '', 'file');"
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line) VALUES"
	" (1, 1, 1, 'schedule', 0, NULL, NULL), (2, 2, 1, 'ngx_process', 0, '/src/a.c', 42),"
	" (3, 2, 2, 'main', 0, NULL, NULL);"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'eh-frame', 'expression');"
	"INSERT INTO stack_node VALUES(1, NULL, '[3,2]', 1, 2, x'01'), (2, 1, '[1]', 2, 3, x'02');"
	"INSERT INTO thread VALUES(1, 1, 1, 't');"
	"INSERT INTO sample_class(class, kind, stall) VALUES(1, 'on-cpu', 'none'), (2, 'off-cpu', 'cpu');"
	"INSERT INTO sample_row(capture_id, stack_id, thread_id, class, second, samples, weight_ns, times) VALUES"
	" (1, 1, 1, 1, -10, 2, 10600000000, '0,1],[999,0'), (1, 2, 1, 1, 4, 47, 1000000000, NULL),"
	" (1, 2, 1, 2, 1, 1, 900000000, '-3,897,1');"
	"INSERT INTO wake_row VALUES(1, 1, 2, 'none', 'aa', 'target', 1, 1, 1, 3, 700000000);"
	"INSERT INTO thread_look VALUES(1, 1, 10, 1);"
	"INSERT INTO thread_state(capture_id, process_id, tid, thread, state, syscall, stack_id, samples)"
	" VALUES(1, 1, 1, 't', 'runnable', 'read', 2, 4);"
	"INSERT INTO usage(capture_id, process_id, role, from_at, to_at, cpu_ns, run_delay_ns) VALUES"
	" (1, 1, 'target', 1790000090000000000, 1790000105000000000, 1000000000, 2000000000),"
	" (1, 2, 'other', 1790000090000000000, 1790000105000000000, 3000000000, 0),"
	" (1, NULL, 'rest', 1790000090000000000, 1790000105000000000, 500000000, 0);"
	"INSERT INTO account VALUES(1, 'nginx in /web', 'ran', 1, 1000000000), (1, 'nginx in /web', 'queued', 1, 3000000000),"
	" (1, 'nginx in /web', 'lock', 1, 700000000), (1, 'nginx in /web', 'rest', 1, 300000000);"
	"INSERT INTO blame VALUES(1, 'nginx in /web', 'queued', 'other', 'hog', NULL, '/', 7, 1, 2000000000, NULL, NULL),"
	" (1, 'nginx in /web', 'queued', 'own', 'nginx', NULL, '/web', 4242, 1, 1000000000, NULL, NULL),"
	" (1, 'nginx in /web', 'lock', 'own', 'nginx', NULL, '/web', 4242, 1, 700000000, 'unlock', 'ran');"
	"INSERT INTO ended VALUES(1, 'other', 'sh', 'hog', 7, '/', NULL, NULL, 0, 9, 10000000, 1000, 0, 0, 0, NULL, NULL);"
	"INSERT INTO machine_bytes VALUES(1, 'disks', 1790000090000000000, 1790000105000000000, 4096, 8192);"
	"INSERT INTO machine_time VALUES(1, 'others', 1790000090000000000, 1790000105000000000, 3000000000, 2.5);"
	"INSERT INTO interrupt VALUES(1, 'softirq', 3, 'NET_RX', 1790000090000000000, 1790000105000000000, 9, 1000, 0.1);"
	"INSERT INTO killed VALUES(1, 1790000101000000000, 'oom', 'other', 'hog', 8, '/', NULL, NULL, 4096, 'hog', 7, '/', NULL,"
	" '/web', 65536, 1);"
	"INSERT INTO cgroup_memory VALUES(1, '/web', NULL, NULL, 1790000090000000000, 1790000105000000000, 4096, 8192, 4096,"
	" 8192, 0, 0, 0, 0, 0, NULL, NULL);"
	"INSERT INTO pressure(capture_id, at, scope, resource, some_us, full_us) VALUES"
	" (1, 1790000100000000000, 'system', 'cpu', 150000, NULL);"
	"INSERT INTO statistic(capture_id, from_at, to_at, scope, source, device, name, before, after) VALUES"
	" (1, 1790000090000000000, 1790000105000000000, '/web', 'cpu.stat', NULL, 'nr_throttled', 1, 9);"
	"INSERT INTO histogram_label VALUES(1, 'runqueue', '/web'), (2, 'block.size', 'vda write /web');"
	"INSERT INTO histogram_row VALUES(1, 1, 'before', 96, 30, 480000), (1, 1, 'during', 96, 20, 320000), (1, 1, 'during', 180, 9, 99000000),"
	" (1, 2, 'during', 96, 7, 28672);"
	"INSERT INTO latency_measured VALUES(1, 'runqueue', 'before', 1790000070000000000, 1790000090000000000, 15000000000, 30, 0, 0, 0),"
	" (1, 'runqueue', 'during', 1790000090000000000, 1790000105000000000, 15000000000, 30, 1, 2, 3),"
	" (1, 'block.size', 'during', 1790000090000000000, 1790000105000000000, 15000000000, 7, 0, 0, 0);"
	"INSERT INTO growth_row VALUES(1, 1, 2, 3, 1048576);"
	"INSERT INTO loss(capture_id, reason, events, unit) VALUES(1, 'overwritten-slots', 20, 'sample'),"
	" (1, 'stack-truncated', 2, 'stack');"
	"INSERT INTO counter(run_id, at, name, value) VALUES(1, 1790000100000000000, 'samples', 7);"
	"INSERT INTO incident VALUES(1, 1, 1, 2, 1790000099000000000, NULL, 'cpu', 1, 'neighbour', 66.7);"
	"INSERT INTO activity_key(key_id, state, comm, kernel, syscall, function, uid, cgroup, unit, container, hash) VALUES(1, 'D', 'nginx', 0, 'read', 'schedule', 33, '/web', NULL, NULL, 0), (2, 'S', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0);"
	"INSERT INTO activity_minute VALUES(1, 1, 1790000090000000000, 1000000000, 60, 58, '[[3,2]]', 170, 99),"
	" (2, 1, 1790000200000000000, 1000000000, 9, 9, NULL, 9, 99);"
	"INSERT INTO activity VALUES(1, 1, 112, 1, 2, '[[0,1],[6,2]]'), (1, 2, 58, 1, 1, NULL), (2, 1, 9, 0, 3, '[[4,3],[7,0]]');"
	"UPDATE capture SET incident_id = 1, onset_at = triggered_at - 1000000000;";

/* DB and OUT stand for the database and for a file that does not exist. */
#define MERGE "db merge OUT DB"
static const char *const lines[] = {
	"list",
	"list --json",
	"why",
	"why 1 --full",
	"why 2",
	"why 2 --json",
	"why 1 --json",
	"top",
	"top --json",
	"folded",
	"db check",
	"db copy OUT",
	"db copy OUT 1",
	MERGE,
	"why --incident",
	"why --incident 1 --json",
	"activity --since 9000d",
	"activity --since 9000d --all --json",
	"export 1 --format firefox",
	"export 1 --format perfetto -o OUT",
	"export 1 --format speedscope",
	"export 1 --format json",
	"export 1 --format folded --kind offcpu",
	"export 1 --format pprof -o OUT",
	"export 1 --format perf-script -o OUT",
	"export 1 --format csv -o OUT",
	"diff 1 2",
	"diff 1:before 2 --all",
	"diff 2 1 --json --by total --role all",
	"diff 1 2 --json --kind off-cpu",
	"diff baseline 2",
	"show 1",
	"show --json 2",
	"list --all --rule * --unit *",
	"top --by total",
	"latency 1",
	"latency 1 --json",
	"latency 1 --span before --label * --by growth",
};

static char directory[] = "/tmp/fuzz_report.XXXXXX", path[sizeof(directory) + 16],
	    out_path[sizeof(directory) + 16];
static int file = -1;
static unsigned char *whole; /* the database without damage */
static size_t whole_bytes;

static void remove_directory(void)
{
	unlink(path);
	rmdir(directory);
}

static void make_database(void)
{
	char *sql = sqlite3_mprintf(
		"PRAGMA page_size = 512; PRAGMA application_id = %d; PRAGMA user_version = %d; %s %s",
		SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql, rows_sql);
	char *message = NULL;
	struct stat status;
	sqlite3 *sqlite;

	log_init("bourdon");
	HOLDS(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/bourdon.db", directory);
	snprintf(out_path, sizeof(out_path), "%s/out.db", directory);
	atexit(remove_directory);
	HOLDS(sqlite3_open(path, &sqlite) == SQLITE_OK);
	if (sqlite3_exec(sqlite, sql, NULL, NULL, &message) != SQLITE_OK)
		fprintf(stderr, "%s\n", message);
	HOLDS(!message);
	sqlite3_free(sql);
	HOLDS(sqlite3_close(sqlite) == SQLITE_OK);
	file = open(path, O_RDWR | O_CLOEXEC);
	HOLDS(file >= 0 && !fstat(file, &status));
	whole_bytes = (size_t)status.st_size;
	whole = malloc(whole_bytes);
	HOLDS(whole && pread(file, whole, whole_bytes, 0) == (ssize_t)whole_bytes);
}

/* Nothing but lines of characters; in JSON they may be invisible. */
static void check_text(const char *text, size_t bytes, bool json)
{
	HOLDS(strlen(text) == bytes);
	while (*text) {
		unsigned int code = 0, length = escape_utf8(text, &code);

		HOLDS(length && (code == '\n' || !escape_is_deceptive(code) || (json && code >= 0xa0)));
		text += length;
	}
}

/* What the program logs goes to a file meanwhile, and a sanitizer's report to the real standard error. */
static int divert_errors(int log)
{
	int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);

	HOLDS(saved >= 0 && dup2(log, STDERR_FILENO) == STDERR_FILENO);
	__sanitizer_set_report_fd(saved);
	return saved;
}

static void restore_errors(int saved)
{
	HOLDS(dup2(saved, STDERR_FILENO) == STDERR_FILENO);
	__sanitizer_set_report_fd(STDERR_FILENO);
	close(saved);
}

/* Returns the exit status. */
static int run(char *database, const char *line)
{
	_cleanup_free_ char *words = strdup(line), *text = NULL;
	char *arguments[WORDS_MOST] = { (char[]){ "bourdon" }, (char[]){ "--db" }, database };
	_cleanup_close_ int log = memfd_create("log", MFD_CLOEXEC);
	char logged[4096] = "";
	bool is_check = !strcmp(line, "db check"); /* says what is wrong on standard output */
	int count = strcmp(line, MERGE) ? 3 : 1, status, saved;
	size_t bytes = 0;
	ssize_t logged_bytes;
	FILE *out = open_memstream(&text, &bytes);

	HOLDS(words && out && log >= 0);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		arguments[count++] = !strcmp(word, "DB") ? path : !strcmp(word, "OUT") ? out_path : word;
	saved = divert_errors(log);
	status = command_main(count, arguments, out);
	restore_errors(saved);
	HOLDS(!fclose(out));
	logged_bytes = pread(log, logged, sizeof(logged) - 1, 0);
	HOLDS(status == EXIT_DONE || status == EXIT_FAILED);
	HOLDS(logged_bytes >= 0 && (is_check || (status == EXIT_FAILED) == (logged_bytes > 0)));
	check_text(text, bytes, strstr(line, "--json") || strstr(line, "--format"));
	check_text(logged, (size_t)logged_bytes, false);
	return status;
}

/* What a merge has taken from a damaged database is intact. Nothing unfinished is left. */
static void check_output(const char *line, int status)
{
	bool is_merge = !strcmp(line, MERGE);
	char unfinished[sizeof(out_path) + 16];
	glob_t found;

	snprintf(unfinished, sizeof(unfinished), "%s.*", out_path);
	if (!access(out_path, F_OK)) {
		HOLDS(!status);
		HOLDS(!is_merge || !run(out_path, "db check"));
		HOLDS(!unlink(out_path));
	}
	HOLDS(glob(unfinished, 0, NULL, &found) == GLOB_NOMATCH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct damage {
		off_t at;
		size_t bytes;
	} damages[DAMAGES_MOST];
	size_t count = 0;
	uint8_t line;

	if (file < 0)
		make_database();
	line = input_byte(&input);
	for (; input.left > 4 && count < DAMAGES_MOST; count++) {
		unsigned char fresh[DAMAGE_BYTES_MOST], place[3];
		size_t at, length;

		input_read(&input, place, sizeof(place));
		at = ((size_t)place[0] | (size_t)place[1] << 8 | (size_t)place[2] << 16) % whole_bytes;
		length = 1 + input_byte(&input) % DAMAGE_BYTES_MOST;
		length = length < whole_bytes - at ? length : whole_bytes - at;
		input_read(&input, fresh, length);
		damages[count] = (struct damage){ (off_t)at, length };
		HOLDS(pwrite(file, fresh, length, (off_t)at) == (ssize_t)length);
	}
	line %= ARRAY_SIZE(lines);
	check_output(lines[line], run(path, lines[line]));
	while (count--)
		HOLDS(pwrite(file, whole + damages[count].at, damages[count].bytes, damages[count].at) ==
		      (ssize_t)damages[count].bytes);
	return 0;
}
