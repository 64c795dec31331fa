#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Errors of bourdond and bourdon: one clear line and the documented exit status.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup errors
}

teardown() {
	bourdon_teardown
}

daemon() {
	"$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --state-dir "$STATE_DIR" \
		--rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf" --user "$TEST_USER" --group "$TEST_GROUP" "$@"
}

fails_saying() {
	[ "$status" -eq "$1" ] || { echo "status $status: $output"; false; }
	[[ ${lines[-1]} == *"$2"* ]] || { echo "$output"; false; }
}

@test "mistakes in a rules file: each with file, line and reason" {
	printf '%s\n' '[rule web]' 'comm = a-name-that-is-too-long' 'cpu.some = 50ms' 'memory.sum = 5%' \
		'io.full = 3s/2s' > "$RULES_DIR/web.conf"
	run daemon --check-config
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -ge 4 ]
	local file=$RULES_DIR/web.conf
	[[ $output == *"$file:2: comm = a-name-that-is-too-long: longer than 15 bytes, so it never matches"* ]]
	[[ $output == *"$file:3: cpu.some = 50ms: expected"* ]]
	[[ $output == *"$file:4: unknown key 'memory.sum'"* ]]
	[[ $output == *"$file:5: io.full = 3s/2s: the stall is longer than its window"* ]]
}

@test "--check-config of a valid rule: exit 0" {
	rule web 'comm = nginx' 'cgroup = /system.slice/*' 'memory.some = 50ms/1s' 'io.full = 200ms/2s' \
		'watch = cgroup' 'history = 10s' 'capture = 5s' 'cooldown = 60s'
	run daemon --check-config
	[ "$status" -eq 0 ]
	[[ $output != *'rules.d'* ]]
}

@test "a mistake in bourdon.conf: file, line and reason" {
	printf '%s\n' '[database]' 'max_size = 12' > "$WORK/bourdon.conf"
	run daemon --check-config
	fails_saying 1 'bourdon.conf:2: max_size = 12: expected a size with its unit'
}

@test "nothing loaded: exit 1, and the line says to run bourdon-load" {
	rule web 'comm = nginx' 'cpu.some = 5%'
	run daemon
	fails_saying 1 'run bourdon-load first'
}

@test "pins of another ABI are refused" {
	local bytes
	load
	rule web 'comm = nginx' 'cpu.some = 5%'
	sed -i 's/^abi = .*/abi = 999/' "$RUN_DIR/manifest"
	run daemon
	fails_saying 1 'ABI 999'
	load
	rm "$PIN_DIR/targets"
	bpftool map create "$PIN_DIR/targets" type hash key 4 value 8 entries 10 name targets
	run daemon
	fails_saying 1 "the pin $PIN_DIR/targets is a map of type 1 with 4-byte keys and 8-byte values"
	load
	bytes=$(bpftool -j map show pinned "$PIN_DIR/control" | jq .bytes_value)
	# shellcheck disable=SC2046 # a word for each byte
	bpftool map update pinned "$PIN_DIR/control" key 0 0 0 0 value 99 $(printf '0 %.0s' $(seq $((bytes - 1))))
	run daemon
	fails_saying 1 'have ABI 99, but this bourdond has ABI'
}

@test "a second daemon for the same pins or the same database is refused" {
	load
	rule web 'comm = nginx' 'cpu.some = 5%'
	daemon_start
	run daemon
	fails_saying 1 "cannot lock the pin directory $PIN_DIR: another bourdond uses it"
	local other=${PIN_DIR}_other
	"$BUILD/bourdon-load" --pin-dir "$other" --run-dir "$WORK/other-run" --group "$TEST_GROUP"
	run daemon --pin-dir "$other" --run-dir "$WORK/other-run"
	"$BUILD/bourdon-load" --unload --pin-dir "$other" --run-dir "$WORK/other-run"
	fails_saying 1 'another bourdond uses it'
	[ "$(sql 'SELECT count(*) FROM run')" -eq 1 ]
}

@test "a pin directory that does not belong to root is refused" {
	load
	rule web 'comm = nginx' 'cpu.some = 5%'
	chown "$TEST_USER" "$PIN_DIR"
	run daemon
	fails_saying 1 "the pin directory $PIN_DIR must belong to root"
}

@test "inherited descriptors are closed; closed standard ones are /dev/null" {
	load
	rule web 'comm = nginx' 'cpu.some = 5%'
	exec 9< /etc/shadow
	daemon_start
	exec 9<&-
	run ls -l "/proc/$DAEMON/fd"
	[[ $output != *shadow* ]]
	daemon_stop TERM
	"$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --state-dir "$STATE_DIR" --rules-dir "$RULES_DIR" \
		--user "$TEST_USER" --group "$TEST_GROUP" <&- >&- 2>&- & DAEMON=$!
	exec {DAEMON_LOG}< /dev/null
	await_sql 10 'SELECT count(*) FROM run' 2
	[ "$(readlink "/proc/$DAEMON/fd/0" "/proc/$DAEMON/fd/1" "/proc/$DAEMON/fd/2" | sort -u)" = /dev/null ]
	daemon_stop TERM
	# its spawner has ended, too
	[ "$(pgrep -c -f -- "--pin-dir $PIN_DIR")" -eq 0 ]
}

@test "a file or database of another program is refused and unchanged" {
	load
	rule web 'comm = nginx' 'cpu.some = 5%'
	echo 'not a database, but somebody may need it: at least a hundred bytes of text, so that it looks like a file' > "$DB"
	chown "$TEST_USER:$TEST_GROUP" "$DB"
	local before
	before=$(sha256sum < "$DB")
	run daemon
	fails_saying 1 'file is not a database'
	[ "$(sha256sum < "$DB")" = "$before" ]
	rm "$DB"
	sqlite3 "$DB" 'CREATE TABLE mine(a)'
	chown "$TEST_USER:$TEST_GROUP" "$DB"
	run daemon
	fails_saying 1 "another program's database"
}

@test "a state directory that cannot be written: exit 1, and its path" {
	load
	rule web 'comm = nginx' 'cpu.some = 5%'
	chown root:root "$STATE_DIR"
	run daemon
	fails_saying 1 "$DB"
}

@test "--user root and unknown accounts are refused" {
	load
	run "$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --user root --group "$TEST_GROUP"
	fails_saying 1 'user root is root'
	run "$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --user no_such_user --group "$TEST_GROUP"
	fails_saying 1 'no such account'
	run setpriv --reuid 1 --regid 1 --clear-groups "$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	fails_saying 1 "$PIN_DIR"
}

@test "usage mistakes: exit 2, one line" {
	local arguments
	for arguments in '--nonsense' '--rules-dir' 'word' '--check-config=yes'; do
		# shellcheck disable=SC2086
		run "$BUILD/bourdond" $arguments
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	for arguments in '--nonsense' '' 'nonsense' 'why x' 'why 1 2' 'list 1' '--json folded' 'diff' 'diff 1' 'diff 1 2 3'; do
		# shellcheck disable=SC2086
		run "$BUILD/bourdon" --db /nonexistent $arguments
		[ "$status" -eq 2 ] || { echo "$arguments: $status $output"; false; }
		[ "${#lines[@]}" -eq 1 ] || { echo "$arguments: $output"; false; }
	done
	run "$BUILD/bourdond" --help
	[ "$status" -eq 0 ]
	for subcommand in '' list show why top diff folded symbolize status doctor; do
		# shellcheck disable=SC2086
		run "$BUILD/bourdon" $subcommand --help
		[ "$status" -eq 0 ]
		[ "${#lines[@]}" -le 24 ]
		[[ $output == "Usage: bourdon ${subcommand:-[OPTION...] SUBCOMMAND}"*'Example: bourdon '* ]]
	done
}

@test "bourdon without a usable database or capture: exit 1, one line" {
	run "$BUILD/bourdon" --db "$WORK/none.db" list
	fails_saying 1 "$WORK/none.db"
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e "$WORK/none.db" ]
	sqlite3 "$WORK/other.db" 'CREATE TABLE capture(capture_id)'
	run "$BUILD/bourdon" --db "$WORK/other.db" list
	fails_saying 1 "$WORK/other.db"
	make_tables "$WORK/empty.db"
	run "$BUILD/bourdon" --db "$WORK/empty.db" why
	fails_saying 1 'no capture in '
	[[ $output != *'bourdon list'* ]]
	run "$BUILD/bourdon" --db "$WORK/empty.db" why 7
	fails_saying 1 'no capture in '
	run "$BUILD/bourdon" --db "$WORK/empty.db" list
	[ "$status" -eq 0 ]
}
