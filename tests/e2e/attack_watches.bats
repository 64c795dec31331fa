#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A user makes cgroups without end, and each has a target of a rule: the watches of that rule must not take what
# other rules, captures, names, reloads and the control socket need.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/honest.bash"

# An emulated machine has no time for the sizes of the attacks: a tenth of each.
PERCENT=${WATCHES_PERCENT:-$((PATIENCE > 1 ? 10 : 100))}
ATTACKER=65533 # uid

setup() {
	bourdon_setup watches
	cgroup_make
	ATTACK=$CGROUP/attack
	FLOOD=fl$BASHPID # a comm that no other process of the machine has
	# a subtree that is delegated to the attacker
	mkdir "$CGROUP2/$ATTACK"
	chown "$ATTACKER" "$CGROUP2/$ATTACK" "$CGROUP2/$ATTACK/cgroup.procs"
}

teardown() {
	# thousands of processes
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill" || true
	honest_end
	bourdon_teardown
}

# flood COUNT [OPTION...]: the attacker makes so many cgroups. 20,000 took 10 to 76 s at a load of 24 to 30, most of that waiting
# for the kernel's lock of cgroups, which other tests want, too.
flood() {
	LEAST_DEADLINE=180 CGROUP=$ATTACK start_command setpriv --reuid "$ATTACKER" --regid "$ATTACKER" --clear-groups --no-new-privs \
		"$BUILD/workloads/cgroup_flood" --directory "$CGROUP2/$ATTACK" --count "$1" --name "$FLOOD" "${@:2}"
}

# rule_is NAME JQ-EXPRESSION: waits until the expression is true of the rule's status
rule_is() {
	await_status 30 ".rules[] | select(.name == \"$1\") | $2"
}

# lines_about WORDS: how many lines of the daemon's log have them. Reads what the daemon has said.
lines_about() {
	grep -c "$1" "$WORK/daemon.log" || true
}

# descriptors: how many the daemon has open
descriptors() {
	find "/proc/$DAEMON/fd" -mindepth 1 | wc -l
}

# victims_of COMM: how many places the kernel's accounts have for targets of that name
victims_of() {
	local bytes
	bytes=$(printf %s "$1" | od -An -v -tx1 | sed 's/ /","0x/g; s/^",//' | tr -d '\n')
	bpftool -j map dump pinned "$PIN_DIR/victims" | grep -oF "\"value\":[$bytes\"" | wc -l
}

@test "1,200 cgroups with a target each and 1,024 descriptors: other rules capture, reloads and status work" {
	local count=$((1200 * PERCENT / 100)) limit=$((1024 * PERCENT / 100 + (100 - PERCENT) * 3)) began=$SECONDS watched most room seconds places
	load
	grant_start
	rule flood "comm = $FLOOD" "cgroup = /$ATTACK/*" 'cpu.some = 90%' 'io.some = 90%'
	DAEMON_BY="prlimit --nofile=$limit:$limit" daemon_start
	honest_start
	honest_watch_begin
	flood "$count"
	await_status 60 ".daemon[0].targets > $count"
	rule_is flood ".watches > 0 and .watches + 2 * .cgroups_unwatched == 2 * $count"
	honest_burn
	# a quarter of all places, and eight more each second
	read -r places < <(victims_of "$FLOOD")
	echo "$places places among the accounts after $((SECONDS - began)) s"
	((places > 0 && places <= 128 + 8 * (SECONDS - began)))
	room=$(status_json | jq '.daemon[0].watches_max')
	watched=$(status_json | jq '.rules[] | select(.name == "flood").watches')
	echo "$watched watches of the attacker's cgroups, room for $room, $(descriptors) of $limit descriptors"
	((watched <= room / 2))
	most=$watched
	(($(descriptors) < limit - 100))
	# a rule that comes within the attack
	own_workload cpu_hog
	mkdir "$CGROUP2/$CGROUP/late"
	CGROUP=$CGROUP/late start_command "$WORK/$OWN" --threads 1
	rule late "comm = $OWN" "cgroup = /$CGROUP/late" 'cpu.some = 99%'
	rule_is late '.watches == 1 and .cgroups_unwatched == 0'
	stop "$CHILD"
	honest_watch_end
	# the watches of the attacker may have become fewer with the new rule
	watched=$(status_json | jq '.rules[] | select(.name == "flood").watches')
	rule_is flood ".cgroups_unwatched == $count - $watched / 2"
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *"rule flood does not watch $((count - watched / 2)) cgroups with targets: "*remedy:* ]]
	run "$BUILD/bourdon" --db "$DB" doctor --run-dir "$RUN_DIR"
	[[ $output == *"$((count - watched / 2)) cgroups with targets are not watched"* ]]
	honest_check
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	seconds=$((SECONDS - began))
	echo "log: $(wc -l < "$WORK/daemon.log") lines in $seconds s, $(lines_about 'not watched') about cgroups without a watch"
	(($(lines_about 'not watched') >= 1 && $(lines_about 'not watched') <= seconds))
	(($(lines_about 'cannot watch') <= seconds))
	# a watch that gave way to the new rule was one before
	(($(sql "SELECT max(value) FROM counter WHERE name = 'cgroups-unwatched'") >= count - most / 2))
}

@test "20,000 cgroups whose targets end at once: the heartbeat and memory keep their limits" {
	local count=$((20000 * PERCENT / 100))
	load
	rule flood "comm = $FLOOD" "cgroup = /$ATTACK/*" 'cpu.some = 90%' 'io.some = 90%'
	daemon_start
	honest_start
	honest_watch_begin
	flood "$count" --ends
	honest_burn
	honest_watch_end
	honest_check
	rule_is flood '.watches <= 1024'
	# nothing is left of them
	children_end
	find "$CGROUP2/$ATTACK" -mindepth 1 -depth -type d -exec rmdir {} +
	rule_is flood '.watches == 0'
}

@test "many cgroups of one rule have pressure all the time: another rule captures" {
	local i count=$((12 * PERCENT / 100))
	((count >= 8)) || count=8
	load
	own_workload cpu_hog
	rule many "comm = $OWN" "cgroup = /$CGROUP/many/*" 'cpu.some = 1%' 'history = 1s' 'capture = 5s' 'cooldown = 0s'
	daemon_start
	honest_start
	honest_watch_begin
	for ((i = 0; i < count; i++)); do
		mkdir -p "$CGROUP2/$CGROUP/many/$i"
		CGROUP=$CGROUP/many/$i start_command nice -n 19 "$WORK/$OWN" --threads 1
	done
	await_status 30 '[.captures[] | select(.rule == "many")] | length == 4'
	honest_burn
	status_json | jq -e '.counters[] | select(.name == "triggers-suppressed").value > 0'
	honest_watch_end
	# the captures that wait to be written need CPU time for their names
	for i in "${CHILDREN[@]}"; do
		[[ $i == "$HONEST_PID" ]] || stop "$i"
	done
	honest_check
}

@test "a user who reads the pressure file all the time silences the kernel's trigger: the capture comes" {
	local victim=$CGROUP/victim
	mkdir "$CGROUP2/$victim"
	grant_start
	load
	own_workload cpu_hog
	rule silenced "comm = $OWN" "cgroup = /$victim" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 0s'
	daemon_start
	CGROUP=$victim start_command "$WORK/$OWN" --cpu 0 --threads 1
	await_status 10 '.watches[0].trigger_mode == "kernel"'
	# 95 times a second: read more often than the kernel ticks, the total would not grow. The reader goes before the hogs, and
	# the kernel's workers wait behind them.
	# shellcheck disable=SC2016 # perl's
	CGROUP=$ATTACK start_command nice -n -15 setpriv --reuid "$ATTACKER" --regid "$ATTACKER" --clear-groups perl -e '
		open my $file, "<", shift or die "$!";
		$| = 1;
		print "ready\n";
		while (1) { sysseek $file, 0, 0; sysread $file, my $text, 256; select undef, undef, undef, 0.0105 }' \
		"$CGROUP2/$victim/cpu.pressure"
	CGROUP=$victim start_command nice -n -5 "$WORK/$OWN" --threads $((4 * $(nproc)))
	# the kernel's first look may come before the reader's
	await_sql 60 "SELECT count(*) > 0 FROM capture WHERE state = 'complete' AND trigger_mode = 'sampled' AND observed_us > 200000" 1
	[ "$(counted_by_daemon triggers-late)" -ge 1 ]
	await_log 1 'rule silenced: the kernel did not report cpu.some'
}

@test "a rule beyond its limit: the ledger, status and doctor count its cgroups; they are watched when room comes" {
	local i pids=()
	load
	write_settings '[triggers]' 'watches_per_rule = 3'
	own_workload cpu_hog
	rule few "comm = $OWN" "cgroup = /$CGROUP/*" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1s'
	daemon_start
	for i in 1 2 3 4 5; do
		mkdir "$CGROUP2/$CGROUP/$i"
		CGROUP=$CGROUP/$i start_command "$WORK/$OWN" --threads 2
		pids+=("$CHILD")
		((i > 3)) || await_status 10 ".watches | length == $i"
	done
	rule_is few '.watches == 3 and .cgroups_unwatched == 2'
	await_log 5 '2 cgroups are not watched .*watches_per_rule = 3'
	# a capture that began before the last cgroup was made has fewer
	await_sql 60 "SELECT events, unit FROM loss WHERE reason = 'cgroups-unwatched' ORDER BY capture_id DESC LIMIT 1" '2|event'
	run "$BUILD/bourdon" --db "$DB" why --full
	[[ $output == *'2 events: cgroups-unwatched'* ]]
	run "$BUILD/bourdon" --db "$DB" doctor --run-dir "$RUN_DIR"
	[[ $output == *'3 of at most '*'2 cgroups with targets are not watched'* ]]
	# without a reload, and before the next walk over all processes
	stop "${pids[0]}"
	until rmdir "$CGROUP2/$CGROUP/1" 2>/dev/null; do sleep 0.05; done
	await_status 10 '[.watches[].cgroup | split("/")[-1] | select(. == "1")] == [] and (.watches | length == 3)'
	rule_is few '.cgroups_unwatched == 1'
	# and a higher limit watches them all
	write_settings
	rule_is few '.watches == 4 and .cgroups_unwatched == 0'
}

@test "a user's cgroups take half of a rule's room: a service of the same rule is watched" {
	load
	write_settings '[triggers]' 'watches_per_rule = 20'
	own_workload cpu_hog
	rule all 'comm = *' "cgroup = /$CGROUP/*" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	flood 30
	rule_is all '.watches >= 10 and .cgroups_unwatched >= 20'
	mkdir "$CGROUP2/$CGROUP/service"
	CGROUP=$CGROUP/service start_command "$WORK/$OWN" --cpu 0 --threads 2
	await_sql 40 "SELECT count(*) FROM capture WHERE cgroup = '/$CGROUP/service' AND state = 'complete'" 1
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'cgroups that users other than root made take at most half'* ]]
}

# counted NAME: the daemon's counter
counted_by_daemon() {
	status_json | jq ".counters[] | select(.name == \"$1\").value"
}

@test "a watch whose targets have ended begins no capture and no cooldown" {
	local without
	load
	own_workload cpu_hog
	cp "$(command -v sleep)" "$WORK/$OWN-idle"
	rule once "comm = $OWN*" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	# a target without pressure
	# shellcheck disable=SC2016 # the inner shell's
	start_command bash -c 'echo ready; exec "$0" 1000' "$WORK/$OWN-idle"
	await_status 10 '.watches | length == 1'
	stop "$CHILD"
	await_status 10 '.daemon[0].targets == 0'
	sleep 4 # two windows: pressure of that time may be the target's
	# another program makes pressure in the cgroup
	start cpu_hog --cpu 0 --threads 4
	without=$(counted_by_daemon triggers-without-target)
	await_status 20 ".counters[] | select(.name == \"triggers-without-target\").value > $without + 1"
	status_json | jq -e '.watches[0].state == "armed"'
	[ "$(sql 'SELECT count(*) FROM capture')" -eq 0 ]
	# a new target has its capture at once
	start_command "$WORK/$OWN" --cpu 0 --threads 2
	await_sql 30 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	[ "$(sql "SELECT sum(samples) > 0 FROM sample JOIN process USING(process_id) WHERE tgid = $CHILD")" = 1 ]
}
