#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What a row stands for, by SQL alone, compared with what workloads did: when a sample was and on which CPU, which program the
# process ran then, and that a stack has the same hash for the same functions of the same build.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/hashes.bash"

# All tests read two recordings, each with a load, a daemon and a database of its own: at the clock's usual rate, and a fast one.
setup_file() {
	local chain
	bourdon_setup rows
	export WORK
	cgroup_make
	own_workload chain
	chain=$OWN
	load
	daemon_start
	record_moments usual
	record_chains "$WORK/$chain"
	keep usual "ONE=$chain"
	load --hz 199
	daemon_start
	record_moments fast
	# stacks of another build, and the same program below another path
	cp "$BUILD/workloads/chain_longer" "$WORK/x$chain"
	record_chains "$WORK/x$chain"
	mkdir "$WORK/elsewhere"
	mv "$WORK/$chain" "$WORK/elsewhere/$chain"
	record_chains "$WORK/elsewhere/$chain"
	record_programs
	keep fast "ONE=$chain MORE=x$chain"
}

teardown_file() {
	bourdon_teardown
}

# keep NAME ASSIGNMENTS: ends the daemon, and leaves its database as $WORK/NAME.db. $WORK/NAME, to which the others add, tells the
# shell its path and what they know.
keep() {
	daemon_stop TERM
	children_end
	sqlite3 -readonly "$DB" "VACUUM INTO '$WORK/$1.db'"
	rm -f "$DB" "$DB"-* "$RULES_DIR"/*
	echo "DB=$WORK/$1.db $2" >> "$WORK/$1"
}

# wall_offset: ms of the wall clock when the machine started. It changes when something sets the clock: seen here, by 115 ms.
wall_offset() {
	local up now
	read -r up _ < /proc/uptime
	now=$(date +%s%N)
	echo $((now / 1000000 - ${up/./}0))
}

# record_moments NAME: records two captures, one of moments. It is a real-time process alone on CPU 1, which burns 200 ms and
# then sleeps 150 ms. Two threads of cpu_hog on CPU 0 are the pressure, and have the other capture.
record_moments() {
	local hog process said began ended slept_began slept_ended stepped
	stepped=$(wall_offset)
	own_workload cpu_hog
	hog=$OWN
	own_workload moments
	rule hogs "comm = $hog" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 2s' 'capture = 4s' 'cooldown = 1h'
	rule moments "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 2s' 'capture = 4s' 'cooldown = 1h'
	ON_CPU=1 start_command chrt -f 1 "$WORK/$OWN" --burn 200 --sleep 150
	process=$CHILD
	exec {said}<&"$CHILD_OUTPUT"
	await_tables "$process"
	ON_CPU=0 start_ahead "$WORK/$hog" --threads 2 # beside another that is ahead, it may have no sample in four seconds
	await_log 30 'rule moments fired'
	kill -USR1 "$process"
	read -r -u "$said" -t $((LEAST_DEADLINE * PATIENCE)) _ began ended
	kill -USR2 "$process"
	read -r -u "$said" -t $((LEAST_DEADLINE * PATIENCE)) _ slept_began slept_ended
	EVERY=0.5 await_status 60 '.captures | length == 0'
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
	stepped=$(($(wall_offset) - stepped))
	cat > "$WORK/$1" <<- END
		STEPPED_MS=${stepped#-}
		BURN_BEGAN=$began BURN_ENDED=$ended SLEEP_BEGAN=$slept_began SLEEP_ENDED=$slept_ended
		MOMENTS="capture_id = (SELECT capture_id FROM capture WHERE rule = 'moments')
			AND process_id = (SELECT process_id FROM process WHERE tgid = $process AND exe IS NOT NULL)"
	END
}

# burn PROGRAM NEXT...: prints a script that burns CPU time until the file PROGRAM.go is there, and then executes the next
# program
burn() {
	echo "until [[ -e $WORK/$1.go ]]; do :; done; exec ${*:2}"
}

# record_programs: records a process that executes three programs, one after the other, until the daemon ends
record_programs() {
	local child first=a$BASHPID second=b$BASHPID third=c$BASHPID
	cp "$(command -v bash)" "$WORK/$first"
	cp "$(command -v bash)" "$WORK/$second"
	cp "$BUILD/workloads/cpu_hog" "$WORK/$third"
	burn "$second" "$WORK/$third" > "$WORK/second.sh"
	{ echo 'echo ready'; burn "$first" "$WORK/$second" "$WORK/second.sh"; } > "$WORK/first.sh"
	rule programs 'comm = *' "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 5min' 'cooldown = 1h'
	ON_CPU=0 start_ahead "$WORK/$first" "$WORK/first.sh"
	child=$CHILD
	ON_CPU=0 start_ahead "$BUILD/workloads/cpu_hog" # they wait for each other
	await_log 30 'rule programs fired'
	await_cpu "$child" 300 # 59 samples
	touch "$WORK/$first.go"
	await_cpu "$child" 300
	touch "$WORK/$second.go"
	await_cpu "$child" 300
	echo "EXECUTOR=$child PROGRAMS='$first $second $third' FINAL=$third" >> "$WORK/fast"
}

# in_recording NAME
in_recording() {
	# shellcheck disable=SC1090 # keep() has made it
	source "$WORK/$1"
}

# near MS A B: the times in ns are at most so many ms apart. An emulated CPU is late, and the clock may have been set meanwhile.
near() {
	local apart_ms=$((($2 - $3) / 1000000)) most_ms=$(($1 * PATIENCE + (STEPPED_MS > 20 ? STEPPED_MS : 0)))
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
	sql "SELECT cpu, count(*) FROM sample_time WHERE kind = 'on-cpu'
		AND capture_id = (SELECT capture_id FROM capture WHERE rule = 'hogs') GROUP BY cpu" | tee "$WORK/hogs"
	[ "$(cut -d '|' -f 1 "$WORK/hogs")" = 0 ]
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

@test "each sample has the name of the program that the process ran then" {
	in_recording fast
	# it was the test's shell before the first of them, perhaps within the history
	sql "SELECT p.comm, p.exe, count(*), min(at), max(at) FROM sample_time JOIN process p USING(process_id)
		WHERE p.tgid = $EXECUTOR AND kind = 'on-cpu' AND p.comm <> 'bash' GROUP BY p.process_id ORDER BY min(at)" > "$WORK/programs"
	cat "$WORK/programs" >&2
	[ "$(cut -d '|' -f 1 "$WORK/programs" | paste -sd ' ')" = "$PROGRAMS" ]
	# one after the other, to the sample
	awk -F '|' '$3 < 10 || $4 <= until { exit 1 } { until = $5 }' "$WORK/programs"
	[ "$(sql "SELECT exe FROM process WHERE tgid = $EXECUTOR AND comm = '$FINAL'")" = "$WORK/$FINAL" ]
	# what the others' executables were is not known any more when the capture is written, and is not made up
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = $EXECUTOR AND comm <> '$FINAL' AND exe LIKE '%$FINAL'")" -eq 0 ]
}

# stack_id HASH DATABASE
stack_id() {
	sql "SELECT stack_id FROM stack WHERE hash = x'$1'" "$2"
}

@test "one program under two paths, in two runs with a database each: its stacks have equal hashes" {
	local hash
	in_recording usual
	hashes "$ONE" | tee "$WORK/here"
	assert_hashes "$WORK/here"
	in_recording fast
	hashes "$ONE" | diff "$WORK/here" -
	[ "$(sql "SELECT count(*) FROM module WHERE path LIKE '$WORK/%/$ONE'")" -eq 1 ]
	# this database has stacks of other programs first, and so other ids
	hash=$(cut -d ' ' -f 2 "$WORK/here" | head -n 1)
	[ "$(stack_id "$hash" "$WORK/fast.db")" -ne "$(stack_id "$hash" "$WORK/usual.db")" ]
}

@test "another build, with one more instruction: its stacks have the same functions and other hashes" {
	in_recording fast
	hashes "$ONE" | tee "$WORK/one"
	hashes "$MORE" | tee "$WORK/other"
	diff <(cut -d ' ' -f 1,3 "$WORK/one") <(cut -d ' ' -f 1,3 "$WORK/other")
	[ "$(cut -d ' ' -f 2 "$WORK/one" "$WORK/other" | sort -u | wc -l)" -eq 4 ]
}
