#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine that is short of memory as a whole, and whoever acts then: kswapd, which reclaims; kworkers, which write back;
# systemd-oomd, which kills.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"

OOMD_SETTINGS=/run/systemd/oomd.conf.d/bourdon.conf

setup() {
	bourdon_setup shortage
	cgroup_make
	[ -e "$CGROUP2/$CGROUP/memory.max" ]
	echo +memory > "$CGROUP2/$CGROUP/cgroup.subtree_control"
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/other"
	FILE=/var/tmp/bourdon-file-$BASHPID # /tmp may be in memory
	KSWAPD=$(pgrep -x kswapd0)
	UNIT=bdthrashes-$BASHPID.service
	# CPU 0 is the victim's: this shell, the daemon and what else they start keep off it
	taskset -p -c 1 "$BASHPID" > /dev/null
}

teardown() {
	taskset -p -c 0,1 "$KSWAPD" > /dev/null
	echo 10 > /proc/sys/vm/dirty_background_ratio # the kernel's own
	systemctl stop --quiet "$UNIT" 2> /dev/null || true
	systemctl reset-failed --quiet "$UNIT" 2> /dev/null || true
	bourdon_teardown
	rm -f "$FILE"
	if [ -e "$OOMD_SETTINGS" ]; then
		rm "$OOMD_SETTINGS"
		systemctl restart systemd-oomd
	fi
}

# victim SECONDS: a rule that fires for a process that always runs on CPU 0
victim() {
	own_workload cpu_hog
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 5%' 'history = 1s' "capture = $1s" 'cooldown = 1h'
	load
	daemon_start
}

start_victim() {
	CGROUP=$CGROUP/victim ON_CPU=0 start_command "$WORK/$OWN"
}

# stored: waits until the first capture is in the database. Until the workload ends, worse pressure may begin another one, also
# within the cooldown: statements say capture_id = 1.
stored() {
	await_status 60 '.captures | length == 0'
	children_end
	await_sql 60 "SELECT state FROM capture WHERE capture_id = 1" complete
	sql 'SELECT rule, verdict, victim, wait, blamed_percent FROM capture WHERE capture_id = 1' >&2
}

# of_file FILE NAME: the number after that name
of_file() {
	awk -v name="$2" '$1 == name || $1 == name ":" { print $2 }' "$1"
}

# pages_scanned: by the kernel, to find free memory for the whole host
pages_scanned() {
	awk '$1 == "pgscan_kswapd" || $1 == "pgscan_direct" { sum += $2 } END { print sum }' /proc/vmstat
}

@test "kswapd that reclaims what another program reads has its CPU time, its name and its stack, and the victim waits for it" {
	local before ran
	truncate -s 2304M "$FILE"
	taskset -p -c 0 "$KSWAPD" > /dev/null
	victim 5
	before=$(ran_ns "$KSWAPD")
	# reads the holes of a file larger than memory into the page cache, again and again; memory is full after once
	# shellcheck disable=SC2016 # perl's variables
	CGROUP=$CGROUP/other start_command perl -e '
		require "sys/syscall.ph"; open $file, "<", $ARGV[0] or die; $| = 1;
		sub read_all { syscall(&SYS_fadvise64, fileno $file, $_ << 17, 1 << 17, 3) for 0 .. 18431 }
		read_all; print "ready\n"; read_all while 1' "$FILE"
	(($(ran_ns "$KSWAPD") > before))
	start_victim
	# looking at the status keeps the program from its CPU
	renice -n 10 "$BASHPID" > /dev/null
	await_log 60 fired
	stored
	ran=$(($(ran_ns "$KSWAPD") - before))
	sql 'SELECT part, ns, percent FROM machine_time WHERE capture_id = 1 AND ns > 0' >&2
	sql 'SELECT role, cgroup, program, cpu_ns, percent FROM culprit_group WHERE capture_id = 1 LIMIT 8' >&2
	sql "SELECT comm, samples, percent, stack FROM culprit_stack WHERE capture_id = 1 AND role = 'kernel' LIMIT 5" >&2
	echo "the kernel counts $ran ns of kswapd0" >&2
	# the capture's span is within that of the two readings
	[ "$(sql "SELECT cpu_ns BETWEEN 1 AND $ran FROM usage JOIN process USING(process_id) WHERE capture_id = 1 AND role = 'kernel' AND comm = 'kswapd0' AND tgid = $KSWAPD")" = 1 ]
	[ "$(sql "SELECT count(*) FROM culprit_group WHERE capture_id = 1 AND role = 'kernel' AND program = 'kswapd' AND processes = 1")" = 1 ]
	[ "$(sql "SELECT ns >= (SELECT cpu_ns FROM culprit_group WHERE capture_id = 1 AND program = 'kswapd') FROM machine_time WHERE capture_id = 1 AND part = 'kernel threads'")" = 1 ]
	# between two of its samples' functions there may be others; a stack may begin in an interrupt
	[ "$(sql "SELECT sum(samples) FILTER (WHERE stack GLOB '*;kswapd_[[]k];balance_pgdat_[[]k];*') * 2 > sum(samples)
		FROM culprit_stack WHERE capture_id = 1 AND role = 'kernel' AND comm = 'kswapd0'")" = 1 ]
	# it took less than the program that reads, which is on another CPU
	[[ $(sql 'SELECT verdict, victim FROM capture WHERE capture_id = 1') == "neighbour|$OWN in "* ]]
	[ "$(sql 'SELECT role, tgid FROM culprit WHERE capture_id = 1 LIMIT 1')" = "kernel|$KSWAPD" ]
}

@test "pages that another program dirtied are written by kworkers, which have their time and their stack" {
	victim 4
	echo $((4 << 20)) > /proc/sys/vm/dirty_background_bytes
	# shellcheck disable=SC2016 # perl's variables
	CGROUP=$CGROUP/other start_command perl -e '
		open $file, ">", $ARGV[0] or die; $| = 1; print "ready\n"; $block = "x" x (1 << 20);
		while (1) { sysseek $file, 0, 0; syswrite $file, $block for 1 .. 64 }' "$FILE"
	start_victim
	start_victim # they wait for each other
	await_log 60 fired
	stored
	sql "SELECT program, processes, cpu_ns FROM culprit_group WHERE capture_id = 1 AND role = 'kernel' LIMIT 5" >&2
	sql "SELECT comm, samples, stack FROM culprit_stack WHERE capture_id = 1 AND role = 'kernel' LIMIT 5" >&2
	[ "$(sql "SELECT cpu_ns > 0 FROM culprit_group WHERE capture_id = 1 AND role = 'kernel' AND program = 'kworker'")" = 1 ]
	[ "$(sql "SELECT sum(samples) > 0 FROM culprit_stack WHERE capture_id = 1 AND role = 'kernel' AND comm GLOB 'kworker/*' AND stack GLOB '*;wb_workfn_[[]k];*'")" = 1 ]
	[ "$(sql "SELECT ns > 0 FROM machine_time WHERE capture_id = 1 AND part = 'kernel threads'")" = 1 ]
}

@test "memory of the whole machine that runs out is a memory shortage, with who grew" {
	local scanned eater before after
	own_workload mem_hog
	rule whole "comm = $OWN" 'memory.some = 10%' 'watch = system' 'history = 1s' 'capture = 20s' 'cooldown = 1h'
	load
	daemon_start
	CGROUP=$CGROUP/victim start_command "$WORK/$OWN" --size 192MiB --file "$FILE"
	scanned=$(pages_scanned)
	# takes all but what the victim needs, then more until the rule fires, and 96 MiB; it is the first to be killed, if anyone
	# shellcheck disable=SC2016 # perl's variables
	CGROUP=$CGROUP/other start_command perl -e '
		open $score, ">", "/proc/self/oom_score_adj" or die; syswrite $score, "1000"; $| = 1;
		$SIG{USR1} = sub { $fired = 1 };
		sub grow { my $more = ""; vec($more, ($_[0] << 20) - 1, 8) = 1; push @held, $more }
		grow($ARGV[0]); print "ready\n";
		for ($left = 12; $left > 0; $left -= $fired) { grow($fired ? 8 : 2); select undef, undef, undef, 0.25 }
		sleep 1 while 1' $(($(of_file /proc/meminfo MemAvailable) / 1024 - 192))
	eater=$CHILD
	renice -n -10 "$eater" > /dev/null # it has to grow within the capture, also on a busy host
	await_log 60 fired
	before=$(of_file "/proc/$eater/status" VmRSS)
	kill -USR1 "$eater"
	await_status 60 '.captures | length == 0'
	after=$(of_file "/proc/$eater/status" VmRSS)
	scanned=$(($(pages_scanned) - scanned))
	stored
	sql 'SELECT role, program, rss_before_bytes, rss_bytes, grown_bytes, reclaim_ns, cpu_ns FROM memory_group WHERE capture_id = 1 LIMIT 5' >&2
	sql 'SELECT cgroup, anon_before_bytes, anon_bytes, file_before_bytes, file_bytes, refaulted_bytes FROM cgroup_memory WHERE capture_id = 1' >&2
	sql "SELECT name, before, after FROM statistic WHERE source = 'vmstat' AND capture_id = 1" >&2
	echo "the kernel scanned $scanned pages; perl had $before KiB, then $after" >&2
	# who grew is named, as a neighbour if most of the wait is charged to it
	[[ $(sql 'SELECT verdict FROM capture WHERE capture_id = 1') == @('memory shortage'|neighbour) ]]
	[ "$(sql 'SELECT program, cgroup FROM memory_group WHERE capture_id = 1 LIMIT 1')" = "perl|/$CGROUP/other" ]
	# between the two readings, but pages of the program's file come and go
	[ "$(sql "SELECT rss_bytes BETWEEN $((before - 8192)) * 1024 AND $((after + 8192)) * 1024 AND rss_bytes - rss_before_bytes >= 16 << 20
		FROM usage JOIN process USING(process_id) WHERE capture_id = 1 AND tgid = $eater")" = 1 ]
	# the capture's span is within that of the two readings
	[ "$(sql "SELECT ifnull(sum(after - before), 0) <= $scanned AND $scanned > 0 FROM statistic WHERE capture_id = 1 AND source = 'vmstat' AND name IN ('pgscan_kswapd', 'pgscan_direct')")" = 1 ]
	[ "$(sql "SELECT cpu_ns > 0 FROM memory_group WHERE capture_id = 1 AND role = 'kernel' AND program = 'kswapd'")" = 1 ]
	[ "$(sql "SELECT anon_bytes - anon_before_bytes >= 2 << 20 FROM cgroup_memory WHERE capture_id = 1 AND cgroup = '/'")" = 1 ]
	[ "$(sql "SELECT refaulted_bytes > 0 FROM cgroup_memory WHERE capture_id = 1 AND cgroup = '/$CGROUP/victim'")" = 1 ]
	[ "$(sql "SELECT count(*) FROM killed WHERE how = 'oom'")" = 0 ]
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $output == *$'\nwho grew by '*$'\nperl '*$'\nwho reclaimed memory: '*$'\nkswapd '* ]] || { echo "$output"; false; }
}

# was_killed UNIT: systemd knows that systemd-oomd killed it
was_killed() {
	[ "$(systemctl show -P Result "$1")" = oom-kill ]
}

@test "systemd-oomd that kills a service is named, with its unit" {
	local pid
	mkdir -p "${OOMD_SETTINGS%/*}"
	printf '%s\n' '[OOM]' 'DefaultMemoryPressureDurationSec=2s' > "$OOMD_SETTINGS"
	systemctl restart systemd-oomd
	rule service "unit = $UNIT" 'memory.some = 10%' 'history = 1s' 'capture = 15s' 'cooldown = 1h'
	load
	daemon_start
	systemd-run --quiet --unit="$UNIT" --property=MemoryMax=48M --property=ManagedOOMMemoryPressure=kill \
		--property=ManagedOOMMemoryPressureLimit=5% "$BUILD/workloads/mem_hog" --size 96MiB --file "$FILE"
	pid=$(systemctl show -P MainPID "$UNIT")
	await_log 60 fired
	await 60 was_killed "$UNIT"
	stored
	sql 'SELECT (k.at - triggered_at) / 1e9, k.* FROM killed k JOIN capture USING(capture_id) WHERE capture_id = 1' >&2
	[ "$(sql 'SELECT how, role, comm, tgid, unit, by_comm, by_tgid, by_unit, limit_cgroup, processes FROM killed WHERE capture_id = 1')" = \
		"oomd|target|mem_hog|$pid|$UNIT|systemd-oomd|$(systemctl show -P MainPID systemd-oomd)|systemd-oomd.service||1" ]
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $(tr -s ' \n' ' ' <<< "$output") == *"mem_hog[$pid] in $UNIT, "*", by systemd-oomd["*"] in systemd-oomd.service "* ]] ||
		{ echo "$output"; false; }
}
