#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the group `block` costs a request to a device, while it is measured and while nobody wants it: reads of a loop
# device from the page cache, as fast as it goes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# reads: 4 KiB of the device, again and again, while the group $1 is measured
reads() {
	# shellcheck disable=SC2016 # of the inner shell
	"$TOOLS/latency_dump" "$PIN_DIR" "$1" -- timeout "$ROUND_SECONDS" bash -c \
		'while :; do dd "if=$1" of=/dev/null bs=4k iflag=direct status=none; done' bash "$disk" > "$WORK/dump" || [ $? -eq 124 ]
}

# cost PROGRAM: prints the run time of the program since the load, in ns a run
cost() {
	bpftool -j prog show pinned "$PIN_DIR/prog_$1" | jq '.run_time_ns / .run_cnt'
}

# measure GROUP FILE: adds what the programs cost while that group is measured: at the end of a request, and at its begin
measure() {
	load --hz "$HZ"
	reads "$1"
	cost block_completed >> "$WORK/$2.end"
	cost block_issued >> "$WORK/$2.begin"
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

measure_empty() {
	local attached line
	load --probes exec
	exec {attached}< <(exec "$BUILD/bench/empty_hooks" request)
	CHILDREN+=("$!")
	read -r -u "$attached" line
	[[ $line == attached ]]
	reads exec
	bpftool -j prog show | jq '[.[] | select(.name == "empty_request" and .run_cnt)][-1] | .run_time_ns / .run_cnt' >> "$WORK/empty"
	children_end
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

# net FILE: what it is more than an empty program in the same round
net() {
	paste "$WORK/$1" "$WORK/empty" | awk '{ print $1 - $2 }'
}

bench_setup block
dd if=/dev/zero of="$WORK/image" bs=1M count=64 status=none
disk=$(losetup --find --show "$WORK/image")
count_runs 1
trap 'losetup --detach "$disk"; count_runs_end' EXIT
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure_empty
	measure exec off
	measure block on
done
net on.end > "$WORK/on.end.net"
net off.end > "$WORK/off.end.net"
row 'an empty program at the end of a request: a run' "$(spread 0 ns < "$WORK/empty")"
row 'the end of a request to a device, with its four values: a run, more than an empty program' "$(spread 0 ns < "$WORK/on.end.net")"
row_at_most 'the same, of each value' "$(awk '{ print $1 / 4 }' "$WORK/on.end.net" | spread 0 ns)" \
	"$(calc "$(median < "$WORK/on.end.net") / 4")" 150 ns
row_at_most 'the same, while nobody wants the group' "$(spread 0 ns < "$WORK/off.end.net")" "$(median < "$WORK/off.end.net")" 10 ns
row 'the begin of a request, with who asks: a run, more than an empty program' "$(net on.begin | spread 0 ns)"
paste "$WORK/on.end" "$WORK/on.begin" | awk '{ print ($1 + $2) * 1000 / 1e7 }' > "$WORK/share"
row '1,000 requests a second, of a CPU' "$(spread 4 % < "$WORK/share")"
