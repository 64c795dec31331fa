#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The daemon started without root: with the one capability that opens /sys/fs/bpf, or with no capability and
# pins on a BPF file system of their own. And its messages to a service manager.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup unprivileged
	cgroup_make
	touch "$WORK/bourdon.conf"
}

teardown() {
	bourdon_teardown
}

WITHOUT=(--inh-caps=-all --bounding-set=-all) # any capability

# daemon_as OPTION...: executes the daemon as $TEST_USER, with these options of setpriv.
daemon_as() {
	exec setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$@" \
		"$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --state-dir "$STATE_DIR" \
		--rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf" --grant-socket "$GRANT_SOCKET"
}

# daemon_start_as OPTION...: starts the daemon in this way and waits until it is ready.
daemon_start_as() {
	exec {DAEMON_LOG}< <(daemon_as "$@" 2>&1)
	DAEMON=$!
	await_log 10 'ready:'
}

has_no_capability() {
	local set
	for set in CapPrm CapEff CapInh CapAmb; do
		grep -qx "$set:	0000000000000000" "/proc/$DAEMON/status"
	done
	grep -qx 'NoNewPrivs:	1' "/proc/$DAEMON/status"
	grep -qx 'Seccomp:	2' "/proc/$DAEMON/status"
}

@test "started with CAP_DAC_READ_SEARCH alone: it opens its pins and drops the capability" {
	private_bpffs 0700
	load
	rule hog 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 400ms/2s'
	daemon_start_as --inh-caps=-all,+dac_read_search --ambient-caps=+dac_read_search \
		--bounding-set=-all,+dac_read_search
	has_no_capability
	for child in $(pgrep -P "$DAEMON"); do
		grep -qx 'CapEff:	0000000000000000' "/proc/$child/status"
	done
}

@test "started without capabilities below a directory of root: the error names CAP_DAC_READ_SEARCH" {
	private_bpffs 0700
	load
	run daemon_as "${WITHOUT[@]}"
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} == *"cannot open the pin directory $PIN_DIR: Permission denied; run bourdond with CAP_DAC_READ_SEARCH" ]]
}

@test "an empty pin directory: the error says to run bourdon-load" {
	mkdir "$WORK/empty"
	PIN_DIR=$WORK/empty run daemon_as "${WITHOUT[@]}"
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} == *"nothing is loaded: there is no $RUN_DIR/manifest; run bourdon-load first" ]]
}

@test "pins on a BPF file system of their own: a capture without capabilities, and a clean unload" {
	private_bpffs 0711
	load
	rule hog 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 400ms/2s' 'history = 1s' 'capture = 2s' 'cooldown = 1h'
	grant_start
	daemon_start_as "${WITHOUT[@]}" --no-new-privs
	grep -qx 'CapBnd:	0000000000000000' "/proc/$DAEMON/status"
	has_no_capability
	start cpu_hog --threads 4
	await_status 10 '.watches[0].trigger_mode == "kernel"'
	await_sql 30 "SELECT count(*) FROM capture WHERE state = 'complete' AND trigger_mode = 'kernel'" 1
	stop "$CHILD"
	[ "$(sql "SELECT count(*) > 0 FROM frame WHERE function = 'burn_cpu'")" -eq 1 ]
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 0 ]
	# a user outside the group
	run setpriv --reuid 1 --regid 1 --clear-groups ls "$WORK/bpf"
	[[ $output == *'Permission denied'* ]]
	run setpriv --reuid 1 --regid 1 --clear-groups ls "$PIN_DIR"
	[[ $output == *'Permission denied'* ]]
	# new pins end the daemon
	load
	await_log 10 'the pins were replaced or removed'
	daemon_wait
	daemon_start_as "${WITHOUT[@]}"
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	await_log 10 'the pins were replaced or removed'
	[ -z "$(find "$WORK/bpf" -mindepth 1 -not -name '*.debug')" ]
	mountpoint -q "$WORK/bpf"
}

# messages: prints the messages to the service manager so far, without times.
messages() {
	sed 's/^MONOTONIC_USEC=[0-9]*$/MONOTONIC_USEC=N/' "$WORK/messages"
}

has_message() {
	messages | grep -qx "$1"
}

has_reloaded_twice() {
	local reloads
	reloads=$(messages | grep -c RELOADING=1)
	((reloads >= 2)) && [ "$(messages | grep -c READY=1)" -eq $((reloads + 1)) ]
}

@test "sd_notify: ready, reloading, watchdog, stopping" {
	load
	rule one 'comm = bdtest-1' 'cpu.some = 90%'
	# a datagram socket that writes each message to the file
	perl -MIO::Socket::UNIX -e '$| = 1; my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
		while (defined $s->recv(my $m, 4096)) { print $m }' "$WORK/notify" > "$WORK/messages" &
	CHILDREN+=($!)
	await 5 test -S "$WORK/notify"
	chmod 0666 "$WORK/notify"
	NOTIFY_SOCKET=$WORK/notify WATCHDOG_USEC=2000000 daemon_start
	await 5 has_message READY=1
	await 5 has_message 'STATUS=1 rule, 0 targets, 0 watches'
	await 10 has_message WATCHDOG=1
	kill -HUP "$DAEMON"
	await 10 has_message MONOTONIC_USEC=N
	rule two 'comm = bdtest-2' 'cpu.some = 900%'
	await 10 has_message "STATUS=1 rule, 0 targets, 0 watches; not in force: $RULES_DIR/two.conf:3: .*"
	# each RELOADING=1 is followed by a READY=1; other changes in the directory may cause more reloads
	await 10 has_reloaded_twice
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	await 5 has_message STOPPING=1
}
