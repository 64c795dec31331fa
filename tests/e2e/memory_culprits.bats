#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Who is behind a shortage of memory: who grew, who looked for free memory, targets or not, and who was killed.
#
# The memory limit is that of a cgroup of the test's own: of version 1 beside cgroup2, or of version 2.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup culprits
}

teardown() {
	bourdon_teardown
}

# victim [OPTION...]: loads; a rule that fires for a process that always runs, beside another on its CPU
victim() {
	own_workload cpu_hog
	rule victim "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 5s' 'cooldown = 1h'
	load "$@"
	daemon_start
}

# start_victim: without the memory limit
start_victim() {
	MEMORY_CGROUP='' ON_CPU=0 start_command "$WORK/$OWN"
	MEMORY_CGROUP='' ON_CPU=0 start_command "$WORK/$OWN"
}

stored() {
	await_status 60 '.captures | length == 0'
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
}

# grower MIB [ARGUMENT...]: holds that much memory from the first SIGUSR1 on
grower() {
	# shellcheck disable=SC2016 # perl's variables
	MEMORY_CGROUP='' start_ahead perl -e '
		$mib = shift; $SIG{USR1} = sub { $held = "x" x ($mib << 20); print "grown\n" };
		$| = 1; print "ready\n"; sleep 1 while 1' "$1"
}

# between LEAST MOST NUMBER
between() {
	awk -v least="$1" -v most="$2" -v number="$3" 'BEGIN { exit !(number >= least && number <= most) }' ||
		{ echo "$3 is not between $1 and $2"; return 1; }
}

@test "who grew is named with how much, and who only is large is not" {
	cgroup_make
	victim
	grower 200
	local large=$CHILD grows
	kill -USR1 "$large"
	IFS= read -r -t 60 -u "$CHILD_OUTPUT" CHILD_LINE
	[ "$CHILD_LINE" = grown ]
	grower 100
	grows=$CHILD
	local output=$CHILD_OUTPUT
	start_victim
	await_log 30 fired
	kill -USR1 "$grows"
	IFS= read -r -t 60 -u "$output" CHILD_LINE
	[ "$CHILD_LINE" = grown ]
	stored
	between 100 112 "$(sql "SELECT (rss_bytes - rss_before_bytes) / 1048576.0 FROM usage JOIN process USING(process_id) WHERE tgid = $grows")"
	# it was large before its capture, if a walk has met it by then; else it began meanwhile
	[[ $(sql "SELECT rss_before_bytes > 200 << 20 OR rss_before_bytes = 0 FROM usage JOIN process USING(process_id) WHERE tgid = $large") == 1 ]]
	between 100 320 "$(sql "SELECT grown_bytes / 1048576.0 FROM memory_group WHERE program = 'perl' AND cgroup = '/$CGROUP'")"
	[ "$(sql "SELECT program FROM memory_group WHERE cgroup = '/$CGROUP' ORDER BY grown_bytes DESC LIMIT 1")" = perl ]
}

@test "time in direct reclaim is that of whoever reclaims, target or not" {
	cgroup_make 64M
	victim
	start mem_hog --size 128MiB
	local hog=$CHILD stalled_us reclaim_ns
	start_victim
	await_log 30 fired
	stalled_us=$(awk -F = '/^some/ { print $NF }' "$CGROUP2/$CGROUP/memory.pressure")
	await_status 60 '.captures | length == 0'
	stalled_us=$(($(awk -F = '/^some/ { print $NF }' "$CGROUP2/$CGROUP/memory.pressure") - stalled_us))
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	sql "SELECT role, comm, reclaims, reclaim_ns, major_faults FROM usage JOIN process USING(process_id) WHERE reclaims > 0 ORDER BY reclaim_ns DESC" >&2
	[ "$(sql "SELECT role FROM usage JOIN process USING(process_id) WHERE tgid = $hog")" = other ]
	reclaim_ns=$(sql "SELECT reclaim_ns FROM usage JOIN process USING(process_id) WHERE tgid = $hog AND reclaims > 100")
	# PSI also counts the wait for what is read again, and weighs it by what else ran
	echo "$((reclaim_ns / 1000)) us in reclaim, PSI $stalled_us us" >&2
	((reclaim_ns > 10000000))
	[ "$(sql "SELECT program FROM memory_group ORDER BY reclaim_ns DESC LIMIT 1")" = mem_hog ]
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $output == *'who reclaimed memory'*$'\nmem_hog '* ]]
}

# eats: takes memory without end from the first SIGUSR1 on
eats() {
	# shellcheck disable=SC2016 # perl's variables
	start_command perl -e '
		$SIG{USR1} = sub { push @held, "x" x (1 << 20) while 1 };
		$| = 1; print "ready\n"; sleep 1 while 1'
}

# killed COLUMNS [CONDITION]: of kills in the test's cgroup, the others are of other programs on this machine
killed() {
	sql "SELECT $1 FROM killed WHERE cgroup = '/$CGROUP' AND ${2-1}"
}

@test "an OOM kill is the kernel's, with the victim, its memory and the limit that was met" {
	cgroup_make 64M
	victim
	eats
	local eater=$CHILD limit
	start_victim
	await_log 30 fired
	kill -USR1 "$eater"
	wait "$eater" || [ $? -eq 137 ]
	stored
	killed 'how, role, comm, tgid, rss_bytes, by_comm, by_tgid, limit_cgroup, limit_bytes' >&2
	# of version 1, a cgroup has a name here, and no path
	limit=/$CGROUP
	[[ -z $MEMORY_CGROUP ]] || limit=$CGROUP
	[ "$(killed 'count(*)')" -eq 1 ]
	[ "$(killed 'how, role, comm, tgid, by_comm, by_tgid, limit_cgroup, limit_bytes, processes')" = \
		"oom|other|perl|$eater|perl|$eater|$limit|$((64 << 20))|1" ]
	between 50 80 "$(killed 'rss_bytes / 1048576.0')"
	[ "$(sql "SELECT at BETWEEN triggered_at AND ended_at FROM killed JOIN capture USING(capture_id) WHERE tgid = $eater")" -eq 1 ]
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $(tr -s ' \n' ' ' <<< "$output") == *"perl[$eater] in /$CGROUP, 6"*" MiB, by the kernel, because $limit had used up its 64 MiB; perl[$eater] in /$CGROUP asked for memory"* ]] ||
		{ echo "$output"; false; }
}

@test "SIGKILL of another process is told with its name; of itself, it is not, and no other signal is" {
	cgroup_make
	victim
	grower 1
	local killed=$CHILD killer
	grower 1
	local ended=$CHILD
	# shellcheck disable=SC2016 # perl's variables
	start_command perl -e '$SIG{USR1} = sub { kill "KILL", $$ }; $| = 1; print "ready\n"; sleep 1 while 1'
	local itself=$CHILD
	cp "$(command -v perl)" "$WORK/assassin"
	# shellcheck disable=SC2016 # perl's variables
	start_command "$WORK/assassin" -e '
		($kills, $ends) = @ARGV; $SIG{USR1} = sub { kill "TERM", $ends; kill "KILL", $kills; };
		$| = 1; print "ready\n"; sleep 1 while 1' "$killed" "$ended"
	killer=$CHILD
	start_victim
	await_log 30 fired
	kill -USR1 "$killer" "$itself"
	wait "$killed" || [ $? -eq 137 ]
	wait "$itself" || [ $? -eq 137 ]
	wait "$ended" || [ $? -eq 143 ]
	stored
	[ "$(killed 'how, role, comm, tgid, by_comm, by_tgid, by_cgroup, limit_cgroup, limit_bytes')" = \
		"signal|other|perl|$killed|assassin|$killer|/$CGROUP||" ] || { killed '*'; false; }
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $(tr -s ' \n' ' ' <<< "$output") == *"perl[$killed] in /$CGROUP, "*", by assassin[$killer] in /$CGROUP "* ]] ||
		{ echo "$output"; false; }
}

@test "kills of and by processes that root's policy denies have no names" {
	printf '%s\n' '[policy]' 'deny_comms = secret*' > "$WORK/policy.conf"
	cgroup_make
	victim --policy "$WORK/policy.conf"
	cp "$(command -v perl)" "$WORK/secret"
	start_command "$WORK/secret" -e '$| = 1; print "ready\n"; sleep 1 while 1'
	local killed=$CHILD seen
	grower 1
	seen=$CHILD
	# shellcheck disable=SC2016 # perl's variables
	start_command "$WORK/secret" -e '$SIG{USR1} = sub { kill "KILL", @ARGV }; $| = 1; print "ready\n"; sleep 1 while 1' \
		"$killed" "$seen"
	local killer=$CHILD
	start_victim
	await_log 30 fired
	kill -USR1 "$killer"
	wait "$killed" || [ $? -eq 137 ]
	wait "$seen" || [ $? -eq 137 ]
	stored
	sql 'SELECT * FROM killed' >&2
	[ "$(killed 'comm, tgid, by_comm, by_tgid, by_cgroup')" = "perl|$seen|||" ]
	[ "$(sql "SELECT how, rss_bytes, cgroup FROM killed WHERE comm IS NULL AND by_comm IS NULL")" = 'signal||' ]
	[ "$(sql "SELECT count(*) FROM killed WHERE comm GLOB 'secret*' OR by_comm GLOB 'secret*' OR tgid = $killed")" -eq 0 ]
}

@test "a user who kills processes without end does not hide who else was killed" {
	cgroup_make
	victim
	# shellcheck disable=SC2016 # perl's variables
	start_command setpriv --reuid 65533 --regid 65533 --clear-groups perl -e '
		$| = 1; print "ready\n";
		while (1) { my $pid = fork; sleep 100 unless $pid; kill "KILL", $pid; waitpid $pid, 0 }'
	local attacker=$CHILD honest span
	grower 1
	honest=$CHILD
	start_victim
	await_log 30 fired
	kill -KILL "$honest"
	wait "$honest" || [ $? -eq 137 ]
	stored
	[ "$(killed 'count(*)' "tgid = $honest AND how = 'signal'")" -eq 1 ]
	# 16 a second, and what a full budget holds
	span=$(sql 'SELECT max(to_at - from_at) / 1000000000 + 1 FROM usage')
	between 17 $((16 * (span + 2))) "$(sql "SELECT count(*) FROM killed WHERE by_tgid = $attacker")"
	# counters are written each few seconds
	await_sql 60 "SELECT ifnull(max(value), 0) > 0 FROM counter WHERE name = 'kills-lost'" 1
}
