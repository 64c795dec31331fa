#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a CPU-bound workload loses by being profiled: how far it counts in a fixed time without a
# profiler, armed, during a capture, and under perf. The four alternate, and each round is compared with the
# same round without a profiler. The kernel's statistics show exactly how long the in-kernel programs ran.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

KINDS=(nothing armed capturing perf)

hog() {
	"$BUILD/workloads/cpu_hog" --threads "$CPUS" --spread --depth 20 --seconds "$ROUND_SECONDS" |
		value iterations
}

count_nothing() {
	hog
}

count_armed() {
	arm cpu_hog
	bpf_cost "$ROUND_SECONDS" >> "$WORK/cost" &
	hog
	wait "$!"
	disarm
}

# The rule fires at the slightest pressure; the capture outlasts the workload.
count_capturing() {
	local crowd
	load --hz "$HZ"
	rule capturing 'comm = cpu_hog' 'cpu.some = 1ms/2s' 'watch = system' 'history = 10s' \
		"capture = $((ROUND_SECONDS + 5))s" 'cooldown = 1h'
	daemon_start
	start cpu_hog --threads 2 --cpu 0
	crowd=$CHILD
	await_log 20 'rule capturing fired'
	stop "$crowd"
	hog
	daemon_stop TERM
	grep -q 'captured [0-9]* stacks' "$WORK/daemon.log"
	disarm
}

count_perf() {
	perf record -q -a -g -e cpu-clock -F "$HZ" -o "$WORK/perf.data" -- \
		"$BUILD/workloads/cpu_hog" --threads "$CPUS" --spread --depth 20 --seconds "$ROUND_SECONDS" |
		value iterations
}

# lost KIND: prints the loss in percent of the same round without a profiler.
lost() {
	paste "$WORK/$1" "$WORK/nothing" | awk '{ print 100 * (1 - $1 / $2) }'
}

bench_setup throughput
cgroup_make
for ((round = 1; round <= ROUNDS; round++)); do
	# rotate the order, because machines slow down as they warm up
	for ((i = 0; i < ${#KINDS[@]}; i++)); do
		kind=${KINDS[(i + round) % ${#KINDS[@]}]}
		doing "$kind, round $round of $ROUNDS"
		"count_$kind" >> "$WORK/$kind"
	done
done

paste <(value all_ns < "$WORK/cost") <(value wall_ns < "$WORK/cost") |
	awk -v cpus="$CPUS" '{ print 100 * $1 / $2 / cpus }' > "$WORK/share"
row_at_most "BPF time of all programs, armed, of the CPUs (exact)" "$(spread 4 % < "$WORK/share")" \
	"$(median < "$WORK/share")" 0.3 %
lost perf > "$WORK/lost-perf"
for kind in armed capturing; do
	lost "$kind" > "$WORK/lost-$kind"
	row "throughput lost, $kind (reference: perf record -a -g -F $HZ)" "$(spread 2 % < "$WORK/lost-$kind")" \
		"$(spread 2 % < "$WORK/lost-perf")" - \
		"$(verdict "$(median < "$WORK/lost-$kind")" 0.3) 0.3 %, if the noise is less"
done
sort -g "$WORK/nothing" | awk '{ all[NR] = $1 } END { printf "%.2f %%\n", 100 * (all[NR] - all[1]) / all[NR] }' > "$WORK/noise"
row 'the noise: rounds with nothing, slowest beside fastest' "$(cat "$WORK/noise")"
