#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Who ended the waits of the targets' threads: workloads whose wakers are known, and what another tool says of them.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup wakers
	cgroup_make
	PULSE=
}

teardown() {
	[[ -z $PULSE ]] || kill -KILL "$PULSE" 2> /dev/null || true
	bourdon_teardown
}

# watch COMM: a rule that fires for any pressure of the machine. Its history contains the workload, which began before;
# there, intervals shorter than 20 ms have no slots.
watch() {
	rule waits "comm = $1" "cgroup = /$CGROUP" 'cpu.some = 1%' 'watch = system' 'history = 20s' 'capture = 15s' 'cooldown = 1h'
	daemon_start
}

# make_pressure: more busy threads than CPUs, until the test ends, at nice 19, so that the workload runs when it may
make_pressure() {
	start_command nice -n 19 "$BUILD/workloads/cpu_hog" --threads $(($(nproc) + 1))
}

captured() {
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
}

# measured: sets MEASURED to the waiting that the workload measured, in ns
measured() {
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$1" MEASURED
	MEASURED=${MEASURED##*waited_ns=}
}

# start_pair: a target that waits for bytes from a process that is no target, PULSE. Sets PAIR to the target's output.
start_pair() {
	mkfifo "$WORK/pipe"
	cp "$BUILD/workloads/relay" "$WORK/p$OWN"
	"${PULSE_BY[@]}" "$WORK/p$OWN" --pulse 60 --seconds 6 > "$WORK/pipe" &
	PULSE=$!
	start_command "$WORK/$OWN" --read < "$WORK/pipe" # each end waits for the other one to open it
	PAIR=$CHILD_OUTPUT
}

@test "a contended lock: its holders are found for the time that the waiters measured" {
	# until the rule fires, the ring's slots are to last for the history, and stacks of wakers get what intervals leave
	load --ring-size 8MiB
	watch lock_hog
	start_ahead "$BUILD/workloads/lock_hog" --threads 4 --hold 20 --seconds 6
	local pid=$CHILD output=$CHILD_OUTPUT
	captured
	measured "$output"
	sql 'SELECT * FROM lock_holder' >&2
	sql "SELECT waker_role, releases, sum(intervals), sum(waited_ns)/1000000, (SELECT group_concat(function, ' ') FROM
		(SELECT function FROM stack_frame JOIN frame USING(frame_id) WHERE stack_id = waker_stack_id ORDER BY position))
		FROM waker GROUP BY 1, 2, 5" >&2
	sql 'SELECT * FROM data_quality WHERE events > 0' >&2
	local lock held queued
	lock=$(sql 'SELECT lock FROM lock_holder LIMIT 1')
	held=$(sql "SELECT sum(held_ns) FROM lock_holder WHERE lock = '$lock' AND holder_tgid = $pid")
	# what the waiters measured contains the time between the wake-up and their return to a CPU
	queued=$(sql "SELECT sum(weight_ns) FROM sample WHERE stall = 'cpu' AND stack_id IN (SELECT stack_id FROM waker WHERE lock = '$lock')")
	echo "$held ns of $MEASURED ns, of which $queued ns in a run queue" >&2
	((held * 100 >= (MEASURED - queued) * 95 && held <= MEASURED))
	[ "$(sql "SELECT sum(held_percent) >= 95 FROM lock_holder WHERE lock = '$lock' AND holder_tgid = $pid")" = 1 ]
	# each of the four threads holds it and waits for it
	[ "$(sql "SELECT max(waiters) || '|' || count(holder_tid) FROM lock_holder WHERE lock = '$lock' AND held_percent >= 1")" = '4|4' ]
	[ "$(sql "SELECT group_concat(DISTINCT waker_role) FROM waker WHERE lock = '$lock' AND percent >= 1")" = target ]
	# who released it did so in hold_lock()
	local place="EXISTS (SELECT 1 FROM stack_frame JOIN frame USING(frame_id) WHERE stack_id = waker_stack_id AND function"
	[ "$(sql "SELECT 100 * sum(waited_ns) FILTER (WHERE $place = 'hold_lock') AND $place GLOB 'do_futex*')) >= 95 * sum(waited_ns)
		FROM waker WHERE lock = '$lock' AND waker_stack_id IS NOT NULL AND releases")" = 1 ]
	[ "$(sql "SELECT 100 * sum(waited_ns) FILTER (WHERE waker_stack_id IS NOT NULL) >= 90 * sum(waited_ns)
		FROM waker WHERE lock = '$lock' AND releases")" = 1 ]
	# the programs' own frames are not on that stack
	[ "$(sql "SELECT DISTINCT function FROM waker JOIN stack_frame s ON s.stack_id = waker_stack_id AND position = 0
		JOIN frame USING(frame_id)" | tr '\n' ' ')" = 'try_to_wake_up ' ]
	# and so says the report
	[ "$("$BUILD/bourdon" --db "$DB" why --json | jq -r '.locks[0] | "\(.lock) \(.tgid) \(.place)"' | grep -c "^$lock $pid hold_lock < worker_main")" = 1 ]
	"$BUILD/bourdon" --db "$DB" why --full | grep -q "^$lock .* lock_hog "
	"$BUILD/bourdon" --db "$DB" db check
}

@test "a waker that is no target is named, without a stack; another tool says the same" {
	load
	own_workload relay
	watch "$OWN"
	# on one CPU, sched_wakeup, which wakeuptime uses, runs in the waker as well
	PULSE_BY=(taskset -c 0)
	ON_CPU=0 start_pair
	local pid=$CHILD said=
	if command -v wakeuptime > /dev/null; then
		wakeuptime -p "$pid" -m 1000 3 > "$WORK/wakeuptime" 2> /dev/null &
		said=$!
	fi
	make_pressure
	captured
	measured "$PAIR"
	sql 'SELECT * FROM waker' >&2
	[ "$(sql "SELECT DISTINCT waker_role, waker_tgid, waker_tid, waker_comm, waker_stack_id, lock, process.comm FROM waker
		JOIN process ON process.process_id = waker_process_id WHERE percent >= 1")" = "other|$PULSE|$PULSE|p$OWN|||p$OWN" ]
	local seen
	seen=$(sql "SELECT sum(waited_ns) FROM waker WHERE waker_tgid = $PULSE")
	echo "$seen ns of $MEASURED ns" >&2
	((seen * 100 >= MEASURED * 90 && seen * 100 <= MEASURED * 105))
	[[ -n $said ]] || skip 'there is no wakeuptime: apt-get install libbpf-tools'
	wait "$said"
	# It prints the us of each stack under the waker's name, as a negative number. They are about half of what the target
	# measures (libbpf-tools 0.26), so only the shares are compared.
	local its all
	read -r its all < <(awk -v name="p$OWN" '$1 == "waker:" { waker = $2 }
		NF == 1 && $1 ~ /^-?[0-9]+$/ { us = $1 < 0 ? -$1 : $1; all += us; if (waker == name) its += us }
		END { print its + 0, all + 0 }' "$WORK/wakeuptime")
	echo "wakeuptime: $its us of $all us, in 3 s" >&2
	((all > 0 && its * 100 >= all * 95))
}

@test "a thread that sends to its own host is the waker of the receiver" {
	load
	own_workload relay
	cp "$BUILD/workloads/relay" "$WORK/p$OWN"
	watch "$OWN"
	start_command "${BY_CONNECTION[@]}" "$WORK/$OWN" --read
	local output=$CHILD_OUTPUT
	"$WORK/p$OWN" --pulse 60 --seconds 6 > "/dev/tcp/127.0.0.1/${CHILD_LINE#ready }" &
	PULSE=$!
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$output" CHILD_LINE
	[ "$CHILD_LINE" = ready ]
	make_pressure
	captured
	measured "$output"
	sql 'SELECT * FROM waker' >&2
	local seen
	seen=$(sql "SELECT sum(waited_ns) FROM waker WHERE waker_role = 'other' AND waker_tid = $PULSE AND waker_comm = 'p$OWN'")
	echo "$seen ns of $MEASURED ns" >&2
	((seen * 100 >= MEASURED * 90))
}

@test "a thread that a timer wakes was woken by an interrupt" {
	load
	own_workload relay
	watch "$OWN"
	start_command "$WORK/$OWN" --pause 60 --seconds 6
	local output=$CHILD_OUTPUT
	make_pressure
	captured
	measured "$output"
	sql 'SELECT * FROM waker' >&2
	local seen queued
	seen=$(sql "SELECT sum(waited_ns) FROM waker WHERE waker_role = 'interrupt' AND waker_tid IS NULL")
	# what it measured contains the time between the wake-up and its return to a CPU
	queued=$(sql "SELECT ifnull(sum(weight_ns), 0) FROM sample JOIN process USING(process_id) WHERE comm = '$OWN' AND stall = 'cpu'")
	echo "$seen ns of $MEASURED ns, of which $queued ns in a run queue" >&2
	((seen * 100 >= (MEASURED - queued) * 90))
	# of some hundred interrupts, one or two run no program of ours on a virtual machine: whoever they wake has no known waker
	[ "$(sql "SELECT group_concat(DISTINCT waker_role) FROM waker WHERE percent >= 3")" = interrupt ]
}

@test "a waker that root's policy denies is not told" {
	printf '%s\n' '[policy]' 'deny_uids = 1005' > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf"
	own_workload relay
	watch "$OWN"
	PULSE_BY=(setpriv --reuid 1005 --regid 1005 --clear-groups)
	start_pair
	make_pressure
	captured
	sql 'SELECT * FROM waker' >&2
	[ "$(sql "SELECT DISTINCT waker_role, waker_tgid, waker_tid, waker_comm FROM waker WHERE percent >= 1")" = 'denied|||' ]
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = $PULSE AND comm = 'p$OWN'")" -eq 0 ]
	[ "$(sql "SELECT count(*) FROM thread WHERE thread = 'p$OWN'")" -eq 0 ]
}
