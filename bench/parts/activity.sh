#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what looks at all threads cost, of a machine with 5,000 threads of which some run and some wake: a look by the
# iterator, beside one that does nothing and beside /proc; the daemon with [activity] and without; and how much it stores.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

PROCESSES=50
THREADS=100 # of each
MINUTES=${BENCH_MINUTES:-3} # that are stored and counted

# looks: the workload is there; prints the CPU times of looks
looks() {
	load
	doing 'looks'
	"$BUILD/bench/looks" --pin-dir "$PIN_DIR" --rounds $((3 * ROUNDS)) > "$WORK/looks"
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

# a_thread NAME THREADS-NAME: prints the ns of such a look for each thread
a_thread() {
	paste <(value "$1" < "$WORK/looks") <(value "$2" < "$WORK/looks") | awk '{ print $1 / $2 }'
}

# ratio NAME: prints the CPU time of a look, of the other's
ratio() {
	printf '%.2f' "$(paste <(value look_ns < "$WORK/looks") <(value "$1" < "$WORK/looks") | awk '{ print $1 / $2 }' | median)"
}

# rest NAME [LINE...]: measures the daemon with these settings
rest() {
	write_settings "${@:2}"
	load
	daemon_start
	sleep 3 # the start's own work is over
	doing "daemon, activity $1: $IDLE_SECONDS s"
	at_rest "$IDLE_SECONDS" > "$WORK/rest-$1"
}

# percent NAME: prints the CPU time of that daemon, in % of a CPU
percent() {
	calc "$(value cpu_ns < "$WORK/rest-$1") / $IDLE_SECONDS / 1e7"
}

# stored: prints the MiB that a day of such minutes takes, after the first one, which has most of the new keys
stored() {
	sql "SELECT 1440.0 * sum(bytes) / count(*) / 1048576 FROM activity_minute WHERE looks > 0.9 * steps AND steps > 50 AND minute_id > 1"
}

# rows_a_minute: prints the rows of such a minute
rows_a_minute() {
	sql "SELECT 1.0 * count(*) / count(DISTINCT minute_id) FROM activity WHERE minute_id > 1"
}

is_stored() {
	(($(sql 'SELECT count(*) FROM activity_minute WHERE minute_id > 1' 2> /dev/null || echo 0) >= MINUTES))
}

# make_week: writes 7 days of minutes with 60 rows each, of 2,000 keys
make_week() {
	doing 'making a week'
	rm -f "$STATE_DIR"/bourdon.db*
	make_tables "$DB"
	sqlite3 "$DB" "
		INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(1, 1, '0', 1, '0', 'host', 2, 47);
		INSERT INTO activity_key(key_id, state, comm, kernel, syscall, function, uid, cgroup, unit, container, hash)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
			SELECT i, CASE i % 3 WHEN 0 THEN 'running' WHEN 1 THEN 'D' ELSE 'S' END, 'service-' || (i % 40), 0, 'call-' || (i % 7),
			'function-' || (i % 50), i % 9, '/system.slice/' || (i % 40) || '.service', (i % 40) || '.service', NULL, i FROM n;
		INSERT INTO activity_minute
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10080)
			SELECT i, 1, (1790000000 + 60 * (i - 10081)) * 1000000000, 1000000000, 60, 60, NULL, 10800, 0 FROM n;
		INSERT INTO activity
			WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
			SELECT minute_id, 1 + (7 * minute_id + 33 * i) % 2000, 180, 2, 4, '[[0,2],[20,4],[40,2],[50,4]]' FROM activity_minute, n;"
}

# ask [OPTION...]: prints the ms that each of some runs of bourdon activity takes, of that week
ask() {
	local round
	for ((round = 0; round < ROUNDS; round++)); do
		"$BUILD/bench/timed" "$BUILD/bourdon" --db "$DB" activity --until 2026-09-21T14:13:20Z "$@"
	done | value wall_us | awk '{ print $1 / 1000 }' > "$WORK/asked"
}

bench_setup activity
cgroup_make
quiet_rule one no_such_process
start crowd --running 1 "$PROCESSES" "$THREADS"
looks
row "a look at $(value threads < "$WORK/looks" | median) threads, of each (reference: /proc: stat, status, wchan, syscall)" \
	"$(a_thread look_ns threads | spread 0 ns)" "$(a_thread proc_ns proc_threads | spread 0 ns)" "$(ratio proc_ns)"
row 'the same (reference: an iterator that does nothing)' "$(a_thread look_ns threads | spread 0 ns)" \
	"$(a_thread empty_ns threads | spread 0 ns)" "$(ratio empty_ns)"
look_percent=$(value look_ns < "$WORK/looks" | awk '{ print $1 / 1e7 }' | median)
row_at_most 'one such look a second, of a CPU' "$(value look_ns < "$WORK/looks" | awk '{ print $1 / 1e7 }' | spread 3 %)" \
	"$look_percent" 0.3 '% of a CPU'
make_week
ask --since 7d
row_at_most 'bourdon activity --since 7d, 60 rows a minute, files cached' "$(spread 0 ms < "$WORK/asked")" \
	"$(median < "$WORK/asked")" 1000 ms
ask --since 7d --all --group-by unit
row 'the same, --all --group-by unit' "$(spread 0 ms < "$WORK/asked")"
ask --since 1h
row 'bourdon activity --since 1h' "$(spread 0 ms < "$WORK/asked")"
rm -f "$STATE_DIR"/bourdon.db*
rest off
disarm
rest on '[activity]' 'interval = 1s'
doing "$MINUTES minutes"
await $((60 * (MINUTES + 3))) is_stored
more=$(calc "$(percent on) - $(percent off)")
row_at_most 'bourdond with [activity] interval = 1s (beside one without), so much more CPU' \
	"$(printf '%.3f %% (%.3f %%)' "$(percent on)" "$(percent off)")" "$more" 0.3 '% of a CPU'
row_at_most "of $(printf '%.0f' "$(rows_a_minute)") rows a minute: stored in a day" \
	"$(printf '%.1f MiB' "$(stored)")" "$(stored)" 30 MiB
disarm
