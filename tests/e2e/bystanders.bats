#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Whoever runs on a CPU is sampled, if root's policy allows: a capture shows what those were doing that took the CPU from
# its targets, apart from the targets' own stacks.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup bystanders
	cgroup_make
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/other"
}

teardown() {
	bourdon_teardown
}

# watch_victim: a rule that fires for a process that shares its CPU
watch_victim() {
	own_workload cpu_hog
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 1s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
}

# start_victim: begins the pressure, and waits for the capture of it
start_victim() {
	CGROUP=$CGROUP/victim ON_CPU=0 start_ahead "$WORK/$OWN"
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
}

# others COLUMNS: of the samples of the process that was started last
others() {
	sql "SELECT $1 FROM other_sample JOIN process USING(process_id) WHERE tgid = $CHILD"
}

@test "a capture shows what the process that took the CPU was doing, whole and apart from the targets" {
	load --hz 97
	watch_victim
	cp "$BUILD/workloads/cpu_hog" "$WORK/b$OWN"
	CGROUP=$CGROUP/other ON_CPU=0 start_ahead "$WORK/b$OWN"
	local bystander=$CHILD
	await 30 is_listed "$bystander"
	await_tables "$bystander"
	start_victim
	CHILD=$bystander
	sql "SELECT role, comm, stack, samples, percent FROM culprit_stack LIMIT 5" >&2
	[ "$(others 'DISTINCT role, comm, uid')" = "other|b$OWN|0" ]
	[ "$(others cgroup | sort -u)" = "/$CGROUP/other" ]
	# the two share one CPU
	[ "$(sql "SELECT sum(samples) BETWEEN 80 AND 500 FROM other_sample JOIN process USING(process_id) WHERE tgid = $bystander")" = 1 ]
	local half
	half=$(sql "SELECT 100 * (SELECT sum(samples) FROM other_sample JOIN process USING(process_id) WHERE tgid = $bystander) /
		(SELECT sum(samples) FROM sample WHERE kind = 'on-cpu')")
	echo "$half samples of the bystander for 100 of the target" >&2
	((half > 50 && half < 200))
	# whole stacks, with names; the history may reach back to before its tables
	[ "$(sql "SELECT 100 * sum(samples) FILTER (WHERE ended = 'root') >= 95 * sum(samples) FROM other_sample JOIN stack USING(stack_id)
		JOIN process USING(process_id) WHERE tgid = $bystander AND second >= 0")" = 1 ]
	[ "$(sql "SELECT 100 * sum(samples) FILTER (WHERE stack GLOB '*main;*burn_cpu*') >= 95 * sum(samples) FROM culprit_stack
		WHERE role = 'other' AND comm = 'b$OWN'")" = 1 ]
	[ "$("$BUILD/bourdon" --db "$DB" why --json | jq -r --arg comm "b$OWN" '[.others[] | select(.comm == $comm)][0].frames[0].function')" = burn_cpu ]
	"$BUILD/bourdon" --db "$DB" why --full | grep -q '^what others than the targets were doing'
	# what covers targets does not have them
	[ "$(sql "SELECT group_concat(DISTINCT comm) FROM sample JOIN process USING(process_id)")" = "$OWN" ]
	[ "$(sql "SELECT group_concat(DISTINCT comm) FROM hot_stack")" = "$OWN" ]
	sql 'SELECT DISTINCT tgid, comm, exe, cgroup FROM sample JOIN process USING(process_id)' >&2
	[ "$(sql 'SELECT processes FROM capture_summary')" -eq 1 ]
	"$BUILD/bourdon" --db "$DB" db check
}

@test "kernel threads have kernel stacks" {
	load --hz 997
	watch_victim
	# shellcheck disable=SC2016
	CGROUP=$CGROUP/other start_command bash -c 'echo ready; while :; do dd if=/dev/zero of="$0" bs=1M count=64 conv=fsync 2> /dev/null; done' "$WORK/data"
	CGROUP=$CGROUP/other ON_CPU=0 start_ahead "$BUILD/workloads/cpu_hog"
	start_victim
	sql "SELECT comm, stack, samples FROM culprit_stack WHERE role = 'kernel' LIMIT 5" >&2
	[ "$(sql "SELECT count(*) > 0 FROM culprit_stack WHERE role = 'kernel' AND instr(stack, 'kthread_[k];')")" = 1 ]
	[ "$(sql "SELECT count(*) FROM other_sample JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id) JOIN module USING(module_id)
		WHERE role = 'kernel' AND module.kind NOT IN ('kernel', 'module')")" -eq 0 ]
	[ "$(sql "SELECT count(*) FROM other_sample JOIN process USING(process_id) WHERE comm GLOB 'swapper*'")" -eq 0 ]
}

@test "root's policy says whether others and kernel threads are sampled" {
	printf '%s\n' '[policy]' 'bystanders = no' 'kernel_threads = no' > "$WORK/policy.conf"
	load --hz 97 --policy "$WORK/policy.conf"
	watch_victim
	CGROUP=$CGROUP/other ON_CPU=0 start_ahead "$BUILD/workloads/cpu_hog"
	start_victim
	(($(sql 'SELECT sum(samples) FROM sample') > 50))
	[ "$(sql 'SELECT count(*) FROM other_sample')" -eq 0 ]
	[ "$(sql 'SELECT policy FROM run')" = 'bystanders = no; kernel_threads = no' ]
}

@test "a denied process is not sampled as another's neighbour, either" {
	printf '%s\n' '[policy]' 'deny_uids = 1005' > "$WORK/policy.conf"
	load --hz 97 --policy "$WORK/policy.conf"
	watch_victim
	CGROUP=$CGROUP/other ON_CPU=0 start_ahead setpriv --reuid 1005 --regid 1005 --clear-groups "$BUILD/workloads/cpu_hog"
	local denied=$CHILD
	CGROUP=$CGROUP/other ON_CPU=0 start_ahead "$BUILD/workloads/cpu_hog"
	local allowed=$CHILD
	start_victim
	CHILD=$allowed
	(($(others 'sum(samples)') > 20))
	CHILD=$denied
	# before setpriv had done its work, it was a process of root
	[ "$(others "group_concat(DISTINCT comm) FILTER (WHERE comm NOT IN ('bash', 'setsid', 'nice', 'setpriv'))")" = '' ]
	if is_listed "$denied"; then return 1; fi
}
