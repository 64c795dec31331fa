#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how long a reader waits for an answer: of a large capture in a database of 1,000 captures, and of each of 300
# captures of a busy host.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# ask COMMAND: runs that subcommand of bourdon ten times, and leaves what timed says in $WORK/asked, and the times in
# $WORK/asked.ms.
ask() {
	doing "bourdon $*"
	"$BUILD/bourdon" --db "$DB" "$@" > /dev/null
	for _ in {1..10}; do
		"$BUILD/bench/timed" "$BUILD/bourdon" --db "$DB" "$@"
	done > "$WORK/asked"
	value wall_us < "$WORK/asked" | awk '{ print $1 / 1000 }' > "$WORK/asked.ms"
}

# within_100_ms WHAT: prints a row for what was asked last.
within_100_ms() {
	row_at_most "$1" "$(spread 1 ms < "$WORK/asked.ms")" "$(median < "$WORK/asked.ms")" 100 ms
}

most_memory() {
	value peak_rss_kib < "$WORK/asked" | awk '{ print $1 / 1024 }' | spread 1 MiB
}

cpu_time() {
	value cpu_us < "$WORK/asked" | awk '{ print $1 / 1000 }' | spread 1 ms
}

database_size() {
	du -k "$DB" | awk '{ printf "%.0f MiB\n", $1 / 1024 }'
}

bench_setup why
doing 'making 1,000 captures'
"$BUILD/bench/commit" "$STATE_DIR" --captures 999 --samples 1000 > /dev/null
"$BUILD/bench/commit" "$STATE_DIR" --samples 10000 > /dev/null
ask why
within_100_ms 'bourdon why, 10,000 sample rows, 1,000 captures, files cached'
row 'bourdon why, most memory at once' "$(most_memory)"
ask list
row 'bourdon list, 1,000 captures' "$(spread 1 ms < "$WORK/asked.ms")"
row 'the database they read' "$(database_size)"

doing "making 300 captures of a busy host"
rm "$STATE_DIR"/bourdon.db*
"$BUILD/bench/commit" "$STATE_DIR" --captures 300 --busy > /dev/null
for command in why list top folded; do
	ask "$command"
	within_100_ms "bourdon $command, 300 captures of a busy host, files cached"
	row "bourdon $command, CPU time; instructions" \
		"$(cpu_time); $(instructions main "$BUILD/bourdon" --db "$DB" "$command") million"
	row "bourdon $command, most memory at once" "$(most_memory)"
done
ask list --json
within_100_ms 'bourdon list --json, all 300'
row 'the database they read' "$(database_size)"
