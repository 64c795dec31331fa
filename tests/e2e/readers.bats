#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Other programs than bourdon read the database, as a user of its group who may not write: Python's sqlite3 while the daemon
# writes, DuckDB, and anyone on a read-only mount. Each has to find what bourdon prints.

source "$BATS_TEST_DIRNAME/lib.bash"

READER=(setpriv --reuid 54321 --regid "$TEST_GROUP" --clear-groups --bounding-set=-all --inh-caps=-all)

setup() {
	bourdon_setup readers
	cgroup_make
}

teardown() {
	! mountpoint -q "$WORK/mounted" || umount "$WORK/mounted"
	bourdon_teardown
}

# record: a daemon that writes one capture of 2 s after another, until the hog ends
record() {
	load
	own_workload cpu_hog
	rule own "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 1s' 'capture = 2s' 'cooldown = 1s'
	daemon_start
	ON_CPU=0 start_ahead "$WORK/$OWN" --threads 2
}

# captured NUMBER: waits until so many captures are complete
captured() {
	await_sql 60 "SELECT count(*) >= $1 FROM capture WHERE state = 'complete'" 1
}

# by_bourdon [DATABASE]: for each complete capture that met a thread on CPU: its id, samples, hottest function and the samples
# of that, as bourdon says
by_bourdon() {
	local capture
	"$BUILD/bourdon" --db "${1-$DB}" list --json | jq -r '.[] | select(.state == "complete") | "\(.capture_id)|\(.samples)"' | sort -n |
		while IFS='|' read -r capture samples; do
			"$BUILD/bourdon" --db "${1-$DB}" top "$capture" --json |
				jq -r --arg capture "$capture|$samples" '.[0] // empty | "\($capture)|\(.function)|\(.samples)"'
		done
}

# The same by SQL that DuckDB knows, too, of capture, sample, stack_frame and frame
HOTTEST='
	SELECT capture_id, (SELECT sum(samples) FROM sample s WHERE s.capture_id = c.capture_id) AS samples, function, hot
	FROM capture c JOIN (
		SELECT s.capture_id, f.function, sum(s.samples) AS hot,
			row_number() OVER (PARTITION BY s.capture_id ORDER BY sum(s.samples) DESC) AS rank
		FROM sample s JOIN stack_frame sf ON sf.stack_id = s.stack_id AND sf.position = 0
		JOIN frame f ON f.frame_id = sf.frame_id
		WHERE s.kind = '"'on-cpu'"' GROUP BY s.capture_id, f.function, f.module_id
	) h USING(capture_id) WHERE state = '"'complete'"' AND rank = 1 ORDER BY capture_id'

# by_python DATABASE [OPTION]: the same
by_python() {
	"${READER[@]}" /usr/bin/python3 -I - "$1" "$HOTTEST" <<- 'END'
		import sqlite3, sys
		database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
		for row in database.execute(sys.argv[2]):
		    print("|".join(map(str, row)))
	END
}

# assert_same WHAT BY-BOURDON BY-OTHER
assert_same() {
	[ -n "$2" ]
	[ "$2" = "$3" ] || { printf 'bourdon:\n%s\n%s:\n%s\n' "$2" "$1" "$3"; false; }
}

# assert_reads_the_same WHAT COMMAND...: the command prints what bourdon does, while no capture ends
assert_reads_the_same() {
	local before=none after other
	after=$(by_bourdon)
	until [ "$before" = "$after" ]; do
		before=$after
		other=$("${@:2}")
		after=$(by_bourdon)
	done
	assert_same "$1" "$after" "$other"
}

# may_not_write DATABASE: the reader can neither change the database nor make files beside it
may_not_write() {
	run "${READER[@]}" sqlite3 "$1" 'DELETE FROM capture'
	[ "$status" -ne 0 ]
	[[ $output == *readonly* || $output == *'unable to open'* ]] || { echo "$output"; false; }
	run "${READER[@]}" touch "$(dirname "$1")/file"
	[ "$status" -ne 0 ]
}

@test "Python reads while the daemon writes, and its transactions hold nobody up" {
	record
	captured 1
	# in one transaction, across several commits of the daemon; another connection sees those commits
	"${READER[@]}" /usr/bin/python3 -I - "$DB" $((LEAST_DEADLINE * PATIENCE)) <<- 'END'
		import sqlite3, sys, time
		def connect():
		    return sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
		def complete(database):
		    return database.execute("SELECT count(*), sum(samples) FROM sample JOIN capture USING(capture_id) WHERE state = 'complete'").fetchone()
		reader, fresh = connect(), connect()
		reader.execute("BEGIN")
		before = complete(reader)
		deadline = time.monotonic() + float(sys.argv[2])
		reads = commits = 0
		seen = before
		while commits < 3:
		    now = complete(fresh)
		    commits += now != seen
		    seen = now
		    assert complete(reader) == before, "a transaction saw a later commit"
		    reads += 1
		    assert time.monotonic() < deadline, f"{commits} commits in {reads} reads"
		    time.sleep(0.02)
		reader.execute("COMMIT")
		assert complete(reader) == complete(fresh) != before
		print(f"{reads} reads, {commits} commits meanwhile")
	END
	# still writing
	[ "$(sql "SELECT count(*) FROM run WHERE ended_at IS NULL")" -eq 1 ]
	children_end
	await_status 60 '.captures | length == 0'
	assert_reads_the_same Python by_python "$DB"
	[[ $(by_python "$DB") == *'|burn_cpu|'* ]]
	may_not_write "$DB"
}

@test "DuckDB has the same numbers, of what sqlite3 writes as JSON" {
	[ -e "$BUILD/npm/installed" ] || skip "$(cat "$BUILD/npm/missing" 2> /dev/null || echo 'npm: DuckDB is not installed: make npm')"
	record
	captured 2
	local table
	# while the daemon writes, from one transaction: the tables agree
	{
		echo 'BEGIN;'
		for table in capture sample stack_frame frame sample_time; do
			echo ".mode json"
			echo ".once $WORK/export/$table.json"
			echo "SELECT * FROM $table;"
		done
		echo 'COMMIT;'
	} > "$WORK/export.sql"
	install -d -o 54321 "$WORK/export"
	"${READER[@]}" sqlite3 -readonly -bail "$DB" < "$WORK/export.sql"
	duckdb() {
		NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/duckdb.cjs" "
			$(for table in capture sample stack_frame frame sample_time; do
				echo "CREATE VIEW $table AS SELECT * FROM read_json('$WORK/export/$table.json', maximum_object_size = 268435456);"
			done)
			$1"
	}
	# what came meanwhile is not in the export
	assert_same DuckDB "$(by_bourdon | awk -F '|' -v last="$(jq '[.[] | select(.state == "complete") | .capture_id] | max' "$WORK/export/capture.json")" \
		'$1 <= last')" "$(duckdb "$HOTTEST")"
	# the array of times, unnested by DuckDB, is the view sample_time
	[ "$(duckdb "SELECT count(*) FROM (SELECT unnest(from_json(times, '[[\"BIGINT\"]]')) FROM sample)")" -gt 20 ]
	[ "$(duckdb "SELECT count(*) FROM (SELECT unnest(from_json(times, '[[\"BIGINT\"]]')) FROM sample)")" = "$(duckdb 'SELECT count(*) FROM sample_time')" ]
	[ "$(duckdb "SELECT count(DISTINCT element[2]) || ',' || max(element[2]) FROM (
		SELECT unnest(from_json(times, '[[\"BIGINT\"]]')) AS element FROM sample WHERE kind = 'on-cpu')")" = 1,0 ]
}

@test "a read-only mount of the directory, while the daemon writes" {
	record
	captured 1
	mkdir "$WORK/mounted"
	mount --bind "$STATE_DIR" "$WORK/mounted"
	mount -o remount,bind,ro "$WORK/mounted"
	captured 2
	children_end
	await_status 60 '.captures | length == 0'
	assert_reads_the_same Python by_python "$WORK/mounted/bourdon.db"
	assert_reads_the_same 'bourdon there' by_bourdon "$WORK/mounted/bourdon.db"
	# root cannot write there, either
	run sqlite3 "$WORK/mounted/bourdon.db" 'DELETE FROM capture'
	[[ $status -ne 0 && $output == *readonly* ]]
}

# read_image: puts the state directory, as it is, on a file system that is mounted read-only, and reads it there
read_image() {
	mke2fs -q -t ext4 -d "$STATE_DIR" "$WORK/image" 16M
	mkdir -p "$WORK/mounted"
	mount -o loop,ro "$WORK/image" "$WORK/mounted"
	READ=$(by_python "$WORK/mounted/bourdon.db")
	assert_same Python "$(by_bourdon "$WORK/mounted/bourdon.db")" "$READ"
	umount "$WORK/mounted"
}

# stopped_with_frames: stops the daemon if its log has more than a header, which is 32 bytes; or lets it go on and fails
stopped_with_frames() {
	kill -STOP "$DAEMON"
	if grep -q '^State:\s[^T]' "/proc/$DAEMON/task/"*/status || (($(stat -c %s "$DB-wal") <= 32)); then
		kill -CONT "$DAEMON"
		return 1
	fi
}

@test "a read-only file system with the database of a daemon that has stopped, and of one that was killed" {
	record
	captured 1
	stop "$CHILD"
	await_status 60 '.captures | length == 0'
	daemon_stop TERM
	read_image
	[[ $READ == *'|burn_cpu|'* ]]
	# the log has what this one wrote
	daemon_start
	ON_CPU=0 start_ahead "$WORK/$OWN" --threads 2
	captured $(($(wc -l <<< "$READ") + 1))
	await 60 stopped_with_frames
	daemon_stop KILL
	children_end
	local before=$READ
	read_image
	[ "$(wc -l <<< "$READ")" -gt "$(wc -l <<< "$before")" ]
}

@test "a daemon that was killed before the first frame of its log: no reader waits for ever, and the error says what to do" {
	record
	captured 1
	daemon_stop TERM # which puts all of the log into the database
	daemon_start
	await 60 stopped_with_frames
	daemon_stop KILL
	children_end
	truncate -s 32 "$DB-wal"
	# SQLite takes such a log for one that changes, where it may not write
	run "${READER[@]}" "$BUILD/bourdon" --db "$DB" list
	[ "$status" -eq 1 ]
	[[ $output == *'locking protocol: its log has no content yet; start bourdond, or read a copy in a directory that you may write' ]] || { echo "$output"; false; }
	cp "$DB"* "$WORK"
	"$BUILD/bourdon" --db "$WORK/${DB##*/}" list
	daemon_start
	"${READER[@]}" "$BUILD/bourdon" --db "$DB" list
}
