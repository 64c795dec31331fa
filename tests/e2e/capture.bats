#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job, on the real kernel: pressure becomes a capture, with the workload's own function on top,
# taken by a consumer that can do nothing else.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup capture
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# Every thread of the daemon and of its children: what DESIGN and THREATS promise of them.
assert_confined() {
	local task children=()
	mapfile -t children < <(pgrep -P "$DAEMON")
	[ "${#children[@]}" -ge 1 ] # the spawner
	[ "$(find "/proc/$DAEMON/task" -mindepth 1 -maxdepth 1 | wc -l)" -eq 4 ]
	for task in "/proc/$DAEMON/task"/* "${children[@]/#//proc/}"; do
		grep -Eq '^Uid:\s+65534\s+65534\s+65534\s+65534$' "$task/status"
		grep -Eq '^Gid:\s+65534\s+65534\s+65534\s+65534$' "$task/status"
		grep -Eq '^Groups:\s*$' "$task/status"
		grep -Eq '^CapPrm:\s+0000000000000000$' "$task/status"
		grep -Eq '^CapEff:\s+0000000000000000$' "$task/status"
		grep -Eq '^CapBnd:\s+0000000000000000$' "$task/status"
		grep -Eq '^NoNewPrivs:\s+1$' "$task/status"
		grep -Eq '^Seccomp:\s+2$' "$task/status"
	done
	[ "$(awk '/^VmLck/ { print $2 }' "/proc/$DAEMON/status")" -gt 0 ]
	# the spawner, and so every symbolizer, holds nothing but its socket
	[ "$(find "/proc/${children[0]}/fd" -mindepth 1 | wc -l)" -le 4 ]
}

# assert_in_function NAME PERCENT: so much of the capture's on-CPU samples have the function on the stack.
assert_in_function() {
	local share
	share=$(sql "SELECT ifnull(max(total_percent), 0) >= $2 FROM hot_function WHERE function = '$1'")
	[ "$share" = 1 ] || { sql 'SELECT * FROM hot_function'; false; }
}

@test "CPU pressure of the system, by a kernel trigger, with history" {
	load
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 600ms/2s' 'watch = system' 'history = 10s' 'capture = 3s'
	daemon_start
	assert_confined
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'rule cpu fired'
	await_sql 10 'SELECT state FROM capture' recording
	await_log 30 'captured [0-9]+ stacks of rule cpu'
	assert_confined
	[ "$(sql "SELECT state, trigger_mode, resource, kind, stall_us, window_us, cgroup IS NULL,
		observed_us >= stall_us, history_ns > 500000000 / $PATIENCE, history_ns <= 10000000000 FROM capture")" = \
		'complete|kernel|cpu|some|600000|2000000|1|1|1|1' ]
	assert_in_function burn_cpu 90
	# it ran before the trigger, and was sampled before anyone asked
	[ "$(sql 'SELECT min(second) < 0, max(second) FROM sample')" = '1|2' ]
	# at most 47 Hz on each CPU, and not much less than that even where others want the CPUs, too
	[ "$(sql "SELECT sum(samples) BETWEEN 0.2 / $PATIENCE * 3 * 47 * $(nproc) AND 3 * 48 * $(nproc)
		FROM sample WHERE kind = 'on-cpu' AND second >= 0")" = 1 ]
	[ "$(sql "SELECT sum(weight_ns) / sum(samples) FROM sample WHERE kind = 'on-cpu'")" -eq $((1000000000 / 47)) ]
	[ "$(sql "SELECT comm, exe, uid, cgroup, tgid FROM process WHERE process_id IN (SELECT process_id FROM sample)")" = \
		"cpu_hog|$BUILD/workloads/cpu_hog|0|/$CGROUP|$CHILD" ]
	[ "$(sql 'SELECT count(DISTINCT tid) FROM sample')" -eq $((2 * $(nproc))) ]
	# an interval that began in the calm has perhaps no stack, and the first seconds no tables; an emulated CPU's clock
	# skips ticks
	[ "$(sql "SELECT count(*), sum(events) FROM loss WHERE reason NOT IN ('frames-unresolved', 'offcpu-over-budget', 'stack-not-whole'
		$( ((PATIENCE == 1)) || echo ", 'samples-missing'"))")" = "$((PATIENCE == 1 ? 16 : 15))|0" ] || {
		sql 'SELECT * FROM loss WHERE events > 0'
		false
	}
	[ "$(sql "SELECT events FROM loss WHERE reason = 'offcpu-over-budget'")" -le $((2 * $(nproc))) ]
	[ "$(sql "SELECT expected_samples > 2 * 47 * $(nproc) * 0.2, received_samples BETWEEN expected_samples * 0.95
		AND expected_samples * 1.05 + 2 OR $PATIENCE > 1, cause FROM capture")" = '1|1|its own threads' ]
	# names come with the module that they are from, and offsets that lie in the function
	[ "$(sql "SELECT count(*) > 0, min(function_offset) >= 0 FROM frame JOIN module USING(module_id)
		WHERE function = 'burn_cpu' AND path = '$BUILD/workloads/cpu_hog' AND length(build_id) = 40")" = '1|1' ]
	[ "$(sql "SELECT min(position), max(position) = depth - 1 FROM stack_frame JOIN stack USING(stack_id)
		GROUP BY stack_id" | sort -u)" = '0|1' ]
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(sql 'SELECT ended_at > started_at FROM run')" = 1 ]
	[ "$(sqlite3 "$DB" 'PRAGMA integrity_check')" = ok ]
}

@test "the report names trigger, processes, stacks, history and losses" {
	load
	rule cpu 'comm = cpu_*' "cgroup = /$CGROUP" 'cpu.some = 30%' 'watch = system' 'history = 5s' 'capture = 2s'
	daemon_start
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'captured [0-9]+ stacks'
	run "$BUILD/bourdon" --db "$DB" why
	[ "$status" -eq 0 ]
	[[ $output == *'rule cpu'* && $output == *'threshold 600 ms'* && $output == *'stalled'* ]]
	[[ $output == *'hottest function: burn_cpu'* ]]
	[[ $output == *'cpu_hog'*"/$CGROUP"* ]]
	[[ $output == *'before the trigger'* ]]
	[[ $output == *'losses'* ]]
	run "$BUILD/bourdon" --db "$DB" list
	[[ ${lines[1]} == *'complete'*'cpu'* ]]
	run "$BUILD/bourdon" --db "$DB" top
	[[ $output == *'burn_cpu'* ]]
	run "$BUILD/bourdon" --db "$DB" folded
	[[ $output =~ cpu_hog\;.*\;burn_cpu\ [0-9]+ ]]
	for command in list why top; do
		"$BUILD/bourdon" --db "$DB" --json "$command" | jq -e . > "$WORK/$command.json"
	done
}

@test "a process that ran before the consumer, and a trigger on its cgroup" {
	load
	rule io 'comm = io_hog' "cgroup = /$CGROUP" 'io.some = 5%' 'history = 10s' 'capture = 3s'
	start io_hog --threads 2 --file "$TREE/build/io_hog.data"
	daemon_start
	await_log 60 'captured [0-9]+ stacks of rule io'
	[ "$(sql "SELECT state, trigger_mode, resource, cgroup FROM capture")" = "complete|sampled|io|/$CGROUP" ]
	[ "$(sql 'SELECT DISTINCT comm FROM process JOIN sample USING(process_id)')" = io_hog ]
	# it sleeps most of the time; the little that it runs is in burn_io and the kernel below it
	assert_in_function burn_io 90
	[ "$(sql "SELECT count(*) > 0 FROM frame JOIN module USING(module_id)
		WHERE kind = 'kernel' AND function_offset >= 0")" = 1 ]
}

@test "memory pressure in a cgroup with a limit" {
	cgroup_remove
	cgroup_make $((64 << 20))
	load
	rule memory 'comm = mem_hog' 'memory.some = 5%' 'history = 10s' 'capture = 3s'
	# first it fills its file, which in a v2 cgroup is memory pressure, too
	start mem_hog --size 128MiB
	daemon_start
	await_log 90 'captured [0-9]+ stacks of rule memory'
	[ "$(sql "SELECT state, resource, kind FROM capture")" = 'complete|memory|some' ]
	assert_in_function burn_memory 90
	# reclaim runs on the CPU, under in_memstall
	[ "$(sql "SELECT count(*) > 0 FROM sample WHERE stall = 'memory'")" = 1 ]
}

@test "a process that moves into the cgroup belongs to the capture from then on" {
	load
	mkdir "$CGROUP2/$CGROUP/inner"
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP/inner" 'cpu.some = 10%' 'watch = system' 'history = 10s' 'capture = 3s'
	daemon_start
	# enough pressure from one that the rule does not mean
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'rule cpu fired'
	echo "$CHILD" > "$CGROUP2/$CGROUP/inner/cgroup.procs"
	await_log 30 'captured [1-9][0-9]* stacks'
	[ "$(sql 'SELECT DISTINCT cgroup FROM process JOIN sample USING(process_id)')" = "/$CGROUP/inner" ]
	[ "$(sql 'SELECT min(second) >= 0, sum(samples) > 0 FROM sample')" = '1|1' ]
}

@test "cgroups that appear at once are all watched" {
	load
	rule many 'comm = bdtest-*' "cgroup = /$CGROUP/*" 'cpu.some = 1%' 'history = 5s' 'capture = 1s' 'cooldown = 60s'
	daemon_start
	cp "$BUILD/workloads/cpu_hog" "$WORK/bdtest-hog"
	local i
	for i in 1 2 3 4 5; do
		mkdir "$CGROUP2/$CGROUP/$i"
		(echo "$BASHPID" > "$CGROUP2/$CGROUP/$i/cgroup.procs"; exec "$WORK/bdtest-hog" --threads 3) > /dev/null &
		CHILDREN+=($!)
	done
	await_sql 40 "SELECT count(DISTINCT cgroup) FROM capture WHERE state = 'complete'" 5
}

@test "exec, fork, rename and exit change who is a target at once" {
	load
	rule names 'comm = bdtest-*' 'cpu.some = 90%' 'watch = system'
	daemon_start
	targets() {
		bpftool -j map dump pinned "$PIN_DIR/targets" | jq '.[].formatted.key' | sort -n
	}
	[ -z "$(targets)" ]
	# exec: the program's name
	cp "$(command -v sleep)" "$WORK/bdtest-exec"
	"$WORK/bdtest-exec" 60 & local executed=$!
	CHILDREN+=("$executed")
	# rename, then a fork that never executes anything, and that renames itself when it is told to
	mkfifo "$WORK/pids" "$WORK/go" "$WORK/went"
	bash -c 'echo bdtest-renamed > /proc/$$/comm
		(echo "$BASHPID"; exec 1>&-; read -r _ < "$1/go"; echo other > "/proc/$BASHPID/comm"
		 echo > "$1/went"; read -r _ < "$1/go") &
		echo "$$"; exec 1>&-; wait' bash "$WORK" > "$WORK/pids" & local renamed=$!
	CHILDREN+=("$renamed")
	local pids
	mapfile -t pids < "$WORK/pids"
	[ "${#pids[@]}" -eq 2 ]
	local forked=${pids[0]}
	[ "$forked" != "$renamed" ] || forked=${pids[1]}
	CHILDREN+=("$forked")
	[ "$(targets)" = "$(printf '%s\n' "$executed" "$renamed" "$forked" | sort -n)" ]
	echo > "$WORK/go"
	read -r _ < "$WORK/went"
	[ "$(targets)" = "$(printf '%s\n' "$executed" "$renamed" | sort -n)" ]
	stop "$executed"
	[ "$(targets)" = "$renamed" ]
	kill -KILL "$forked" # the one that waits for it ends, too
	wait "$renamed" || true
	[ -z "$(targets)" ]
}

@test "readers of another uid, while the daemon runs and after it has stopped" {
	load
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'watch = system' 'history = 5s' 'capture = 2s'
	daemon_start
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'captured [0-9]+ stacks'
	[ "$(stat -c '%a %U %G' "$DB")" = "640 $TEST_USER $TEST_GROUP" ]
	reader() {
		setpriv --reuid 1 --regid 1 --groups "$(getent group "$TEST_GROUP" | cut -d : -f 3)" "$@"
	}
	[ "$(reader sqlite3 -readonly "$DB" 'SELECT count(*) FROM capture')" -ge 1 ]
	reader "$BUILD/bourdon" --db "$DB" why | grep -q burn_cpu
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(reader sqlite3 -readonly "$DB" 'SELECT count(*) FROM capture')" -ge 1 ]
	reader "$BUILD/bourdon" --db "$DB" why | grep -q burn_cpu
	# and nobody outside the group
	run setpriv --reuid 1 --regid 1 --clear-groups "$BUILD/bourdon" --db "$DB" list
	[ "$status" -eq 1 ]
}

@test "no absolute kernel address in a slot, the database or the run directory" {
	load --hz 997
	rule cpu 'comm = io_hog' 'io.some = 2%' 'history = 5s' 'capture = 5s'
	rule system 'comm = *' 'cpu.some = 5%' 'watch = system' 'history = 5s' 'capture = 5s'
	daemon_start
	start io_hog --threads 2 --file "$TREE/build/io_hog.data"
	start cpu_hog --threads 2
	await_log 30 'fired'
	local ring
	for ring in oncpu offcpu; do
		run "$BUILD/tools/spin_rings" "$PIN_DIR/$ring" 3
		[ "$status" -eq 0 ] || { echo "$ring: $output"; false; }
		[[ $output == *'kernel_pointers=0'* ]]
	done
	bpftool map dump pinned "$PIN_DIR/offcpu_open" > "$STATE_DIR/offcpu_open"
	await_log 60 'captured [0-9]+ stacks'
	# there were kernel frames that could have given it away
	[ "$(sql "SELECT count(*) > 0 FROM frame JOIN module USING(module_id) WHERE kind = 'kernel'")" = 1 ]
	daemon_stop TERM
	run "$BUILD/tools/find_kernel_pointer" "$STATE_DIR" "$RUN_DIR"
	[ "$status" -eq 0 ] || { echo "$output"; false; }
}
