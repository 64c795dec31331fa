#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how long a reader waits for an answer: bourdon why, of a large capture, in a database of 1,000
# captures.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

bench_setup why
doing 'making 1,000 captures'
"$BUILD/bench/commit" "$STATE_DIR" --captures 999 --samples 1000 > /dev/null
"$BUILD/bench/commit" "$STATE_DIR" --samples 10000 > /dev/null
for command in why list; do
	doing "bourdon $command"
	"$BUILD/bourdon" --db "$DB" "$command" > /dev/null
	for _ in {1..10}; do
		"$BUILD/bench/timed" "$BUILD/bourdon" --db "$DB" "$command"
	done > "$WORK/$command"
	value wall_us < "$WORK/$command" | awk '{ print $1 / 1000 }' > "$WORK/$command.ms"
done
row_at_most 'bourdon why, 10,000 sample rows, 1,000 captures, files cached' \
	"$(spread 1 ms < "$WORK/why.ms")" "$(median < "$WORK/why.ms")" 100 ms
row 'bourdon why, most memory at once' "$(value peak_rss_kib < "$WORK/why" | awk '{ print $1 / 1024 }' | spread 1 MiB)"
row 'bourdon list, 1,000 captures' "$(spread 1 ms < "$WORK/list.ms")"
row 'the database they read' "$(du -k "$DB" | awk '{ printf "%.0f MiB\n", $1 / 1024 }')"
