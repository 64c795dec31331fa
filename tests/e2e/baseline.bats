#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Baselines: a calm rule gets captures of the rings' history alone, which belong to no incident and cost nothing but their
# reading; a capture that fires is compared with them.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup baseline
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# calm_rule COMM: a rule of the test's cgroup, where nothing waits for a disk, while for a CPU everything may wait beside others
calm_rule() {
	rule web "comm = $1" "cgroup = /$CGROUP" 'io.full = 100%' 'history = 5s' 'capture = 5s' 'cooldown = 1s'
}

# daemon_ahead: a baseline has two seconds for its names, and a symbolizer gets what others leave: beside hogs, nothing
daemon_ahead() {
	DAEMON_BY=setsid daemon_start
	go_ahead "$DAEMON" -8
}

# list_json OPTION...
list_json() {
	"$BUILD/bourdon" --db "$DB" list --json "$@"
}

# baselines NUMBER: whether the database has so many or more
baselines() {
	(($(sql "SELECT count(*) FROM capture WHERE trigger_mode = 'baseline' AND state = 'complete'" 2> /dev/null || echo 0) >= $1))
}

@test "a calm rule has a baseline each interval: history alone, of no incident, with names" {
	calm_rule cpu_hog
	write_settings '[baseline]' 'every = 10s'
	load_targets_alone
	start cpu_hog --threads 1
	daemon_ahead
	await 60 baselines 2
	[ "$(sql "SELECT DISTINCT rule, resource, kind, trigger_mode, incident_id, verdict, cgroup, state FROM capture")" = \
		'web|||baseline||||complete' ]
	# nothing was recorded after the moment that the baseline is of
	[ "$(sql 'SELECT count(*) FROM capture WHERE ended_at <> triggered_at')" = 0 ]
	[ "$(sql "SELECT count(*) FROM sample WHERE kind = 'on-cpu' AND second >= 0")" = 0 ]
	[ "$(sql 'SELECT count(*) FROM incident')" = 0 ]
	[ "$(sql 'SELECT count(*) FROM usage')" = 0 ]
	# where the time of the history went
	[ "$(sql "SELECT (SELECT count(DISTINCT capture_id) FROM account WHERE account = 'ran') = (SELECT count(*) FROM capture)")" = 1 ]
	# one CPU of five seconds of history: 235 samples, as far as the machine let the workload run
	[ "$(sql "SELECT min(sample_count) > 0, max(sample_count - interval_count) <= 250 FROM capture")" = '1|1' ]
	await_sql 60 "SELECT count(*) > 0 FROM hot_function WHERE function = 'burn_cpu' AND percent > 50" 1
	[ "$(sql "SELECT count(*) FROM loss WHERE reason = 'watch-suppressed'")" = 0 ]
	# at most one in ten seconds
	(($(sql "SELECT ifnull(min(gap), 10000) FROM (SELECT (triggered_at - lag(triggered_at) OVER (ORDER BY triggered_at)) / 1000000
		AS gap FROM capture)") >= 9900))
	[ "$(status_json | jq '.captures | length')" = 0 ]
	[ "$(status_json | jq -r '.counters[] | select(.name == "captures").value')" = 0 ]
	[ "$(status_json | jq -r '.daemon[0].baseline_ns')" = 10000000000 ]
	[ "$(list_json | jq length)" = 0 ]
	[ "$(list_json --baseline | jq 'length > 1')" = true ]
	[ "$(list_json --all --rule web | jq 'length > 1')" = true ]
	[ "$(list_json --all --rule other | jq length)" = 0 ]
	run "$BUILD/bourdon" --db "$DB" why
	[ "$status" -eq 1 ]
	[[ $output == *'no capture in '* ]]
	"$BUILD/bourdon" --db "$DB" why 1 --full | grep -q 'baseline 1 (complete), rule web'
	"$BUILD/bourdon" --db "$DB" db check
}

@test "what fires is compared with the baselines: the function that was planted comes first, and a calm time differs in nothing" {
	local id
	calm_rule '*'
	write_settings '[baseline]' 'every = 10s'
	load_targets_alone
	start_ahead "$BUILD/workloads/three_hot" --rest 1
	daemon_ahead
	await 90 baselines 2
	"$BUILD/bourdon" --db "$DB" diff 1 2 --all --json > "$WORK/same.json"
	# its functions have a half, a third and a sixth of some hundred samples on each side: a difference of 30 percent points is five standard deviations
	jq -e '[.functions[] | select(.function | startswith("burn_"))] | length == 3 and
		all(.samples_a > 0 and .samples_b > 0 and (.change_percent | fabs) < 30)' "$WORK/same.json" ||
		{ cat "$WORK/same.json"; false; }
	# planted: another program of the rule, which takes more time than the first
	rule web 'comm = *' "cgroup = /$CGROUP" 'cpu.some = 100ms/2s' 'history = 5s' 'capture = 10s' 'cooldown = 1h'
	await_log 20 reloaded
	start_ahead "$BUILD/workloads/cpu_hog" --threads $(($(nproc) * 2))
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE trigger_mode <> 'baseline' AND state = 'complete'" 1
	id=$(sql "SELECT capture_id FROM capture WHERE trigger_mode <> 'baseline'")
	"$BUILD/bourdon" --db "$DB" diff baseline "$id" --json > "$WORK/diff.json"
	jq -e '.a.baseline == 1 and .b.captures == ['"$id"']' "$WORK/diff.json"
	jq -e '.functions[0] | .function == "burn_cpu" and .changed == 1 and .samples_a == 0 and .change_ns_per_s > 0' \
		"$WORK/diff.json"
	jq -e '.stacks[0].stack | contains("burn_cpu")' "$WORK/diff.json"
	"$BUILD/bourdon" --db "$DB" diff baseline "$id"
}

@test "a baseline shows nobody whom root's policy denies" {
	calm_rule '*'
	write_settings '[baseline]' 'every = 10s'
	printf '%s\n' '[policy]' 'deny_comms = cpu_hog' > "$WORK/deny.conf"
	load --policy "$WORK/deny.conf"
	start cpu_hog --threads 1
	local denied=$CHILD
	start three_hot
	daemon_start
	await 60 baselines 1
	[ "$(sql "SELECT sum(samples) > 0 FROM sample JOIN process USING(process_id) WHERE tgid = $CHILD")" = 1 ]
	[ "$(sql "SELECT count(*) FROM sample_row JOIN thread USING(thread_id) JOIN process USING(process_id)
		WHERE tgid = $denied")" = 0 ]
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = $denied")" = 0 ]
}
