#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Names of frames: inlined functions, source lines, separate debug files, JIT code. A dead symbolizer costs
# names and nothing else.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup symbols
	cgroup_make
	DEBUG_FILE=
}

teardown() {
	# a killed workload leaves its perf map
	local maps=("${CHILDREN[@]/#//tmp/perf-}")
	bourdon_teardown
	rm -f "${maps[@]/%/.map}"
	[[ -z $DEBUG_FILE ]] || rm -f "$DEBUG_FILE"
}

# burn PATH ARGUMENT...: starts two processes for each CPU, in the test's cgroup.
burn() {
	local i
	for ((i = 0; i < 2 * $(nproc); i++)); do
		exec {CHILD_OUTPUT}< <(
			echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
			exec "$@"
		)
		CHILD=$!
		CHILDREN+=("$CHILD")
		IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" _
	done
}

# capture_of COMM [SETTING...]: loads, and starts the daemon with a rule for the CPU pressure of the test's
# cgroup.
capture_of() {
	load_targets_alone
	rule names "comm = $1" "cgroup = /$CGROUP" 'cpu.some = 600ms/2s' 'history = 5s' \
		'capture = 2s' "${@:2}"
	daemon_start
}

# stack_around FUNCTION [CAPTURE]: prints the user frames of the most sampled stack with that function, one a
# line: function, depth of inlining, name of the file, line.
stack_around() {
	sql "WITH hottest AS (
			SELECT stack_id FROM sample WHERE capture_id = ${2-1} AND stack_id IN (
				SELECT stack_id FROM stack_frame JOIN frame USING(frame_id) WHERE function = '$1')
			GROUP BY stack_id ORDER BY sum(samples) DESC LIMIT 1)
		SELECT function, inlined, replace(file, rtrim(file, replace(file, '/', '')), ''), line
		FROM hottest JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id) JOIN module USING(module_id)
		WHERE module.kind NOT IN ('kernel', 'module') ORDER BY position"
}

# assert_inlined [CAPTURE]: the three functions of tests/workloads/inlines.cc at one address, innermost first.
assert_inlined() {
	local lines
	mapfile -t lines < <(stack_around 'hog::Counter::spin(unsigned int)' "$@")
	printf '%s\n' "${lines[@]}" # bats shows it when the test fails
	[[ ${lines[0]} == 'hog::Counter::spin(unsigned int)|2|inlines.cc|10'[2-5] ]]
	[ "${lines[1]}" = 'void hog::twice<hog::Counter>(hog::Counter&, unsigned int)|1|inlines.cc|204' ]
	[ "${lines[2]}" = 'hog::outer(unsigned int)|0|inlines.cc|305' ]
	[[ ${lines[3]} == 'main|0|'* ]]
}

@test "inlined C++ functions, demangled, with file and line" {
	capture_of inlines
	burn "$BUILD/workloads/inlines" 60
	recorded
	await_log 30 'captured [0-9]+ stacks of rule names'
	assert_inlined
	# inlined functions count as frames
	[ "$(sql "SELECT min(position), max(position) = depth - 1, count(*) = depth FROM stack_frame
		JOIN stack USING(stack_id) GROUP BY stack_id" | sort -u)" = '0|1|1' ]
	[ "$(sql "SELECT events, unit FROM loss WHERE reason = 'symbolizer-failed'")" = '0|event' ]
	[ "$(sql "SELECT total_percent > 90 FROM hot_function WHERE function = 'hog::outer(unsigned int)'")" = 1 ]
	run "$BUILD/bourdon" --db "$DB" why --full
	[ "$status" -eq 0 ]
	[[ $output == *'hottest function: hog::Counter::spin'* ]]
}

@test "a separate debug file is found by its build id" {
	local id
	id=$(< "$BUILD/symbols/stripped.id")
	DEBUG_FILE=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	install -D -m 0644 "$BUILD/symbols/stripped.debug" "$DEBUG_FILE"
	capture_of stripped
	burn "$BUILD/symbols/stripped" 60
	recorded
	await_log 30 'captured [0-9]+ stacks of rule names'
	assert_inlined
	[ "$(sql "SELECT build_id FROM module WHERE path LIKE '%/stripped'")" = "$id" ]
}

@test "a separate debug file is found by its link; one with another checksum is ignored" {
	cp "$BUILD/symbols/linked" "$WORK/linked"
	install -d -m 0755 "$WORK/.debug"
	cp "$BUILD/symbols/stripped.debug" "$WORK/linked.debug"
	cp "$BUILD/symbols/linked.debug" "$WORK/.debug/"
	capture_of linked
	burn "$WORK/linked" 60
	recorded
	await_log 30 'captured [0-9]+ stacks of rule names'
	assert_inlined
}

@test "compressed symbols (.gnu_debugdata)" {
	capture_of packed
	burn "$BUILD/symbols/packed" 60
	recorded
	await_log 30 'captured [0-9]+ stacks of rule names'
	[ "$(stack_around 'hog::outer(unsigned int)' | head -n 1)" = 'hog::outer(unsigned int)|0||' ]
}

@test "two plugins by turns at one address: no sample has the name of the other one" {
	local output least=40
	# before Linux 6.4 no sample tells how the address space was: then none of them has a name
	has_epochs || least=0
	load
	daemon_start
	start_ahead "$BUILD/workloads/unwind_plugin" --kind turns
	output=$CHILD_OUTPUT
	"$BUILD/bourdon" --db "$DB" capture --pid "$CHILD" --for 9s > "$WORK/captured"
	stop "$CHILD" # it prints its last turn
	cat <&"$output" > "$WORK/turns"
	sql "SELECT at, at + 1000000, function = 'other_burn' FROM sample_time JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE kind = 'on-cpu' AND function IN ('first_burn', 'other_burn')" > "$WORK/named"
	cat "$WORK/turns"
	sql "SELECT ended, sum(samples) FROM sample JOIN stack USING(stack_id) WHERE kind = 'on-cpu' GROUP BY ended"
	# Each plugin was seen, and each name is of the one that was there, within the millisecond that a sample's time has. Times are
	# compared as text: awk rounds such numbers.
	awk -v least="$least" 'NR == FNR { number[NR] = $1; begin[NR] = $2; end[NR] = $3; turns = NR; next }
		{ split($0, part, "|"); named[part[3]]++; right = 0
		  for (i = 1; i <= turns; i++) right += number[i] == part[3] && "x" part[2] >= "x" begin[i] && "x" part[1] <= "x" end[i]
		  if (!right) { print "wrong: " $0; wrong = 1 } }
		END { print named[0] + 0, named[1] + 0; exit wrong || named[0] < least || named[1] < least }' "$WORK/turns" "$WORK/named"
}

@test "JIT code has the names of the perf map of its own process" {
	capture_of jit
	burn "$BUILD/workloads/jit"
	await_log 30 'captured [0-9]+ stacks of rule names'
	[ "$(sql "SELECT DISTINCT function FROM frame JOIN module USING(module_id) WHERE kind = 'jit'")" = Jit::spin ]
	[ "$(sql "SELECT count(*) = count(DISTINCT version), count(*), min(path) FROM module WHERE kind = 'jit'")" = \
		"1|$((2 * $(nproc)))|[jit]" ]
	[ "$(sql "SELECT count(*) FROM module JOIN process ON version LIKE tgid || '-' || started_ns || '-%'
		WHERE kind = 'jit'")" = "$((2 * $(nproc)))" ]
	[ "$(sql "SELECT total_percent > 5 FROM hot_function WHERE function = 'Jit::spin' LIMIT 1")" = 1 ]
	# its caller is a function of the program
	[ "$(stack_around Jit::spin | sed -n 's/|.*//; 2p')" = burn ]
}

@test "a killed symbolizer: frames without names, a counted loss, and a new one afterwards" {
	capture_of jit 'cooldown = 1s'
	# a perf map that takes long to read
	burn "$BUILD/workloads/jit" --lines 200000
	local spawner killed=0 child
	spawner=$(pgrep -P "$DAEMON")
	await_log 30 'rule names fired'
	# during the capture a symbolizer builds unwind tables; after its end, one finds names
	await_status 30 '.daemon[0].captures_under_way == "0" or .daemon[0].captures_under_way == 0'
	while [ "$killed" -eq 0 ]; do
		for child in $(< "/proc/$spawner/task/$spawner/children"); do
			kill -KILL "$child" && killed=$((killed + 1))
		done
	done
	await_log 60 'captured [0-9]+ stacks of rule names'
	[ "$(sql "SELECT state, events, unit FROM capture JOIN loss USING(capture_id)
		WHERE reason = 'symbolizer-failed' AND capture_id = 1")" = 'complete|1|event' ]
	[ "$(sql "SELECT sum(samples) > 0 FROM sample WHERE capture_id = 1")" = 1 ]
	[ "$(sql "SELECT count(*) > 0 FROM frame JOIN module USING(module_id)
		WHERE kind IN ('file', 'anonymous') AND function LIKE '%+0x%' AND function_offset IS NULL")" = 1 ]
	grep -q 'the symbolizer died reading ' "$WORK/daemon.log"
	# the next capture has names
	await_log 60 'captured [0-9]+ stacks of rule names'
	[ "$(sql "SELECT events FROM loss WHERE reason = 'symbolizer-failed' AND capture_id = 2")" = 0 ]
	[ "$(sql "SELECT count(DISTINCT module_id) FROM frame JOIN module USING(module_id)
		WHERE kind = 'jit' AND function = 'Jit::spin'")" -ge "$((2 * $(nproc)))" ]
}

@test "a debug section that decompresses to more than the limit: symbols without lines" {
	[ "$(stat -c %s "$BUILD/symbols/bomb")" -lt $((1 << 20)) ]
	capture_of bomb
	burn "$BUILD/symbols/bomb" 60
	recorded
	await_log 60 'captured [0-9]+ stacks of rule names'
	[ "$(sql "SELECT count(*) > 0 FROM frame WHERE function = 'hog::outer(unsigned int)' AND line IS NULL")" = 1 ]
	kill -0 "$DAEMON"
}

@test "later captures and daemons take names from the database instead of asking again" {
	capture_of inlines 'cooldown = 1s'
	burn "$BUILD/workloads/inlines" 60
	await_log 30 'captured [0-9]+ stacks of rule names'
	await_log 30 'captured [0-9]+ stacks of rule names'
	assert_inlined 1
	assert_inlined 2
	await_sql 10 "SELECT min(value) >= 2 FROM counter WHERE name = 'symbolizer-requests'" 1
	# a capture without new code starts no symbolizer
	await_sql 30 "SELECT count(*) > 0 FROM (SELECT value - lag(value) OVER (ORDER BY at) AS asked FROM counter
		WHERE name = 'symbolizer-requests') WHERE asked = 0" 1
	[ "$(sql "SELECT count(*) FROM module WHERE path LIKE '%/inlines'")" = 1 ]
	# nor does a new daemon ask for names
	daemon_stop TERM
	daemon_start
	await_log 30 'captured [0-9]+ stacks of rule names'
	assert_inlined "$(sql "SELECT max(capture_id) FROM capture WHERE state = 'complete'")"
}

# ---- bourdon symbolize ----

# capture_stripped: a capture of a program without any symbols
capture_stripped() {
	cp "$BUILD/symbols/stripped" "$WORK/stripped"
	capture_of stripped
	burn "$WORK/stripped" 60
	recorded
	await_log 30 'captured [0-9]+ stacks of rule names'
	[ "$(sql "SELECT count(*) FROM frame WHERE function LIKE '%hog::%'")" -eq 0 ]
}

@test "symbolize: names, inlined functions and lines from a debug file, while the daemon runs" {
	capture_stripped
	mkdir "$WORK/debug"
	cp "$BUILD/symbols/stripped.debug" "$WORK/debug/found by what it is"
	# a directory without a file of that program
	mkdir "$WORK/empty"
	run "$BUILD/bourdon" --db "$DB" symbolize --debug-dir "$WORK/empty"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" 0 of "*"$WORK/stripped"*": no file has this build ID"* ]]
	local before hashes
	hashes=$(sql 'SELECT stack_id, hex(hash) FROM stack')
	run "$BUILD/bourdon" --db "$DB" symbolize --debug-dir "$WORK/debug"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"frames of $WORK/stripped ("* ]]
	assert_inlined
	# the stacks are the same: their build id and offsets tell the functions, whether they have names yet or not
	[ "$(sql 'SELECT stack_id, hex(hash) FROM stack')" = "$hashes" ]
	[ "$(sql "SELECT count(*) FROM (SELECT 1 FROM stack_node WHERE frames <> ''
		GROUP BY parent_id, CAST(frames AS INTEGER) HAVING count(*) > 1)")" -eq 0 ]
	[ "$(sql "SELECT min(position), max(position) = depth - 1, count(*) = depth FROM stack_frame
		JOIN stack USING(stack_id) GROUP BY stack_id" | sort -u)" = '0|1|1' ]
	[ "$(sql "SELECT count(*) FROM frame WHERE function LIKE 'stripped+%' AND function_offset IS NOT NULL")" -eq 0 ]
	[ "$(sql 'PRAGMA integrity_check')" = ok ]
	# a second run changes nothing
	before=$(sql 'SELECT count(*), sum(depth) FROM stack')
	run "$BUILD/bourdon" --db "$DB" symbolize --debug-dir "$WORK/debug"
	[ "$status" -eq 0 ]
	[ "$(sql 'SELECT count(*), sum(depth) FROM stack')" = "$before" ]
	# the daemon continues
	kill -0 "$DAEMON"
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

@test "symbolize a copy without the program; another build of it is ignored" {
	capture_stripped
	daemon_stop TERM
	children_end
	rm "$WORK/stripped"
	sql "VACUUM INTO '$WORK/copy.db'"
	mkdir -p "$WORK/debug/other"
	cp "$BUILD/symbols/other" "$WORK/debug/other/stripped"
	run "$BUILD/bourdon" --db "$WORK/copy.db" symbolize --debug-dir "$WORK/debug"
	[[ $output == *": no file has this build ID"* ]]
	# a damaged file is ignored, too
	head -c 3000 "$BUILD/symbols/dwarf5" > "$WORK/debug/cut"
	local id
	id=$(< "$BUILD/symbols/stripped.id")
	mkdir -p "$WORK/debug/.build-id/${id:0:2}"
	cp "$BUILD/symbols/stripped.debug" "$WORK/debug/.build-id/${id:0:2}/${id:2}.debug"
	DB=$WORK/copy.db
	run "$BUILD/bourdon" --db "$DB" symbolize --debug-dir "$WORK/debug"
	echo "$output"
	[ "$status" -eq 0 ]
	assert_inlined
}

@test "symbolize: one error line for a database that cannot be written" {
	capture_stripped
	daemon_stop TERM
	chmod 0755 "$WORK" "$STATE_DIR"
	chmod 0444 "$DB"*
	run setpriv --reuid 65533 --regid 65533 --clear-groups "$BUILD/bourdon" --db "$DB" symbolize --debug-dir "$WORK"
	echo "$output"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "bourdon: cannot write '$DB': "* ]]
}
