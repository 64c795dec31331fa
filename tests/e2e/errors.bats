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

@test "usage mistakes: exit 2, one line" {
	local program
	for program in bourdond bourdon bourdon-load bourdon-grant; do
		run "$BUILD/$program" --nonsense
		fails_saying 2 "unknown option '--nonsense': see '$program --help'"
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "--check-config: 0 for a valid rule, 1 for a mistake, with file, line and reason" {
	rule web 'comm = nginx' 'cgroup = /system.slice/*' 'memory.some = 50ms/1s' 'io.full = 200ms/2s' \
		'watch = cgroup' 'history = 10s' 'capture = 5s' 'cooldown = 60s'
	run daemon --check-config
	[ "$status" -eq 0 ]
	[[ $output != *'rules.d/web.conf:'* ]]
	rule web 'comm = nginx' 'cpu.some = 50ms'
	run daemon --check-config
	[ "$status" -eq 1 ]
	[[ $output == *"$RULES_DIR/web.conf:3: cpu.some = 50ms: expected"* ]]
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

# bats test_tags=no-load
@test "a FIFO in the place of a file is an error, and nothing waits for its other end" {
	local kind
	mkfifo "$WORK/fifo"
	for kind in list why status 'db check' 'export --format csv'; do
		# shellcheck disable=SC2086
		run timeout 60 "$BUILD/bourdon" --db "$WORK/fifo" $kind
		[ "$status" -eq 1 ] || { echo "$kind: $status"; false; }
	done
	run timeout 60 "$BUILD/bourdon" --db "$WORK/fifo" list
	fails_saying 1 "cannot read '$WORK/fifo': it or a file beside it is a FIFO: name a file that bourdond wrote with --db"
	# the files of a log that SQLite opens by itself
	for kind in wal journal; do
		cp "$TREE/tests/example.db" "$WORK/$kind.db"
		mkfifo "$WORK/$kind.db-$kind"
		run timeout 60 "$BUILD/bourdon" --db "$WORK/$kind.db" list
		[ "$status" -ne 124 ] || { echo "$kind"; false; }
	done
	# settings, rules, root's policy, a manifest and the pin of threads
	mkfifo "$RULES_DIR/fifo.conf"
	run timeout 60 "$BUILD/bourdond" --check-config --config "$WORK/bourdon.conf" --rules-dir "$RULES_DIR"
	fails_saying 1 'not a regular file'
	rm "$RULES_DIR/fifo.conf"
	run timeout 60 "$BUILD/bourdond" --check-config --config "$WORK/fifo" --rules-dir "$RULES_DIR"
	fails_saying 1 'not a regular file'
	run timeout 60 "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group root --policy "$WORK/fifo"
	[[ $status -eq 1 && $output == *'it is not a regular file'* ]]
	mkdir -p "$RUN_DIR/bpf"
	mkfifo "$RUN_DIR/manifest" "$RUN_DIR/bpf/threads"
	run timeout 60 "$BUILD/bourdon" threads --run-dir "$RUN_DIR" --once
	[[ $status -eq 1 && $output == *"cannot read $RUN_DIR/bpf/threads: "* ]]
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
