#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how the work of naming a capture grows with its modules and frames, in instructions, and by how
# much naming goes beyond its deadline.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

directory=$(mktemp -d /var/tmp/bench-naming.XXXXXX)
trap 'rm -rf "$directory"' EXIT

# name MODULES FRAMES [OPTION...]: prints what bench/naming prints
name() {
	"${PREFIX[@]}" "$BUILD/bench/naming" --directory "$directory" --modules "$1" --frames "$2" "${@:3}" \
		2> "$directory/said" || { cat "$directory/said" >&2; return 1; }
}
PREFIX=()

# instructions MODULES FRAMES [OPTION...]: prints how many instructions naming that capture takes
instructions() {
	local log=$directory/callgrind PREFIX
	PREFIX=(valgrind --tool=callgrind '--toggle-collect=measured*' --callgrind-out-file=/dev/null "--log-file=$log")
	name "$@" > /dev/null
	awk '$2 == "Collected" { found = $4 } END { if (!found) exit 1; print found }' "$log"
}

# grows WHAT SIZE OPTION...: a row for each size from SIZE on, "MODULES FRAMES", with its ratio to the first; within 1.2
# is linear
grows() {
	local what=$1 modules=${2% *} frames=${2#* } round counted each first=''
	for round in 1 2 4 8; do
		doing "$what: $modules modules of $frames frames"
		counted=$(instructions "$modules" "$frames" "${@:3}")
		each=$(calc "$counted / ($modules * $frames)")
		first=${first:-$each}
		row "$what, $modules modules, frames of each: $frames; instructions a frame (reference: the first such row)" \
			"$(printf '%.0f' "$each")" "$(printf '%.0f' "$first")" "$(printf '%.2f' "$(calc "$each / $first")")" \
			"$(verdict "$each" "$(calc "1.2 * $first")") 1.2"
		if ((modules < 1000)); then frames=$((frames * 2)); else modules=$((modules * 2)); fi
	done
}

grows 'naming' '7500 1'
grows 'naming behind its deadline' '7500 1' --deadline-ms 0
grows 'naming' '500 15'

for deadline in 0 200; do
	late=$(for ((i = 0; i < ROUNDS; i++)); do name 60000 1 --deadline-ms "$deadline"; done | value late_us |
		awk '{ print $1 / 1000 }')
	row_at_most "60,000 modules, a deadline after $deadline ms: naming ends so much later" "$(spread 1 ms <<< "$late")" \
		"$(sort -g <<< "$late" | tail -n 1)" 100 ms
done
