#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of `bourdon report` in a browser: Debian's chromium, which playwright-core drives (tests/npm/page.cjs), opens it from
# a file. It asks the network for nothing, its policy is in force, its numbers are SQL's, keys reach all of it, and names stay
# names. No daemon runs: the captures are those of tests/example.db, and made ones.

# bats file_tags=no-load

source "$BATS_TEST_DIRNAME/lib.bash"

# what_lacks: prints what this machine lacks for these tests
what_lacks() {
	if ! [ -e "$BUILD/npm/installed" ]; then
		cat "$BUILD/npm/missing" 2> /dev/null || echo 'npm: playwright-core is not installed: make npm'
	elif ! command -v chromium > /dev/null; then
		echo 'chromium is not installed'
	fi
}

# One browser for all tests: it takes a second of CPU time to start.
setup_file() {
	export NODE_PATH=$BUILD/npm/node_modules BROWSER=
	[ -z "$(what_lacks)" ] || return 0
	node "$TREE/tests/npm/page.cjs" serve "$BATS_FILE_TMPDIR/browser" > /dev/null 3>&- &
	echo $! > "$BATS_FILE_TMPDIR/server"
	await 60 test -e "$BATS_FILE_TMPDIR/browser"
	BROWSER=$(< "$BATS_FILE_TMPDIR/browser")
}

teardown_file() {
	[ -z "$BROWSER" ] || { kill "$(< "$BATS_FILE_TMPDIR/server")" && await 60 gone "$(< "$BATS_FILE_TMPDIR/server")"; }
}

gone() {
	! kill -0 "$1" 2> /dev/null
}

setup() {
	local lacks
	bourdon_setup page
	COPY=$WORK/copy.db
	cp "$TREE/tests/example.db" "$WORK/example.db"
	# of this schema; and looks at threads by second, which the example does not have
	"$BUILD/bourdon" db merge "$COPY" "$WORK/example.db"
	copy_sql "INSERT OR REPLACE INTO thread_look VALUES(1, 0, 10, 40);
		INSERT INTO thread_state(capture_id, process_id, tid, thread, state, second, seconds, samples)
			SELECT 1, process_id, tid, thread, 'queued', 0, 1, 7 FROM thread LIMIT 3"
	lacks=$(what_lacks)
	[ -z "$lacks" ] || skip "$lacks"
}

teardown() {
	bourdon_teardown
}

# copy_sql STATEMENT: from the copy
copy_sql() {
	sqlite3 "$COPY" "$1"
}

# report WORD...: writes $WORK/page.html, from the copy
report() {
	"$BUILD/bourdon" --db "$COPY" report "$@" -o "$WORK/page.html"
}

# browse WHAT [ARGUMENT...]: what tests/npm/page.cjs prints of the page, in $output; and nothing that is unwanted
browse() {
	run node "$TREE/tests/npm/page.cjs" "$1" "${PAGE-$WORK/page.html}" "${@:2}"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *unwanted* ]]
}

# sums CAPTURE FROM_MS TO_MS: the same line as page.cjs prints, by SQL alone. On CPU a sample counts if it lies in the span. Waiting
# is spread over the intervals within each row's second, and what does not fit into these over the ms of that second in which no
# interval of the thread is known.
sums() {
	copy_sql "
	WITH span(first, last) AS (VALUES($2, $3)),
	sampled AS (
		SELECT 'target' AS role, kind, stall, stack_id, process_id, tid, thread, second, samples, weight_ns, times FROM sample WHERE capture_id = $1
		UNION ALL
		SELECT role, kind, stall, stack_id, process_id, tid, thread, second, samples, weight_ns, times FROM other_sample WHERE capture_id = $1
	),
	event AS (
		SELECT s.*, 1000 * second + (j.value ->> 0) AS at, 1000 * second + (j.value ->> 1) AS until FROM sampled s, json_each(s.times) j
	),
	piece AS ( -- of an interval, in one second
		SELECT r.stack_id, r.tid, r.process_id, r.thread, r.stall, r.second, r.weight_ns,
			max(e.at, 1000 * r.second) AS first, min(max(e.until, e.at + 1), 1000 * r.second + 1000) AS last
		FROM sampled r JOIN event e ON e.kind = 'off-cpu' AND (e.stack_id, e.process_id, e.tid, e.thread, e.stall) = (r.stack_id, r.process_id, r.tid, r.thread, r.stall)
			AND e.at < 1000 * r.second + 1000 AND max(e.until, e.at + 1) > 1000 * r.second
		WHERE r.kind = 'off-cpu'
	),
	fitting AS ( -- rows, with what fits into their pieces; times are cut to ms
		SELECT *, iif(weight_ns <= 1000000 * (ms + pieces), weight_ns, 1000000 * ms) AS fit_ns FROM (
			SELECT r.stack_id, r.process_id, r.tid, r.thread, r.stall, r.second, r.weight_ns, ifnull(sum(p.last - p.first), 0) AS ms,
				count(p.second) AS pieces
			FROM sampled r LEFT JOIN piece p ON (p.stack_id, p.process_id, p.tid, p.thread, p.stall, p.second)
				= (r.stack_id, r.process_id, r.tid, r.thread, r.stall, r.second)
			WHERE r.kind = 'off-cpu' GROUP BY r.stack_id, r.process_id, r.tid, r.thread, r.stall, r.second)
	),
	ms(at) AS (VALUES(0) UNION ALL SELECT at + 1 FROM ms WHERE at < 999),
	waited AS (
		SELECT f.stall, f.fit_ns * 1.0 * max(0, min(p.last, s.last) - max(p.first, s.first)) / f.ms AS ns
		FROM fitting f JOIN piece p ON (p.stack_id, p.process_id, p.tid, p.thread, p.stall, p.second)
			= (f.stack_id, f.process_id, f.tid, f.thread, f.stall, f.second), span s
		UNION ALL
		SELECT f.stall, (f.weight_ns - f.fit_ns) * 1.0 * sum(1000 * f.second + at >= s.first AND 1000 * f.second + at < s.last) / count(*)
		FROM fitting f, ms, span s WHERE f.weight_ns > f.fit_ns AND NOT EXISTS (
			SELECT 1 FROM piece p WHERE (p.process_id, p.tid, p.thread, p.second) = (f.process_id, f.tid, f.thread, f.second)
				AND p.first <= 1000 * f.second + at AND p.last > 1000 * f.second + at)
		GROUP BY f.stack_id, f.process_id, f.tid, f.thread, f.stall, f.second
	)
	SELECT printf('span=%d|targets on CPU=%d|others on CPU=%d|targets waited=%.0f|stalled on %s=%.0f|intervals ended=%d',
		(last - first) * 1000000,
		(SELECT count(*) FROM event WHERE kind = 'on-cpu' AND role = 'target' AND at >= first AND at < last),
		(SELECT count(*) FROM event WHERE kind = 'on-cpu' AND role <> 'target' AND at >= first AND at < last),
		(SELECT ifnull(sum(ns), 0) FROM waited),
		replace(replace(resource, 'io', 'I/O'), 'cpu', 'CPU'),
		(SELECT ifnull(sum(ns), 0) FROM waited WHERE instr('+' || stall || '+', '+' || resource || '+'))
			+ (SELECT count(*) * (1000000000 / hz) FROM event WHERE kind = 'on-cpu' AND role = 'target' AND at >= first AND at < last
				AND instr('+' || stall || '+', '+' || resource || '+')),
		(SELECT count(*) FROM event WHERE kind = 'off-cpu' AND min(until, end_ms - 1) >= first AND min(until, end_ms - 1) < last))
	FROM span, (SELECT *, (ended_at - triggered_at) / 1000000 AS end_ms FROM capture) WHERE capture_id = $1"
}

@test "the page asks for nothing, and its policy allows nothing but its own script and style" {
	local capture
	for capture in 1 2 3 4 5; do
		report "$capture"
		browse policy
		[[ $output == *'violations before 0, ran false'* ]]
		[[ $output == *'then script-src-elem style-src-attr'* ]]
	done
}

@test "every choice of every control draws without an error" {
	report 4 --against 1
	browse controls
	[[ $output == *done ]]
}

@test "sums of the whole capture, and of spans, are SQL's" {
	local capture span spans expected i
	spans=('-1 1' '0 1' '-1 0' '-0.48 0.36' '0.2 0.22' '0.96 1')
	for capture in 1 3 4; do
		report "$capture"
		browse spans "${spans[@]}"
		for i in "${!spans[@]}"; do
			# shellcheck disable=SC2046 # two numbers
			expected=$(sums "$capture" $(jq -n "(${spans[i]/ /,}) * 1000"))
			[[ ${lines[2 * i + 1]} == "$expected" ]] || { echo "not $expected"; return 1; }
		done
	done
	# whole seconds have what the rows say, however it is spread
	[[ $(sums 1 0 1000) == *"targets waited=$(copy_sql "SELECT sum(weight_ns) FROM sample WHERE capture_id = 1 AND kind = 'off-cpu' AND second = 0")|"* ]]
}

@test "dragging over the timeline selects a span of steps of 20 ms, and all numbers and pictures are about it" {
	local from to
	report 1
	browse drag 0.25 0.6
	IFS='|' read -r from to <<< "${lines[0]}"
	[ "$from" = -0.50 ]
	[ "$to" = 0.20 ]
	[ "${lines[1]}" = "$(sums 1 -500 200)" ]
	browse changes
	[ "$(grep -c changed <<< "$output")" -eq 11 ]
	[[ $output != *same* ]]
}

@test "functions have the shares of view hot_function" {
	report 1
	browse functions
	copy_sql "SELECT function, printf('%.1f', percent), printf('%.1f', total_percent), samples FROM hot_function WHERE capture_id = 1 LIMIT 12" > "$WORK/expected"
	[ "$(wc -l < "$WORK/expected")" -eq 12 ]
	while IFS='|' read -r function self total samples; do
		grep -qE "^$(sed 's/[][\\.*^$+?(){}|/]/\\&/g' <<< "$function") .*\|$self %\|$total %\|$samples$" <<< "$output" || { echo "not $function $self $total $samples"; return 1; }
	done < "$WORK/expected"
}

@test "latencies have the percentiles of view latency_percentile, and histograms say where most of them is" {
	report 1
	browse latencies
	[ "$output" = 'shown false' ]
	copy_sql "INSERT INTO histogram_label VALUES(1, 'block', 'vda write db.service'), (2, 'lock', 'mutex ext4_file_write_iter');
		INSERT INTO histogram_row VALUES(1, 1, 'before', 146, 990, 1300000000), (1, 1, 'before', 160, 15, 60000000),
			(1, 1, 'during', 146, 300, 400000000), (1, 1, 'during', 192, 350, 24500000000), (1, 2, 'during', 150, 7, 30000000);
		INSERT INTO latency_measured SELECT 1, column1, column2, began_at, ended_at, ended_at - began_at, column3, 0, 0, 0 FROM capture,
			(VALUES('block', 'before', 1005), ('block', 'during', 650), ('lock', 'during', 7)) WHERE capture_id = 1"
	report 1
	browse latencies
	copy_sql "SELECT label || '|' || count || '|' || p50_ns || '|' || p90_ns || '|' || p99_ns || '|' || ifnull((SELECT p99_ns FROM
			latency_percentile b WHERE b.capture_id = 1 AND b.label = d.label AND b.span = 'before'), '–') || '|' || p999_ns || '|' || max_ns || '|'
		FROM latency_percentile d WHERE capture_id = 1 AND span = 'during' ORDER BY metric" |
		jq -rR 'def scaled: if . == "–" then . else tonumber / 1e6 | (if . < 10 then . * 100 | round / 100 elif . < 100 then . * 10 | round / 10 else round end | tostring) + " ms" end;
			split("|") | [.[0], .[1], (.[2:8][] | scaled), ""] | join("|")' > "$WORK/expected"
	[ "$(head -n 2 <<< "$output")" = "$(< "$WORK/expected")" ] || { cat "$WORK/expected"; false; }
	[ "${lines[2]}" = 'during: most in 67.1 ms to 134 ms; before: most in 1.05 ms to 2.1 ms' ]
	[[ ${lines[3]} == *'; before: nothing' ]]
	[ "${lines[4]}" = 'shown true' ]
}

@test "a search says the share of what it finds, each sample once" {
	local share
	report 1
	share=$(copy_sql "SELECT printf('%.1f', 100.0 * sum(samples) FILTER (WHERE EXISTS (SELECT 1 FROM stack_frame f JOIN frame USING(frame_id)
		WHERE f.stack_id = s.stack_id AND function LIKE '%hostile%')) / sum(samples)) FROM sample s WHERE capture_id = 1 AND kind = 'on-cpu'")
	browse search hostile HOSTILE '/^hostile_(leaf|15)$/' no-such-function '/(/'
	[[ ${lines[0]} == "$share % in "* ]]
	[ "${lines[1]}" = "${lines[0]}" ]
	[[ ${lines[2]} == "$share % in "* ]]
	[ "${lines[3]}" = '0.0 % in 0 frames' ]
	[ "${lines[4]}" = 'no regular expression' ]
}

@test "keys alone select a span, walk through the frames, zoom and search" {
	report 1
	browse keys
	[[ $output == *'focus timeline'* ]]
	[[ $output == *'after: 0.00 1.00'* ]]
	[[ $output == *'shorter: 0.00 0.98'* ]]
	[[ $output == *'moved: -0.02 0.96'* ]]
	[[ $output == *'all: -1.00 1.00'* ]]
	[[ $output == *'focus flame'* ]]
	[[ $output =~ inwards:\ .*,\ program ]]
	[[ $output == *$'zoom true\nzoom false\nfocus search'* ]]
	[[ $output =~ match:\ [^$'\n']*spin ]]
}

@test "a click zooms into the frame that is told, and a button resets it" {
	report 1
	browse zoom
	[[ ${lines[0]} == *' samples, '*' user'* || ${lines[0]} == *' samples, '*' kernel'* ]]
	[ "${lines[1]}" = 'zoom true' ]
	[ "${lines[2]}" = 'zoom false' ]
}

@test "after the trigger is compared with before it, and a capture with another one" {
	local function before after
	report 1 --against 2
	browse compare before
	[[ ${lines[0]} == 'Rates: after the trigger over 1 s, before it over 1 s.'* ]]
	[[ ${lines[1]} == 'Function|Kind|after the trigger|before it|Change|'* ]]
	IFS='|' read -r function _ after before _ <<< "${lines[2]}"
	# it spans one second on either side, so rates are samples
	function=${function%% *}
	[ "${after%/s} ${before%/s}" = "$(copy_sql "SELECT printf('%s %s', after, before) FROM (
		SELECT iif(after < 9.95, printf('%.1f', after), printf('%.0f', after)) AS after, iif(before < 9.95, printf('%.1f', before), printf('%.0f', before)) AS before
		FROM (SELECT 1.0 * ifnull(sum(samples) FILTER (WHERE second >= 0), 0) AS after, 1.0 * ifnull(sum(samples) FILTER (WHERE second < 0), 0) AS before
			FROM sample s JOIN stack_frame sf USING(stack_id) JOIN frame f USING(frame_id)
			WHERE capture_id = 1 AND kind = 'on-cpu' AND position = 0 AND substr(function, 1, length('$function')) = '$function'))")" ]
	browse compare against
	[[ ${lines[0]} == 'Rates: in this capture over 2 s, in capture 2 over 2 s.'* ]]
	grep -qE '^\[vdso\].*\|0\.0/s\|([0-9.]+/s)\|−\1\|' <<< "$output" # of lock_hog, in capture 2 alone
}

@test "axe-core finds nothing: light and dark, wide and at 400 px, where nothing is too wide" {
	local capture
	for capture in 2 4; do
		report "$capture" --against 1
		browse axe
		[ "$(grep -c ': 0 found, many rules passed, fits$' <<< "$output")" -eq 4 ]
	done
}

@test "no lane of the timeline has more threads than there are, also where most of the waiting has no time" {
	local name most
	# nine threads that wait nearly always: of each second one interval of 1 ms is told; and history that only waiting has
	copy_sql "UPDATE capture SET offcpu_history_ns = 5000000000 WHERE capture_id = 1;
		INSERT OR IGNORE INTO sample_class(kind, stall, role) VALUES('off-cpu', 'io', 'target');
		WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 8)
			INSERT INTO thread SELECT 900000 + i, (SELECT min(process_id) FROM process), 5000 + i, 'waits-' || i FROM n;
		WITH RECURSIVE n(i) AS (VALUES(-5) UNION ALL SELECT i + 1 FROM n WHERE i < 0)
			INSERT INTO sample_row SELECT 1, (SELECT min(stack_id) FROM sample_row WHERE capture_id = 1), thread_id,
				(SELECT class FROM sample_class WHERE (kind, stall, role) = ('off-cpu', 'io', 'target')), n.i, 1, 990000000, '500,501,0'
			FROM n, thread WHERE thread_id >= 900000"
	report 1
	browse lanes
	[[ $output == *'waiting for I/O: ≤ 8.9 threads'* ]]
	while IFS=: read -r name most; do
		[[ $most != *threads ]] || jq -ne "$(tr -dc '0-9.' <<< "$most") <= $(copy_sql "SELECT count(DISTINCT tid) FROM sample
			WHERE capture_id = 1 AND kind = 'off-cpu'")" > /dev/null
	done <<< "$output"
	# and all of it is there
	browse spans '-5 1' '-0.48 0.52'
	[ "${lines[1]}" = "$(sums 1 -5000 1000)" ] || { sums 1 -5000 1000; return 1; }
	[ "${lines[3]}" = "$(sums 1 -480 520)" ] || { sums 1 -480 520; return 1; }
}

# make_hostile: every name in the copy is one of these, most of which are those of tests/e2e/hostile.bats
make_hostile() {
	local column table row
	copy_sql "CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT);
		INSERT INTO names VALUES(0, '<script>alert(1)</script>&amp;'), (1, '</script><img src=x onerror=alert(1)>'), (2, char(27) || ']0;owned' || char(7)),
			(3, '''\"\`\$(id)\`\"'''), (4, 'a' || char(10) || 'b;c 7'), (5, char(8238) || 'gpj.exe'), (6, CAST(x'ffc08080' AS TEXT)),
			(7, '\u003cscript\u003e'), (8, '<!--<script>'), (9, '\${alert(1)}'), (10, '__proto__'), (11, 'constructor')"
	for column in frame_row.function frame_row.file module.path process.comm process.cgroup process.unit process.exe thread.thread capture.rule \
		capture.verdict capture.victim capture.cgroup rule.rule rule.source run.hostname run.kernel statistic.name statistic.scope machine_time.part \
		pressure.scope loss.reason histogram_label.label; do
		table=${column%.*}
		case $table in
			machine_time | loss) row=capture_id ;; # they have no row ids
			*) row=$table.rowid ;;
		esac
		copy_sql "UPDATE OR IGNORE $table SET ${column#*.} = (SELECT name FROM names WHERE id = $row % 12) WHERE ${column#*.} IS NOT NULL"
	done
	copy_sql 'DROP TABLE names'
}

@test "hostile names are text: no element, no script, no dialog" {
	local own capture
	copy_sql "INSERT INTO histogram_label SELECT value, 'block', value FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]');
		INSERT INTO histogram_row SELECT 1, label_id, 'during', 99, 3, 33000 FROM histogram_label"
	report 1 --against 2
	browse elements
	own=${lines[0]}
	make_hostile
	[ "$(copy_sql "SELECT count(*) FROM (SELECT DISTINCT function FROM frame WHERE function LIKE '%script>%')")" -ge 2 ]
	[ "$(copy_sql 'SELECT count(DISTINCT function) FROM frame')" -le 12 ]
	for capture in 1 2 3 4; do
		report "$capture" --against 1
		browse hostile
		# the same kinds of elements, or fewer
		[ -z "$(comm -13 <(tr ' ' '\n' <<< "$own") <(tr ' ' '\n' <<< "${lines[0]}"))" ]
		[ "${lines[1]}" -eq 1 ]
		[ "${lines[2]}" = true ]
		[[ ${lines[3]} == *frame* ]]
		[[ $output == *done ]]
	done
}

# make_large: a capture 6 of 10,000 rows: 2,500 stacks of 24 frames, 40 threads, 12 s
make_large() {
	copy_sql "
	BEGIN;
	INSERT INTO capture(capture_id, run_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns)
		SELECT 6, run_id, 'large', 'cpu', 'some', 100000, 1000000, 'kernel', 1790000000000000000, 1789999996000000000, 1790000008000000000, 4000000000, 'complete', 500000, 47, 4000000000 FROM run LIMIT 1;
	INSERT INTO module(module_id, path, version, kind) VALUES(900000, '/usr/bin/large', 'large', 'file');
	WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 5999)
	INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset) SELECT 900000 + i, 900000, i, 'large::function_' || i, 0 FROM n;
	WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 2499), d(k) AS (VALUES(0) UNION ALL SELECT k + 1 FROM d WHERE k < 23)
	INSERT INTO stack_node(node_id, frames, class, depth, hash)
		SELECT 900000 + i, (SELECT '[' || group_concat(900000 + 250 * k + (i * (k + 3)) % (1 + 10 * k), ',') || ']' FROM d), 1, 24, randomblob(16) FROM n;
	WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 39)
	INSERT INTO thread SELECT 900000 + i, (SELECT min(process_id) FROM process), 5000 + i, 'large-' || i FROM n;
	WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
	INSERT INTO sample_row SELECT 6, 900000 + i / 4, 900000 + i % 40,
			(SELECT class FROM sample_class WHERE (kind, stall, role) = (iif(i % 3, 'on-cpu', 'off-cpu'), iif(i % 3, 'none', 'cpu'), 'target')),
			i % 12 - 4, 4, iif(i % 3, NULL, 80000000),
			iif(i % 3, printf('%d,0],[%d,1],[%d,2],[%d,3', i % 900, i % 900 + 21, i % 900 + 42, i % 900 + 63),
				printf('%d,%d,0],[%d,%d,1],[%d,%d,0],[%d,%d,1', i % 800, i % 800 + 20, i % 800 + 40, i % 800 + 60, i % 800 + 80, i % 800 + 100, i % 800 + 120, i % 800 + 140))
		FROM n;
	COMMIT"
}

# bats test_tags=alone
@test "a capture of 10,000 rows opens within a second of CPU time, and reacts within 50 ms of it" {
	local what percent
	make_large
	[ "$(copy_sql 'SELECT count(*) FROM sample_row WHERE capture_id = 6')" -eq 10000 ]
	report 6
	browse whole
	[ "$output" = "$(sums 6 -4000 8000)" ]
	browse times
	# a percent is a millisecond of a fast machine
	while read -r what percent _; do
		case $what in
			opened) [ "$percent" -lt 1000 ] ;;
			*) [ "$percent" -lt 50 ] ;;
		esac
	done <<< "$output"
	[ "${#lines[@]}" -eq 4 ]
}

@test "samples without times stand evenly in their seconds" {
	copy_sql 'UPDATE sample_row SET times = NULL'
	report 1
	browse whole
	[[ $output == *"targets on CPU=$(copy_sql "SELECT sum(samples) FROM sample WHERE capture_id = 1 AND kind = 'on-cpu'")|"* ]]
	[[ $output == *"targets waited=$(copy_sql "SELECT sum(weight_ns) FROM sample WHERE capture_id = 1 AND kind = 'off-cpu'")|"* ]]
	browse controls
}

@test "a flame graph opens in the browser as well, and asks for nothing" {
	"$BUILD/bourdon" --db "$COPY" flame 1 > "$WORK/page.svg"
	PAGE=$WORK/page.svg browse picture
	[ "${lines[0]}" = page.svg ]
	[ "${lines[1]}" = svg ]
	[ "${lines[2]}" -gt 40 ]
	[ "${#lines[@]}" -eq 3 ]
}
