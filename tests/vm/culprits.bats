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

# start_service UNIT COMMAND...: on CPU 0
start_service() {
	systemd-run --quiet --collect --unit="$1" "${SERVICE[@]}" --property=CPUAffinity=0 "${@:2}"
}

@test "a neighbour in another slice has the name of its unit and the function that it was in, and the victim its own" {
	load
	# without a comm: whatever the service runs
	rule victim "unit = $VICTIM" 'cpu.some = 20%' 'history = 1s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
	SERVICE=(--slice=batch.slice)
	start_service "$HOG" "$BUILD/workloads/cpu_hog"
	SERVICE=()
	start_service "$VICTIM" "$BUILD/workloads/cpu_hog"
	await_sql 120 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	sql 'SELECT cause, because FROM capture'
	[ "$(sql 'SELECT cause FROM capture')" = 'competing processes' ]
	# on an emulated CPU the recorder may take more than the hog, and is named then
	[ "$(sql "SELECT because GLOB '* took *, mostly in *, while cpu_hog[[]*] in $VICTIM ran *' FROM capture")" = 1 ]
	[ "$(sql "SELECT sum(samples) FILTER (WHERE stack GLOB '*burn_cpu*') > 0 FROM culprit_stack WHERE unit = '$HOG'")" = 1 ]
	[ "$(sql "SELECT role, cgroup FROM culprit_group WHERE unit = '$HOG'")" = "other|/batch.slice/$HOG" ]
	[ "$(sql "SELECT DISTINCT unit FROM sample JOIN process USING(process_id)")" = "$VICTIM" ]
	# the two share one CPU of all
	[ "$(sql "SELECT abs(cpu_ns - (SELECT cpu_ns FROM culprit_group WHERE unit = '$VICTIM')) < 0.2 * cpu_ns FROM culprit_group
		WHERE unit = '$HOG'")" = 1 ]
}
