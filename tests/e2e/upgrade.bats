#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Upgrades and downgrades: over a running bourdon, and of its database. build/next is this tree with another ABI and a newer
# schema, which tests/unit/next_schema.sql describes; tests/example.db is a database that bourdond wrote.

source "$BATS_TEST_DIRNAME/lib.bash"

OTHER=$BUILD/next
EXAMPLE=$TREE/tests/example.db
SCHEMA=$(sqlite3 -readonly "file:$EXAMPLE?immutable=1" 'PRAGMA user_version')

setup() {
	bourdon_setup upgrade
	touch "$WORK/bourdon.conf"
	rule web 'comm = nginx' 'cpu.some = 5%'
}

teardown() {
	release
	daemon_stop TERM
	children_end
	! mountpoint -q "$STATE_DIR" || umount "$STATE_DIR"
	! mountpoint -q "$WORK/disk" || umount "$WORK/disk"
	bourdon_teardown
}

# as BUILD COMMAND...: runs it with the binaries of that version.
as() {
	local BUILD=$1
	shift
	"$@"
}

daemon() {
	"$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --state-dir "$STATE_DIR" \
		--rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf" --user "$TEST_USER" --group "$TEST_GROUP"
}

unload() {
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

# one_line STATUS PATTERN: `run` ended with this status and one line that matches; a line about RLIMIT_MEMLOCK is ignored.
one_line() {
	echo "status $status: $output"
	[ "$status" -eq "$1" ]
	[[ $(grep -v RLIMIT_MEMLOCK <<< "$output") == *$2* ]]
	[ "$(grep -vc RLIMIT_MEMLOCK <<< "$output")" -eq 1 ]
}

abi_of_manifest() {
	sed -n 's/^abi = //p' "$RUN_DIR/manifest"
}

no_trace() {
	[ ! -e "$PIN_DIR" ] && [ ! -e "${PIN_DIR}_loading" ] && [ ! -e "$RUN_DIR" ]
}

# replace FROM TO: TO's loader replaces FROM's pins while FROM's daemon runs.
replace() {
	local from=$1 to=$2 old new
	as "$from" load
	old=$(abi_of_manifest)
	as "$from" daemon_start
	as "$to" load
	new=$(abi_of_manifest)
	[ "$old" -ne "$new" ]
	# the running daemon ends
	await_log 10 'the pins were replaced or removed'
	daemon_wait
	[ "$DAEMON_STATUS" -eq 0 ]
	# started again, it names both ABIs and the remedy
	run as "$from" daemon
	one_line 1 "$RUN_DIR/manifest: the loaded programs have ABI $new, but this bourdond has ABI $old: run the bourdon-load of version"
	run "$from/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 1 ]
	[[ $output == *"with ABI $new; this is version "*" with ABI $old"* ]]
	# the pins are the new version's alone
	[ "$(find "$PIN_DIR" "${PIN_DIR}_loading" -name 'oncpu' 2> /dev/null | wc -l)" -eq 1 ]
	rm -f "$DB"*
	as "$to" daemon_start
	daemon_stop TERM
}

@test "a load over that of a newer or an older version: its daemon ends, and the new one works" {
	replace "$BUILD" "$OTHER"
	replace "$OTHER" "$BUILD"
}

@test "a manifest of another version that lacks keys: the error names the ABI" {
	as "$OTHER" load
	# every version has pin_dir, which tells whose mount of the BPF file system it is
	sed -i '/^hz = \|^targets = \|^slots_per_cpu = /d' "$RUN_DIR/manifest"
	run daemon
	one_line 1 'the loaded programs have ABI 1000, but this bourdond has ABI'
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *'with ABI 1000; this is version'* ]]
	# a load replaces it
	load
	[ "$(abi_of_manifest)" -ne 1000 ]
	daemon_start
}

@test "each version unloads the other" {
	as "$OTHER" load
	unload
	no_trace
	load
	as "$OTHER" unload
	no_trace
}

@test "a failed load leaves the pins of the other version, and its daemon running" {
	load
	daemon_start
	chmod 0777 "$RUN_DIR"
	run as "$OTHER" load
	[ "$status" -eq 1 ]
	chmod 0750 "$RUN_DIR"
	[ "$(abi_of_manifest)" -ne 1000 ]
	kill -0 "$DAEMON"
	await_status 5 '.rules | length == 1'
}

# one_run BUILD: that version's daemon runs once, from load to end
one_run() {
	as "$1" load
	as "$1" daemon_start
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

@test "a database of a newer schema: refused by bourdond and bourdon in one line with the remedy, and unchanged" {
	local before
	one_run "$OTHER"
	before=$(sha256sum < "$DB")
	load
	run daemon
	one_line 1 "cannot open the database $DB: its schema has version 1000, but bourdond "*" writes version "*"; install the newer bourdon that wrote it, or move it elsewhere, and bourdond creates a new one"
	[ "$(sha256sum < "$DB")" = "$before" ]
	run "$BUILD/bourdon" --db "$DB" list
	one_line 1 "'$DB' has schema version 1000, and bourdon "*": install a newer bourdon, that of the bourdond that wrote it"
	# the version that wrote it continues to use it
	one_run "$OTHER"
	[ "$(sql 'SELECT count(*) FROM run')" -eq 2 ]
}

# ---- databases of an older schema ----

# place: puts the example where the daemon looks for its database
place() {
	install -o "$TEST_USER" -g "$TEST_GROUP" -m 0640 "$EXAMPLE" "$DB"
}

# state DIRECTORY: prints the names, times and contents of its files, and the time of the directory
state() {
	stat -c '%n %s %Y %Z %a' "$1" "$1"/*
	sha256sum "$1"/*
}

@test "a database of a schema that is too old: refused by bourdond and bourdon in one line with the remedy, and unchanged" {
	local before
	place
	sqlite3 "$DB" 'PRAGMA user_version = 9'
	before=$(sha256sum < "$DB")
	load
	run daemon
	one_line 1 "cannot open the database $DB: its schema has version 9, but bourdond "*" migrates none before version $SCHEMA; move it elsewhere, and bourdond creates a new one"
	run "$BUILD/bourdon" --db "$DB" list
	one_line 1 "'$DB' has schema version 9, and bourdon "*" reads none before version $SCHEMA: move it elsewhere; only the bourdon that wrote it reads it"
	[ "$(sha256sum < "$DB")" = "$before" ]
	# bourdond has left nothing but its own lock and an empty log
	mv "$DB" "$WORK/old.db"
	daemon_start
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(sql 'SELECT count(*) FROM run')" -eq 1 ]
}

# captures BUILD DATABASE [COMMAND...]: what that version says of the example's captures, but for the ids of stacks
captures() {
	local words
	for words in 'list --json' {top,folded}\ {1..5} 'top 1 --json' 'export 4 --format csv'; do
		# shellcheck disable=SC2086 # words
		"${@:3}" "$1/bourdon" --db "$2" $words || return
	done
}

# everything BUILD DATABASE [COMMAND...]: what it says of all else, too
everything() {
	local words
	captures "$@" || return
	for words in list 'why --incident 1' 'diff 1 2' show 'report 1 --against 2' {,'--json '}why\ {1..5}\ --full \
		'export 1 --format '{firefox,pprof,perf-script,speedscope,perfetto}; do
		# shellcheck disable=SC2086 # words
		"${@:3}" "$1/bourdon" --db "$2" $words || return
	done
	"${@:3}" "$1/bourdon" --db "$2" status || [ "$?" -eq 1 ] # no daemon runs
}

# is_expected: whether the input is what was expected, but for the new column, which show has as well, and the database's path
is_expected() {
	sed "/^ *grade *none\$/d; s:$WORK/disk/:$WORK/copies/:g" | cmp - "$WORK/expected"
}

@test "bourdon prints from a database of an older schema what the bourdon of its version prints, and writes nothing" {
	local before place
	mkdir -m 0755 "$WORK/copies" "$WORK/disk"
	mount -t tmpfs -o mode=0755 tmpfs "$WORK/disk"
	for place in copies disk; do
		cp "$EXAMPLE" "$WORK/$place/example.db"
	done
	mount -o remount,ro "$WORK/disk"
	everything "$BUILD" "$WORK/copies/example.db" > "$WORK/expected"
	before=$(state "$WORK/copies")
	everything "$OTHER" "$WORK/copies/example.db" | is_expected
	[ "$(state "$WORK/copies")" = "$before" ]
	# from a read-only file system, by root, who becomes nobody, and by a user who may not write
	everything "$OTHER" "$WORK/disk/example.db" | is_expected
	everything "$OTHER" "$WORK/disk/example.db" setpriv --reuid 65533 --regid 65533 --clear-groups | is_expected
}

@test "doctor and bourdon db read a database of an older schema; only a copy becomes one of the newer schema" {
	local verdict old=$WORK/out/old.db out=$WORK/out/out.db
	install -d -o "$TEST_USER" -g "$TEST_GROUP" "$WORK/out"
	install -o "$TEST_USER" -m 0640 "$EXAMPLE" "$old"
	run "$OTHER/bourdon" --db "$old" --run-dir "$RUN_DIR" doctor
	echo "$output"
	[ "$status" -eq 1 ] # no daemon runs, and nothing is loaded
	[[ $output =~ database\ +ok\  ]]
	[[ $output =~ last\ capture\ +warning\ capture\ 5\ of\ rule\ interrupted, ]]
	verdict=$(sql "SELECT iif(max(percent) >= 1, 'warning', 'ok') FROM data_quality WHERE capture_id = 4" "$old")
	[[ $output =~ capture\ losses\ +$verdict\ +capture\ 4: ]]

	run "$OTHER/bourdon" --db "$old" db check
	one_line 0 "ok: pages, references between tables; no more is checked of schema version $SCHEMA, which is older than 1000"
	run "$OTHER/bourdon" --db "$old" db compact
	one_line 1 "'$old' has schema version $SCHEMA, and bourdon "*" writes version 1000: start bourdond once, which converts it, or write a copy with 'bourdon db merge NEW $old'"

	"$OTHER/bourdon" --db "$old" db copy "$out"
	[ "$(sql 'PRAGMA user_version' "$out")" -eq "$SCHEMA" ]
	diff <(sqlite3 "$EXAMPLE" .dump) <(sqlite3 "$out" .dump)
	rm "$out"
	"$OTHER/bourdon" --db "$old" db copy "$out" 2 3
	[ "$(sql 'SELECT capture_id, rule, grade FROM capture' "$out")" = $'2|locks|none\n3|disk|none' ]
	"$OTHER/bourdon" --db "$out" db check
	[ "$(cd "$WORK/out" && echo *)" = 'old.db out.db' ]

	# a view is restored by the text that the file has for it
	sqlite3 "$old" "CREATE VIEW extra AS SELECT 1; PRAGMA writable_schema = ON; UPDATE sqlite_schema
		SET sql = sql || '; ATTACH ''$WORK/out/made.db'' AS made; CREATE TABLE made.t(a)' WHERE name = 'extra'"
	rm "$out"
	run "$OTHER/bourdon" db merge "$out" "$old"
	[[ $output == *'5 captures added'* ]]
	[ "$(sql 'PRAGMA user_version' "$old")" -eq "$SCHEMA" ]
	captures "$OTHER" "$out" | cmp - <(captures "$BUILD" "$old")
	"$OTHER/bourdon" --db "$out" db check
	run "$OTHER/bourdon" db merge "$out" "$old"
	[[ $output == *'0 captures added, 5 known before'* ]]
	[ "$(cd "$WORK/out" && echo *)" = 'old.db out.db' ]

	sqlite3 "$old" 'UPDATE capture SET run_id = 77'
	run "$OTHER/bourdon" --db "$old" db check
	[ "$status" -eq 1 ]
	[[ $output == *'capture: row 1 refers to a row of run that does not exist'* ]]
}

# said PATTERN: the daemon has logged such a line
said() {
	grep -qE "$1" "$WORK/daemon.log" || await_log 1 "$1" 2> /dev/null
}

as_owner() {
	setpriv --reuid="$TEST_USER" --regid="$TEST_GROUP" --clear-groups "$@"
}

# hold: begins a transaction that no other writer passes; release ends it
hold() {
	as_owner sqlite3 "$DB" 'PRAGMA journal_mode = WAL' > "$WORK/mode"
	coproc LOCK { as_owner sqlite3 "$DB"; }
	LOCKING=$LOCK_PID
	echo "BEGIN IMMEDIATE; SELECT 'held';" >&"${LOCK[1]}"
	read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "${LOCK[0]}" line
	[ "$line" = held ]
}

release() {
	[[ -n ${LOCKING-} ]] || return 0
	echo 'ROLLBACK;' >&"${LOCK[1]}"
	echo '.quit' >&"${LOCK[1]}"
	wait "$LOCKING" || true
	LOCKING=
}

version() {
	sql 'PRAGMA user_version'
}

# all_kept: the example's captures and samples are as they were
all_kept() {
	local query
	for query in 'SELECT capture_id, run_id, rule, resource, triggered_at, state, onset_at FROM capture WHERE capture_id <= 5' \
		'SELECT capture_id, stack_id, thread_id, class, second, samples, weight_ns, times FROM sample_row WHERE capture_id <= 5'; do
		cmp <(sql "$query ORDER BY 1, 2, 3, 4, 5") <(sql "$query ORDER BY 1, 2, 3, 4, 5" "file:$EXAMPLE?immutable=1") || return
	done
}

@test "another process locks a database of an older schema: watches are armed, a capture waits, and the migration keeps everything" {
	local BUILD=$OTHER
	cgroup_make
	BUILD=${OTHER%/next} own_workload cpu_hog
	load
	rule cpu "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	place
	hold
	daemon_start
	await 10 said 'migrating it to schema version 1000'
	await_status 10 '.rules | length == 2'
	start_command "$WORK/$OWN" --threads $((2 * $(nproc))) --cpu 0
	await_log 30 'rule cpu fired'
	await_status 20 '.counters | any(.name == "captures" and .value == 1)'
	[ "$(version)" -eq "$SCHEMA" ]
	release
	await_log 30 'migrated the database in'
	await_log 60 'captured [0-9]+ stacks of rule cpu'
	[ "$(version)" -eq 1000 ]
	all_kept
	# nothing told then who waited for whom
	[ "$(sql 'SELECT DISTINCT verdict, verdict_version, not_examined FROM capture WHERE capture_id <= 5')" = 'undetermined|0|accounts' ]
	[ "$(sql 'SELECT count(*) FROM incident WHERE verdict IS NULL')" -eq 0 ]
	[ "$(sql "SELECT state, grade, (SELECT sum(samples) > 0 FROM sample s WHERE s.capture_id = c.capture_id AND second >= 0)
		FROM capture c WHERE capture_id = (SELECT max(capture_id) FROM capture) AND rule = 'cpu'")" = 'complete|none|1' ]
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(sql 'PRAGMA integrity_check')" = ok ]
}

@test "a disk without room for the migration: the older database stays as it is, and the migration goes on when there is room" {
	local BUILD=$OTHER
	load
	truncate -s 4M "$WORK/file"
	# SQLite reserves a block for each page of bourdon.db-shm; of smaller blocks it would be killed by SIGBUS at the others
	mkfs.ext4 -q -m 0 -b 4096 -O ^has_journal "$WORK/file"
	mount -o loop "$WORK/file" "$STATE_DIR"
	chown "$TEST_USER:$TEST_GROUP" "$STATE_DIR"
	place
	dd if=/dev/zero of="$STATE_DIR/filler" bs=4096 status=none || true
	truncate -s -96K "$STATE_DIR/filler" # for bourdon.db-shm and tables.db
	daemon_start
	await 20 said 'cannot migrate the database: .*full.*; it is unchanged, captures wait'
	[ "$(version)" -eq "$SCHEMA" ]
	all_kept
	await_status 10 '.rules | length == 1'
	# a change of the rules is refused meanwhile, and says why
	rule other 'comm = nginx' 'cpu.some = 5%'
	kill -HUP "$DAEMON"
	await_log 20 'not yet migrated'
	rm "$STATE_DIR/filler" "$RULES_DIR/other.conf"
	await_log 30 'migrated the database in'
	[ "$(version)" -eq 1000 ]
	all_kept
}

@test "a daemon that ends before the migration leaves the older database, and the next start migrates it" {
	local BUILD=$OTHER
	load
	place
	hold
	daemon_start
	await 10 said 'migrating it to schema version'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(version)" -eq "$SCHEMA" ]
	release
	all_kept
	[ "$(sql 'SELECT count(*) FROM run')" -eq 2 ]
	daemon_start
	await_log 30 'migrated the database in'
	all_kept
}

@test "a database of an older schema: the newer bourdond goes on with it" {
	one_run "$BUILD"
	one_run "$OTHER"
	grep -q 'migrated the database in' "$WORK/daemon.log"
	[ "$(version)" -eq 1000 ]
	[ "$(sql 'SELECT count(*), count(DISTINCT database_id), (SELECT count(*) FROM database) FROM run')" = '2|1|1' ]
}
