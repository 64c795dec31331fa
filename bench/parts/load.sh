#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a load takes: time, of that the verifier's by program, the loader's memory, and the memory that the kernel
# keeps for it.
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

PROGRAM_MS_MAX=60 ALL_PROGRAMS_MS_MAX=400
PROGRAM_SHOWN_US=2000 # the others have one row together

# verified_ms AWK-CONDITION: prints the CPU time, in ms, that the verifier took in each round for the programs of which that is
# true.
verified_ms() {
	awk "$1"' { sum[$1] += $5 / 1000 } END { for (round in sum) print sum[round] }' "$WORK/verified"
}

# verified_row WHAT MS-MAX AWK-CONDITION: prints the row of those programs.
verified_row() {
	row_at_most "$1" "$(verified_ms "$3" | spread 1 ms)" "$(verified_ms "$3" | median)" "$2" ms
}

# verified_rows: a row of all programs, one of each that takes long, and one of the others
verified_rows() {
	local name instructions looked_at others='1'
	verified_row "the verifier, CPU time, all $(awk '$1 == 1' "$WORK/verified" | wc -l) programs: instructions looked at: $(awk \
		'$1 == 1 { sum += $4 } END { print sum }' "$WORK/verified")" "$ALL_PROGRAMS_MS_MAX" 1
	while read -r name instructions looked_at; do
		(($(verified_ms "\$2 == \"$name\"" | median | awk '{ print int($1 * 1000) }') >= PROGRAM_SHOWN_US)) || continue
		verified_row "the verifier, CPU time, $name: $instructions instructions, $looked_at looked at" "$PROGRAM_MS_MAX" \
			"\$2 == \"$name\""
		others+=" && \$2 != \"$name\""
	done < <(awk '$1 == 1 { print $2, $3, $4 }' "$WORK/verified" | sort -k 3 -n -r)
	verified_row 'the verifier, CPU time, all others together' "$PROGRAM_MS_MAX" "$others"
}

bench_setup load
load # the first load mounts bpffs if necessary
for ((round = 1; round <= ROUNDS; round++)); do
	disarm
	doing "round $round of $ROUNDS"
	"$BUILD/bench/timed" "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" \
		--group "$TEST_GROUP" >> "$WORK/loads"
	"$BUILD/tools/verify_programs" | sed "s/^/$round /" >> "$WORK/verified"
done
row_at_most 'load, attach and pin' "$(value wall_us < "$WORK/loads" | awk '{ print $1 / 1000 }' | spread 0 ms)" \
	"$(value wall_us < "$WORK/loads" | awk '{ print $1 / 1000 }' | median)" 500 ms
row 'of that, CPU time' "$(value cpu_us < "$WORK/loads" | awk '{ print $1 / 1000 }' | spread 0 ms)"
row 'bourdon-load, most memory at once' \
	"$(value peak_rss_kib < "$WORK/loads" | awk '{ print $1 / 1024 }' | spread 1 MiB)"
verified_rows

mapfile -t maps < <(map_pins)
ring_kib=$(bpftool -j map show pinned "$PIN_DIR/oncpu" | jq '.max_entries * .bytes_value / 1024 | floor')
row_at_most "kernel memory: sample rings of $CPUS CPUs" "$ring_kib KiB" "$ring_kib" $((1024 * CPUS)) KiB
row 'kernel memory: all maps, rings included' "$(memlock_of map "${maps[@]}") KiB"
row 'kernel memory: programs' "$(memlock_of prog "$PIN_DIR"/prog_*) KiB"
