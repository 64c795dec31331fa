#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what following the growth of memory adds to a page fault, in a program that does nothing but page faults and does not
# grow: while nothing is attached, an empty program, bourdon's with the group memory off, and on, beside the storm and for it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

VARIANTS=(nothing empty off bystander target)

# cost PROGRAM: prints the run time of the program that the kernel counts, in ns a run
cost() {
	bpftool -j prog show | jq --arg name "$1" '[.[] | select(.name == $name and .run_cnt)][-1] | .run_time_ns / .run_cnt'
}

# storm: prints the CPU time of a fault
storm() {
	"$BUILD/bench/fault_storm" "$ROUND_SECONDS" | value fault_ns
}

# twice VARIANT PROGRAM: the CPU time of a fault without the kernel's statistics, and the program's time with them
twice() {
	storm >> "$WORK/$1.fault"
	count_runs 1
	storm > "$WORK/ignored"
	cost "$2" >> "$WORK/$1.run"
	count_runs 0
}

measure_nothing() {
	load --probes none
	storm >> "$WORK/nothing.fault"
	disarm
}

measure_empty() {
	local attached line
	load --probes none
	exec {attached}< <(exec "$BUILD/bench/empty_hooks" rss)
	CHILDREN+=("$!")
	read -r -u "$attached" line
	[[ $line == attached ]]
	twice empty empty_rss
	children_end
	disarm
}

# without a daemon, nobody wants it
measure_off() {
	load
	twice off memory_grown
	disarm
}

measure_bystander() {
	arm no_such_process
	twice bystander memory_grown
	disarm
}

measure_target() {
	arm fault_storm
	twice target memory_grown
	disarm
}

bench_setup growth
count_runs 0
for ((round = 1; round <= ROUNDS; round++)); do
	for ((i = 0; i < ${#VARIANTS[@]}; i++)); do
		variant=${VARIANTS[(i + round) % ${#VARIANTS[@]}]}
		doing "$variant, round $round of $ROUNDS"
		"measure_$variant"
	done
done
row 'CPU time of a page fault, without a program at rss_stat' "$(spread 0 ns < "$WORK/nothing.fault")"
floor=$(median < "$WORK/empty.run")
for variant in empty off bystander target; do
	case $variant in
	empty) title='an empty program at rss_stat' ;;
	off) title='growth is not followed' ;;
	bystander) title='growth is followed, in a process that is no target' ;;
	target) title='growth is followed, in a target that does not grow' ;;
	esac
	paste "$WORK/$variant.fault" "$WORK/nothing.fault" | awk '{ print 100 * ($1 / $2 - 1) }' > "$WORK/more"
	row "$title: a run (reference: an empty program)" "$(spread 0 ns < "$WORK/$variant.run")" "$(spread 0 ns < "$WORK/empty.run")" \
		"$(printf '%+.0f ns' "$(calc "$(median < "$WORK/$variant.run") - $floor")")"
	row "$title: a page fault, more" "$(spread 1 % < "$WORK/more")"
done
