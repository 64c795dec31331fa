/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a record from the kernel is used only if its type is known and its size is right, that a comm
 * without a NUL gets one, and that task records are used only whole.
 */
#include "common/cleanup.h"
#include "consumer/target/process_events.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

struct heard {
	struct process_event process;
	struct error_event error;
	struct task_record tasks[4];
	struct thread_record threads[4];
	size_t processes_count, errors_count, tasks_count, threads_count;
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

static struct process_events_handlers handlers_make(struct heard *heard)
{
	*heard = (struct heard){ .processes_count = 0 };
	return (struct process_events_handlers){ on_process, on_error, on_task, on_thread, heard };
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
	struct process_events_handlers handlers;
	struct heard heard;

	handlers = handlers_make(&heard);
	ck_assert(dispatch(&handlers, &process, sizeof(process)));
	ck_assert(dispatch(&handlers, &error, sizeof(error)));
	ck_assert_uint_eq(heard.processes_count, 1);
	ck_assert_uint_eq(heard.errors_count, 1);
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
	ck_assert_uint_eq(heard.processes_count + heard.errors_count + heard.tasks_count, 0);
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

Suite *process_events_suite(void)
{
	Suite *suite = suite_create("process_events");
	TCase *events = tcase_create("events");

	tcase_add_test(events, events_are_handed_on);
	tcase_add_test(events, a_comm_without_a_nul);
	tcase_add_loop_test(events, invalid_events, 0, ARRAY_SIZE(refused_cases));
	tcase_add_test(events, task_records_are_used_when_they_are_whole);
	tcase_add_loop_test(events, invalid_tasks, 0, 5);
	tcase_add_test(events, threads_come_between_tasks);
	tcase_add_test(events, free_takes_null);
	suite_add_tcase(suite, events);
	return suite;
}
