#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Triggers: the pressure files that bourdon-grant opens, kernel triggers and sampled triggers on real cgroups,
# and watches that appear and disappear with their cgroups and targets.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup triggers
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# ask USER REQUEST...: sends each request on a connection of its own, as that user, and prints the answers.
ask() {
	setpriv --reuid "$1" --regid "$TEST_GROUP" --clear-groups "$BUILD/tools/ask_grant" "$GRANT_SOCKET" "${@:2}"
}

id_of() {
	stat -c %i "$CGROUP2/$1"
}

has_capability() {
	(((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> $1) & 1))
}

pressure_of_two() {
	rule "$1" 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 4s' 'capture = 1s' 'cooldown = 1h'
}

@test "bourdon-grant opens the pressure files of cgroups, and nothing else" {
	grant_start
	local id
	id=$(id_of "$CGROUP")
	run ask "$TEST_USER" "pressure $id cpu 2000000" "pressure $id memory 4000000" "pressure $id io 2000000"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$CGROUP2/$CGROUP/cpu.pressure read-write" ]
	[ "${lines[1]}" = "$CGROUP2/$CGROUP/memory.pressure read-write" ]
	[ "${lines[2]}" = "$CGROUP2/$CGROUP/io.pressure read-write" ]
	local request
	for request in "pressure $id cgroup 2000000" "pressure $id ../cpu 2000000" "pressure 0 cpu 2000000" \
		"pressure -1 cpu 2000000" "pressure $id cpu 1" "pressure $id cpu 99999999" "pressure 0$id cpu 2000000" \
		"pressure $id cpu" "pressure $id cpu 2000000 " "Pressure $id cpu 2000000" '' \
		"pressure /$CGROUP cpu 2000000" "pressure 99999999999999999999 cpu 2000000" \
		"pressure 18446744073709551615 cpu 2000000" "$(head -c 200 /dev/zero | tr '\0' 9)"; do
		run ask "$TEST_USER" "$request"
		[ "$status" -eq 0 ]
		[[ $output == refused\ * ]] || { echo "$request: $output"; false; }
	done
	# another user
	chmod 0777 "$GRANT_SOCKET"
	run ask 1 "pressure $id cpu 2000000"
	[ "$output" = "refused only the consumer's user and root may ask" ]
	await 5 counted 3 16
	[ "$(grep -c 'bourdon-grant: refused process' "$WORK/grant.log")" -eq 16 ]
}

# connected NUMBER: whether the child that was started last has this many sockets.
connected() {
	[ "$(find "/proc/${CHILDREN[-1]}/fd" -lname 'socket:*' | wc -l)" -eq "$1" ]
}

@test "bourdon-grant: two requests on one connection, a silent client, idle connections, a removed cgroup" {
	grant_start
	local id began
	id=$(id_of "$CGROUP")
	run ask "$TEST_USER" "pressure $id cpu 2000000"$'\n'"pressure $id io 2000000"
	[ "$output" = 'refused not a request' ]
	began=$SECONDS
	run "$BUILD/tools/ask_grant" --silent "$GRANT_SOCKET"
	[ "$output" = 'refused the request did not arrive in time' ]
	((SECONDS - began <= 15)) # bourdon-grant waits for two seconds
	# fifty idle connections do not prevent an answer
	"$BUILD/tools/ask_grant" --idle 50 "$GRANT_SOCKET" & CHILDREN+=($!)
	await 10 connected 50
	run ask "$TEST_USER" "pressure $id cpu 2000000"
	[[ $output == *cpu.pressure* ]]
	cgroup_remove
	run ask "$TEST_USER" "pressure $id cpu 2000000"
	[ "$output" = 'refused no such cgroup, or no such file in it' ]
}

@test "the same pressure fires a kernel trigger and a sampled one" {
	local mode
	for mode in kernel sampled; do
		if [ "$mode" = kernel ]; then grant_start; else GRANT_SOCKET=$WORK/nobody.sock; fi
		load
		pressure_of_two "$mode"
		daemon_start
		start cpu_hog
		local calm=$CHILD
		await_status 10 ".watches[0].trigger_mode == \"$mode\""
		start cpu_hog --threads $((2 * $(nproc)))
		await_log 30 "rule $mode fired"
		await_sql 30 "SELECT count(*) FROM capture WHERE rule = '$mode' AND state = 'complete'" 1
		[ "$(sql "SELECT trigger_mode, cgroup FROM capture WHERE rule = '$mode'")" = "$mode|/$CGROUP" ]
		# at least the threshold, at most the window
		[ "$(sql "SELECT observed_us >= 200000 AND observed_us <= 2000000 FROM capture WHERE rule = '$mode'")" = 1 ]
		stop "$CHILD"
		stop "$calm"
		daemon_stop TERM
		rm "$RULES_DIR/$mode.conf"
	done
}

@test "a window below two seconds: a kernel trigger if bourdon-grant has CAP_SYS_RESOURCE, else sampled" {
	grant_start
	load
	local mode=sampled
	if has_capability 24; then mode=kernel; fi # cap_sys_resource
	rule short 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 50ms/500ms' 'history = 1s' 'capture = 1s'
	daemon_start
	start cpu_hog
	await_status 10 ".watches[0].trigger_mode == \"$mode\""
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'rule short fired'
	await_sql 30 "SELECT count(*) > 0 FROM capture WHERE state = 'complete'" 1
	[ "$(sql 'SELECT DISTINCT trigger_mode FROM capture')" = "$mode" ]
	[ "$mode" = kernel ] || await_status 5 '.counters[] | select(.name == "grants-refused").value == 1'
}

# by_kernel RESOURCE: the watches have triggers of the kernel. A capture is of one, unless the kernel was so late that the daemon read
# the total first, which is what it has to do on a machine that is busy
by_kernel() {
	await_status 10 '.watches | length > 0 and all(.trigger_mode == "kernel")'
	[ "$(sql 'SELECT DISTINCT resource FROM capture')" = "$1" ]
}

@test "io.full and io.some of a cgroup: a capture each" {
	grant_start
	load
	rule io 'comm = io_hog' "cgroup = /$CGROUP" 'io.some = 2%' 'io.full = 2%' 'history = 4s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	start io_hog --threads 2 --file "$BUILD/io_hog.data"
	await_sql 60 "SELECT group_concat(kind) FROM (SELECT kind FROM capture WHERE state = 'complete' ORDER BY kind)" full,some
	by_kernel io
}

@test "memory.full and memory.some of a cgroup: a capture each" {
	cgroup_remove
	cgroup_make $((64 << 20))
	grant_start
	load
	rule memory 'comm = mem_hog' "cgroup = /$CGROUP" 'memory.some = 2%' 'memory.full = 2%' 'history = 4s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	start mem_hog --size 128MiB
	await_sql 90 "SELECT group_concat(kind) FROM (SELECT kind FROM capture WHERE state = 'complete' ORDER BY kind)" full,some
	by_kernel memory
}

@test "cpu.full: a cgroup whose only thread waits for the CPU" {
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/culprit"
	grant_start
	load
	rule full 'comm = cpu_hog' "cgroup = /$CGROUP/victim" 'cpu.full = 30%' 'history = 4s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	CGROUP=$CGROUP/culprit start cpu_hog --cpu 0 --threads 4
	CGROUP=$CGROUP/victim start cpu_hog --cpu 0
	await_sql 40 "SELECT cgroup, resource, kind, trigger_mode FROM capture WHERE state = 'complete'" \
		"/$CGROUP/victim|cpu|full|kernel"
}

# has_pressure_files NUMBER: whether the daemon has so many open. Its threads close that of a watch after the watch has ended.
has_pressure_files() {
	[ "$(find "/proc/$DAEMON/fd" -lname '*.pressure' | wc -l)" -eq "$1" ]
}

@test "irq pressure on a kernel that does not count it: the log and the status name the option that is missing" {
	[ ! -e /proc/pressure/irq ] || skip 'this kernel counts irq pressure'
	load
	own_workload cpu_hog
	rule whole "comm = $OWN" 'irq.full = 5%' 'watch = system'
	rule group "comm = $OWN" "cgroup = /$CGROUP" 'irq.full = 5%'
	daemon_start
	start_command "$WORK/$OWN"
	await_status 20 '[.watches[] | select(.state == "broken")] | length == 2'
	status_json | jq -e '.watches | all(.reason | endswith("built without CONFIG_IRQ_TIME_ACCOUNTING"))'
	grep -q 'rule whole cannot watch irq.full of the system: .*: it is built without CONFIG_IRQ_TIME_ACCOUNTING; ' "$WORK/daemon.log"
}

@test "a removed cgroup: its watches end, and the daemon does not spin" {
	grant_start
	load
	rule gone 'comm = cpu_hog' "cgroup = /$CGROUP/*" 'cpu.some = 90%' 'io.some = 90%'
	mkdir "$CGROUP2/$CGROUP/inner"
	daemon_start
	start cpu_hog --threads 1
	echo "$CHILD" > "$CGROUP2/$CGROUP/inner/cgroup.procs"
	# no event reports the move; the next walk over all processes finds it, and a reload walks at once
	rule other 'comm = bdtest-1' 'cpu.some = 90%'
	await_status 45 '[.watches[] | select(.trigger_mode == "kernel")] | length == 2'
	stop "$CHILD"
	until rmdir "$CGROUP2/$CGROUP/inner" 2>/dev/null; do sleep 0.05; done
	await_status 5 '.watches == []'
	local before
	before=$(cpu_ms "$DAEMON")
	sleep 3 # a spinning loop would use all the CPU time that it gets
	(($(cpu_ms "$DAEMON") - before < 150))
	# a new cgroup of the same name gets a new watch
	mkdir "$CGROUP2/$CGROUP/inner"
	CGROUP=$CGROUP/inner start cpu_hog --threads 1
	await_status 10 '.watches | length == 2'
	await 5 has_pressure_files 2
}

@test "all workers of a pre-forking server are captured; renaming removes and adds targets" {
	local server=srv$BASHPID # no process of another run has such a name
	load
	rule pool "comm = $server-*" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 2s' "capture = $((3 * PATIENCE))s" 'cooldown = 1h'
	daemon_start
	start prefork --workers 8 --name "$server-main"
	await_status 5 '.daemon[0].targets == 9'
	await_log 30 'rule pool fired'
	await_sql 30 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	[ "$(sql "SELECT count(DISTINCT process_id) FROM sample JOIN process USING(process_id) JOIN stack_frame USING(stack_id)
		JOIN frame USING(frame_id) WHERE comm = '$server-main' AND function = 'burn_worker'")" -eq 8 ]
	# SIGHUP: each worker changes to a name that no rule matches; SIGUSR1: to one that a rule matches
	kill -HUP "$CHILD"
	await_status 2 '.daemon[0].targets == 1'
	kill -USR1 "$CHILD"
	await_status 2 '.daemon[0].targets == 9'
}
