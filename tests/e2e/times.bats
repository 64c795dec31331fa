#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# When samples were, and on which CPU: by SQL alone, compared with what a workload measured.

source "$BATS_TEST_DIRNAME/lib.bash"

setup_file() {
	bourdon_setup times
	export WORK
	cgroup_make
	record usual
	record fast --hz 199
}

teardown_file() {
	bourdon_teardown
}

# record NAME [LOAD-OPTION...]: records two captures, one of moments. It is a real-time process alone on CPU 1, which
# burns 200 ms and then sleeps 150 ms. Two threads of cpu_hog on CPU 0 are the pressure, and have the other capture. Leaves
# the database $WORK/NAME.db, and $WORK/NAME, which tells the shell its path, what moments measured, and its rows.
record() {
	local name=$1 hog process said began ended slept_began slept_ended
	shift
	load "$@"
	own_workload cpu_hog
	hog=$OWN
	own_workload moments
	rule hogs "comm = $hog" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 2s' 'capture = 4s' 'cooldown = 1h'
	rule moments "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 2s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
	ON_CPU=1 start_command chrt -f 1 "$WORK/$OWN" --burn 200 --sleep 150
	process=$CHILD
	exec {said}<&"$CHILD_OUTPUT"
	await_tables "$process"
	ON_CPU=0 start_command "$WORK/$hog" --threads 2
	await_log 30 'rule moments fired'
	kill -USR1 "$process"
	read -r -u "$said" -t $((LEAST_DEADLINE * PATIENCE)) _ began ended
	kill -USR2 "$process"
	read -r -u "$said" -t $((LEAST_DEADLINE * PATIENCE)) _ slept_began slept_ended
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
	daemon_stop TERM
	sqlite3 -readonly "$DB" "VACUUM INTO '$WORK/$name.db'"
	rm -f "$DB" "$DB"-*
	cat > "$WORK/$name" <<- END
		DB=$WORK/$name.db
		BURN_BEGAN=$began BURN_ENDED=$ended SLEEP_BEGAN=$slept_began SLEEP_ENDED=$slept_ended
		MOMENTS="capture_id = (SELECT capture_id FROM capture WHERE rule = 'moments')
			AND process_id = (SELECT process_id FROM process WHERE tgid = $process AND exe IS NOT NULL)"
	END
}

# in_recording NAME
in_recording() {
	# shellcheck disable=SC1090 # record() makes it
	source "$WORK/$1"
}

# near MS A B: the times in ns are at most so many ms apart. An emulated CPU is late.
near() {
	local apart_ms=$((($2 - $3) / 1000000)) most_ms=$(($1 * PATIENCE))
	((apart_ms >= -most_ms && apart_ms <= most_ms)) || { echo "$2 and $3 are $apart_ms ms apart, not $most_ms"; return 1; }
}

# steps: the burst at steps of 20 ms: for each, the number of samples, from the first that has any
steps() {
	sql "SELECT (at - $BURN_BEGAN) / 20000000 AS step, count(*) FROM sample_time
		JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE $MOMENTS AND kind = 'on-cpu' AND function = 'burn_moment' GROUP BY step ORDER BY step"
}

# assert_burst PERIOD-MS: the samples of the burst begin and end when it did, within 10 ms and a period of the clock.
assert_burst() {
	local first last wall_ms=$(((BURN_ENDED - BURN_BEGAN) / 1000000))
	IFS='|' read -r first last < <(sql "SELECT min(at), max(at) FROM sample_time JOIN stack_frame USING(stack_id)
		JOIN frame USING(frame_id) WHERE $MOMENTS AND kind = 'on-cpu' AND function = 'burn_moment'")
	echo "burned for $wall_ms ms; its samples: $(((first - BURN_BEGAN) / 1000000)) ms after its begin to $(((BURN_ENDED - last) / 1000000)) ms before its end"
	near $((10 + $1)) "$first" "$BURN_BEGAN"
	near $((10 + $1)) "$last" "$BURN_ENDED"
}

@test "a burst of 200 ms is visible at steps of 20 ms, and where it began and ended" {
	in_recording fast
	steps
	# 4 samples in each step but those at the edges, unless an emulated CPU skips ticks; none in others
	((PATIENCE > 1)) || [ "$(steps | awk -F '|' '$1 >= 0 && $1 < 10 && $2 >= 2' | wc -l)" -eq 10 ]
	[ "$(steps | awk -F '|' '$1 < -1 || $1 > 11' | wc -l)" -eq 0 ]
	assert_burst 5
}

@test "at the clock's usual rate: a burst begins and ends within 10 ms and a period, on the CPU that it ran on" {
	in_recording usual
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
	in_recording usual
	local began ended cpu weight_ms
	IFS='|' read -r began ended cpu < <(sql "SELECT at, until_at, cpu FROM sample_time
		JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE $MOMENTS AND kind = 'off-cpu' AND stall = 'none' AND function = 'sleep_moment'")
	near 10 "$began" "$SLEEP_BEGAN"
	near 10 "$ended" "$SLEEP_ENDED"
	[ "$cpu" -eq 1 ]
	# the seconds that it touches add up to it
	weight_ms=$(sql "SELECT sum(weight_ns) / 1000000 FROM sample JOIN stack_frame USING(stack_id)
		JOIN frame USING(frame_id) WHERE $MOMENTS AND kind = 'off-cpu' AND stall = 'none' AND function = 'sleep_moment'")
	near 10 $((weight_ms * 1000000)) $((SLEEP_ENDED - SLEEP_BEGAN))
}

@test "the times in the rows are those of the view, in any client: json_each() alone" {
	in_recording fast
	local rows
	[ "$(sql "SELECT count(*) FROM sample WHERE samples <> ifnull(json_array_length(times), 0)")" = 0 ]
	rows=$(sql "SELECT s.second, j.value FROM sample s, json_each(s.times) j WHERE kind = 'on-cpu' ORDER BY 1, 2")
	[ "$(wc -l <<< "$rows")" -gt 20 ]
	# [ms, cpu], within the row's second
	[ "$(grep -cEvx -- '-?[0-9]+\|\[[0-9]{1,3},[01]\]' <<< "$rows")" -eq 0 ]
	[ "$(sql "SELECT count(*), min(at >= began_at - 1000000), min(at <= ended_at) FROM sample_time JOIN capture USING(capture_id)
		WHERE sample_time.kind = 'on-cpu'")" = "$(wc -l <<< "$rows")|1|1" ]
}
