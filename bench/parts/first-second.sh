#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how many stacks of programs that have just begun are whole, from one second after their exec on. Eight of Debian's
# programs begin at once, as with a deploy or a restart, and take every CPU: with a daemon that never saw their files, and
# then again with the same daemon.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source "$TREE/bench/programs.bash"

FIRST_HZ=${BENCH_HZ:-197}
FIRST_SECONDS=$((2 * ROUND_SECONDS))
LEAST_NEW=95 LEAST_SEEN=99

# early WHICH ID: prints how many stacks of the first second are whole, from 50 ms after a program's first sample on: by then a
# file that is known has its table.
early() {
	local whole all
	IFS='|' read -r whole all < <(sql "WITH one AS (
			SELECT t.at - min(t.at) OVER (PARTITION BY process_id) AS age, NOT st.truncated AND st.ended IS 'root' AS whole
			FROM sample_time t JOIN stack st USING(stack_id)
			WHERE t.capture_id = $2 AND t.kind = 'on-cpu' AND st.ended IS NOT NULL AND t.at >= $BEGAN)
		SELECT sum(whole), count(*) FROM one WHERE age BETWEEN 50000000 AND 1000000000")
	row "$1: stacks of all that are whole, from 50 ms to 1 s after a program's first sample" "$(calc "100 * $whole / $all" | xargs printf '%.1f') % of $all"
}

# measure WHICH LEAST: starts them, and prints a row for all and one for each program.
measure() {
	local id name whole all
	doing "$1"
	programs_begin
	"$BUILD/bourdon" --db "$DB" capture --cgroup "/$CGROUP" --for "${FIRST_SECONDS}s" --on-cpu > "$WORK/capture.log"
	children_end
	id=$(sql 'SELECT max(capture_id) FROM capture')
	# for those who mend what is not whole
	sql "SELECT p.comm, st.ended, m.path, count(*) AS samples FROM sample_time t JOIN stack st USING(stack_id) JOIN process p USING(process_id)
		JOIN stack_frame sf ON sf.stack_id = st.stack_id AND sf.position = st.depth - 1 JOIN frame f USING(frame_id) JOIN module m USING(module_id)
		WHERE t.capture_id = $id AND t.kind = 'on-cpu' AND st.ended <> 'root' AND t.at >= $BEGAN + 1000000000
		GROUP BY 1, 2, 3 ORDER BY samples DESC LIMIT 12" | while read -r name; do doing "not whole: $name"; done
	sql "CREATE TEMP TABLE first AS WITH one AS (
			SELECT t.at, p.comm, NOT st.truncated AND st.ended IS 'root' AS whole
			FROM sample_time t JOIN stack st USING(stack_id) JOIN process p USING(process_id)
			WHERE t.capture_id = $id AND t.kind = 'on-cpu' AND st.ended IS NOT NULL)
		SELECT comm, whole FROM one WHERE at >= $BEGAN + 1000000000;
		SELECT 'all', count(*), sum(whole) FROM first UNION ALL SELECT comm, count(*), sum(whole) FROM first GROUP BY comm" |
		while IFS='|' read -r name all whole; do
			row "$1: stacks of $name that are whole, from 1 s after its exec" "$(calc "100 * $whole / $all" | xargs printf '%.1f') % of $all" \
				"at least $2 %" '-' "$(verdict $(($2 * all)) $((100 * whole)))"
		done
	early "$1" "$id"
}

bench_setup first-second
cgroup_make
programs_prepare
load --hz "$FIRST_HZ"
daemon_start
measure 'files never seen' $LEAST_NEW
sleep 2 # the machine is calm again
measure 'files seen before' $LEAST_SEEN
