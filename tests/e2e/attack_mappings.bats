#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# An ordinary user has processes with as many executable mappings as the kernel allows, all of them targets, beside an
# honest target: it keeps its names and tables, and a new process gets them, while the daemon uses little CPU time and
# says which process it is.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/honest.bash"

# An emulated machine has not the time for the numbers of the attack.
PROCESSES=${ATTACK_PROCESSES:-$((PATIENCE > 1 ? 3 : 40))}
MAPPINGS=${ATTACK_MAPPINGS:-60000}
USED=2048 # UNWIND_MAPPINGS_MAX
ATTACKER=65533

setup() {
	bourdon_setup attack-mappings
	cgroup_make
	ATTACK=$CGROUP/attack
	mkdir "$CGROUP2/$ATTACK"
	own_workload many_mappings
}

teardown() {
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill" || true
	honest_end
	bourdon_teardown
}

# attack: starts the attackers
attack() {
	CGROUP=$ATTACK start_command setpriv --reuid "$ATTACKER" --regid "$ATTACKER" --clear-groups --no-new-privs \
		"$WORK/$OWN" --processes "$PROCESSES" --mappings "$MAPPINGS"
}

# attackers_known: whether the daemon knows, and says, that each of them has more mappings than it uses; its status is in
# $WORK/status.json
attackers_known() {
	status_json > "$WORK/status.json" 2> /dev/null
	jq -e ".unwind[0].processes_cut == $PROCESSES" "$WORK/status.json" > /dev/null
}

# begin_targets: begins a target three times a second, for each of which the daemon scans the mappings; in the attackers'
# cgroup, so that all of them end with it
begin_targets() {
	echo "$BASHPID" > "$CGROUP2/$ATTACK/cgroup.procs"
	while true; do
		timeout 0.3 "$WORK/$OWN" --processes 1 --mappings 1 > /dev/null
	done
}

# assert_bounded: the daemon said which process it was, and used little CPU time
assert_bounded() {
	cat "$WORK/daemon.log" # shown if this fails
	local per_mille=$(($(honest_figure cpu_ms) * 1000 / $(honest_figure watched_ms)))
	echo "# $PROCESSES processes with $MAPPINGS mappings: bourdond and its children used $per_mille per mille of a CPU" >&3
	((per_mille <= 250 * PATIENCE))
	grep -Eq "process [0-9]+ \($OWN\) of uid $ATTACKER has [0-9]{4,5} memory mappings, the most of [0-9]+ processes? with more than $USED; .* of [0-9]+ processes? only $USED executable mappings" \
		"$WORK/daemon.log"
	[ "$(grep -c 'memory mappings, the most of' "$WORK/daemon.log")" -le $((2 + $(honest_figure watched_ms) / 60000)) ]
	! grep 'holds its mmap lock;' "$WORK/daemon.log" # a scan that waited for a CPU names nobody
}

@test "processes with 60,000 executable mappings each: an honest target has its tables and names, also a new one" {
	load
	daemon_start
	rule attackers "comm = $OWN" "cgroup = /$ATTACK" 'cpu.some = 99%'
	honest_start
	honest_watch_begin
	attack
	begin_targets &
	CHILDREN+=($!)
	honest_burn
	honest_run
	honest_burn
	await 60 attackers_known
	honest_watch_end
	children_end
	honest_check > "$WORK/checked" || { cat "$WORK/checked" "$WORK/daemon.log"; false; }
	sed 's/^/# /' "$WORK/checked" >&3
	jq -e ".problems | any(.problem | startswith(\"$PROCESSES processes have more than $USED executable mappings\"))" "$WORK/status.json"
	daemon_stop TERM
	assert_bounded
}
