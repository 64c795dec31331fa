#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a capture of 10,000 samples adds to the database and how long its commit takes: the first,
# which adds its stacks, and a later one, whose stacks the database knows.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# rows NAME LINES: prints the rows for the captures whose lines (us= bytes= ...) are in that file.
rows() {
	row_at_most "database, a capture of 10,000 sample rows, 500 stacks of 30 frames, $1" \
		"$(value bytes < "$2" | awk '{ print $1 / 1024 }' | spread 0 KiB)" \
		"$(value bytes < "$2" | awk '{ print $1 / 1024 }' | median)" 640 KiB
	row_at_most "its commit, $1" "$(value us < "$2" | awk '{ print $1 / 1000 }' | spread 1 ms)" \
		"$(value us < "$2" | awk '{ print $1 / 1000 }' | median)" 50 ms
}

bench_setup store
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	mkdir "$WORK/$round"
	"$BUILD/bench/commit" "$WORK/$round" --captures 4 > "$WORK/lines"
	head -n 1 "$WORK/lines" >> "$WORK/first"
	tail -n +2 "$WORK/lines" >> "$WORK/later"
	rm -r "${WORK:?}/$round"
done
rows 'stacks new' "$WORK/first"
rows 'stacks known' "$WORK/later"
