#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A user with a cgroup of its own attacks the daemon by its cgroups: by their number, by their paths, and by processes
# that move and rename themselves. And what the kernel programs tell of cgroups: moves, threads, a restart.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/honest.bash"

# The size of the attack
: "${STORM_CGROUPS:=20000}" "${STORM_LONG:=25000}" "${STORM_IDLE:=12}" "${STORM_BURNS:=2}"

setup() {
	bourdon_setup attack_cgroups
	cgroup_make
}

teardown() {
	local storm=$CGROUP2/$CGROUP/storm
	honest_end
	children_end
	[[ ! -d $storm ]] || "$BUILD/workloads/cgroup_storm" --remove "$storm"
	bourdon_teardown
}

# storm_start: a user outside the group gets a cgroup, as from its service manager, and attacks. BAIT is the comm that
# its processes take.
storm_start() {
	local storm=$CGROUP2/$CGROUP/storm line
	mkdir "$storm"
	chown 65533 "$storm" "$storm/cgroup.procs"
	exec {STORM_OUTPUT}< <(
		echo "$BASHPID" > "$storm/cgroup.procs"
		exec setpriv --reuid 65533 --regid 65533 --clear-groups "$BUILD/workloads/cgroup_storm" --comm "$BAIT" \
			--cgroups "$STORM_CGROUPS" --long "$STORM_LONG" --deep --idle "$STORM_IDLE" "$storm"
	)
	STORM=$!
	CHILDREN+=("$STORM")
	IFS= read -r -t $((300 * PATIENCE)) -u "$STORM_OUTPUT" line
	[ "$line" = ready ]
}

# storm_end: sets STORM_MOVES
storm_end() {
	local line
	kill -TERM "$STORM"
	IFS= read -r -t $((300 * PATIENCE)) -u "$STORM_OUTPUT" line
	[[ $line =~ ^moves\ ([0-9]+)$ ]]
	STORM_MOVES=${BASH_REMATCH[1]}
}

# memory_kib: prints the daemon's resident memory
memory_kib() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$DAEMON/status"
}

# bats test_tags=long
@test "a storm of cgroups, of paths of 3.8 KB and beyond PATH_MAX: an honest target is captured, and memory comes back" {
	local i before
	load
	BAIT=bait$BASHPID
	rule bait "comm = $BAIT" 'cgroup = /services/*' 'memory.some = 90%'
	daemon_start
	honest_start
	honest_burn # the first capture of all makes the heap grow
	await 90 honest_captured
	before=$(memory_kib)
	storm_start
	honest_watch_begin
	for ((i = 0; i < STORM_BURNS; i++)); do honest_burn; done
	honest_watch_end
	status_json > "$WORK/status"
	storm_end
	honest_check
	# the attack took place, and its paths were told within the budget of its user
	echo "moves: $STORM_MOVES, status: $(jq -c '.cgroups' "$WORK/status")"
	((STORM_MOVES > 300 * STORM_BURNS))
	jq -e '.cgroups[0] | .bytes <= .bytes_max and .too_long == 1' "$WORK/status"
	jq -e '.counters[] | select(.name == "cgroup-paths-over-budget").value > 0' "$WORK/status"
	# what nobody looks up is forgotten, and its memory goes back to the kernel
	await_status 120 '.cgroups[0].bytes < 20000'
	echo "memory: $before kB before, $(memory_kib) kB after"
	(($(memory_kib) < before + 2048))
	daemon_stop TERM
	[ "$(grep -c "rule bait cannot watch the cgroup .* ($BAIT): its path is longer" "$WORK/daemon.log")" -ge 1 ]
	[ "$(grep -c "rule bait" "$WORK/daemon.log")" -le 5 ] # at most one a minute
}

# sampled_in CGROUP: how many samples on CPU the captures have of the workload there
sampled_in() {
	sql "SELECT ifnull(sum(samples), 0) FROM sample JOIN process USING(process_id)
		WHERE kind = 'on-cpu' AND tgid = $CHILD AND cgroup = '/$CGROUP$1'"
}

unknown_processes() {
	sql "SELECT sum(events) FROM loss WHERE reason = 'unknown-process'"
}

# runs_for MS: waits until the workload has had so much more CPU time
runs_for() {
	local until=$(($(cpu_ms "$CHILD") + $1))
	while (($(cpu_ms "$CHILD") < until)); do sleep 0.02; done
}

@test "a target moves to a cgroup and back before anybody looks for it: its samples there have the path" {
	local name
	load
	own_workload cpu_hog
	rule mover "comm = $OWN" "cgroup = /$CGROUP*" 'cpu.some = 10%' 'history = 1s' 'capture = 10min' 'cooldown = 1h'
	daemon_start
	ON_CPU=0 start_command "$WORK/$OWN" --threads 2
	await_log 30 'rule mover fired'
	for name in one two; do
		mkdir "$CGROUP2/$CGROUP/$name"
		echo "$CHILD" > "$CGROUP2/$CGROUP/$name/cgroup.procs"
		runs_for 400
		echo "$CHILD" > "$CGROUP2/$CGROUP/cgroup.procs"
		rmdir "$CGROUP2/$CGROUP/$name"
	done
	daemon_stop TERM # it keeps what it has captured
	(($(sampled_in '') > 0))
	# 400 ms at 47 Hz are 19 samples
	(($(sampled_in /one) >= 10))
	(($(sampled_in /two) >= 10))
	[ "$(unknown_processes)" -eq 0 ]
}

@test "a thread with a cgroup of its own: its samples have that path, also those after a restart of the daemon" {
	local thread
	load
	own_workload cpu_hog
	ON_CPU=0 start_command "$WORK/$OWN" --threads 2
	mkdir "$CGROUP2/$CGROUP/threads"
	echo threaded > "$CGROUP2/$CGROUP/threads/cgroup.type"
	thread=$(find "/proc/$CHILD/task" -mindepth 1 -maxdepth 1 -not -name "$CHILD" -printf '%f\n' | head -n 1)
	echo "$thread" > "$CGROUP2/$CGROUP/threads/cgroup.threads"
	rule threads "comm = $OWN" "cgroup = /$CGROUP*" 'cpu.some = 10%' 'history = 0s' 'capture = 2s' 'cooldown = 1h'
	for _ in 1 2; do
		daemon_start
		await_log 30 'rule threads fired'
		await_log 90 'captured [0-9]+ stacks'
		daemon_stop TERM
	done
	[ "$(sql 'SELECT count(*) FROM capture')" -eq 2 ]
	[ "$(sql "SELECT count(DISTINCT capture_id) FROM sample JOIN process USING(process_id)
		WHERE kind = 'on-cpu' AND tid = $thread AND cgroup = '/$CGROUP/threads'")" -eq 2 ]
	[ "$(sql "SELECT count(*) FROM sample JOIN process USING(process_id) WHERE tid = $thread AND cgroup <> '/$CGROUP/threads'")" -eq 0 ]
	[ "$(unknown_processes)" -eq 0 ]
}
