#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# bourdon export: the programs for which the formats are read them, and their totals are SQL's. The captures are those of
# tests/example.db: CPU, a lock, I/O, memory, and an interrupted one. No daemon runs.

bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/hostile_names.bash"

FORMATS=(firefox pprof perf-script speedscope perfetto folded csv json)
FLAMEGRAPH=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
# all samples of capture 1 and so on, whoever's
SAMPLES="(SELECT capture_id, process_id, tid, thread, stack_id, kind, stall, 'target' AS role, second, samples, weight_ns, times FROM sample
	UNION ALL SELECT capture_id, process_id, tid, thread, stack_id, kind, stall, role, second, samples, weight_ns, times FROM other_sample)"

setup_file() {
	bourdon_setup export
	export WORK STATE_DIR
	# in this schema
	install -o "$TEST_USER" -m 0640 "$TREE/tests/example.db" "$STATE_DIR/example.db"
	"$BUILD/bourdon" db merge "$STATE_DIR/bourdon.db" "$STATE_DIR/example.db"
	export DB=$STATE_DIR/bourdon.db
	# go and profiler-cli keep files there
	export HOME=$WORK/home PROFILER_CLI_SESSION_DIR=$WORK/sessions
	mkdir -p "$HOME" "$PROFILER_CLI_SESSION_DIR"
}

teardown_file() {
	rm -rf "$WORK"
}

needs_npm() {
	[ -e "$BUILD/npm/installed" ] || skip "$(cat "$BUILD/npm/missing" 2> /dev/null || echo 'npm: its packages are not installed: make npm')"
}

# needs_command COMMAND...: the virtual machines of the tests have not all that make deps installs
needs_command() {
	local command
	for command; do
		command -v "$command" > /dev/null || [ -e "$command" ] || skip "$command is not installed: make deps"
	done
}

teardown() {
	losetup --associated "$WORK/image" --noheadings --output NAME 2> /dev/null | xargs -r losetup --detach
	[ -z "${SESSION-}" ] || firefox_profiler stop > /dev/null
}

# export_to FILE FORMAT CAPTURE [OPTION...]
export_to() {
	"$BUILD/bourdon" --db "$DB" export "$3" --format "$2" "${@:4}" > "$1"
}

# totals CAPTURE WHERE: prints samples and ns as SQL adds them up
totals() {
	sql "SELECT ifnull(sum(samples), 0), ifnull(sum(weight_ns), 0) FROM $SAMPLES WHERE capture_id = $1 AND $2"
}

# times CAPTURE WHERE: prints how many samples have a time of their own
times() {
	sql "SELECT ifnull(sum(json_array_length(times)), 0) FROM $SAMPLES WHERE capture_id = $1 AND $2"
}

# pprof_total TYPE FILE [OPTION...]: prints the total that 'go tool pprof -top' shows, without its unit
pprof_total() {
	go tool pprof -symbolize=none -top -nodecount=100000 -sample_index="$1" "${@:3}" "$2" > "$WORK/top"
	sed -n 's/^Showing nodes accounting for .* of \([0-9]*\)\(ns\)\{0,1\} total$/\1/p' "$WORK/top"
}

# assert_same WHAT SQL OTHER
assert_same() {
	[ -n "$2" ]
	[ "$2" = "$3" ] || { printf '%s:\nSQL: %s\nit:  %s\n' "$1" "$2" "$3"; false; }
}

# firefox_profiler COMMAND...: asks the session. It begins a process of another session, and waits 500 ms for it, which
# beside other programs are enough in a real-time class alone.
firefox_profiler() {
	NODE_NO_WARNINGS=1 chrt -r 1 "$BUILD/npm/node_modules/.bin/profiler-cli" "$@" --session "$SESSION"
}

# load_profile FILE: opens it in the Firefox Profiler's command, and prints "samples|markers" of all threads
load_profile() {
	local thread
	SESSION='export'
	firefox_profiler load "$1" > "$WORK/loaded" || { cat "$WORK/loaded"; return 1; }
	firefox_profiler profile info --all --json > "$WORK/info.json"
	for thread in $(jq -r '.processes[].threads[].threadHandle' "$WORK/info.json"); do
		firefox_profiler thread info --thread "$thread" --json
	done | jq -sr '"\(map(.sampleCount) | add)|\(map(.markerCount) | add)"' > "$WORK/counts"
}

close_profile() {
	firefox_profiler stop > /dev/null
	SESSION=
}

@test "firefox: profiler-cli finds all samples, intervals, kills and counters" {
	needs_npm
	local capture kills
	for capture in 1 3 4; do
		export_to "$WORK/profile.json" firefox "$capture"
		load_profile "$WORK/profile.json"
		kills=$(sql "SELECT count(*) FROM killed WHERE capture_id = $capture")
		# each interval is a marker; so are the trigger and each kill
		assert_same "capture $capture" \
			"$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 1)|$(($(totals "$capture" "kind = 'off-cpu'" | cut -d '|' -f 1) + 1 + kills))" \
			"$(< "$WORK/counts")"
		# a row for each process, and one for the capture
		assert_same processes "$(sql "SELECT 1 + count(DISTINCT process_id) FROM $SAMPLES WHERE capture_id = $capture AND samples > 0")" \
			"$(jq '.processes | length' "$WORK/info.json")"
		# PSI: a counter of some, and one of full where it is known; CPU time by role
		assert_same counters "$(sql "SELECT
			(SELECT count(*) FROM (SELECT DISTINCT scope, resource FROM pressure WHERE capture_id = $capture)) +
			(SELECT count(*) FROM (SELECT DISTINCT scope, resource FROM pressure WHERE capture_id = $capture AND full_us IS NOT NULL)) +
			(SELECT count(DISTINCT role) FROM $SAMPLES WHERE capture_id = $capture AND kind = 'on-cpu')")" \
			"$(firefox_profiler counter list --json | jq '.counters | length')"
		close_profile
	done
}

@test "firefox: functions, libraries and times are those of the database" {
	needs_npm
	local thread tid function
	export_to "$WORK/profile.json" firefox 1
	load_profile "$WORK/profile.json"
	# of the thread with most samples: the functions at the leaf, and their libraries
	tid=$(sql "SELECT tid FROM $SAMPLES WHERE capture_id = 1 AND kind = 'on-cpu' GROUP BY tid ORDER BY sum(samples) DESC, tid LIMIT 1")
	thread=$(jq -r ".processes[].threads[] | select(.tid == $tid).threadHandle" "$WORK/info.json")
	firefox_profiler thread functions --thread "$thread" --include-idle --limit 0 --json > "$WORK/functions.json"
	assert_same functions "$(sql "SELECT replace(m.path, rtrim(m.path, replace(m.path, '/', '')), '') || '!' || f.function, sum(s.samples)
		FROM $SAMPLES s JOIN stack_frame sf ON sf.stack_id = s.stack_id AND sf.position = 0 JOIN frame f USING(frame_id)
		JOIN module m USING(module_id) WHERE s.capture_id = 1 AND s.kind = 'on-cpu' AND s.tid = $tid
		GROUP BY 1" | sort)" \
		"$(jq -r '.functions[] | select(.selfSamples > 0) | "\(.nameWithLibrary)|\(.selfSamples)"' "$WORK/functions.json" | sort)"
	# the first sample and the last
	assert_same times "$(sql "SELECT min(json_extract(j.value, '\$[0]') + 1000 * s.second) - f.from_ms, max(json_extract(j.value, '\$[0]') + 1000 * s.second) - f.from_ms
		FROM $SAMPLES s, json_each(s.times) j, (SELECT cast(floor((began_at - triggered_at) / 1e6) AS INTEGER) AS from_ms FROM capture WHERE capture_id = 1) f
		WHERE s.capture_id = 1 AND s.kind = 'on-cpu' AND s.tid = $tid")" \
		"$(jq -r --argjson tid "$tid" '[.threads[] | select(.tid == $tid).samples.data[][1]] | "\(min)|\(max)"' "$WORK/profile.json")"
	[ "$(jq '.meta.version' "$WORK/profile.json")" -eq 31 ]
}

@test "pprof: go tool pprof and pprof-format have SQL's totals" {
	needs_command go
	needs_npm
	local capture role stall top
	for capture in 1 2 3 4 5; do
		export_to "$WORK/profile.pb.gz" pprof "$capture"
		NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/pprof.cjs" "$WORK/profile.pb.gz" > "$WORK/pprof.json"
		assert_same 'on CPU' "$(totals "$capture" "kind = 'on-cpu'")" \
			"$(jq -r '.totals | "\(."samples/count")|\(."cpu/nanoseconds")"' "$WORK/pprof.json")"
		assert_same 'off CPU' "$(totals "$capture" "kind = 'off-cpu'")" \
			"$(jq -r '.totals | "\(."intervals/count")|\(."offcpu/nanoseconds")"' "$WORK/pprof.json")"
		for role in $(sql "SELECT DISTINCT role FROM $SAMPLES WHERE capture_id = $capture"); do
			assert_same "$role" "$(totals "$capture" "kind = 'on-cpu' AND role = '$role'" | cut -d '|' -f 1)" \
				"$(jq --arg key "$role samples/count" '.role[$key]' "$WORK/pprof.json")"
		done
		for stall in $(sql "SELECT DISTINCT stall FROM $SAMPLES WHERE capture_id = $capture AND kind = 'off-cpu'"); do
			assert_same "$stall" "$(totals "$capture" "kind = 'off-cpu' AND stall = '$stall'" | cut -d '|' -f 2)" \
				"$(jq --arg key "$stall offcpu/nanoseconds" '.stall[$key]' "$WORK/pprof.json")"
		done
		assert_same leaves "$(sql "SELECT f.function, sum(s.samples) FROM $SAMPLES s
			JOIN stack_frame sf ON sf.stack_id = s.stack_id AND sf.position = 0 JOIN frame f USING(frame_id)
			WHERE s.capture_id = $capture AND s.kind = 'on-cpu' GROUP BY f.function" | sort)" \
			"$(jq -r '.leaves | to_entries[] | select(.value > 0) | "\(.key)|\(.value)"' "$WORK/pprof.json" | sort)"
		# Go's own reader
		assert_same 'pprof -top, samples' "$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 1)" "$(pprof_total samples "$WORK/profile.pb.gz")"
		assert_same 'pprof -top, cpu' "$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 2)" "$(pprof_total cpu "$WORK/profile.pb.gz" -unit=ns)"
		assert_same 'pprof -top, offcpu' "$(totals "$capture" "kind = 'off-cpu'" | cut -d '|' -f 2)" "$(pprof_total offcpu "$WORK/profile.pb.gz" -unit=ns)"
	done
}

@test "pprof: build ids, inlined functions and labels" {
	needs_command go
	needs_npm
	export_to "$WORK/profile.pb.gz" pprof 1
	NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/pprof.cjs" "$WORK/profile.pb.gz" > "$WORK/pprof.json"
	assert_same 'build ids' "$(sql "SELECT DISTINCT m.build_id FROM $SAMPLES s JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		JOIN module m USING(module_id) WHERE s.capture_id = 1 AND m.build_id IS NOT NULL ORDER BY 1")" \
		"$(jq -r '.build_ids | unique[]' "$WORK/pprof.json")"
	assert_same inlined "$(sql "SELECT count(DISTINCT f.module_id || ' ' || f.offset) FROM $SAMPLES s JOIN stack_frame USING(stack_id) JOIN frame f USING(frame_id)
		WHERE s.capture_id = 1 AND f.inlined > 0")" "$(jq .inlined "$WORK/pprof.json")"
	[ "$(jq .inlined "$WORK/pprof.json")" -gt 0 ]
	[ "$(jq -r '.labels | keys | join(" ")' "$WORK/pprof.json")" = 'comm role stall tgid thread tid' ]
	go tool pprof -symbolize=none -raw "$WORK/profile.pb.gz" > "$WORK/raw"
	grep -q 'comm:\[competitor\] role:\[other\] stall:\[none\]' "$WORK/raw"
	grep -q 'hog::Counter::spin' "$WORK/raw"
}

@test "speedscope: its own schema accepts the file, and the weights are SQL's" {
	needs_npm
	local capture
	for capture in 1 2 3 4 5; do
		export_to "$WORK/speedscope.json" speedscope "$capture"
		NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/speedscope.cjs" "$WORK/speedscope.json" > "$WORK/sums.json"
		assert_same "capture $capture, on CPU" "$(totals "$capture" "kind = 'on-cpu'")" \
			"$(jq -r '."on CPU" | "\(.count)|\(.ns)"' "$WORK/sums.json")"
		assert_same "capture $capture, off CPU" "$(totals "$capture" "kind = 'off-cpu'" | cut -d '|' -f 2)" \
			"$(jq -r '."off CPU".ns' "$WORK/sums.json")"
	done
}

# read_trace FILE: what tests/npm/perfetto.cjs reads
read_trace() {
	NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/perfetto.cjs" "$TREE/report/export/perfetto.proto" "$1"
}

@test "perfetto: each sample with its stack and its time, a slice for each interval, and counters" {
	needs_npm
	local capture
	for capture in 1 2 3 4 5; do
		export_to "$WORK/trace" perfetto "$capture"
		read_trace "$WORK/trace" > "$WORK/trace.json"
		assert_same "capture $capture" "$(totals "$capture" "kind = 'on-cpu'")|$(totals "$capture" "kind = 'off-cpu'")" \
			"$(jq -r '"\(.totals["on CPU"] | "\(.samples)|\(.ns)")|\(.slices)|\(.totals["off CPU"].ns)"' "$WORK/trace.json")"
		# the stacks are those of folded, which has the program before them, and marks functions of the kernel
		assert_same stacks "$(export_to /dev/stdout folded "$capture" | sed 's/^[^;]*;//; s/_\[k\]//g' |
			awk '{ count = $NF; sub(/ [0-9]+$/, ""); sums[$0] += count } END { for (stack in sums) print stack, sums[stack] }' | sort)" \
			"$(jq -r '.stacks["on CPU"] | to_entries[] | "\(.key) \(.value)"' "$WORK/trace.json" | sort)"
		# each reading of PSI but the last gives a share of the time until the next
		assert_same "capture $capture, PSI" "$(sql "SELECT count(some_us) + count(full_us) - count(DISTINCT scope || ' ' || resource)
			- count(DISTINCT iif(full_us IS NULL, NULL, scope || ' ' || resource)) FROM pressure WHERE capture_id = $capture")" \
			"$(jq '[.counters | to_entries[] | select(.key | startswith("PSI ")).value[]] | length' "$WORK/trace.json")"
		jq -e '[.counters | to_entries[] | select(.key | startswith("PSI ")).value[]] | all(. >= 0 and . <= 110)' "$WORK/trace.json" > "$WORK/shares"
		[ "$(jq '.moments | length' "$WORK/trace.json")" -eq "$(sql "SELECT 1 + count(*) FROM killed WHERE capture_id = $capture")" ]
	done
}

@test "perf-script: profiler-cli reads it, too, with the same totals" {
	needs_npm
	export_to "$WORK/profile.perf" perf-script 1
	load_profile "$WORK/profile.perf"
	assert_same perf-script "$(totals 1 "kind = 'on-cpu'" | cut -d '|' -f 1)|0" "$(< "$WORK/counts")"
	close_profile
}

@test "perf-script: one record for each sample, in the order of time" {
	local capture
	for capture in 1 2 3 4 5; do
		export_to "$WORK/profile.perf" perf-script "$capture"
		assert_same "capture $capture" "$(totals "$capture" "kind = 'on-cpu'")" \
			"$(awk '$NF == "cpu-clock:" { count++; sum += $(NF - 1) } END { printf "%d|%.0f\n", count, sum }' "$WORK/profile.perf")"
		grep -oE ' [0-9]+\.[0-9]{6}: ' "$WORK/profile.perf" | sort -c -n
		export_to "$WORK/waits.perf" perf-script "$capture" --kind offcpu
		assert_same "capture $capture, off CPU" "$(totals "$capture" "kind = 'off-cpu'" | cut -d '|' -f 1)" "$(grep -c ' offcpu-time:$' "$WORK/waits.perf")"
	done
}

@test "folded: flamegraph.pl draws it, and it is what 'bourdon folded' prints" {
	needs_command "$FLAMEGRAPH"
	local capture
	for capture in 1 2 3 4 5; do
		export_to "$WORK/folded" folded "$capture" --role target
		"$BUILD/bourdon" --db "$DB" folded "$capture" | diff - "$WORK/folded"
		export_to "$WORK/folded" folded "$capture" --kind offcpu --role target
		"$BUILD/bourdon" --db "$DB" folded "$capture" --off-cpu | diff - "$WORK/folded"
		export_to "$WORK/folded" folded "$capture"
		assert_same "capture $capture" "$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 1)" "$(awk '{ sum += $NF } END { print sum + 0 }' "$WORK/folded")"
	done
	export_to "$WORK/folded" folded 1
	perl "$FLAMEGRAPH" "$WORK/folded" > "$WORK/flame.svg" 2> "$WORK/said"
	[ ! -s "$WORK/said" ]
	grep -q "all ($(totals 1 "kind = 'on-cpu'" | cut -d '|' -f 1) samples, 100%)" "$WORK/flame.svg"
	grep -q 'burn_cpu (' "$WORK/flame.svg"
}

@test "--kind, --stall and --role choose the same samples in all formats" {
	needs_command go
	local capture kind stall role where expected
	for capture in 1 3 4; do
		for kind in on off; do
			for stall in '' cpu io memory none; do
				for role in '' target other kernel; do
					where="kind = '$kind-cpu' AND ('$role' = '' OR role = '$role')
						AND ('$stall' = '' OR instr('+' || stall || '+', '+$stall+'))"
					expected=$(totals "$capture" "$where")
					assert_same "$capture $kind $stall $role: csv" "$expected" "$(export_to /dev/stdout csv "$capture" \
						--kind "${kind}cpu" ${stall:+--stall "$stall"} ${role:+--role "$role"} |
						sqlite3 :memory: '.import --csv /dev/stdin row' 'SELECT ifnull(sum(samples), 0), ifnull(sum(weight_ns), 0) FROM row')"
				done
			done
		done
	done
	# one of them in the others
	expected=$(totals 3 "kind = 'off-cpu' AND stall = 'io' AND role = 'target'")
	[ "${expected%|*}" -gt 10 ]
	for format in firefox pprof speedscope json perf-script folded; do
		export_to "$WORK/$format" "$format" 3 --kind off-cpu --stall io --role target
	done
	assert_same firefox "${expected%|*}" "$(jq '[.threads[].markers.data[] | select(.[5].type == "OffCpu")] | length' "$WORK/firefox")"
	assert_same firefox 0 "$(jq '[.threads[].samples.data[]] | length' "$WORK/firefox")"
	assert_same json "$expected" "$(jq -r '.samples | "\(map(.samples) | add)|\(map(.weight_ns) | add)"' "$WORK/json")"
	assert_same speedscope "${expected#*|}" "$(jq '[.profiles[] | range(.samples | length) as $i | select(.samples[$i] != []) | .weights[$i]] | add' "$WORK/speedscope")"
	assert_same perf-script "${expected%|*}" "$(grep -c ' offcpu-time:$' "$WORK/perf-script")"
	assert_same pprof "${expected#*|}" "$(pprof_total offcpu "$WORK/pprof" -unit=ns)"
	# rounded down line by line
	[ "$(awk '{ sum += $NF } END { print sum }' "$WORK/folded")" -le $((${expected#*|} / 1000)) ]
	[ "$(awk '{ sum += $NF + 1 } END { print sum }' "$WORK/folded")" -gt $((${expected#*|} / 1000)) ]
}

@test "json: what refers to something finds it, and the rows are those of the database" {
	local capture
	for capture in 1 2 3 4 5; do
		export_to "$WORK/capture.json" json "$capture"
		jq -e '. as $all | all(.samples[]; $all.threads[.thread] and $all.stacks[.stack]) and all(.threads[]; $all.processes[.process])
			and all(.stacks[]; all(.frames[]; $all.frames[.])) and all(.frames[] | select(.); $all.modules[.module])' "$WORK/capture.json" > "$WORK/found"
		assert_same samples "$(sql "SELECT count(*), sum(samples), sum(weight_ns), sum(json_array_length(times)) FROM $SAMPLES WHERE capture_id = $capture")" \
			"$(jq -r '.samples | "\(length)|\(map(.samples) | add)|\(map(.weight_ns) | add)|\(map(.times // [] | length) | add)"' "$WORK/capture.json")"
		assert_same stacks "$(sql "SELECT f.function, sum(s.samples) FROM $SAMPLES s JOIN stack_frame sf ON sf.stack_id = s.stack_id JOIN frame f USING(frame_id)
			WHERE s.capture_id = $capture GROUP BY 1" | sort)" \
			"$(jq -r '. as $all | [.samples[] | .samples as $n | $all.stacks[.stack].frames[] | {function: $all.frames[.].function, $n}] |
				group_by(.function)[] | "\(.[0].function)|\(map(.n) | add)"' "$WORK/capture.json" | sort)"
		for rows in pressure:pressure killed:killed losses:loss machine_time:machine_time usage:usage thread_states:thread_state wakers:waker; do
			assert_same "$rows" "$(sql "SELECT count(*) FROM ${rows#*:} WHERE capture_id = $capture")" "$(jq ".${rows%:*} | length" "$WORK/capture.json")"
		done
		# the stacks of wakers and of states are among the stacks
		jq -e '(.stacks | map(.stack_id)) as $known | [.wakers[] | .stack_id, .waker_stack_id // empty] + [.thread_states[].stack_id // empty] | unique - $known == []' \
			"$WORK/capture.json" > "$WORK/found"
	done
}

# hostile_database: DB with a name of the corpus wherever another process or an attacker could put one, as raw bytes
hostile_database() {
	local i name sql='PRAGMA writable_schema = OFF;'
	cp "$DB" "$STATE_DIR/hostile.db"
	chown "$TEST_USER" "$STATE_DIR/hostile.db"
	DB=$STATE_DIR/hostile.db
	for i in "${!NAMES[@]}"; do
		name="CAST(x'$(printf %s "${NAMES[i]}" | od -An -v -tx1 | tr -d ' \n')' AS TEXT)"
		sql+="UPDATE process SET comm = $name, exe = '/' || $name, cgroup = '/' || $name, unit = $name WHERE process_id % ${#NAMES[@]} = $i;"
		sql+="UPDATE thread SET thread = $name || thread_id WHERE thread_id % ${#NAMES[@]} = $i;"
		sql+="UPDATE OR IGNORE module SET path = '/usr/' || $name || module_id, build_id = $name WHERE module_id % ${#NAMES[@]} = $i;"
		sql+="UPDATE frame_row SET function = $name || frame_id, file = $name WHERE frame_id % ${#NAMES[@]} = $i;"
		sql+="UPDATE killed SET comm = $name, by_comm = $name WHERE rowid % ${#NAMES[@]} = $i;"
		sql+="UPDATE pressure SET scope = $name WHERE scope <> 'system' AND capture_id % ${#NAMES[@]} = $i;"
		sql+="UPDATE capture SET rule = $name, verdict = $name, victim = $name, note = $name, cgroup = $name WHERE capture_id % ${#NAMES[@]} = $i;"
		sql+="UPDATE run SET hostname = $name, kernel = $name WHERE run_id % ${#NAMES[@]} = $i;"
	done
	sqlite3 "$DB" "$sql"
}

@test "hostile names: each format is plain text that its readers read, with all samples" {
	needs_command go "$FLAMEGRAPH" strings
	local capture format
	hostile_database
	for capture in 1 2 3 4; do
		for format in "${FORMATS[@]}"; do
			export_to "$WORK/hostile.$format" "$format" "$capture"
			# a frame of perf-script begins with a tab, a line of CSV ends with CR and LF
			[ "$format" = pprof ] || [ "$format" = perfetto ] || sed 's/^\t\( *[0-9a-f]\)/\1/; s/\r$//' "$WORK/hostile.$format" > "$WORK/text"
			assert_text "$WORK/text"
		done
		for format in firefox speedscope json; do
			jq -e . "$WORK/hostile.$format" > "$WORK/parsed"
		done
		assert_same csv "$(sql "SELECT count(*), sum(samples) FROM $SAMPLES WHERE capture_id = $capture")" \
			"$(sqlite3 :memory: ".import --csv $WORK/hostile.csv row" 'SELECT count(*), sum(samples) FROM row')"
		assert_same perf-script "$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 1)" "$(grep -c ' cpu-clock:$' "$WORK/hostile.perf-script")"
		# a line that is none of a record, of a frame or of the head would be a name's
		run ! grep -aEv \
			$'^(# .*|#|[^[:space:]].* +[0-9]+/[0-9]+ (\\[[0-9]+\\] )?[0-9]+\\.[0-9]{6}: +[0-9]+ cpu-clock:|\t *[0-9a-f]+ .+ \\([^()]*\\)|)$' "$WORK/hostile.perf-script"
		assert_same folded "$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 1)" "$(awk '{ sum += $NF } END { print sum }' "$WORK/hostile.folded")"
		perl "$FLAMEGRAPH" "$WORK/hostile.folded" > "$WORK/flame.svg" 2> "$WORK/said"
		[ ! -s "$WORK/said" ]
		assert_same pprof "$(totals "$capture" "kind = 'on-cpu'" | cut -d '|' -f 1)" "$(pprof_total samples "$WORK/hostile.pprof")"
		{ gzip -dc < "$WORK/hostile.pprof"; cat "$WORK/hostile.perfetto"; } | strings -n 1 | tr -d '\t' > "$WORK/strings"
		assert_text "$WORK/strings"
	done
}

@test "hostile names: the readers from npm find all samples" {
	needs_npm
	hostile_database
	for format in firefox pprof speedscope perf-script perfetto; do
		export_to "$WORK/hostile.$format" "$format" 1
	done
	NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/pprof.cjs" "$WORK/hostile.pprof" > "$WORK/pprof.json"
	assert_same pprof "$(totals 1 "kind = 'on-cpu'")" "$(jq -r '.totals | "\(."samples/count")|\(."cpu/nanoseconds")"' "$WORK/pprof.json")"
	NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/speedscope.cjs" "$WORK/hostile.speedscope" > "$WORK/sums.json"
	assert_same speedscope "$(totals 1 "kind = 'on-cpu'")" "$(jq -r '."on CPU" | "\(.count)|\(.ns)"' "$WORK/sums.json")"
	load_profile "$WORK/hostile.firefox"
	assert_same firefox "$(totals 1 "kind = 'on-cpu'" | cut -d '|' -f 1)|$(sql "SELECT 1 + sum(samples) FROM $SAMPLES WHERE capture_id = 1 AND kind = 'off-cpu'")" "$(< "$WORK/counts")"
	# each function stands in the list under the name that the database's would have on a terminal
	firefox_profiler thread functions --include-idle --limit 0 --json --thread "$(jq -r '.processes[] | select(.pid != "0").threads[0].threadHandle' "$WORK/info.json" | head -n 1)" > "$WORK/functions.json"
	[ "$(jq '.functions | length' "$WORK/functions.json")" -gt 2 ]
	close_profile
	load_profile "$WORK/hostile.perf-script"
	assert_same perf-script "$(totals 1 "kind = 'on-cpu'" | cut -d '|' -f 1)|0" "$(< "$WORK/counts")"
	close_profile
	read_trace "$WORK/hostile.perfetto" > "$WORK/trace.json"
	assert_same perfetto "$(totals 1 "kind = 'on-cpu'")" "$(jq -r '.totals["on CPU"] | "\(.samples)|\(.ns)"' "$WORK/trace.json")"
}

# has_reader PID: its child reads the database as the owner
has_reader() {
	[ "$(ps -o user= --ppid "$1")" = "$TEST_USER" ]
}

# export_as_root FILE: as root, into FILE; a hang is status 124
export_as_root() {
	run timeout 60 "$BUILD/bourdon" --db "$DB" export 1 --format csv -o "$1"
}

@test "-o as root: nothing that another user put there is opened, and no link is followed in their directories" {
	local disk place
	install -d -m 0755 -o "$TEST_USER" "$WORK/theirs"
	install -d -m 1777 "$WORK/all"
	truncate -s 1M "$WORK/image"
	disk=$(losetup --find --show "$WORK/image") || skip 'no loop device'
	export_to "$WORK/stdout" csv 1
	for place in theirs all; do
		ln -s "$disk" "$WORK/$place/disk"
		ln -s "$WORK/nowhere/new" "$WORK/$place/link"
		mkfifo "$WORK/$place/fifo"
		chown -h "$TEST_USER" "$WORK/$place"/*
	done
	mkdir "$WORK/below" "$WORK/theirs/below"
	ln -s "$WORK/below" "$WORK/theirs/elsewhere"
	for place in theirs all; do
		export_as_root "$WORK/$place/disk"
		[[ $status -eq 1 && $output == *'it is no regular file, and users other than root may change where it leads'* ]]
	done
	export_as_root "$WORK/theirs/fifo"
	[ "$status" -eq 1 ]
	export_as_root "$WORK/theirs/elsewhere/new"
	[[ $status -eq 1 && $output == *"users other than root may change the directory '$WORK/theirs', and root follows no link there"* ]]
	# a new file, as in the directory of whoever became root
	export_as_root "$WORK/theirs/below/new"
	cmp "$WORK/theirs/below/new" "$WORK/stdout"
	export_as_root "$WORK/theirs/link"
	[ ! -L "$WORK/theirs/link" ] && cmp "$WORK/theirs/link" "$WORK/stdout"
	export_as_root "$WORK/all/fifo"
	[ "$status" -eq 1 ]
	# the disk itself, by root's own name for it
	export_as_root "$disk"
	[[ $status -eq 1 && $output == *'it is a disk'* ]]
	cmp -n $((1 << 20)) "$disk" /dev/zero
	losetup --detach "$disk"
	[ "$(ls "$WORK/theirs")" = $'below\ndisk\nelsewhere\nfifo\nlink' ]
	[ -z "$(ls "$WORK/below")" ]
	# what is wanted: a file where all may write, root's own link, and standard output by each of its names
	export_as_root "$WORK/all/new"
	cmp "$WORK/all/new" "$WORK/stdout"
	ln -s new "$WORK/own"
	export_as_root "$WORK/own"
	[ ! -L "$WORK/own" ] && cmp "$WORK/own" "$WORK/stdout"
	"$BUILD/bourdon" --db "$DB" export 1 --format csv -o - | cmp - "$WORK/stdout"
	"$BUILD/bourdon" --db "$DB" export 1 --format csv -o /dev/stdout | cmp - "$WORK/stdout"
	"$BUILD/bourdon" --db "$DB" export 1 --format csv -o >(cat > "$WORK/piped") && wait $!
	cmp "$WORK/piped" "$WORK/stdout"
}

@test "-o: a whole file or none, where root may write, although the database's owner reads it" {
	local before held writer
	install -d -m 0700 "$WORK/out"
	"$BUILD/bourdon" --db "$DB" export 1 --format firefox -o "$WORK/out/1.json"
	export_to "$WORK/stdout" firefox 1
	cmp "$WORK/out/1.json" "$WORK/stdout"
	[ "$(stat -c '%U %a' "$WORK/out/1.json")" = 'root 600' ]
	# in place of what is there
	"$BUILD/bourdon" --db "$DB" export 2 --format csv -o "$WORK/out/1.json"
	export_to "$WORK/stdout" csv 2
	cmp "$WORK/out/1.json" "$WORK/stdout"
	# nothing is left of one that fails, or that a signal ends
	run "$BUILD/bourdon" --db "$DB" export 99 --format csv -o "$WORK/out/99.csv"
	[ "$status" -eq 1 ]
	mkfifo "$WORK/out/held"
	exec {held}<> "$WORK/out/held"
	"$BUILD/bourdon" --db "$DB" export 1 --format firefox -o "$WORK/out/held" 2> "$WORK/ended" &
	writer=$!
	CHILDREN+=("$writer")
	await 20 has_reader "$writer"
	kill -TERM "$writer"
	wait "$writer" || true
	exec {held}<&-
	grep -q "'$WORK/out/held' was not written: signal 15" "$WORK/ended"
	[ "$(ls "$WORK/out")" = $'1.json\nheld' ]
	# somebody else writes with their own rights
	run setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$BUILD/bourdon" --db "$DB" export 1 --format csv -o "$WORK/out/1.csv"
	[ "$status" -eq 1 ]
	[[ $output == *"cannot write '$WORK/out/1.csv': Permission denied"* ]]
	# a full disk
	mkdir "$WORK/disk"
	mount -t tmpfs -o size=16k tmpfs "$WORK/disk"
	echo before > "$WORK/disk/1.json"
	run "$BUILD/bourdon" --db "$DB" export 1 --format firefox -o "$WORK/disk/1.json"
	before=$(cat "$WORK/disk/1.json"; ls "$WORK/disk")
	umount "$WORK/disk"
	[ "$status" -eq 1 ]
	[[ $output == *'No space left on device; make room'* ]]
	[ "$before" = $'before\n1.json' ]
	# and standard output that is full
	run export_to /dev/full firefox 1
	[ "$status" -eq 1 ]
	[[ $output == *'cannot write the report: No space left on device'* ]]
}
