#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what all groups of latencies together take of the CPUs of a busy host: the run time of all of bourdon's programs
# that the kernel counts, while a rule has them measured, less that of the same round while nobody wants them. Eight of
# Debian's programs, which are targets, take every CPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source "$TREE/bench/programs.bash"

GROUPS_ALL=runqueue,offcpu,block,lock,memory,softirq,exec,fork

# own_ids: the ids of all programs of this load, as a list of jq
own_ids() {
	local pin
	for pin in "$PIN_DIR"/prog_*; do
		bpftool -j prog show pinned "$pin" | jq .id
	done | jq -cs .
}

# run_ns IDS: the run time of these programs so far
run_ns() {
	bpftool -j prog show | jq --argjson ids "$1" '[.[] | select(.id | IN($ids[])) | .run_time_ns // 0] | add'
}

# measure FILE [KEY...]: adds the share of the CPUs that all programs take, while a rule has these keys
measure() {
	local ids before began ns
	load --hz "$HZ"
	rule busy 'comm = *' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system' "${@:2}"
	daemon_start
	programs_begin
	await_status 30 '.daemon[0].targets >= 4'
	ids=$(own_ids)
	before=$(run_ns "$ids")
	began=$(date +%s%N)
	sleep "$ROUND_SECONDS"
	ns=$(($(run_ns "$ids") - before))
	calc "100 * $ns / ($(date +%s%N) - $began) / $CPUS" >> "$WORK/$1"
	children_end
	disarm
}

bench_setup latency
count_runs 1
cgroup_make
programs_prepare
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure off
	measure on "probes = $GROUPS_ALL"
done
paste "$WORK/on" "$WORK/off" | awk '{ print $1 - $2 }' > "$WORK/more"
row 'all programs on a busy host, no latency measured, of the CPUs' "$(spread 3 % < "$WORK/off")"
row_at_most 'all groups of latencies measured, so much more' "$(spread 3 % < "$WORK/more")" "$(median < "$WORK/more")" 0.3 %
