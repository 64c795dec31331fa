#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Where the memory of a process grows: real programs grow by known sizes, and the function that did it has the bytes. Programs that
# use again what they had show nothing, nor do those that root's policy denies.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup growth
	GROWING=()
}

teardown() {
	bourdon_teardown
}

# grower WAY MIB [COMMAND ARGUMENT...]: a program whose comm is g-WAY-..., which grows in that way at its SIGUSR1
grower() {
	local name=g-$1-$((BASHPID % 10000))
	if (($# > 2)); then
		ln -sf "$3" "$WORK/$name"
		start_command "$WORK/$name" "${@:4}"
	else
		ln -f "$BUILD/workloads/grower" "$WORK/$name" 2> /dev/null || cp "$BUILD/workloads/grower" "$WORK/$name"
		start_command "$WORK/$name" "$1" "$2"
	fi
	GROWING+=("$1 $CHILD $CHILD_OUTPUT")
}

# grow_all: has them grow, one after the other, and stores in GROWN[WAY] the bytes by which each did, and in PID[WAY] its id
declare -gA GROWN PID
grow_all() {
	local way pid output line each
	for each in "${GROWING[@]}"; do
		read -r way pid output <<< "$each"
		kill -USR1 "$pid"
		IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$output" line
		[[ $line == 'grown '* ]]
		GROWN[$way]=$((${line#grown } * 1024))
		PID[$way]=$pid
	done
}

# bytes_of WAY [CONDITION]: what the last capture says that it grew by, at stacks with such a frame
bytes_of() {
	sql "SELECT ifnull(sum(bytes), 0) FROM growth_stack g JOIN process USING(process_id) WHERE tgid = ${PID[$1]}
		AND capture_id = (SELECT max(capture_id) FROM capture)
		AND EXISTS (SELECT 1 FROM stack_frame s JOIN frame USING(frame_id) JOIN module USING(module_id)
			WHERE s.stack_id = g.stack_id AND (${2-1}))"
}

# grew_in WAY CONDITION: the sum is within 15 % of the kernel's, and nine tenths of it are there
grew_in() {
	local all there
	all=$(bytes_of "$1")
	there=$(bytes_of "$1" "$2")
	echo "$1 grew by ${GROWN[$1]}, seen $all, there $there" >&2
	((all * 100 >= GROWN[$1] * 85 && all * 100 <= GROWN[$1] * 115 && there * 10 >= all * 9))
}

@test "the function that made a program grow has its bytes: C, C++, a large mapping, read(2), threads, php, python" {
	local way
	local -A function=([list]=node_new [copies]=keep_copy [fill]=fill_big [read]=read_in [shared]=fill_shared
		[extend]=extend [vector]=append [threads]=fill_part)
	rule own 'comm = g-*' 'on_kill = yes'
	load
	daemon_start
	cgroup_make
	for way in "${!function[@]}"; do
		grower "$way" 160
	done
	# shellcheck disable=SC2016 # of php
	[[ ! -x /usr/bin/php ]] || grower php 100 /usr/bin/php -r '
		pcntl_async_signals(true);
		pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1]); echo "ready\n"; pcntl_sigwaitinfo([SIGUSR1]);
		function kib() { return (int) preg_replace("/.*RssAnon:\s*(\d+).*/s", "$1", file_get_contents("/proc/self/status")); }
		$before = kib(); for ($i = 0; $i < 100000; $i++) $kept[] = str_repeat(chr(65 + $i % 26), 1000);
		echo "grown ", kib() - $before, "\n"; sleep(1000);'
	grower python 100 /usr/bin/python3 -I -c $'import re, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def kib(): return int(re.search(r"RssAnon:\\s*(\\d+)", open("/proc/self/status").read())[1])
print("ready", flush=True)
signal.sigwait([signal.SIGUSR1])
before = kib()
kept = [str(i) * 100 for i in range(150000)]
print("grown", kib() - before, flush=True)
time.sleep(1000)'
	await_tables
	capture_begin --comm 'g-*'
	grow_all
	capture_end
	for way in "${!function[@]}"; do
		grew_in "$way" "function = '${function[$way]}'"
	done
	# by the interpreters' own functions
	[[ ! -x /usr/bin/php ]] || grew_in php "function = 'execute_ex' AND path LIKE '%/php%'"
	grew_in python "function = '_PyEval_EvalFrameDefault' AND path LIKE '%/python3%'"
	# the innermost frame is where the kernel counts the page
	[ "$(sql "SELECT count(*) FROM growth_stack JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id) WHERE position = 0 AND function GLOB 'bpf_*'")" = 0 ]
	# and beside samples: they are none
	[ "$(sql "SELECT count(*) FROM sample_class WHERE kind NOT IN ('on-cpu', 'off-cpu')")" = 0 ]
	[ "$(sql "SELECT events FROM loss WHERE reason = 'growth-lost'")" = 0 ]
	"$BUILD/bourdon" --db "$DB" db check
}

@test "memory that is used again, or that was there before, is no growth" {
	rule own 'comm = g-*' 'on_kill = yes'
	load
	cgroup_make
	grower fill 64
	grow_all
	GROWING=()
	daemon_start
	grower churn 32
	await_tables
	capture_begin --comm 'g-*'
	grow_all
	capture_end
	# each was seen to run, and what a CPU has yet to add to the kernel's count may come then
	[ "$(sql "SELECT count(*) > 0 FROM sample JOIN process USING(process_id) WHERE tgid = ${PID[churn]}")" = 1 ]
	(($(bytes_of churn) <= 4 << 20))
	(($(bytes_of fill) == 0))
}

@test "root's policy denies a user: what the programs of that user grow by is told to nobody" {
	local denied=54399
	printf '%s\n' '[policy]' "deny_uids = $denied" > "$WORK/policy.conf"
	rule own 'comm = g-*' 'on_kill = yes'
	load --policy "$WORK/policy.conf"
	daemon_start
	cgroup_make
	cp "$BUILD/workloads/grower" "$WORK/g-denied"
	start_command setpriv --reuid "$denied" --clear-groups "$WORK/g-denied" fill 64
	GROWING+=("denied $CHILD $CHILD_OUTPUT")
	grower fill 64
	await_tables
	capture_begin --comm 'g-*'
	grow_all
	capture_end
	grew_in fill "function = 'fill_big'"
	((GROWN[denied] >= 64 << 20))
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = ${PID[denied]}")" = 0 ]
	[ "$(sql "SELECT count(DISTINCT process_id) FROM growth_stack")" = 1 ]
}

@test "a process is killed at its memory limit: the capture of the kill has where it grew before" {
	local victim status=0
	cgroup_make 512M # it grows by some 12 MiB from one stack to the next, and what comes after the last one is not known
	rule own 'comm = g-*' "cgroup = /$CGROUP" 'on_kill = yes' 'history = 20s' 'capture = 1s' 'cooldown = 1h'
	load
	daemon_start
	grower list 1000
	victim=$CHILD
	PID[list]=$victim
	await_tables
	kill -USR1 "$victim"
	wait "$victim" || status=$?
	[ "$status" -eq 137 ]
	await_log 60 'fired: .* was killed for lack of memory'
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete' AND trigger_mode = 'kill'" 1
	echo "of 512 MiB: $(bytes_of list), there $(bytes_of list "function = 'node_new'")" >&2
	(($(bytes_of list) > 400 << 20))
	(($(bytes_of list "function = 'node_new'") * 10 >= $(bytes_of list) * 9))
}

@test "without the group memory of --probes, nothing is attached, and nothing is recorded" {
	rule own 'comm = g-*' 'on_kill = yes'
	load --probes block,lock
	[ ! -e "$PIN_DIR/link_memory_grown" ]
	daemon_start
	cgroup_make
	grower fill 64
	capture_begin --comm 'g-*'
	grow_all
	capture_end
	(($(bytes_of fill) == 0))
}
