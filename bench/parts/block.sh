#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the group `block` costs a request to a device, while it is measured and while nobody wants it: reads of a loop
# device from the page cache, as fast as it goes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# cost: prints the run time of the group's programs since the load, in ns, for each request that ended
cost() {
	local program runs ns_of ns=0
	for program in block_inserted block_issued block_requeued block_merged block_completed; do
		read -r runs ns_of <<< "$(bpftool -j prog show pinned "$PIN_DIR/prog_$program" | jq -r '"\(.run_cnt // 0) \(.run_time_ns // 0)"')"
		ns=$((ns + ns_of))
	done
	calc "$ns / $runs"
}

# measure GROUP FILE: adds the cost while that group is measured
measure() {
	load --hz "$HZ"
	# shellcheck disable=SC2016 # of the inner shell
	"$TOOLS/latency_dump" "$PIN_DIR" "$1" -- timeout "$ROUND_SECONDS" bash -c \
		'while :; do dd "if=$1" of=/dev/null bs=4k iflag=direct status=none; done' bash "$disk" > "$WORK/dump" || [ $? -eq 124 ]
	cost >> "$WORK/$2"
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

bench_setup block
stats=$(sysctl -n kernel.bpf_stats_enabled)
dd if=/dev/zero of="$WORK/image" bs=1M count=64 status=none
disk=$(losetup --find --show "$WORK/image")
trap 'losetup --detach "$disk"; sysctl -q "kernel.bpf_stats_enabled=$stats"; bourdon_teardown' EXIT
sysctl -q kernel.bpf_stats_enabled=1
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure exec off
	measure block on
done
row 'a request to a device, all its tracepoints' "$(spread 0 ns < "$WORK/on")"
row 'the same, while nobody wants the group' "$(spread 0 ns < "$WORK/off")"
row '1,000 requests a second, of a CPU' "$(awk '{ print $1 * 1000 / 1e7 }' "$WORK/on" | spread 4 %)"
