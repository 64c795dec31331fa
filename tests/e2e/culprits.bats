#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Known answers: who took the resource, by name, place, share and function. The share is that of the kernel's own
# counters for the test's cgroups and processes, over the same span (truth.bash).

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/truth.bash"

setup() {
	bourdon_setup culprits
	cgroup_make
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/other"
	own_workload cpu_hog
	TRUTH=
	V1_CGROUP=
}

teardown() {
	truth_teardown
}

# named NAME: a copy of cpu_hog, whose comm is NAME
named() {
	cp "$BUILD/workloads/cpu_hog" "$WORK/$1"
}

# in_cgroup NAME COMMAND...: start_command in that cgroup below ours, in a session of its own: the kernel gives the
# processes of each session the same part of a CPU
in_cgroup() {
	CGROUP=$CGROUP/$1 start_command setsid "${@:2}"
}

# eager NAME COMMAND...: the same for one that gets most of what it asks for, whatever else runs on the machine
eager() {
	CGROUP=$CGROUP/$1 start_ahead "${@:2}"
}

# victim_rule LINE...: a rule for $OWN in the cgroup of the victim
victim_rule() {
	rule victim "comm = $OWN" "cgroup = /$CGROUP/${VICTIM-victim}" 'history = 1s' 'cooldown = 1h' "$@"
	daemon_start
}

# captured: waits for the capture and sets FROM and TO, the span of its usage
captured() {
	await_log 30 fired
	await_status 60 '.captures | length == 0'
	truth_stop
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	read -r FROM TO <<< "$(span_of 1)"
	sql 'SELECT verdict, victim, wait, blamed_percent FROM capture; SELECT role, program, unit, cgroup, percent FROM culprit LIMIT 5' >&2
}

# share_is TRUTH WHERE: that is the share of the machine's time that the database has of these groups
share_is() {
	local of_database
	of_database=$(machine_share "$(sql "SELECT sum(cpu_ns) FROM culprit_group WHERE $2")" "$FROM" "$TO")
	echo "share: $1 % by the kernel, $of_database % in the database" >&2
	near 3 "$of_database" "$1"
}

# blamed PROGRAM PLACE: that neighbour is to blame. Where the victim waited as long for another program of the machine, no
# single one is, and the test is skipped.
blamed() {
	local more
	more=$(sql "SELECT b.program FROM capture c JOIN blame b USING(capture_id, victim, wait)
		WHERE b.role IN ('other', 'kernel') AND b.cgroup NOT LIKE '/$CGROUP/%'
		AND 1.5 * b.ns > (SELECT sum(ns) FROM culprit WHERE program = '$1') LIMIT 1")
	[[ -z $more ]] || skip "meanwhile $more took as much as the test's own"
	[ "$(sql 'SELECT verdict FROM capture')" = neighbour ]
	[ "$(sql 'SELECT program, ifnull(unit, cgroup) FROM culprit LIMIT 1')" = "$1|$2" ]
}

@test "a fork storm beside a victim: the program, how many, who began them, where, and their share" {
	local storm forks of_cgroup of_program
	load
	cp /bin/true "$WORK/t$OWN"
	# the number of programs so far, overwritten in place: a file that is truncated is empty for a moment
	# shellcheck disable=SC2016
	ON_CPU=0 eager other bash -c 'echo ready; for ((i = 1; ; i++)); do "$0"; printf "%010u\n" $i 1<> "$1"; done' "$WORK/t$OWN" "$WORK/count"
	storm=$CHILD
	ON_CPU=0 in_cgroup victim "$WORK/$OWN"
	truth_start "storm=$CGROUP2/$CGROUP/other/cpu.stat,usage_usec" "forks=$WORK/count" "parent=/proc/$storm/schedstat"
	victim_rule 'cpu.some = 10%' 'capture = 5s'
	captured
	forks=$(truth_of forks "$FROM" "$TO")
	of_cgroup=$(truth_of storm "$FROM" "$TO")
	of_program=$(machine_share $((of_cgroup - $(truth_of parent "$FROM" "$TO"))) "$FROM" "$TO")
	near $((forks / 50 + 2)) "$(sql "SELECT sum(processes) FROM culprit_group WHERE program = 't$OWN'")" "$forks"
	[ "$(sql "SELECT DISTINCT parent, parent_tgid FROM culprit_group WHERE program = 't$OWN'")" = "bash|$storm" ]
	share_is "$of_program" "program = 't$OWN'"
	share_is "$(machine_share "$of_cgroup" "$FROM" "$TO")" "cgroup = '/$CGROUP/other'"
	blamed "t$OWN" "/$CGROUP/other"
	near $((forks / 50 + 2)) "$(sql "SELECT processes FROM culprit WHERE program = 't$OWN'")" "$forks"
}

@test "four workers of one program are one group, with what all of them took" {
	local i share
	load
	named "w$OWN"
	for i in {1..4}; do ON_CPU=0 in_cgroup other "$WORK/w$OWN"; done
	ON_CPU=0 in_cgroup victim "$WORK/$OWN"
	truth_start "workers=$CGROUP2/$CGROUP/other/cpu.stat,usage_usec"
	victim_rule 'cpu.some = 10%' 'capture = 4s'
	captured
	share=$(machine_share "$(truth_of workers "$FROM" "$TO")" "$FROM" "$TO")
	[ "$(sql "SELECT processes FROM culprit_group WHERE program = 'w$OWN'")" -eq 4 ]
	share_is "$share" "program = 'w$OWN'"
	blamed "w$OWN" "/$CGROUP/other"
	[ "$(sql 'SELECT processes FROM culprit LIMIT 1')" -eq 4 ]
}

# a hog of another test may take more, and is then blamed rightly
# bats test_tags=alone
@test "a rule for every program of the host names the noisy one" {
	local cpu i share
	load
	named "n$OWN"
	for cpu in 0 1; do
		for i in {1..4}; do ON_CPU=$cpu in_cgroup other "$WORK/n$OWN"; done
		for i in 1 2; do ON_CPU=$cpu in_cgroup victim "$WORK/$OWN"; done
	done
	truth_start "noisy=$CGROUP2/$CGROUP/other/cpu.stat,usage_usec"
	rule all 'comm = *' 'watch = system' 'cpu.some = 10%' 'history = 1s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
	captured
	share=$(machine_share "$(truth_of noisy "$FROM" "$TO")" "$FROM" "$TO")
	share_is "$share" "program = 'n$OWN'"
	[[ $(sql 'SELECT victim FROM capture') == *" in /$CGROUP/"* ]] || skip 'meanwhile another program of the machine waited longest'
	# it takes two thirds of the machine if nobody else runs
	awk -v share="$share" 'BEGIN { exit share < 50 }' || skip 'meanwhile other programs of the machine ran as much'
	# it waits longest, for itself; those who are few wait for it
	[ "$(sql 'SELECT verdict, victim FROM capture')" = "own threads|n$OWN in /$CGROUP/other" ]
	[ "$(sql "SELECT party FROM blame_share WHERE wait = 'queued' AND victim = '$OWN in /$CGROUP/victim' LIMIT 1")" = "n$OWN in /$CGROUP/other" ]
}

# calm CAPTURE: whether the victim waited less than 4 % of its time within that capture, by its own schedstat, and what fired
# was as calm, and the programs saw nearly all of it: time that was not seen may be waiting
calm() {
	local from to ran waited
	read -r from to <<< "$(span_of "$1")"
	ran=$(truth_of ran "$from" "$to")
	waited=$(truth_of waited "$from" "$to")
	echo "capture $1: ran $ran ns, waited $waited ns, $(sql "SELECT verdict, waited_ns FROM capture WHERE capture_id = $1")" >&2
	sql "SELECT account, sum(ns) FROM account WHERE capture_id = $1 GROUP BY account" >&2
	((waited * 25 < waited + ran)) && [ "$(sql "SELECT stalled_percent < 4 FROM incident_capture WHERE capture_id = $1")" = 1 ] &&
		[ "$(sql "SELECT 25 * sum(ns) FILTER (WHERE account = 'rest') < sum(ns) OR NOT sum(account = 'rest')
			FROM account WHERE capture_id = $1")" = 1 ]
}

# it takes one CPU from all others
# bats test_tags=alone
@test "a calm capture blames nobody" {
	local capture found=
	load
	named "c$OWN"
	ON_CPU=0 in_cgroup other "$WORK/c$OWN"
	ON_CPU=0 in_cgroup victim "$WORK/$OWN"
	go_ahead "$CHILD" -20
	truth_start "ran=/proc/$CHILD/schedstat,1" "waited=/proc/$CHILD/schedstat,2"
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 0.2%' 'history = 0s' 'capture = 2s' 'cooldown = 0s'
	daemon_start
	# beside other programs of the machine, not each capture is a calm one
	await_sql 60 "SELECT count(*) >= 3 FROM capture WHERE state = 'complete'" 1
	truth_stop
	children_end
	await_status 60 '.captures | length == 0'
	for capture in $(sql "SELECT capture_id FROM capture WHERE state = 'complete' AND triggered_at > (SELECT min(triggered_at) FROM capture) LIMIT 2"); do
		calm "$capture" || continue
		found=yes
		[ "$(sql "SELECT verdict FROM capture WHERE capture_id = $capture")" = negligible ]
		[ "$(sql "SELECT count(*) FROM culprit WHERE capture_id = $capture")" -eq 0 ]
	done
	[ -n "$found" ]
}

@test "a neighbour that executes twice has the name of what it runs, and none of the old ones afterwards" {
	local neighbour began_ns before_ns after_ns first=f$OWN second=s$OWN third=h$OWN
	load --hz 97
	cp "$(command -v bash)" "$WORK/$first"
	cp "$(command -v bash)" "$WORK/$second"
	named "$third"
	victim_rule 'cpu.some = 10%' 'capture = 8s'
	echo "exec $WORK/$third" > "$WORK/second.sh"
	printf '%s\n' 'echo ready' "until [[ -e $WORK/go ]]; do :; done" "exec $WORK/$second $WORK/second.sh" > "$WORK/first.sh"
	ON_CPU=0 in_cgroup other "$WORK/$first" "$WORK/first.sh"
	began_ns=${EPOCHREALTIME/[.,]/}000
	neighbour=$CHILD
	go_ahead "$neighbour" -8
	local output=$CHILD_OUTPUT
	ON_CPU=0 in_cgroup victim "$WORK/$OWN"
	await_log 30 fired
	await_cpu "$neighbour" 300 # 29 samples
	before_ns=${EPOCHREALTIME/[.,]/}000
	touch "$WORK/go"
	read -r -t 60 -u "$output" # "ready": the third program's
	after_ns=${EPOCHREALTIME/[.,]/}000
	await_status 60 '.captures | length == 0'
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	# each sample of the neighbour on CPU: the program's name, and when
	sql "SELECT p.comm, c.triggered_at + 1000000000 * o.second + 1000000 * json_extract(t.value, '\$[0]')
		FROM other_sample o JOIN process p USING(process_id) JOIN capture c USING(capture_id), json_each(o.times) t
		WHERE p.tgid = $neighbour" > "$WORK/samples"
	awk -F '|' '{ count[$1]++ } END { for (comm in count) print comm, count[comm] }' "$WORK/samples" >&2
	[ "$(awk -F '|' -v comm="$first" -v to="$before_ns" '$1 == comm && $2 <= to' "$WORK/samples" | wc -l)" -ge 10 ]
	[ "$(awk -F '|' -v comm="$third" -v from="$after_ns" '$1 == comm && $2 >= from' "$WORK/samples" | wc -l)" -ge 10 ]
	# times are whole milliseconds; before it began, it was the shell, and setsid, which execute it
	[ "$(awk -F '|' -v comm="$third" -v from="$after_ns" '$1 != comm && $2 > from' "$WORK/samples" | wc -l)" -eq 0 ]
	[ "$(awk -F '|' -v comm="$first" -v from="$began_ns" -v to="$before_ns" '$1 != comm && ($2 > from || $1 !~ /^(bash|setsid)$/) && $2 + 1000000 < to' "$WORK/samples" | wc -l)" -eq 0 ]
}

# other programs that use the disk are neighbours
# bats test_tags=alone
@test "a service that keeps the disk busy itself: its own I/O, and how much" {
	local pid wrote
	load
	cp "$BUILD/workloads/io_hog" "$WORK/$OWN"
	# as nginx's workers, with directio
	in_cgroup victim "$WORK/$OWN" --threads 2 --file "$BUILD/io_hog.data"
	pid=$CHILD
	truth_start "wrote=/proc/$pid/io,write_bytes:"
	victim_rule 'io.some = 2%' 'capture = 4s'
	captured
	[ "$(sql 'SELECT verdict FROM capture')" = 'own I/O' ]
	wrote=$(($(truth_of wrote "$FROM" "$TO") >> 20))
	near $((wrote * 3 / 100 + 1)) "$(sql "SELECT sum(write_bytes) / 1048576.0 FROM culprit_group WHERE role = 'target'")" "$wrote"
	[ "$(sql "SELECT tgid FROM culprit_group WHERE role = 'target'")" -eq "$pid" ]
}

@test "a neighbour in another slice has its unit's name, and the function that it was in" {
	local neighbour share
	# what lies below another cgroup than a slice is no unit of systemd
	cgroup_remove
	CGROUP+=.slice VICTIM=shop.slice/victim-$$.service
	cgroup_make
	mkdir -p "$CGROUP2/$CGROUP/$VICTIM" "$CGROUP2/$CGROUP/batch.slice/backup-$$.service"
	load --hz 97
	named "b$OWN"
	truth_start "neighbour=$CGROUP2/$CGROUP/batch.slice/backup-$$.service/cpu.stat,usage_usec"
	victim_rule 'cpu.some = 10%' 'capture = 4s'
	# where others keep that CPU busy, its threads would flee from the victim
	ON_CPU=0 eager "batch.slice/backup-$$.service" "$WORK/b$OWN" --threads 2
	neighbour=$CHILD
	await 30 is_listed "$neighbour"
	await_tables "$neighbour"
	ON_CPU=0 in_cgroup "$VICTIM" "$WORK/$OWN"
	captured
	share=$(machine_share "$(truth_of neighbour "$FROM" "$TO")" "$FROM" "$TO")
	share_is "$share" "unit = 'backup-$$.service'"
	[ "$(sql "SELECT unit, comm FROM culprit_stack WHERE cgroup LIKE '/$CGROUP/%' ORDER BY samples DESC LIMIT 1")" = "backup-$$.service|b$OWN" ]
	[ "$(sql "SELECT 100 * sum(samples) FILTER (WHERE stack GLOB '*;burn_cpu') >= 95 * sum(samples) FROM culprit_stack
		WHERE unit = 'backup-$$.service'")" = 1 ]
	"$BUILD/bourdon" --db "$DB" why --full > "$WORK/why"
	sed -n '/^what others than the targets were doing/,/^$/p' "$WORK/why" | grep -q 'burn_cpu'
	blamed "b$OWN" "backup-$$.service"
	[ "$(sql 'SELECT tgid FROM culprit LIMIT 1')" -eq "$neighbour" ]
}

# others have pages written back, too
# bats test_tags=alone
@test "written-back pages: kernel threads have the CPU time that the kernel counts, and their stacks" {
	local labels=() pid compared=0 tgid cpu_ns of_kernel
	load --hz 997
	# shellcheck disable=SC2016
	in_cgroup other bash -c 'echo ready; while :; do dd if=/dev/zero of="$0" bs=1M count=128 2> /dev/null; sync "$0"; done' "$WORK/data"
	ON_CPU=0 in_cgroup victim "$WORK/$OWN"
	ON_CPU=0 in_cgroup victim "$WORK/$OWN"
	for pid in $(ps -o pid= --ppid 2); do labels+=("$pid=/proc/$pid/schedstat"); done
	truth_start "${labels[@]}"
	victim_rule 'cpu.some = 10%' 'capture = 5s'
	captured
	while IFS='|' read -r tgid cpu_ns; do
		of_kernel=$(truth_of "$tgid" "$FROM" "$TO") || continue # it began or ended meanwhile
		echo "kernel thread $tgid: $cpu_ns ns, $of_kernel by the kernel" >&2
		near $((of_kernel / 10 + 5000000)) "$cpu_ns" "$of_kernel"
		((++compared))
	done < <(sql "SELECT tgid, cpu_ns FROM usage JOIN process USING(process_id) WHERE role = 'kernel' AND comm GLOB 'kworker*'
		ORDER BY cpu_ns DESC LIMIT 3")
	((compared > 0))
	sql "SELECT comm, stack, samples FROM culprit_stack WHERE role = 'kernel' AND comm GLOB 'kworker*' LIMIT 3" >&2
	[ "$(sql "SELECT sum(samples) > 0 FROM culprit_stack WHERE role = 'kernel' AND comm GLOB 'kworker*'
		AND stack GLOB '*kthread_?k?;worker_thread_*;process_one_work_*'")" = 1 ]
	[ "$(sql "SELECT ns > 0 FROM machine_time WHERE part = 'kernel threads'")" = 1 ]
}

@test "a CPU quota of cgroup v1 is the verdict" {
	local v1
	v1=$(findmnt -n -o TARGET -t cgroup -O cpu | head -n 1)
	[[ -n $v1 ]] || skip 'there is no CPU controller of cgroup v1'
	V1_CGROUP=$v1/$CGROUP
	mkdir "$V1_CGROUP"
	echo 100000 > "$V1_CGROUP/cpu.cfs_period_us"
	echo 20000 > "$V1_CGROUP/cpu.cfs_quota_us"
	load
	in_cgroup victim "$WORK/$OWN"
	echo "$CHILD" > "$V1_CGROUP/cgroup.procs"
	truth_start "used=$CGROUP2/$CGROUP/victim/cpu.stat,usage_usec"
	victim_rule 'cpu.some = 10%' 'capture = 4s'
	captured
	(($(awk '$1 == "nr_throttled" { print $2 }' "$V1_CGROUP/cpu.stat") > 20))
	[ "$(sql 'SELECT verdict, wait, limit_name FROM capture')" = 'quota|throttled|cpu.cfs_quota_us' ]
	# of a cgroup of version 1, the first bytes of its name
	[[ $CGROUP == "$(sql 'SELECT limit_cgroup FROM capture')"* ]]
}

@test "a cgroup that is removed before the capture ends is judged by the last of its numbers" {
	local victim
	load
	victim_rule 'cpu.some = 10%' 'capture = 10s'
	ON_CPU=0 in_cgroup victim "$WORK/$OWN" --threads 2
	victim=$CHILD
	await_log 30 fired
	# of the capture's 10 s, two and more: its files are read each second
	await_cpu "$victim" 2500
	children_end
	await 60 rmdir "$CGROUP2/$CGROUP/victim"
	await_status 60 '.captures | length == 0'
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	sql "SELECT name, before, after FROM statistic WHERE scope = '/$CGROUP/victim'" >&2
	[ "$(sql "SELECT after - before >= 1000000 FROM statistic WHERE scope = '/$CGROUP/victim' AND source = 'cpu.stat'
		AND name = 'usage_usec'")" = 1 ]
}
