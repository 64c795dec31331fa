#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile names of processes, threads, programs, cgroups, functions, JIT code, build ids and rules: they
# contain sequences that a terminal, a shell, SQL, JSON or a browser would interpret. One capture contains
# them all; each test checks that one output shows them as plain text.

bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/hostile_names.bash"

COUNT=${#NAMES[@]}
RULE=$'<b>\'"`;%s=\xc2\x9b\xff 7'
BUILD_ID=$'\e]0;x\a<script>\'"\n\xff\xc2\x9b' # set by mk/tests.mk
JITS=(0 2 6 8 9 15)
MISTAKES=$'[rule x]\ncomm = y\ncpu.some = \xff\xe2\x80\xae%n\nnonsense \x9b31m = 1\n[rule \e]0;x\a]\n'

# undo: reverses the escapes, as docs/SCHEMA.md describes
undo() {
	perl -pe 's/\\x([01][0-9a-f]|7f|5c|[89a-f][0-9a-f])/chr hex $1/ge'
}

# assert_name SQL BYTES: the result is plain text, and gives BYTES when its escapes are reversed.
assert_name() {
	sql "$1" > "$WORK/name"
	assert_text "$WORK/name"
	[ "$(undo < "$WORK/name"; echo .)" = "$2"$'\n.' ] || {
		echo "$1: $(od -c "$WORK/name")"
		od -c <<< "$2"
		return 1
	}
}

# file_name NAME: prints the name without slashes, at most 255 bytes.
file_name() {
	local name=${1//\//|}
	printf '%s' "${name:0:255}"
}

# make_program PATH: makes a program whose functions have these names
make_program() {
	local i
	cp "$BUILD/workloads/hostile" "$1"
	for ((i = 0; i < COUNT; i++)); do
		OLD=$(printf 'hostile_%02d' "$i") NEW=${NAMES[i]} perl -0777 -pi -e '
			s/(\Q$ENV{OLD}\E_{256})\0/$ENV{NEW} . "\0" x (1 + length($1) - length $ENV{NEW})/ge' "$1"
	done
}

# start_hostile NUMBER: starts a process whose file, cgroup and thread have the name; odd numbers rename
# themselves, too
start_hostile() {
	local name path comm=() cgroup
	name=$(file_name "${NAMES[$1]}")
	path=$WORK/bin/$name
	cgroup=${name//$'\n'/|}
	make_program "$path"
	mkdir "$CGROUP2/$CGROUP/$cgroup"
	(($1 % 2)) && comm=(--comm "${NAMES[$1]}")
	CGROUP=$CGROUP/$cgroup start_command "$path" --seconds 3600 "${comm[@]}" -- "${NAMES[$1]}"
	echo "$CHILD" > "$WORK/pid.$1"
	kill -STOP "$CHILD" # resumed when all of them have started
}

# show NAME COMMAND...: keeps the output of the command to a file and to a terminal
show() {
	"${@:2}" > "$WORK/out/$1" 2>&1 || true
	script -qec "$(printf '%q ' "${@:2}")" /dev/null > "$WORK/pty/$1" < /dev/null || true
}

show_all() {
	local command
	for command in list show top folded doctor; do
		show "$command" "$BUILD/bourdon" --db "$DB" "$command"
	done
	# in colour on a terminal alone
	show why "$BUILD/bourdon" --db "$DB" why --full --no-color
	show brief "$BUILD/bourdon" --db "$DB" why --no-color
	show diff "$BUILD/bourdon" --db "$DB" diff 1 1 --all
	"$BUILD/bourdon" --db "$DB" --json diff 1 1 > "$WORK/json/diff" || true
	for command in list show why top doctor; do
		"$BUILD/bourdon" --db "$DB" --json "$command" > "$WORK/json/$command" || true
	done
	for command in firefox pprof perf-script speedscope perfetto folded csv json; do
		"$BUILD/bourdon" --db "$DB" export --format "$command" > "$WORK/export/$command"
	done
}

# write_rule TRIGGER: the rule with the hostile name, in a file with a hostile name
write_rule() {
	printf '%s\n' "[rule $RULE]" 'comm = *' "cgroup = /$CGROUP*" "$1" 'watch = system' 'history = 1s' \
		"capture = $((8 * PATIENCE))s" 'cooldown = 1h' > "$WORK/rule.new"
	mv "$WORK/rule.new" "$RULES_DIR/"$'\e]0;rule\a;%s.conf'
}

take_capture() {
	local i
	load --hz 499
	for ((i = 0; i < COUNT; i++)); do
		start_hostile "$i"
	done
	# a program without symbols, for symbolize
	make_program "$WORK/debug/whole"
	cp "$BUILD/workloads/hostile_stripped" "$WORK/bin/"$'stripped\e[7m\xff'
	start_command "$WORK/bin/"$'stripped\e[7m\xff' --seconds 3600
	kill -STOP "$CHILD"
	for i in "${JITS[@]}"; do
		start jit --seconds 3600
		echo "$CHILD" > "$WORK/jit.$i"
		NEW=${NAMES[i]} perl -pi -e 's/Jit::spin/$ENV{NEW}/' "/tmp/perf-$CHILD.map"
		kill -STOP "$CHILD"
	done
	write_rule 'io.full = 100%'
	daemon_start
	await_tables "${CHILDREN[@]}" # without tables the caller of the leaf is missing
	kill -CONT "${CHILDREN[@]}"
	# started after the processes: other programs may cause that much pressure before
	write_rule 'cpu.some = 10%'
	await_log 30 'rule .* fired'
	show status "$BUILD/bourdon" --db "$DB" status
	status_json > "$WORK/json/status"
	# mistakes with hostile text in a file with a hostile name
	printf '%s' "$MISTAKES" > "$RULES_DIR/"$'\e[31mbad\xff.conf'
	await_status 20 '.daemon[0].reload_mistake != ""'
	show mistake "$BUILD/bourdon" --db "$DB" status
	status_json > "$WORK/json/mistake"
	rm "$RULES_DIR/"$'\e[31mbad\xff.conf'
	await_log 60 'captured [0-9]+ stacks of rule'
	children_end # frees the CPUs for naming and the reports
	show_all
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	show last "$BUILD/bourdon" --db "$DB" status
	sql "VACUUM INTO '$WORK/copy.db'"
	show symbolize "$BUILD/bourdon" --db "$WORK/copy.db" symbolize --debug-dir "$WORK/debug"
}

setup_file() {
	bourdon_setup hostile
	export WORK DB CGROUP RULES_DIR
	install -d -m 0755 "$WORK"/{bin,debug,out,pty,json,export}
	cgroup_make
	take_capture
}

teardown_file() {
	local file maps=()
	for file in "$WORK"/jit.*; do
		[[ ! -e $file ]] || maps+=("/tmp/perf-$(< "$file").map")
	done
	bourdon_teardown
	rm -f "${maps[@]}"
}

# ---- in the database ----

# all_text DATABASE: prints every text in the database
all_text() {
	local query
	query=$(sql "SELECT group_concat('SELECT \"' || p.name || '\" FROM \"' || t.name || '\"', ' UNION ')
		FROM sqlite_schema t JOIN pragma_table_info(t.name) p WHERE t.type = 'table' AND p.type = 'TEXT'" "$1")
	sql "$query" "$1"
}

@test "database: every text is plain text, and no name was executed" {
	all_text "$DB" > "$WORK/all"
	[ "$(wc -l < "$WORK/all")" -gt 100 ]
	assert_text "$WORK/all"
	[ "$(sql 'PRAGMA integrity_check')" = ok ]
	[ "$(sql 'SELECT state, (SELECT sum(samples) > 1000 FROM sample) FROM capture')" = 'complete|1' ]
}

@test "database: comms of processes, by exec and by renaming" {
	local i name
	for ((i = 0; i < COUNT; i++)); do
		name=${NAMES[i]}
		((i % 2)) || name=$(file_name "$name")
		assert_name "SELECT DISTINCT comm FROM process WHERE tgid = $(< "$WORK/pid.$i")" "${name:0:15}"
	done
}

@test "database: names of threads" {
	local i
	for ((i = 0; i < COUNT; i++)); do
		assert_name "SELECT DISTINCT thread FROM sample JOIN process USING(process_id)
			WHERE tgid = $(< "$WORK/pid.$i") AND tid <> tgid" "${NAMES[i]:0:15}"
	done
}

@test "database: paths of programs" {
	local i
	for ((i = 0; i < COUNT; i++)); do
		assert_name "SELECT DISTINCT exe FROM process WHERE tgid = $(< "$WORK/pid.$i")" \
			"$WORK/bin/$(file_name "${NAMES[i]}")"
		assert_name "SELECT DISTINCT path FROM module JOIN process ON path = exe
			WHERE tgid = $(< "$WORK/pid.$i")" "$WORK/bin/$(file_name "${NAMES[i]}")"
	done
}

@test "database: cgroups" {
	local i name
	for ((i = 0; i < COUNT; i++)); do
		name=$(file_name "${NAMES[i]}")
		assert_name "SELECT DISTINCT cgroup FROM process WHERE tgid = $(< "$WORK/pid.$i")" "/$CGROUP/${name//$'\n'/|}"
	done
	[ "$(sql 'SELECT count(*) FROM cgroup WHERE path NOT IN (SELECT cgroup FROM process)')" -eq 0 ]
}

# assert_functions NUMBERS QUERY: the result has the names of these numbers, with '?' for each control
# character
assert_functions() {
	local i expected
	sql "$2" > "$WORK/functions"
	assert_text "$WORK/functions"
	undo < "$WORK/functions" > "$WORK/names"
	for i in $1; do
		expected=$(printf '%s' "${NAMES[i]}" | tr '\001-\037\177' '?')
		grep -aFxq -e "$expected" "$WORK/names" || { echo "no $i: $(od -c "$WORK/names")"; return 1; }
	done
}

@test "database: functions" {
	local exe
	exe="(SELECT exe FROM process WHERE tgid = $(< "$WORK/pid.0"))"
	assert_functions "$(seq 0 $((COUNT - 1)))" \
		"SELECT DISTINCT function FROM frame JOIN module USING(module_id) WHERE path = $exe"
	# one stack contains all of them
	[ "$(sql "SELECT count(DISTINCT function) >= $COUNT FROM stack_frame JOIN frame USING(frame_id) JOIN module USING(module_id)
		WHERE path = $exe GROUP BY stack_id ORDER BY 1 DESC LIMIT 1")" = 1 ]
}

@test "database: functions of JIT code" {
	local i
	for i in "${JITS[@]}"; do
		assert_functions "$i" "SELECT DISTINCT function FROM frame JOIN module USING(module_id)
			WHERE kind = 'jit' AND version LIKE '$(< "$WORK/jit.$i")-%'"
	done
}

@test "database: functions that symbolize finds later" {
	all_text "$WORK/copy.db" > "$WORK/all"
	assert_text "$WORK/all"
	grep -aFq '/bin/stripped\x1b[7m\xff (' "$WORK/out/symbolize"
	DB=$WORK/copy.db assert_functions "$(seq 0 $((COUNT - 1)))" "SELECT DISTINCT function FROM frame
		JOIN module USING(module_id) WHERE path = '$WORK/bin/stripped\\x1b[7m\\xff'"
}

@test "database: build ids" {
	[ "$(sql "SELECT DISTINCT build_id FROM module WHERE path LIKE '$WORK/bin/%'")" = \
		"$(printf '%s' "$BUILD_ID" | od -An -tx1 | tr -d ' \n')" ]
}

@test "database: rules and their files" {
	assert_name 'SELECT rule FROM capture' "$RULE"
	assert_name 'SELECT DISTINCT rule FROM rule' "$RULE"
	assert_name 'SELECT DISTINCT source FROM rule' "$RULES_DIR/"$'\e]0;rule\a;%s.conf:1'
}

# ---- in the output ----

@test "reports to a file are plain text" {
	local file
	for file in "$WORK"/out/*; do
		[ -s "$file" ]
		assert_text "$file"
	done
	grep -aFq '\x1b]0:owned\x07;' "$WORK/out/folded"
	grep -aFq '\x1b[31mbad\xff.conf' "$WORK/out/mistake"
}

@test "reports to a terminal are the same plain text" {
	local file
	for file in "$WORK"/pty/*; do
		[ -s "$file" ]
		PTY=1 assert_text "$file"
	done
	# the same text as in the file
	for file in list show why brief top diff folded; do
		tr -d '\r' < "$WORK/pty/$file" | cmp - "$WORK/out/$file"
	done
}

@test "JSON has the same strings as the database" {
	local file
	for file in "$WORK"/json/*; do
		assert_text "$file"
		jq -e . "$file" > "$WORK/parsed"
		run ! grep $'\xef\xbf\xbd' "$WORK/parsed"
	done
	jq -r '.processes[] | "\(.tgid) \(.comm) \(.exe) \(.cgroup)"' "$WORK/json/why" | sort > "$WORK/shown"
	sql "SELECT tgid || ' ' || comm || ' ' || exe || ' ' || cgroup FROM process" | sort > "$WORK/all"
	[ "$(wc -l < "$WORK/shown")" -ge 5 ]
	[ -z "$(comm -23 "$WORK/shown" "$WORK/all")" ]
	diff <(jq -r '.[] | "\(.function) \(.module)"' "$WORK/json/top" | sort) \
		<(sql "SELECT function || ' ' || module FROM hot_function" | sort)
	[ "$(jq -r '.capture.rule' "$WORK/json/why")" = "$(sql 'SELECT rule FROM capture')" ]
	[ "$(jq -r '.[0].rule' "$WORK/json/list")" = "$(sql 'SELECT rule FROM capture')" ]
	[ "$(jq -r '.rules[0] | "\(.name)|\(.source)"' "$WORK/json/status")" = "$(sql 'SELECT DISTINCT rule, source FROM rule')" ]
}

@test "folded: one line a stack, with one number at its end" {
	local folded=$WORK/out/folded
	[ "$(wc -l < "$folded")" -gt 20 ]
	run ! grep -aEv '^[^;]+(;[^;]+)* [0-9]+$' "$folded"
	run ! grep -aE ' [0-9.]+ [0-9]+$' "$folded"
	[ "$(awk '{ sum += $NF } END { print sum }' "$folded")" = "$(sql "SELECT sum(samples) FROM sample WHERE kind = 'on-cpu'")" ]
	# no semicolon of a name separates functions
	[ "$(awk -F';' '{ if (NF > most) most = NF } END { print most }' "$folded")" -le \
		"$(sql 'SELECT max(depth) + 1 FROM stack JOIN sample USING(stack_id)')" ]
}

@test "every format of export is plain text, and has all samples" {
	local format samples
	samples=$(sql "SELECT sum(samples) FROM (SELECT samples FROM sample WHERE kind = 'on-cpu' UNION ALL SELECT samples FROM other_sample)")
	for format in perf-script folded csv firefox speedscope json; do
		# a frame of perf-script begins with a tab, a line of CSV ends with CR and LF
		sed 's/^\t\( *[0-9a-f]\)/\1/; s/\r$//' "$WORK/export/$format" > "$WORK/text"
		assert_text "$WORK/text"
	done
	for format in firefox speedscope json; do
		jq -e . "$WORK/export/$format" > "$WORK/parsed"
	done
	[ "$(jq '[.threads[].samples.data | length] | add' "$WORK/export/firefox")" -eq "$samples" ]
	[ "$(jq '[.samples[] | select(.kind == "on-cpu").samples] | add' "$WORK/export/json")" -eq "$samples" ]
	[ "$(grep -ac ' cpu-clock:$' "$WORK/export/perf-script")" -eq "$samples" ]
	[ "$(awk '{ sum += $NF } END { print sum }' "$WORK/export/folded")" -eq "$samples" ]
	[ "$(sqlite3 :memory: ".import --csv $WORK/export/csv row" "SELECT sum(samples) FROM row WHERE kind = 'on-cpu'")" -eq "$samples" ]
	# readers of these read hostile names in export.bats
	gzip -dc < "$WORK/export/pprof" > "$WORK/profile"
	for format in "$WORK"/{profile,export/perfetto}; do
		grep -aFq '\x1b]0;owned\x07' "$format"
		run ! grep -aFq $'\e]0;owned' "$format"
	done
}

@test "the log is plain text, on standard error and in the journal" {
	assert_text "$WORK/daemon.log"
	grep -aFq '\x1b[31mbad\xff.conf:3: cpu.some = \xff\xe2\x80\xae%n' "$WORK/daemon.log"
	mkdir "$WORK/bad"
	printf '%s' "$MISTAKES" > "$WORK/bad/"$'\e[31m\n<0>bad\xff.conf'
	: > "$WORK/journal"
	# shellcheck disable=SC2016 # the inner shell expands it
	JOURNAL_STREAM=$(stat -c %d:%i "$WORK/journal") run -1 sh -c '"$@" 2> "$0"' "$WORK/journal" \
		"$BUILD/bourdond" --check-config --rules-dir "$WORK/bad" --config "$WORK/none"
	assert_text "$WORK/journal"
	[ "$(grep -acE '^<[346]>' "$WORK/journal")" -eq "$(wc -l < "$WORK/journal")" ]
	grep -aFq '\x1b[31m\x0a<0>bad\xff.conf' "$WORK/journal"
}
