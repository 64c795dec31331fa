-- SPDX-License-Identifier: GPL-2.0-only
--
-- schema.sql defines the database's tables and views: the contract with everyone who queries it.
-- docs/SCHEMA.md explains each column. Columns named *_at are wall clock in Unix ns; `second` is relative to
-- the trigger.

-- Where the runs were recorded. One row; more after `bourdon db merge`, or when the file moved to another machine.
CREATE TABLE database(
	database_id INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,        -- random, 32 hexadecimal digits
	machine TEXT                    -- a hash of the machine id, which does not tell it; NULL: none
) STRICT;

-- recorded_as: of a merged row, its id in the database where it was recorded; NULL: the same.
CREATE TABLE run(
	run_id INTEGER PRIMARY KEY,
	started_at INTEGER NOT NULL,
	ended_at INTEGER,               -- NULL while running, or if the daemon was killed
	version TEXT NOT NULL,
	abi INTEGER NOT NULL,
	kernel TEXT NOT NULL,
	hostname TEXT NOT NULL,
	cpus INTEGER NOT NULL,
	hz INTEGER NOT NULL,
	policy TEXT,                    -- root's limits in the words of policy.conf; NULL: none
	object_sha256 TEXT,             -- of the kernel programs that were loaded; NULL: not known
	attachments TEXT,               -- the names of their links, a JSON array
	ring_bytes INTEGER,             -- of samples on CPU, of one CPU; as much again for intervals off CPU
	database_id INTEGER REFERENCES database,
	recorded_as INTEGER
) STRICT;

-- A rule as it was in force; a changed rule is a new row. Ids are never reused.
CREATE TABLE rule(
	rule_id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	rule TEXT NOT NULL,
	source TEXT NOT NULL,           -- file:line
	comm TEXT NOT NULL,
	cgroup TEXT,                    -- glob; NULL: any
	unit TEXT,                      -- glob on the names of systemd units; NULL: any
	watch TEXT NOT NULL,            -- cgroup|slice|system
	pattern_id INTEGER NOT NULL,    -- id of the comm pattern in the kernel programs
	history_ns INTEGER NOT NULL,
	capture_ns INTEGER NOT NULL,
	cooldown_ns INTEGER NOT NULL,
	-- what fires, a JSON array of thresholds, {resource, kind, stall_us, window_us}, {on_kill}, and latencies, {metric, quantile,
	-- limit_ns, window_ns}; NULL: not known
	triggers TEXT,
	recorded_as INTEGER
) STRICT;

-- Captures that belong together: their spans overlap, or one follows within the cooldown of another. All columns but
-- the first three follow from its captures.
CREATE TABLE incident(
	incident_id INTEGER PRIMARY KEY AUTOINCREMENT,
	run_id INTEGER NOT NULL REFERENCES run,
	number INTEGER NOT NULL,        -- within its run
	captures INTEGER NOT NULL,
	began_at INTEGER NOT NULL,      -- when its first stall began
	ended_at INTEGER,               -- NULL while one of its captures is recorded
	resource TEXT,                  -- which came first; NULL: a kill did
	explained_by INTEGER REFERENCES capture, -- the capture whose verdict this is; NULL: none has one yet
	verdict TEXT,
	blamed_percent REAL
) STRICT;
CREATE UNIQUE INDEX incident_identity ON incident(run_id, number);

CREATE TABLE capture(
	capture_id INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT: never reused, reports refer to it
	run_id INTEGER NOT NULL REFERENCES run,
	-- What fired. NULL, up to window_us: nothing did, somebody asked for the capture (trigger_mode manual). A baseline, and
	-- a capture of a kill or a latency, has its rule, and the rest is NULL.
	rule_id INTEGER REFERENCES rule,
	rule TEXT,
	resource TEXT,                  -- cpu|memory|io|irq
	kind TEXT,                      -- some|full
	stall_us INTEGER,               -- the threshold: this much stall
	window_us INTEGER,              -- within this window
	trigger_mode TEXT NOT NULL CHECK(trigger_mode IN ('kernel', 'sampled', 'manual', 'baseline', 'kill', 'latency')),
	cgroup TEXT,                    -- NULL: whole system
	triggered_at INTEGER NOT NULL,
	began_at INTEGER NOT NULL,      -- time of the oldest history kept
	ended_at INTEGER,
	history_ns INTEGER NOT NULL,    -- history actually available
	state TEXT NOT NULL CHECK(state IN ('recording', 'complete', 'interrupted')),
	observed_us INTEGER,            -- stall in the window when the trigger fired
	-- Of trigger_mode latency, otherwise NULL: in this window the quantile was longer than its limit.
	latency_metric TEXT,            -- as histogram_label.metric
	latency_quantile TEXT,          -- p50|p90|p99|p999
	latency_limit_ns INTEGER,
	latency_observed_ns INTEGER,    -- at most an eighth too high, as in latency_percentile
	latency_window_ns INTEGER,
	hz INTEGER NOT NULL,
	-- as history_ns, for off-CPU intervals, which have their own ring; NULL: none
	offcpu_history_ns INTEGER,
	-- For the span between the capture's first and last walk over all processes: the number of on-CPU
	-- samples expected from the CPU time that the targets used, and the number received.
	expected_samples INTEGER,
	received_samples INTEGER,
	-- Of its rows of sample, for the views: the distinct processes and stacks, the sum of samples, and of that the
	-- intervals off CPU. NULL: the views count the rows.
	process_count INTEGER,
	stack_count INTEGER,
	sample_count INTEGER,
	interval_count INTEGER,
	-- What its rows say about the waiting: docs/WHY.md has the kinds. NULL: it is being recorded, was lost, or is a baseline.
	-- The defaults are those of captures that an older schema recorded.
	verdict TEXT DEFAULT 'undetermined',
	verdict_version INTEGER DEFAULT 0, -- of the rules by which it was judged; 0: by none
	victim TEXT,                    -- as account.victim: whose waiting was judged; NULL: nobody's
	wait TEXT,                      -- as blame.wait: the one that decided; NULL: none did
	waited_ns INTEGER,              -- of the victim, in that way; of a quota and a limit, for that resource in any way
	blamed_percent REAL,            -- of that, what is charged to whom the verdict blames; NULL: it blames nobody
	limit_cgroup TEXT,              -- whose limit it was; NULL: the host's, or not known
	limit_name TEXT,                -- cpu.max|memory.max|memory.high; of cgroup v1 cpu.cfs_quota_us|memory.limit_in_bytes
	limit_value INTEGER,            -- us of CPU time in each period, or bytes; NULL: not known
	killed_comm TEXT,               -- of a kill: as in killed
	killed_tgid INTEGER,
	killed_how TEXT,
	not_examined TEXT DEFAULT 'accounts', -- what a better verdict would need and this machine did not tell; NULL: nothing
	incident_id INTEGER REFERENCES incident,
	onset_at INTEGER,               -- when the stall began, by PSI's readings or the targets' waiting; of a kill, its time; NULL: not known
	-- Of trigger_mode manual, otherwise NULL:
	asked_by_uid INTEGER,           -- who asked, as the kernel told it,
	asked_by TEXT,                  -- and the name of that user then; NULL: not known
	asked_for TEXT,                 -- the options of 'bourdon capture'
	note TEXT,                      -- what the user noted; NULL: nothing
	recorded_as INTEGER
) STRICT;
CREATE INDEX capture_by_time ON capture(triggered_at);
CREATE INDEX capture_by_incident ON capture(incident_id);

CREATE TABLE cgroup(
	cgroup_id INTEGER NOT NULL,     -- the kernel's 64-bit id, which another boot or host may give to another path
	path TEXT NOT NULL,
	PRIMARY KEY(cgroup_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE process(
	process_id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run,
	tgid INTEGER NOT NULL,
	started_ns INTEGER NOT NULL,    -- since boot; with tgid, the identity of a process
	comm TEXT NOT NULL,
	exe TEXT,
	uid INTEGER,
	cgroup TEXT,
	unit TEXT,                      -- of systemd, from the cgroup: the innermost service, scope, or slice; NULL: none
	container TEXT,                 -- its id, from the cgroup; NULL: none
	runtime TEXT,                   -- python|jvm|node|go|php|ruby|perl|native; NULL: not known
	runtime_evidence TEXT           -- what says so
) STRICT;
-- Its identity beside this is comm, exe and cgroup, whose texts would take as much room again here.
CREATE INDEX process_by_start ON process(run_id, tgid, started_ns);

CREATE TABLE module(
	module_id INTEGER PRIMARY KEY,
	path TEXT NOT NULL,
	build_id TEXT,                  -- lower-case hexadecimal
	-- tells files without build id, and kernel modules of two loads, apart
	version TEXT NOT NULL,
	kind TEXT NOT NULL CHECK(kind IN ('kernel', 'module', 'file', 'vdso', 'jit', 'anonymous')),
	-- file: added to an offset it gives the address that its symbols use; NULL: unknown
	bias INTEGER
) STRICT;
CREATE UNIQUE INDEX module_identity ON module(path, ifnull(build_id, ''), version, kind);

-- Offsets are, for a kernel frame: from _text; for a module: from an anchor that changes with each load; for
-- a file: in the file. A caller's offset points into its call instruction, not after it. Frames of one function share
-- its name and its file, which the view `frame` shows.
CREATE TABLE frame_row(
	frame_id INTEGER PRIMARY KEY,
	module_id INTEGER NOT NULL REFERENCES module,
	offset INTEGER NOT NULL,
	function TEXT,                  -- module+0x1234 if unresolved; NULL: that of `named_by`
	function_offset INTEGER,        -- NULL if unresolved
	file TEXT,                      -- NULL, with a line: that of `named_by`
	line INTEGER,
	inlined INTEGER NOT NULL DEFAULT 0,
	named_by INTEGER REFERENCES frame_row, -- a frame of the same function that has the name
	CHECK(function IS NOT NULL OR named_by IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX frame_identity ON frame_row(module_id, offset, inlined);

-- Stacks are a tree: a node is a piece of a path from the outermost frame to a leaf, below the piece that its
-- parent is. What several stacks have in common is stored once. A node with a class is (also) the leaf of a stack.
CREATE TABLE stack_node(
	node_id INTEGER PRIMARY KEY,
	parent_id INTEGER REFERENCES stack_node, -- NULL: it begins with the outermost frame
	-- frame ids, outermost first, as in a JSON array, whose brackets older versions stored; empty: the parent's path, of another class
	frames TEXT NOT NULL,
	class INTEGER REFERENCES stack_class, -- NULL: no stack ends here
	depth INTEGER,                  -- of the stack that ends here
	hash BLOB                       -- of the stack that ends here
) STRICT;
CREATE INDEX stack_node_child ON stack_node(parent_id, CAST(ltrim(frames, '[') AS INTEGER)); -- the first frame, or 0

CREATE TABLE stack_class(
	class INTEGER PRIMARY KEY,
	truncated INTEGER NOT NULL,     -- 1: the outermost frames are missing
	unwinder TEXT NOT NULL,         -- of the user frames: frame-pointer|eh-frame|mixed|none
	-- why unwinding the user frames ended: root (complete)|depth|memory|unmapped|no-rule|expression|register|
	-- policy|mapping-changed|exiting; NULL: no user frames
	ended TEXT
) STRICT;
CREATE UNIQUE INDEX stack_class_identity ON stack_class(truncated, unwinder, ifnull(ended, ''));

-- A thread under one name. A thread that changes its name has another row.
CREATE TABLE thread(
	thread_id INTEGER PRIMARY KEY,
	process_id INTEGER NOT NULL REFERENCES process,
	tid INTEGER NOT NULL,
	thread TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX thread_identity ON thread(process_id, tid, thread);

CREATE TABLE sample_class(
	class INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK(kind IN ('on-cpu', 'off-cpu')),
	stall TEXT NOT NULL,            -- none|cpu|memory|io|memory+io|memory+cpu
	role TEXT NOT NULL DEFAULT 'target' CHECK(role IN ('target', 'other', 'kernel')), -- others are on CPU alone
	UNIQUE(kind, stall, role)
) STRICT;

-- The samples of one thread with one stack in one second.
CREATE TABLE sample_row(
	capture_id INTEGER NOT NULL REFERENCES capture,
	stack_id INTEGER NOT NULL REFERENCES stack_node,
	thread_id INTEGER NOT NULL REFERENCES thread,
	class INTEGER NOT NULL REFERENCES sample_class,
	second INTEGER NOT NULL,        -- relative to the trigger; negative: before it
	samples INTEGER NOT NULL,       -- off-cpu: intervals that ended in that second
	weight_ns INTEGER,              -- off-cpu: exact time. NULL: samples times the capture's sampling period
	-- Of each sample, `ms,cpu`, or of intervals off CPU `begin ms,end ms,cpu`; ms are relative to the row's second.
	-- A blank parts them, or `],[` of older versions: view sample makes a JSON array of arrays of it. NULL: not known, or no interval ended.
	times TEXT,
	PRIMARY KEY(capture_id, stack_id, thread_id, class, second)
) STRICT, WITHOUT ROWID;

-- How long threads of targets were blocked, 1 ms or longer at a time, and who ended it: sums of intervals off CPU.
CREATE TABLE wake_row(
	capture_id INTEGER NOT NULL REFERENCES capture,
	thread_id INTEGER NOT NULL REFERENCES thread, -- who waited
	stack_id INTEGER NOT NULL REFERENCES stack_node, -- where
	stall TEXT NOT NULL,            -- none|memory|io|memory+io
	lock TEXT,                      -- an opaque key of the futex, 16 hexadecimal digits; NULL: it waited for none
	role TEXT NOT NULL CHECK(role IN ('target', 'other', 'kernel', 'interrupt', 'denied', 'none')), -- of who ended it
	waker_thread_id INTEGER REFERENCES thread,
	waker_stack_id INTEGER REFERENCES stack_node, -- of targets: where they did
	releases INTEGER NOT NULL,      -- 1: by giving a futex free
	intervals INTEGER NOT NULL,
	waited_ns INTEGER NOT NULL      -- within the capture
) STRICT;
CREATE INDEX wake_row_by_capture ON wake_row(capture_id, lock);

-- In which state threads were when the capture looked, in which system call, and where: each thread of a target, and of
-- others those in D or queued. Equal looks at one thread in one second are one row.
CREATE TABLE thread_state(
	capture_id INTEGER NOT NULL REFERENCES capture,
	process_id INTEGER NOT NULL REFERENCES process,
	tid INTEGER NOT NULL,
	thread TEXT NOT NULL,
	role TEXT NOT NULL DEFAULT 'target' CHECK(role IN ('target', 'other', 'kernel')),
	state TEXT NOT NULL,            -- running|queued|S|D|T|t|X|Z|P|I
	syscall TEXT,                   -- its name; NULL: in none, or not known
	fd INTEGER,                     -- the call's first argument, if that is a descriptor
	lock TEXT,                      -- of the futex that it waited for, as in wake_row; NULL: none
	stack_id INTEGER REFERENCES stack_node, -- kernel functions; NULL: it ran, or policy forbids them
	second INTEGER NOT NULL DEFAULT 0, -- the first one, relative to the trigger
	seconds INTEGER NOT NULL DEFAULT 1, -- more than 1: it was so in each look of all of them
	samples INTEGER NOT NULL        -- looks
) STRICT;
CREATE INDEX thread_state_by_capture ON thread_state(capture_id);

-- The looks of each second, from the trigger on. threads / looks: how many threads the targets had, on average.
CREATE TABLE thread_look(
	capture_id INTEGER NOT NULL REFERENCES capture,
	second INTEGER NOT NULL,
	looks INTEGER NOT NULL,
	threads INTEGER NOT NULL,       -- of targets, that these looks met
	PRIMARY KEY(capture_id, second)
) STRICT, WITHOUT ROWID;

-- What all threads of the machine did, minute by minute, where [activity] has an interval. Threads that a look finds alike
-- are one key; a key is one row, however often it is met.
CREATE TABLE activity_key(
	key_id INTEGER PRIMARY KEY AUTOINCREMENT,
	state TEXT NOT NULL,            -- as thread_state.state
	comm TEXT,                      -- of the process; NULL: all threads in this state that found no row of their own
	kernel INTEGER NOT NULL,        -- 1: a kernel thread
	syscall TEXT,                   -- its name; NULL: in none, or not known
	function TEXT,                  -- of the kernel, where the thread is off CPU, as in bourdon threads; NULL: it runs, or not known
	uid INTEGER,
	cgroup TEXT,                    -- NULL: not known
	unit TEXT,                      -- as process.unit
	container TEXT,
	hash INTEGER NOT NULL           -- of all this, by which a key is found
) STRICT;
CREATE INDEX activity_key_by_hash ON activity_key(hash);

-- The looks of one minute.
CREATE TABLE activity_minute(
	minute_id INTEGER PRIMARY KEY AUTOINCREMENT,
	run_id INTEGER NOT NULL REFERENCES run,
	at INTEGER NOT NULL,            -- of the first step; step n is n intervals later
	interval_ns INTEGER NOT NULL,   -- from one look to the next
	steps INTEGER NOT NULL,         -- looks that were due
	looks INTEGER NOT NULL,         -- that were taken, at least one
	missed TEXT,                    -- the others: a JSON array of [first step, how many]; NULL: none
	threads INTEGER NOT NULL,       -- the sum over all looks
	bytes INTEGER NOT NULL          -- that its rows and its new keys take, about
) STRICT;
CREATE INDEX activity_minute_by_time ON activity_minute(at);

CREATE TABLE activity(
	minute_id INTEGER NOT NULL REFERENCES activity_minute,
	key_id INTEGER NOT NULL REFERENCES activity_key,
	threads INTEGER NOT NULL,       -- the sum over all looks: divided by the minute's looks, how many there were on average
	least INTEGER NOT NULL,         -- at one look
	most INTEGER NOT NULL,
	times TEXT,                     -- a JSON array of [first step, threads], where the number changes from 0 or another; NULL: left out
	PRIMARY KEY(minute_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage(
	capture_id INTEGER NOT NULL REFERENCES capture,
	process_id INTEGER REFERENCES process, -- NULL: the row that sums the rest
	role TEXT NOT NULL CHECK(role IN ('target', 'other', 'kernel', 'rest')),
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	cpu_ns INTEGER,
	run_delay_ns INTEGER,
	io_delay_ns INTEGER,
	stalled_cpu_ns INTEGER,
	stalled_memory_ns INTEGER,
	stalled_io_ns INTEGER,
	major_faults INTEGER,
	minor_faults INTEGER,
	read_bytes INTEGER,             -- its own: without those of children that it waited for
	write_bytes INTEGER,
	voluntary_switches INTEGER,
	involuntary_switches INTEGER,
	rss_bytes INTEGER,
	rss_before_bytes INTEGER,       -- at the begin; 0: it began meanwhile
	reclaims INTEGER,               -- how often its threads looked for free memory themselves,
	reclaim_ns INTEGER              -- and how long, on CPU and off
) STRICT;
CREATE INDEX usage_by_capture ON usage(capture_id);

-- What processes used that began and ended within the span of usage, between two walks over all processes: exact
-- sums by name, parent and cgroup. Without a comm: processes that found no row, or that root's policy denies.
CREATE TABLE ended(
	capture_id INTEGER NOT NULL REFERENCES capture,
	role TEXT NOT NULL CHECK(role IN ('target', 'other', 'kernel', 'rest')),
	comm TEXT,                      -- when it ended
	parent TEXT,                    -- comm of the process that had begun it, or that took its place
	parent_tgid INTEGER,            -- NULL: the parents were as short-lived
	cgroup TEXT,
	unit TEXT,                      -- as process.unit
	container TEXT,
	denied INTEGER NOT NULL,        -- 1: root's policy denies them
	processes INTEGER NOT NULL,
	cpu_ns INTEGER NOT NULL,
	run_delay_ns INTEGER NOT NULL,
	major_faults INTEGER NOT NULL,
	read_bytes INTEGER NOT NULL,
	write_bytes INTEGER NOT NULL,
	reclaims INTEGER,
	reclaim_ns INTEGER
) STRICT;
CREATE INDEX ended_by_capture ON ended(capture_id);

-- The bytes that were read and written in the span of usage, by whom, beside what the disks counted. `unaccounted` is
-- disks without all others; it is negative where pages were not written to a disk yet.
CREATE TABLE machine_bytes(
	capture_id INTEGER NOT NULL REFERENCES capture,
	part TEXT NOT NULL,             -- targets|others|short-lived|kernel threads|disks|unaccounted
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	read_bytes INTEGER NOT NULL,
	write_bytes INTEGER NOT NULL,
	PRIMARY KEY(capture_id, part)
) STRICT, WITHOUT ROWID;

-- All time of all CPUs in the span of usage, by who took it: the parts add up to CPUs times span.
CREATE TABLE machine_time(
	capture_id INTEGER NOT NULL REFERENCES capture,
	-- targets|others|short-lived|kernel threads|denied|irq|softirq|steal|guest|idle|unaccounted
	part TEXT NOT NULL,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	percent REAL NOT NULL,          -- of all
	PRIMARY KEY(capture_id, part)
) STRICT, WITHOUT ROWID;

-- Where the time of the targets' threads went, from the begin of the wanted history to the end: each moment of each thread is in
-- one account, the first that fits. Summed by the kernel programs; without rows, they could not be read, or it is a baseline.
-- victim: `PROGRAM in UNIT`, or its cgroup, or alone.
CREATE TABLE account(
	capture_id INTEGER NOT NULL REFERENCES capture,
	victim TEXT NOT NULL,
	account TEXT NOT NULL,          -- memory|ran|throttled|queued|io|lock|network|peer|sleep|rest
	threads INTEGER NOT NULL,       -- of the victim, at the end
	ns INTEGER NOT NULL,            -- of all its threads
	PRIMARY KEY(capture_id, victim, account)
) STRICT, WITHOUT ROWID;

-- Who the waiting threads of a victim waited for: each waiting ns is in one row, so n threads that wait for one are n times.
CREATE TABLE blame(
	capture_id INTEGER NOT NULL REFERENCES capture,
	victim TEXT NOT NULL,           -- as account.victim
	wait TEXT NOT NULL,             -- an account: memory|throttled|queued|io|lock|network|peer
	role TEXT NOT NULL CHECK(role IN ('own', 'other', 'kernel', 'recorder', 'irq', 'steal', 'quota', 'limit', 'device',
		'nobody', 'unknown')),
	program TEXT,                   -- NULL: none, or the sum of those that have no row of their own
	unit TEXT,                      -- as process.unit
	cgroup TEXT,
	tgid INTEGER,                   -- NULL: several processes, or not known
	processes INTEGER,              -- how many they were; NULL: not known
	ns INTEGER NOT NULL,
	-- lock: where it was released; throttled: the cgroup, without a slash its name in cgroup v1; unknown: denied|unseen|
	-- not recorded|not ended
	where_text TEXT,
	then_account TEXT               -- lock: what the thread that held it did meanwhile; NULL: it is of no target
) STRICT;
CREATE INDEX blame_by_capture ON blame(capture_id, victim, wait);

-- What interrupts took of the machine's time in the span of usage: each soft-interrupt vector, the busiest hard
-- interrupts, and without number and name the sum of the other hard ones.
CREATE TABLE interrupt(
	capture_id INTEGER NOT NULL REFERENCES capture,
	kind TEXT NOT NULL CHECK(kind IN ('softirq', 'irq')),
	number INTEGER,                 -- of the vector, or as in /proc/interrupts; NULL: a CPU's own timer, or the rest
	name TEXT,                      -- NULL: not known, or the rest
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,            -- a hard interrupt within a soft one counts as itself alone
	percent REAL                    -- of all CPUs' time; NULL: not known
) STRICT;
CREATE INDEX interrupt_by_capture ON interrupt(capture_id);

-- Who was killed in the span of usage, until the capture's end: because memory ran out, or by another process.
CREATE TABLE killed(
	capture_id INTEGER NOT NULL REFERENCES capture,
	at INTEGER NOT NULL,
	-- by the kernel's OOM killer; by systemd-oomd; by SIGKILL of another process
	how TEXT NOT NULL CHECK(how IN ('oom', 'oomd', 'signal')),
	role TEXT NOT NULL CHECK(role IN ('target', 'other', 'rest')), -- rest: others of that kind, without names
	comm TEXT,                      -- of the victim; NULL: rest, or root's policy denies it
	tgid INTEGER,
	cgroup TEXT,
	unit TEXT,                      -- as process.unit
	container TEXT,
	rss_bytes INTEGER,              -- that it held
	by_comm TEXT,                   -- of the killer; oom: of whoever asked for memory. NULL as above
	by_tgid INTEGER,
	by_cgroup TEXT,
	by_unit TEXT,
	limit_cgroup TEXT,              -- oom: the cgroup that was full; without a slash, its name in cgroup v1
	limit_bytes INTEGER,            -- its limit; oom: NULL if the host's memory ran out
	processes INTEGER NOT NULL      -- that the row stands for
) STRICT;
CREATE INDEX killed_by_capture ON killed(capture_id);

-- Memory of the cgroups whose processes held, read or wrote most, from the trigger to the end, as the memory controller of cgroup
-- v2 counts it. The cgroup / is the whole host. Without that controller there are no rows. NULL: not known.
CREATE TABLE cgroup_memory(
	capture_id INTEGER NOT NULL REFERENCES capture,
	cgroup TEXT NOT NULL,
	unit TEXT,                      -- as process.unit
	container TEXT,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	current_before_bytes INTEGER,   -- all that is charged; before: NULL where it was not among them at the begin
	current_bytes INTEGER,
	anon_before_bytes INTEGER,
	anon_bytes INTEGER,
	file_before_bytes INTEGER,      -- page cache
	file_bytes INTEGER,
	refaulted_bytes INTEGER,        -- meanwhile: used again after it had been evicted
	scanned_bytes INTEGER,          -- looked at by reclaim
	reclaimed_bytes INTEGER,        -- given up
	device_read_bytes INTEGER,      -- meanwhile: by block devices for it (io.stat); NULL without the I/O controller
	device_written_bytes INTEGER,   -- pages that it dirtied, whoever writes them back
	PRIMARY KEY(capture_id, cgroup)
) STRICT, WITHOUT ROWID;

CREATE TABLE pressure(
	capture_id INTEGER NOT NULL REFERENCES capture,
	at INTEGER NOT NULL,
	scope TEXT NOT NULL,            -- system, or the cgroup's path; targets: what PSI would say of those alone
	resource TEXT NOT NULL,
	some_us INTEGER NOT NULL,       -- PSI's own running totals
	full_us INTEGER
) STRICT;
CREATE INDEX pressure_by_capture ON pressure(capture_id);

-- The kernel's own numbers about shortages, of the system, of the cgroup that fired and of its ancestors.
CREATE TABLE statistic(
	capture_id INTEGER NOT NULL REFERENCES capture,
	from_at INTEGER NOT NULL,
	to_at INTEGER NOT NULL,
	scope TEXT NOT NULL,            -- system, a cgroup's path, or recorder: what recording itself took
	source TEXT NOT NULL,           -- own|bpf|queue of the recorder; else the file: vmstat, diskstats, cpu.stat, cpu.max, memory.events, ...
	device TEXT,
	name TEXT NOT NULL,
	before INTEGER,                 -- NULL: did not exist then
	after INTEGER
) STRICT;
CREATE INDEX statistic_by_capture ON statistic(capture_id);

-- What was measured of latencies: docs/LATENCY.md. A label is of one metric.
CREATE TABLE histogram_label(
	label_id INTEGER PRIMARY KEY,
	metric TEXT NOT NULL,           -- runqueue|offcpu|block|block.queue|block.service|block.size|lock|memory|softirq|exec|fork
	label TEXT NOT NULL,
	UNIQUE(metric, label)
) STRICT;

-- during: the capture's span, from its history on; before: as long before that. View histogram has the bounds of the buckets.
CREATE TABLE histogram_row(
	capture_id INTEGER NOT NULL REFERENCES capture,
	label_id INTEGER NOT NULL REFERENCES histogram_label,
	span TEXT NOT NULL CHECK(span IN ('before', 'during')),
	bucket INTEGER NOT NULL CHECK(bucket BETWEEN 0 AND 511),
	count INTEGER NOT NULL,
	sum INTEGER NOT NULL,           -- of the values: ns, of block.size bytes
	PRIMARY KEY(capture_id, label_id, span, bucket)
) STRICT, WITHOUT ROWID;

-- What became of all events of a metric: a row with 0 events says that it was measured and nothing happened.
CREATE TABLE latency_measured(
	capture_id INTEGER NOT NULL REFERENCES capture,
	metric TEXT NOT NULL,
	span TEXT NOT NULL CHECK(span IN ('before', 'during')),
	from_at INTEGER NOT NULL,       -- what was really measured of the span, by whole epochs of 5 s
	to_at INTEGER NOT NULL,
	wanted_ns INTEGER NOT NULL,     -- length of the span
	events INTEGER NOT NULL,
	lost INTEGER NOT NULL,          -- part of events that is in no row of histogram_row
	unpaired INTEGER NOT NULL,      -- not in events: an end without a begin, or a begin without an end
	absurd INTEGER NOT NULL,        -- not in events: negative, or longer than an hour
	PRIMARY KEY(capture_id, metric, span)
) STRICT, WITHOUT ROWID;

-- Where targets grew their anonymous memory beyond what they ever had.
CREATE TABLE growth_row(
	capture_id INTEGER NOT NULL REFERENCES capture,
	process_id INTEGER NOT NULL REFERENCES process,
	stack_id INTEGER NOT NULL REFERENCES stack_node,
	samples INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	PRIMARY KEY(capture_id, stack_id, process_id)
) STRICT, WITHOUT ROWID;

-- The completeness ledger: a clean capture has rows with 0 events.
CREATE TABLE loss(
	capture_id INTEGER NOT NULL REFERENCES capture,
	reason TEXT NOT NULL,
	events INTEGER NOT NULL,
	-- What one event is. sample: not received; stack: a received sample whose stack is incomplete; cpu: a
	-- CPU that was not sampled; interval: an off-CPU interval without a stack.
	unit TEXT NOT NULL CHECK(unit IN ('sample', 'stack', 'cpu', 'interval', 'thread', 'frame', 'process', 'event',
		'trigger')),
	PRIMARY KEY(capture_id, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE counter(
	run_id INTEGER NOT NULL REFERENCES run,
	at INTEGER NOT NULL,
	name TEXT NOT NULL,
	value INTEGER NOT NULL
) STRICT;
CREATE INDEX counter_by_name ON counter(run_id, name, at);

CREATE VIEW frame AS
SELECT f.frame_id, f.module_id, f.offset,
	ifnull(f.function, (SELECT n.function FROM frame_row n WHERE n.frame_id = f.named_by)) AS function,
	f.function_offset,
	iif(f.file IS NULL AND f.line IS NOT NULL, (SELECT n.file FROM frame_row n WHERE n.frame_id = f.named_by), f.file) AS file,
	f.line, f.inlined
FROM frame_row f;

-- Of targets.
CREATE VIEW sample AS
SELECT r.capture_id, t.process_id, t.tid, t.thread, r.stack_id, c.kind, c.stall, r.second, r.samples,
	ifnull(r.weight_ns, r.samples * (SELECT 1000000000 / k.hz FROM capture k WHERE k.capture_id = r.capture_id)) AS weight_ns,
	'[[' || replace(r.times, ' ', '],[') || ']]' AS times
FROM sample_row r JOIN thread t USING(thread_id) JOIN sample_class c USING(class) WHERE c.role = 'target';

-- The same of those that the rule does not apply to, and of kernel threads: on CPU alone.
CREATE VIEW other_sample AS
SELECT r.capture_id, c.role, t.process_id, t.tid, t.thread, r.stack_id, c.kind, c.stall, r.second, r.samples,
	ifnull(r.weight_ns, r.samples * (SELECT 1000000000 / k.hz FROM capture k WHERE k.capture_id = r.capture_id)) AS weight_ns,
	'[[' || replace(r.times, ' ', '],[') || ']]' AS times
FROM sample_row r JOIN thread t USING(thread_id) JOIN sample_class c USING(class) WHERE c.role <> 'target';

-- Each sample on CPU, and each interval off CPU that was stored. Times are wall clock, to the millisecond.
CREATE VIEW sample_time AS
SELECT capture_id, process_id, tid, thread, stack_id, kind, stall, from_at + 1000000 * first AS at,
	iif(kind = 'off-cpu', from_at + 1000000 * second, NULL) AS until_at, iif(kind = 'off-cpu', third, second) AS cpu
FROM (
	SELECT s.capture_id, s.process_id, s.tid, s.thread, s.stack_id, s.kind, s.stall,
		c.triggered_at + 1000000000 * s.second AS from_at,
		(SELECT value FROM json_each(j.value) WHERE key = 0) AS first,
		(SELECT value FROM json_each(j.value) WHERE key = 1) AS second,
		(SELECT value FROM json_each(j.value) WHERE key = 2) AS third
	FROM sample s JOIN capture c USING(capture_id), json_each(s.times) j
);

CREATE VIEW stack AS
SELECT n.node_id AS stack_id, n.depth, c.truncated, c.unwinder, c.ended, n.hash, n.hash AS fingerprint
FROM stack_node n JOIN stack_class c USING(class);

-- SQLite pushes no condition into a recursive query, but evaluates one within the argument of json_each() for
-- the stack at hand.
CREATE VIEW stack_frame AS
SELECT s.node_id AS stack_id, s.depth - 1 - j.key AS position, j.value AS frame_id
FROM stack_node s, json_each((
	WITH RECURSIVE up(parent_id, frames, level) AS (
		SELECT s.parent_id, s.frames, 0
		UNION ALL
		SELECT n.parent_id, n.frames, level + 1 FROM up JOIN stack_node n ON n.node_id = up.parent_id
			WHERE level < 10000 -- a damaged tree may have a circle
	)
	SELECT '[' || group_concat(nullif(trim(frames, '[]'), ''), ',') || ']'
	FROM (SELECT frames FROM up ORDER BY level DESC)
)) j
WHERE s.class IS NOT NULL;

CREATE VIEW capture_summary AS
SELECT c.capture_id, c.state, c.rule, c.resource, c.kind, c.stall_us, c.window_us, c.observed_us,
	c.trigger_mode, c.latency_metric, c.latency_quantile, c.latency_limit_ns, c.latency_observed_ns, c.latency_window_ns,
	c.cgroup,
	strftime('%Y-%m-%dT%H:%M:%SZ', c.triggered_at / 1000000000, 'unixepoch') AS triggered,
	c.triggered_at, c.history_ns, c.ended_at - c.triggered_at AS after_ns,
	ifnull(c.process_count, (SELECT count(DISTINCT process_id) FROM sample s WHERE s.capture_id = c.capture_id)) AS processes,
	ifnull(c.stack_count, (SELECT count(DISTINCT stack_id) FROM sample s WHERE s.capture_id = c.capture_id)) AS stacks,
	ifnull(c.sample_count, (SELECT ifnull(sum(samples), 0) FROM sample s WHERE s.capture_id = c.capture_id)) AS samples,
	(SELECT ifnull(sum(events), 0) FROM loss l WHERE l.capture_id = c.capture_id AND l.unit = 'sample') AS losses,
	c.expected_samples, c.received_samples, c.verdict, c.blamed_percent
FROM capture c;

-- The captures of an incident, in the order in which their stalls began. resource: of a latency, its metric. stalled_percent: of
-- the window that fired, or of the time since then, whichever is more.
CREATE VIEW incident_capture AS
SELECT i.incident_id, c.capture_id, c.state, c.rule, ifnull(c.resource, c.latency_metric) AS resource, c.kind, c.cgroup,
	ifnull(c.onset_at, c.triggered_at - 1000 * c.observed_us) AS onset_at, c.triggered_at, c.ended_at,
	ifnull(c.onset_at, c.triggered_at - 1000 * c.observed_us) - i.began_at AS after_ns,
	round(100.0 * max(ifnull(1.0 * c.observed_us / nullif(c.window_us, 0), 0), ifnull((
		SELECT 1000.0 * (max(iif(c.kind = 'full', p.full_us, p.some_us)) - min(iif(c.kind = 'full', p.full_us, p.some_us)))
			/ nullif(max(p.at) - min(p.at), 0)
		FROM pressure p
		WHERE p.capture_id = c.capture_id AND p.resource = c.resource AND p.scope = ifnull(c.cgroup, 'system')
	), 0)), 1) AS stalled_percent,
	c.verdict, c.blamed_percent, c.capture_id IS i.explained_by AS explains
FROM incident i JOIN capture c USING(incident_id)
ORDER BY i.incident_id DESC, onset_at, c.capture_id;

CREATE VIEW incident_summary AS
SELECT i.incident_id, i.run_id, iif(i.ended_at IS NULL, 'recording', 'complete') AS state,
	strftime('%Y-%m-%dT%H:%M:%SZ', i.began_at / 1000000000, 'unixepoch') AS began, i.began_at, i.ended_at,
	i.ended_at - i.began_at AS duration_ns, i.captures, ifnull(i.resource, f.latency_metric) AS resource,
	f.capture_id AS first_id, f.rule AS first_rule, f.cgroup AS first_cgroup, i.explained_by, i.verdict, i.blamed_percent
FROM incident i JOIN capture f ON f.capture_id = (
	SELECT c.capture_id FROM capture c WHERE c.incident_id = i.incident_id
	ORDER BY ifnull(c.onset_at, c.triggered_at - 1000 * c.observed_us), c.capture_id LIMIT 1);

-- samples: the function was the leaf. total_samples: it was anywhere on the stack, counted once. SQLite
-- pushes `WHERE capture_id = ?` down through PARTITION BY and DISTINCT at every level, but through GROUP BY
-- at the innermost level only. Therefore this view uses window functions where GROUP BY would do.
CREATE VIEW hot_function AS
SELECT h.capture_id, h.function, m.path AS module, m.kind AS module_kind, h.samples, h.total_samples,
	h.weight_ns, round(100.0 * h.samples / h.all_samples, 1) AS percent,
	round(100.0 * h.total_samples / h.all_samples, 1) AS total_percent
FROM (
	SELECT capture_id, function, module_id, all_samples,
		sum(samples * is_leaf) OVER same AS samples, sum(samples) OVER same AS total_samples,
		sum(weight_ns * is_leaf) OVER same AS weight_ns, row_number() OVER same AS row
	FROM (
		SELECT DISTINCT p.capture_id, p.stack_id, p.samples, p.weight_ns, p.all_samples, f.function, f.module_id,
			f.function = l.function AND f.module_id = l.module_id AS is_leaf
		FROM (
			SELECT capture_id, stack_id, sum(samples) AS samples, sum(weight_ns) AS weight_ns,
				sum(sum(samples)) OVER (PARTITION BY capture_id) AS all_samples
			FROM sample WHERE kind = 'on-cpu' GROUP BY capture_id, stack_id
		) p JOIN stack_frame sf ON sf.stack_id = p.stack_id JOIN frame f ON f.frame_id = sf.frame_id
		JOIN stack_frame sl ON sl.stack_id = p.stack_id AND sl.position = 0
		JOIN frame l ON l.frame_id = sl.frame_id
	) WINDOW same AS (PARTITION BY capture_id, function, module_id)
) h JOIN module m USING(module_id) WHERE h.row = 1
ORDER BY h.capture_id DESC, h.samples DESC, h.total_samples DESC, h.function;

-- One row a stack, outermost function first, in the folded form that flame graph tools read.
CREATE VIEW folded AS
WITH per_stack AS (
	SELECT capture_id, process_id, stack_id, kind, stall, sum(samples) AS samples, sum(weight_ns) AS weight_ns
	FROM sample GROUP BY capture_id, process_id, stack_id, kind, stall
)
SELECT p.capture_id, p.process_id, pr.comm, p.stack_id, p.kind, p.stall,
	(SELECT group_concat(replace(function, ';', ':'), ';') FROM (
		SELECT f.function || CASE WHEN m.kind IN ('kernel', 'module') THEN '_[k]' ELSE '' END AS function
		FROM stack_frame sf JOIN frame f USING(frame_id) JOIN module m USING(module_id)
		WHERE sf.stack_id = p.stack_id ORDER BY sf.position DESC)) AS stack,
	p.samples, p.weight_ns
FROM per_stack p JOIN process pr USING(process_id);

CREATE VIEW hot_stack AS
SELECT DISTINCT capture_id, comm, kind, stack, sum(samples) OVER same AS samples,
	sum(weight_ns) OVER same AS weight_ns, round(100.0 * sum(samples) OVER same / all_samples, 1) AS percent
FROM (
	SELECT capture_id, comm, kind, stack, samples, weight_ns,
		sum(samples) OVER (PARTITION BY capture_id, kind) AS all_samples
	FROM folded
) WINDOW same AS (PARTITION BY capture_id, comm, kind, stack)
ORDER BY capture_id DESC, samples DESC;

-- Stacks by the time that their threads stalled on the resource that fired.
CREATE VIEW stall_stack AS
SELECT DISTINCT f.capture_id, c.resource, f.comm, f.kind, f.stall, f.stack, sum(f.samples) OVER same AS samples,
	sum(f.weight_ns) OVER same AS stalled_ns
FROM folded f JOIN capture c USING(capture_id)
WHERE instr('+' || f.stall || '+', '+' || c.resource || '+')
WINDOW same AS (PARTITION BY f.capture_id, f.comm, f.kind, f.stall, f.stack)
ORDER BY f.capture_id DESC, stalled_ns DESC;

-- What others than the targets were doing on CPU: their stacks, as in hot_stack. percent: of all samples on CPU,
-- those of targets among them.
CREATE VIEW culprit_stack AS
SELECT DISTINCT s.capture_id, s.role, p.unit, p.container, p.cgroup, p.comm, s.stack, sum(s.samples) OVER same AS samples,
	sum(s.weight_ns) OVER same AS weight_ns, round(100.0 * sum(s.samples) OVER same / s.all_samples, 1) AS percent
FROM (
	SELECT o.capture_id, o.role, o.process_id, o.samples, o.weight_ns, o.all_samples,
		(SELECT group_concat(replace(function, ';', ':'), ';') FROM (
			SELECT f.function || CASE WHEN m.kind IN ('kernel', 'module') THEN '_[k]' ELSE '' END AS function
			FROM stack_frame sf JOIN frame f USING(frame_id) JOIN module m USING(module_id)
			WHERE sf.stack_id = o.stack_id ORDER BY sf.position DESC)) AS stack
	FROM (
		SELECT r.capture_id, c.role, t.process_id, r.stack_id, sum(r.samples) AS samples,
			sum(ifnull(r.weight_ns, r.samples * 1000000000 / k.hz)) AS weight_ns,
			sum(sum(r.samples)) OVER (PARTITION BY r.capture_id) AS all_samples
		FROM sample_row r JOIN thread t USING(thread_id) JOIN sample_class c USING(class) JOIN capture k USING(capture_id)
		WHERE c.kind = 'on-cpu' GROUP BY r.capture_id, c.role, t.process_id, r.stack_id
	) o WHERE o.role <> 'target'
) s JOIN process p USING(process_id)
WINDOW same AS (PARTITION BY s.capture_id, s.role, p.unit, p.container, p.cgroup, p.comm, s.stack)
ORDER BY s.capture_id DESC, samples DESC;

-- Who ended the waits of the targets' threads. percent: of the capture's waits.
CREATE VIEW waker AS
SELECT w.capture_id, t.process_id, t.tid, t.thread, w.stack_id, w.stall, w.lock, w.role AS waker_role,
	k.process_id AS waker_process_id, p.tgid AS waker_tgid, k.tid AS waker_tid, k.thread AS waker_comm,
	w.waker_stack_id, w.releases, w.intervals, w.waited_ns,
	round(100.0 * w.waited_ns / nullif(w.all_ns, 0), 1) AS percent
FROM (SELECT *, sum(waited_ns) OVER (PARTITION BY capture_id) AS all_ns FROM wake_row) w
	JOIN thread t ON t.thread_id = w.thread_id LEFT JOIN thread k ON k.thread_id = w.waker_thread_id
	LEFT JOIN process p ON p.process_id = k.process_id
ORDER BY w.capture_id DESC, w.waited_ns DESC;

-- Of each lock that threads waited for, a row for each thread that gave it free to one of them, and one without a holder
-- for waits that did not end so. held_ns: the waiting that it ended. held_percent: of all waiting for the lock.
CREATE VIEW lock_holder AS
SELECT h.capture_id, h.lock, h.waited_ns,
	(SELECT count(DISTINCT w.thread_id) FROM wake_row w WHERE w.capture_id = h.capture_id AND w.lock = h.lock) AS waiters,
	k.process_id AS holder_process_id, p.tgid AS holder_tgid, k.tid AS holder_tid, k.thread AS holder_comm,
	(SELECT w.waker_stack_id FROM wake_row w WHERE w.capture_id = h.capture_id AND w.lock = h.lock
		AND w.waker_thread_id = h.holder AND w.releases AND w.waker_stack_id IS NOT NULL
		GROUP BY w.waker_stack_id ORDER BY sum(w.waited_ns) DESC LIMIT 1) AS holder_stack_id,
	h.intervals, h.held_ns, round(100.0 * h.held_ns / nullif(h.waited_ns, 0), 1) AS held_percent
FROM (
	SELECT capture_id, lock, iif(releases, waker_thread_id, NULL) AS holder, sum(intervals) AS intervals,
		sum(waited_ns) AS held_ns, sum(sum(waited_ns)) OVER (PARTITION BY capture_id, lock) AS waited_ns
	FROM wake_row WHERE lock IS NOT NULL GROUP BY capture_id, lock, holder
) h LEFT JOIN thread k ON k.thread_id = h.holder LEFT JOIN process p ON p.process_id = k.process_id
ORDER BY h.capture_id DESC, h.waited_ns DESC, h.lock, h.held_ns DESC;

-- Of each stack: its innermost function, and the innermost one behind it that is of a file system, a pipe, a network, swap,
-- reclaim, or a kernel module.
CREATE VIEW stack_place AS
SELECT n.node_id AS stack_id,
	(SELECT f.function FROM stack_frame s JOIN frame f USING(frame_id) WHERE s.stack_id = n.node_id AND s.position = 0)
		AS function,
	(SELECT f.function FROM stack_frame s JOIN frame f USING(frame_id) JOIN module m USING(module_id)
		WHERE s.stack_id = n.node_id AND s.position > 0 AND (m.kind = 'module'
			OR m.kind = 'kernel' AND substr(ltrim(f.function, '_'), 1, instr(ltrim(f.function, '_'), '_')) IN ('ext4_',
				'jbd2_', 'xfs_', 'btrfs_', 'f2fs_', 'nfs_', 'nfs4_', 'nfsd_', 'cifs_', 'ceph_', 'fuse_', 'ovl_',
				'erofs_', 'squashfs_', 'isofs_', 'fat_', 'vfat_', 'shmem_', 'hugetlbfs_', 'kernfs_', 'proc_',
				'pipe_', 'unix_', 'tcp_', 'udp_', 'netlink_', 'packet_',
				'swap_', 'shrink_'))
		ORDER BY s.position LIMIT 1) AS below
FROM stack_node n WHERE n.class IS NOT NULL;

-- threads: such threads at a look of the capture, on average.
CREATE VIEW thread_states AS
SELECT t.capture_id, t.role, t.process_id, p.tgid, p.comm, t.tid, t.thread, t.state, t.syscall, t.fd, t.lock, t.stack_id,
	(SELECT k.function FROM stack_place k WHERE k.stack_id = t.stack_id) AS function,
	(SELECT k.below FROM stack_place k WHERE k.stack_id = t.stack_id) AS below, t.second, t.seconds, t.samples,
	round(1.0 * t.samples / (SELECT sum(l.looks) FROM thread_look l WHERE l.capture_id = t.capture_id), 3) AS threads
FROM thread_state t JOIN process p USING(process_id)
ORDER BY t.capture_id DESC, t.samples DESC;

-- average: such threads at a look of the minute. Minutes come first, of which `at` chooses few; SQLite does not know that.
CREATE VIEW activity_minutes AS
SELECT a.minute_id, m.at, k.state, k.comm, k.kernel, k.syscall, k.function, k.uid, k.unit, k.container, k.cgroup,
	round(1.0 * a.threads / m.looks, 3) AS average, a.threads, a.least, a.most, a.times, m.looks, m.steps, m.interval_ns
FROM activity_minute m CROSS JOIN activity a USING(minute_id) CROSS JOIN activity_key k USING(key_id);

-- A row for each element of times: from `at` until `until_at` there were so many threads.
CREATE VIEW activity_steps AS
SELECT t.minute_id, t.first_at + t.step * t.interval_ns AS at, t.first_at + t.until_step * t.interval_ns AS until_at, t.step,
	t.until_step, t.threads, k.state, k.comm, k.kernel, k.syscall, k.function, k.uid, k.unit, k.container, k.cgroup
FROM (SELECT a.minute_id, a.key_id, m.at AS first_at, m.interval_ns,
		(SELECT value FROM json_each(j.value) WHERE key = 0) AS step,
		ifnull((SELECT value FROM json_each(a.times, '$[' || (j.key + 1) || '][0]')), m.steps) AS until_step,
		(SELECT value FROM json_each(j.value) WHERE key = 1) AS threads
	FROM activity_minute m CROSS JOIN activity a USING(minute_id), json_each(a.times) j) t
JOIN activity_key k USING(key_id);

-- From the trigger on: the growth of PSI's totals, for the system and for the cgroup that fired, beside the
-- summed stall time of the targets' threads. The two differ in kind: PSI counts a CPU with several stalled
-- threads once, and weighs CPUs by their non-idle time. They are equal on one CPU with one thread. formula_ns
-- applies PSI's own formula to the targets. Its span begins later; within it PSI's own total grew by
-- formula_some_ns. Both are NULL for scopes other than the one that fired, and for a capture that began while
-- another was running. PSI weighs CPUs by all non-idle threads, so the two may be subtracted only if no
-- process other than the targets was seen in the cgroup.
CREATE VIEW reconciliation AS
SELECT p.capture_id, p.scope, p.resource, p.of_ns, p.some_ns, p.full_ns,
	(SELECT ifnull(sum(s.weight_ns), 0) FROM sample s WHERE s.capture_id = p.capture_id AND s.second >= 0
		AND instr('+' || s.stall || '+', '+' || p.resource || '+')) AS targets_ns,
	p.formula_ns, p.formula_some_ns, iif(p.alone, p.formula_some_ns - p.formula_ns, NULL) AS unexplained_ns,
	iif(p.alone, round(100.0 * p.formula_ns / nullif(p.formula_some_ns, 0), 1), NULL) AS explained_percent
FROM (
	SELECT g.*, c.cgroup IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM usage u JOIN process o USING(process_id) WHERE u.capture_id = g.capture_id
				AND u.role = 'other' AND (o.cgroup IS NULL OR o.cgroup || '/' LIKE g.scope || '/%')) AS alone,
		(SELECT 1000 * (max(t.some_us) - min(t.some_us)) FROM pressure t WHERE t.capture_id = g.capture_id
			AND t.scope = 'targets' AND t.resource = g.resource AND g.scope = ifnull(c.cgroup, 'system')) AS formula_ns,
		iif(g.scope = ifnull(c.cgroup, 'system'), since_ns, NULL) AS formula_some_ns
	FROM (
		SELECT DISTINCT capture_id, scope, resource, max(at) OVER same - min(at) OVER same AS of_ns,
			1000 * (max(some_us) OVER same - min(some_us) OVER same) AS some_ns,
			1000 * (max(full_us) OVER same - min(full_us) OVER same) AS full_ns,
			1000 * (max(some_us) FILTER (WHERE at >= from_at) OVER same
				- min(some_us) FILTER (WHERE at >= from_at) OVER same) AS since_ns
		FROM (
			SELECT *, min(at) FILTER (WHERE scope = 'targets') OVER (PARTITION BY capture_id) AS from_at FROM pressure
		) WINDOW same AS (PARTITION BY capture_id, scope, resource)
	) g JOIN capture c USING(capture_id) WHERE g.scope <> 'targets'
) p
ORDER BY p.capture_id DESC, p.scope = 'system', p.some_ns DESC;

-- Whom or what the verdict blames, by program and unit, the largest first. percent: of capture.waited_ns.
CREATE VIEW culprit AS
SELECT c.capture_id, c.verdict, c.victim, c.wait, b.role, b.program, b.unit, b.cgroup, iif(count(*) = 1, b.tgid, NULL) AS tgid,
	max(b.processes) AS processes, b.where_text, sum(b.ns) AS ns, round(100.0 * sum(b.ns) / nullif(c.waited_ns, 0), 1) AS percent
FROM capture c JOIN blame b ON b.capture_id = c.capture_id AND b.victim = c.victim
	AND b.wait = iif(c.verdict = 'limit', 'memory', c.wait)
WHERE iif(b.role = 'kernel' AND b.program GLOB 'ksoftirqd*', 'irq', b.role) IN (SELECT value FROM json_each(CASE c.verdict
	WHEN 'quota' THEN '["quota"]' WHEN 'limit' THEN '["limit"]' WHEN 'device' THEN '["device"]' WHEN 'interrupts' THEN '["irq"]'
	WHEN 'steal' THEN '["steal"]' WHEN 'storm' THEN '["own"]' WHEN 'pool' THEN '["own"]' WHEN 'own threads' THEN '["own"]' WHEN 'own I/O' THEN '["own"]'
	WHEN 'neighbour' THEN '["other", "kernel", "recorder"]' WHEN 'neighbours' THEN '["other", "kernel", "recorder"]'
	WHEN 'crowd' THEN '["other", "kernel", "recorder"]' WHEN 'lock' THEN '["own", "other", "kernel", "recorder"]'
	WHEN 'convoy' THEN '["own", "other", "kernel", "recorder"]'
	WHEN 'peer' THEN '["own", "other", "kernel", "recorder"]'
	WHEN 'memory shortage' THEN '["own", "other", "kernel", "recorder"]' END))
GROUP BY c.capture_id, b.role, b.program, ifnull(b.unit, b.cgroup)
ORDER BY c.capture_id DESC, ns DESC;

-- Who used the resource, by program and unit: living processes, those that ended, and kernel threads by their kind
-- (kworker/1:2 is a kworker). Targets are among them: a rule for the whole host has no others. percent: of what all
-- groups used.
CREATE VIEW culprit_group AS
SELECT capture_id, resource, role, unit, container, cgroup, program, processes, ended, iif(processes = 1, tgid, NULL) AS tgid,
	iif(parents = 1, parent, NULL) AS parent, iif(parents = 1, parent_tgid, NULL) AS parent_tgid, taken, taken_unit,
	cpu_ns, read_bytes, write_bytes, rss_bytes, round(100.0 * taken / nullif(all_taken, 0), 1) AS percent
FROM (
	SELECT capture_id, resource, role, unit, container, cgroup, program, taken_unit, all_taken,
		sum(processes) OVER same AS processes, sum(ended) OVER same AS ended, max(tgid) OVER same AS tgid,
		min(parent) OVER same AS parent, max(parent_tgid) OVER same AS parent_tgid,
		iif(min(ifnull(parent, '')) FILTER (WHERE ended) OVER same = max(parent) OVER same
			AND min(ifnull(parent_tgid, 0)) FILTER (WHERE ended) OVER same
				= max(ifnull(parent_tgid, 0)) FILTER (WHERE ended) OVER same, 1, 0) AS parents,
		sum(taken) OVER same AS taken, sum(cpu_ns) OVER same AS cpu_ns, sum(read_bytes) OVER same AS read_bytes,
		sum(write_bytes) OVER same AS write_bytes, sum(rss_bytes) OVER same AS rss_bytes, row_number() OVER same AS row
	FROM (
		SELECT *, sum(taken) OVER (PARTITION BY capture_id) AS all_taken
		FROM (
			SELECT u.capture_id, c.resource, u.role, p.unit, p.container, p.cgroup,
				CASE WHEN u.role <> 'kernel' THEN p.comm
					WHEN instr(p.comm, '/') THEN substr(p.comm, 1, instr(p.comm, '/') - 1)
					ELSE rtrim(p.comm, '0123456789.') END AS program,
				1 AS processes, 0 AS ended, p.tgid, NULL AS parent, NULL AS parent_tgid,
				CASE c.resource WHEN 'io' THEN u.read_bytes + u.write_bytes WHEN 'memory' THEN u.rss_bytes
					ELSE u.cpu_ns END AS taken,
				iif(c.resource IN ('io', 'memory'), 'bytes', 'ns') AS taken_unit, u.cpu_ns, u.read_bytes, u.write_bytes,
				u.rss_bytes
			FROM usage u JOIN capture c USING(capture_id) JOIN process p USING(process_id)
			UNION ALL
			SELECT e.capture_id, c.resource, e.role, e.unit, e.container, e.cgroup, e.comm, e.processes, e.processes, NULL,
				e.parent, e.parent_tgid,
				CASE c.resource WHEN 'io' THEN e.read_bytes + e.write_bytes WHEN 'memory' THEN 0 ELSE e.cpu_ns END,
				iif(c.resource IN ('io', 'memory'), 'bytes', 'ns'), e.cpu_ns, e.read_bytes, e.write_bytes, 0
			FROM ended e JOIN capture c USING(capture_id) WHERE e.comm IS NOT NULL
		)
	) WINDOW same AS (PARTITION BY capture_id, role, unit, container, cgroup, program)
) WHERE row = 1
ORDER BY capture_id DESC, taken DESC;

-- Who grew and who was in direct reclaim, by program and unit, targets and those that ended among them. Of kswapd, the
-- CPU time tells what it reclaimed in the background.
CREATE VIEW memory_group AS
SELECT capture_id, role, unit, container, cgroup, program, processes, iif(processes = 1, tgid, NULL) AS tgid,
	rss_before_bytes, rss_bytes, rss_bytes - rss_before_bytes AS grown_bytes, reclaims, reclaim_ns, cpu_ns
FROM (
	SELECT capture_id, role, unit, container, cgroup, program, sum(processes) OVER same AS processes,
		max(tgid) OVER same AS tgid, sum(rss_before_bytes) OVER same AS rss_before_bytes,
		sum(rss_bytes) OVER same AS rss_bytes, sum(reclaims) OVER same AS reclaims,
		sum(reclaim_ns) OVER same AS reclaim_ns, sum(cpu_ns) OVER same AS cpu_ns, row_number() OVER same AS row
	FROM (
		SELECT u.capture_id, u.role, p.unit, p.container, p.cgroup,
			CASE WHEN u.role <> 'kernel' THEN p.comm
				WHEN instr(p.comm, '/') THEN substr(p.comm, 1, instr(p.comm, '/') - 1)
				ELSE rtrim(p.comm, '0123456789.') END AS program,
			1 AS processes, p.tgid, u.rss_before_bytes, u.rss_bytes, u.reclaims, u.reclaim_ns, u.cpu_ns
		FROM usage u JOIN process p USING(process_id)
		UNION ALL
		SELECT capture_id, role, unit, container, cgroup, comm, processes, NULL, 0, 0, reclaims, reclaim_ns, cpu_ns
		FROM ended WHERE comm IS NOT NULL
	) WINDOW same AS (PARTITION BY capture_id, role, unit, container, cgroup, program)
) WHERE row = 1
ORDER BY capture_id DESC, grown_bytes DESC;

-- percent: of what the victim waited in that way.
CREATE VIEW blame_share AS
SELECT capture_id, victim, wait, role, party, ns, round(100.0 * ns / nullif(all_ns, 0), 1) AS percent
FROM (
	SELECT capture_id, victim, wait, role, party, sum(ns) AS ns, (SELECT sum(a.ns) FROM blame a
		WHERE a.capture_id = b.capture_id AND a.victim = b.victim AND a.wait = b.wait) AS all_ns
	FROM (
		SELECT capture_id, victim, wait, role, ns, iif(program IS NULL, iif(role IN ('quota', 'unknown'), where_text, NULL),
			program || ifnull(' in ' || ifnull(unit, cgroup), '')) AS party
		FROM blame
	) b GROUP BY capture_id, victim, wait, role, party
)
ORDER BY capture_id DESC, victim, wait, ns DESC;

-- Buckets are log-linear: up to 8 one for each value, then 8 for each octave. upper_ns is no part of its bucket. Of block.size, bytes.
CREATE VIEW histogram AS
SELECT capture_id, metric, label, span,
	iif(bucket < 8, bucket, (8 + bucket % 8) << (bucket / 8 - 1)) AS lower_ns,
	iif(bucket < 7, bucket + 1, (8 + (bucket + 1) % 8) << ((bucket + 1) / 8 - 1)) AS upper_ns, count, sum AS sum_ns
FROM histogram_row JOIN histogram_label USING(label_id);

-- Each is the upper bound of its bucket: at most an eighth too high. is_partial: events were lost, or more than an epoch of the span
-- was not measured.
CREATE VIEW latency_percentile AS
SELECT DISTINCT capture_id, metric, label, span, total AS count,
	min(upper_ns) FILTER (WHERE upto >= 0.50 * total) OVER same AS p50_ns,
	min(upper_ns) FILTER (WHERE upto >= 0.90 * total) OVER same AS p90_ns,
	min(upper_ns) FILTER (WHERE upto >= 0.99 * total) OVER same AS p99_ns,
	min(upper_ns) FILTER (WHERE upto >= 0.999 * total) OVER same AS p999_ns,
	max(upper_ns) FILTER (WHERE count > 0) OVER same AS max_ns,
	(SELECT m.lost > 0 OR m.to_at - m.from_at < m.wanted_ns - 5000000000 FROM latency_measured m
		WHERE m.capture_id = cumulative.capture_id AND m.metric = cumulative.metric AND
			m.span = cumulative.span) AS is_partial
FROM (
	SELECT *, sum(count) OVER (PARTITION BY capture_id, metric, label, span) AS total
	FROM (
		SELECT capture_id, metric, label, span, upper_ns, count,
			sum(count) OVER (PARTITION BY capture_id, metric, label, span ORDER BY upper_ns) AS upto
		FROM histogram
	)
) cumulative WINDOW same AS (PARTITION BY capture_id, metric, label, span)
ORDER BY capture_id DESC, metric, label, span;

CREATE VIEW growth_stack AS
SELECT capture_id, process_id, stack_id, samples, bytes FROM growth_row;

-- How complete a capture is: each reason for loss beside the number of samples received. percent is relative
-- to all samples that occurred (unit sample), samples received (unit stack), all off-CPU intervals (unit
-- interval), or the CPUs present when the daemon started (unit cpu); for other units it is NULL.
-- DISTINCT keeps SQLite from counting again for each reason; `WHERE capture_id = ?` is pushed down through it.
CREATE VIEW data_quality AS
SELECT s.capture_id, l.reason, l.unit, l.events, s.samples,
	CASE l.unit WHEN 'sample' THEN round(100.0 * l.events / nullif(l.events + s.samples, 0), 2)
		WHEN 'stack' THEN round(100.0 * l.events / nullif(s.samples, 0), 2)
		WHEN 'interval' THEN round(100.0 * l.events / nullif(l.events + s.intervals, 0), 2)
		WHEN 'cpu' THEN round(100.0 * l.events / max(l.events, r.cpus), 2) END AS percent
FROM loss l JOIN (
	SELECT DISTINCT c.capture_id, c.run_id,
		ifnull(c.sample_count, (SELECT CAST(total(samples) AS INTEGER) FROM sample s WHERE s.capture_id = c.capture_id)) AS samples,
		ifnull(c.interval_count, (SELECT CAST(total(samples) AS INTEGER) FROM sample s
			WHERE s.capture_id = c.capture_id AND s.kind = 'off-cpu')) AS intervals
	FROM capture c
) s USING(capture_id) JOIN run r USING(run_id)
ORDER BY s.capture_id DESC, percent DESC, l.events DESC, l.reason;

-- User stacks by unwinder and by the reason for their end; for incomplete stacks, also the module of their
-- outermost frame. SQLite pushes nothing down through windows of different partitions: each has a level of its own.
CREATE VIEW unwind_quality AS
SELECT DISTINCT capture_id, kind, unwinder, ended, module, sum(samples) OVER same AS samples,
	round(100.0 * sum(samples) OVER same / all_samples, 2) AS percent
FROM (
	SELECT p.capture_id, p.kind, p.samples, p.all_samples, st.unwinder, st.ended,
		iif(st.ended = 'root', NULL, m.path) AS module
	FROM (
		SELECT capture_id, stack_id, kind, sum(samples) AS samples,
			sum(sum(samples)) OVER (PARTITION BY capture_id, kind) AS all_samples
		FROM sample JOIN stack USING(stack_id) WHERE ended IS NOT NULL GROUP BY capture_id, stack_id, kind
	) p JOIN stack st USING(stack_id)
	JOIN stack_frame sf ON sf.stack_id = p.stack_id AND sf.position = st.depth - 1
	JOIN frame f USING(frame_id) JOIN module m USING(module_id)
) WINDOW same AS (PARTITION BY capture_id, kind, unwinder, ended, module)
ORDER BY capture_id DESC, kind DESC, samples DESC;
