#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Threads that work together badly (a convoy, a storm, a pool without a free worker), each beside one that looks like it and is healthy.
#
# bats file_tags=alone

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/accounts.bash"

setup() {
	accounts_setup teams
}

teardown() {
	bourdon_teardown
}

# switched: how often threads of the victim have begun to wait so far
switched() {
	cat "/proc/$VICTIM/task"/*/status | awk '$1 == "voluntary_ctxt_switches:" { sum += $2 } END { print sum }'
}

has_switched() {
	(($(switched) >= $1))
}

# judge COUNT OPTION...: a capture of teams with these options, while its threads begin to wait so often. Sets VERDICT and HEADLINE
judge() {
	own_workload teams
	load
	follow
	victim nice -n -8 "$WORK/$OWN" "${@:2}"
	go_ahead "$VICTIM" -8
	begin
	await 60 has_switched $(($(switched) + $1))
	finish
	sql 'SELECT waker_role, waker_comm, waker_tid, count(DISTINCT tid), sum(intervals), sum(waited_ns) FROM waker GROUP BY 1, 2, 3' >&2
	sql "SELECT thread, state, function, sum(samples), count(DISTINCT tid) FROM thread_states WHERE role = 'target' GROUP BY 1, 2, 3" >&2
	sql 'SELECT * FROM loss WHERE events > 0' >&2
	VERDICT=$(sql 'SELECT verdict FROM capture')
	HEADLINE=$("$BUILD/bourdon" --db "$DB" why --json | jq -r .answer.headline)
	echo "$HEADLINE" >&2
	# whoever judges the rows says the same
	"$BUILD/bourdon" --db "$DB" db check
	[[ $HEADLINE == "$VERDICT: "* ]]
}

@test "a lock that is handed from thread to thread, each of which has it for a moment, is a convoy" {
	judge 20000 --how convoy --threads 8 --hold 10
	[ "$VERDICT" = convoy ]
	[[ $HEADLINE == "convoy: ${OWN}[$VICTIM] in "*' times a second in convoy_step, and runs for '*' threads wait for it' ]]
	[ "$(sql "SELECT DISTINCT role || ' ' || program FROM culprit WHERE verdict = 'convoy'")" = "own $OWN" ]
}

@test "a lock that is held for long is no convoy" {
	judge 100 --how convoy --threads 8 --hold 20000
	[ "$VERDICT" = lock ]
}

@test "threads that are all woken where one is wanted are a storm" {
	judge 3000 --how storm --threads 24 --every 20
	[ "$VERDICT" = storm ]
	[[ $HEADLINE == "storm: ${OWN}[$VICTIM] in "*' of 24 threads at once in storm_wait, and each runs for '* ]]
	[ "$(sql "SELECT role || ' ' || program FROM culprit WHERE verdict = 'storm'")" = "own $OWN" ]
}

@test "threads of which each task wakes one are no storm" {
	judge 600 --how storm --threads 24 --every 5 --one
	[[ $VERDICT == peer || $VERDICT == negligible ]]
}

@test "threads that are woken together and all have work are no storm" {
	judge 600 --how storm --threads 24 --every 40 --tasks 24 --hold 1000
	[[ $VERDICT != storm && $VERDICT != pool ]]
}

@test "threads that sleep by timers of their own are no storm" {
	judge 3000 --how timers --threads 24 --every 20
	[ "$VERDICT" != storm ]
}

@test "a pool whose workers all want one lock has no free worker" {
	judge 400 --how pool --threads 4 --clients 12 --hold 20000 --every 0 --task lock
	[ "$VERDICT" = pool ]
	[[ $HEADLINE == 'pool: 12 threads wait for 4 threads of worker, busy '*': most wait for a lock in convoy_step' ]]
	[ "$(sql "SELECT role || ' ' || program FROM culprit WHERE verdict = 'pool'")" = "own $OWN" ]
}

@test "a pool whose workers sleep within their tasks has no free worker" {
	# with a pause of the clients, workers that end together wait for work long enough to be recorded: that shows where they do
	judge 1200 --how pool --threads 4 --clients 12 --hold 20000 --every 10 --task sleep
	[ "$VERDICT" = pool ]
	[[ $HEADLINE == 'pool: 12 threads wait for 4 threads of worker, busy '*': most sleep or wait in sleep_for' ]]
}

@test "a pool with free workers is none that lacks any" {
	judge 800 --how pool --threads 12 --clients 2 --hold 2000 --every 10 --task sleep
	[[ $VERDICT == peer || $VERDICT == negligible ]]
}
