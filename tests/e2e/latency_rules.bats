#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Rules on latencies: which groups are measured for rules and captures in force, a rule that fires because threads wait too long
# for a CPU, and mistakes.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup latency_rules
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# measured FIELD: that field of the kernel's control.latency or latency_loaded, as its pin has it
measured() {
	bpftool -j map dump pinned "$PIN_DIR/control" | jq ".[0].formatted.value.$1"
}

# measures GROUPS: the kernel programs measure these groups, a bit for each
measures() {
	(($(measured latency) == $1))
}

# has_waits NUMBER: the file of metrics has counted more than so many waits for a CPU
has_waits() {
	local waits
	waits=$(sed -n 's/^bourdon_latency_seconds_count{metric="runqueue"} //p' "$STATE_DIR/bourdon.prom" 2> /dev/null)
	((${waits:-0} > $1))
}

@test "threads that wait too long for a CPU fire a rule, and its capture says so" {
	own_workload cpu_hog
	rule starved "comm = $OWN" "cgroup = /$CGROUP" 'latency = runqueue.p90 > 2ms / 5s' 'history = 5s' 'capture = 2s' 'cooldown = 1h'
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0750 "$STATE_DIR/hook"
	load
	daemon_start
	# each of three gets the CPU when the slices of the others are over
	for _ in 1 2 3; do
		ON_CPU=0 start_command "$WORK/$OWN"
	done
	await_log 60 'rule starved fired: runqueue p90 '
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete' AND trigger_mode = 'latency'" 1
	sql 'SELECT * FROM capture' >&2
	[ "$(sql "SELECT rule, resource, kind, stall_us, observed_us, latency_metric, latency_quantile, latency_limit_ns, latency_window_ns, cgroup FROM capture")" = \
		"starved|||||runqueue|p90|2000000|5000000000|/$CGROUP" ]
	(($(sql 'SELECT latency_observed_ns FROM capture') > 2000000))
	# the capture has what fired
	(($(sql "SELECT max(p90_ns) FROM latency_percentile WHERE metric = 'runqueue'") > 2000000))
	[[ $(sql 'SELECT verdict FROM capture') != negligible ]]
	run "$BUILD/bourdon" --db "$DB" list
	echo "$output"
	[[ $output == *'runqueue p90 '*' 2ms  latency '* ]]
	run "$BUILD/bourdon" --db "$DB" why
	echo "$output"
	[[ $output == *"runqueue p90 "*" > 2 ms in 5 s"* ]]
	grep -q '^BOURDON_LATENCY_METRIC=runqueue$' "$STATE_DIR"/hook/capture-1
	grep -q '^BOURDON_MESSAGE=capture 1, rule starved: runqueue p90 ' "$STATE_DIR"/hook/capture-1
	await_status 30 '[.watches[] | select(.trigger_mode == "latency") | .latency, .state, .fired > 0] == ["runqueue.p90", "cooldown", true]'
	# each epoch fires again
	await_status 30 '.counters[] | select(.name == "triggers-suppressed").value > 0'
}

@test "what rules and captures want is measured while they are in force, and nothing else" {
	rule a 'comm = nobody-has-it' 'cpu.some = 99%' 'probes = none'
	load
	daemon_start
	measures 0
	rule a 'comm = nobody-has-it' 'cpu.some = 99%' 'probes = block, lock'
	await 20 measures $((1 << 2 | 1 << 3))
	# the trigger's group comes with it
	rule b 'comm = nobody-has-it' 'latency = softirq.p99 > 1s / 10s' 'probes = none'
	await 20 measures $((1 << 2 | 1 << 3 | 1 << 5))
	rm "$RULES_DIR/b.conf"
	rule a 'comm = nobody-has-it' 'cpu.some = 99%' 'probes = none'
	await 20 measures 0
	start cpu_hog
	capture_begin --pid "$CHILD" --probes runqueue
	measures 1
	capture_end
	await 20 measures 0
	await_sql 60 "SELECT asked_for LIKE '%--probes runqueue' FROM capture WHERE state = 'complete'" 1
	[ "$(sql 'SELECT DISTINCT metric FROM latency_measured')" = runqueue ]
	# a rule has all that there is, unless it says otherwise
	rule a 'comm = nobody-has-it' 'cpu.some = 99%'
	await 20 measures "$(measured latency_loaded)"
	(($(measured latency_loaded)))
	daemon_stop TERM
	measures 0
}

@test "a group that the loader does not offer is a warning with the rule's place" {
	rule a 'comm = nobody-has-it' 'cpu.some = 99%' 'probes = block, lock'
	rule b 'comm = nobody-has-it' 'cpu.some = 99%'
	load --probes runqueue,lock
	daemon_start
	grep "$RULES_DIR/a.conf:1: rule a wants latencies of groups that the kernel programs do not measure: block; give them to bourdon-load --probes" "$WORK/daemon.log"
	measures $((1 << 0 | 1 << 3))
	run grep -c 'do not measure' "$WORK/daemon.log"
	[ "$output" = 1 ]
	start cpu_hog
	run "$BUILD/bourdon" --db "$DB" capture --pid "$CHILD" --for 1s --probes softirq,lock
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *'the kernel programs do not measure these latencies: softirq'* ]]
}

@test "--check-config tells of mistakes in latency and probes, each with its line" {
	printf '%s\n' '[rule a]' 'comm = x' 'latency = runqueue.p99 > 20 / 10s' '[rule b]' 'comm = x' 'cpu.some = 5%' 'probes = block, disks' \
		> "$RULES_DIR/bad.conf"
	run "$BUILD/bourdond" --check-config --rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"bad.conf:3: latency = runqueue.p99 > 20 / 10s: '20': expected a time with its unit, such as 20ms"* ]]
	[[ $output == *"bad.conf:7: probes = block, disks: 'disks' is no group; give runqueue, offcpu, block, lock, memory, softirq, exec, fork or request"* ]]
	printf '%s\n' '[rule a]' 'comm = x' 'latency = runqueue.p99 > 20ms / 10s, block.p999 > 1s / 1min' 'probes = none' > "$RULES_DIR/bad.conf"
	run "$BUILD/bourdond" --check-config --rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf"
	[ "$status" -eq 0 ]
}

@test "metrics have histograms of what is measured" {
	write_settings '[metrics]' "textfile = $STATE_DIR/bourdon.prom" 'interval = 1s'
	own_workload cpu_hog
	rule a "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 99%' 'probes = runqueue'
	load
	daemon_start
	ON_CPU=0 start_command "$WORK/$OWN"
	ON_CPU=0 start_command "$WORK/$OWN"
	await 60 has_waits 20
	grep '^bourdon_latency' "$STATE_DIR/bourdon.prom" >&2
	grep -q '^bourdon_latency_seconds_bucket{metric="runqueue",le="+Inf"} ' "$STATE_DIR/bourdon.prom"
	grep -q '^bourdon_latency_unpaired_total{metric="runqueue"} ' "$STATE_DIR/bourdon.prom"
	run grep -c 'metric="lock"' "$STATE_DIR/bourdon.prom"
	[ "$output" = 0 ]
}
