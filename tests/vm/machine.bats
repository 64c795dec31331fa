#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests that need a machine of their own: CPUs that go offline and online, kernel settings, raised limits.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"

CPU1=/sys/devices/system/cpu/cpu1/online

setup() {
	bourdon_setup machine
	cgroup_make
}

teardown() {
	echo 1 > "$CPU1"
	bourdon_teardown
}

check() {
	"$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR"
}

@test "a CPU that comes online after the load is reported, and in the ledger" {
	echo 0 > "$CPU1"
	load
	grep -qx 'sampled_cpus = 0' "$RUN_DIR/manifest"
	rule hog 'comm = cpu_hog' 'cpu.some = 400ms/2s' 'watch = system' 'history = 2s' 'capture = 2s'
	daemon_start
	echo 1 > "$CPU1"
	await_log 10 'CPU 1 is not sampled: it came online after the load'
	start cpu_hog --threads 4
	await_log 20 'rule hog fired'
	await_sql 30 "SELECT count(*) > 0 FROM capture WHERE state = 'complete'" 1
	[ "$(sql "SELECT events FROM loss WHERE reason = 'cpus-unsampled'")" -eq 1 ]
	run "$BUILD/bourdon" --db "$DB" why --full
	[[ $output == *PARTIAL:*cpus-unsampled* ]]
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *'CPU 1 came online after bourdon-load ran'* ]]
}

@test "a CPU that goes and comes back has lost its clock until the next load, and is reported" {
	load
	rule hog 'comm = cpu_hog' 'cpu.some = 400ms/2s' 'watch = system' 'history = 2s' 'capture = 2s'
	daemon_start
	echo 0 > "$CPU1"
	echo 1 > "$CPU1"
	await_log 10 'CPU 1 is not sampled: it came online after the load'
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *'clocks-lost: 1'* ]]
	# the pins are replaced, so the daemon ends; the next daemon reports no problem
	load
	await_log 10 'the pins were replaced'
	wait "$DAEMON" || true
	daemon_start
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 0 ]
	[[ $output != *clocks-lost* ]]
}

@test "what a CPU recorded before it went offline is in the next capture" {
	load
	rule hog 'comm = cpu_hog' 'cpu.some = 400ms/2s' 'watch = system' 'history = 30s' 'capture = 2s'
	daemon_start
	# alone on CPU 1, the process causes no pressure; all its samples are in that CPU's ring
	"$BUILD/workloads/cpu_hog" --cpu 1 --seconds 4
	local gone
	gone=$(counter 0)
	[ "$gone" -gt 50 ]
	echo 0 > "$CPU1"
	start cpu_hog --threads 3
	await_log 20 'rule hog fired'
	await_sql 40 "SELECT count(*) > 0 FROM capture WHERE state = 'complete'" 1
	# two processes: the current one, and the one that ran on CPU 1
	[ "$(sql 'SELECT count(DISTINCT tgid) FROM sample JOIN process USING(process_id)')" -eq 2 ]
	[ "$(sql 'SELECT sum(samples) FROM sample JOIN process USING(process_id) WHERE kind = "on-cpu" GROUP BY tgid ORDER BY min(second) LIMIT 1')" -gt 50 ]
}

@test "rings that are larger than what may be locked: all else is locked" {
	private_bpffs 0711
	load --ring-size 128MiB
	rule hog 'comm = cpu_hog' 'cpu.some = 400ms/2s' 'watch = system' 'history = 2s' 'capture = 2s'
	# started as by its unit: as another user, with a limit
	DAEMON_BY="prlimit --memlock=$((128 << 20)) setpriv --reuid $TEST_USER --regid $TEST_GROUP --clear-groups --bounding-set=-all --inh-caps=-all"
	daemon_start
	run grep locked "$WORK/daemon.log"
	[ "$status" -eq 1 ]
	# memory mapped later is locked, too: the thread stacks were mapped afterwards
	[ "$(awk '/^VmLck/ { print $2 }' "/proc/$DAEMON/status")" -gt $((10 << 10)) ]
	[ "$(awk '/^VmLck/ { print $2 }' "/proc/$DAEMON/status")" -lt $((128 << 10)) ]
	start cpu_hog --threads 4
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
}

@test "a quota that throttles its cgroup is the verdict" {
	echo +cpu > "$CGROUP2/cgroup.subtree_control"
	echo '20000 100000' > "$CGROUP2/$CGROUP/cpu.max"
	load
	rule hog 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 20%' 'history = 1s' 'capture = 4s' 'cooldown = 1h'
	daemon_start
	start cpu_hog --threads 1
	await_sql 60 "SELECT state FROM capture WHERE capture_id = 1" complete
	sql 'SELECT verdict, victim, wait, blamed_percent, limit_cgroup, limit_name, limit_value FROM capture WHERE capture_id = 1'
	[ "$(sql 'SELECT verdict, wait, limit_cgroup, limit_name, limit_value FROM capture WHERE capture_id = 1')" = \
		"quota|throttled|/$CGROUP|cpu.max|20000" ]
	[ "$(sql "SELECT after FROM statistic WHERE capture_id = 1 AND scope = '/$CGROUP' AND source = 'cpu.max' AND name = 'quota_usec'")" -eq 20000 ]
}

@test "a quota whose cgroup is removed before the capture ends is the verdict" {
	echo +cpu > "$CGROUP2/cgroup.subtree_control"
	echo '20000 100000' > "$CGROUP2/$CGROUP/cpu.max"
	load
	rule hog 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 20%' 'history = 1s' 'capture = 12s' 'cooldown = 1h'
	daemon_start
	start cpu_hog --threads 1
	await_log 60 fired
	# at a fifth of a CPU, for some 5 s: its files are read each second
	await_cpu "$CHILD" 1000
	children_end
	await 60 rmdir "$CGROUP2/$CGROUP"
	await_sql 60 "SELECT state FROM capture WHERE capture_id = 1" complete
	sql 'SELECT verdict, victim, wait, blamed_percent, limit_cgroup, limit_name, limit_value FROM capture WHERE capture_id = 1'
	[ "$(sql 'SELECT verdict, limit_cgroup FROM capture WHERE capture_id = 1')" = "quota|/$CGROUP" ]
}

@test "--check: settings that cost something are warnings, each with its remedy" {
	run with_sysctl kernel.perf_event_max_stack 32 check
	[ "$status" -eq 0 ]
	[[ $output == *'stack depth'*warning*'at most 32 frames'*'remedy: sysctl -w kernel.perf_event_max_stack=127'* ]]
	run with_sysctl kernel.perf_event_max_sample_rate 50 check
	[ "$status" -eq 0 ]
	[[ $output == *'perf sample rate'*warning*'at most 50 samples a second'* ]]
}

@test "--check and a load under the strictest settings" {
	local setting
	for setting in 'kernel.kptr_restrict 2' 'kernel.perf_event_paranoid 3' 'net.core.bpf_jit_harden 2'; do
		# shellcheck disable=SC2086
		run with_sysctl $setting check
		[ "$status" -eq 0 ] || { echo "$setting: $output"; false; }
		[[ $output == *'canary: sample'*ok* ]] || { echo "$setting: $output"; false; }
	done
	# /proc/kallsyms hides all addresses, but the snapshot contains the symbols
	with_sysctl kernel.kptr_restrict 2 load
	grep -qx '0 _text' "$RUN_DIR/kernel-symbols"
}

@test "without CAP_SYS_ADMIN: Debian's kernel.perf_event_paranoid is named with its remedy" {
	load
	run with_sysctl kernel.perf_event_paranoid 3 setpriv --bounding-set=-sys_admin --inh-caps=-all \
		"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP"
	[ "$status" -eq 3 ]
	[[ $output == *'kernel.perf_event_paranoid is 3: '*'sysctl -w kernel.perf_event_paranoid=2' ]] ||
		{ echo "$output"; false; }
}
