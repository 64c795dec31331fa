#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# bourdon activity, on databases that are written here: what it prints is what SQL says, other programs read it, and names that
# others chose do nothing to a terminal.

bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/lib.bash"

LAST=1790000000 # 2026-09-21T14:13:20Z, the end of the data
SPAN=(--since 2h --until 2026-09-21T14:13:20Z)

setup() {
	bourdon_setup activity_report
	export COLUMNS=80
	make_database
}

teardown() {
	bourdon_teardown
}

# make_database: writes 100 minutes of three kinds of threads, the last one with a hostile name. Of minute 40 all looks were
# missed, and minutes 50 to 59 are not there.
make_database() {
	sqlite3 "$DB" < "$TREE/common/schema.sql"
	sqlite3 "$DB" "PRAGMA application_id = 1650749294; PRAGMA user_version = 10;
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
	chown "$TEST_USER:$TEST_GROUP" "$DB"
}

activity() {
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

@test "times without a look are told" {
	activity > "$WORK/text"
	grep -q ' 5340 looks, one each 1 s$' "$WORK/text"
	grep -q '^  60 more were missed$' "$WORK/text"
	grep -q ' no look from 2026-09-21T13:23:20Z to 2026-09-21T13:33:20Z, 10 min$' "$WORK/text"
	grep -q '; in · there was no look$' "$WORK/text"
	activity --json | jq -e '.gaps == [{"from": "2026-09-21T13:23:20Z", "until": "2026-09-21T13:33:20Z"}]
		and .steps == 5400 and .looks == 5340 and (.groups[0].cells | map(. == null) | any)'
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

@test "what is not there is told, with the way to it" {
	SPAN=(--since 2026-09-20T00:00:00Z --until 2026-09-21T00:00:00Z)
	run ! activity
	[[ $output == *"it has looks from 2026-09-21T12:33:20Z to 2026-09-21T14:13:20Z"* ]]
	sqlite3 "$DB" 'DELETE FROM activity; DELETE FROM activity_minute'
	run ! activity
	[[ $output == *"'interval = 1s' below '[activity]'" ]]
	[ "${#lines[@]}" -eq 1 ]
}
