#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Faults around the daemon: locked or hanging databases, full disks, crashes, replaced pins, no free
# descriptors.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup resilience
	cgroup_make
}

teardown() {
	if [ -n "${FROZEN-}" ]; then
		fsfreeze -u "$FROZEN" 2>/dev/null || true
	fi
	[ -z "${KHUGEPAGED_SLEEP-}" ] || echo "$KHUGEPAGED_SLEEP" > "$KHUGEPAGED/scan_sleep_millisecs"
	bourdon_teardown_before_unmount
}

# A test may put the database on a file system of its own, which can be unmounted after the daemon has ended.
bourdon_teardown_before_unmount() {
	daemon_stop TERM
	if mountpoint -q "$STATE_DIR"; then
		umount "$STATE_DIR"
	fi
	children_end
	if mountpoint -q "$WORK/mounted"; then
		umount "$WORK/mounted"
	fi
	bourdon_teardown
}

# hog_rule LINE...: captures the pressure of cpu_hog in the test's cgroup, once unless a line sets the
# cooldown.
hog_rule() {
	[[ $* == *cooldown* ]] || set -- "$@" 'cooldown = 1h'
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'history = 5s' "$@"
}

KHUGEPAGED=/sys/kernel/mm/transparent_hugepage/khugepaged

# khugepaged_hurry: makes khugepaged scan ten times a second instead of every ten seconds.
khugepaged_hurry() {
	KHUGEPAGED_SLEEP=$(< "$KHUGEPAGED/scan_sleep_millisecs")
	echo 100 > "$KHUGEPAGED/scan_sleep_millisecs"
}

# heartbeat_age: prints it in whole seconds, as the BPF programs see it. Reads the time first, because bpftool
# is slow.
heartbeat_age() {
	local uptime heartbeat
	read -r uptime _ < /proc/uptime
	heartbeat=$(bpftool -j map dump pinned "$PIN_DIR/control" | jq '.[0].formatted.value.heartbeat_ns')
	awk -v uptime="$uptime" -v heartbeat="$heartbeat" 'BEGIN { print int(uptime - heartbeat / 1e9) }'
}

# assert_alive SECONDS: for this long, the heartbeat is never older than two seconds (longer on an emulated
# machine).
assert_alive() {
	local i
	for ((i = 0; i < $1; i++)); do
		[ "$(heartbeat_age)" -le $((1 + PATIENCE)) ] ||
			{ echo "heartbeat stopped after $i s"; grep -H . "/proc/$DAEMON/task/"*/stack; return 1; }
		sleep 1
	done
}

@test "a hanging disk: heartbeat and draining go on, and no sample is lost" {
	truncate -s 64M "$WORK/disk"
	mkfs.ext4 -q "$WORK/disk"
	mount -o loop "$WORK/disk" "$STATE_DIR"
	chown "$TEST_USER:$TEST_GROUP" "$STATE_DIR"
	load
	hog_rule 'capture = 4s'
	daemon_start
	FROZEN=$STATE_DIR
	fsfreeze -f "$STATE_DIR"
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'rule cpu fired'
	# before Linux 6.4 a page fault in a huge page can wait for khugepaged, which waits for the disk
	grep -q '^THP_enabled:[[:blank:]]*0$' "/proc/$DAEMON/status"
	khugepaged_hurry
	assert_alive 12
	fsfreeze -u "$STATE_DIR"
	FROZEN=
	await_log 20 'captured [0-9]+ stacks'
	[ "$(sql 'SELECT state, (SELECT count(DISTINCT second) FROM sample WHERE second BETWEEN 0 AND 3) FROM capture')" = 'complete|4' ]
}

# is_locked PID: whether its main thread is in uninterruptible sleep
is_locked() {
	grep -q '^[0-9]* ([^)]*) D' "/proc/$1/stat"
}

@test "a process that holds its mmap lock delays neither captures nor the end of the daemon" {
	truncate -s 16M "$WORK/disk"
	mkfs.ext4 -q "$WORK/disk"
	mkdir "$WORK/mounted"
	mount -o loop "$WORK/disk" "$WORK/mounted"
	own_workload locked
	load
	hog_rule 'capture = 2s' 'cooldown = 1s'
	rule locked "comm = $OWN" "cgroup = /$CGROUP" 'io.some = 99%'
	daemon_start
	start_command "$WORK/$OWN" "$WORK/mounted/file"
	FROZEN=$WORK/mounted
	fsfreeze -f "$FROZEN"
	kill -USR1 "$CHILD"
	await 10 is_locked "$CHILD"
	# the workload is a new process, so the scan of all mappings meets it
	start cpu_hog --threads $((2 * $(nproc)))
	local hog=$CHILD
	await_log 60 'captured [0-9]+ stacks'
	[ "$(sql 'SELECT state FROM capture LIMIT 1')" = complete ]
	# from Linux 6.7 on the scan does not wait for the lock, and newer kernels do not even need it
	if [[ -e $PIN_DIR/prog_walk_mappings_each ]]; then
		[ "$(sql "SELECT max(value) > 0 FROM counter WHERE name = 'mapping-walks-stuck'")" = 1 ]
		grep -q 'mapping scan timed out: a process holds its mmap lock' "$WORK/daemon.log"
	else
		! grep -q 'mapping scan timed out' "$WORK/daemon.log"
		[ "$(sql "SELECT count(*) > 0 FROM frame WHERE function = 'burn_cpu'")" = 1 ]
	fi
	# a reload works, too; names appear when the lock is released
	rule later 'comm = bdtest' 'cpu.some = 50%'
	await_status 10 '.daemon[0].rules == 3'
	fsfreeze -u "$FROZEN"
	await_sql 60 "SELECT count(DISTINCT capture_id) > 0 FROM sample JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		WHERE function = 'burn_cpu'" 1
	# SIGTERM while another scan hangs. The hog ends first: a capture's names, which the daemon waits for, yield to it
	stop "$hog"
	start_command "$WORK/$OWN" "$WORK/mounted/file"
	fsfreeze -f "$FROZEN"
	kill -USR1 "$CHILD"
	await 10 is_locked "$CHILD"
	[[ ! -e $PIN_DIR/prog_walk_mappings_each ]] ||
		await_status 20 '(.counters[] | select(.name == "mapping-walks-stuck").value) > 3'
	local began=$SECONDS
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ $((SECONDS - began)) -lt 15 ]
	fsfreeze -u "$FROZEN"
	FROZEN=
}

@test "a capture waits for space on a full disk" {
	truncate -s 8M "$WORK/disk"
	mkfs.ext4 -q -m 0 "$WORK/disk"
	mount -o loop "$WORK/disk" "$STATE_DIR"
	chown "$TEST_USER:$TEST_GROUP" "$STATE_DIR"
	load
	hog_rule 'capture = 1s'
	daemon_start
	dd if=/dev/zero of="$STATE_DIR/filler" bs=4096 status=none || true
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'cannot write the capture of rule cpu: '
	assert_alive 3
	rm "$STATE_DIR/filler"
	await_log 30 'captured [0-9]+ stacks'
	[ "$(sql 'SELECT count(*) FROM capture WHERE state = '"'complete'")" -eq 1 ]
	[ "$(sqlite3 "$DB" 'PRAGMA integrity_check')" = ok ]
}

@test "a killed spawner costs names, not the capture" {
	load
	hog_rule 'capture = 2s'
	start cpu_hog --threads $((2 * $(nproc)))
	daemon_start
	await_log 30 'fired'
	pkill -KILL -P "$DAEMON"
	await_log 30 'the spawner died: captures have no function names'
	await_log 30 'captured [0-9]+ stacks'
	grep -q 'no symbolizer' "$WORK/daemon.log" ||
		{ sql 'SELECT module_kind, module, function, total_samples FROM hot_function'; false; }
	[ "$(sql 'SELECT state FROM capture')" = complete ]
	[ "$(sql "SELECT function LIKE 'cpu_hog+0x%' FROM hot_function LIMIT 1")" = 1 ]
	[ "$(sql "SELECT events > 0 FROM loss WHERE reason = 'frames-unresolved'")" = 1 ]
}

@test "a spawner that cannot fork costs names until it can again" {
	load
	hog_rule 'capture = 1s' 'cooldown = 0s'
	daemon_start
	local spawner
	spawner=$(pgrep -P "$DAEMON")
	# its own user can lower and raise the soft limit
	limit() {
		setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups prlimit --pid "$spawner" --nproc="$1:"
	}
	limit 1
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'no symbolizer: Resource temporarily unavailable'
	await_log 30 'captured [0-9]+ stacks'
	limit 1000
	await_log 30 'captured [0-9]+ stacks'
	await_log 30 'captured [0-9]+ stacks'
	[ "$(sql "SELECT count(*) > 0 FROM hot_function WHERE function = 'burn_cpu'")" = 1 ]
}

@test "endless renames and forks stop neither the heartbeat nor SIGTERM" {
	load
	local i
	for i in {1..40}; do
		rule "storm$i" "comm = storm-$i*" "cgroup = /$CGROUP/*/no*" 'cpu.some = 90%' 'io.some = 90%' 'memory.some = 90%'
	done
	daemon_start
	for i in 1 2; do
		perl -e '$0 = "storm-1"; while (1) { my $child = fork; exit unless $child; waitpid $child, 0 }' & CHILDREN+=($!)
		perl -e 'my $i = 0; while (1) { $0 = "x"; open my $comm, ">", "/proc/self/comm"; print $comm "storm-" . ($i++ % 40); close $comm }' & CHILDREN+=($!)
	done
	assert_alive 8
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

@test "while the daemon is stopped nothing is sampled: history begins when it goes on" {
	local continued
	load --quiet-after 1s
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 50%' 'history = 20s' 'capture = 2s' 'cooldown = 1h'
	daemon_start
	kill -STOP "$DAEMON"
	start cpu_hog --threads $((2 * $(nproc)))
	sleep 5 # this is the gap
	continued=$(date +%s%N)
	kill -CONT "$DAEMON"
	await_log 30 'captured [0-9]+ stacks'
	# neither a history nor a sample is from the last four seconds of the gap; sample times are in whole
	# seconds. Where the hogs had little of the CPUs, a second capture has begun by now
	echo "continued $continued: $(sql 'SELECT capture_id, triggered_at, history_ns, state FROM capture')"
	[ "$(sql "SELECT min(triggered_at - history_ns) >= $continued - 1000000000 FROM capture")" = 1 ]
	[ "$(sql "SELECT min(triggered_at + second * 1000000000) >= $continued - 2000000000 FROM sample JOIN capture USING(capture_id)")" = 1 ]
}

@test "status of a stopped daemon: an error within 20 s" {
	load
	rule 007 'comm = 42' 'io.full = 100%' 'watch = system'
	daemon_start
	# names are text even if they look like numbers
	status_json | jq -e '.rules[0] | .name == "007" and .comm == "42" and .id == 1'
	kill -STOP "$DAEMON"
	run timeout 20 "$BUILD/bourdon" --db "$DB" status
	kill -CONT "$DAEMON"
	[ "$status" -eq 1 ]
	[[ $output == *'it does not answer'* ]]
	status_json | jq -e .running
}

@test "a FIFO among the rules is refused, and the daemon does not block on it" {
	load
	rule good 'comm = bdtest-1' 'cpu.some = 90%'
	daemon_start
	mkfifo "$RULES_DIR/fifo.conf"
	await_log 10 'fifo.conf: cannot read the file: not a regular file'
	rm "$RULES_DIR/fifo.conf"
	await_status 10 '.daemon[0].reload_mistake == ""'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

@test "without descriptors for all watches the daemon does not spin, and watches what it missed when it has them" {
	load
	rule many 'comm = cpu_hog' "cgroup = /$CGROUP/*" 'cpu.some = 99%' 'cpu.full = 99%' 'memory.some = 99%' \
		'memory.full = 99%' 'io.some = 99%' 'io.full = 99%'
	DAEMON_BY='prlimit --nofile=1024:1024' daemon_start
	local limit before one
	# room for the six watches of one cgroup and not of two
	limit=$((1024 - $(status_json | jq '.daemon[0].watches_max') + 10))
	daemon_stop TERM
	DAEMON_BY="prlimit --nofile=$limit:$limit" daemon_start
	mkdir "$CGROUP2/$CGROUP/one" "$CGROUP2/$CGROUP/two"
	CGROUP=$CGROUP/one start cpu_hog --threads 1
	one=$CHILD
	await_status 10 '[.watches[] | .state == "armed" and (.cgroup | endswith("/one"))] | length == 6 and all'
	CGROUP=$CGROUP/two start cpu_hog --threads 1
	await_log 10 '1 cgroup is not watched .*: RLIMIT_NOFILE leaves descriptors for 10 watches; .*raise LimitNOFILE='
	before=$(cpu_ms "$DAEMON")
	sleep 2 # a spinning loop would use all the CPU time that it gets
	(($(cpu_ms "$DAEMON") - before < 200))
	# the first cgroup's descriptors are free now
	stop "$one"
	until rmdir "$CGROUP2/$CGROUP/one" 2>/dev/null; do sleep 0.05; done
	await_status 10 '[.watches[] | .state == "armed" and (.cgroup | endswith("/two"))] | length == 6 and all'
}

@test "the daemon ends when its pins are replaced or removed" {
	load
	hog_rule
	daemon_start
	load
	await_log 10 'pins were replaced or removed'
	daemon_wait
	[ "$DAEMON_STATUS" -eq 0 ]
	daemon_start
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --unload
	await_log 10 'pins were replaced or removed'
	daemon_wait
	[ "$DAEMON_STATUS" -eq 0 ]
}

# bats test_tags=slow,long
@test "the database stays below max_size by removing the oldest captures" {
	load_targets_alone --hz 997 --ring-size 4MiB
	NAMING=1 write_settings '[database]' 'max_size = 8MiB' # many captures, whose names do not matter
	# of our cgroup alone: with the stacks of other programs a capture may be larger than a third of max_size, and is lost
	rule all 'comm = *' "cgroup = /$CGROUP" 'cpu.some = 1%' 'watch = system' 'history = 5s' 'capture = 1s' 'cooldown = 0s'
	daemon_start
	start cpu_hog --threads $((4 * $(nproc)))
	# many short processes, each with its own stacks
	(echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"; while :; do "$BUILD/bourdon-load" --help; find /usr/include -name 'x*'; done > /dev/null 2>&1) & CHILDREN+=($!)
	await_log 300 'capture [0-9]+ was removed'
	await_log 120 'capture [0-9]+ was removed'
	await_log 60 'captured [0-9]+ stacks'
	local bytes
	bytes=$(cat "$DB" "$DB-wal" | wc -c)
	[ "$bytes" -le $((8 << 20)) ] || { echo "$bytes bytes"; false; }
	daemon_stop TERM
	[ "$(sql 'SELECT min(capture_id) > 2 FROM capture')" = 1 ]
	[ "$(sql 'SELECT count(*) FROM stack_frame WHERE stack_id NOT IN (SELECT stack_id FROM sample_row UNION
		SELECT waker_stack_id FROM wake_row WHERE waker_stack_id IS NOT NULL)')" -eq 0 ]
	[ "$(sqlite3 "$DB" 'PRAGMA integrity_check')" = ok ]
}

@test "rings overflow while the daemon is stopped: samples and counted losses add up" {
	load_targets_alone --hz 997 --ring-size 16KiB
	# the rule watches the whole system, whose pressure cpu_hog makes: no target runs before the capture
	# has begun
	own_workload lock_hog
	rule locks "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 200ms/2s' 'watch = system' 'history = 1s' "capture = $((10 * PATIENCE))s" 'cooldown = 1h'
	start cpu_hog --threads $((2 * $(nproc)))
	daemon_start
	await_log 30 'rule locks fired'
	# lock_hog begins and ends within the capture, so that no interval is cut
	start_ahead "$WORK/$OWN" --threads 4 --hold 5 --seconds 4
	kill -STOP "$DAEMON"
	sleep 2
	kill -CONT "$DAEMON"
	wait "$CHILD"
	await_log $((15 * PATIENCE)) 'captured [0-9]+ stacks'
	local lost on off gone
	lost=$(sql "SELECT sum(events) FROM loss WHERE reason IN ('overwritten-slots', 'torn-slots', 'unknown-process')")
	on=$(sql "SELECT sum(samples) FROM sample WHERE kind = 'on-cpu'")
	# the last part of each interval is the wait for a CPU
	off=$(sql "SELECT sum(samples) FROM sample WHERE kind = 'off-cpu' AND stall LIKE '%cpu%'")
	echo "lost $lost, on $on of $(counter 0), off $off of $(counter 12)"
	[ "$lost" -gt 100 ]
	# an interval may have a second slot, of its waker, which no counter tells
	gone=$(($(counter 0) + $(counter 12) - on - off))
	((lost >= gone && lost <= gone + $(counter 12)))
	# of intervals off CPU, what was written is kept until it is drained
	[ "$(counter 12)" -eq "$off" ]
	run "$BUILD/bourdon" --db "$DB" why --full
	[[ $output == *PARTIAL*overwritten-slots* ]]
}
