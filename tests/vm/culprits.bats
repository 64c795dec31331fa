#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Culprits on a host with systemd and cgroup v2 alone: services in slices.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"

setup() {
	bourdon_setup culprits
	VICTIM=bdvictim-$BASHPID.service
	HOG=bdhog-$BASHPID.service
}

teardown() {
	systemctl stop --quiet "$VICTIM" "$HOG" 2> /dev/null || true
	bourdon_teardown
}

# start_service UNIT COMMAND...: on CPU 0, as soon as let_go() is called
start_service() {
	# shellcheck disable=SC2016 # it is another shell's
	systemd-run --quiet --collect --unit="$1" "${SERVICE[@]}" --property=CPUAffinity=0 \
		sh -c 'read -r word < "$0"; exec "$@"' "$WORK/go" "${@:2}"
}

# is_waiting UNIT: its shell is in open() of the FIFO
is_waiting() {
	grep -qs wait_for_partner "/proc/$(systemctl show -P MainPID "$1")/wchan"
}

# let_go UNIT...: all begin at once
let_go() {
	local unit
	for unit; do
		await 30 is_waiting "$unit"
	done
	: > "$WORK/go"
}

# used_ns CGROUP: the CPU time that the kernel counts for it
used_ns() {
	awk '$1 == "usage_usec" { print $2 * 1000 }' "$CGROUP2$1/cpu.stat"
}

@test "a neighbour in another slice has the name of its unit and the function that it was in, and the victim its own" {
	load
	# without a comm: whatever the service runs
	rule victim "unit = $VICTIM" 'cpu.some = 20%' 'history = 1s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
	mkfifo "$WORK/go"
	SERVICE=(--slice=batch.slice)
	start_service "$HOG" "$BUILD/workloads/cpu_hog"
	SERVICE=()
	start_service "$VICTIM" "$BUILD/workloads/cpu_hog"
	let_go "$HOG" "$VICTIM"
	# while this test reads the first capture, worse pressure may begin another one
	await_sql 120 "SELECT state FROM capture WHERE capture_id = 1" complete
	sql 'SELECT verdict, victim, wait, blamed_percent FROM capture WHERE capture_id = 1' >&2
	sql 'SELECT * FROM culprit_group WHERE capture_id = 1' >&2
	# on an emulated CPU the recorder may take as much as the hog, and is named, too
	[[ $(sql 'SELECT verdict, victim FROM capture WHERE capture_id = 1') == "neighbour"*"|cpu_hog in $VICTIM" ]]
	[ "$(sql "SELECT count(*) FROM culprit WHERE capture_id = 1 AND program = 'cpu_hog' AND unit = '$HOG'")" = 1 ]
	[ "$(sql "SELECT sum(samples) FILTER (WHERE stack GLOB '*burn_cpu*') > 0 FROM culprit_stack WHERE capture_id = 1 AND unit = '$HOG'")" = 1 ]
	[ "$(sql "SELECT role, cgroup FROM culprit_group WHERE capture_id = 1 AND unit = '$HOG'")" = "other|/batch.slice/$HOG" ]
	[ "$(sql "SELECT DISTINCT unit FROM sample JOIN process USING(process_id) WHERE capture_id = 1")" = "$VICTIM" ]
	# as the kernel counts it; half of one CPU is the hog's slice's, the victim's slice has this test, too
	[ "$(sql "SELECT cpu_ns BETWEEN 0.4 * 4e9 AND $(used_ns "/batch.slice/$HOG") FROM culprit_group WHERE capture_id = 1 AND unit = '$HOG'")" = 1 ]
	[ "$(sql "SELECT cpu_ns BETWEEN 1 AND $(used_ns "/system.slice/$VICTIM") FROM culprit_group WHERE capture_id = 1 AND unit = '$VICTIM'")" = 1 ]
}
