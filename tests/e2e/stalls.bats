#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Time off CPU and its cause, compared with the measurements of the workload and of PSI.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup stalls
	cgroup_make
	BUSY_BEGAN_MS=$(busy_ms)
	BEGAN_MS=$(date +%s%3N)
}

teardown() {
	bourdon_teardown
}

# stacks_with FUNCTION...: prints SQL for the ids of stacks with a frame of each of these functions (GLOB
# patterns).
stacks_with() {
	local function sql='SELECT stack_id FROM stack'
	for function; do
		sql+=" INTERSECT SELECT stack_id FROM stack_frame JOIN frame USING(frame_id) WHERE function GLOB '$function'"
	done
	echo "SELECT stack_id FROM ($sql)" # in brackets: UNION and INTERSECT have the same precedence
}

# within PERCENT A B: A differs from B by at most PERCENT of B.
within() {
	awk -v most="$1" -v a="$2" -v b="$3" 'BEGIN { difference = a > b ? a - b : b - a; exit !(b > 0 && difference * 100 <= most * b) }' ||
		{ echo "$2 is not within $1 % of $3"; return 1; }
}

# tolerance QUIET BUSY: prints BUSY if other programs used more than a fifth of all CPUs since the test began, otherwise
# QUIET. They delay a thread that was woken, and interrupt those that hold a lock.
tolerance() {
	local others passed=$(($(date +%s%3N) - BEGAN_MS))
	others=$(($(busy_ms) - BUSY_BEGAN_MS - $(cgroup_cpu_us "$CGROUP2/$CGROUP") / 1000))
	echo "others ran $others ms in $passed ms" >&2
	((others * 5 > passed * $(nproc))) && echo "$2" || echo "$1"
}

# off_cpu_rows: what there is off CPU, the longest first, and what was lost
off_cpu_rows() {
	sql "SELECT sum(weight_ns), (SELECT group_concat(function, ';') FROM stack_frame JOIN frame USING(frame_id)
			WHERE stack_frame.stack_id = sample.stack_id)
		FROM sample WHERE kind = 'off-cpu' GROUP BY stack_id ORDER BY 1 DESC LIMIT 8;
		SELECT * FROM loss WHERE events > 0"
}

@test "a contended lock: the off-CPU time under its function is the time that the waiters measured" {
	load
	# whether the rule fires before or after lock_hog starts, the capture with its history contains all of
	# its waits
	rule locks 'comm = lock_hog' "cgroup = /$CGROUP" 'cpu.some = 1%' 'watch = system' 'history = 20s' 'capture = 15s' 'cooldown = 1h'
	daemon_start
	start_ahead "$BUILD/workloads/lock_hog" --threads 4 --hold 20 --seconds 6
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	local measured seen
	read -r -u "$CHILD_OUTPUT" measured
	measured=${measured##*waited_ns=}
	# A waiter's clock runs until it has the lock and a CPU, so a waiter that is interrupted on its way counts. The one that has the
	# lock is in spin().
	seen=$(sql "SELECT sum(weight_ns) FROM sample WHERE kind = 'off-cpu' AND stack_id IN
		(SELECT * FROM ($(stacks_with hold_lock)) EXCEPT SELECT * FROM ($(stacks_with spin)))")
	# a thread that holds the lock may wait briefly for a CPU; such waits are added to its next stack,
	# often on emulated CPUs
	within $((PATIENCE > 1 ? 10 : $(tolerance 5 10))) "$seen" "$measured" || { off_cpu_rows; false; }
}

# psi_growth SCOPE RESOURCE KIND: prints the growth of that PSI total during the capture, in us.
psi_growth() {
	sql "SELECT max($3_us) - min($3_us) FROM pressure WHERE scope = '$1' AND resource = '$2'"
}

# assert_verdict VERDICT [CULPRIT]: the capture has this verdict, which blames this program.
assert_verdict() {
	local said
	said=$(sql 'SELECT verdict, ifnull((SELECT program FROM culprit LIMIT 1), 0) FROM capture')
	# shellcheck disable=SC2053 # a pattern
	[[ $said == "$1|"${2-*} ]] || { echo "$said"; return 1; }
}

@test "two hogs on one CPU: the time that the victim waited is that of PSI, and the other is the culprit" {
	load
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/other"
	rule victim 'comm = cpu_hog' "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 2s' 'capture = 5s' 'cooldown = 1h'
	daemon_start
	CGROUP=$CGROUP/other start cpu_hog --cpu 0
	local other=$CHILD queued
	CGROUP=$CGROUP/victim start cpu_hog --cpu 0
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	queued=$(sql "SELECT sum(weight_ns) / 1000 FROM sample WHERE kind = 'off-cpu' AND stall = 'cpu' AND second >= 0")
	within 10 "$queued" "$(psi_growth "/$CGROUP/victim" cpu some)"
	explained cpu 10
	# other programs of the machine may be neighbours, too
	[ "$(sql "SELECT tgid FROM culprit WHERE cgroup LIKE '/$CGROUP/%' LIMIT 1")" = "$other" ]
	[ "$(sql "SELECT count(*) FROM usage WHERE role = 'target'")" -eq 1 ]
	[ "$(sql "SELECT count(*) FROM usage WHERE role = 'rest'")" -eq 1 ]
	[[ $(sql 'SELECT verdict FROM capture') == @(neighbour|neighbours|crowd) ]]
}

# explained RESOURCE PERCENT: PSI's formula, applied to the targets, gives the pressure of the scope that
# fired within PERCENT.
explained() {
	local said formula of_psi
	said=$(sql "SELECT formula_ns, formula_some_ns FROM reconciliation WHERE resource = '$1' AND formula_ns IS NOT NULL")
	IFS='|' read -r formula of_psi <<< "$said"
	within "$2" "$formula" "$of_psi"
}

@test "two hogs on one CPU, one on the other: PSI's formula over the targets gives the pressure" {
	load
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 8s' 'cooldown = 1h'
	daemon_start
	start cpu_hog --cpu 1
	start cpu_hog --cpu 0
	start cpu_hog --cpu 0
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	explained cpu 10
	# the sum of their waits does not: PSI averages over both CPUs
	[ "$(sql "SELECT targets_ns > 1.5 * some_ns FROM reconciliation WHERE scope LIKE '/%' AND resource = 'cpu'")" = 1 ]
}

@test "a writer waits for the disk: io stalls under its function, as long as PSI says" {
	load
	rule io 'comm = io_hog' "cgroup = /$CGROUP" 'io.some = 2%' 'history = 2s' 'capture = 5s' 'cooldown = 1h'
	daemon_start
	ON_CPU=0 start_ahead "$BUILD/workloads/io_hog" --threads 1 --file "$BUILD/io_hog.data"
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	local of_io of_all waited
	# except for waits for the CPU, which other programs may use
	of_io=$(sql "SELECT sum(weight_ns) FROM sample WHERE kind = 'off-cpu' AND stall = 'io' AND stack_id IN ($(stacks_with burn_io))")
	of_all=$(sql "SELECT sum(weight_ns) FROM sample WHERE kind = 'off-cpu' AND stall NOT IN ('none', 'cpu')")
	[ $((of_io * 100)) -ge $((of_all * 90)) ] || { echo "$of_io of $of_all"; false; }
	waited=$(sql "SELECT sum(weight_ns) / 1000 FROM sample WHERE kind = 'off-cpu' AND stall = 'io' AND second >= 0")
	within $((PATIENCE == 1 ? $(tolerance 10 15) : 50)) "$waited" "$(psi_growth "/$CGROUP" io some)"
	# the host decides how busy an emulated disk is
	explained io $((PATIENCE == 1 ? $(tolerance 10 15) : 50))
	# unless, by the daemon's own count, other processes moved half as much
	((PATIENCE > 1 || $(sql "SELECT ifnull(sum(iif(role = 'target', -1, 2) * (read_bytes + write_bytes)), 0) > 0
		FROM (SELECT role, read_bytes, write_bytes FROM usage UNION ALL SELECT role, read_bytes, write_bytes FROM ended)"))) ||
		assert_verdict 'own I/O' io_hog
}

@test "memory stalls: as long as PSI says, with stacks in reclaim" {
	cgroup_remove
	cgroup_make $((64 << 20))
	load --hz 997
	rule memory 'comm = mem_hog' "cgroup = /$CGROUP" 'memory.some = 1%' 'history = 2s' 'capture = 8s' 'cooldown = 1h'
	daemon_start
	ON_CPU=0 start mem_hog --size 128MiB
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	# both count since the cgroup was made, when its PSI was zero and the process had not started.
	# Submitting the reads of refaults is a memory stall on the CPU without tracepoints around it; it is
	# long on an emulated CPU
	within $((PATIENCE == 1 ? 10 : 40)) "$(sql "SELECT stalled_memory_ns / 1000 FROM usage WHERE role = 'target'")" \
		"$(sql "SELECT max(some_us) FROM pressure WHERE scope = '/$CGROUP' AND resource = 'memory'")"
	local of_reclaim of_memory
	of_memory=$(sql "SELECT sum(samples) FROM sample WHERE kind = 'on-cpu' AND stall = 'memory'")
	# in reclaim, or reading evicted pages again
	of_reclaim=$(sql "SELECT sum(samples) FROM sample WHERE kind = 'on-cpu' AND stall = 'memory' AND
		stack_id IN ($(stacks_with '*reclaim*') UNION $(stacks_with 'try_to_free_mem_cgroup_pages')
			UNION $(stacks_with '*readahead*') UNION $(stacks_with 'page_cache_ra*') UNION $(stacks_with 'swap_read*'))")
	explained memory $((PATIENCE == 1 ? 10 : 50))
	[ "$of_memory" -ge 100 ] || { echo "only $of_memory samples"; false; } # enough for a percentage
	[ $((of_reclaim * 100)) -ge $((of_memory * 90)) ] || { echo "$of_reclaim of $of_memory"; false; }
	assert_verdict limit
}
