#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# All CPU time of a capture's span is somebody's: targets, others, programs that lived for milliseconds, kernel threads.
# And so are the bytes.

# bats file_tags=alone

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup machine
	cgroup_make
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/other"
}

teardown() {
	bourdon_teardown
}

# loop COMMAND: runs the command again and again under bash, in the cgroup of the others. Writes to $WORK/entered how many ns of CPU
# time that bash had when it began: most of it was used before it entered the cgroup.
loop() {
	CGROUP=$CGROUP/other start_command bash -c "read -r ns _ < /proc/\$\$/schedstat; echo \$ns >> $WORK/entered; echo ready; while :; do $1; done"
}

# victim: a rule that fires for a process that always runs
victim() {
	own_workload cpu_hog
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 1s' 'capture = 6s' 'cooldown = 1h'
	daemon_start
}

start_victim() {
	CGROUP=$CGROUP/victim ON_CPU=0 start_command "$WORK/$OWN"
}

# between LEAST MOST NUMBER
between() {
	awk -v least="$1" -v most="$2" -v number="$3" 'BEGIN { exit !(number >= least && number <= most) }' ||
		{ echo "$3 is not between $1 and $2"; return 1; }
}

# adds_up: the parts are all time of all CPUs, and hardly anything is unexplained. Without CONFIG_PARAVIRT_TIME_ACCOUNTING a thread's
# time may hold what the hypervisor took meanwhile, which is told as steal, too.
adds_up() {
	sql 'SELECT part, ns, percent FROM machine_time' >&2
	[ "$(sql 'SELECT count(*) FROM machine_time')" -eq 11 ]
	between 98 "$(sql "SELECT 102 + percent FROM machine_time WHERE part = 'steal'")" "$(sql "SELECT 100.0 * sum(ns) / ((max(to_at) - min(from_at)) * $(nproc)) FROM machine_time")"
	between 0 2 "$(sql "SELECT percent FROM machine_time WHERE part = 'unaccounted'")"
}

@test "a storm of short-lived programs has its CPU time, its name, its parent and its share" {
	load
	victim
	loop /bin/true
	local loop=$CHILD
	ON_CPU=0 loop /bin/true
	loop /bin/true
	start_victim
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	adds_up
	# each bash has a row of its own; the kernel counted what is below the cgroup of the others
	local counted named before
	counted=$(cgroup_cpu_us "$CGROUP2/$CGROUP/other")
	named=$(sql "SELECT sum(cpu_ns) / 1000 FROM culprit_group WHERE cgroup = '/$CGROUP/other'")
	before=$(awk '{ sum += $1 } END { print int(sum / 1000) }' "$WORK/entered")
	echo "of $counted us, and at most $before us before, $named us have a name" >&2
	((named > 0 && named <= counted + before))
	[ "$(sql "SELECT parent || ' ' || count(DISTINCT parent_tgid) FROM ended WHERE comm = 'true' AND cgroup = '/$CGROUP/other'")" = 'bash 3' ]
	[ "$(sql "SELECT count(*) FROM ended WHERE comm = 'true' AND parent_tgid = $loop")" -eq 1 ]
	(($(sql "SELECT sum(processes) FROM ended WHERE comm = 'true' AND cgroup = '/$CGROUP/other'") > 500))
	# the programs of one cgroup together: a hog elsewhere on the machine may have taken more than one of them
	[[ $(sql 'SELECT verdict, cgroup FROM culprit GROUP BY cgroup ORDER BY sum(ns) DESC LIMIT 1') == "neighbour"*"|/$CGROUP/other" ]]
}

@test "bytes of programs that ended are not their parent's, too" {
	load
	own_workload cpu_hog
	rule bytes "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 1s' 'capture = 5s' 'cooldown = 1h'
	daemon_start
	CGROUP=$CGROUP/other start_command bash -c "echo ready; while :; do dd if=/dev/zero of=$WORK/data bs=1M count=16 2> /dev/null; done"
	local loop=$CHILD
	cp "$(command -v dd)" "$WORK/direct"
	loop "$WORK/direct if=/dev/zero of=$WORK/more bs=1M count=16 oflag=direct 2> /dev/null"
	ON_CPU=0 loop :
	start_victim
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	local programs of_dd of_bash
	IFS='|' read -r programs of_dd <<< "$(sql "SELECT sum(processes), sum(write_bytes) FROM ended WHERE comm = 'dd' AND cgroup = '/$CGROUP/other'")"
	of_bash=$(sql "SELECT write_bytes FROM usage JOIN process USING(process_id) WHERE tgid = $loop")
	echo "$programs dd wrote $of_dd bytes, bash $of_bash" >&2
	((programs > 3))
	between 0.99 1.01 "$(awk -v bytes="$of_dd" -v programs="$programs" 'BEGIN { print bytes / programs / 2 ^ 24 }')"
	((of_bash < 1 << 20))
	# those that a walk saw have rows of their own
	of_dd=$((of_dd + $(sql "SELECT ifnull(sum(write_bytes), 0) FROM usage JOIN process USING(process_id) WHERE comm = 'dd' AND cgroup = '/$CGROUP/other'")))
	between 98 102 "$(sql "SELECT 100.0 * sum(write_bytes) / $of_dd FROM culprit_group WHERE cgroup = '/$CGROUP/other' AND program <> 'direct'")"
	# what goes past the page cache is on a disk at once; of other pages some are not
	sql 'SELECT part, read_bytes, write_bytes FROM machine_bytes' >&2
	[ "$(sql "SELECT sum(write_bytes) > 0 AND sum(write_bytes) <= (SELECT write_bytes FROM machine_bytes WHERE part = 'disks')
		FROM ended WHERE comm = 'direct'")" = 1 ]
	[ "$(sql "SELECT b.write_bytes = (SELECT sum(write_bytes) FROM ended WHERE role <> 'kernel') FROM machine_bytes b WHERE part = 'short-lived'")" = 1 ]
	[ "$(sql "SELECT sum(write_bytes * iif(part = 'disks', 1, -1)) = 0 AND sum(read_bytes * iif(part = 'disks', 1, -1)) = 0 FROM machine_bytes")" = 1 ]
	"$BUILD/bourdon" --db "$DB" why --full | grep -A1 '^bytes read and written' >&2
}

@test "a rule for the whole host names the program that the others wait for, and its share" {
	load
	own_workload cpu_hog
	local first=$OWN second
	cp "$WORK/$OWN" "$WORK/b$OWN"
	second=b$OWN
	rule all 'comm = *' "cgroup = /$CGROUP/*" 'cpu.some = 10%' 'watch = system' 'history = 1s' 'capture = 6s' 'cooldown = 1h'
	daemon_start
	CGROUP=$CGROUP/other ON_CPU=0 start_command "$WORK/$second"
	CGROUP=$CGROUP/other ON_CPU=0 start_command "$WORK/$second"
	CGROUP=$CGROUP/other ON_CPU=0 start_command "$WORK/$second"
	CGROUP=$CGROUP/victim ON_CPU=0 start_command "$WORK/$first"
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	adds_up
	[ "$(sql "SELECT percent < 20 FROM machine_time WHERE part = 'others'")" = 1 ] || skip 'others used the CPUs'
	# the three wait for each other, three times as long as the fourth
	sql 'SELECT victim, wait, role, party, percent FROM blame_share' >&2
	[ "$(sql 'SELECT verdict, victim FROM capture')" = "own threads|$second in /$CGROUP/other" ]
	[ "$(sql "SELECT party FROM blame_share WHERE wait = 'queued' AND victim LIKE '$first in %' LIMIT 1")" = "$second in /$CGROUP/other" ]
	# three of four threads on one CPU
	local of_second
	of_second=$(sql "SELECT 100.0 * sum(cpu_ns) FILTER (WHERE program = '$second') / sum(cpu_ns) FROM culprit_group WHERE role = 'target'")
	between 72 78 "$of_second"
}

@test "kernel threads have their time, and their kind is one group" {
	load
	victim
	CGROUP=$CGROUP/other start_command bash -c "echo ready; while :; do dd if=/dev/zero of=$WORK/data bs=1M count=64 conv=fsync 2> /dev/null; done"
	start_victim
	start_victim # they wait for each other
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	adds_up
	sql "SELECT program, processes, cpu_ns FROM culprit_group WHERE role = 'kernel' LIMIT 5" >&2
	(($(sql "SELECT cpu_ns FROM culprit_group WHERE role = 'kernel' AND program = 'kworker'") > 0))
	[ "$(sql "SELECT count(*) FROM culprit_group WHERE role = 'kernel' AND program GLOB 'kworker?*'")" -eq 0 ]
	[ "$(sql "SELECT sum(ns) FROM machine_time WHERE part = 'kernel threads'")" -gt 0 ]
}

@test "a process that ends within the span has all its CPU time, and one that policy denies has no name" {
	printf '%s\n' '[policy]' 'deny_comms = secret*' > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf"
	victim
	cp "$BUILD/workloads/cpu_hog" "$WORK/secret"
	cp "$BUILD/workloads/cpu_hog" "$WORK/brief$$"
	CGROUP=$CGROUP/other start_command "$WORK/secret"
	local secret=$CHILD denied
	CGROUP=$CGROUP/other start_command "$WORK/brief$$"
	local brief=$CHILD ran
	start_victim
	await_log 30 fired
	denied=$(ran_ns "$secret")
	# not at a walk: the walks are a second apart
	sleep 2.5
	denied=$(($(ran_ns "$secret") - denied))
	ran=$(ran_ns "$brief")
	kill -KILL "$brief"
	# shellcheck disable=SC2016 # that bash's $0
	CGROUP=$CGROUP/other start_command bash -c 'echo ready; while :; do "$0" --no-such-option 2> /dev/null; done' "$WORK/secret"
	await_status 60 '.captures | length == 0'
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	adds_up
	# from the walk before the capture on, and it began after that
	between 99 103 "$(sql "SELECT 100.0 * cpu_ns / $ran FROM usage JOIN process USING(process_id) WHERE tgid = $brief")"
	((denied > 0 && $(sql "SELECT ns FROM machine_time WHERE part = 'denied'") >= denied))
	[ "$(sql "SELECT count(*) FROM process WHERE comm GLOB 'secret*'") " = '0 ' ]
	[ "$(sql "SELECT count(*) FROM ended WHERE comm GLOB 'secret*' OR parent GLOB 'secret*'")" -eq 0 ]
}
