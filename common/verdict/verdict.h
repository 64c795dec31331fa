/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verdict.h owns the answer to a capture's question, who made the victim wait, as data: rows of the database become facts, facts
 * become a verdict, and words are made of both at the end. Nothing reads the words back. docs/WHY.md has the kinds and their
 * order.
 *
 * bourdond judges on the worker thread, within the transaction that writes the rows. bourdon judges the same rows again. Both get
 * the same verdict from the same rows: facts come from nowhere else, and judging is pure.
 *
 * Names come from the database, where they are escaped (escape_name.h). A database may be hostile: bourdon escapes what it prints.
 *
 * Room: facts of a capture, the verdict on them, and its words. Called by the daemon's worker thread and by
 * bourdon; it reads the rows of one capture and writes nothing.
 */
#ifndef BOURDON_VERDICT_VERDICT_H
#define BOURDON_VERDICT_VERDICT_H

#include "common/kernel/psi_resource.h"
#include "common/verdict/disk.h"
#include "common/verdict/roles.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the rules of judgement: it grows when the same rows may give another verdict. 0: migrated, never judged. */
#define VERDICT_VERSION 2

/* In the order in which they are looked for. */
enum verdict_kind {
	VERDICT_NEGLIGIBLE,
	VERDICT_KILL,
	VERDICT_QUOTA,
	VERDICT_LIMIT,
	VERDICT_STORM,
	VERDICT_OWN_THREADS,
	VERDICT_CONVOY,
	VERDICT_LOCK,
	VERDICT_NEIGHBOUR,
	VERDICT_NEIGHBOURS,
	VERDICT_CROWD,
	VERDICT_DEVICE,
	VERDICT_OWN_IO,
	VERDICT_MEMORY_SHORTAGE,
	VERDICT_INTERRUPTS,
	VERDICT_STEAL,
	VERDICT_POOL,
	VERDICT_PEER,
	VERDICT_NETWORK,
	VERDICT_UNDETERMINED,
	VERDICT_KINDS,
};
extern const char *const verdict_kind_names[VERDICT_KINDS]; /* the words of the column `verdict` */

/* ---- facts ---- */

/* All texts of the facts live until verdict_facts_free(). NULL: not known, or there is none. */

/* A program in a unit, or in a cgroup of no unit. */
struct verdict_who {
	const char *program; /* NULL: not known, or several that have no rows of their own */
	const char *unit, *cgroup;
	int64_t tgid;      /* 0: several processes, or not known */
	int64_t processes; /* 0: not known */
};

/* The lock for which a victim's threads waited longest, while locks were measured. */
struct verdict_lock {
	const char *where; /* the function in which they waited */
	uint64_t waits, ns;
	uint64_t all_ns; /* of all its locks */
};

/* Threads of a victim that wait in one place, and are woken by one thread. */
struct verdict_herd {
	const char *where; /* the function in which they wait */
	struct verdict_who waker;
	uint64_t threads;
	/* as far as recorded: how often one was woken, and in how many moments, of an eighth of the mean wait */
	uint64_t wakes, moments;
};

/* Threads of one process that begin in the same function and have one name, and for whose results other threads of it waited. */
struct verdict_pool {
	const char *name, *where;  /* of the threads, and the function in which they are for longest */
	uint64_t threads, waiting; /* its own, and those that wait for them */
	uint64_t looks;            /* at its threads */
	/* of these, the looks that found a thread at something else than waiting for work */
	uint64_t on_cpu, disk, lock, elsewhere;
	uint64_t all_ns;      /* that other threads of the process waited until one of it woke them */
	uint64_t answered_ns; /* of that, until one of the pool did */
};

struct verdict_victim {
	const char *text; /* account.victim */
	struct verdict_who who;
	uint64_t threads;
	uint64_t ns[ACCOUNTS];
	/* the largest of each; all 0: none is known */
	struct verdict_lock lock;
	struct verdict_herd herd;
	struct verdict_pool pool;
};

/* Whom a victim waited for, all rows of one program and unit in one. */
struct verdict_party {
	uint32_t victim; /* position in facts.victims */
	uint8_t wait;    /* ACCOUNT_* */
	enum blame_role role;
	struct verdict_who who;
	uint64_t ns;
	/* of ns, the waits for a lock whose holder was itself queued for most of the time that it had the lock */
	uint64_t then_queued_ns;
	const char *where;        /* blame.where_text of the row with most time */
	const char *then_account; /* of that row */
};

/* Its unit, else its cgroup; NULL: not known. */
const char *verdict_place(const struct verdict_who *who);
/* The same program in the same place. Without a program nobody is. */
bool verdict_is_same(const struct verdict_who *one, const struct verdict_who *other);

/* A limit of a cgroup, and what was met of it while the capture was recorded. */
struct verdict_limit {
	const char *cgroup; /* without a slash, its name in cgroup v1 */
	const char *name;   /* cpu.max|memory.max|memory.high */
	int64_t value;      /* of cpu.max: us of CPU time in each period; of memory: bytes; -1: not known */
	int64_t period_us;  /* of cpu.max, else 0 */
	uint64_t met; /* periods in which it was throttled; how often reclaim or the OOM killer met it */
	uint64_t of_periods;
	uint64_t refaulted_bytes; /* memory: read again after they were evicted, in the cgroup */
	bool is_concluded; /* no counter tells that it was met: of all cgroups this one was scanned most */
};

struct verdict_kill {
	const char *how; /* oom|oomd */
	struct verdict_who who;
	uint64_t rss_bytes;
	const char *limit_cgroup;
	int64_t limit_bytes; /* -1: the host's memory ran out, or not known */
};

/* A program in a unit, whose memory grew. The largest growth is first. */
struct verdict_growth {
	struct verdict_who who;
	bool is_target;
	uint64_t grown_bytes, rss_bytes;
};

/* A set of what this machine does not tell, or tells of nobody. */
enum verdict_unseen {
	UNSEEN_ACCOUNTS = 1 << 0, /* the kernel's sums of waits */
	UNSEEN_LIMITS = 1 << 1,   /* of memory */
	UNSEEN_DISKS = 1 << 2,
	UNSEEN_IO_LIMITS = 1 << 3, /* io.max */
	UNSEEN_INTERRUPTS = 1 << 4,
	UNSEEN_DENIED = 1 << 5, /* processes that root's policy denies */
	UNSEEN_WAITS = 1 << 6,  /* waits of which nobody is known: not recorded, unseen, or not ended */
};

enum verdict_trigger { FIRED_KILL, FIRED_NOTHING, FIRED_BASELINE, FIRED_LATENCY, FIRED_PRESSURE };

struct verdict_facts {
	enum verdict_trigger fired;
	enum psi_resource resource; /* that fired, or that a latency is about; PSI_RESOURCES: none */
	const char *cgroup;         /* whose pressure fired; NULL: the host's */
	bool is_interrupted;
	double stalled_percent; /* of the trigger's window, or of the time since, whichever is more */
	uint64_t span_ns;       /* of the accounts: history wanted, and the time until the end */
	uint32_t cpus;

	struct verdict_victim *victims;
	uint32_t victims_count, victims_room;
	struct verdict_party *parties; /* by victim and wait, the largest first */
	uint32_t parties_count, parties_room;
	struct verdict_limit *limits;
	uint32_t limits_count, limits_room;
	struct verdict_kill *kills; /* of targets, for lack of memory; the nearest to the trigger first */
	uint32_t kills_count, kills_room;
	struct verdict_growth *grown;
	uint32_t grown_count, grown_room;
	struct verdict_disk disk; /* the busiest */

	uint64_t machine_ns;                   /* of all CPUs; 0: not known */
	uint64_t irq_ns, softirq_ns, steal_ns; /* of that */
	const char *interrupt;                 /* the busiest one's name; NULL: none, or not known */
	/* that used CPU time: each a thousandth of what all used, or more */
	uint32_t programs, units;
	double wanted;           /* how many threads ran or waited for a CPU, on average */
	uint64_t targets_bytes;  /* read and written by targets */
	uint64_t reclaim_stalls; /* allocations that waited for reclaim for the whole host */
	uint64_t scanned_bytes;  /* by reclaim for the whole host */
	/* read again after they had been evicted: in the cgroup that fired, or where that is not counted on the whole host */
	uint64_t refaulted_bytes;

	double lost_percent;     /* the largest loss of data_quality, 0 to 100; -1: not known */
	const char *lost_reason; /* its reason; NULL: nothing was lost */
	unsigned int unseen;     /* enum verdict_unseen */

	struct verdict_text *texts; /* all texts; owned */
};

/*
 * Loads a capture's facts from its rows, all of which are written: also the time of its end. It only queries, on this connection
 * and in its transaction, if one is open. 0; -ENOENT: there is no such capture; -ENOMEM; or -EIO, then sqlite3_errmsg() tells why.
 * Call verdict_facts_free() after 0 alone.
 */
int verdict_facts_load(sqlite3 *sqlite, int64_t capture_id, struct verdict_facts *ret_facts);
void verdict_facts_free(struct verdict_facts *facts);

/* ---- the verdict ---- */

#define VERDICT_BLAMED_MAX 4U

/* Pointers are into the facts. */
struct verdict {
	enum verdict_kind kind;
	const struct verdict_victim *victim; /* NULL: nobody waited, or there are no accounts */
	/* the wait that decided, ACCOUNT_*; ACCOUNTS: none did, as for a kill without accounts */
	uint8_t wait;
	uint64_t
		waited_ns; /* of the victim, in that way; of a quota and a limit, for that resource in any way */
	uint64_t blamed_ns; /* of that, charged to those whom the kind names */
	double blamed_percent;
	double own_percent; /* of waited_ns, charged to the victim's own threads */
	/* whom the kind names, the largest first: its own threads for `own threads`, the largest few of a crowd. ns > 0 */
	struct verdict_blamed {
		const struct verdict_party *party;
		double percent; /* of waited_ns */
	} blamed[VERDICT_BLAMED_MAX];
	uint32_t blamed_count;
	uint32_t programs, units; /* of a crowd: those that used CPU time, at least those that are blamed */
	uint64_t unknown_ns;      /* of waited_ns, charged to nobody known */
	uint64_t idle_ns;         /* of that, the CPU was idle */
	const struct verdict_limit *limit; /* of a quota, a limit; NULL: not known which */
	const struct verdict_kill *kill;
	const struct verdict_growth
		*grown; /* of a kill, a limit, a memory shortage: who grew most; NULL: nobody by much */
	/* columns of `capture` */
	const char *limit_cgroup, *limit_name;
	int64_t limit_value; /* as verdict_limit.value; -1: not known */
	unsigned int unseen; /* enum verdict_unseen: what this verdict would need */
	/* the same as words, `block devices, io.max`; "": nothing */
	char not_examined[128];
};

/* Pure: it reads nothing but the facts, which must outlive the verdict. */
struct verdict verdict_judge(const struct verdict_facts *facts);

/* Whether the victim's own threads are among those whom it names. */
bool verdict_names_own(const struct verdict *verdict);

/* ---- words ---- */

/* All add to a line (line.h), which shortens the names so that no number is cut. */
struct line;
typedef void verdict_say(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict);

/* `neighbour: backup in backup.service took 64 % of the wait` */
verdict_say verdict_say_headline;

/* What the kind names, with the numbers that show it: `backup[201] in backup.service: 4.2 s of 6.5 s (64 %); own threads 12 %` */
verdict_say verdict_say_culprit;

/* The share of the wait that is charged, and what was lost or not examined: `97 % of the wait is charged; nothing was lost` */
verdict_say verdict_say_certainty;

/* `sh[77] in x.service, 60 MiB, killed by the kernel: memory.max of 64 MiB of /x`, of a verdict that has a kill */
verdict_say verdict_say_kill;

/* `backup ×4 in backup.service`, `bourdon itself`, `interrupts` */
void verdict_say_party(struct line *line, const struct verdict_party *party);

/* `backup[201] in backup.service` */
void verdict_say_who(struct line *line, const struct verdict_who *who);

/* As the parties; NULL: `the targets`. */
void verdict_say_victim(struct line *line, const struct verdict_victim *victim);

/* The headline in all its columns. Returns `into`. */
#define VERDICT_TEXT_BYTES 1024U
char *verdict_headline_text(const struct verdict_facts *facts, const struct verdict *verdict,
			    char into[VERDICT_TEXT_BYTES]);

#endif
