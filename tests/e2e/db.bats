#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# bourdon db: copies of a database that a daemon writes to, compaction beside it, the databases of two daemons merged, and
# what root may do.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup db
	cgroup_make
	own_workload cpu_hog
	# root becomes the user who owns the database
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0700 "$WORK/out"
	OUT=$WORK/out/out.db
}

teardown() {
	! mountpoint -q "$WORK/disk" || umount "$WORK/disk"
	bourdon_teardown
}

bourdon() {
	"$BUILD/bourdon" --db "$DB" "$@"
}

# busy COOLDOWN: a rule that fires while two threads want one CPU, and these threads
busy() {
	rule "$OWN" "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' "cooldown = $1"
	load
	daemon_start
	ON_CPU=0 start_ahead "$WORK/$OWN" --threads 2
}

# captures_written NUMBER: whether the database has so many complete captures, or more
captures_written() {
	[ "$(sql "SELECT count(*) FROM capture WHERE state = 'complete'")" -ge "$1" ]
}

# record_one DIRECTORY: another daemon, with a state directory of its own, stores one capture there.
record_one() {
	STATE_DIR=$1
	DB=$STATE_DIR/bourdon.db
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0750 "$STATE_DIR"
	daemon_start
	ON_CPU=0 start_ahead "$WORK/$OWN" --threads 2
	recorded
	daemon_stop TERM
}

# stacks DATABASE ID: prints the stacks of a capture, and what else every reader sees of it
stacks() {
	"$BUILD/bourdon" --db "$1" folded "$2" | sort
	sql "SELECT rule, triggered_at, ended_at, observed_us, expected_samples, received_samples, verdict, victim, waited_ns, blamed_percent FROM capture
		WHERE capture_id = $2" "$1"
	sql "SELECT comm, tgid, tid, kind, second, samples, weight_ns, times, hex(hash) FROM sample JOIN process
		USING(process_id) JOIN stack USING(stack_id) WHERE capture_id = $2 ORDER BY 2, 3, 9, 4, 5, 8" "$1"
}

@test "db copy while the daemon writes: each copy is whole, one file, and readable on a read-only mount" {
	local number=0 copy first last
	busy 1s
	await 60 captures_written 1
	until captures_written 3; do
		number=$((number + 1))
		bourdon db copy "$WORK/out/$number.db"
		((SECONDS < 120 * PATIENCE))
	done
	bourdon db copy "$OUT"
	children_end
	for copy in "$WORK/out"/*.db; do
		"$BUILD/bourdon" --db "$copy" db check
	done
	first=$(sql 'SELECT count(*) FROM capture' "$WORK/out/1.db")
	last=$(sql 'SELECT count(*) FROM capture' "$OUT")
	echo "$number copies, of $first to $last captures"
	[ "$last" -gt "$first" ]
	[ "$(stacks "$OUT" 1)" = "$(stacks "$DB" 1)" ]
	# nothing beside the copies
	[ "$(find "$WORK/out" -type f ! -name '*.db')" = '' ]
	[ "$(stat -c '%a %U' "$OUT")" = "600 $TEST_USER" ]
	mkdir "$WORK/disk"
	mount -t tmpfs -o mode=0755 tmpfs "$WORK/disk"
	install -m 0644 "$OUT" "$WORK/disk/copy.db"
	mount -o remount,ro "$WORK/disk"
	[ "$(stacks "$WORK/disk/copy.db" 1)" = "$(stacks "$DB" 1)" ]
}

@test "db copy with IDs: these captures alone, with their IDs; and root cannot write where the owner cannot" {
	busy 1s
	await 60 captures_written 2
	children_end
	bourdon db copy "$OUT" 2
	[ "$(sql 'SELECT group_concat(capture_id) FROM capture' "$OUT")" = 2 ]
	[ "$(stacks "$OUT" 2)" = "$(stacks "$DB" 2)" ]
	"$BUILD/bourdon" --db "$OUT" db check
	run bourdon db copy "$WORK/roots.db"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"cannot write '$WORK/roots.db' as user $(id -u "$TEST_USER"), who owns the database that is read: Permission denied; name a file in a directory that this user may write"* ]]
	[ ! -e "$WORK/roots.db" ]
}

@test "db compact beside the daemon, which goes on" {
	busy 1s
	await 60 captures_written 2
	children_end
	await_status 60 '.captures | length == 0'
	local before
	before=$(stacks "$DB" 1)
	run bourdon db compact
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *' before, '*' now' ]]
	[ "$(stat -c %s "$DB-wal")" -eq 0 ]
	[ "$(stacks "$DB" 1)" = "$before" ]
	local count
	count=$(sql 'SELECT count(*) FROM capture')
	ON_CPU=0 start_ahead "$WORK/$OWN" --threads 2
	await 60 captures_written $((count + 1))
	bourdon db check
	[ -n "$DAEMON" ] && kill -0 "$DAEMON"
}

@test "db merge of two daemons' databases: each capture as before, shared stacks once, a second time changes nothing" {
	rule "$OWN" "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	load
	record_one "$WORK/one"
	record_one "$WORK/other"
	run "$BUILD/bourdon" db merge "$OUT" "$WORK/one/bourdon.db" "$WORK/other/bourdon.db"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(stacks "$OUT" 1)" = "$(stacks "$WORK/one/bourdon.db" 1)" ]
	[ "$(stacks "$OUT" 2)" = "$(stacks "$WORK/other/bourdon.db" 1)" ]
	"$BUILD/bourdon" --db "$OUT" db check
	"$BUILD/bourdon" --db "$OUT" why 2 --full | grep -q "^capture 2 (complete), rule $OWN"
	[ "$(sql 'SELECT count(*) FROM database' "$OUT")" -eq 2 ]
	# the workload's stacks are those of one program: both captures have the busiest one
	[ "$(sql "SELECT count(DISTINCT capture_id) FROM sample WHERE stack_id = (SELECT stack_id FROM sample WHERE kind = 'on-cpu'
		GROUP BY stack_id ORDER BY sum(samples) DESC LIMIT 1)" "$OUT")" -eq 2 ]
	sqlite3 -readonly "$OUT" .dump > "$WORK/before"
	run "$BUILD/bourdon" db merge "$OUT" "$WORK/other/bourdon.db" "$WORK/one/bourdon.db"
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *'0 captures added, 1 known before' ]]
	sqlite3 -readonly "$OUT" .dump | cmp - "$WORK/before"
}

@test "db merge as root: files of two users are refused, before any is opened" {
	rule "$OWN" "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	load
	record_one "$WORK/one"
	install -d -o 1 -g 1 -m 0755 "$WORK/daemons"
	install -o 1 -g 1 "$WORK/one/bourdon.db" "$WORK/daemons/other.db"
	run "$BUILD/bourdon" db merge "$OUT" "$WORK/one/bourdon.db" "$WORK/daemons/other.db"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"belongs to user $(id -u "$TEST_USER") and "*"belongs to user 1"* || $output == *"to user 1: run bourdon as a user who may read both" ]]
	[ ! -e "$OUT" ]
}

@test "db merge into the database of a running daemon is refused" {
	busy 1h
	recorded
	bourdon db copy "$OUT"
	run "$BUILD/bourdon" db merge "$DB" "$OUT"
	[ "$status" -eq 1 ]
	[[ $output == *"a running bourdond writes to '$DB': merge into a copy of it"* ]]
}
