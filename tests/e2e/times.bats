#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# When samples were, and on which CPU: by SQL alone, compared with what a workload measured.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup times
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# record [LOAD-OPTION...]: records one capture, in which $WORK/$OWN, a copy of moments that is alone on CPU 1, burns
# 200 ms and then sleeps 150 ms. Sets BURNED and SLEPT to when each began and ended (Unix ns). Two copies of cpu_hog on
# CPU 0 are the pressure. moments is a real-time process, so that it runs at once.
record() {
	local hog moments
	load "$@"
	own_workload cpu_hog
	hog=$OWN
	own_workload moments
	rule hogs "comm = $hog" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 2s' 'capture = 4s' 'cooldown = 1h'
	rule moments "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 2s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
	ON_CPU=1 start_command chrt -f 1 "$WORK/$OWN" --burn 200 --sleep 150
	moments=$CHILD
	exec {SAID}<&"$CHILD_OUTPUT"
	await_tables "$moments"
	ON_CPU=0 start_command "$WORK/$hog" --threads 2
	await_log 30 'rule moments fired'
	kill -USR1 "$moments"
	read -r -u "$SAID" -t $((LEAST_DEADLINE * PATIENCE)) -a BURNED
	kill -USR2 "$moments"
	read -r -u "$SAID" -t $((LEAST_DEADLINE * PATIENCE)) -a SLEPT
	[[ ${BURNED[0]} == burned && ${SLEPT[0]} == slept ]]
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
	# the ids of the capture and of the process, for the statements below
	MOMENTS="capture_id = (SELECT capture_id FROM capture WHERE rule = 'moments')
		AND process_id = (SELECT process_id FROM process WHERE tgid = $moments AND exe IS NOT NULL)"
}

# near MS A B: the times in ns are at most so many ms apart. An emulated CPU is late.
near() {
	local apart_ms=$((($2 - $3) / 1000000)) most_ms=$(($1 * PATIENCE))
	((apart_ms >= -most_ms && apart_ms <= most_ms)) || { echo "$2 and $3 are $apart_ms ms apart, not $most_ms"; return 1; }
}

# steps: the burst at steps of 20 ms: for each, the number of samples, from the first that has any
steps() {
	sql "SELECT (at - ${BURNED[1]}) / 20000000 AS step, count(*) FROM sample_time
		JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE $MOMENTS AND kind = 'on-cpu' AND function = 'burn_moment' GROUP BY step ORDER BY step"
}

# assert_burst PERIOD-MS: the samples of the burst begin and end when it did, within 10 ms and a period of the clock.
assert_burst() {
	local first last wall_ms=$(((BURNED[2] - BURNED[1]) / 1000000))
	IFS='|' read -r first last < <(sql "SELECT min(at), max(at) FROM sample_time JOIN stack_frame USING(stack_id)
		JOIN frame USING(frame_id) WHERE $MOMENTS AND kind = 'on-cpu' AND function = 'burn_moment'")
	echo "burned for $wall_ms ms; its samples: $(((first - BURNED[1]) / 1000000)) ms after its begin to $(((BURNED[2] - last) / 1000000)) ms before its end"
	near $((10 + $1)) "$first" "${BURNED[1]}"
	near $((10 + $1)) "$last" "${BURNED[2]}"
}

@test "a burst of 200 ms is visible at steps of 20 ms, and where it began and ended" {
	record --hz 199
	steps
	# 4 samples in each step but those at the edges, unless an emulated CPU skips ticks; none in others
	((PATIENCE > 1)) || [ "$(steps | awk -F '|' '$1 >= 0 && $1 < 10 && $2 >= 2' | wc -l)" -eq 10 ]
	[ "$(steps | awk -F '|' '$1 < -1 || $1 > 11' | wc -l)" -eq 0 ]
	assert_burst 5
}

@test "at the clock's usual rate: a burst begins and ends within 10 ms and a period, on the CPU that it ran on" {
	record
	steps
	assert_burst 21
	[ "$(sql "SELECT count(*) >= 7 / $PATIENCE, group_concat(DISTINCT cpu) FROM sample_time
		JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE $MOMENTS AND kind = 'on-cpu' AND function = 'burn_moment'")" = '1|1' ]
	# the pressure was on the other CPU
	[ "$(sql "SELECT count(*) > 20 / $PATIENCE, group_concat(DISTINCT cpu) FROM sample_time WHERE kind = 'on-cpu'
		AND capture_id = (SELECT capture_id FROM capture WHERE rule = 'hogs')")" = '1|0' ]
}

@test "an interval off CPU has its begin, its end, and the CPU where the thread ran again" {
	record
	local began ended cpu weight_ms
	IFS='|' read -r began ended cpu < <(sql "SELECT at, until_at, cpu FROM sample_time
		JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE $MOMENTS AND kind = 'off-cpu' AND stall = 'none' AND function = 'sleep_moment'")
	near 10 "$began" "${SLEPT[1]}"
	near 10 "$ended" "${SLEPT[2]}"
	[ "$cpu" -eq 1 ]
	# the seconds that it touches add up to it
	weight_ms=$(sql "SELECT sum(weight_ns) / 1000000 FROM sample JOIN stack_frame USING(stack_id)
		JOIN frame USING(frame_id) WHERE $MOMENTS AND kind = 'off-cpu' AND stall = 'none' AND function = 'sleep_moment'")
	near 10 $((weight_ms * 1000000)) $((SLEPT[2] - SLEPT[1]))
}

@test "the times in the rows are those of the view, in any client: json_each() alone" {
	record
	local rows
	[ "$(sql "SELECT count(*) FROM sample WHERE samples <> ifnull(json_array_length(times), 0)")" = 0 ]
	rows=$(sql "SELECT s.second, j.value FROM sample s, json_each(s.times) j WHERE kind = 'on-cpu' ORDER BY 1, 2")
	[ "$(wc -l <<< "$rows")" -gt 20 ]
	# [ms, cpu], within the row's second
	[ -z "$(grep -Evx -- '-?[0-9]+\|\[[0-9]{1,3},[01]\]' <<< "$rows")" ]
	[ "$(sql "SELECT count(*), min(at >= began_at - 1000000), min(at <= ended_at) FROM sample_time JOIN capture USING(capture_id)
		WHERE sample_time.kind = 'on-cpu'")" = "$(wc -l <<< "$rows")|1|1" ]
}
