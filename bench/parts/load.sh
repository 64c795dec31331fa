#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a load takes: time, the loader's memory, and the memory that the kernel keeps for it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# memlock_of KIND FILE...: prints the KiB of those pinned maps or programs, as the kernel counts them.
memlock_of() {
	local kind=$1 pin
	shift
	for pin in "$@"; do
		bpftool -j "$kind" show pinned "$pin" | jq .bytes_memlock
	done | awk '{ all += $1 } END { printf "%.0f\n", all / 1024 }'
}

# map_pins: lists the pins that are neither programs nor links (an iterator is a link).
map_pins() {
	find "$PIN_DIR" -maxdepth 1 -type f ! -name 'prog_*' ! -name 'link_*' ! -name tasks ! -name mappings
}

bench_setup load
load # the first load mounts bpffs if necessary
for ((round = 1; round <= ROUNDS; round++)); do
	disarm
	doing "round $round of $ROUNDS"
	"$BUILD/bench/timed" "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" \
		--group "$TEST_GROUP" >> "$WORK/loads"
done
row_at_most 'load, attach and pin' "$(value wall_us < "$WORK/loads" | awk '{ print $1 / 1000 }' | spread 0 ms)" \
	"$(value wall_us < "$WORK/loads" | awk '{ print $1 / 1000 }' | median)" 500 ms
row 'of that, CPU time' "$(value cpu_us < "$WORK/loads" | awk '{ print $1 / 1000 }' | spread 0 ms)"
row 'bourdon-load, most memory at once' \
	"$(value peak_rss_kib < "$WORK/loads" | awk '{ print $1 / 1024 }' | spread 1 MiB)"

mapfile -t maps < <(map_pins)
ring_kib=$(bpftool -j map show pinned "$PIN_DIR/oncpu" | jq '.max_entries * .bytes_value / 1024 | floor')
row_at_most "kernel memory: sample rings of $CPUS CPUs" "$ring_kib KiB" "$ring_kib" $((1024 * CPUS)) KiB
row 'kernel memory: all maps, rings included' "$(memlock_of map "${maps[@]}") KiB"
row 'kernel memory: programs' "$(memlock_of prog "$PIN_DIR"/prog_*) KiB"
