#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What is shared has a share for everybody: one user, or one rule, takes as much of it as it can get, and another one still
# has its captures, its view, its answer.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/members.bash"

ALICE=54321
BOB=54322

setup() {
	bourdon_setup shares
	cgroup_make
	members_setup
}

teardown() {
	bourdon_teardown
}

# slice_is_calm: whether no stall was added to its slice since the last call
slice_is_calm() {
	local before=$LAST_STALL
	LAST_STALL=$(awk '/^some/ { print $5 }' "$CGROUP2/$CGROUP/shares.slice/cpu.pressure")
	[ "$LAST_STALL" = "$before" ]
}

@test "a stranger does not use up the cooldown of a shared watch" {
	mkdir "$CGROUP2/$CGROUP/shares.slice" "$CGROUP2/$CGROUP/shares.slice/"{victim,stranger}.service
	own_workload cpu_hog
	cp "$BUILD/workloads/cpu_hog" "$WORK/stranger"
	load
	rule shared "comm = $OWN" 'cpu.some = 30%' 'watch = slice' 'cooldown = 1h' # the test never outlasts it
	# the victim is there, and waits for nothing
	CGROUP=$CGROUP/shares.slice/victim.service start_command "$WORK/$OWN"
	kill -STOP "$CHILD"
	daemon_start
	local stranger
	await_status 30 '.watches | length == 1'
	CGROUP=$CGROUP/shares.slice/stranger.service start_command "$WORK/stranger" --threads 8 --seconds 3
	stranger=$CHILD
	await_log 30 'rule shared fired: '
	wait "$stranger"
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	LAST_STALL=
	await 30 slice_is_calm
	CGROUP=$CGROUP/shares.slice/victim.service start_command "$WORK/$OWN" --threads 8 --seconds 12
	await_log 60 'rule shared fired: '
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
	sql "SELECT capture_id, account, sum(ns) / 1000000 FROM account GROUP BY 1, 2" >&2
	[ "$(sql "SELECT sum(ns) FILTER (WHERE capture_id = 2) > 4 * ifnull(sum(ns) FILTER (WHERE capture_id = 1), 0) FROM account WHERE account = 'queued'")" = 1 ]
}

@test "captures on demand for hours, and a noisy rule, leave places to a rule and to root" {
	local i
	cp "$BUILD/workloads/cpu_hog" "$WORK/honest"
	cp "$BUILD/workloads/cpu_hog" "$WORK/noisy"
	load
	rule noisy 'comm = noisy' "cgroup = /$CGROUP/*" 'cpu.some = 50ms/2s' 'history = 1s' 'capture = 1h' 'cooldown = 0s'
	rule honest 'comm = honest' "cgroup = /$CGROUP/*" 'cpu.some = 50ms/2s' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	for i in 1 2 3 4; do asks "$ALICE" --comm "zzz$i" --for 1h; done
	await_status 30 '[.captures[] | select(.asked_by != "")] | length >= 2'
	for i in 1 2 3 4; do
		mkdir "$CGROUP2/$CGROUP/noisy$i"
		CGROUP=$CGROUP/noisy$i ON_CPU=0 start_command "$WORK/noisy" # one CPU: they wait for each other
	done
	await_status 60 '[.captures[] | select(.rule == "noisy")] | length >= 2'
	status_json | jq -c '.captures[]' >&2
	mkdir "$CGROUP2/$CGROUP/honest"
	CGROUP=$CGROUP/honest ON_CPU=0 start_command "$WORK/honest"
	await_log 60 'rule honest fired: '
	"$BUILD/bourdon" --db "$DB" capture --all --for 1s
	await_sql 60 "SELECT count(*) FROM capture WHERE rule = 'honest' AND state = 'complete'" 1
	"$BUILD/bourdon" --db "$DB" capture --who >&2
}

# watches NAME UID: bourdon top --live by that user, in the background
watches() {
	behind "$2" "$WORK/bourdon" --db "$DB" top --live --json > "$WORK/live.$1" 2> "$WORK/live.$1.err" &
	CHILDREN+=($!)
}

# all_watch_or_refused: each has got a second, or was told that it gets none
all_watch_or_refused() {
	local i
	for i in 1 2 3 4; do
		[ -s "$WORK/live.$ALICE$i" ] || [ -s "$WORK/live.$ALICE$i.err" ] || return 1
	done
}

@test "live views of one user leave a view to another one and to root" {
	load
	daemon_start
	local i
	for i in 1 2 3 4; do watches "$ALICE$i" "$ALICE"; done
	await 30 all_watch_or_refused
	as "$BOB" "$WORK/bourdon" --db "$DB" top --live --once --json > "$WORK/bob"
	jq -e . "$WORK/bob" > /dev/null
	"$BUILD/bourdon" --db "$DB" top --live --once --json > "$WORK/root"
	jq -e . "$WORK/root" > /dev/null
}

@test "a rule's capture stays while members ask for captures in a loop" {
	write_settings '[database]' 'max_size = 4MiB'
	load
	rule kept 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 50ms/2s' 'history = 1s' 'capture = 1s' 'cooldown = 24h'
	daemon_start
	start cpu_hog --threads $(($(nproc) + 2))
	await_sql 60 "SELECT count(*) FROM capture WHERE rule = 'kept' AND state = 'complete'" 1
	children_end
	own_workload cpu_hog
	start_command "$WORK/$OWN"
	# of this cgroup alone: captures of a busy host are too large for so small a database
	local uid pids=()
	for uid in 54321 54322 54323 54324; do
		loop_captures "$uid" --cgroup "/$CGROUP" &
		pids+=($!)
		CHILDREN+=($!)
	done
	# until many of theirs were removed
	await_log 600 'database is full: .*removed'
	await_log 300 'database is full: .*removed'
	await_log 300 'database is full: .*removed'
	kill "${pids[@]}"
	sql 'SELECT capture_id, rule, asked_by_uid, sample_count FROM capture' >&2
	[ "$(sql "SELECT count(*) FROM capture WHERE rule = 'kept' AND state = 'complete'")" = 1 ]
}

@test "connections of one user that idle, send or ask without end delay nobody" {
	load
	daemon_start
	flood "$ALICE" "$IDLE"
	await 30 grep -q held "$WORK/flood.$ALICE"
	local began
	began=$(date +%s%N)
	as "$BOB" "$WORK/bourdon" --db "$DB" status --json | jq -e '.running' > /dev/null
	echo "status beside 40 idle connections: $((($(date +%s%N) - began) / 1000000)) ms" >&2
	kill "$FLOOD"
	flood "$ALICE" "$ENDLESS"
	wait "$FLOOD"
	echo "swallowed: $(< "$WORK/flood.$ALICE") bytes" >&2
	(($(< "$WORK/flood.$ALICE") < 1 << 20))
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	flood "$ALICE" "$NONSENSE"
	await 120 grep -q many "$WORK/flood.$ALICE"
	as "$BOB" "$WORK/bourdon" --db "$DB" status --json > "$WORK/status"
	kill "$FLOOD"
	jq -c '.problems[]' "$WORK/status" >&2
	jq -e '.problems[] | select(.problem | startswith("connections of users who ask too often"))' "$WORK/status" > /dev/null
	await_log 30 "uid $ALICE asks on the control socket too often"
}

@test "--who lists captures under way, and --end ends one, for who asked and for root" {
	load
	daemon_start
	asks "$ALICE" --all --for 1h --note 'for alice'
	local alice=$ASKED
	await_sql 30 'SELECT count(*) FROM capture' 1
	asks "$BOB" --all --for 1h
	local bob=$ASKED
	await_sql 30 'SELECT count(*) FROM capture' 2
	await 30 who_has "$ALICE" 1
	[ "$(as "$ALICE" "$WORK/bourdon" --db "$DB" capture --who --json | jq -c 'map([.capture_id, .uid, .note])')" = '[[1,54321,"for alice"]]' ]
	[ "$("$BUILD/bourdon" --db "$DB" capture --who --json | jq -c 'map(.capture_id)')" = '[1,2]' ]
	run "$BUILD/bourdon" --db "$DB" capture --who
	echo "$output"
	[[ ${lines[1]} == *'uid 54321'*'--all --for 3600s' ]]
	run as "$BOB" "$WORK/bourdon" --db "$DB" capture --end 1
	[ "$status" -eq 1 ]
	[[ $output == *'no capture on demand of this user has that ID'* ]]
	as "$BOB" "$WORK/bourdon" --db "$DB" capture --end 2
	wait "$bob"
	grep -q 'ended by uid 54322' "$WORK/asked.$BOB.err"
	"$BUILD/bourdon" --db "$DB" capture --end 1
	wait "$alice"
	grep -q 'ended by root (uid 0)' "$WORK/asked.$ALICE.err"
	[ "$(sql "SELECT count(*) FROM capture WHERE state = 'complete' AND ended_at - triggered_at < 3600000000000")" = 2 ]
	[ "$("$BUILD/bourdon" --db "$DB" capture --who)" = 'no capture on demand is under way' ]
}

# who_has UID COUNT: whether so many captures of the user have their IDs
who_has() {
	[ "$(as "$1" "$WORK/bourdon" --db "$DB" capture --who --json | jq 'map(select(.capture_id)) | length')" = "$2" ]
}
