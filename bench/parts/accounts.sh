#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the accounts cost: a switch of a CPU where threads of no, one and eight victims wait. Two threads that no other
# thread interrupts wake each other there through a pipe, so almost all switches are between threads that are no targets.
# bench/parts/offcpu.sh has the cost for threads that are, and bench/parts/store.sh the bytes of a capture.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

PAIRS=1000000000 # more than any round can finish
WAITERS=(0 1 8)

# pair_start: starts the two threads; sets PAIR to their pid.
pair_start() {
	taskset -c 0 chrt -f 1 perf bench sched pipe -T -l "$PAIRS" > /dev/null 2>&1 &
	PAIR=$!
	CHILDREN+=("$PAIR")
}

# measure WAITERS: ns a run of the program at sched_switch, while threads of so many victims wait, into WAITERS.ns
measure() {
	local i line
	arm 'bench-wait*'
	for ((i = 0; i < $1; i++)); do
		cp "$BUILD/workloads/cpu_hog" "$WORK/bench-wait$i"
		ON_CPU=0 start_command "$WORK/bench-wait$i"
	done
	pair_start
	sleep 0.5 # until it runs at full speed
	line=$(bpf_cost "$ROUND_SECONDS")
	calc "$(value switches_ns <<< "$line") / $(value switches <<< "$line")" >> "$WORK/$1.ns"
	children_end
	disarm
}

bench_setup accounts
cgroup_make
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	for waiters in "${WAITERS[@]}"; do measure "$waiters"; done
done
for waiters in "${WAITERS[@]}"; do
	row "a switch on a CPU where threads of $waiters victims wait" "$(spread 0 ns < "$WORK/$waiters.ns")"
done
