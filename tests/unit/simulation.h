/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * simulation.h owns a host whose time is the test's: the daemon and its worker thread, as main() makes them, on a fake kernel,
 * with files that look like cgroups and a database of their own. The worker thread has no thread here: it takes its turns after
 * the daemon's. Between two turns no time passes, and nothing is waited for.
 *
 * The kernel's side is a script: what a process runs, and where; pressure; and what the programs lose. As long as a process
 * runs on a CPU, that has its samples, while the daemon's heartbeat is young.
 */
#ifndef BOURDON_UNIT_SIMULATION_H
#define BOURDON_UNIT_SIMULATION_H

#include "consumer/confine.h"
#include "consumer/daemon.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/store_fixture.h"

#define SIMULATION_CPUS 2U
#define SIMULATION_PROCESSES 64U
/* The clocks at the beginning. The first is behind that of any machine, so that no deadline of the real clock has passed. */
#define SIMULATION_BEGAN (1000000000UL * SECOND)
#define SIMULATION_BEGAN_AT 1700000000000000000LL

struct simulated_process {
	uint32_t tgid; /* 0: a free place */
	uint32_t program;
	uint64_t started_ns, cgroup_id;
	char comm[ABI_COMM_BYTES];
	uint32_t pattern_id; /* that the programs know of it */
	int cpu;             /* -1: it sleeps */
	uint64_t sampled_ns; /* the last sample */
	uint64_t cpu_ns;
	bool is_kernel, is_denied;
};

struct simulation {
	struct clock clock;
	uint64_t now_ns, suspended_ns;
	int64_t wall_ahead_ns; /* by how much the wall clock was set */
	struct fake_kernel kernel;
	struct fake_ring oncpu[SIMULATION_CPUS], offcpu[SIMULATION_CPUS];
	struct simulated_process processes[SIMULATION_PROCESSES];
	struct settings where;
	struct own_counters counters;
	struct notify notify;
	struct own_usage own_usage;
	struct confinement confinement;
	struct store_fixture database; /* has no store of its own */
	struct worker *worker;
	struct daemon *daemon;
	char *mount, *rules_dir, *state_dir, *config, *nowhere;
	int spawner[2];                    /* the other end is closed by the tests */
	int saved;                         /* standard error, which goes to a file meanwhile */
	bool daemon_stands, worker_stands; /* these take no turns */
	/* What the kernel counts of one program, and of the iterator over them. */
	struct {
		uint64_t runs, run_ns, missed;
		bool are_counted; /* the statistics are on: reading them is a run */
	} programs;
	bool events_are_lost; /* the programs cannot tell what processes do: only walks find out */
};

/* A case of such tests. Each may take a minute where many other programs run. */
TCase *simulation_case(const char *name);

/* The configuration is in these texts; `settings` may be NULL. Rings hold `slots` samples of a CPU. */
void simulation_make(struct simulation *simulation, const char *rules, const char *settings, uint32_t slots);

/* Starts the daemon. It may be started again after it was stopped or killed. */
void simulation_start(struct simulation *simulation);

/* The daemon ends, and returns its exit status; or is killed: its memory is gone, its files stay. */
int simulation_stop(struct simulation *simulation);
void simulation_kill(struct simulation *simulation);

/* Stops the daemon if it runs, and checks the database. */
void simulation_free(struct simulation *simulation);

/* ---- time ---- */

/* Lets time pass: the daemon does what is due, each thing when it is. */
void simulation_run(struct simulation *simulation, uint64_t ns);

/* Does what is to be done now. */
void simulation_settle(struct simulation *simulation);

/* The wall clock is set; the machine sleeps, in which CLOCK_MONOTONIC stands. */
void simulation_set_wall(struct simulation *simulation, int64_t ahead_ns);
void simulation_suspend(struct simulation *simulation, uint64_t ns);

/* ---- files ---- */

/* Makes a cgroup whose files have no pressure. Returns its id. */
uint64_t simulation_make_cgroup(struct simulation *simulation, const char *path);
void simulation_remove_cgroup(struct simulation *simulation, const char *path);

/* Its pressure grows: both some and full. */
void simulation_press(struct simulation *simulation, const char *cgroup, enum psi_resource resource,
		      uint64_t stalled_us);

/* Writes rules.d/test.conf or bourdon.conf, which the daemon notices. */
void simulation_write_rules(struct simulation *simulation, const char *rules);
void simulation_write_settings(struct simulation *simulation, const char *settings);

/* ---- processes ---- */

/* A process begins: it has executed a program of this name, in this cgroup, and sleeps. */
struct simulated_process *simulation_begin(struct simulation *simulation, uint32_t tgid, const char *comm,
					   const char *cgroup);
void simulation_rename(struct simulation *simulation, struct simulated_process *process, const char *comm);
void simulation_move(struct simulation *simulation, struct simulated_process *process, const char *cgroup);
void simulation_end(struct simulation *simulation, struct simulated_process *process);

/* It is killed, and ends. `kill` says how, by whom, and at which limit; the rest of the record is the process's. */
void simulation_end_by(struct simulation *simulation, struct simulated_process *process,
		       struct kill_record kill);

/* From now on it runs on that CPU, or sleeps (-1). */
void simulation_put_on(struct simulation *simulation, struct simulated_process *process, int cpu);

/* It was off CPU for so long, until now. */
void simulation_was_off(struct simulation *simulation, const struct simulated_process *process, int cpu,
			uint64_t ns, uint8_t stall);

/* Its threads waited so long at this time, of one slot of the accounts: ACCOUNT_QUEUED, say. With 0 the programs know it alone. */
void simulation_waited(struct simulation *simulation, const struct simulated_process *process,
		       unsigned int account, uint64_t ns);

/* ---- what there is to see ---- */

/* What was logged so far. Valid until the next call. */
const char *simulation_log(const struct simulation *simulation);
void expect_logged(const struct simulation *simulation, const char *text);
void expect_not_logged(const struct simulation *simulation, const char *text);

uint64_t simulation_counted(struct simulation *simulation, enum own_counter counter);

/* Connects to the control socket and sends a line; the daemon answers when it takes its turns. */
int simulation_connect(struct simulation *simulation, const char *line);

/* The same of another user, who is a member of the daemon's group. Only root can. */
int simulation_connect_as(struct simulation *simulation, uid_t uid, const char *line);

/* What came over the connection so far; "" for nothing. Valid until the next call. */
const char *simulation_answer(int client);

#endif
