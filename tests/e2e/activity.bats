#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The history of activity: what it says of threads in known states, that nothing is lost in its sums, who does not appear,
# and that it is switched, bounded and removed as configured. What `bourdon activity` prints of a history is what SQL says, other
# programs read it, and names that others chose do nothing to a terminal.

bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup activity
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# looks: prints how many looks the daemon has taken
looks() {
	status_json | jq '.counters[] | select(.name == "activity-looks").value'
}

# await_looks NUMBER: waits for so many more
await_looks() {
	await_status 60 ".counters[] | select(.name == \"activity-looks\").value >= $(($(looks) + $1))"
}

# assert_sums: each minute has the threads of its rows, each key a row, and the database is sound
assert_sums() {
	[ "$(sql 'SELECT count(*) FROM activity_minute m WHERE threads <> (SELECT sum(threads) FROM activity a WHERE a.minute_id = m.minute_id)')" -eq 0 ]
	[ "$(sql 'SELECT count(*) FROM activity_key WHERE key_id NOT IN (SELECT key_id FROM activity)')" -eq 0 ]
	"$BUILD/bourdon" --db "$DB" db check
}

# wchan_of PID NAME: the kernel function in which the process's thread of that name waits
wchan_of() {
	local comm
	for comm in "/proc/$1/task"/*/comm; do
		[[ $(< "$comm") != "$2" ]] || cat "${comm%comm}wchan"
	done
}

@test "off by default: there are no looks, and no rows" {
	load
	daemon_start
	await_status 60 '.daemon[0].uptime_ns > 2000000000'
	[ "$(looks)" -eq 0 ]
	daemon_stop TERM
	[ "$(sql 'SELECT (SELECT count(*) FROM activity_minute) + (SELECT count(*) FROM activity_key) + (SELECT count(*) FROM activity)')" -eq 0 ]
}

@test "each thread is in its known state, call and function in 99 % of the looks" {
	local name state call number function looks
	write_settings '[activity]' 'interval = 100ms'
	load
	own_workload states
	start_command "$WORK/$OWN"
	daemon_start
	await_looks 50
	daemon_stop TERM
	sql "SELECT at / 1000000000, looks, steps, missed, threads, bytes FROM activity_minute" >&2
	sql "SELECT state, comm, syscall, function, average, least, most, times FROM activity_minutes WHERE cgroup = '/$CGROUP'" >&2
	looks=$(sql 'SELECT sum(looks) FROM activity_minute')
	[ "$looks" -ge 50 ]
	while read -r name state call number; do
		function= # of pause, the kernel has two names
		[[ $name != in-* ]] || function=$(wchan_of "$CHILD" "$name")
		[ "$(sql "SELECT 100 * sum(threads) >= 99 * $number * $looks FROM activity_minutes WHERE comm = '$OWN' AND
			cgroup = '/$CGROUP' AND state = '$state' AND syscall = '$call' AND '$function' IN (function, '') AND kernel = 0
			AND uid = 0")" = 1 ] || { echo "$name $state $call $function"; false; }
	done <<- END
		in-read S read 1
		in-poll S poll 1
		in-epoll S epoll_pwait 1
		in-sleep S nanosleep 1
		in-futex S futex 3
		in-vfork D vfork 1
		$OWN S pause 1
	END
	[ "$(sql "SELECT sum(threads) FROM activity_minutes WHERE comm = '$OWN' AND cgroup = '/$CGROUP' AND state IN ('running', 'queued')")" -eq $((2 * looks)) ]
	[ "$(sql "SELECT 100 * sum(threads) >= 99 * $looks FROM activity_minutes WHERE comm = 'is-stopped' AND cgroup = '/$CGROUP' AND state = 'T'")" = 1 ]
	[ "$(sql "SELECT 100 * sum(threads) >= 99 * $looks FROM activity_minutes WHERE comm = 'is-traced' AND cgroup = '/$CGROUP' AND state = 't'")" = 1 ]
	[ "$(sql "SELECT 100 * sum(threads) >= 99 * $looks FROM activity_minutes WHERE comm = 'has-ended' AND state = 'Z' AND cgroup = '/$CGROUP'")" = 1 ]
	# a thread that stays has one time, from the first look of the minute on
	[ "$(sql "SELECT count(*) FROM activity_minutes WHERE comm = '$OWN' AND syscall = 'vfork' AND (least <> 1 OR most <> 1 OR times NOT LIKE '[[%,1]]')")" -eq 0 ]
	[ "$(sql "SELECT count(*) > 0 FROM activity_key WHERE kernel AND state = 'I'")" = 1 ]
	assert_sums
}

@test "what policy.conf denies appears nowhere" {
	printf '%s\n' '[policy]' 'deny_uids = 54399' 'deny_comms = st-denied' > "$WORK/policy.conf"
	chmod 0755 "$WORK" # its directory must not be writable by others
	write_settings '[activity]' 'interval = 100ms'
	load --policy "$WORK/policy.conf"
	cp "$BUILD/workloads/states" "$WORK/st-denied"
	start_command "$WORK/st-denied"
	cp "$BUILD/workloads/states" "$WORK/st-of-denied"
	start_command setpriv --reuid 54399 --regid 54399 --clear-groups "$WORK/st-of-denied"
	own_workload states
	start_command "$WORK/$OWN"
	daemon_start
	await_looks 10
	daemon_stop TERM
	[ "$(sql "SELECT count(*) > 0 FROM activity_key WHERE comm = '$OWN'")" = 1 ]
	[ "$(sql "SELECT count(*) FROM activity_key WHERE comm IN ('st-denied', 'st-of-denied') OR uid = 54399")" -eq 0 ]
	assert_sums
}

@test "a reload switches it on, changes it and switches it off" {
	local before
	load
	daemon_start
	write_settings '[activity]' 'interval = 100ms'
	await_log 30 'reloaded'
	await_looks 5
	write_settings '[activity]' 'interval = 200ms'
	await_log 30 'reloaded'
	await_sql 60 'SELECT count(*) > 0 FROM activity_minute WHERE interval_ns = 100000000' 1
	await_looks 5
	write_settings
	await_log 30 'reloaded'
	await_sql 60 'SELECT count(*) > 0 FROM activity_minute WHERE interval_ns = 200000000' 1
	before=$(looks)
	await_status 60 ".daemon[0].uptime_ns > $(status_json | jq '.daemon[0].uptime_ns + 1000000000')"
	[ "$(looks)" -eq "$before" ]
	[ "$(sql 'SELECT sum(looks) FROM activity_minute')" -eq "$before" ]
	assert_sums
}

@test "looks that were due are taken, or counted as missed" {
	write_settings '[activity]' 'interval = 100ms'
	load
	daemon_start
	await_looks 5
	kill -STOP "$DAEMON"
	await 60 has_passed 1000 "$(uptime_ms)"
	kill -CONT "$DAEMON"
	await_looks 5
	daemon_stop TERM
	sql 'SELECT at, steps, looks, missed FROM activity_minute' >&2
	# but where the minute changed while the daemon was stopped
	[ "$(sql "SELECT sum((SELECT ifnull(sum(j.value ->> 1), 0) FROM json_each(missed) j) <> steps - looks) FROM activity_minute")" -eq 0 ]
	[ "$(sql "SELECT count(*) > 1 OR max(steps - looks) >= 9 FROM activity_minute")" = 1 ]
	[ "$(sql "SELECT value >= 9 FROM counter WHERE name = 'activity-looks-missed' ORDER BY at DESC LIMIT 1")" = 1 ]
	assert_sums
}

# uptime_ms: prints the time since the machine's start
uptime_ms() {
	awk '{ print int($1 * 1000) }' /proc/uptime
}

# has_passed MS SINCE: whether so much time has passed since
has_passed() {
	(($(uptime_ms) - $2 >= $1))
}

@test "minutes that are older than keep are removed" {
	write_settings '[activity]' 'interval = 100ms'
	load
	daemon_start
	await_looks 5
	daemon_stop TERM
	[ "$(sql 'SELECT count(*) > 0 FROM activity_minute')" = 1 ]
	sqlite3 "$DB" 'UPDATE activity_minute SET at = at - 3 * 86400 * 1000000000'
	write_settings '[activity]' 'keep = 4d'
	daemon_start
	await_status 60 '.daemon[0].uptime_ns > 1000000000'
	[ "$(sql 'SELECT count(*) > 0 FROM activity_minute')" = 1 ]
	write_settings '[activity]' 'keep = 2d'
	await_sql 60 'SELECT count(*) FROM activity_minute' 0
	await_sql 60 'SELECT (SELECT count(*) FROM activity) + (SELECT count(*) FROM activity_key)' 0
	assert_sums
}

@test "a storm of names stays within its bytes, and in the sums" {
	write_settings '[activity]' 'interval = 1s'
	load
	start comms storm 1500
	daemon_start
	await_looks 3
	daemon_stop TERM
	sql 'SELECT looks, threads, bytes FROM activity_minute' >&2
	[ "$(sql 'SELECT max(bytes) <= 9 * 21504 FROM activity_minute')" = 1 ]
	[ "$(sql "SELECT count(*) > 0 FROM activity_minutes WHERE comm IS NULL AND state = 'S'")" = 1 ]
	[ "$(sql "SELECT sum(threads) >= 1500 * (SELECT sum(looks) FROM activity_minute) FROM activity_minutes WHERE state = 'S' AND ifnull(comm, 'storm') LIKE 'storm%'")" = 1 ]
	assert_sums
}

# ---- bourdon activity, on a database that is written here ----

LAST=1790000000 # 2026-09-21T14:13:20Z, the end of the data
SPAN=(--since 2h --until 2026-09-21T14:13:20Z)

# make_database: writes 100 minutes of three kinds of threads, the last one with a hostile name. Of minute 40 all looks were
# missed, and minutes 50 to 59 are not there.
make_database() {
	make_tables "$DB"
	sqlite3 "$DB" "
		INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(1, 1, '0.1.0', 9, '6.18', 'host', 8, 47);
		INSERT INTO activity_key(key_id, state, comm, kernel, syscall, function, uid, cgroup, unit, container, hash) VALUES
			(1, 'running', 'worker', 0, NULL, NULL, 33, '/system.slice/web.service', 'web.service', NULL, 0),
			(2, 'D', 'mysqld', 0, 'fsync', 'jbd2_log_wait_commit', 101, '/system.slice/mysql.service', 'mysql.service', NULL, 0),
			(3, 'D', 'e\"v,' || char(27) || ']0;x' || char(7) || char(10) || '\"', 0, 'pwrite64', 'f' || char(27) || '[2J', NULL, '/' || char(155), NULL, 'abc', 0);
		INSERT INTO activity_minute
			WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
			SELECT i + 1, 1, ($LAST - 6000 + 60 * i) * 1000000000, 1000000000, 60, iif(i = 40, 0, 60), iif(i = 40, '[[0,60]]', NULL), 0, 0
			FROM n WHERE i NOT BETWEEN 50 AND 59;
		INSERT INTO activity SELECT minute_id, 1, 60 * minute_id, minute_id, minute_id, NULL FROM activity_minute WHERE looks;
		INSERT INTO activity SELECT minute_id, 2, 90, 1, 2, '[[0,1],[30,2]]' FROM activity_minute WHERE looks;
		INSERT INTO activity SELECT minute_id, 3, 30, 0, 3, '[[10,3],[20,0]]' FROM activity_minute WHERE looks;"
}

# activity OPTION...: bourdon activity, of that database
activity() {
	[[ -e $DB ]] || make_database
	"$BUILD/bourdon" --db "$DB" activity "${SPAN[@]}" "$@"
}

# widest FILE: the number of characters in its longest line; mawk counts bytes
widest() {
	python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in open(sys.argv[1], encoding="utf-8")))' "$1"
}

@test "no line is wider than the terminal, and none has a control character" {
	for COLUMNS in 80 100 200; do
		activity > "$WORK/text"
		[ "$(widest "$WORK/text")" -le "$COLUMNS" ]
		run ! env LC_ALL=C grep -aq $'[\x01-\x09\x0b-\x1f\x7f]' "$WORK/text"
		grep -q 'mysqld' "$WORK/text"
	done
	run ! grep -q $'\xc2\x9b' "$WORK/text"
}

@test "jq reads the JSON, and averages are those that SQL computes" {
	activity --json --group-by state > "$WORK/groups"
	jq -r '.groups[] | "\(.state)|\(.average)"' "$WORK/groups" > "$WORK/by-bourdon"
	sql "SELECT state, printf('%.3f', 1.0 * sum(a.threads) / (SELECT sum(looks) FROM activity_minute)) AS average
		FROM activity a JOIN activity_key USING(key_id) GROUP BY state ORDER BY average + 0 DESC" |
		awk -F '|' '{ print $1 "|" $2 + 0 }' > "$WORK/by-sql"
	awk -F '|' '{ print $1 "|" $2 + 0 }' "$WORK/by-bourdon" | cmp - "$WORK/by-sql"
	# of D, two kinds at once: 1 and 3
	jq -e '.groups[] | select(.state == "D") | .most == 4 and .most_is_bound == false' "$WORK/groups"
	activity --json | jq -e '.groups[2] | .comm == "e\"v,\u001b]0;x\u0007\n\"" and .share > 0'
	activity --json --group-by uid,unit,kernel | jq -e '.groups | map([.uid, .unit, .kernel]) | index([[null, null, false]])'
}

@test "Python reads the CSV" {
	activity --csv --group-by comm,container > "$WORK/csv"
	python3 - "$WORK/csv" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline='')))
		assert [row['comm'] for row in rows] == ['worker', 'mysqld', 'e"v,\\x1b]0;x\\x07\\x0a"'], rows
		assert [row['container'] for row in rows] == ['', '', 'abc'], rows
		assert float(rows[1]['average']) == 1.5 and rows[1]['most'] == '2' and rows[1]['looks'] == '5340', rows
	END
}

@test "a span of a few minutes has cells of seconds" {
	SPAN=(--since 2min --until 2026-09-21T14:13:20Z)
	activity --json --group-by comm | jq -e '.cell_seconds == 2 and (.cell_looks | length) == 60
		and (.groups[] | select(.comm == "mysqld") | .cells[0:31] | .[0] == 1 and .[14] == 1 and .[15] == 2 and .[30] == 1)'
}
