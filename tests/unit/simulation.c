/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/simulation.h"

#include "common/base/cleanup.h"
#include "common/policy/comm_pattern.h"
#include "common/protocol/status_line.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define PERIOD_NS (SECOND / 47)

static const char pressure_of_none[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
				       "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

TCase *simulation_case(const char *name)
{
	TCase *tests = tcase_create(name);

	return tests;
}

/* ---- the clock ---- */

static uint64_t read_clock(void *user, clockid_t clock)
{
	const struct simulation *simulation = user;

	switch (clock) {
	case CLOCK_REALTIME:
		return (uint64_t)(SIMULATION_BEGAN_AT + simulation->wall_ahead_ns) +
		       (simulation->now_ns - SIMULATION_BEGAN) + simulation->suspended_ns;
	case CLOCK_BOOTTIME:
		return simulation->now_ns + simulation->suspended_ns;
	case CLOCK_MONOTONIC:
		return simulation->now_ns;
	default:
		return 0; /* work takes no CPU time */
	}
}

void simulation_set_wall(struct simulation *simulation, int64_t ahead_ns)
{
	simulation->wall_ahead_ns += ahead_ns;
}

void simulation_suspend(struct simulation *simulation, uint64_t ns)
{
	simulation->suspended_ns += ns;
}

/* ---- the kernel's programs ---- */

/* What the programs take the process for: a pattern's, wanted, or nothing (0). */
static uint32_t match(struct simulation *simulation, const struct simulated_process *process)
{
	struct fake_kernel *kernel = &simulation->kernel;
	const struct control *control = kernel->objects.control;
	const struct pattern_key comm = comm_lookup_key(process->comm);
	const struct wanted_key wanted = { .kind = WANTED_PROCESS, .what = { process->tgid } };
	struct wanted_until until;
	uint32_t pattern_id;

	if (process->is_kernel || process->is_denied)
		return 0;
	if (fake_kernel_get(kernel, control->live_patterns & 1 ? PIN_PATTERNS_B : PIN_PATTERNS_A, &comm,
			    &pattern_id))
		return pattern_id;
	if (control->wanted & WANTED_IN_PROCESSES && fake_kernel_get(kernel, PIN_WANTED, &wanted, &until) &&
	    until.started_ns == process->started_ns && until.until_ns > simulation->now_ns)
		return PATTERN_WANTED;
	return 0;
}

static const char *path_of(const struct simulation *simulation, uint64_t cgroup_id);

/* Tells the path of the cgroup if the daemon does not know it. Into the iterator's stream, or else the ring. */
static void tell_cgroup(struct simulation *simulation, uint64_t cgroup_id, FILE *out)
{
	const char *path = path_of(simulation, cgroup_id);
	const struct cgroup_record record = { .header = { RECORD_CGROUP, sizeof(record) },
					      .path_bytes = (uint32_t)strlen(path),
					      .cgroup_id = cgroup_id,
					      .account = cgroup_id };
	uint32_t known;

	if (fake_kernel_get(&simulation->kernel, PIN_CGROUPS_KNOWN, &cgroup_id, &known))
		return;
	if (out && fwrite(&record, sizeof(record), 1, out) == 1)
		fputs(path, out);
	else
		fake_kernel_tell(&simulation->kernel, PIN_CGROUP_PATHS, &record, sizeof(record), path);
}

static void tell(struct simulation *simulation, const struct simulated_process *process, uint32_t kind)
{
	bool matched = kind == PROCESS_MATCHED;
	struct process_event event = { .header = { RECORD_PROCESS, sizeof(event) },
				       .kind = kind,
				       .tgid = process->tgid,
				       .pattern_id = process->pattern_id,
				       .started_ns = process->started_ns };

	if (simulation->events_are_lost)
		return;
	if (matched) {
		event.cgroup_id = process->cgroup_id;
		event.program = process->program;
		memcpy(event.comm, process->comm, sizeof(event.comm));
		tell_cgroup(simulation, process->cgroup_id, NULL);
	}
	fake_kernel_tell(&simulation->kernel, PIN_EVENTS, &event, sizeof(event), NULL);
}

/* As bpf/target.bpf.c at exec, fork and rename. */
static void look_at(struct simulation *simulation, struct simulated_process *process)
{
	uint32_t pattern_id = match(simulation, process);

	if (!pattern_id && process->pattern_id)
		tell(simulation, process, PROCESS_UNMATCHED);
	process->pattern_id = pattern_id;
	if (pattern_id)
		tell(simulation, process, PROCESS_MATCHED);
}

static void write_task(struct simulation *simulation, struct simulated_process *process, FILE *out)
{
	struct task_record record = { .header = { RECORD_TASK, sizeof(record) },
				      .usage = { .cpu_ns = process->cpu_ns } };

	if (process->is_denied) {
		record.flags = TASK_DENIED;
	} else {
		process->pattern_id = match(simulation, process);
		record.tgid = process->tgid;
		record.pattern_id = process->pattern_id;
		record.started_ns = process->started_ns;
		record.cgroup_id = process->cgroup_id;
		record.program = process->program;
		record.flags = process->is_kernel ? TASK_KERNEL : 0;
		memcpy(record.comm, process->comm, sizeof(record.comm));
		tell_cgroup(simulation, process->cgroup_id, out);
	}
	ck_assert_uint_eq(fwrite(&record, sizeof(record), 1, out), 1);
}

static void write_program(struct simulation *simulation, FILE *out)
{
	const struct program_cost cost = { .header = { RECORD_PROGRAM, sizeof(cost) },
					   .name = { "offcpu_switch" },
					   .runs = simulation->programs.runs,
					   .run_ns = simulation->programs.run_ns,
					   .missed = simulation->programs.missed };

	simulation->programs.runs += simulation->programs.are_counted;
	ck_assert_uint_eq(fwrite(&cost, sizeof(cost), 1, out), 1);
}

/* The mappings and the states of threads are those of no process. */
static void iterate(void *user, enum pin_iterator iterator, FILE *out)
{
	struct simulation *simulation = user;

	for (size_t i = 0; i < SIMULATION_PROCESSES && iterator == PIN_TASKS; i++)
		if (simulation->processes[i].tgid)
			write_task(simulation, &simulation->processes[i], out);
	if (iterator == PIN_PROGRAMS)
		write_program(simulation, out);
}

static bool is_quiet(const struct simulation *simulation, uint64_t at_ns)
{
	const struct kernel_objects *objects = &simulation->kernel.objects;

	return at_ns > objects->control->heartbeat_ns &&
	       at_ns - objects->control->heartbeat_ns > objects->manifest.quiet_after_ns;
}

static struct sample sample_of(const struct simulated_process *process, int cpu, uint64_t at_ns)
{
	/* user frames that are each process's own */
	struct sample sample = sample_make(process->tgid, at_ns, 1, 3, process->tgid * 1000UL);

	sample.cpu = (uint32_t)cpu;
	sample.started_ns = process->started_ns;
	sample.cgroup_id = process->cgroup_id;
	sample.pattern_id = process->pattern_id;
	sample.program = process->program;
	sample.of = (uint8_t)(process->is_kernel    ? SAMPLE_OF_KERNEL
			      : process->pattern_id ? SAMPLE_OF_TARGET
						    : SAMPLE_OF_BYSTANDER);
	sample.kernel_frames[0] = 100;
	memcpy(sample.comm, process->comm, sizeof(sample.comm));
	return sample;
}

/* As bpf/oncpu.bpf.c at each tick until now. */
static void take_samples(struct simulation *simulation, struct simulated_process *process)
{
	while (process->cpu >= 0 && simulation->now_ns - process->sampled_ns >= PERIOD_NS) {
		struct sample sample;

		process->sampled_ns += PERIOD_NS;
		process->cpu_ns += PERIOD_NS;
		if (process->is_denied)
			continue;
		if (is_quiet(simulation, process->sampled_ns)) {
			fake_kernel_add_count(&simulation->kernel, COUNTER_SAMPLES_QUIET, 1);
			continue;
		}
		sample = sample_of(process, process->cpu, process->sampled_ns);
		sample.weight_ns = PERIOD_NS;
		fake_ring_write(&simulation->oncpu[process->cpu], &sample);
	}
}

void simulation_was_off(struct simulation *simulation, const struct simulated_process *process, int cpu,
			uint64_t ns, uint8_t stall)
{
	struct sample sample = sample_of(process, cpu, simulation->now_ns);

	sample.kind = SAMPLE_OFF_CPU;
	sample.weight_ns = ns;
	sample.left_ns = simulation->now_ns - ns;
	sample.woken_ns = simulation->now_ns;
	sample.stall = stall;
	fake_ring_write(&simulation->offcpu[cpu], &sample);
}

/* As bpf/sums.bpf.c, with slots of the shortest length. */
void simulation_waited(struct simulation *simulation, const struct simulated_process *process,
		       unsigned int account, uint64_t ns)
{
	uint64_t number = simulation->now_ns >> ACCOUNT_SLOT_BITS, of_slot = number << ACCOUNT_SLOT_NS_BITS;
	struct victim_sums sums = { .cgroup_id = process->cgroup_id };
	__u64 *slot = &sums.slots[account][number % ACCOUNT_SLOTS];

	memcpy(sums.comm, process->comm, sizeof(sums.comm));
	fake_kernel_get(&simulation->kernel, PIN_VICTIMS, &process->tgid, &sums);
	if (*slot >> ACCOUNT_SLOT_NS_BITS != of_slot >> ACCOUNT_SLOT_NS_BITS)
		*slot = of_slot;
	*slot += ns;
	fake_kernel_put(&simulation->kernel, PIN_VICTIMS, &process->tgid, &sums);
}

/* ---- processes ---- */

struct simulated_process *simulation_begin(struct simulation *simulation, uint32_t tgid, const char *comm,
					   const char *cgroup)
{
	_cleanup_free_ char *path = NULL;
	struct simulated_process *process = simulation->processes;
	struct stat at;

	while (process < simulation->processes + SIMULATION_PROCESSES && process->tgid)
		process++;
	ck_assert(process < simulation->processes + SIMULATION_PROCESSES);
	ck_assert_int_ge(asprintf(&path, "%s%s", simulation->mount, cgroup), 0);
	ck_assert_msg(!stat(path, &at), "no cgroup %s", cgroup);
	*process = (struct simulated_process){ .tgid = tgid,
					       .program = 1,
					       .started_ns = simulation->now_ns + simulation->suspended_ns,
					       .cgroup_id = at.st_ino,
					       .cpu = -1 };
	snprintf(process->comm, sizeof(process->comm), "%s", comm);
	look_at(simulation, process);
	return process;
}

void simulation_rename(struct simulation *simulation, struct simulated_process *process, const char *comm)
{
	snprintf(process->comm, sizeof(process->comm), "%s", comm);
	look_at(simulation, process);
}

void simulation_move(struct simulation *simulation, struct simulated_process *process, const char *cgroup)
{
	_cleanup_free_ char *path = NULL;
	struct stat at;

	ck_assert_int_ge(asprintf(&path, "%s%s", simulation->mount, cgroup), 0);
	ck_assert_msg(!stat(path, &at), "no cgroup %s", cgroup);
	process->cgroup_id = at.st_ino; /* no event tells it: the next walk does */
	tell_cgroup(simulation, at.st_ino, NULL);
}

void simulation_end(struct simulation *simulation, struct simulated_process *process)
{
	struct ended_record ended = { .header = { RECORD_ENDED, sizeof(ended) },
				      .tgid = process->tgid,
				      .started_ns = process->started_ns };

	take_samples(simulation, process);
	ended.usage.cpu_ns = process->cpu_ns;
	fake_kernel_tell(&simulation->kernel, PIN_CGROUP_PATHS, &ended, sizeof(ended), NULL);
	if (process->pattern_id)
		tell(simulation, process, PROCESS_EXITED);
	process->tgid = 0;
}

void simulation_end_by(struct simulation *simulation, struct simulated_process *process,
		       struct kill_record kill)
{
	kill.header = (struct record_header){ RECORD_KILL, sizeof(kill) };
	kill.time_ns = simulation->now_ns;
	if (process->is_denied) {
		kill.flags |= KILL_DENIED;
	} else {
		kill.tgid = process->tgid;
		kill.cgroup_id = process->cgroup_id;
		memcpy(kill.comm, process->comm, sizeof(kill.comm));
		tell_cgroup(simulation, process->cgroup_id, NULL);
	}
	if (kill.by_cgroup_id)
		tell_cgroup(simulation, kill.by_cgroup_id, NULL);
	fake_kernel_tell(&simulation->kernel, kill.how == KILL_OOM ? PIN_EVENTS : PIN_CGROUP_PATHS, &kill,
			 sizeof(kill), NULL);
	simulation_end(simulation, process);
}

void simulation_put_on(struct simulation *simulation, struct simulated_process *process, int cpu)
{
	take_samples(simulation, process);
	process->cpu = cpu;
	process->sampled_ns = simulation->now_ns;
}

/* ---- files ---- */

static uint64_t searched_id;
static char found_path[PATH_MAX];

static int search(const char *path, const struct stat *at, int type, struct FTW *where)
{
	(void)type, (void)where;
	if (at->st_ino != searched_id)
		return 0;
	snprintf(found_path, sizeof(found_path), "%s", path);
	return 1;
}

static const char *path_of(const struct simulation *simulation, uint64_t cgroup_id)
{
	const char *path;

	searched_id = cgroup_id;
	ck_assert_int_eq(nftw(simulation->mount, search, 8, FTW_PHYS), 1);
	path = found_path + strlen(simulation->mount);
	return *path ? path : "/";
}

static char *pressure_file(const struct simulation *simulation, const char *cgroup,
			   enum psi_resource resource)
{
	char *path;

	ck_assert_int_ge(
		asprintf(&path, "%s%s/%s.pressure", simulation->mount, cgroup, psi_resource_names[resource]),
		0);
	return path;
}

uint64_t simulation_make_cgroup(struct simulation *simulation, const char *cgroup)
{
	_cleanup_free_ char *path = NULL;
	struct stat at;

	ck_assert_int_ge(asprintf(&path, "%s%s", simulation->mount, cgroup), 0);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	for (int i = 0; i < PSI_RESOURCES; i++) {
		_cleanup_free_ char *file = pressure_file(simulation, cgroup, (enum psi_resource)i);

		file_put(file, pressure_of_none, strlen(pressure_of_none));
	}
	ck_assert_int_eq(stat(path, &at), 0);
	return at.st_ino;
}

void simulation_remove_cgroup(struct simulation *simulation, const char *cgroup)
{
	_cleanup_free_ char *path = NULL;

	for (int i = 0; i < PSI_RESOURCES; i++) {
		_cleanup_free_ char *file = pressure_file(simulation, cgroup, (enum psi_resource)i);

		/* a reader of a removed cgroup's file gets an error; here, a text that is none */
		file_put(file, "", 0);
		ck_assert_int_eq(unlink(file), 0);
	}
	ck_assert_int_ge(asprintf(&path, "%s%s", simulation->mount, cgroup), 0);
	ck_assert_int_eq(rmdir(path), 0);
}

void simulation_press(struct simulation *simulation, const char *cgroup, enum psi_resource resource,
		      uint64_t stalled_us)
{
	_cleanup_free_ char *path = pressure_file(simulation, cgroup, resource), *text = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct psi_totals totals;
	unsigned long long some, full;

	ck_assert_int_eq(psi_read(fd, &totals), 0);
	some = totals.us[PSI_SOME] + stalled_us;
	full = totals.us[PSI_FULL] + stalled_us;
	ck_assert_int_ge(asprintf(&text,
				  "some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n"
				  "full avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n",
				  some, full),
			 0);
	file_put(path, text, strlen(text));
}

static void write_file(const char *directory, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(directory, name);

	file_put(path, text, strlen(text));
}

void simulation_write_rules(struct simulation *simulation, const char *rules)
{
	write_file(simulation->rules_dir, "test.conf", rules);
}

void simulation_write_settings(struct simulation *simulation, const char *settings)
{
	file_put(simulation->config, settings, strlen(settings));
}

/* ---- the daemon ---- */

static char *make_below(const char *directory, const char *name)
{
	char *path = path_join(directory, name);

	ck_assert_int_eq(mkdir(path, 0755), 0);
	return path;
}

static void make_rings(struct fake_ring *rings, const struct sample *slots, uint32_t count)
{
	for (uint32_t i = 0; i < SIMULATION_CPUS; i++)
		rings[i] = (struct fake_ring){ (struct sample *)slots + i * count, count, 0 };
}

void simulation_make(struct simulation *simulation, const char *rules, const char *settings, uint32_t slots)
{
	struct fake_kernel *kernel = &simulation->kernel;
	const char *directory;

	*simulation = (struct simulation){ .now_ns = SIMULATION_BEGAN, .notify = { .fd = -EBADF } };
	simulation->confinement.filtered = "kill";
	simulation->clock = (struct clock){ read_clock, simulation };
	simulation->saved = log_divert();
	store_fixture_make(&simulation->database);
	directory = simulation->state_dir = simulation->database.directory;
	simulation->mount = make_below(directory, "cgroup");
	simulation->rules_dir = make_below(directory, "rules.d");
	simulation->config = path_join(directory, "bourdon.conf");
	simulation->nowhere = path_join(directory, "nobody.sock");
	fake_kernel_make(kernel, SIMULATION_CPUS, slots);
	kernel->iterate = iterate;
	kernel->user = simulation;
	kernel->objects.control->heartbeat_ns = 0;
	snprintf(kernel->objects.manifest.sampled_cpus, sizeof(kernel->objects.manifest.sampled_cpus),
		 "0-4095");
	make_rings(simulation->oncpu, kernel->objects.slots, slots);
	make_rings(simulation->offcpu, kernel->objects.offcpu_slots, slots);
	simulation->where = (struct settings){ .config = simulation->config,
					       .rules_dir = simulation->rules_dir,
					       .pin_dir = simulation->rules_dir,
					       .run_dir = directory,
					       .state_dir = directory,
					       .grant_socket = simulation->nowhere };
	simulation_write_rules(simulation, rules);
	if (settings)
		simulation_write_settings(simulation, settings);
	own_usage_open(&simulation->own_usage);
}

void simulation_start(struct simulation *simulation)
{
	struct configuration *configuration = NULL;
	struct config_errors errors = { 0 };
	struct daemon_settings of_daemon = { .clock = &simulation->clock,
					     .where = &simulation->where,
					     .kernel = &simulation->kernel.objects,
					     .own_counters = &simulation->counters,
					     .notify = &simulation->notify,
					     .cgroup_mount = simulation->mount,
					     .own_usage = &simulation->own_usage,
					     .confinement = &simulation->confinement };
	struct worker_settings of_worker = { .where = &simulation->where,
					     .journal_socket = simulation->nowhere,
					     .clock = &simulation->clock,
					     .own_usage = &simulation->own_usage,
					     .kernel = &simulation->kernel.objects,
					     .own_counters = &simulation->counters };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, simulation->spawner), 0);
	of_daemon.spawner_socket = of_worker.spawner_socket = simulation->spawner[0];
	ck_assert_msg(!configuration_read(&simulation->where, &configuration, &errors), "%s",
		      errors.count ? errors.messages[0] : "");
	of_worker.limits = (struct store_limits){ configuration->settings.database_bytes_max,
						  configuration->settings.database_age_ns_max,
						  configuration->settings.activity_age_ns_max,
						  configuration->settings.baseline_age_ns_max };
	ck_assert_int_eq(daemon_open(&simulation->daemon, &of_daemon, configuration), 0);
	ck_assert_int_eq(worker_open(&simulation->worker, &of_worker), 0);
	ck_assert_int_eq(worker_begin_run(simulation->worker, configuration), 0);
	ck_assert_int_eq(daemon_start_services(simulation->daemon), 0);
	ck_assert_int_eq(daemon_begin(simulation->daemon, simulation->worker), 0);
	simulation_settle(simulation);
}

static void close_daemon(struct simulation *simulation)
{
	worker_stop(simulation->worker, 0);
	daemon_close(simulation->daemon);
	close(simulation->spawner[0]);
	close(simulation->spawner[1]);
	simulation->worker = NULL;
	simulation->daemon = NULL;
}

int simulation_stop(struct simulation *simulation)
{
	int status = daemon_end(simulation->daemon);

	while (worker_turn(simulation->worker))
		;
	worker_end_run(simulation->worker);
	close_daemon(simulation);
	return status;
}

void simulation_kill(struct simulation *simulation)
{
	close_daemon(simulation);
}

void simulation_free(struct simulation *simulation)
{
	if (simulation->daemon)
		ck_assert_int_eq(simulation_stop(simulation), EXIT_DONE);
	free(log_diverted(simulation->saved));
	expect_sound(&simulation->database);
	own_usage_close(&simulation->own_usage);
	fake_kernel_free(&simulation->kernel);
	free(simulation->mount);
	free(simulation->rules_dir);
	free(simulation->config);
	free(simulation->nowhere);
	store_fixture_discard(&simulation->database);
}

/* ---- time passes ---- */

void simulation_settle(struct simulation *simulation)
{
	unsigned int turns = 0;
	bool more = true;

	while (more) {
		more = !simulation->daemon_stands && !daemon_has_ended(simulation->daemon) &&
		       daemon_turn(simulation->daemon, 0);
		while (!simulation->worker_stands && worker_turn(simulation->worker))
			more = true;
		ck_assert_msg(turns++ < 10000, "there is always something to be done");
	}
}

void simulation_run(struct simulation *simulation, uint64_t ns)
{
	uint64_t until_ns = simulation->now_ns + ns;

	while (simulation->now_ns < until_ns) {
		uint64_t due_ns = daemon_due_ns(simulation->daemon);

		if (simulation->daemon_stands || daemon_has_ended(simulation->daemon) || due_ns > until_ns)
			due_ns = until_ns;
		if (due_ns > simulation->now_ns)
			simulation->now_ns = due_ns;
		for (size_t i = 0; i < SIMULATION_PROCESSES; i++)
			if (simulation->processes[i].tgid)
				take_samples(simulation, &simulation->processes[i]);
		simulation_settle(simulation);
	}
}

/* ---- what there is to see ---- */

const char *simulation_log(const struct simulation *simulation)
{
	static char text[1 << 20];
	ssize_t bytes = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);

	(void)simulation;
	ck_assert_int_ge(bytes, 0);
	text[bytes] = '\0';
	return text;
}

void expect_logged(const struct simulation *simulation, const char *text)
{
	const char *log = simulation_log(simulation);

	ck_assert_msg(strstr(log, text) != NULL, "'%s' is not in\n%s", text, log);
}

void expect_not_logged(const struct simulation *simulation, const char *text)
{
	const char *log = simulation_log(simulation);

	ck_assert_msg(strstr(log, text) == NULL, "'%s' is in\n%s", text, log);
}

uint64_t simulation_counted(struct simulation *simulation, enum own_counter counter)
{
	return own_counted(&simulation->counters, counter);
}

int simulation_connect(struct simulation *simulation, const char *line)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" CONTROL_SOCKET_FILE,
		 simulation->state_dir);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq((int)write(fd, line, strlen(line)), (int)strlen(line));
	return fd;
}

int simulation_connect_as(struct simulation *simulation, uid_t uid, const char *line)
{
	int fd;

	connect_as(uid);
	fd = simulation_connect(simulation, line);
	connect_as(0);
	return fd;
}

const char *simulation_answer(int client)
{
	static char text[1 << 16];
	ssize_t bytes = read(client, text, sizeof(text) - 1);

	text[bytes > 0 ? bytes : 0] = '\0';
	return text;
}
