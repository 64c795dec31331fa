#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what one on-CPU sample costs, beside the reference program, at two stack depths. One workload,
# pinned to every CPU, runs through all rounds of a depth, and the two samplers alternate on it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

measure_bourdon() {
	arm cpu_hog
	bpf_cost "$ROUND_SECONDS"
	disarm
}

# percent_early: prints the share of runs that wrote no sample.
percent_early() {
	awk '{ for (i = 1; i <= NF; i++) { split($i, pair, "="); runs += pair[1] == "runs" ? pair[2] : 0
		samples += pair[1] == "samples" ? pair[2] : 0 } }
		END { printf "%.2f %%\n", 100 * (runs - samples) / runs }'
}

# measure_depth FRAMES: FRAMES counts the whole user stack, with burn_cpu() and the C library's frames below
# it.
measure_depth() {
	local depth=$1 ours=$WORK/ours.$1 theirs=$WORK/theirs.$1 round ratio
	start cpu_hog --threads "$CPUS" --spread --depth $((depth - 3))
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "depth $depth, round $round of $ROUNDS"
		measure_bourdon >> "$ours"
		measure_reference "$CHILD" >> "$theirs"
	done
	stop "$CHILD"
	no_drops "$theirs"
	ns_a_sample < "$ours" > "$ours.ns"
	ns_a_sample < "$theirs" > "$theirs.ns"
	ratio=$(paste "$ours.ns" "$theirs.ns" | awk '{ print $1 / $2 }' | median)
	row "a sample, $(value user_frames < "$ours" | median) user frames (reference: $(value user_frames < "$theirs" | median))" \
		"$(spread 0 ns < "$ours.ns")" "$(spread 0 ns < "$theirs.ns")" "$(printf '%.2f' "$ratio")" \
		"$(verdict "$ratio" 0.25) 1/4"
	row 'of the runs, no sample' "$(percent_early < "$ours")" "$(percent_early < "$theirs")"
}

bench_setup oncpu
cgroup_make
measure_depth 5
measure_depth 30
