/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/store_fixture.h"

#include "common/policy/policy.h"
#include "common/store/schema.h"
#include "consumer/capture/capture_samples.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the database ---- */

void store_fixture_make(struct store_fixture *fixture)
{
	*fixture = (struct store_fixture){ .directory = directory_make(), .mappings = mappings_new() };
	fixture->path = path_join(fixture->directory, DATABASE_FILE);
	fixture->wal = path_join(fixture->directory, DATABASE_FILE "-wal");
	atomic_init(&fixture->give_up_ns, 0);
	umask(027);
}

void store_fixture_open(struct store_fixture *fixture, uint64_t bytes_max)
{
	ck_assert_int_eq(store_open(&fixture->store, fixture->directory,
				    &(struct store_limits){ .bytes_max = bytes_max }, TEST_MACHINE,
				    &clock_of_kernel, &fixture->give_up_ns),
			 0);
}

void store_fixture_close(struct store_fixture *fixture)
{
	store_close(fixture->store);
	fixture->store = NULL;
}

sqlite3 *reader_open(const struct store_fixture *fixture)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open_v2(fixture->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
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

char *rows_in(sqlite3 *db, const char *sql)
{
	char *text = NULL, *error = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	int code = sqlite3_exec(db, sql, add_row, stream, &error);

	fclose(stream);
	ck_assert_msg(code == SQLITE_OK, "%s: %s", sql, error);
	return text;
}

char *rows(const struct store_fixture *fixture, const char *sql)
{
	sqlite3 *db = reader_open(fixture);
	char *text = rows_in(db, sql);

	sqlite3_close(db);
	return text;
}

void expect_rows(const struct store_fixture *fixture, const char *sql, const char *expected)
{
	_cleanup_free_ char *got = rows(fixture, sql);

	ck_assert_msg(!strcmp(got, expected), "%s\n%s-- expected\n%s", sql, got, expected);
}

int64_t number(const struct store_fixture *fixture, const char *sql)
{
	_cleanup_free_ char *got = rows(fixture, sql);

	return strtoll(got, NULL, 10);
}

void expect_count(const struct store_fixture *fixture, const char *table, int64_t expected)
{
	_cleanup_free_ char *sql = NULL;
	int64_t got;

	ck_assert_int_gt(asprintf(&sql, "SELECT count(*) FROM %s", table), 0);
	got = number(fixture, sql);
	ck_assert_msg(got == expected, "%s: %" PRId64 " rows, not %" PRId64, table, got, expected);
}

void run_sql(const struct store_fixture *fixture, const char *sql)
{
	free(rows(fixture, sql));
}

void expect_sound(const struct store_fixture *fixture)
{
	expect_rows(fixture, "PRAGMA integrity_check", "ok\n");
	expect_rows(fixture, "PRAGMA foreign_key_check", "");
	expect_rows(
		fixture,
		"SELECT (SELECT count(*) FROM stack WHERE stack_id NOT IN (SELECT stack_id FROM "
		"sample_row UNION SELECT waker_stack_id FROM wake_row WHERE waker_stack_id IS NOT NULL UNION SELECT stack_id FROM growth_row)),(SELECT count(*) FROM stack_frame WHERE stack_id NOT IN (SELECT stack_id "
		"FROM stack)),(SELECT count(*) FROM frame WHERE (module_id, offset) NOT IN (SELECT "
		"module_id, offset FROM stack_frame JOIN frame USING(frame_id))),(SELECT count(*) FROM "
		"module WHERE module_id NOT IN (SELECT module_id FROM frame)),(SELECT count(*) FROM "
		"process WHERE process_id NOT IN (SELECT process_id FROM thread UNION SELECT "
		"process_id FROM usage UNION SELECT process_id FROM growth_row)),(SELECT count(*) FROM sample WHERE capture_id NOT IN (SELECT "
		"capture_id FROM capture)),(SELECT count(*) FROM loss WHERE capture_id NOT IN (SELECT "
		"capture_id FROM capture)),(SELECT count(*) FROM wake_row WHERE capture_id NOT IN (SELECT "
		"capture_id FROM capture)),(SELECT count(*) FROM histogram_label WHERE label_id NOT IN (SELECT "
		"label_id FROM histogram_row)),(SELECT count(*) FROM stack s WHERE depth <> (SELECT "
		"count(*) FROM stack_frame f WHERE f.stack_id = s.stack_id))",
		"0|0|0|0|0|0|0|0|0|0\n");
}

void store_fixture_discard(struct store_fixture *fixture)
{
	mappings_free(fixture->mappings);
	directory_remove(fixture->directory);
	free(fixture->directory);
	free(fixture->path);
	free(fixture->wal);
}

void store_fixture_free(struct store_fixture *fixture)
{
	store_fixture_close(fixture);
	expect_sound(fixture);
	store_fixture_discard(fixture);
}

/* ---- captures ---- */

void begin_run(struct store_fixture *fixture)
{
	static const char text[] =
		"[rule web]\ncomm = nginx*\ncgroup = /system.slice/*\nunit = web*.service\nwatch = slice\nmemory.some = 50ms/1s\n"
		"[rule all]\ncomm = *\nwatch = system\ncpu.some = 5%\nhistory = 3s\n";
	const struct manifest manifest = { .abi = 1, .kernel = "6.1.0-test", .cpus = 4, .hz = 47 };
	struct config_errors errors = { 0 };
	struct rule_ids ids;
	struct rule_set set;

	ck_assert_int_eq(rules_read_text("r.conf", text, strlen(text), &set, &errors), 0);
	ck_assert_int_eq(store_next_ids(fixture->store, &ids), 0);
	ck_assert_int_eq(rules_assign_ids(&set, NULL, &ids), 0);
	ck_assert_int_eq(store_begin_run(fixture->store, &manifest, &policy_default, &set), 0);
	rules_free(&set);
}

void store_fixture_start_limited(struct store_fixture *fixture, uint64_t bytes_max)
{
	store_fixture_make(fixture);
	store_fixture_open(fixture, bytes_max);
	begin_run(fixture);
}

void store_fixture_start(struct store_fixture *fixture)
{
	store_fixture_start_limited(fixture, 64 * MIB);
}

void capture_cleanup(struct capture **capture)
{
	capture_free(*capture);
}

bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	(void)user;
	process->uid = 33;
	snprintf(process->comm, sizeof(process->comm), "nginx-%u", sample->tgid);
	process->cgroup = "/system.slice/web.service";
	process->role = sample->tgid != 666 ? USAGE_TARGET : USAGE_OTHER;
	return true;
}

struct capture *capture_make(const struct sample *samples, uint32_t count)
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
	capture = capture_begin(&trigger, &rings);
	ck_assert_ptr_nonnull(capture);
	capture_drain(capture, describe, NULL);
	capture_end(capture, TRIGGERED + 6 * SECOND, false);
	fake_ring_free(&ring);
	return capture;
}

struct capture *capture_of_stack(int kernel_depth, int user_depth, uint64_t frames)
{
	struct sample sample = sample_make(1, TRIGGERED, kernel_depth, user_depth, frames);

	return capture_make(&sample, 1);
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

/* Returns the position of the frame in `resolved->frames`, and adds the frame if it is not there. */
static uint32_t place_frame(struct resolved *resolved, uint32_t module, int64_t offset, bool unnamed)
{
	struct wanted_frame wanted = { resolved, module, offset };
	uint32_t hash = hash_number_and_bytes(module, &offset, sizeof(offset));
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
	resolved->names_bytes += (uint64_t)length;
	return resolved->frames_count++;
}

void resolve_by_hand(const struct capture *capture, bool unnamed, const char *build_id,
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

int commit(struct store_fixture *fixture, const struct capture *capture, bool unnamed)
{
	struct resolved resolved;
	int result;

	resolve_by_hand(capture, unnamed, "", &resolved);
	result = store_commit_capture(fixture->store, capture, &resolved, fixture->mappings, &(int64_t){ 0 },
				      &(struct stored_verdict){ 0 });
	resolved_free(&resolved);
	return result;
}

static void expect_stored(const struct store_fixture *fixture, int result)
{
	ck_assert_msg(!result, "%s: %s", strerror(-result), store_error(fixture->store));
}

void expect_commit(struct store_fixture *fixture, const struct capture *capture)
{
	expect_stored(fixture, commit(fixture, capture, false));
}

void expect_commit_unnamed(struct store_fixture *fixture, const struct capture *capture)
{
	expect_stored(fixture, commit(fixture, capture, true));
}

void expect_commit_resolved(struct store_fixture *fixture, const struct capture *capture,
			    const struct resolved *resolved)
{
	expect_stored(fixture, store_commit_capture(fixture->store, capture, resolved, fixture->mappings,
						    &(int64_t){ 0 }, &(struct stored_verdict){ 0 }));
}

struct capture *large_capture(struct dice *dice, uint32_t stacks)
{
	_cleanup_free_ struct sample *samples = calloc(stacks, sizeof(*samples));

	for (uint32_t i = 0; i < stacks; i++) {
		samples[i] = sample_make(1 + i % 3, TRIGGERED, 4, 16, 0);
		for (int j = 0; j < 4; j++)
			samples[i].kernel_frames[j] = (int32_t)dice_below(dice, 50);
		for (int j = 0; j < 16; j++)
			samples[i].user_frames[j] = dice_below(dice, 3000);
	}
	return capture_make(samples, stacks);
}

void expect_commit_large(struct store_fixture *fixture, struct dice *dice, int count, uint32_t stacks)
{
	for (int i = 0; i < count; i++) {
		_cleanup_capture_ struct capture *capture = large_capture(dice, stacks);

		capture->trigger.triggered_at += i * (int64_t)SECOND;
		expect_commit(fixture, capture);
	}
}

uint64_t file_bytes(const char *path)
{
	struct stat at;

	return stat(path, &at) ? 0 : (uint64_t)at.st_size;
}
