#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What captures say of the states of threads: those of threads in known states, who appears, and how often they look.
# The kernel's own /proc/PID/wchan is the truth.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup states
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# capture OPTION...: takes a capture on demand, and prints nothing
capture() {
	"$BUILD/bourdon" --db "$DB" capture "$@" > "$WORK/capture.out" 2>&1 || { cat "$WORK/capture.out" >&2; false; }
}

# run_states: starts the workload; sets STATES, and STOPPED, TRACED, PIPE and EPOLL
run_states() {
	start states
	STATES=$CHILD
	[[ $CHILD_LINE =~ stopped=([0-9]+)\ traced=([0-9]+)\ ended=[0-9]+\ pipe=([0-9]+)\ epoll=([0-9]+) ]]
	STOPPED=${BASH_REMATCH[1]} TRACED=${BASH_REMATCH[2]} PIPE=${BASH_REMATCH[3]} EPOLL=${BASH_REMATCH[4]}
}

# wchan_of NAME: the kernel function in which the workload's thread of that name waits
wchan_of() {
	local comm
	for comm in "/proc/$STATES/task"/*/comm; do
		[[ $(< "$comm") != "$1" ]] || cat "${comm%comm}wchan"
	done
}

@test "each thread is in its known state, call, descriptor and function in 99 % of the looks" {
	load
	daemon_start
	run_states
	capture --pid "$STATES" --pid "$STOPPED" --pid "$TRACED" --for $((3 * PATIENCE))s
	sql 'SELECT thread, state, syscall, fd, lock, function, below, second, seconds, samples FROM thread_states' >&2
	local looks name state call fd function
	looks=$(sql 'SELECT sum(looks) FROM thread_look')
	[ "$looks" -ge 3 ]
	[ "$(sql 'SELECT sum(threads) / sum(looks) FROM thread_look')" -eq 13 ]
	while read -r name state call fd; do
		function=
		[[ $name != in-* ]] || function=$(wchan_of "$name")
		[ "$(sql "SELECT 100 * sum(samples) >= 99 * $looks FROM thread_states WHERE role = 'target' AND thread = '$name'
			AND state = '$state' AND syscall IS nullif('$call', '-') AND fd IS nullif('$fd', '-') + 0 * length('$fd')
			AND '$function' IN (function, '')")" = 1 ] || { echo "$name $state $call $fd $function"; false; }
		[ "$(sql "SELECT sum(samples) FROM thread_state WHERE role = 'target' AND thread = '$name'")" -eq "$looks" ]
	done <<- END
		in-read S read $PIPE
		in-poll S poll -
		in-epoll S epoll_pwait $EPOLL
		in-sleep S nanosleep -
		in-futex S futex -
		in-futex-too S futex -
		in-lock S futex -
		in-vfork D vfork -
		states S pause -
		is-stopped T tgkill -
		is-traced t tgkill -
	END
	[ "$(sql "SELECT count(*) FROM thread_state WHERE role = 'target' AND thread LIKE 'runs-%' AND state NOT IN ('running', 'queued')")" -eq 0 ]
	[ "$(sql "SELECT sum(samples) FROM thread_state WHERE role = 'target' AND thread LIKE 'runs-%'")" -eq $((2 * looks)) ]
	# a thread that stays where it is is one row
	[ "$(sql "SELECT count(*) FROM thread_state WHERE role = 'target' AND thread = 'in-read'")" -eq 1 ]
	# two threads wait for one futex, another one for another
	[ "$(sql "SELECT count(DISTINCT lock) || count(DISTINCT thread) FROM thread_state WHERE role = 'target' AND thread LIKE 'in-futex%'")" = 12 ]
	[ "$(sql "SELECT count(DISTINCT lock) FROM thread_state WHERE syscall = 'futex' AND role = 'target'")" -eq 2 ]
	[ "$(sql "SELECT events FROM loss WHERE reason = 'looks-lost'")" -eq 0 ]
	# they are the processes that samples have
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = $STATES")" -eq 1 ]
	"$BUILD/bourdon" --db "$DB" db check
}

@test "why says how many of how many threads were in D, and in which function" {
	load
	daemon_start
	run_states
	capture --pid "$STATES" --for $((2 * PATIENCE))s
	run "$BUILD/bourdon" --db "$DB" why --full
	echo "$output" >&2
	[ "$status" -eq 0 ]
	[[ $output == *"1 of 11 threads of targets were in D in $(wchan_of in-vfork) (vfork)"* ]]
	[[ $output =~ 'of 11 threads of targets were queued for a CPU'|'of 11 threads of targets were running' ]]
	[[ $output == *'by second: 1'* ]]
	"$BUILD/bourdon" --db "$DB" why --json | jq -e --arg function "$(wchan_of in-vfork)" '
		[.states[] | select(.role == "target" and .state == "D")] | length == 1 and
		(.[0] | .syscall == "vfork" and .function == $function and .threads == 1 and .of_threads == 11
			and (.seconds | all(.threads == 1)))'
}

@test "D below a file system: the file system's function is named" {
	local system
	system=$(stat -f -c %T "$WORK")
	[[ $system == ext2/ext3 || $system == xfs || $system == btrfs ]] || skip "the test's directory is on $system"
	load
	daemon_start
	start_ahead "$BUILD/workloads/io_hog" --file "$WORK/file"
	capture --pid "$CHILD" --for $((3 * PATIENCE))s
	sql "SELECT state, syscall, function, below, sum(samples) FROM thread_states WHERE role = 'target' GROUP BY 1, 2, 3, 4" >&2
	[ "$(sql "SELECT sum(samples) FILTER (WHERE below GLOB '*${system%2/ext3}*') * 2 > sum(samples) FROM thread_states
		WHERE role = 'target' AND state = 'D'")" = 1 ]
	[[ $("$BUILD/bourdon" --db "$DB" why --full) == *" threads of targets were in D in "*" below "* ]]
}

@test "the lock of a thread that waits is that of its wake-ups" {
	load
	daemon_start
	start lock_hog --threads 4 --hold 20 --seconds 3600
	capture --pid "$CHILD" --for $((5 * PATIENCE))s
	sql "SELECT thread, lock, sum(samples) FROM thread_state WHERE role = 'target' GROUP BY 1, 2" >&2
	[ "$(sql "SELECT count(*) > 0 FROM thread_state WHERE role = 'target' AND syscall = 'futex' AND lock IN
		(SELECT lock FROM wake_row)")" = 1 ]
}

@test "of others, those that wait appear alone, and of denied processes none" {
	local denied denied_uid other
	printf '%s\n' '[policy]' 'deny_uids = 54399' 'deny_comms = st-denied' > "$WORK/policy.conf"
	chmod 0755 "$WORK" # its directory must not be writable by others
	load --policy "$WORK/policy.conf"
	daemon_start
	cp "$BUILD/workloads/states" "$WORK/st-denied"
	cp "$BUILD/workloads/states" "$WORK/st-other"
	start_command "$WORK/st-denied"
	denied=$CHILD
	start_command setpriv --reuid 54399 --regid 54399 --clear-groups "$WORK/st-other"
	denied_uid=$CHILD
	start_command "$WORK/st-other"
	other=$CHILD
	run_states
	capture --pid "$STATES" --for $((2 * PATIENCE))s
	sql 'SELECT * FROM thread_states' >&2
	[ "$(sql "SELECT count(*) FROM thread_states WHERE tgid = $STATES AND role = 'target'")" -gt 0 ]
	[ "$(sql "SELECT group_concat(DISTINCT state) FROM thread_states WHERE tgid = $other AND thread = 'in-vfork'")" = D ]
	[ "$(sql "SELECT count(*) FROM thread_states WHERE role <> 'target' AND state NOT IN ('D', 'queued')")" -eq 0 ]
	capture --all --for $((2 * PATIENCE))s
	[ "$(sql "SELECT count(*) FROM thread_states WHERE tgid = $other AND state = 'S' AND role = 'target'")" -gt 0 ]
	[ "$(sql "SELECT count(*) FROM process WHERE tgid IN ($denied, $denied_uid) OR comm = 'st-denied'")" -eq 0 ]
	[ "$(sql "SELECT count(*) FROM thread_states WHERE comm = 'st-denied' OR process_id NOT IN (SELECT process_id FROM process)")" -eq 0 ]
	# what is denied is not in the iterator, either, whoever reads it
	[ "$(strings -n 8 "$PIN_DIR/states" | grep -c st-denied)" -eq 0 ]
}

@test "kernel_stacks = no leaves states without functions" {
	printf '%s\n' '[policy]' 'kernel_stacks = no' > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf"
	daemon_start
	run_states
	capture --pid "$STATES" --for "${PATIENCE}s"
	[ "$(sql "SELECT count(*) > 0 AND count(stack_id) = 0 FROM thread_state WHERE role = 'target' AND thread = 'in-read'")" = 1 ]
}

@test "captures that overlap, or whose look another reader took, have all stacks" {
	load
	daemon_start
	run_states
	local function first
	function=$(wchan_of in-read)
	capture_begin --pid "$STATES"
	first=$ASKED
	await_cpu "$STATES" 300
	capture_begin --pid "$STATES"
	await_cpu "$STATES" 300
	cat "$PIN_DIR/states" > /dev/null
	await_cpu "$STATES" 300
	capture_end "$ASKED"
	capture_end "$first"
	capture --pid "$STATES" --for "${PATIENCE}s"
	sql "SELECT capture_id, function, second, seconds, samples FROM thread_states WHERE role = 'target' AND thread = 'in-read'" >&2
	[ "$(sql 'SELECT count(*) FROM capture')" -eq 3 ]
	[ "$(sql "SELECT count(DISTINCT capture_id) FROM thread_states WHERE role = 'target' AND thread = 'in-read' AND function = '$function'")" -eq 3 ]
	[ "$(sql "SELECT count(*) FROM thread_states WHERE role = 'target' AND thread = 'in-read' AND function IS NOT '$function'")" -eq 0 ]
}

# looks_of ID: prints how many looks a capture took
looks_of() {
	sql "SELECT ifnull(sum(looks), 0) FROM thread_look WHERE capture_id = $1"
}

@test "capture_hz is obeyed, 0 looks never, and a reload changes it" {
	load
	write_settings '[activity]' 'capture_hz = 0'
	daemon_start
	run_states
	capture --pid "$STATES" --for $((2 * PATIENCE))s
	[ "$(looks_of 1)" -eq 0 ]
	[ "$(sql 'SELECT count(*) FROM thread_state')" -eq 0 ]
	[[ $("$BUILD/bourdon" --db "$DB" why --full) != *'on average of'* ]]
	# a capture that is under way begins to look, and stops
	capture_begin --pid "$STATES"
	write_settings '[activity]' 'capture_hz = 4'
	await_log 10 'reloaded: 0 rules'
	await_cpu "$STATES" 1000
	capture_end "$ASKED"
	[ "$(looks_of 2)" -gt 0 ]
	[ "$(sql 'SELECT max(looks) <= 5 FROM thread_look')" = 1 ]
	capture --pid "$STATES" --for $((5 * PATIENCE))s
	[ "$(looks_of 3)" -le $((20 * PATIENCE + 1)) ]
	write_settings '[activity]' 'capture_hz = 40'
	await_log 10 'reloaded: 0 rules'
	capture --pid "$STATES" --for $((5 * PATIENCE))s
	sql 'SELECT * FROM thread_look' >&2
	[ "$(sql 'SELECT max(looks) <= 41 FROM thread_look')" = 1 ]
	# on a machine that is slow, or has many threads, a look takes more than its share
	((PATIENCE > 1)) || [ "$(looks_of 3)" -ge 12 ]
	((PATIENCE > 1)) || [ "$(looks_of 4)" -gt $((2 * $(looks_of 3))) ]
}
