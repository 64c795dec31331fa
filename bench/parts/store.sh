#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a capture adds to the database and how long its commit takes: the first, which adds its stacks, and later
# ones, whose stacks the database knows, or most of them. One kind of capture has 10,000 samples of few stacks, the other is
# a busy host's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# rows WHAT LINES KIB MS: prints the rows, with their budgets, for the captures whose lines (us= bytes= ...) are in that file.
rows() {
	row_at_most "database, $1" "$(value bytes < "$2" | awk '{ print $1 / 1024 }' | spread 0 KiB)" \
		"$(value bytes < "$2" | awk '{ print $1 / 1024 }' | median)" "$3" KiB
	row_at_most "its commit, ${1##*, }" "$(value us < "$2" | awk '{ print $1 / 1000 }' | spread 1 ms)" \
		"$(value us < "$2" | awk '{ print $1 / 1000 }' | median)" "$4" ms
	row "of that, CPU time" "$(value cpu_us < "$2" | awk '{ print $1 / 1000 }' | spread 1 ms)"
}

# measure NAME OPTION...: makes captures with those options; their lines are in $WORK/NAME.first and $WORK/NAME.later.
measure() {
	local round
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "$1, round $round of $ROUNDS"
		mkdir "$WORK/$round"
		"$BUILD/bench/commit" "$WORK/$round" --captures 4 "${@:2}" > "$WORK/lines"
		head -n 1 "$WORK/lines" >> "$WORK/$1.first"
		tail -n +2 "$WORK/lines" >> "$WORK/$1.later"
		rm -r "${WORK:?}/$round"
	done
}

# tables DATABASE: prints "BYTES<tab>NAME" of each table and index, the largest first.
tables() {
	sqlite3 -readonly -separator $'\t' "$1" 'SELECT sum(pgsize), name FROM dbstat GROUP BY name ORDER BY 1 DESC, 2'
}

bench_setup store
measure even
rows 'a capture of 10,000 sample rows, 500 stacks of 30 frames, stacks new' "$WORK/even.first" 640 50
rows 'a capture of 10,000 sample rows, 500 stacks of 30 frames, stacks known' "$WORK/even.later" 640 50
measure busy --busy
busy="a busy host's capture: 9,000 sample rows, 6,000 stacks"
rows "$busy, stacks new" "$WORK/busy.first" 1024 100
rows "$busy, 70 % of them known" "$WORK/busy.later" 1024 100

doing 'bytes of each table'
mkdir "$WORK/one"
million=$(instructions store_commit_capture "$BUILD/bench/commit" "$WORK/one" --busy)
row 'the commit of its first, instructions' "$million million"
tables "$WORK/one/bourdon.db" > "$WORK/tables"
awk -F '\t' '$1 > 8192' "$WORK/tables" | while IFS=$'\t' read -r bytes name; do
	row "of its first: $name" "$((bytes / 1024)) KiB"
done
row 'of its first: all other tables and indexes together' \
	"$(awk -F '\t' '$1 <= 8192 { all += $1 } END { printf "%d KiB\n", all / 1024 }' "$WORK/tables")"
