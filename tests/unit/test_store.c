/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on real files, that the database has the schema and the modes that others rely on, that a foreign
 * file is left as it is, that a capture is stored as it was and its stacks once, that nothing ever makes the
 * files larger than they may be, and that locks and readers cost no capture. Each database passes SQLite's
 * integrity check in the end, and has no row that nobody owns.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/counters.h"
#include "common/policy.h"
#include "common/schema.h"
#include "consumer/store/store.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SECOND 1000000000UL
#define MIB (1UL << 20)
#define TRIGGERED (1000 * SECOND)
#define TRIGGERED_AT 1700000000123456789

/* ---- a database to test, and a reader's view of it ---- */

struct bench {
	char *directory, *path, *wal;
	struct store *store;
	struct mappings *mappings;
	atomic_uint_fast64_t give_up_ns;
};

static void bench_make(struct bench *bench)
{
	*bench = (struct bench){ .directory = directory_make(), .mappings = mappings_new() };
	bench->path = path_join(bench->directory, DATABASE_FILE);
	bench->wal = path_join(bench->directory, DATABASE_FILE "-wal");
	atomic_init(&bench->give_up_ns, 0);
	umask(027);
}

static void bench_open(struct bench *bench, uint64_t bytes_max)
{
	ck_assert_int_eq(store_open(&bench->store, bench->directory, bytes_max, &bench->give_up_ns), 0);
}

static void bench_close(struct bench *bench)
{
	store_close(bench->store);
	bench->store = NULL;
}

static sqlite3 *reader_open(const struct bench *bench)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open_v2(bench->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	return db;
}

static int add_row(void *user, int columns, char **values, char **names)
{
	FILE *stream = user;

	(void)names;
	for (int i = 0; i < columns; i++)
		fprintf(stream, "%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
	fputc('\n', stream);
	return 0;
}

/* All rows: columns separated by "|", rows ended by newlines. The caller frees. */
static char *rows_in(sqlite3 *db, const char *sql)
{
	char *text = NULL, *error = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	int code = sqlite3_exec(db, sql, add_row, stream, &error);

	fclose(stream);
	ck_assert_msg(code == SQLITE_OK, "%s: %s", sql, error);
	return text;
}

static char *rows(const struct bench *bench, const char *sql)
{
	sqlite3 *db = reader_open(bench);
	char *text = rows_in(db, sql);

	sqlite3_close(db);
	return text;
}

static void expect(const struct bench *bench, const char *sql, const char *expected)
{
	_cleanup_free_ char *got = rows(bench, sql);

	ck_assert_msg(!strcmp(got, expected), "%s\n%s-- expected\n%s", sql, got, expected);
}

static int64_t number(const struct bench *bench, const char *sql)
{
	_cleanup_free_ char *got = rows(bench, sql);

	return strtoll(got, NULL, 10);
}

static void run_sql(const struct bench *bench, const char *sql)
{
	free(rows(bench, sql));
}

/* What has to be true of every database. */
static void expect_sound(const struct bench *bench)
{
	expect(bench, "PRAGMA integrity_check", "ok\n");
	expect(bench, "PRAGMA foreign_key_check", "");
	expect(bench,
	       "SELECT (SELECT count(*) FROM stack WHERE stack_id NOT IN (SELECT stack_id FROM sample)),"
	       "(SELECT count(*) FROM stack_frame WHERE stack_id NOT IN (SELECT stack_id FROM stack)),"
	       "(SELECT count(*) FROM frame WHERE (module_id, offset) NOT IN (SELECT module_id, offset FROM "
	       "stack_frame JOIN frame USING(frame_id))),"
	       "(SELECT count(*) FROM module WHERE module_id NOT IN (SELECT module_id FROM frame)),"
	       "(SELECT count(*) FROM process WHERE process_id NOT IN (SELECT process_id FROM sample UNION "
	       "SELECT process_id FROM usage)),"
	       "(SELECT count(*) FROM sample WHERE capture_id NOT IN (SELECT capture_id FROM capture)),"
	       "(SELECT count(*) FROM loss WHERE capture_id NOT IN (SELECT capture_id FROM capture)),"
	       "(SELECT count(*) FROM stack s WHERE depth <> (SELECT count(*) FROM stack_frame f WHERE "
	       "f.stack_id = s.stack_id))",
	       "0|0|0|0|0|0|0|0\n");
}

/* For a bench without a database of ours. */
static void bench_discard(struct bench *bench)
{
	mappings_free(bench->mappings);
	directory_remove(bench->directory);
	free(bench->directory);
	free(bench->path);
	free(bench->wal);
}

static void bench_free(struct bench *bench)
{
	bench_close(bench);
	expect_sound(bench);
	bench_discard(bench);
}

/* ---- runs and captures ---- */

static void begin_run(struct bench *bench)
{
	static const char text[] =
		"[rule web]\ncomm = nginx*\ncgroup = /system.slice/*\nmemory.some = 50ms/1s\n"
		"[rule all]\ncomm = *\nwatch = system\ncpu.some = 5%\nhistory = 3s\n";
	const struct manifest manifest = { .abi = 1, .kernel = "6.1.0-test", .cpus = 4, .hz = 47 };
	struct config_errors errors = { 0 };
	struct rule_ids ids;
	struct rule_set set;

	ck_assert_int_eq(rules_read_text("r.conf", text, strlen(text), &set, &errors), 0);
	ck_assert_int_eq(store_next_ids(bench->store, &ids), 0);
	ck_assert_int_eq(rules_assign_ids(&set, NULL, &ids), 0);
	ck_assert_int_eq(store_begin_run(bench->store, &manifest, &policy_unlimited, &set), 0);
	rules_free(&set);
}

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	(void)user;
	process->uid = 33;
	snprintf(process->comm, sizeof(process->comm), "nginx-%u", sample->tgid);
	process->cgroup = strdup("/system.slice/web.service");
	process->included = sample->tgid != 666;
	return true;
}

static struct capture *capture_make(const struct sample *samples, uint32_t count)
{
	struct capture_trigger trigger = {
		.rule_id = 1,
		.rule = "web",
		.psi = { PSI_MEMORY, PSI_SOME, 50000, 1000000 },
		.mode = TRIGGER_SAMPLED,
		.cgroup = strdup("/system.slice/web.service"),
		.observed_us = 77777,
		.triggered_ns = TRIGGERED,
		.triggered_at = TRIGGERED_AT,
		.wanted_history_ns = 10 * SECOND,
		.capture_ns = 5 * SECOND,
		.hz = 47,
	};
	struct capture *capture;
	struct fake_ring ring;
	struct rings rings;

	fake_ring_make(&ring, count + 2);
	for (uint32_t i = 0; i < count; i++)
		fake_ring_write(&ring, &samples[i]);
	rings = (struct rings){ ring.slots, ring.slots_count, 1, TRIGGERED - 4 * SECOND, NULL };
	capture = capture_begin(&trigger, &rings, 99);
	ck_assert_ptr_nonnull(capture);
	capture_drain(capture, describe, NULL);
	capture_end(capture, TRIGGERED + 6 * SECOND, false);
	fake_ring_free(&ring);
	return capture;
}

struct wanted_frame {
	const struct resolved *resolved;
	uint32_t module;
	int64_t offset;
};

static bool is_frame(const void *user, uint32_t position)
{
	const struct wanted_frame *wanted = user;
	const struct resolved_frame *frame = &wanted->resolved->frames[position];

	return frame->module == wanted->module && frame->offset == wanted->offset;
}

/* The frame's position, a new one's if it was not there. */
static uint32_t place_frame(struct resolved *resolved, uint32_t module, int64_t offset, bool unnamed)
{
	struct wanted_frame wanted = { resolved, module, offset };
	uint32_t hash = hash_bytes(module, &offset, sizeof(offset));
	uint32_t at = hash_index_find(&resolved->frames_index, hash, is_frame, &wanted);
	struct resolved_frame *frame = &resolved->frames[resolved->frames_count];
	int length;

	if (at != HASH_INDEX_NONE)
		return at;
	*frame = (struct resolved_frame){ .module = module,
					  .offset = offset,
					  .function_offset = unnamed ? -1 : 4 };
	if (unnamed)
		length = asprintf(&frame->function, "app+0x%" PRIx64, (uint64_t)offset);
	else
		length = asprintf(&frame->function, "%s_%" PRId64, module ? "user" : "kernel", offset);
	HOLDS(length > 0);
	HOLDS(hash_index_add(&resolved->frames_index, hash, resolved->frames_count) == 0);
	resolved->unresolved += unnamed;
	return resolved->frames_count++;
}

/*
 * Names as the resolver makes them. A user frame N lies in /usr/bin/app and is called "user_N", or, where
 * `unnamed`, nothing; a kernel frame N is "kernel_N".
 */
static void resolve_by_hand(const struct capture *capture, bool unnamed, const char *build_id,
			    struct resolved *resolved)
{
	uint32_t most = capture->stacks.frames_count;

	*resolved = (struct resolved){ .modules = calloc(2, sizeof(struct resolved_module)),
				       .modules_count = 2,
				       .frames = calloc(most + 1, sizeof(struct resolved_frame)),
				       .of_stack_frame = calloc(most + 1, sizeof(uint32_t)),
				       .depths = calloc(capture->stacks.count + 1, sizeof(uint16_t)) };
	resolved->modules[0] = (struct resolved_module){ .kind = MODULE_KERNEL, .path = strdup("[kernel]") };
	resolved->modules[1] =
		(struct resolved_module){ .kind = MODULE_FILE, .path = strdup("/usr/bin/app") };
	snprintf(resolved->modules[0].build_id, sizeof(resolved->modules[0].build_id), "00ff");
	snprintf(resolved->modules[1].build_id, sizeof(resolved->modules[1].build_id), "%s", build_id);
	for (uint32_t i = 0; i < capture->stacks.count; i++) {
		const struct stack *stack = &capture->stacks.stacks[i];

		resolved->depths[i] = (uint16_t)(stack->kernel_depth + stack->user_depth);
		for (uint32_t j = 0; j < resolved->depths[i]; j++) {
			bool is_user = j >= stack->kernel_depth;

			resolved->of_stack_frame[stack->first + j] = place_frame(
				resolved, is_user, (int64_t)capture->stacks.frames[stack->first + j],
				is_user && unnamed);
		}
	}
}

static int commit(struct bench *bench, const struct capture *capture, bool unnamed)
{
	struct resolved resolved;
	int result;

	resolve_by_hand(capture, unnamed, "", &resolved);
	result = store_commit_capture(bench->store, capture, &resolved, bench->mappings);
	resolved_free(&resolved);
	return result;
}

/* A capture of `stacks` random stacks, 20 frames deep, that share little with those of other seeds. */
static struct capture *large_capture(struct dice *dice, uint32_t stacks)
{
	_cleanup_free_ struct sample *samples = calloc(stacks, sizeof(*samples));
	struct capture *capture;

	for (uint32_t i = 0; i < stacks; i++) {
		samples[i] = sample_make(1 + i % 3, TRIGGERED, 4, 16, 0);
		for (int j = 0; j < 4; j++)
			samples[i].kernel_frames[j] = (int32_t)dice_below(dice, 50);
		for (int j = 0; j < 16; j++)
			samples[i].user_frames[j] = dice_below(dice, 3000);
	}
	capture = capture_make(samples, stacks);
	return capture;
}

static uint64_t file_bytes(const char *path)
{
	struct stat at;

	return stat(path, &at) ? 0 : (uint64_t)at.st_size;
}

/* ---- opening ---- */

static unsigned int mode_of(const char *path)
{
	struct stat at;

	ck_assert_msg(!stat(path, &at), "%s is missing", path);
	return at.st_mode & 07777;
}

START_TEST(a_new_database_is_the_schema)
{
	static const char everything[] =
		"SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
	_cleanup_free_ char *expected = NULL, *shm = NULL;
	struct bench bench;
	sqlite3 *memory;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	shm = path_join(bench.directory, DATABASE_FILE "-shm");
	ck_assert_uint_eq(mode_of(bench.path), 0640);
	ck_assert_uint_eq(mode_of(bench.wal), 0640);
	ck_assert_uint_eq(mode_of(shm), 0640);
	ck_assert_int_eq(sqlite3_open(":memory:", &memory), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(memory, schema_sql, NULL, NULL, NULL), SQLITE_OK);
	expected = rows_in(memory, everything);
	sqlite3_close(memory);
	expect(&bench, everything, expected);
	expect(&bench, "PRAGMA application_id", "1650749294\n");
	expect(&bench, "PRAGMA user_version", "6\n");
	expect(&bench, "PRAGMA journal_mode", "wal\n");
	expect(&bench, "PRAGMA auto_vacuum", "2\n");
	bench_close(&bench);
	ck_assert_uint_eq(mode_of(bench.wal), 0640); /* it stays, for readers that cannot make one */
	bench_free(&bench);
}
END_TEST

/* The names that DESIGN promises to other people's SQL. */
START_TEST(tables_and_views_have_their_names)
{
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	expect(&bench,
	       "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY "
	       "name",
	       "capture\ncgroup\ncounter\nframe\nhistogram\nloss\nmodule\npressure\nprocess\nrule\nrun\nsampl"
	       "e\n"
	       "stack\nstack_frame\nstatistic\nthread_state\nusage\n");
	expect(&bench, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name",
	       "capture_summary\nculprit\ndata_quality\nfolded\nhot_function\nhot_stack\nlatency_percentile\n"
	       "reconciliation\nstall_stack\nunwind_quality\n");
	bench_free(&bench);
}
END_TEST

START_TEST(it_opens_again)
{
	struct bench bench;
	struct rule_ids ids;

	bench_make(&bench);
	for (uint32_t round = 0; round < 3; round++) {
		bench_open(&bench, 64 * MIB);
		ck_assert_int_eq(store_next_ids(bench.store, &ids), 0);
		ck_assert_uint_eq(ids.rule, 1 + 2 * round);
		ck_assert_uint_eq(ids.pattern, 1 + 2 * round);
		begin_run(&bench);
		ck_assert_int_eq(store_end_run(bench.store), 0);
		bench_close(&bench);
	}
	expect(&bench,
	       "SELECT run_id, version <> '', abi, kernel, hostname <> '', cpus, hz, ended_at >= started_at "
	       "FROM run",
	       "1|1|1|6.1.0-test|1|4|47|1\n2|1|1|6.1.0-test|1|4|47|1\n3|1|1|6.1.0-test|1|4|47|1\n");
	expect(&bench,
	       "SELECT rule_id, run_id, rule, source, comm, cgroup, watch, pattern_id, history_ns, "
	       "capture_ns, cooldown_ns "
	       "FROM rule WHERE run_id = 2",
	       "3|2|web|r.conf:1|nginx*|/system.slice/*|cgroup|3|10000000000|5000000000|60000000000\n"
	       "4|2|all|r.conf:5|*|NULL|system|4|3000000000|5000000000|60000000000\n");
	bench_free(&bench);
}
END_TEST

struct refused_case {
	const char *what;
	const char *sql;  /* makes the file, or */
	const char *text; /* is the file */
	const char *says;
};

static const struct refused_case refused_cases[] = {
	{ "another program's", "CREATE TABLE a(b); INSERT INTO a VALUES(1)", NULL, "another program's" },
	{ "another program's with an id", "PRAGMA application_id = 7; CREATE TABLE a(b)", NULL,
	  "another program's" },
	{ "another program's with a log", "PRAGMA journal_mode = WAL; CREATE TABLE capture(a)", NULL,
	  "another program's" },
	{ "a later schema", "PRAGMA application_id = 1650749294; PRAGMA user_version = 9; CREATE TABLE a(b)",
	  NULL, "its schema is version 9" },
	{ "a text", NULL, "This is no database at all, but it is somebody's.\n", "not a database" },
};

START_TEST(a_foreign_file_stays_as_it_is)
{
	const struct refused_case *one = &refused_cases[_i];
	_cleanup_free_ char *said = NULL;
	struct bench bench;
	char before[16384], after[16384];
	size_t bytes;
	FILE *file;
	int saved, result;

	bench_make(&bench);
	if (one->text) {
		file_put(bench.path, one->text, strlen(one->text));
	} else {
		sqlite3 *db;

		ck_assert_int_eq(sqlite3_open(bench.path, &db), SQLITE_OK);
		free(rows_in(db, one->sql));
		sqlite3_close(db);
	}
	file = fopen(bench.path, "re");
	bytes = fread(before, 1, sizeof(before), file);
	fclose(file);
	saved = log_divert();
	result = store_open(&bench.store, bench.directory, 64 * MIB, &bench.give_up_ns);
	said = log_diverted(saved);
	ck_assert_int_eq(result, -EUCLEAN);
	ck_assert_msg(strstr(said, one->says) && strstr(said, bench.path), "%s", said);
	file = fopen(bench.path, "re");
	ck_assert_uint_eq(fread(after, 1, sizeof(after), file), bytes);
	fclose(file);
	ck_assert_mem_eq(before, after, bytes);
	bench_discard(&bench);
}
END_TEST

START_TEST(what_cannot_be_opened_is_refused)
{
	struct bench bench;
	struct store *store = (struct store *)1;
	_cleanup_free_ char *none = NULL, *other = NULL;
	int saved;

	bench_make(&bench);
	none = path_join(bench.directory, "none");
	other = path_join(bench.directory, "other.db");
	saved = log_divert();
	ck_assert_int_lt(store_open(&store, none, 64 * MIB, &bench.give_up_ns), 0);
	ck_assert_int_eq(symlink(other, bench.path), 0);
	ck_assert_int_eq(store_open(&store, bench.directory, 64 * MIB, &bench.give_up_ns), -EACCES);
	free(log_diverted(saved));
	ck_assert_ptr_eq(store, (struct store *)1);
	ck_assert_int_ne(access(other, F_OK), 0);
	store_close(NULL);
	bench_discard(&bench);
}
END_TEST

/* An administrator's /var may lie elsewhere. */
START_TEST(its_directory_may_lie_behind_a_link)
{
	struct bench bench;
	_cleanup_free_ char *link = NULL, *real = NULL, *said = NULL;
	struct store *store = NULL;
	int saved = log_divert(), result;

	bench_make(&bench);
	real = path_join(bench.directory, "real");
	link = path_join(bench.directory, "link");
	ck_assert_int_eq(mkdir(real, 0750), 0);
	ck_assert_int_eq(symlink("real", link), 0);
	result = store_open(&store, link, 64 * MIB, &bench.give_up_ns);
	said = log_diverted(saved);
	ck_assert_msg(!result, "%s", said);
	store_close(store);
	bench_discard(&bench);
}
END_TEST

/* Two daemons would call each other's captures interrupted. */
START_TEST(one_store_a_directory)
{
	_cleanup_free_ char *said = NULL;
	struct store *second = NULL;
	struct bench bench;
	int saved, result;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	saved = log_divert();
	result = store_open(&second, bench.directory, 64 * MIB, &bench.give_up_ns);
	said = log_diverted(saved);
	ck_assert_int_lt(result, 0);
	ck_assert_ptr_null(second);
	ck_assert_msg(strstr(said, "another bourdond") != NULL, "%s", said);
	bench_close(&bench);
	bench_open(&bench, 64 * MIB);
	bench_free(&bench);
}
END_TEST

/* A daemon that is killed leaves `recording`; SIGKILL leaves it in the log only. */
START_TEST(what_a_crash_leaves_is_interrupted)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 1);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;
	pid_t child;
	int status;

	bench_make(&bench);
	child = fork();
	if (!child) {
		int64_t capture_id;

		bench_open(&bench, 64 * MIB);
		begin_run(&bench);
		store_begin_capture(bench.store, &capture->trigger, capture_available_history_ns(capture),
				    &capture_id);
		commit(&bench, capture, false);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	expect(&bench, "SELECT capture_id, state FROM capture", "1|recording\n2|complete\n");
	bench_open(&bench, 64 * MIB);
	expect(&bench, "SELECT capture_id, state, ended_at FROM capture WHERE capture_id = 1",
	       "1|interrupted|NULL\n");
	expect(&bench, "SELECT state FROM capture WHERE capture_id = 2", "complete\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* ---- contents ---- */

START_TEST(a_capture_is_stored_as_it_was)
{
	struct sample samples[] = {
		sample_make(10, TRIGGERED - 1500000000, 2, 3, 100),
		sample_make(10, TRIGGERED - 1, 2, 3, 100),
		sample_make(10, TRIGGERED - 2, 2, 3, 100),
		sample_make(11, TRIGGERED, 0, 2, 200),
		sample_make(11, TRIGGERED + 4999999999, -EFAULT, -EFAULT, 0),
		sample_make(666, TRIGGERED, 1, 1, 300),
	};
	struct capture *capture;
	struct bench bench;
	int64_t capture_id = 0;

	samples[0].stall = STALL_MEMORY | STALL_IO;
	samples[0].weight_ns = samples[1].weight_ns = samples[2].weight_ns = 21276595;
	samples[0].tid = 12;
	memcpy(samples[0].comm, "worker", 7);
	samples[3].kind = SAMPLE_OFF_CPU;
	samples[3].left_ns = samples[3].woken_ns = TRIGGERED;
	samples[3].time_ns = TRIGGERED + 1;
	samples[3].weight_ns = 0;
	samples[3].queued_ns = 1;
	samples[3].unwinder = UNWINDER_EH_FRAME | UNWINDER_FRAME_POINTER;
	samples[3].user_ended = UNWIND_ENDED_NO_RULE;
	samples[3].user_frames[1] = 0x8000000000000000U; /* what a hostile stack may hold */
	capture = capture_make(samples, ARRAY_SIZE(samples));
	capture->losses[LOSS_OVERWRITTEN] = 5;
	capture->losses[LOSS_WATCH_SUPPRESSED] = 2;
	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(store_begin_capture(bench.store, &capture->trigger,
					     capture_available_history_ns(capture), &capture_id),
			 0);
	ck_assert_int_eq(capture_id, 1);
	expect(&bench, "SELECT capture_id, state, ended_at FROM capture", "1|recording|NULL\n");
	capture->capture_id = capture_id;
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench,
	       "SELECT capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, "
	       "cgroup, "
	       "triggered_at, began_at, ended_at, history_ns, state, observed_us, hz FROM capture",
	       "1|1|1|web|memory|some|50000|1000000|sampled|/system.slice/web.service|1700000000123456789|"
	       "1699999996123456789|1700000005123456789|4000000000|complete|77777|47\n");
	expect(&bench, "SELECT * FROM process",
	       "1|1|10|1010|nginx-10|NULL|33|/system.slice/web.service\n"
	       "2|1|11|1011|nginx-11|NULL|33|/system.slice/web.service\n");
	expect(&bench, "SELECT * FROM cgroup", "7|/system.slice/web.service\n");
	expect(&bench, "SELECT path, build_id, version, kind FROM module",
	       "[kernel]|00ff||kernel\n/usr/bin/app|NULL||file\n");
	expect(&bench,
	       "SELECT offset, function, function_offset, file, line, inlined FROM frame WHERE offset < 200 "
	       "ORDER BY offset, module_id",
	       "-9223372036854775808|user_-9223372036854775808|4|NULL|NULL|0\n100|kernel_100|4|NULL|NULL|0\n"
	       "100|user_100|4|NULL|NULL|0\n101|kernel_101|4|NULL|NULL|0\n101|user_101|4|NULL|NULL|0\n"
	       "102|user_102|4|NULL|NULL|0\n");
	expect(&bench, "SELECT stack_id, depth, truncated, unwinder, ended, length(fingerprint) FROM stack",
	       "1|5|0|frame-pointer|root|16\n2|2|1|mixed|no-rule|16\n3|0|0|none|NULL|16\n");
	expect(&bench,
	       "SELECT stack_id, position, function FROM stack_frame JOIN frame USING(frame_id) ORDER BY "
	       "stack_id, position",
	       "1|0|kernel_100\n1|1|kernel_101\n1|2|user_100\n1|3|user_101\n1|4|user_102\n2|0|user_200\n"
	       "2|1|user_-9223372036854775808\n");
	expect(&bench, "SELECT * FROM sample ORDER BY second, tid, stack_id",
	       "1|1|12|worker|1|on-cpu|memory+io|-2|1|21276595\n1|1|10|thread|1|on-cpu|none|-1|2|42553190\n"
	       "1|2|11|thread|2|off-cpu|cpu|0|1|1\n1|2|11|thread|3|on-cpu|none|4|1|1\n");
	expect(&bench, "SELECT reason, events FROM loss WHERE events > 0",
	       "kernel-stack-missing|1\noverwritten-slots|5\nstack-not-whole|1\nuser-stack-missing|1\nwatch-"
	       "suppressed|2\n");
	ck_assert_int_eq(number(&bench, "SELECT count(*) FROM loss"), LOSS_REASONS);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

START_TEST(pressure_and_usage_are_stored_by_the_wall_clock)
{
	static const struct pressure_reading readings[] = {
		{ TRIGGERED, { { 100, 50 }, { true, true } }, PRESSURE_SYSTEM, PSI_MEMORY },
		{ TRIGGERED + 1000, { { 700, 0 }, { true, false } }, PRESSURE_CGROUP, PSI_CPU },
	};
	struct sample sample = sample_make(10, TRIGGERED, 1, 1, 1);
	struct capture *capture = capture_make(&sample, 1);
	struct usage_row *rows = calloc(2, sizeof(*rows));
	struct kernel_stat *stats;
	struct bench bench;

	capture->pressure.readings = malloc(sizeof(readings));
	memcpy(capture->pressure.readings, readings, sizeof(readings));
	capture->pressure.count = ARRAY_SIZE(readings);
	rows[0] = (struct usage_row){ .role = USAGE_OTHER,
				      .process = { .tgid = 77, .uid = 5, .started_ns = 9, .comm = "hog" },
				      .cgroup = strdup("/other") };
	rows[0].process.sums.task = (struct task_usage){ 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	rows[0].process.sums.rss_bytes = 10;
	rows[0].process.sums.stalled_io_ns = 11;
	rows[1] = (struct usage_row){ .role = USAGE_REST, .process = { .counts_io_delay = true } };
	rows[1].process.sums.task.io_delay_ns = 12;
	capture->usage.rows = rows;
	capture->usage.count = 2;
	capture->usage.before.walked_ns = TRIGGERED - 20;
	capture->usage.to_ns = TRIGGERED + 30;
	stats = calloc(3, sizeof(*stats));
	stats[0] = (struct kernel_stat){ "vmstat", KERNEL_STAT_SYSTEM, "", "allocstall_normal", 5, 7 };
	stats[1] = (struct kernel_stat){ "io.stat", 1, "8:0", "rbytes", -1, 9 };
	stats[2] = (struct kernel_stat){ "vmstat", KERNEL_STAT_SYSTEM, "", "pgfault", 1, -1 };
	capture->kernel_stats = (struct kernel_stats){ stats, 3, 3, TRIGGERED + 1, TRIGGERED + 2 };
	capture->expected.cpu_ns = 2 * SECOND;
	capture->expected.received = 93;
	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench,
	       "SELECT at - 1700000000123456789, scope, resource, some_us, full_us FROM pressure ORDER BY at",
	       "0|system|memory|100|50\n1000|/system.slice/web.service|cpu|700|NULL\n");
	expect(&bench,
	       "SELECT comm, u.role, from_at - 1700000000123456789, to_at - 1700000000123456789, cpu_ns, "
	       "run_delay_ns,"
	       " io_delay_ns, stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, major_faults, minor_faults,"
	       " read_bytes, write_bytes, voluntary_switches, involuntary_switches, rss_bytes, cgroup, uid"
	       " FROM usage u LEFT JOIN process USING(process_id) ORDER BY u.rowid",
	       "hog|other|-20|30|1|2|NULL|0|0|11|4|5|6|7|8|9|10|/other|5\n"
	       "NULL|rest|-20|30|0|0|12|0|0|0|0|0|0|0|0|0|0|NULL|NULL\n");
	expect(&bench, "SELECT tgid, taken FROM culprit", "77|10\n");
	expect(&bench,
	       "SELECT from_at - 1700000000123456789, to_at - 1700000000123456789, scope, source, device, "
	       "name,"
	       " before, after FROM statistic",
	       "1|2|system|vmstat|NULL|allocstall_normal|5|7\n"
	       "1|2|/system.slice|io.stat|8:0|rbytes|NULL|9\n"
	       "1|2|system|vmstat|NULL|pgfault|1|NULL\n");
	expect(&bench,
	       "SELECT expected_samples, received_samples, cause, because LIKE '2 allocations %' FROM "
	       "capture",
	       "94|93|global memory shortage|1\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

START_TEST(an_interrupted_capture_says_so)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 1);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	capture->interrupted = true;
	capture->ended_ns = TRIGGERED + SECOND;
	ck_assert_int_eq(commit(&bench, capture, false), 0); /* its beginning was never announced */
	expect(&bench, "SELECT capture_id, state, ended_at FROM capture",
	       "1|interrupted|1700000001123456789\n");
	ck_assert_int_eq(number(&bench, "SELECT min(capture_id) FROM sample"), 1);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* Its samples are lost, but that it fired is not. */
START_TEST(a_capture_that_is_given_up)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 1);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;
	int64_t capture_id = 0, other_id = 0;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(store_begin_capture(bench.store, &capture->trigger, 5, &capture_id), 0);
	ck_assert_int_eq(store_begin_capture(bench.store, &capture->trigger, 5, &other_id), 0);
	ck_assert_int_eq(store_give_up_capture(bench.store, capture_id), 0);
	expect(&bench, "SELECT capture_id, state, history_ns, rule FROM capture",
	       "1|interrupted|5|web\n2|recording|5|web\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* The resolver believes only a part of a stack: the rest is not stored, and it is called truncated. */
START_TEST(a_stack_that_is_believed_in_part)
{
	struct sample samples[] = { sample_make(1, TRIGGERED, 2, 3, 0x40),
				    sample_make(1, TRIGGERED, 2, 2, 0x40) };
	struct capture *capture = capture_make(samples, 2);
	struct resolved resolved;
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	resolve_by_hand(capture, false, "", &resolved);
	resolved.depths[0] = 4;  /* what is left is the other one, but that one is whole */
	resolved.frames_count--; /* and nobody else has the last frame */
	free(resolved.frames[resolved.frames_count].function);
	ck_assert_int_eq(store_commit_capture(bench.store, capture, &resolved, bench.mappings), 0);
	expect(&bench, "SELECT depth, truncated FROM stack ORDER BY truncated", "4|0\n4|1\n");
	expect(&bench, "SELECT count(*), max(position) FROM stack_frame", "8|3\n");
	expect(&bench, "SELECT count(*), sum(samples) FROM sample", "2|2\n");
	resolved_free(&resolved);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* Two cgroups that nobody can name any more: one process in the database, and its samples add up. */
START_TEST(rows_that_come_together)
{
	struct sample sample = sample_make(12, TRIGGERED, 1, 1, 1);
	struct sample samples[] = { sample, sample, sample };
	struct capture *capture;
	struct bench bench;

	samples[1].cgroup_id = samples[2].cgroup_id = 8;
	samples[0].weight_ns = 100;
	capture = capture_make(samples, ARRAY_SIZE(samples));
	ck_assert_uint_eq(capture->processes_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		free(capture->processes[i].cgroup);
		capture->processes[i].cgroup = NULL;
	}
	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench, "SELECT tgid, cgroup FROM process", "12|NULL\n");
	expect(&bench, "SELECT tid, samples, weight_ns FROM sample", "12|3|102\n");
	expect(&bench, "SELECT count(*) FROM stack", "1\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* The columns of views that a person sums up by hand. */
START_TEST(views_add_up)
{
	struct sample samples[] = {
		sample_make(10, TRIGGERED - 1, 1, 2, 100), /* kernel_100, user_100, user_101 */
		sample_make(10, TRIGGERED, 1, 2, 100),
		sample_make(10, TRIGGERED + 1, 0, 3, 100), /* user_100, user_100, user_102: recursion */
		sample_make(10, TRIGGERED + 2, 0, 0, 0),
	};
	struct capture *capture;
	struct bench bench;

	samples[2].user_frames[1] = 100;
	capture = capture_make(samples, ARRAY_SIZE(samples));
	capture->losses[LOSS_OVERWRITTEN] = 5;
	capture->losses[LOSS_TORN] = 2;
	capture->losses[LOSS_UNKNOWN_PROCESS] = 1;
	capture->losses[LOSS_EVENTS] = 9;
	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench,
	       "SELECT function, module_kind, samples, total_samples, percent, total_percent FROM "
	       "hot_function",
	       "kernel_100|kernel|2|2|50.0|50.0\nuser_100|file|1|3|25.0|75.0\nuser_101|file|0|2|0.0|50.0\n"
	       "user_102|file|0|1|0.0|25.0\n");
	expect(&bench, "SELECT stack, samples FROM folded WHERE stack IS NOT NULL ORDER BY samples DESC",
	       "user_101;user_100;kernel_100_[k]|2\nuser_102;user_100;user_100|1\n");
	expect(&bench, "SELECT processes, stacks, samples, after_ns FROM capture_summary",
	       "1|3|4|5000000000\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* From the ring to the view: a sample is lost once. */
START_TEST(a_lost_sample_is_summed_up_once)
{
	struct sample sample = sample_make(10, TRIGGERED, 1, 2, 100);
	struct capture *capture;
	struct fake_ring ring;
	struct bench bench;
	struct rings rings;
	struct capture_trigger trigger = {
		.rule_id = 1, .rule = "web", .triggered_ns = TRIGGERED, .capture_ns = SECOND
	};

	fake_ring_make(&ring, 8);
	rings = (struct rings){ ring.slots, 8, 1, 0, NULL };
	capture = capture_begin(&trigger, &rings, 1);
	for (int i = 0; i < 10; i++)
		fake_ring_write(&ring, &sample); /* the first two are overwritten, */
	ring.slots[5].kernel_depth = 99;         /* and one cannot be */
	capture_drain(capture, describe, NULL);
	capture_end(capture, TRIGGERED + SECOND, false);
	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench, "SELECT samples, losses FROM capture_summary", "7|3\n");
	capture_free(capture);
	fake_ring_free(&ring);
	bench_free(&bench);
}
END_TEST

START_TEST(the_same_stack_is_stored_once)
{
	struct dice dice = dice_new(60);
	struct capture *capture = large_capture(&dice, 200);
	struct bench bench;
	_cleanup_free_ char *before = NULL;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	before = rows(&bench, "SELECT (SELECT count(*) FROM stack), (SELECT count(*) FROM stack_frame), "
			      "(SELECT count(*) FROM frame), (SELECT count(*) FROM module), "
			      "(SELECT count(*) FROM process)");
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench,
	       "SELECT (SELECT count(*) FROM stack), (SELECT count(*) FROM stack_frame), "
	       "(SELECT count(*) FROM frame), (SELECT count(*) FROM module), "
	       "(SELECT count(*) FROM process)",
	       before);
	ck_assert_int_eq(number(&bench, "SELECT count(*) FROM sample WHERE capture_id = 1"),
			 number(&bench, "SELECT count(*) FROM sample WHERE capture_id = 2"));
	ck_assert_int_eq(
		number(&bench,
		       "SELECT count(*) FROM (SELECT stack_id, tid, samples FROM sample WHERE capture_id = 1 "
		       "EXCEPT SELECT stack_id, tid, samples FROM sample WHERE capture_id = 2)"),
		0);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

START_TEST(a_name_that_comes_later_serves_all)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, true), 0);
	expect(&bench, "SELECT function, function_offset FROM frame ORDER BY frame_id",
	       "kernel_64|4\napp+0x40|NULL\napp+0x41|NULL\n");
	expect(&bench, "SELECT events FROM loss WHERE reason = 'frames-unresolved'", "2\n");
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench, "SELECT function, function_offset FROM frame ORDER BY frame_id",
	       "kernel_64|4\nuser_64|4\nuser_65|4\n");
	/* and is not lost again */
	ck_assert_int_eq(commit(&bench, capture, true), 0);
	expect(&bench, "SELECT function, function_offset FROM frame ORDER BY frame_id",
	       "kernel_64|4\nuser_64|4\nuser_65|4\n");
	expect(&bench, "SELECT count(*) FROM stack", "1\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* ---- several functions at one place ---- */

/* Two functions are inlined at the place of `frame`, and all three have a source place. */
static void inline_two(struct resolved *resolved, uint32_t frame)
{
	static const char *const names[] = { "middle", "inner" };
	uint32_t last = frame;

	resolved->frames[frame].file = strdup("app.cc");
	resolved->frames[frame].line = 10;
	for (uint32_t i = 0; i < 2; i++) {
		struct resolved_frame inlined = { .module = resolved->frames[frame].module,
						  .offset = resolved->frames[frame].offset,
						  .function = strdup(names[i]),
						  .function_offset = 2,
						  .file = strdup("inlined.cc"),
						  .line = 20 + i,
						  .inlined = i + 1 };
		uint32_t added;

		HOLDS(!resolved_add_frame(resolved, &inlined, &added));
		resolved->frames[last].inner = added;
		last = added;
	}
}

/* The capture's only stack: a kernel frame, two user frames, and what is inlined at the first of those. */
static void commit_inlined(struct bench *bench, const struct capture *capture, const char *build_id,
			   bool inlined)
{
	struct resolved resolved;

	resolve_by_hand(capture, false, build_id, &resolved);
	resolved.frames_room = capture->stacks.frames_count + 1;
	if (inlined)
		inline_two(&resolved, resolved.of_stack_frame[1]);
	ck_assert_int_eq(store_commit_capture(bench->store, capture, &resolved, bench->mappings), 0);
	resolved_free(&resolved);
}

#define STACK_OF(capture)                                                                                    \
	"SELECT position, function, inlined, file, line FROM stack_frame JOIN frame USING(frame_id) WHERE "  \
	"stack_id = (SELECT stack_id FROM sample WHERE capture_id = " #capture ") ORDER BY position"
#define STACK_INLINED                                                                                        \
	"0|kernel_64|0|NULL|NULL\n1|inner|2|inlined.cc|21\n2|middle|1|inlined.cc|20\n3|user_64|0|app.cc|"    \
	"10\n"                                                                                               \
	"4|user_65|0|NULL|NULL\n"

START_TEST(one_address_is_several_positions)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	commit_inlined(&bench, capture, "aa", true);
	expect(&bench, STACK_OF(1), STACK_INLINED);
	expect(&bench, "SELECT depth, truncated FROM stack", "5|0\n");
	expect(&bench, "SELECT stack FROM folded", "user_65;user_64;middle;inner;kernel_64_[k]\n");
	/* the same once more is the same stack */
	commit_inlined(&bench, capture, "aa", true);
	expect(&bench, "SELECT count(*), max(stack_id) FROM stack", "1|1\n");
	expect(&bench, "SELECT count(*) FROM frame", "5\n");
	expect_sound(&bench);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* A capture that knows more is another stack, and what the one before said stays true. */
START_TEST(inlined_functions_that_are_known_later)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, true), 0);
	commit_inlined(&bench, capture, "", true);
	expect(&bench, STACK_OF(1),
	       "0|kernel_64|0|NULL|NULL\n1|user_64|0|app.cc|10\n2|user_65|0|NULL|NULL\n");
	expect(&bench, STACK_OF(2), STACK_INLINED);
	expect(&bench, "SELECT depth FROM stack ORDER BY stack_id", "3\n5\n");
	/* and one that knows less again takes nothing away */
	ck_assert_int_eq(commit(&bench, capture, true), 0);
	expect(&bench, STACK_OF(2), STACK_INLINED);
	expect(&bench, "SELECT count(*) FROM stack", "2\n");
	expect_sound(&bench);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* What a place is known as: text, and how often it was told. */
struct told {
	char text[256];
	unsigned int times;
	int result;
};

static int tell(void *taker, const struct frame_name *name)
{
	struct told *told = taker;
	size_t bytes = strlen(told->text);

	told->times++;
	snprintf(told->text + bytes, sizeof(told->text) - bytes, "%.*s+%" PRId64 " %.*s:%u\n",
		 (int)name->function_bytes, name->function, name->function_offset, (int)name->file_bytes,
		 name->file ? name->file : "", name->line);
	return told->result;
}

static void expect_known(struct bench *bench, const char *build_id, int64_t offset, const char *text)
{
	struct known_frames known = store_known_frames(bench->store);
	struct told told = { .times = 0 };

	ck_assert_int_eq(known.find(known.user, "/usr/bin/app", build_id, "", offset, tell, &told),
			 *text ? 0 : -ENOENT);
	ck_assert_str_eq(told.text, text);
}

#define KNOWN_INLINED "user_64+4 app.cc:10\nmiddle+2 inlined.cc:20\ninner+2 inlined.cc:21\n"

START_TEST(places_are_known_by_their_build)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	struct told told = { .result = -EINTR };
	struct known_frames known;
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	expect_known(&bench, "aa", 0x40, "");
	commit_inlined(&bench, capture, "aa", true);
	expect_known(&bench, "aa", 0x40, KNOWN_INLINED);
	expect_known(&bench, "aa", 0x41, "user_65+4 :0\n");
	expect_known(&bench, "aa", 0x42, "");
	expect_known(&bench, "bb", 0x40, "");
	expect_known(&bench, "00ff", 0x40, ""); /* the kernel's build id, which no file has */
	/* without a build id nothing is known again, and of what has no name nothing either */
	ck_assert_int_eq(commit(&bench, capture, true), 0);
	expect_known(&bench, "", 0x40, "");
	/* another file that says the same of itself names its own functions */
	known = store_known_frames(bench.store);
	ck_assert_int_eq(known.find(known.user, "/tmp/app", "aa", "", 0x40, tell, &told), -ENOENT);
	ck_assert_int_eq(known.find(known.user, "/usr/bin/app", "aa", "", 0x40, tell, &told), -EINTR);
	ck_assert_uint_eq(told.times, 1);
	ck_assert_int_eq(known.find(known.user, "/usr/bin/app", "aa", "1000-7.0-8", 0x40, tell, &told),
			 -ENOENT);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

static char *hostile(void)
{
	return strdup("a\x1b]0;b\xff\\x07\n'\"");
}

#define HOSTILE_FORM "a\\x1b]0;b\\xff\\x5cx07\\x0a'\""

/* Whoever chose a name: a reader of the database gets text, and what is looked up by it is found. */
START_TEST(names_have_one_form)
{
	struct sample sample = sample_make(1, TRIGGERED, 0, 1, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	_cleanup_free_ char *path = hostile();
	struct told told = { .times = 0 };
	struct known_frames known;
	struct resolved resolved;
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	resolve_by_hand(capture, false, "aa", &resolved);
	free(resolved.modules[1].path);
	free(resolved.frames[0].function);
	resolved.modules[0].kind = MODULE_NONE;
	resolved.modules[1].path = hostile();
	resolved.frames[0].function = hostile();
	resolved.frames[0].file = hostile();
	snprintf(capture->processes[0].comm, sizeof(capture->processes[0].comm), "%s", path);
	free(capture->processes[0].cgroup);
	capture->processes[0].cgroup = hostile();
	/* what was looked up is written again */
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(store_commit_capture(bench.store, capture, &resolved, bench.mappings), 0);
	expect(&bench,
	       "SELECT comm, cgroup FROM process UNION ALL SELECT path, build_id FROM module WHERE kind = "
	       "'file' "
	       "UNION ALL SELECT function, file FROM frame UNION ALL SELECT path, '' FROM cgroup",
	       HOSTILE_FORM "|" HOSTILE_FORM "\n" HOSTILE_FORM "|aa\n" HOSTILE_FORM "|" HOSTILE_FORM
			    "\n" HOSTILE_FORM "|\n");
	known = store_known_frames(bench.store);
	ck_assert_int_eq(known.find(known.user, path, "aa", "", 0x40, tell, &told), 0);
	ck_assert_str_eq(told.text, "a\x1b]0;b\xff\\x07\n'\"+4 a\x1b]0;b\xff\\x07\n'\":0\n");
	resolved_free(&resolved);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* Eviction takes all functions at a place or none: half of them would be taken for all. */
START_TEST(what_is_known_of_a_place_stays_whole)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1), *filler;
	struct dice dice = dice_new(95);
	struct bench bench;
	int saved;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	commit_inlined(&bench, capture, "aa", true);
	filler = large_capture(&dice, 2000);
	ck_assert_int_eq(commit(&bench, filler, false), 0);
	commit_inlined(&bench, capture, "aa", false);
	saved = log_divert();
	ck_assert_int_eq(store_limit(bench.store, 512 << 10), 0);
	free(log_diverted(saved));
	expect(&bench, "SELECT capture_id FROM capture", "3\n");
	expect_known(&bench, "aa", 0x40, KNOWN_INLINED);
	expect_sound(&bench);
	capture_free(filler);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

START_TEST(symbolizers_that_failed_are_in_the_ledger)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	struct resolved resolved;
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	resolve_by_hand(capture, true, "", &resolved);
	resolved.failures = 3;
	ck_assert_int_eq(store_commit_capture(bench.store, capture, &resolved, bench.mappings), 0);
	expect(&bench, "SELECT events, unit FROM loss WHERE reason = 'symbolizer-failed'", "3|event\n");
	resolved_free(&resolved);
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/* Two builds of one program are two modules, and their offsets two frames. */
START_TEST(another_build_is_another_module)
{
	struct sample sample = sample_make(1, TRIGGERED, 0, 2, 0x40);
	struct capture *capture = capture_make(&sample, 1);
	static const char *const builds[] = { "aa", "bb", "aa", "" };
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		struct resolved resolved;

		resolve_by_hand(capture, false, builds[i], &resolved);
		resolved.modules_count = 2;
		ck_assert_int_eq(store_commit_capture(bench.store, capture, &resolved, bench.mappings), 0);
		resolved_free(&resolved);
	}
	expect(&bench, "SELECT build_id FROM module WHERE kind = 'file' ORDER BY build_id", "NULL\naa\nbb\n");
	expect(&bench, "SELECT count(*), count(DISTINCT module_id) FROM frame", "6|3\n");
	expect(&bench, "SELECT count(*) FROM stack", "3\n");
	run_sql(&bench, "DELETE FROM module WHERE kind = 'kernel'"); /* by hand there is always one; no frame
									lies in it */
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

START_TEST(counters_are_one_row_each)
{
	uint64_t values[COUNTERS];
	struct bench bench;

	for (uint64_t i = 0; i < COUNTERS; i++)
		values[i] = 1000 + i;
	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(store_add_counters(bench.store, counter_names, values, COUNTERS), 0);
	ck_assert_int_eq(number(&bench, "SELECT count(*) FROM counter WHERE run_id = 1"), COUNTERS);
	ck_assert_int_eq(number(&bench, "SELECT count(DISTINCT at) FROM counter"), 1);
	expect(&bench, "SELECT value FROM counter WHERE name = 'samples-oncpu'", "1000\n");
	expect(&bench, "SELECT value FROM counter WHERE name = 'matches'", "1008\n");
	bench_free(&bench);
}
END_TEST

/* ---- the hard cap ---- */

/* Looks at the sizes all the time: a peak within a transaction is a peak. */
struct sizes {
	const struct bench *bench;
	uint64_t most;
	bool ended;
};

static void *watch_sizes(void *user)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	struct sizes *sizes = user;

	while (!__atomic_load_n(&sizes->ended, __ATOMIC_ACQUIRE)) {
		uint64_t bytes = file_bytes(sizes->bench->path) + file_bytes(sizes->bench->wal);

		if (bytes > sizes->most)
			sizes->most = bytes;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

struct cap_case {
	uint64_t bytes_max;
	uint32_t stacks; /* of a capture */
	int captures;
};

static const struct cap_case cap_cases[] = {
	{ 8 * MIB, 1000, 20 }, { 8 * MIB, 2000, 9 },    { 4 * MIB, 400, 22 },
	{ 16 * MIB, 6000, 7 }, { 32 * MIB, 12000, 11 },
};

START_TEST(it_never_outgrows_its_limit)
{
	const struct cap_case *one = &cap_cases[_i];
	struct dice dice = dice_new(70 + (uint64_t)_i);
	struct bench bench;
	struct sizes sizes = { .bench = &bench };
	pthread_t watcher;
	int saved = log_divert();
	int64_t kept;

	bench_make(&bench);
	bench_open(&bench, one->bytes_max);
	begin_run(&bench);
	ck_assert_int_eq(pthread_create(&watcher, NULL, watch_sizes, &sizes), 0);
	for (int i = 0; i < one->captures; i++) {
		struct capture *capture = large_capture(&dice, one->stacks);
		int result;

		capture->trigger.triggered_at += i * (int64_t)SECOND;
		result = commit(&bench, capture, false);
		ck_assert_msg(!result, "capture %d: %s", i, store_error(bench.store));
		capture_free(capture);
	}
	__atomic_store_n(&sizes.ended, true, __ATOMIC_RELEASE);
	pthread_join(watcher, NULL);
	free(log_diverted(saved));
	/* the newest are there, without a gap, and the oldest are not */
	kept = number(&bench, "SELECT count(*) FROM capture");
	ck_assert_int_ge(kept, 1);
	ck_assert_int_lt(kept, one->captures);
	ck_assert_int_eq(number(&bench, "SELECT max(capture_id) - min(capture_id) + 1 FROM capture"), kept);
	ck_assert_int_eq(number(&bench, "SELECT max(triggered_at) FROM capture"),
			 TRIGGERED_AT + (one->captures - 1) * (int64_t)SECOND);
	ck_assert_int_eq(number(&bench, "SELECT count(DISTINCT capture_id) FROM sample"), kept);
	expect_sound(&bench);
	ck_assert_msg(sizes.most <= one->bytes_max, "%" PRIu64 " bytes at its peak, may have %" PRIu64,
		      sizes.most, one->bytes_max);
	bench_free(&bench);
}
END_TEST

START_TEST(what_would_push_all_others_out_is_refused)
{
	struct dice dice = dice_new(80);
	struct capture *small = large_capture(&dice, 100), *huge = large_capture(&dice, 16000);
	struct bench bench;

	bench_make(&bench);
	bench_open(&bench, 4 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, small, false), 0);
	ck_assert_int_eq(commit(&bench, huge, false), -EFBIG);
	ck_assert_ptr_nonnull(strstr(store_error(bench.store), "raise max_size"));
	ck_assert_int_eq(commit(&bench, small, false), 0);
	expect(&bench, "SELECT capture_id, state FROM capture", "1|complete\n2|complete\n");
	capture_free(small);
	capture_free(huge);
	bench_free(&bench);
}
END_TEST

START_TEST(a_smaller_limit_takes_effect_at_once)
{
	struct dice dice = dice_new(81);
	struct bench bench;
	int saved = log_divert();

	bench_make(&bench);
	bench_open(&bench, 32 * MIB);
	begin_run(&bench);
	for (int i = 0; i < 20; i++) {
		struct capture *capture = large_capture(&dice, 1000);

		capture->trigger.triggered_at += i;
		ck_assert_int_eq(commit(&bench, capture, false), 0);
		capture_free(capture);
	}
	bench_close(&bench);
	ck_assert_uint_gt(file_bytes(bench.path), 5 * MIB);
	bench_open(&bench, 5 * MIB);
	free(log_diverted(saved));
	bench_close(&bench);
	ck_assert_uint_le(file_bytes(bench.path) + file_bytes(bench.wal), 5 * MIB);
	ck_assert_int_gt(number(&bench, "SELECT count(*) FROM capture"), 0);
	ck_assert_int_eq(number(&bench, "SELECT max(capture_id) FROM capture"), 20);
	bench_free(&bench);
}
END_TEST

/* A daemon whose database is full to the last page must be able to start. */
START_TEST(a_full_database_begins_another_run)
{
	uint64_t values[COUNTERS] = { 0 };
	struct dice dice = dice_new(82);
	struct bench bench;
	int saved = log_divert(), result = 0;

	bench_make(&bench);
	bench_open(&bench, 4 * MIB);
	begin_run(&bench);
	for (int i = 0; i < 3; i++) {
		struct capture *capture = large_capture(&dice, 200);

		ck_assert_int_eq(commit(&bench, capture, false), 0);
		capture_free(capture);
	}
	for (int i = 0; i < 100000 && !result; i++)
		result = store_add_counters(bench.store, counter_names, values, COUNTERS);
	ck_assert_int_eq(result, -ENOSPC);
	for (int run = 0; run < 100; run++) { /* rules are rows, too: a restart each */
		bench_close(&bench);
		bench_open(&bench, 4 * MIB);
		begin_run(&bench);
	}
	free(log_diverted(saved));
	bench_free(&bench);
}
END_TEST

/* ---- locks and readers ---- */

struct later {
	struct bench *bench;
	uint64_t after_ns;
};

static void *give_up_later(void *user)
{
	const struct later *later = user;
	struct timespec pause = clock_timespec(later->after_ns);

	nanosleep(&pause, NULL);
	atomic_store(&later->bench->give_up_ns, clock_monotonic_ns());
	return NULL;
}

/* Another thread ends the wait, or it was to end from the beginning. */
START_TEST(a_lock_is_waited_for_and_given_up)
{
	struct dice dice = dice_new(90);
	struct capture *capture = large_capture(&dice, 50);
	struct bench bench;
	struct later later = { &bench, 300000000 };
	_cleanup_free_ char *before = NULL;
	sqlite3 *other;
	pthread_t thread;
	uint64_t began_ns, waited_ns;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	before = rows(&bench, "SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM sample), (SELECT "
			      "count(*) FROM frame)");
	other = reader_open(&bench);
	free(rows_in(other, "BEGIN IMMEDIATE; UPDATE run SET version = version"));
	began_ns = clock_monotonic_ns();
	if (_i)
		atomic_store(&bench.give_up_ns, began_ns + later.after_ns);
	else
		ck_assert_int_eq(pthread_create(&thread, NULL, give_up_later, &later), 0);
	ck_assert_int_eq(commit(&bench, capture, false), -EBUSY);
	ck_assert_ptr_nonnull(strstr(store_error(bench.store), "locked"));
	waited_ns = clock_monotonic_ns() - began_ns;
	ck_assert_uint_ge(waited_ns, later.after_ns - 1000000);
	ck_assert_uint_lt(waited_ns, 5 * SECOND);
	if (!_i)
		pthread_join(thread, NULL);
	free(rows_in(other, "ROLLBACK"));
	sqlite3_close(other);
	expect(&bench,
	       "SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM sample), (SELECT count(*) FROM "
	       "frame)",
	       before);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	expect(&bench, "SELECT count(*) FROM capture", "2\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

static void *unlock_later(void *user)
{
	const struct timespec pause = { .tv_nsec = 300000000 };

	nanosleep(&pause, NULL);
	free(rows_in(user, "ROLLBACK"));
	return NULL;
}

START_TEST(a_lock_that_goes_costs_only_time)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 1);
	struct capture *capture = capture_make(&sample, 1);
	struct bench bench;
	pthread_t thread;
	sqlite3 *other;

	bench_make(&bench);
	bench_open(&bench, 64 * MIB);
	begin_run(&bench);
	other = reader_open(&bench);
	free(rows_in(other, "BEGIN IMMEDIATE"));
	ck_assert_int_eq(pthread_create(&thread, NULL, unlock_later, other), 0);
	ck_assert_int_eq(commit(&bench, capture, false), 0);
	pthread_join(thread, NULL);
	sqlite3_close(other);
	expect(&bench, "SELECT count(*) FROM capture", "1\n");
	capture_free(capture);
	bench_free(&bench);
}
END_TEST

/*
 * A reader that holds on to an old state: captures are stored until the log may not grow further, then
 * refused, and stored when the reader has gone. It is not waited for.
 */
START_TEST(a_long_reader_costs_no_capture)
{
	struct dice dice = dice_new(91);
	struct bench bench;
	sqlite3 *reader;
	int refused = 0, stored = 0;
	uint64_t most = 0;

	bench_make(&bench);
	bench_open(&bench, 16 * MIB);
	begin_run(&bench);
	reader = reader_open(&bench);
	free(rows_in(reader, "BEGIN; SELECT count(*) FROM capture"));
	for (int i = 0; i < 100 && refused < 3; i++) {
		struct capture *capture = large_capture(&dice, 300);
		uint64_t began_ns = clock_monotonic_ns();
		int result = commit(&bench, capture, false);

		ck_assert_msg(result == 0 || result == -EBUSY, "%d: %s", result, store_error(bench.store));
		ck_assert_uint_lt(clock_monotonic_ns() - began_ns, 5 * SECOND * patience());
		refused += result < 0;
		stored += !result;
		ck_assert(!refused || result < 0);
		if (file_bytes(bench.wal) > most)
			most = file_bytes(bench.wal);
		if (refused == 3) {
			_cleanup_free_ char *seen = rows_in(reader, "SELECT count(*) FROM capture");

			ck_assert_str_eq(seen, "0\n");
			free(rows_in(reader, "COMMIT"));
			ck_assert_int_eq(commit(&bench, capture, false), 0);
		}
		capture_free(capture);
	}
	ck_assert_int_eq(refused, 3);
	ck_assert_int_gt(stored, 3);
	ck_assert_uint_le(most, 4 * MIB + 2 * MIB); /* what may be begun, and one capture */
	ck_assert_int_eq(number(&bench, "SELECT count(*) FROM capture"), stored + 1);
	ck_assert_uint_eq(file_bytes(bench.wal), 0);
	sqlite3_close(reader);
	bench_free(&bench);
}
END_TEST

/* Readers of every kind come and go while captures are written: each sees whole captures only. */
struct reading {
	const struct bench *bench;
	bool ended;
	int looks, halves;
};

static void *read_all_the_time(void *user)
{
	struct reading *reading = user;

	while (!__atomic_load_n(&reading->ended, __ATOMIC_ACQUIRE)) {
		sqlite3 *db;

		if (sqlite3_open_v2(reading->bench->path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
			char *text;

			sqlite3_busy_timeout(db, 5000);
			text = rows_in(
				db, "SELECT count(*) FROM capture c WHERE state <> 'complete' OR "
				    "(SELECT sum(samples) FROM sample s WHERE s.capture_id = c.capture_id) "
				    "<> 100 OR "
				    "(SELECT count(*) FROM loss l WHERE l.capture_id = c.capture_id) <> 19");
			reading->halves += strcmp(text, "0\n") != 0;
			reading->looks++;
			free(text);
		}
		sqlite3_close(db);
	}
	return NULL;
}

START_TEST(readers_see_whole_captures)
{
	struct dice dice = dice_new(92);
	struct bench bench;
	struct reading reading = { .bench = &bench };
	pthread_t thread;
	int saved = log_divert();

	_Static_assert(LOSS_REASONS == 19, "the reader's query counts them");
	bench_make(&bench);
	bench_open(&bench, 8 * MIB);
	begin_run(&bench);
	ck_assert_int_eq(pthread_create(&thread, NULL, read_all_the_time, &reading), 0);
	for (int i = 0; i < 100; i++) {
		struct capture *capture = large_capture(&dice, 100);
		const struct timespec pause = { .tv_nsec = 20000000 };
		int result, tries = 0;

		/* a log that a reader held on to is looked at again, as the store thread does */
		while ((result = commit(&bench, capture, false)) == -EBUSY && tries++ < 200)
			nanosleep(&pause, NULL);
		ck_assert_msg(!result, "%s", store_error(bench.store));
		capture_free(capture);
	}
	__atomic_store_n(&reading.ended, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	free(log_diverted(saved));
	ck_assert_int_gt(reading.looks, 3);
	ck_assert_int_eq(reading.halves, 0);
	bench_free(&bench);
}
END_TEST

Suite *store_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *opening = tcase_create("opening"), *contents = tcase_create("contents"),
	      *cap = tcase_create("cap");
	TCase *locks = tcase_create("locks"), *readers = tcase_create("readers");

	tcase_set_timeout(opening, 30);
	tcase_add_test(opening, a_new_database_is_the_schema);
	tcase_add_test(opening, tables_and_views_have_their_names);
	tcase_add_test(opening, it_opens_again);
	tcase_add_loop_test(opening, a_foreign_file_stays_as_it_is, 0, ARRAY_SIZE(refused_cases));
	tcase_add_test(opening, what_cannot_be_opened_is_refused);
	tcase_add_test(opening, its_directory_may_lie_behind_a_link);
	tcase_add_test(opening, one_store_a_directory);
	tcase_add_test(opening, what_a_crash_leaves_is_interrupted);
	tcase_set_timeout(contents, 30);
	tcase_add_test(contents, a_capture_is_stored_as_it_was);
	tcase_add_test(contents, pressure_and_usage_are_stored_by_the_wall_clock);
	tcase_add_test(contents, an_interrupted_capture_says_so);
	tcase_add_test(contents, a_capture_that_is_given_up);
	tcase_add_test(contents, a_stack_that_is_believed_in_part);
	tcase_add_test(contents, rows_that_come_together);
	tcase_add_test(contents, views_add_up);
	tcase_add_test(contents, a_lost_sample_is_summed_up_once);
	tcase_add_test(contents, the_same_stack_is_stored_once);
	tcase_add_test(contents, a_name_that_comes_later_serves_all);
	tcase_add_test(contents, one_address_is_several_positions);
	tcase_add_test(contents, inlined_functions_that_are_known_later);
	tcase_add_test(contents, places_are_known_by_their_build);
	tcase_add_test(contents, what_is_known_of_a_place_stays_whole);
	tcase_add_test(contents, names_have_one_form);
	tcase_add_test(contents, symbolizers_that_failed_are_in_the_ledger);
	tcase_add_test(contents, another_build_is_another_module);
	tcase_add_test(contents, counters_are_one_row_each);
	tcase_set_timeout(cap, 240);
	tcase_set_tags(cap, "slow"); /* too slow for an emulated CPU */
	/* the last is the same once more and larger, and takes a sanitizer as long as all other tests do */
	tcase_add_loop_test(cap, it_never_outgrows_its_limit, 0, (int)ARRAY_SIZE(cap_cases) - SANITIZED);
	tcase_add_test(cap, what_would_push_all_others_out_is_refused);
	tcase_add_test(cap, a_smaller_limit_takes_effect_at_once);
	tcase_add_test(cap, a_full_database_begins_another_run);
	tcase_set_timeout(locks, 120);
	tcase_add_loop_test(locks, a_lock_is_waited_for_and_given_up, 0, 2);
	tcase_add_test(locks, a_lock_that_goes_costs_only_time);
	tcase_set_timeout(readers, 120);
	tcase_set_tags(readers, "slow");
	tcase_add_test(readers, a_long_reader_costs_no_capture);
	tcase_add_test(readers, readers_see_whole_captures);
	suite_add_tcase(suite, opening);
	suite_add_tcase(suite, contents);
	suite_add_tcase(suite, cap);
	suite_add_tcase(suite, locks);
	suite_add_tcase(suite, readers);
	return suite;
}
