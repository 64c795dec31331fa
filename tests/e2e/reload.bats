#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Reloads while the daemon runs: every way to change the files is noticed, a mistake changes nothing, and unchanged
# rules keep their state.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup reload
	cgroup_make
}

teardown() {
	bourdon_teardown
}

rule_names() {
	status_json | jq -r '[.rules[].name] | sort | join(",")'
}

await_rules() {
	await_status 10 "[.rules[].name] | sort | join(\",\") == \"$1\""
}

@test "reload: a file written, replaced or removed, a link or the directory replaced, SIGHUP" {
	load
	rule one 'comm = bdtest-1' 'cpu.some = 90%'
	daemon_start
	await_rules one
	printf '[rule two]\ncomm = bdtest-2\ncpu.some = 90%%\n' > "$RULES_DIR/two.conf"
	await_rules one,two
	# an editor writes a new file and renames it
	printf '[rule three]\ncomm = bdtest-3\nio.some = 90%%\n' > "$WORK/new"
	mv "$WORK/new" "$RULES_DIR/two.conf"
	await_rules one,three
	rm "$RULES_DIR/one.conf"
	await_rules three
	# Kubernetes: the files are links into ..data, a link that is replaced by a rename
	mkdir "$RULES_DIR/..v1" "$RULES_DIR/..v2"
	printf '[rule v1]\ncomm = bdtest-1\nio.some = 90%%\n' > "$RULES_DIR/..v1/map.conf"
	printf '[rule v2]\ncomm = bdtest-2\nio.some = 90%%\n' > "$RULES_DIR/..v2/map.conf"
	ln -s ..v1 "$RULES_DIR/..data"
	ln -s ..data/map.conf "$RULES_DIR/map.conf"
	await_rules three,v1
	ln -s ..v2 "$RULES_DIR/..new"
	mv -T "$RULES_DIR/..new" "$RULES_DIR/..data"
	await_rules three,v2
	# the directory itself is replaced
	mkdir "$WORK/other"
	printf '[rule other]\ncomm = bdtest-1\nio.some = 90%%\n' > "$WORK/other/o.conf"
	mv "$RULES_DIR" "$WORK/gone"
	mv "$WORK/other" "$RULES_DIR"
	await_rules other
	# changes in the new directory are noticed, too
	rule more 'comm = bdtest-2' 'cpu.some = 90%'
	await_rules more,other
	kill -HUP "$DAEMON"
	await_log 10 'the configuration has not changed'
	rule long 'comm = bdtest-3' 'cpu.some = 90%' 'history = 60s'
	await_log 10 'long.conf:1: rule long wants 60 s of history, but the ring of a CPU that runs only targets holds 15 s'
}

@test "a mistake: the configuration stays, log and status name it, and mending it is enough" {
	load
	rule good 'comm = bdtest-1' 'cpu.some = 90%'
	daemon_start
	rule bad 'comm = bdtest-2' 'cpu.some = 900%'
	await_log 10 "rules.d/bad.conf:3: cpu.some = 900%"
	await_log 10 'reload refused; keeping the previous configuration'
	[ "$(rule_names)" = good ]
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'not in force: '*'rules.d/bad.conf:3: cpu.some = 900%'* ]]
	[[ $output == *'remedy: correct every line'* ]]
	[ "$(status_json | jq '.daemon[0].reloads_refused')" -eq 1 ]
	write_settings '[database]' 'max_size = 1'
	rm "$RULES_DIR/bad.conf"
	await_log 10 'bourdon.conf:5: max_size = 1'
	write_settings '[database]' 'max_size = 64MiB'
	await_log 10 'reloaded: 1 rule,'
	await_status 5 '.daemon[0].reload_mistake == "" and .daemon[0].reloads == 1'
	daemon_stop TERM
	[ "$(sql "SELECT value FROM counter WHERE name = 'reloads-refused' ORDER BY at DESC LIMIT 1")" -eq 2 ]
}

@test "SIGHUP within a reload causes another; files that change all the time are read, too" {
	load
	rule one 'comm = bdtest-1' 'cpu.some = 90%'
	daemon_start
	# the daemon waits for the database lock, because it must number a new rule
	coproc LOCK { exec sqlite3 "$DB"; }
	local answer
	echo "BEGIN IMMEDIATE; SELECT 'locked';" >&"${LOCK[1]}"
	read -r -t 60 answer <&"${LOCK[0]}"
	[ "$answer" = locked ]
	rule two 'comm = bdtest-2' 'cpu.some = 90%'
	sleep 2.5 # the change is noticed after one second
	[ "$(rule_names)" = one ]
	kill -HUP "$DAEMON"
	await_status 5 '.daemon[0].uptime_ns > 0' # once it has answered, the daemon has handled the signal
	echo 'ROLLBACK;' >&"${LOCK[1]}"
	echo '.quit' >&"${LOCK[1]}"
	await_log 10 'reloaded: 2 rules'
	await_log 10 'the configuration has not changed'
	while touch "$RULES_DIR/.x" && rm "$RULES_DIR/.x"; do sleep 0.05; done 2> /dev/null & CHILDREN+=($!)
	rule three 'comm = bdtest-3' 'cpu.some = 90%'
	await_rules one,three,two
}

# trigger_fds: prints the descriptors of its CPU triggers; captures open such files only for reading.
trigger_fds() {
	local fd
	while read -r fd; do
		! grep -q '^flags:.*2$' "/proc/$DAEMON/fdinfo/$fd" || echo "$fd"
	done < <(find "/proc/$DAEMON/fd" -lname '*/cpu.pressure' -printf '%f\n')
}

@test "a reload keeps ids, triggers, cooldowns and targets; captures of a removed rule end as usual" {
	own_workload cpu_hog
	grant_start
	load
	local lines=("cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 2s' "capture = $((6 * PATIENCE))s" 'cooldown = 1h')
	rule kept "comm = $OWN" "${lines[@]}"
	rule goes "comm = $OWN*" "${lines[@]}"
	daemon_start
	start_command "$WORK/$OWN" --threads $((2 * $(nproc)))
	await_log 30 'rule (kept|goes) fired'
	await_log 30 'rule (kept|goes) fired'
	local before
	before=$(trigger_fds)
	[ "$(wc -l <<< "$before")" -eq 2 ]
	local id
	id=$(status_json | jq '.rules[] | select(.name == "kept").id')
	rm "$RULES_DIR/goes.conf"
	rule new "comm = $OWN" "cgroup = /$CGROUP" 'io.some = 90%'
	await_rules kept,new
	[ "$(status_json | jq '.rules[] | select(.name == "kept").id')" -eq "$id" ]
	[ "$(status_json | jq '.rules[] | select(.name == "new").id')" -eq 3 ]
	status_json | jq -e '.watches[] | select(.rule == "kept") | .trigger_mode == "kernel" and .state == "cooldown" and .fired >= 1'
	status_json | jq -e '.daemon[0].targets == 1 and (.captures | length) == 2'
	await_sql 30 "SELECT group_concat(rule) FROM (SELECT rule FROM capture WHERE state = 'complete' ORDER BY rule)" goes,kept
	[ "$(sql "SELECT group_concat(rule_id || rule) FROM rule")" = "1goes,2kept,3new" ]
	# the trigger of the removed rule is closed, the other trigger is unchanged, and the new watch exists
	await_status 10 '[.watches[].rule] | sort == ["kept", "new"]'
	[ "$(find "/proc/$DAEMON/fd" -lname '*/io.pressure' | wc -l)" -eq 1 ]
	local after
	after=$(trigger_fds)
	[ "$(wc -l <<< "$after")" -eq 1 ]
	grep -qx "$after" <<< "$before"
}

@test "a thousand reloads leak no descriptor, watch, target, map entry or memory" {
	own_workload cpu_hog
	grant_start
	load
	local variants=("[rule a]\ncomm = $OWN\ncpu.some = 90%%\n[rule c]\ncomm = ${OWN:0:-1}*\nio.some = 90%%\n"
		"[rule b]\ncomm = $OWN*\nio.some = 80%%\n")
	# shellcheck disable=SC2059
	printf "${variants[0]}" > "$RULES_DIR/r.conf"
	daemon_start
	start_command "$WORK/$OWN" --threads 1
	await_status 10 '[.watches[] | select(.trigger_mode == "kernel")] | length == 2'
	await_tables # the tables use memory
	local fds memory i reloads=$((1000 / PATIENCE))
	fds=$(find "/proc/$DAEMON/fd" -mindepth 1 | wc -l)
	for i in $(seq "$reloads"); do
		# shellcheck disable=SC2059
		printf "${variants[$((i % 2))]}" > "$RULES_DIR/r.conf"
		kill -HUP "$DAEMON"
		await_log 10 'reloaded: [12] rules?, 1 target,'
		((i != 100)) || memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$DAEMON/status")
	done
	await_status 60 '[.watches[] | select(.trigger_mode == "kernel")] | length == 2'
	until [ "$(find "/proc/$DAEMON/fd" -mindepth 1 | wc -l)" -eq "$fds" ]; do sleep 0.1; done
	status_json | jq -e '.daemon[0] | .reloads == '"$reloads"' and .targets == 1 and .watches == 2'
	local live
	live=$(bpftool map dump pinned "$PIN_DIR/patterns_a" -j | jq length)
	((live <= 2))
	grep -E '^(Vm|Rss)' "/proc/$DAEMON/status"
	(($(awk '/^VmRSS/ { print $2 }' "/proc/$DAEMON/status") < memory + 1024)) || { echo "$memory kB before"; false; }
	# no id is used twice
	[ "$(sql 'SELECT count(*) = count(DISTINCT rule_id) FROM rule')" = 1 ]
}
