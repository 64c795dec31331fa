#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What a new user meets: the steps without units, a second load, a missing directory, mistakes, watches
# without a kernel trigger.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup newuser
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# without_units: runs every block of docs/WITHOUT_UNITS.md in a mount namespace of its own, where /etc, /run,
# /var, /usr/local and the BPF file system are private.
without_units() {
	unshare --mount --propagation private bash -eu "$BATS_TEST_DIRNAME/without_units.sh" "$TREE" "$WORK"
}

@test "docs/WITHOUT_UNITS.md: its blocks start, reload and stop everything, and nothing is left" {
	run without_units
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *'replaced what was loaded at /sys/fs/bpf/bourdon'*"start it again with 'bourdond'"* ]]
	[[ ${lines[-1]} == 'nothing is left' ]]
}

@test "bourdon-load says that it replaced a load, and that the daemon ends; so does the daemon" {
	run load
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run load
	[ "$output" = "bourdon-load: replaced what was loaded at $PIN_DIR" ]
	rule quiet 'comm = nothing' 'cpu.some = 1s/2s'
	daemon_start
	run load
	[[ ${lines[0]} == "bourdon-load: replaced what was loaded at $PIN_DIR" ]]
	[[ ${lines[1]} == *"the bourdond that runs there ends now, because a confined daemon cannot open new pins; start it again with '"*bourdond"'"* ]]
	await_log 10 "ending: the pins were replaced or removed by bourdon-load.*start it again with 'bourdond'"
	daemon_wait
	[ "$DAEMON_STATUS" -eq 0 ]
	run "$BUILD/bourdon" --db "$DB" status
	[ "$status" -eq 1 ]
	[[ ${lines[0]} == "no bourdond is running for $DB: start it with '"*bourdond"'" ]]
	[[ ${lines[1]} == 'its last run began '*', with 0 captures' ]]
}

@test "--check-config: a --rules-dir that does not exist is a mistake; what is valid is counted" {
	run "$BUILD/bourdond" --rules-dir /nope --check-config
	[ "$status" -eq 1 ]
	[[ $output == *'/nope: cannot read the directory of rules: No such file or directory' ]]
	run "$BUILD/bourdond" --rules-dir "$RULES_DIR" --check-config
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == *"no rules in $RULES_DIR: nothing will be captured"* ]]
	[ "${lines[1]}" = 'configuration is valid: 0 rules in 0 files' ]
	rule one 'comm = a' 'cpu.some = 5%'
	run "$BUILD/bourdond" --rules-dir "$RULES_DIR" --check-config
	[ "$output" = 'configuration is valid: 1 rule in 1 file' ]
	printf '[rule x]\ncomm = b\nio.some = 5%%\n[rule y]\ncomm = c\nio.some = 5%%\n' > "$RULES_DIR/two.conf"
	run "$BUILD/bourdond" --rules-dir "$RULES_DIR" --check-config
	[ "$output" = 'configuration is valid: 3 rules in 2 files' ]
	run "$BUILD/bourdond" --rules-dir "$TREE/systemd/examples" --check-config
	[ "$status" -eq 1 ] # it holds drop-ins for units, too
	install -m 0644 "$TREE/systemd/examples/web.conf" "$WORK/web.conf"
	grep -q '^cpu.some' "$WORK/web.conf"
}

@test "status and doctor: every mistake of a refused configuration, no rule, locked memory" {
	load
	daemon_start
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *"remedy: add a file with a rule to $RULES_DIR"* ]]
	printf '%s\n' '[rule bad]' 'comm = a' 'foo = 1' 'bar = 2' > "$RULES_DIR/bad.conf"
	await_log 10 'reload refused; keeping the previous configuration'
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *"not in force: $RULES_DIR/bad.conf:3: unknown key 'foo'"*"not in force: $RULES_DIR/bad.conf:4: unknown key 'bar'"* ]]
	status_json | jq -e '.mistakes | length == 3'
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *"configuration           warning reload refused; keeping the previous configuration: $RULES_DIR/bad.conf:3:"* ]]
	[[ $output == *"remedy: correct the file: bourdond then reads it by itself; 'bourdon status' shows every mistake"* ]]
	for _ in {1..20}; do echo 'foo = 1'; done >> "$RULES_DIR/bad.conf"
	await_status 10 '[.mistakes[] | select(.more)] | length == 1'
	run "$BUILD/bourdon" --db "$DB" status
	[ "$(grep -c '^  not in force: ' <<< "$output")" -eq 8 ]
	[[ $output == *"  and "*" more: see bourdond's log"* ]]
	rm "$RULES_DIR/bad.conf"
	await_status 10 '.mistakes == []'
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *'configuration           ok      in force: 0 rules'* ]]
	# doctor itself reports what is wrong with a database
	printf 'no database, and long enough to be looked at as one: %0100d' 0 > "$WORK/wrong.db"
	run "$BUILD/bourdon" --db "$WORK/wrong.db" --run-dir "$RUN_DIR" doctor
	[[ $output == *"cannot read '$WORK/wrong.db'"*'file is not a database'* ]]
	[[ $output != *'line above'* ]]
}

@test "memory that is not locked for long: the log and status name the remedy" {
	load
	DAEMON_BY='prlimit --memlock=8388608:8388608' daemon_start
	run cat "$WORK/daemon.log"
	[[ $output == *'RLIMIT_MEMLOCK is below 128 MiB; set LimitMEMLOCK=128M in the unit, or, without one, run '"'ulimit -l 131072'"* ]]
	status_json | jq -e '.daemon[0].locked_memory == "present"'
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'RLIMIT_MEMLOCK is below 128 MiB'*'remedy: set LimitMEMLOCK=128M'* ]]
	daemon_stop TERM
	prlimit --memlock=134217728:134217728 true || return 0 # fails in a container
	DAEMON_BY='prlimit --memlock=134217728:134217728' daemon_start
	status_json | jq -e '.daemon[0].locked_memory == "all"'
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output != *MEMLOCK* ]]
}

# reason_is PATTERN: the only watch has a mode and a reason that match
# shellcheck disable=SC2053 # it is a pattern
reason_is() {
	[[ $(status_json | jq -r '.watches[0] | .trigger_mode + ": " + .reason') == $1 ]]
}

@test "a sampled watch says why: no helper, a limit, a refusal; the log says it, and what the helper granted" {
	load
	rule one 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 900ms/1s'
	start cpu_hog --threads 1
	daemon_start
	await 10 reason_is "sampled: bourdon-grant cannot be reached at $GRANT_SOCKET"
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'cpu.some=900ms/1s'* ]]
	[[ $output == *"    sampled: bourdon-grant cannot be reached at $GRANT_SOCKET"* ]]
	# another cpu_hog of the machine is a target, too, until its cgroup is known
	[[ $output == *'1 rule, '*' target'*', 1 watch, 0 captures under way'* ]]
	daemon_stop TERM
	write_settings '[triggers]' 'short_windows = 0'
	grant_start
	daemon_start
	await 10 reason_is 'sampled: the limit ?triggers? short_windows = 0 is reached'
	daemon_stop TERM
	write_settings
	rule one 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 1900ms/2s'
	daemon_start
	await 10 reason_is 'kernel: '
	grep -Eq 'bourdon-grant: granted process [0-9]+ of uid [0-9]+ \(pressure [0-9]+ cpu 2000000\)' "$WORK/grant.log"
	daemon_stop TERM
	children_end
	rm "$GRANT_SOCKET"
	start cpu_hog --threads 1
	grant_start --user root # the daemon's user is another one, and is refused
	daemon_start
	await 10 reason_is "sampled: bourdon-grant refused: only the consumer's user and root may ask"
	await_log 5 "rule one reads cpu.some of /$CGROUP once a second: bourdon-grant refused"
	grep -q "refused process .*: only the consumer's user and root may ask" "$WORK/grant.log"
	daemon_stop TERM
	children_end
	rm "$GRANT_SOCKET"
	start cpu_hog --threads 1
	setpriv --bounding-set -sys_resource --inh-caps -sys_resource systemd-socket-activate --accept -l "$GRANT_SOCKET" \
		"$BUILD/bourdon-grant" --user "$TEST_USER" --pin-dir "$PIN_DIR" 2> "$WORK/grant.log" &
	CHILDREN+=($!)
	until [[ -S $GRANT_SOCKET ]]; do sleep 0.05; done
	chown "$TEST_USER" "$GRANT_SOCKET"
	rule one 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 900ms/1s'
	daemon_start
	await 10 reason_is 'sampled: the kernel refused the trigger: *CAP_SYS_RESOURCE'
}

@test "symbolize says which frames it can never name" {
	make_tables "$WORK/new.db"
	sqlite3 "$WORK/new.db" "
		INSERT INTO module(module_id, path, version, kind) VALUES(1, '/tmp/mill', '', 'file');
		INSERT INTO frame_row(module_id, offset, function) VALUES(1, 16, 'mill+0x10'), (1, 32, 'mill+0x20')"
	run "$BUILD/bourdon" --db "$WORK/new.db" symbolize
	[ "$status" -eq 0 ]
	[[ $output == *'nothing to do'*'2 frames of 1 file cannot be named: the database has no build ID of the file'* ]]
}
