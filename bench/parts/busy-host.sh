#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what share of the machine the recorder takes while it captures and names a whole busy host, from the trigger to the
# last name: the CPU time of the daemon, its spawner and all symbolizers. Eight of Debian's programs have begun and take every
# CPU; they map some 100 files. First with a daemon that never saw these files, then again.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source "$TREE/bench/programs.bash"

BUSY_SECONDS=$((4 * ROUND_SECONDS))
MOST_NEW=3 MOST_SEEN=1

# into_cgroup: the daemon and its spawner, whose children begin there
into_cgroup() {
	local pid
	mkdir "$CGROUP2/$CGROUP-daemon"
	trap 'bourdon_teardown; rmdir "$CGROUP2/$CGROUP-daemon"' EXIT
	for pid in $(pgrep -P "$DAEMON") "$DAEMON"; do
		echo "$pid" > "$CGROUP2/$CGROUP-daemon/cgroup.procs"
	done
}

# measure WHICH MOST
measure() {
	local before began ran used files
	doing "$1"
	programs_begin
	before=$(cgroup_cpu_us "$CGROUP2/$CGROUP-daemon")
	began=$(date +%s%N)
	"$BUILD/bourdon" --db "$DB" capture --cgroup "/$CGROUP" --for "${BUSY_SECONDS}s" > "$WORK/capture.log"
	ran=$(($(date +%s%N) - began))
	used=$(($(cgroup_cpu_us "$CGROUP2/$CGROUP-daemon") - before))
	files=$(sql "SELECT count(DISTINCT module_id) FROM sample JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id) JOIN module USING(module_id)
		WHERE capture_id = (SELECT max(capture_id) FROM capture) AND module.kind = 'file'")
	children_end
	row_at_most "$1: CPU of bourdond and its children, from the trigger to the last name ($files files with samples)" \
		"$(printf '%.2f %% of the machine' "$(calc "100 * $used * 1000 / $ran / $CPUS")")" \
		"$(calc "100 * $used * 1000 / $ran / $CPUS")" "$2" %
}

bench_setup busy-host
cgroup_make
programs_prepare
load --hz "$HZ"
daemon_start
into_cgroup
measure 'files never seen' $MOST_NEW
sleep 2 # the machine is calm again
measure 'files seen before' $MOST_SEEN
