#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A process is a row for each program that it executes, in the capture that sees it do so.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup identity
	cgroup_make
	FIRST=a$BASHPID SECOND=b$BASHPID THIRD=c$BASHPID
	cp "$(command -v bash)" "$WORK/$FIRST"
	cp "$(command -v bash)" "$WORK/$SECOND"
	cp "$BUILD/workloads/cpu_hog" "$WORK/$THIRD"
}

teardown() {
	bourdon_teardown
}

# burn PROGRAM NEXT...: prints a script that says "ready", burns CPU time until the file PROGRAM.go is there, and then
# executes the next program
burn() {
	echo "until [[ -e $WORK/$1.go ]]; do :; done; exec ${*:2}"
}

@test "each sample has the name of the program that the process ran then" {
	load --hz 97
	rule exec 'comm = *' "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 8s' 'cooldown = 1h'
	daemon_start
	burn "$SECOND" "$WORK/$THIRD" > "$WORK/second.sh"
	{ echo 'echo ready'; burn "$FIRST" "$WORK/$SECOND" "$WORK/second.sh"; } > "$WORK/first.sh"
	ON_CPU=0 start_command "$WORK/$FIRST" "$WORK/first.sh"
	local child=$CHILD
	ON_CPU=0 start cpu_hog # they wait for each other
	await_log 30 fired
	await_cpu "$child" 300 # 29 samples
	touch "$WORK/$FIRST.go"
	await_cpu "$child" 300
	touch "$WORK/$SECOND.go"
	await_status 60 '.captures | length == 0'
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	# it was the test's shell before the first of them, perhaps within the history
	sql "SELECT p.comm, p.exe, count(*), min(at), max(at) FROM sample_time JOIN process p USING(process_id)
		WHERE p.tgid = $child AND kind = 'on-cpu' AND p.comm <> 'bash' GROUP BY p.process_id ORDER BY min(at)" > "$WORK/programs"
	cat "$WORK/programs" >&2
	[ "$(cut -d '|' -f 1 "$WORK/programs" | paste -sd ' ')" = "$FIRST $SECOND $THIRD" ]
	# one after the other, to the sample
	awk -F '|' '$3 < 10 || $4 <= until { exit 1 } { until = $5 }' "$WORK/programs"
	[ "$(sql "SELECT exe FROM process WHERE tgid = $child AND comm = '$THIRD'")" = "$WORK/$THIRD" ]
	# what the others' executables were is not known any more when the capture is written, and is not made up
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = $child AND comm <> '$THIRD' AND exe LIKE '%$THIRD'")" -eq 0 ]
}
