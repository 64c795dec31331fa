#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A daemon that starts on the database of an older bourdond: it migrates the database while its watches are armed, and
# captures wait for it.

source "$BATS_TEST_DIRNAME/lib.bash"

KEPT=$TREE/tests/databases/schema6.db
SCHEMA=$(sed -n 's/^#define SCHEMA_VERSION //p' "$TREE/common/schema.h")

setup() {
	bourdon_setup migrate
	cgroup_make
	own_workload cpu_hog
	load
	rule cpu "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
}

teardown() {
	release
	daemon_stop TERM
	children_end
	if mountpoint -q "$STATE_DIR"; then
		umount "$STATE_DIR"
	fi
	bourdon_teardown
}

as_owner() {
	setpriv --reuid="$TEST_USER" --regid="$TEST_GROUP" --clear-groups "$@"
}

# place: puts the kept database where the daemon looks for it, as the older daemon left it.
place() {
	install -o "$TEST_USER" -g "$TEST_GROUP" -m 0640 "$KEPT" "$DB"
	as_owner sqlite3 "$DB" 'PRAGMA journal_mode = WAL' > "$WORK/mode"
}

# said PATTERN: the daemon has logged such a line.
said() {
	grep -qE "$1" "$WORK/daemon.log" || await_log 1 "$1" 2> /dev/null
}

version() {
	sql 'PRAGMA user_version'
}

# hold: begins a transaction that no other writer passes; release ends it.
hold() {
	coproc LOCK { as_owner sqlite3 "$DB"; }
	LOCKING=$LOCK_PID
	echo "BEGIN IMMEDIATE; SELECT 'held';" >&"${LOCK[1]}"
	read -r -t 10 -u "${LOCK[0]}" line
	[ "$line" = held ]
}

release() {
	[[ -n ${LOCKING-} ]] || return 0
	echo 'ROLLBACK;' >&"${LOCK[1]}"
	echo '.quit' >&"${LOCK[1]}"
	wait "$LOCKING" || true
	LOCKING=
}

# kept QUERY: the same rows as in the kept database
kept() {
	[ "$(sql "$1")" = "$(sqlite3 -readonly -separator '|' "file:$KEPT?immutable=1" "$1")" ]
}

all_kept() {
	local last
	last=$(sqlite3 -readonly "file:$KEPT?immutable=1" 'SELECT max(capture_id) FROM capture')
	kept "SELECT capture_id, rule, resource, triggered_at, state, cause, because FROM capture WHERE capture_id <= $last ORDER BY 1"
	kept "SELECT capture_id, process_id, tid, kind, stall, second, sum(samples), sum(weight_ns) FROM sample
		WHERE capture_id <= $last GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6"
	kept "SELECT function, module, samples, total_samples FROM hot_function WHERE capture_id = $last ORDER BY 1, 2, 3, 4"
}

@test "another process locks an older database: watches are armed, a capture waits, and the migration keeps everything" {
	place
	hold
	daemon_start
	await 10 said "migrating it to schema version $SCHEMA"
	await_status 10 '.rules | length == 1'
	start_command "$WORK/$OWN" --threads $((2 * $(nproc))) --cpu 0
	await_log 30 'rule cpu fired'
	await_status 20 '.captures[0].state == "waiting" or .captures[0].state == "writing" or (.captures | length) == 1'
	[ "$(version)" -eq 6 ]
	release
	await_log 30 'migrated the database in'
	await_log 60 'captured [0-9]+ stacks of rule cpu'
	[ "$(version)" -eq "$SCHEMA" ]
	all_kept
	[ "$(sql "SELECT state, (SELECT sum(samples) > 0 FROM sample s WHERE s.capture_id = c.capture_id AND second >= 0)
		FROM capture c WHERE capture_id = (SELECT max(capture_id) FROM capture) AND rule = 'cpu'")" = 'complete|1' ]
	[ "$(sql "SELECT count(*), length(id), machine IS NOT NULL FROM database")" = '1|32|1' ] || [ ! -s /etc/machine-id ]
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(sql 'PRAGMA integrity_check')" = ok ]
}

@test "a disk without room for the migration: the older database stays as it is, and the migration goes on when there is room" {
	truncate -s 4M "$WORK/disk"
	mkfs.ext4 -q -m 0 -O ^has_journal "$WORK/disk"
	mount -o loop "$WORK/disk" "$STATE_DIR"
	chown "$TEST_USER:$TEST_GROUP" "$STATE_DIR"
	place
	dd if=/dev/zero of="$STATE_DIR/filler" bs=4096 status=none || true
	truncate -s -64K "$STATE_DIR/filler" # for bourdon.db-shm
	daemon_start
	await 20 said 'cannot migrate the database: .*full.*; it is unchanged, captures wait'
	[ "$(version)" -eq 6 ]
	all_kept
	await_status 10 '.rules | length == 1'
	# a change of the rules is refused meanwhile, and says why
	rule other 'comm = nginx' 'cpu.some = 5%'
	kill -HUP "$DAEMON"
	await_log 20 'not yet migrated'
	rm "$STATE_DIR/filler" "$RULES_DIR/other.conf"
	await_log 30 'migrated the database in'
	[ "$(version)" -eq "$SCHEMA" ]
	all_kept
}

@test "a daemon that ends before the migration leaves the older database, and the next start migrates it" {
	place
	hold
	daemon_start
	await 10 said 'migrating it to schema version'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ "$(version)" -eq 6 ]
	release
	all_kept
	[ "$(sql 'SELECT count(*) FROM run')" -eq "$(sqlite3 -readonly "file:$KEPT?immutable=1" 'SELECT count(*) FROM run')" ]
	daemon_start
	await_log 30 'migrated the database in'
	all_kept
}
