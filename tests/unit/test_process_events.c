/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a record from the kernel is used only if its type is known and its size is right, that a comm
 * without a NUL gets one, and that task records and paths of cgroups are used only whole.
 */
#include "common/base/cleanup.h"
#include "consumer/host/process_events.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

struct heard {
	struct process_event process;
	struct error_event error;
	struct task_record tasks[4];
	struct thread_record threads[4];
	struct ended_record ended;
	struct kill_record killed;
	struct cgroup_record cgroup; /* the last one, and its path */
	char path[CGROUP_PATH_BYTES + 1];
	size_t processes_count, errors_count, ended_count, killed_count, tasks_count, threads_count,
		cgroups_count;
};

static void on_process(void *user, const struct process_event *event)
{
	struct heard *heard = user;

	heard->process = *event;
	heard->processes_count++;
}

static void on_error(void *user, const struct error_event *event)
{
	struct heard *heard = user;

	heard->error = *event;
	heard->errors_count++;
}

static void on_task(void *user, const struct task_record *record)
{
	struct heard *heard = user;

	ck_assert_uint_lt(heard->tasks_count, ARRAY_SIZE(heard->tasks));
	heard->tasks[heard->tasks_count++] = *record;
}

static void on_thread(void *user, const struct thread_record *record)
{
	struct heard *heard = user;

	ck_assert_uint_lt(heard->threads_count, ARRAY_SIZE(heard->threads));
	heard->threads[heard->threads_count++] = *record;
}

static void on_ended(void *user, const struct ended_record *record)
{
	struct heard *heard = user;

	heard->ended = *record;
	heard->ended_count++;
}

static void on_killed(void *user, const struct kill_record *record)
{
	struct heard *heard = user;

	heard->killed = *record;
	heard->killed_count++;
}

static void on_cgroup(void *user, const struct cgroup_record *record, const char *path)
{
	struct heard *heard = user;

	heard->cgroup = *record;
	memcpy(heard->path, path, record->path_bytes);
	heard->path[record->path_bytes] = '\0';
	heard->cgroups_count++;
}

static struct process_events_handlers handlers_make(struct heard *heard)
{
	*heard = (struct heard){ .processes_count = 0 };
	return (struct process_events_handlers){ on_process, on_error,  on_ended,  on_task,
						 on_thread,  on_cgroup, on_killed, heard };
}

static bool dispatch(const struct process_events_handlers *handlers, const void *record, size_t bytes)
{
	char *exact = malloc(bytes + !bytes); /* a sanitizer sees reads behind the end */
	bool taken;

	memcpy(exact, record, bytes);
	taken = process_events_dispatch(handlers, exact, bytes);
	free(exact);
	return taken;
}

START_TEST(events_are_handed_on)
{
	struct process_event process = { .header = { RECORD_PROCESS, sizeof(process) },
					 .kind = PROCESS_MATCHED,
					 .tgid = 1,
					 .pattern_id = 2,
					 .started_ns = 3,
					 .cgroup_id = 4,
					 .uid = 5,
					 .comm = "nginx" };
	struct error_event error = { .header = { RECORD_ERROR, sizeof(error) },
				     .code = 1,
				     .tgid = 2,
				     .error = -ENOMEM,
				     .time_ns = 4,
				     .comm = "sh" };
	struct ended_record ended = { .header = { RECORD_ENDED, sizeof(ended) },
				      .tgid = 7,
				      .started_ns = 8,
				      .usage = { .cpu_ns = 9 } };
	struct kill_record killed = { .header = { RECORD_KILL, sizeof(killed) },
				      .how = KILL_OOM,
				      .tgid = 7,
				      .comm = "sixteen bytes...",
				      .by_comm = "sixteen bytes..." };
	struct process_events_handlers handlers;
	struct heard heard;

	handlers = handlers_make(&heard);
	ck_assert(dispatch(&handlers, &process, sizeof(process)));
	ck_assert(dispatch(&handlers, &error, sizeof(error)));
	ck_assert(dispatch(&handlers, &ended, sizeof(ended)));
	ck_assert_uint_eq(heard.processes_count, 1);
	ck_assert_uint_eq(heard.errors_count, 1);
	ck_assert_uint_eq(heard.ended_count, 1);
	ck_assert_mem_eq(&heard.ended, &ended, sizeof(ended));
	ended.header.bytes--;
	ck_assert(!dispatch(&handlers, &ended, sizeof(ended)));
	memset(killed.limit_name, 'x', sizeof(killed.limit_name));
	ck_assert(dispatch(&handlers, &killed, sizeof(killed)));
	ck_assert_uint_eq(heard.killed.tgid, 7);
	ck_assert_str_eq(heard.killed.comm, "sixteen bytes..");
	ck_assert_str_eq(heard.killed.by_comm, "sixteen bytes..");
	ck_assert_uint_eq(strlen(heard.killed.limit_name), KILL_LIMIT_NAME_BYTES - 1);
	ck_assert(!dispatch(&handlers, &killed, sizeof(killed) - 1));
	killed.header.bytes--;
	ck_assert(!dispatch(&handlers, &killed, sizeof(killed)));
	ck_assert_uint_eq(heard.killed_count, 1);
	ck_assert_mem_eq(&heard.process, &process, sizeof(process));
	ck_assert_mem_eq(&heard.error, &error, sizeof(error));
}
END_TEST

START_TEST(a_comm_without_a_nul)
{
	struct process_event process = { .header = { RECORD_PROCESS, sizeof(process) } };
	struct error_event error = { .header = { RECORD_ERROR, sizeof(error) } };
	struct task_record task = { .header = { RECORD_TASK, sizeof(task) } };
	struct process_events_handlers handlers;
	struct heard heard;

	memset(process.comm, 'p', sizeof(process.comm));
	memset(error.comm, 'e', sizeof(error.comm));
	memset(task.comm, 't', sizeof(task.comm));
	handlers = handlers_make(&heard);
	ck_assert(dispatch(&handlers, &process, sizeof(process)));
	ck_assert(dispatch(&handlers, &error, sizeof(error)));
	ck_assert_int_eq(process_events_dispatch_tasks(&handlers, (const char *)&task, sizeof(task)),
			 sizeof(task));
	ck_assert_str_eq(heard.process.comm, "ppppppppppppppp");
	ck_assert_str_eq(heard.error.comm, "eeeeeeeeeeeeeee");
	ck_assert_str_eq(heard.tasks[0].comm, "ttttttttttttttt");
}
END_TEST

struct refused_case {
	uint16_t type, says;
	size_t bytes;
};

static const struct refused_case refused_cases[] = {
	{ RECORD_PROCESS, sizeof(struct process_event), 0 },
	{ RECORD_PROCESS, sizeof(struct process_event), 1 },
	{ RECORD_PROCESS, sizeof(struct process_event), 3 },
	{ RECORD_PROCESS, sizeof(struct process_event), 4 },
	{ RECORD_PROCESS, sizeof(struct process_event), sizeof(struct process_event) - 1 },
	{ RECORD_PROCESS, sizeof(struct process_event) - 1, sizeof(struct process_event) },
	{ RECORD_PROCESS, sizeof(struct process_event) + 1, sizeof(struct process_event) },
	{ RECORD_PROCESS, sizeof(struct process_event) + 1, sizeof(struct process_event) + 1 },
	{ RECORD_PROCESS, 0, sizeof(struct process_event) },
	{ RECORD_PROCESS, sizeof(struct error_event), sizeof(struct error_event) },
	{ RECORD_ERROR, sizeof(struct error_event), sizeof(struct error_event) - 1 },
	{ RECORD_ERROR, sizeof(struct process_event), sizeof(struct process_event) },
	{ RECORD_ERROR, UINT16_MAX, sizeof(struct error_event) },
	{ RECORD_SAMPLE, sizeof(struct sample), sizeof(struct sample) },
	{ RECORD_TASK, sizeof(struct task_record), sizeof(struct task_record) },
	{ RECORD_MAPPING, sizeof(struct mapping_record), sizeof(struct mapping_record) },
	{ RECORD_CGROUP, sizeof(struct cgroup_record), sizeof(struct cgroup_record) - 1 },
	{ RECORD_CGROUP, sizeof(struct cgroup_record) - 1, sizeof(struct cgroup_record) },
	{ RECORD_CGROUP, sizeof(struct cgroup_record) + 1, sizeof(struct cgroup_record) + 1 },
	/* neither a path nor a reason why there is none */
	{ RECORD_CGROUP, sizeof(struct cgroup_record), sizeof(struct cgroup_record) },
	{ 0, 0, 64 },
	{ UINT16_MAX, sizeof(struct process_event), sizeof(struct process_event) },
};

START_TEST(invalid_events)
{
	const struct refused_case *one = &refused_cases[_i];
	struct record_header header = { one->type, one->says };
	char bytes[sizeof(struct sample)] = { 0 };
	struct process_events_handlers handlers;
	struct heard heard;

	memcpy(bytes, &header, sizeof(header));
	handlers = handlers_make(&heard);
	ck_assert(!dispatch(&handlers, bytes, one->bytes));
	ck_assert_uint_eq(
		heard.processes_count + heard.errors_count + heard.tasks_count + heard.cgroups_count, 0);
}
END_TEST

struct cgroup_case {
	const char *what;
	const char *path;
	size_t path_bytes; /* as the record says */
	size_t lacking;    /* bytes behind it that are not there */
	uint32_t flags;
	bool valid;
};

static const struct cgroup_case cgroup_cases[] = {
	{ "a path", "/a/b", 4, 0, 0, true },
	{ "the root", "/", 1, 0, 0, true },
	{ "too long", "", 0, 0, CGROUP_TOO_LONG, true },
	{ "any bytes", "/\x1b[2J\xff", 6, 0, 0, true },
	{ "longer than what is there", "/a/b", 5, 1, 0, false },
	{ "longer than any", "/a/b", CGROUP_PATH_BYTES + 1, CGROUP_PATH_BYTES - 3, 0, false },
	{ "the largest number", "/a/b", UINT32_MAX, 0, 0, false },
	{ "relative", "a/b", 3, 0, 0, false },
	{ "a NUL within", "/a\0b", 4, 0, 0, false },
	{ "a path, and too long", "/a", 2, 0, CGROUP_TOO_LONG, false },
};

static size_t cgroup_put(char *at, const struct cgroup_case *one)
{
	const struct cgroup_record record = { .header = { RECORD_CGROUP, sizeof(record) },
					      .cgroup_id = 7,
					      .account = 8,
					      .flags = one->flags,
					      .path_bytes = (uint32_t)one->path_bytes };
	size_t there = one->path_bytes == UINT32_MAX ? 4 : one->path_bytes - one->lacking;

	memcpy(at, &record, sizeof(record));
	memcpy(at + sizeof(record), one->path, there);
	return sizeof(record) + there;
}

START_TEST(paths_of_cgroups)
{
	const struct cgroup_case *one = &cgroup_cases[_i];
	char bytes[256];
	size_t length = cgroup_put(bytes, one);
	struct process_events_handlers handlers;
	struct heard heard;

	handlers = handlers_make(&heard);
	ck_assert_msg(dispatch(&handlers, bytes, length) == one->valid, "%s", one->what);
	ck_assert_uint_eq(heard.cgroups_count, one->valid);
	if (!one->valid)
		return;
	ck_assert_uint_eq(heard.cgroup.cgroup_id, 7);
	ck_assert_uint_eq(heard.cgroup.account, 8);
	ck_assert_uint_eq(heard.cgroup.flags, one->flags);
	ck_assert_str_eq(heard.path, one->path);
}
END_TEST

START_TEST(paths_of_cgroups_come_between_tasks)
{
	const struct cgroup_case *one = &cgroup_cases[_i];
	const struct task_record task = { .header = { RECORD_TASK, sizeof(task) }, .tgid = 1 };
	struct process_events_handlers handlers;
	char bytes[1024], *exact;
	struct heard heard;
	size_t path, length;
	long consumed;

	memcpy(bytes, &task, sizeof(task));
	path = cgroup_put(bytes + sizeof(task), one);
	memcpy(bytes + sizeof(task) + path, &task, sizeof(task));
	length = path + 2 * sizeof(task);
	if (one->lacking)
		length = sizeof(task) + path;
	exact = malloc(length);
	memcpy(exact, bytes, length);
	handlers = handlers_make(&heard);
	consumed = process_events_dispatch_tasks(&handlers, exact, length);
	free(exact);
	if (one->valid) {
		ck_assert_int_eq(consumed, (long)length);
		ck_assert_uint_eq(heard.tasks_count, 2);
		ck_assert_str_eq(heard.path, one->path);
	} else if (one->path_bytes <= CGROUP_PATH_BYTES && one->lacking) {
		ck_assert_int_eq(consumed, sizeof(task)); /* the next read has the rest */
	} else {
		ck_assert_int_eq(consumed, -EBADMSG);
	}
	ck_assert_uint_eq(heard.cgroups_count, one->valid);
}
END_TEST

START_TEST(task_records_are_used_when_they_are_whole)
{
	struct task_record tasks[3];

	for (uint32_t i = 0; i < 3; i++)
		tasks[i] = (struct task_record){ .header = { RECORD_TASK, sizeof(tasks[0]) },
						 .tgid = i,
						 .pattern_id = i,
						 .started_ns = i,
						 .comm = "task" };
	for (size_t bytes = 0; bytes <= sizeof(tasks); bytes++) {
		size_t whole = bytes / sizeof(tasks[0]);
		char *exact = malloc(bytes + !bytes);
		struct process_events_handlers handlers;
		struct heard heard;

		memcpy(exact, tasks, bytes);
		handlers = handlers_make(&heard);
		HOLDS(process_events_dispatch_tasks(&handlers, exact, bytes) ==
		      (long)(whole * sizeof(tasks[0])));
		HOLDS(heard.tasks_count == whole);
		HOLDS(!memcmp(heard.tasks, tasks, whole * sizeof(tasks[0])));
		free(exact);
	}
}
END_TEST

START_TEST(threads_come_between_tasks)
{
	struct stream {
		struct task_record task;
		struct thread_record threads[2];
		struct task_record last;
	} stream = { .task = { .header = { RECORD_TASK, sizeof(stream.task) }, .tgid = 1 },
		     .threads = { { .header = { RECORD_THREAD, sizeof(stream.threads[0]) }, .tgid = 1 },
				  { .header = { RECORD_THREAD, sizeof(stream.threads[0]) }, .tgid = 7 } },
		     .last = { .header = { RECORD_TASK, sizeof(stream.last) }, .tgid = 2 } };
	struct process_events_handlers handlers;
	struct heard heard;

	handlers = handlers_make(&heard);
	/* the last byte is missing: the record waits for the next read */
	ck_assert_int_eq(process_events_dispatch_tasks(&handlers, (const char *)&stream, sizeof(stream) - 1),
			 (long)offsetof(struct stream, last));
	ck_assert_uint_eq(heard.tasks_count, 1);
	ck_assert_uint_eq(heard.threads_count, 2);
	ck_assert_uint_eq(heard.threads[1].tgid, 7);
}
END_TEST

START_TEST(invalid_tasks)
{
	static const struct record_header headers[] = { { RECORD_PROCESS, sizeof(struct task_record) },
							{ RECORD_TASK, sizeof(struct task_record) - 1 },
							{ RECORD_TASK, sizeof(struct task_record) + 1 },
							{ RECORD_THREAD, sizeof(struct task_record) },
							{ 0, 0 } };
	struct task_record tasks[2] = { { .header = { RECORD_TASK, sizeof(tasks[0]) } } };
	struct process_events_handlers handlers;
	struct heard heard;

	tasks[1].header = headers[_i];
	handlers = handlers_make(&heard);
	ck_assert_int_eq(process_events_dispatch_tasks(&handlers, (const char *)tasks, sizeof(tasks)),
			 -EBADMSG);
	ck_assert_uint_le(heard.tasks_count, 1);
}
END_TEST

START_TEST(free_takes_null)
{
	process_events_free(NULL);
}
END_TEST

SUITE(process_events)
{
	Suite *suite = suite_create("process_events");
	TCase *events = tcase_create("events");

	tcase_add_test(events, events_are_handed_on);
	tcase_add_test(events, a_comm_without_a_nul);
	tcase_add_loop_test(events, invalid_events, 0, ARRAY_SIZE(refused_cases));
	tcase_add_loop_test(events, paths_of_cgroups, 0, ARRAY_SIZE(cgroup_cases));
	tcase_add_loop_test(events, paths_of_cgroups_come_between_tasks, 0, ARRAY_SIZE(cgroup_cases));
	tcase_add_test(events, task_records_are_used_when_they_are_whole);
	tcase_add_loop_test(events, invalid_tasks, 0, 5);
	tcase_add_test(events, threads_come_between_tasks);
	tcase_add_test(events, free_takes_null);
	suite_add_tcase(suite, events);
	return suite;
}
