#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Where the time of a capture's threads went, and who they waited for, beside what the kernel counted of them, of the hogs'
# cgroups and of their quota.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/truth.bash"
source "$BATS_TEST_DIRNAME/accounts.bash"

setup() {
	accounts_setup accounts
	TRUTH=
	V1_CGROUP=
}

teardown() {
	truth_teardown
}

# hog NAME NICE: a busy process of that name on CPU 0, in a cgroup of its own and a session with that priority
hog() {
	mkdir "$CGROUP2/$CGROUP/$1"
	cp "$BUILD/workloads/cpu_hog" "$WORK/$1$OWN"
	CGROUP=$CGROUP/$1 ON_CPU=0 start_command setsid "$WORK/$1$OWN"
	go_ahead "$CHILD" "$2"
}

# stop_victim: its threads leave their CPUs; begins and ends of its waits are then between two of these
stop_victim() {
	kill -STOP "$VICTIM"
	await 10 all_stopped
}

all_stopped() {
	! grep -qL '^State:.T' "/proc/$VICTIM/task"/*/status
	! grep -h '^State:' "/proc/$VICTIM/task"/*/status | grep -qv T
}

# percent_is MOST PERCENT WHERE: the blame of these rows, of what is waited for a CPU
percent_is() {
	local said
	said=$(sql "SELECT round(100.0 * sum(ns) FILTER (WHERE $3) / sum(ns), 2) FROM blame WHERE wait IN ('queued', 'throttled')")
	echo "blamed $said %, by the kernel $2 %: $3" >&2
	near "$1" "$said" "$2"
}

# has_peer: whether the victim waited for the process p$OWN, and for nothing else but a CPU
has_peer() {
	[ "$(sql "SELECT 100 * sum(ns) FILTER (WHERE account = 'peer') >= 80 * sum(ns) FROM account WHERE account IN ('peer', 'network', 'sleep', 'lock')")" = 1 ]
	[ "$(sql "SELECT 100 * sum(ns) FILTER (WHERE program = 'p$OWN' AND role = 'other') >= 90 * sum(ns) FROM blame WHERE wait = 'peer'")" = 1 ]
}

# beside others the hogs also run while the victim does not wait
# bats test_tags=alone
@test "two hogs two to one: what the victim waits is charged to the last ns, to each as its cgroup counts" {
	local before after ran_before ran_after to
	own_workload cpu_hog
	load
	follow
	hog a 0
	hog b 3
	ON_CPU=0 victim "$WORK/$OWN"
	stop_victim
	truth_start "a=$CGROUP2/$CGROUP/a/cpu.stat,usage_usec" "b=$CGROUP2/$CGROUP/b/cpu.stat,usage_usec"
	begin
	before=$(waited "$VICTIM") ran_before=$(ran_ns "$VICTIM")
	# not in the span of sums in which the capture begins
	SLOT_OVER=$((SECONDS + 3))
	await 10 is_over
	FROM=${EPOCHREALTIME/[.,]/}000
	kill -CONT "$VICTIM"
	await_waited 3
	stop_victim
	to=${EPOCHREALTIME/[.,]/}000
	after=$(waited "$VICTIM") ran_after=$(ran_ns "$VICTIM")
	truth_stop
	finish
	local waited=$((after - before)) charged ran=$((ran_after - ran_before))
	charged=$(sql "SELECT sum(ns) FROM account WHERE account IN ('queued', 'throttled')")
	echo "charged $charged ns, waited $waited ns" >&2
	near $((waited / 50 > 10000000 ? waited / 50 : 10000000)) "$charged" "$waited"
	near $((ran / 50 > 10000000 ? ran / 50 : 10000000)) "$(account ran)" "$ran"
	adds_up 1
	# the victim wants the CPU all the time: whoever has it is waited for
	percent_is 3 "$(awk -v a="$(truth_of a "$FROM" "$to")" -v of="$waited" 'BEGIN { print 100 * a / of }')" "program = 'a$OWN'"
	percent_is 3 "$(awk -v b="$(truth_of b "$FROM" "$to")" -v of="$waited" 'BEGIN { print 100 * b / of }')" "program = 'b$OWN'"
	[ "$(sql "SELECT group_concat(DISTINCT role || '|' || processes || '|' || cgroup) FROM blame WHERE program = 'a$OWN'")" = "other|1|/$CGROUP/a" ]
	# what the programs did not see is little
	[ "$(sql "SELECT ifnull(sum(ns), 0) * 20 < $charged FROM blame WHERE role = 'unknown'")" = 1 ]
}

@test "a daemon that ends a capture late leaves out what threads have done since" {
	own_workload cpu_hog
	load --quiet-after 60s
	follow
	ON_CPU=0 victim "$WORK/$OWN" --threads 2
	await 10 is_old
	"$BUILD/bourdon" --db "$DB" capture --comm "$OWN" --for 2s > "$WORK/capture.out" 2>&1 &
	CHILDREN+=($!)
	await_status 30 '.captures | length == 1'
	kill -STOP "$DAEMON"
	await_cpu "$VICTIM" 3000 # on one CPU: a second longer than the capture
	kill -CONT "$DAEMON"
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	show
	adds_up 2
}

@test "threads of one process that wait for each other are its own, and the daemon is the recorder" {
	own_workload cpu_hog
	load
	follow
	ON_CPU=0 victim "$WORK/$OWN" --threads 3
	begin
	await_waited 4
	finish
	adds_up 3
	# each of the three waits for the two others: the share of the own threads is that of their CPU time twice over
	local own ran
	own=$(sql "SELECT sum(ns) FROM blame WHERE wait = 'queued' AND role = 'own'")
	ran=$(account ran)
	near $((ran / 15)) "$own" $((2 * ran))
	# nobody else is the recorder; the command is one, whoever runs it
	[ "$(sql "SELECT count(*) FROM blame WHERE role = 'recorder' AND program IS NOT NULL AND program NOT IN ('bourdond', 'bourdon')")" -eq 0 ]
}

@test "a quota of its cgroup takes the time in which it is used up, whoever runs meanwhile" {
	local v1 before after throttled
	v1=$(findmnt -n -o TARGET -t cgroup -O cpu | head -n 1)
	own_workload cpu_hog
	if [[ -e $CGROUP2/$CGROUP/cpu.max ]]; then
		echo '20000 100000' > "$CGROUP2/$CGROUP/victim/cpu.max"
	else
		[[ -n $v1 ]] || skip 'there is no cpu controller'
		V1_CGROUP=$v1/$CGROUP
		mkdir "$V1_CGROUP"
		echo 100000 > "$V1_CGROUP/cpu.cfs_period_us"
		echo 20000 > "$V1_CGROUP/cpu.cfs_quota_us"
	fi
	load
	follow
	hog a 0
	ON_CPU=0 victim "$WORK/$OWN"
	[[ -z $V1_CGROUP ]] || echo "$VICTIM" > "$V1_CGROUP/cgroup.procs"
	begin
	throttled_ns() { awk -v us="${V1_CGROUP:+1}" '$1 == "throttled_time" { print $2 } $1 == "throttled_usec" { print $2 * 1000 }' "${V1_CGROUP:-$CGROUP2/$CGROUP/victim}/cpu.stat"; }
	has_throttled() { (($(throttled_ns) >= $1)); }
	before=$(throttled_ns)
	await 60 has_throttled $((before + 2000000000))
	after=$(throttled_ns)
	finish
	adds_up 1
	throttled=$((after - before))
	echo "throttled: $(account throttled) ns, by the kernel $throttled ns" >&2
	# the capture ends later, and a slice in which the quota comes back is a throttled one
	((throttled > 0 && $(account throttled) * 10 >= throttled * 9 && $(account throttled) * 5 <= SPAN * 5))
	[ "$(sql "SELECT DISTINCT role FROM blame WHERE wait = 'throttled'")" = quota ]
	local where
	where=$(sql "SELECT where_text FROM blame WHERE wait = 'throttled'")
	if [[ -n $V1_CGROUP ]]; then
		[[ -n $where && $CGROUP == "$where"* ]]
	else
		[ "$where" = "/$CGROUP/victim" ]
	fi
}

@test "a mutex convoy waits for a lock, which its own threads release, and where is told" {
	own_workload lock_hog
	load
	follow
	victim "$WORK/$OWN" --threads 4 --hold 20
	begin
	await_cpu "$VICTIM" 1500
	finish
	adds_up 5
	# three of four threads wait at a time; the first one only waits for them
	[ "$(sql "SELECT sum(ns) FILTER (WHERE account = 'lock') * 10 >= sum(ns) FILTER (WHERE account IN ('lock', 'peer')) * 9 FROM account")" = 1 ]
	(($(account lock) > $(account ran)))
	[ "$(sql "SELECT percent >= 90 FROM blame_share WHERE wait = 'lock' AND role = 'own'")" = 1 ]
	[ "$(sql "SELECT group_concat(DISTINCT where_text) FROM blame WHERE wait = 'lock' AND role = 'own'")" = hold_lock ]
	# who holds it runs, or waits for a CPU
	[ "$(sql "SELECT 100 * sum(ns) FILTER (WHERE then_account IN ('ran', 'queued')) >= 90 * sum(ns) FROM blame WHERE wait = 'lock' AND role = 'own'")" = 1 ]
}

@test "a pool of idle workers waits for no lock" {
	own_workload pool
	load
	follow
	victim "$WORK/$OWN" --threads 64
	begin
	await_cpu "$VICTIM" 20
	finish
	adds_up 65
	(($(account lock) * 100 <= 65 * SPAN))
	((($(account sleep) + $(account peer)) * 100 >= 65 * 97 * SPAN))
}

# other programs that use the disk are blamed, too
# bats test_tags=alone
@test "a thread that writes to a disk waits for it" {
	own_workload io_hog
	load
	follow
	ON_CPU=0 victim "$WORK/$OWN" --file "$WORK/scratch"
	begin
	await_cpu "$VICTIM" 500
	finish
	adds_up 1
	(($(account io) > 0))
	[ "$(sql "SELECT sum(ns) FILTER (WHERE role = 'own') * 2 > sum(ns) FROM blame WHERE wait = 'io'")" = 1 ]
}

@test "threads that sleep are asleep, whether they wake now and then or not at all" {
	own_workload relay
	load
	follow
	victim "$WORK/$OWN" --pause 60 --seconds 3600
	begin
	await 60 has_slept $(($(slept) + 80))
	finish
	adds_up 1
	(($(account sleep) * 100 >= SPAN * 80))
	[ "$(sql "SELECT count(*) FROM blame WHERE wait IN ('lock', 'peer', 'network')")" -eq 0 ]
}

@test "who sends what it waits for is its peer, through a pipe" {
	own_workload relay
	cp "$WORK/$OWN" "$WORK/p$OWN"
	load
	follow
	mkfifo "$WORK/pipe"
	# shellcheck disable=SC2016 # the inner shell expands it
	start_command bash -c 'echo ready; exec "$0" --pulse 20 --seconds 3600 > "$1"' "$WORK/p$OWN" "$WORK/pipe"
	# shellcheck disable=SC2016
	victim bash -c 'exec "$0" --read < "$1"' "$WORK/$OWN" "$WORK/pipe"
	begin
	await 60 has_slept $(($(slept) + 150))
	finish
	adds_up 1
	has_peer
}

@test "who sends what it waits for is its peer, through a connection of this host" {
	own_workload relay
	cp "$WORK/$OWN" "$WORK/p$OWN"
	load
	follow
	victim "${BY_CONNECTION[@]}" "$WORK/$OWN" --read
	local output=$CHILD_OUTPUT
	"$WORK/p$OWN" --pulse 20 --seconds 3600 > "/dev/tcp/127.0.0.1/${CHILD_LINE#ready }" &
	CHILDREN+=($!)
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$output" CHILD_LINE
	[ "$CHILD_LINE" = ready ]
	begin
	await 60 has_slept $(($(slept) + 150))
	finish
	adds_up 1
	has_peer
}

@test "a working set beyond its limit waits for memory, because of the limit" {
	cgroup_make $((48 << 20))
	own_workload mem_hog
	load
	follow
	victim "$WORK/$OWN" --size 96MiB --file "$WORK/scratch"
	begin
	await_cpu "$VICTIM" 1000
	finish
	adds_up 1
	(($(account memory) > 0))
	# where the machine itself has a limit, and its files fill it, that one is a second row
	[ "$(sql "SELECT 100 * sum(ns) FILTER (WHERE role = 'limit') >= 90 * sum(ns) FROM blame WHERE wait = 'memory'")" = 1 ]
	local where
	where=$(sql "SELECT where_text FROM blame WHERE wait = 'memory' AND role = 'limit' ORDER BY ns DESC LIMIT 1")
	if [[ -n ${MEMORY_CGROUP-} ]]; then
		[[ -n $where && ${MEMORY_CGROUP##*/} == "$where"* ]]
	else
		[ "$where" = "/$CGROUP" ]
	fi
}

@test "a process that was asked for by its id counts without another one of its name and cgroup" {
	own_workload cpu_hog
	load
	follow
	ON_CPU=1 victim "$WORK/$OWN" --threads 3
	ON_CPU=0 victim "$WORK/$OWN"
	begin --pid "$VICTIM"
	await_cpu "$VICTIM" 4000
	finish
	[ "$(sql 'SELECT DISTINCT threads FROM account')" -eq 1 ]
	local sum
	sum=$(sql 'SELECT sum(ns) FROM account')
	# since the first walk over all processes, which comes a moment after the request: 0.2 s beside other load
	((sum * 50 <= SPAN * 51 && sum * 10 >= SPAN * 9))
}

@test "the command bourdon is the recorder, and another program of that name is not" {
	own_workload cpu_hog
	load
	follow
	mkdir "$CGROUP2/$CGROUP/command" "$CGROUP2/$CGROUP/a"
	cp "$BUILD/workloads/cpu_hog" "$WORK/bourdon"
	CGROUP=$CGROUP/a ON_CPU=0 start_command setsid "$WORK/bourdon"
	# shellcheck disable=SC2016 # the inner shell expands it
	CGROUP=$CGROUP/command ON_CPU=0 start_command setsid bash -c 'echo ready; while :; do "$@" > /dev/null; done' bash "$BUILD/bourdon" --db "$DB" list
	ON_CPU=0 victim "$WORK/$OWN"
	begin
	await_waited 5
	finish
	# while a process ends, it has no file any more
	[ "$(sql "SELECT sum(ns) FILTER (WHERE role = 'recorder') * 2 > sum(ns) FROM blame WHERE program = 'bourdon' AND cgroup = '/$CGROUP/command'")" = 1 ]
	[ "$(sql "SELECT DISTINCT role FROM blame WHERE program = 'bourdon' AND cgroup = '/$CGROUP/a'")" = other ]
}

@test "whom root's policy denies has no name" {
	printf '%s\n' '[policy]' 'deny_comms = aaa*' > "$WORK/policy.conf"
	own_workload cpu_hog
	load --policy "$WORK/policy.conf"
	follow
	local hog ran
	hog aaa -8
	hog=$CHILD
	ON_CPU=0 victim "$WORK/$OWN"
	begin
	ran=$(cpu_ms "$hog")
	await_cpu "$hog" 500
	ran=$(($(cpu_ms "$hog") - ran))
	finish
	[ "$(sql "SELECT count(*) FROM blame WHERE program LIKE 'aaa%'")" -eq 0 ]
	# the victim always wants the CPU
	[ "$(sql "SELECT sum(ns) > 0.9 * 1000000 * $ran FROM blame WHERE wait = 'queued' AND role = 'unknown' AND where_text = 'denied'")" = 1 ]
}

@test "a user under ever new names takes its part of the places for parties, and is told by less of each name" {
	local began=$SECONDS cgroup places
	own_workload cpu_hog
	load
	follow
	mkdir "$CGROUP2/$CGROUP/names"
	cgroup=$(stat -c %i "$CGROUP2/$CGROUP/names")
	# shellcheck disable=SC2046 # a word each
	CGROUP=$CGROUP/names ON_CPU=0 start_command setsid setpriv --reuid 65533 --regid 65533 --clear-groups \
		"$BUILD/workloads/churn" --kind fork --workers 2 -- $(seq -f 'name-%.0f' 4000)
	go_ahead "$CHILD" -8
	ON_CPU=0 victim "$WORK/$OWN"
	begin
	await_waited 5
	finish
	adds_up 1
	places=$(bpftool -j map dump pinned "$PIN_DIR/blame" | jq "[.[] | select(.formatted.key.cgroup_id == $cgroup)] | length")
	echo "$places parties with their cgroup after $((SECONDS - began)) s" >&2
	((places > 500 && places <= 1024 + 64 * (SECONDS - began)))
	# what has less of a name is charged to other programs still
	[ "$(sql "SELECT 100 * sum(ns) FILTER (WHERE role = 'other') >= 90 * sum(ns) FROM blame WHERE wait = 'queued'")" = 1 ]
}
