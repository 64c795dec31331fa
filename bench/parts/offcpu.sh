#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a context switch costs: of threads that are no targets, of targets, and of targets while a capture is taken.
# Two threads on one CPU wake each other through a pipe, which is as often as a CPU can switch.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

PAIRS=1000000000 # more than any round has time for

# pair_start: its pid is in PAIR
pair_start() {
	taskset -c 0 perf bench sched pipe -T -l "$PAIRS" > /dev/null 2>&1 &
	PAIR=$!
	CHILDREN+=("$PAIR")
}

# switched: context switches of all CPUs since boot
switched() {
	awk '$1 == "ctxt" { print $2 }' /proc/stat
}

# measure NAME: switches a second of this machine, and what a run of the program costs
measure() {
	local before
	pair_start
	sleep 0.5
	before=$(switched)
	if [[ $1 == none ]]; then
		sleep "$ROUND_SECONDS"
	else
		bpf_cost "$ROUND_SECONDS" | awk '{ for (i = 1; i <= NF; i++) { split($i, pair, "="); number[pair[1]] = pair[2] }
			printf "%.1f\n", number["switches_ns"] / number["switches"] }' >> "$WORK/$1.ns"
	fi
	calc "($(switched) - $before) / $ROUND_SECONDS" >> "$WORK/$1.rate"
	kill -KILL "$PAIR"
	wait "$PAIR" 2> /dev/null || true
}

# arm_capturing COMM: a rule that fires at once, and captures for as long as the round lasts
arm_capturing() {
	load --hz "$HZ"
	rule armed "comm = $1" 'cpu.some = 1%' 'watch = system' 'history = 1s' "capture = $((ROUND_SECONDS + 5))s" 'cooldown = 0s'
	daemon_start
	start cpu_hog --threads $((2 * CPUS))
	await_log 30 'fired'
	stop "$CHILD"
}

bench_setup offcpu
cgroup_make
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure none
	arm no_such_process
	measure others
	disarm
	arm 'sched-pipe*'
	measure targets
	disarm
	arm_capturing 'sched-pipe*'
	measure capturing
	disarm
done
row 'a switch between threads that are no targets' "$(spread 0 ns < "$WORK/others.ns")"
row 'a switch between targets' "$(spread 0 ns < "$WORK/targets.ns")"
row 'a switch between targets, while a capture is taken' "$(spread 0 ns < "$WORK/capturing.ns")"
for kind in others targets capturing; do
	row "switches a second of a pair on one CPU, $kind (reference: without bourdon)" "$(spread 0 /s < "$WORK/$kind.rate")" \
		"$(spread 0 /s < "$WORK/none.rate")" \
		"$(paste "$WORK/$kind.rate" "$WORK/none.rate" | awk '{ print $1 / $2 }' | median | xargs printf '%.2f')"
done
