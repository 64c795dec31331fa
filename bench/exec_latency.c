/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec_latency measures the time from execve(2) until the new program is known as a target: to the kernel's
 * samplers, by its entry in the targets map, and to the consumer, by its event. It is itself the consumer,
 * with bourdond's code, so that bourdond must not run.
 *
 * The process is forked onto one CPU and watched from another. Its times are the call of execve(2), and the
 * first instruction of its new program, which exec_child reports.
 */
#include "bench/program_stats.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/host/patterns.h"
#include "consumer/host/process_events.h"
#include "consumer/process/kernel_objects.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PATIENCE_NS CLOCK_SECOND_NS

struct observer {
	struct kernel_objects kernel;
	struct process_events *events;
	int epoll;
	size_t child_cpu;
	char *program;
	uint64_t *called_ns; /* shared with the child, which sets it */
	pid_t child;
	uint64_t event_ns; /* of the child; 0 until it arrives */
};

/* ---- the child ---- */

static void __attribute__((noreturn)) run_child(const struct observer *observer, int socket)
{
	char *words[] = { observer->program, (char *)"--say-when", NULL };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(observer->child_cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || dup2(socket, STDIN_FILENO) < 0 ||
	    dup2(socket, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILED);
	__atomic_store_n(observer->called_ns, clock_monotonic_ns(), __ATOMIC_RELEASE);
	execv(observer->program, words);
	_exit(EXIT_FAILED);
}

/* Lets the child end. Returns 0 or -errno. */
static int end_child(const struct observer *observer, int socket, uint64_t *ret_first_ns)
{
	ssize_t got = read(socket, ret_first_ns, sizeof(*ret_first_ns));
	int status;

	shutdown(socket, SHUT_WR);
	if (waitpid(observer->child, &status, 0) != observer->child)
		return -errno;
	return got == sizeof(*ret_first_ns) && !status ? 0 : -ENOEXEC;
}

/* ---- two ways to see the exec ---- */

/* The time when its entry is in the targets map, or 0. */
static uint64_t await_entry(struct observer *observer)
{
	uint64_t deadline_ns = clock_monotonic_ns() + PATIENCE_NS, now_ns;
	uint32_t tgid = (uint32_t)observer->child;
	struct target target;

	do {
		bool found = !bpf_map_lookup_elem(observer->kernel.map_fds[PIN_TARGETS], &tgid, &target);

		now_ns = clock_monotonic_ns();
		if (found)
			return now_ns;
	} while (now_ns < deadline_ns);
	return 0;
}

static void on_process(void *user, const struct process_event *event)
{
	struct observer *observer = user;

	if (event->kind == PROCESS_MATCHED && event->tgid == (uint32_t)observer->child && !observer->event_ns)
		observer->event_ns = clock_monotonic_ns();
}

static void on_error(void *user, const struct error_event *event)
{
	(void)user;
	log_warning("the kernel programs reported error %u (errno %d)", event->code, event->error);
}

static void on_thread(void *user, const struct thread_record *record)
{
	(void)user;
	(void)record;
}

static void on_cgroup(void *user, const struct cgroup_record *record, const char *path)
{
	(void)user;
	(void)record;
	(void)path;
}

static void on_ended(void *user, const struct ended_record *record)
{
	(void)user;
	(void)record;
}

static void on_killed(void *user, const struct kill_record *record)
{
	(void)user;
	(void)record;
}

static void on_task(void *user, const struct task_record *record)
{
	(void)user;
	(void)record;
}

/* The time when the consumer has its event, or 0. */
static uint64_t await_event(struct observer *observer)
{
	uint64_t deadline_ns = clock_monotonic_ns() + PATIENCE_NS;
	struct epoll_event ready;

	observer->event_ns = 0;
	while (!observer->event_ns && clock_monotonic_ns() < deadline_ns)
		if (epoll_wait(observer->epoll, &ready, 1, 100) > 0)
			process_events_consume(observer->events);
	return observer->event_ns;
}

/* One exec, and a line for it: ns since the call of execve(2); 0 for what was not seen. */
static int observe(struct observer *observer, const char *what, uint64_t (*await)(struct observer *))
{
	_cleanup_close_ int ours = -EBADF, theirs = -EBADF;
	uint64_t seen_ns, called_ns, first_ns;
	int ends[2], result;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	__atomic_store_n(&observer->kernel.control->heartbeat_ns, clock_monotonic_ns(), __ATOMIC_RELEASE);
	observer->child = fork();
	if (observer->child < 0)
		return -errno;
	if (!observer->child)
		run_child(observer, theirs);
	seen_ns = await(observer);
	close(TAKE_FD(theirs));
	result = end_child(observer, ours, &first_ns);
	if (result < 0)
		return result;
	called_ns = __atomic_load_n(observer->called_ns, __ATOMIC_ACQUIRE);
	printf("%s_ns=%" PRIu64 " %s_first_ns=%" PRIu64 "\n", what, seen_ns ? seen_ns - called_ns : 0, what,
	       first_ns - called_ns);
	return 0;
}

/* ---- what both ways need ---- */

/* Makes the processes with the program's comm targets. */
static int publish(const struct observer *observer)
{
	struct config_errors errors = { 0 };
	struct rule_ids ids = { 1, 1 };
	struct rule_set rules;
	char text[PATH_MAX];
	int result, length = snprintf(text, sizeof(text), "[rule child]\ncomm = %s\nio.full = 100%%\n",
				      basename(observer->program));

	result = rules_read_text("made.conf", text, (size_t)length, &rules, &errors);
	config_errors_log(&errors);
	config_errors_free(&errors);
	if (result < 0)
		return result;
	result = rules_assign_ids(&rules, NULL, &ids);
	if (!result)
		result = patterns_publish(&observer->kernel, &rules);
	rules_free(&rules);
	return result;
}

/* The child runs on the last CPU, this program on the others. */
static int part_cpus(struct observer *observer)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -errno;
	if (CPU_COUNT(&cpus) < 2)
		return -ENODEV;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			observer->child_cpu = cpu;
	CPU_CLR(observer->child_cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

static int open_events(struct observer *observer)
{
	struct process_events_handlers handlers = { on_process, on_error,  on_ended,  on_task,
						    on_thread,  on_cgroup, on_killed, observer };
	struct epoll_event readable = { .events = EPOLLIN };
	int result = process_events_open(&observer->events, &observer->kernel, &handlers);

	if (result < 0)
		return result;
	observer->epoll = epoll_create1(EPOLL_CLOEXEC);
	return epoll_ctl(observer->epoll, EPOLL_CTL_ADD, process_events_fd(observer->events), &readable)
		       ? -errno
		       : 0;
}

/* The cost of the programs that an exec runs: first for the new name, then for the new program. */
static int print_programs(const char *pin_dir, uint64_t execs)
{
	static const char *const programs[] = { "prog_target_rename", "prog_target_exec" };
	struct program_stats stats = { .runs = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		_cleanup_close_ int program = -EBADF;
		char path[PATH_MAX];
		int result;

		snprintf(path, sizeof(path), "%s/%s", pin_dir, programs[i]);
		program = bpf_obj_get(path);
		result = program < 0 ? program : program_stats_add(program, &stats);
		if (result < 0)
			return result;
	}
	printf("program_ns=%" PRIu64 "\n", stats.run_ns / execs);
	return 0;
}

static int measure(struct observer *observer, const char *pin_dir, uint64_t execs)
{
	_cleanup_close_ int stats = program_stats_enable();
	int result = stats < 0 ? stats : part_cpus(observer);

	if (!result)
		result = publish(observer);
	if (!result)
		result = open_events(observer);
	for (uint64_t i = 0; i < execs && !result; i++)
		result = observe(observer, "map", await_entry);
	if (!result)
		result = print_programs(pin_dir, execs);
	process_events_consume(observer->events);
	for (uint64_t i = 0; i < execs && !result; i++)
		result = observe(observer, "event", await_event);
	return result;
}

static int run(struct observer *observer, const char *pin_dir, const char *run_dir, uint64_t execs)
{
	int result = kernel_objects_open(&observer->kernel, pin_dir, run_dir);

	if (!result)
		result = kernel_objects_map(&observer->kernel);
	if (result < 0)
		return result;
	observer->called_ns = mmap(NULL, sizeof(*observer->called_ns), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	result = observer->called_ns == MAP_FAILED ? -errno : measure(observer, pin_dir, execs);
	if (observer->called_ns != MAP_FAILED)
		munmap(observer->called_ns, sizeof(*observer->called_ns));
	cleanup_close(&observer->epoll);
	process_events_free(observer->events);
	kernel_objects_close(&observer->kernel);
	return result;
}

int main(int count, char **words)
{
	const char *pin_dir = PIN_DIRECTORY_DEFAULT, *run_dir = RUN_DIRECTORY_DEFAULT, *text = "1000";
	const struct option_spec options[] = {
		{ "pin-dir", "DIR", "the pins (" PIN_DIRECTORY_DEFAULT ")", &pin_dir },
		{ "run-dir", "DIR", "their manifest (" RUN_DIRECTORY_DEFAULT ")", &run_dir },
		{ "execs", "N", "execs for each of the two ways (1000)", &text },
	};
	const struct command_spec command = { "exec_latency",
					      "PROGRAM [OPTION...]",
					      "Measures how soon an executed program is known as a target.",
					      "exec_latency build/bench/exec_child --execs 1000",
					      options,
					      ARRAY_SIZE(options) };
	struct observer observer = { .epoll = -EBADF };
	unsigned long long execs;
	int positional, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &positional);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (positional != 1 || options_number(text, 1, 1000000, &execs)) {
		log_error("expected a program and 1 to 1000000 execs: see --help");
		return EXIT_USAGE;
	}
	observer.program = words[1];
	error = run(&observer, pin_dir, run_dir, execs);
	if (error)
		log_error("cannot measure the latency: %s",
			  error == -ENODEV ? "this machine has one CPU, two are needed" : strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
