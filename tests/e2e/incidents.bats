#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Incidents: which captures belong together, what came first, and the one verdict. What a cooldown hides is in
# tests/unit/test_recorder.c.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup incidents
	cgroup_make
	mkdir "$CGROUP2/$CGROUP/io"
	DATA=$BUILD/incidents.data
}

teardown() {
	bourdon_teardown
	rm -f "$DATA" "$DATA.hog"
}

# io_stalled_us: prints PSI's total of the cgroup "io".
io_stalled_us() {
	sed -n 's/^some .* total=//p' "$CGROUP2/$CGROUP/io/io.pressure"
}

# stall_io MS: writes in the cgroup "io" until that has waited so long for the disk, however fast the disk is.
stall_io() (
	echo "$BASHPID" > "$CGROUP2/$CGROUP/io/cgroup.procs"
	from=$(io_stalled_us)
	while (($(io_stalled_us) - from < $1 * 1000)); do
		dd if=/dev/zero of="$DATA" bs=256K count=4 conv=notrunc oflag=direct,dsync status=none
	done
)

# io_rule LINE...: for the cgroup "io", in which a process sleeps: a watch without targets begins no capture.
io_rule() {
	rule io 'comm = *' "cgroup = /$CGROUP/io" 'io.some = 1%' 'history = 1s' 'capture = 1s' "$@"
}

sleeper_start() {
	CGROUP=$CGROUP/io start_command bash -c 'echo ready; exec sleep 10000'
}

no_capture_under_way() {
	await_status 60 '.captures | length == 0'
}

complete() {
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" "$1"
}

@test "three rules that fire for one noise are one incident: what came first, and one verdict" {
	load
	mkdir "$CGROUP2/$CGROUP"/{web,shop,noise}
	own_workload cpu_hog
	local web=$OWN shown on_cpu=()
	cp "$WORK/$OWN" "$WORK/s$OWN"
	cp "$WORK/$OWN" "$WORK/n$OWN"
	rule web "comm = $web" "cgroup = /$CGROUP/web" 'cpu.some = 25%' 'history = 1s' 'capture = 8s' 'cooldown = 1h'
	rule shop "comm = s$web" "cgroup = /$CGROUP/shop" 'cpu.some = 25%' 'history = 1s' 'capture = 8s' 'cooldown = 1h'
	io_rule 'cooldown = 1h'
	daemon_start
	sleeper_start
	# ahead of the programs of other tests, of which five at most are named as well
	CGROUP=$CGROUP/noise start_ahead "$WORK/n$web" --cpu 0
	on_cpu+=("$CHILD")
	CGROUP=$CGROUP/web start_command "$WORK/$web" --cpu 0
	on_cpu+=("$CHILD")
	CGROUP=$CGROUP/shop start_command "$WORK/s$web" --cpu 0
	on_cpu+=("$CHILD")
	await_log 30 'rule (web|shop) fired'
	await_log 30 'rule (web|shop) fired'
	stall_io 100
	await_log 30 'rule io fired'
	# where the programs have little of the CPUs, the cooldown is short, and a fourth capture would begin
	kill -KILL "${on_cpu[@]}"
	no_capture_under_way
	children_end
	complete 3
	sql 'SELECT * FROM incident; SELECT capture_id, rule, state, triggered_at FROM capture' >&2
	[ "$(sql "SELECT count(*), sum(captures), sum(ended_at IS NULL) FROM incident")" = '1|3|0' ]
	[ "$(sql "SELECT count(DISTINCT incident_id) FROM capture")" -eq 1 ]
	# the cpu pressure came first, and what waited longest for others explains the incident
	[ "$(sql "SELECT i.resource, c.resource, i.verdict = c.verdict, i.blamed_percent = c.blamed_percent FROM incident i
		JOIN capture c ON c.capture_id = i.explained_by")" = 'cpu|cpu|1|1' ]
	[ "$(sql "SELECT count(*) FROM incident WHERE verdict = 'neighbour'")" -eq 1 ]
	[ "$(sql "SELECT group_concat(resource) FROM (SELECT resource FROM incident_capture ORDER BY after_ns)")" = cpu,cpu,io ]
	# onset and trigger of each: within the window that fired, or before
	[ "$(sql "SELECT count(*) FROM capture WHERE onset_at < triggered_at AND onset_at >= triggered_at - 17e9")" -eq 3 ]
	# each capture says to which incident it belongs, and the incident names the noise
	shown=$("$BUILD/bourdon" --db "$DB" why --full)
	[[ $shown == *$'\nincident 1: 3 captures over '* ]] || { echo "$shown"; false; }
	[[ $shown == *'  order     cpu came first, at '*', then io after '* ]] || { echo "$shown"; false; }
	shown=$("$BUILD/bourdon" --db "$DB" why --incident --json)
	jq -e --arg noise "n$web" '[.incident.captures, (.captures | length)] == [3, 3] and
		(.culprits | any(.resource == "cpu" and .program == $noise)) and
		(.culprits | [.[] | [.resource, .role == "kernel", .program, .unit, .container, .cgroup]] | length == (unique | length))' \
		<<< "$shown" || { echo "$shown"; false; }
	jq -e --arg web "$web" '.victims | any(.resource == "cpu" and .program == $web and .stalled_ns > 1e9)' <<< "$shown"
	"$BUILD/bourdon" --db "$DB" db check
}
