#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a stack without frame pointers costs: a sample at three depths by .eh_frame tables, beside the
# same program with frame pointers and beside the reference program; and the time and memory of the tables.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

FRAMES_BELOW=7   # of a program's stack: _start to main(), two more, and burn()
LARGE_BYTES=50000000
ROW_NS_MAX=120 LIBC_MS_MAX=3 NODE_MS_MAX=40

# turn PID: lets only that process run.
turn() {
	kill -STOP "${CHILDREN[@]}"
	kill -CONT "$1"
}

# measure_ours FILE COMM [LOAD-OPTION...]: appends bourdon's cost to FILE.
measure_ours() {
	arm "${@:2}"
	await_tables
	bpf_cost "$ROUND_SECONDS" >> "$1"
	disarm
}

# compared WHAT OURS THEIRS VERDICT-LIMIT: prints a row with the time of a sample.
compared() {
	local ratio
	ratio=$(paste "$2.ns" "$3.ns" | awk '{ print $1 / $2 }' | median)
	row "$1, $(value user_frames < "$2" | median) user frames (reference: $(value user_frames < "$3" | median))" \
		"$(spread 0 ns < "$2.ns")" "$(spread 0 ns < "$3.ns")" "$(printf '%.2f' "$ratio")" \
		"${4:+$(verdict "$ratio" "$4") 1/4}"
}

# measure_depth FRAMES: measures samples with that many user frames.
measure_depth() {
	local levels=$(($1 > FRAMES_BELOW ? $1 - FRAMES_BELOW : 0)) tables=$WORK/tables.$1 pointers=$WORK/pointers.$1
	local theirs=$WORK/theirs.$1 round file without with
	ON_CPU=0 start unwind_pie --depth "$levels"
	without=$CHILD
	ON_CPU=0 start unwind_frame_pointers --depth "$levels"
	with=$CHILD
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "depth $1, round $round of $ROUNDS"
		turn "$without"
		measure_ours "$tables" unwind_pie
		turn "$with"
		measure_ours "$pointers" 'unwind_frame*' --unwind-memory 0
		measure_reference "$with" >> "$theirs"
	done
	children_end
	no_drops "$theirs"
	for file in "$tables" "$pointers" "$theirs"; do
		ns_a_sample < "$file" > "$file.ns"
	done
	compared 'a sample by tables' "$tables" "$theirs"
	compared 'a sample by frame pointers' "$pointers" "$theirs" 0.25
}

# a_frame NAME: prints the cost of one frame, from the smallest and the largest depth.
a_frame() {
	local time frames
	time=$(calc "$(median < "$WORK/$1.100.ns") - $(median < "$WORK/$1.5.ns")")
	frames=$(calc "$(value user_frames < "$WORK/$1.100" | median) - $(value user_frames < "$WORK/$1.5" | median)")
	awk -v time="$time" -v frames="$frames" 'BEGIN { print frames ? time / frames : 0 }'
}

# measure_table FILE [MS]: prints rows for its unwind table. MS is the budget of the time to make it.
measure_table() {
	local bytes table=$WORK/table times=$WORK/table.ms
	bytes=$(stat -L -c %s "$1")
	doing "table of $1"
	"$BUILD/bench/unwind_table" --rounds "$ROUNDS" "$1" > "$table"
	row "table of ${1##*/} ($(calc "$bytes / 1e6" | xargs printf '%.1f') MB): rows, of so many rules" \
		"$(value rows < "$table" | median), $(value rules < "$table" | median)"
	row "table of ${1##*/}: memory" "$(value bytes < "$table" | median | awk '{ printf "%.0f KiB\n", $1 / 1024 }')"
	value ns < "$table" | awk '{ print $1 / 1e6 }' > "$times"
	if [[ -n ${2-} ]]; then
		row_at_most "table of ${1##*/}: time" "$(spread 1 ms < "$times")" "$(median < "$times")" "$2" ms
	else
		row "table of ${1##*/}: time" "$(spread 1 ms < "$times")"
	fi
	paste <(value ns < "$table") <(value rows < "$table") | awk '{ print $1 / $2 }' > "$table.row"
	row_at_most "table of ${1##*/}: time of a row" "$(spread 0 ns < "$table.row")" "$(median < "$table.row")" "$ROW_NS_MAX" ns
}

# library NAME: prints its path.
library() {
	ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}

bench_setup unwind
cgroup_make
for depth in 5 30 100; do
	measure_depth "$depth"
done
row 'a frame, by tables (reference: by its own walk)' "$(printf '%.0f ns' "$(a_frame tables)")" \
	"$(printf '%.0f ns' "$(a_frame theirs)")"
row 'a frame, by frame pointers (reference: by its own walk)' "$(printf '%.0f ns' "$(a_frame pointers)")" \
	"$(printf '%.0f ns' "$(a_frame theirs)")"
# a large library that is installed wherever this was built, whatever its version
large=$(ldd "$(command -v clang)" | awk '$1 ~ /^libLLVM/ { print $3 }')
[[ $(stat -L -c %s "$large") -ge $LARGE_BYTES ]]
measure_table "$(library libc.so.6)" "$LIBC_MS_MAX"
measure_table /usr/bin/node "$NODE_MS_MAX"
for file in "$(library libcrypto.so.3)" "$(realpath /usr/bin/python3)" "$large"; do
	measure_table "$file"
done
