#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A rule with on_kill: real kills at a memory limit of the test's own begin a capture, with what came before; and those that
# begin none.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup kills
	OWN=kil$BASHPID
	ln -s "$(command -v perl)" "$WORK/$OWN"
	OOMD_SLICE=$CGROUP2/$CGROUP.slice
}

teardown() {
	bourdon_teardown
	rmdir "$OOMD_SLICE/systemd-oomd.service" "$OOMD_SLICE" 2> /dev/null || true
}

# eats NAME: a program of that name runs, and from the first SIGUSR1 on takes memory without end
eats() {
	[[ -e $WORK/$1 ]] || ln -s "$(command -v perl)" "$WORK/$1"
	# shellcheck disable=SC2016 # perl's variables
	start_command "$WORK/$1" -e '
		$SIG{USR1} = sub { push @held, "x" x (1 << 20) while 1 };
		$| = 1; print "ready\n"; 1 while 1'
}

# is_killed PID: takes memory until it is killed
is_killed() {
	kill -USR1 "$1"
	local status=0
	wait "$1" || status=$?
	[ "$status" -eq 137 ]
}

# stored NUMBER: so many captures are complete
stored() {
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete' AND trigger_mode = 'kill'" "$1"
}

# limit: as the database has the test's memory cgroup. One of version 1 has a name there, and no path.
limit() {
	[[ -n $MEMORY_CGROUP ]] && echo "$CGROUP" || echo "/$CGROUP"
}

# suppressed: how many triggers the daemon has suppressed
suppressed() {
	status_json | jq '.counters[] | select(.name == "triggers-suppressed").value'
}

@test "an OOM kill of a rule with on_kill alone: the kill, its limit, who grew, and what came before" {
	cgroup_make 64M
	eats "$OWN"
	local victim=$CHILD
	rule kills "comm = $OWN" "cgroup = /$CGROUP" 'on_kill = yes' 'history = 60s' 'capture = 2s' 'cooldown = 1h'
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0750 "$STATE_DIR/hook"
	load
	daemon_start
	await_cpu "$victim" 1000
	is_killed "$victim"
	await_log 60 'fired: .* was killed for lack of memory'
	stored 1
	sql 'SELECT * FROM capture' >&2
	[ "$(sql 'SELECT rule, trigger_mode, resource, kind, stall_us, window_us, observed_us, cgroup, verdict FROM capture')" = \
		"kills|kill||||||/$CGROUP|kill" ]
	[ "$(sql 'SELECT at = triggered_at, how, role, comm, tgid, killed.limit_cgroup, limit_bytes FROM killed JOIN capture USING(capture_id)
		WHERE tgid = '"$victim")" = "1|oom|target|$OWN|$victim|$(limit)|$((64 << 20))" ]
	# it ran before the kill, and grew by what it took; after it, it gives its memory back
	[ "$(sql "SELECT sum(samples) > 20 FROM sample JOIN process USING(process_id) WHERE tgid = $victim AND kind = 'on-cpu' AND second < 0")" = 1 ]
	[ "$(sql "SELECT grown_bytes > 30 << 20 FROM memory_group WHERE program = '$OWN'")" = 1 ]
	[ "$(sql 'SELECT captures, resource, verdict FROM incident')" = '1||kill' ]
	[ "$(sql 'SELECT killed_comm, killed_tgid, killed_how, limit_cgroup, limit_value FROM capture')" = "$OWN|$victim|oom|$(limit)|$((64 << 20))" ]

	run "$BUILD/bourdon" --db "$DB" why
	echo "$output" >&2
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == 'kill: capture 1 on '*', rule kills' ]]
	[[ ${lines[1]} == "  killed    ${OWN}[$victim] in "* ]]
	[[ $output == *", killed by the kernel:"*" of 64 MiB of "*"  grew      $OWN"*" grew by "* ]]
	[[ $output != *'  short  '* ]]
	run "$BUILD/bourdon" --db "$DB" why --json
	[ "$(jq -r '.answer | [.verdict, .killed_comm, .killed_tgid, .killed_how] | join(" ")' <<< "$output")" = \
		"kill $OWN $victim oom" ]
	run "$BUILD/bourdon" --db "$DB" why --full
	[[ $output == *'trigger   kill, on cgroup '*'who grew by '* ]]
	run "$BUILD/bourdon" --db "$DB" list
	[[ $output == *' kills '*' a kill '*' kill '*"/$CGROUP"* ]]
	"$BUILD/bourdon" --db "$DB" show 1 > "$WORK/shown"
	grep -q '^ *trigger_mode  *kill$' "$WORK/shown"
	for format in firefox perfetto json csv folded speedscope; do
		"$BUILD/bourdon" --db "$DB" export 1 --format "$format" -o "$WORK/export.$format" > "$WORK/exported"
	done
	grep -aq "capture 1: rule kills, kill" "$WORK/export.perfetto"
	"$BUILD/bourdon" --db "$DB" report 1 -o "$WORK/page.html" > "$WORK/made"
	grep -q '<title>Capture 1: a kill on ' "$WORK/page.html"
	run "$BUILD/bourdon" --db "$DB" why --incident 1
	[ "$status" -eq 0 ]
	[[ $output == *'first     a kill, capture 1, rule kills'* ]]
	grep -q "^BOURDON_KILLED_COMM=$OWN$" "$STATE_DIR/hook/capture-1"
	grep -q "^BOURDON_KILLED_HOW=oom$" "$STATE_DIR/hook/capture-1"
	[ "$(grep -c '^BOURDON_RESOURCE' "$STATE_DIR/hook/capture-1")" = 0 ]
	"$BUILD/bourdon" --db "$DB" db check
	"$BUILD/bourdon" db merge "$STATE_DIR/merged.db" "$DB"
	for sums in 'rule, trigger_mode, resource, verdict, killed_comm, limit_value FROM capture' 'resource, verdict FROM incident' \
		'how, comm, tgid, limit_cgroup, limit_bytes FROM killed' 'triggers FROM rule'; do
		[ "$(sql "SELECT $sums" "$STATE_DIR/merged.db")" = "$(sql "SELECT $sums")" ]
	done
}

@test "a kill of a bystander, or by another signal, fires nothing; twice within the cooldown is one capture" {
	cgroup_make 64M
	rule kills "comm = $OWN" "cgroup = /$CGROUP" 'on_kill = yes' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	load
	daemon_start
	local bystander first second
	eats "not$BASHPID"
	bystander=$CHILD
	is_killed "$bystander"
	eats "$OWN"
	kill -KILL "$CHILD"
	eats "$OWN"
	first=$CHILD
	is_killed "$first"
	await_log 60 'fired: .* was killed for lack of memory'
	# the kernel tells kills in their order: whatever the ones before would have begun, has begun
	[[ $LOG_LINE == *"${OWN}[$first]"* ]]
	stored 1
	[ "$(sql "SELECT role FROM killed WHERE tgid = $bystander")" = other ]
	eats "$OWN"
	second=$CHILD
	is_killed "$second"
	await_status 30 '[.watches[] | select(.trigger_mode == "kill") | .fired, .suppressed, .state] == [2, 1, "cooldown"]'
	[ "$(suppressed)" -eq 1 ]
	[ "$(sql 'SELECT count(*) FROM capture')" -eq 1 ]
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'on_kill'* ]]
}

@test "root's policy denies the victim: nothing fires, and nothing tells its name" {
	cgroup_make 64M
	printf '%s\n' '[policy]' "deny_comms = $OWN" > "$WORK/deny.conf"
	rule kills 'comm = *' "cgroup = /$CGROUP" 'on_kill = yes' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	load --policy "$WORK/deny.conf"
	daemon_start
	eats "$OWN"
	is_killed "$CHILD"
	eats "all$BASHPID"
	is_killed "$CHILD"
	await_log 60 'fired: .* was killed for lack of memory'
	[[ $LOG_LINE == *": all"* ]]
	stored 1
	[ "$(sql "SELECT count(*) FROM killed WHERE comm = '$OWN' OR by_comm = '$OWN'")" -eq 0 ]
}

# A process of that name, in a unit of that name, does what systemd-oomd does. The real one kills in tests/vm/shortage.bats.
@test "systemd-oomd kills a cgroup: how is oomd, and the rule fires" {
	cgroup_make
	[[ -e $CGROUP2/$CGROUP/cgroup.kill ]] || skip 'cgroup.kill came with Linux 5.14'
	rule kills "comm = $OWN" "cgroup = /$CGROUP" 'on_kill = yes' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
	load
	daemon_start
	eats "$OWN"
	local victim=$CHILD
	ln -s "$(command -v perl)" "$WORK/systemd-oomd"
	mkdir "$OOMD_SLICE" "$OOMD_SLICE/systemd-oomd.service"
	# shellcheck disable=SC2016 # perl's variables
	(
		echo "$BASHPID" > "$OOMD_SLICE/systemd-oomd.service/cgroup.procs"
		exec "$WORK/systemd-oomd" -e 'open $f, ">", shift or die; syswrite $f, 1' "$CGROUP2/$CGROUP/cgroup.kill"
	)
	wait "$victim" || [ $? -eq 137 ]
	await_log 60 'fired: .* was killed for lack of memory'
	stored 1
	[ "$(sql "SELECT how, role, tgid, by_comm, by_unit FROM killed WHERE tgid = $victim")" = \
		"oomd|target|$victim|systemd-oomd|systemd-oomd.service" ]
	run "$BUILD/bourdon" --db "$DB" why
	[[ ${lines[1]} == "  killed    ${OWN}[$victim] in "* && $output == *'killed by systemd-oomd'* ]]
}

@test "--check-config tells of mistakes in on_kill, each with its line" {
	printf '%s\n' '[rule a]' 'comm = x' 'on_kill = maybe' '[rule b]' 'comm = x' 'on_kill = no' > "$RULES_DIR/bad.conf"
	run "$BUILD/bourdond" --config "$WORK/bourdon.conf" --rules-dir "$RULES_DIR" --check-config
	[ "$status" -ne 0 ]
	[[ $output == *"bad.conf:3: on_kill = maybe: expected 'yes' or 'no'"* ]]
	[[ $output == *"bad.conf:4: rule 'b' has no trigger, such as cpu.some = 10%, on_kill = yes or latency = runqueue.p99 > 20ms / 10s"* ]]
	printf '%s\n' '[rule a]' 'comm = x' 'on_kill = yes' > "$RULES_DIR/bad.conf"
	"$BUILD/bourdond" --config "$WORK/bourdon.conf" --rules-dir "$RULES_DIR" --check-config
}
