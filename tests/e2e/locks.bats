#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What is a wait for a lock, and what is none, in programs of several languages: three of four threads that want the same lock wait
# for it, and threads of an idle pool wait for none. tests/workloads/locks has the programs.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/accounts.bash"

SOURCES=$TREE/tests/workloads/locks

setup() {
	accounts_setup locks
	OWN=lck$BASHPID
}

teardown() {
	bourdon_teardown
}

needs() {
	command -v "$1" > /dev/null || skip "no $1 command"
}

# java_victim WHAT, go_victim WHAT, rust_victim WHAT: the victim is that program
java_victim() {
	needs javac
	javac -d "$WORK" "$SOURCES/Locks.java"
	ln -s "$(readlink -f "$(command -v java)")" "$WORK/$OWN"
	load
	follow
	victim "$WORK/$OWN" -cp "$WORK" Locks "$1"
}

go_victim() {
	needs go
	CGO_ENABLED=0 HOME=$WORK GO111MODULE=off GOPROXY=off GOCACHE=$WORK/cache go build -o "$WORK/$OWN" "$SOURCES/locks.go"
	load
	follow
	victim "$WORK/$OWN" "$1"
}

rust_victim() {
	needs rustc
	rustc --edition 2021 -O -o "$WORK/$OWN" "$SOURCES/locks.rs"
	load
	follow
	victim "$WORK/$OWN" "$1"
}

# switched: how often threads of the victim have begun to wait so far
switched() {
	cat "/proc/$VICTIM/task"/*/status | awk '$1 == "voluntary_ctxt_switches:" { sum += $2 } END { print sum }'
}

has_switched() {
	(($(switched) >= $1))
}

# capture_switches COUNT: a capture of the victim while its threads begin to wait so often
capture_switches() {
	begin
	await 60 has_switched $(($(switched) + $1))
	finish
	[ "$(sql "SELECT (SELECT sum(ns) FROM blame) = (SELECT sum(ns) FROM account WHERE account NOT IN ('ran', 'sleep', 'rest'))")" = 1 ]
}

# waits_for_lock PERCENT: so much of the time in which four threads neither ran nor were queued
waits_for_lock() {
	local blocked=$((4 * SPAN - $(account ran) - $(account queued)))
	echo "lock: $(account lock) ns of $blocked" >&2
	((blocked > 0 && $(account lock) * 100 >= blocked * $1 && $(account lock) * 10 <= blocked * 13))
	[ "$(sql "SELECT percent >= 90 FROM blame_share WHERE wait = 'lock' AND role = 'own'")" = 1 ]
}

# waits_for_no_lock: at most one percent of the time of its threads
waits_for_no_lock() {
	[ "$(sql "SELECT 100 * ifnull(sum(ns) FILTER (WHERE account = 'lock'), 0) <= sum(ns) FROM account")" = 1 ]
}

@test "Rust: threads that want one mutex wait for a lock, and where is told" {
	rust_victim mutex
	capture_switches 120
	waits_for_lock 70
	[[ $(sql "SELECT group_concat(DISTINCT where_text) FROM blame WHERE wait = 'lock' AND role = 'own'") == *locks::* ]]
}

@test "Rust: a pool that waits at a condition variable waits for no lock" {
	rust_victim pool
	capture_switches 200
	waits_for_no_lock
}

@test "Java: threads that want one monitor wait for a lock" {
	java_victim synchronized
	capture_switches 300
	waits_for_lock 60
}

@test "Java: a pool of executors waits for no lock" {
	java_victim pool
	capture_switches 300
	waits_for_no_lock
}

# The kernel schedules threads, and not goroutines: a thread without work waits for a lock if who gives a mutex free wakes it.
@test "Go: threads that get work because a mutex was given free waited for a lock, and where is told" {
	go_victim mutex
	capture_switches 200
	[ "$(sql "SELECT sum(ns) FILTER (WHERE account = 'lock') * 10 >= sum(ns) FILTER (WHERE account IN ('lock', 'peer')) * 8 FROM account")" = 1 ]
	(($(account lock) * 50 >= SPAN))
	[ "$(sql "SELECT group_concat(DISTINCT where_text) FROM blame WHERE wait = 'lock' AND role = 'own'")" = main.hold ]
}

@test "Go: a pool that waits at a channel waits for no lock" {
	go_victim pool
	capture_switches 200
	waits_for_no_lock
}

@test "a pool at a condition variable whose number is that of a contended lock waits for no lock" {
	own_workload pool
	load
	follow
	victim "$WORK/$OWN" --threads 16 --signals
	capture_switches 200
	waits_for_no_lock
	[ "$(sql "SELECT sum(ns) FILTER (WHERE account = 'peer') > 0 FROM account")" = 1 ]
}

@test "PostgreSQL: sessions that want one row wait for the session that has it" {
	local bin
	bin=$(find /usr/lib/postgresql -path '*/bin/initdb' -printf '%h\n' 2> /dev/null | sort -V | tail -n 1)
	[[ -n $bin ]] || skip 'no postgresql'
	as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups env HOME="$WORK" PGHOST="$WORK/socket" "$@"; }
	mkdir "$WORK/socket" "$WORK/data"
	chown postgres: "$WORK/socket" "$WORK/data"
	as_postgres "$bin/initdb" -D "$WORK/data" --auth trust --no-sync > /dev/null
	ln -s "$bin/postgres" "$WORK/$OWN"
	load
	follow
	# shellcheck disable=SC2016 # the inner shell expands it
	victim setpriv --reuid postgres --regid postgres --clear-groups bash -c 'echo ready; exec "$@"' bash \
		"$WORK/$OWN" -D "$WORK/data" -k "$WORK/socket" -c listen_addresses= -c fsync=off -c autovacuum=off
	is_up() { as_postgres "$bin/pg_isready" -q -d postgres; }
	await 30 is_up
	as_postgres "$bin/psql" -q -d postgres -c 'CREATE TABLE one AS SELECT 0 AS n'
	printf '%s\n' 'BEGIN;' 'UPDATE one SET n = n + 1;' 'SELECT pg_sleep(0.02);' 'COMMIT;' > "$WORK/update.sql"
	begin
	# else, on a busy machine, the sessions wait as long for the client
	as_postgres nice -n -15 "$bin/pgbench" -n -c 4 -j 1 -t 40 -f "$WORK/update.sql" postgres > /dev/null
	finish
	# three of four wait at a time
	(($(account peer) > SPAN))
	waits_for_no_lock
	[ "$(sql "SELECT 100 * sum(ns) FILTER (WHERE role = 'own' AND program = '$OWN') >= 80 * sum(ns) FROM blame WHERE wait = 'peer'")" = 1 ]
}
