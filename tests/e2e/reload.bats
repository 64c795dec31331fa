#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Reloads while the daemon runs: every way to change the files is noticed, and a mistake is shown. What a reload keeps and
# when it comes is in tests/unit/test_daemon.c, test_recorder.c, test_reload.c and test_watches.c.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup reload
	cgroup_make
}

teardown() {
	bourdon_teardown
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
	rule bad 'comm = bdtest-2' 'cpu.some = 900%'
	await_log 10 'reload refused; keeping the previous configuration'
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'not in force: '*'rules.d/bad.conf:3: cpu.some = 900%'*'remedy: correct every line'* ]]
	rm "$RULES_DIR/bad.conf"
	await_status 10 '.daemon[0].reload_mistake == ""'
}

@test "a thousand reloads leak no descriptor, watch, target, map entry or memory" {
	own_workload cpu_hog
	grant_start
	load_targets_alone # others' files use memory
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
		((i != 100)) || memory=$(awk '/^RssAnon/ { print $2 }' "/proc/$DAEMON/status")
	done
	await_status 60 '[.watches[] | select(.trigger_mode == "kernel")] | length == 2'
	until [ "$(find "/proc/$DAEMON/fd" -mindepth 1 | wc -l)" -eq "$fds" ]; do sleep 0.1; done
	status_json | jq -e '.daemon[0] | .reloads == '"$reloads"' and .targets == 1 and .watches == 2'
	local live
	live=$(bpftool map dump pinned "$PIN_DIR/patterns_a" -j | jq length)
	((live <= 2))
	grep -E '^(Vm|Rss)' "/proc/$DAEMON/status"
	(($(awk '/^RssAnon/ { print $2 }' "/proc/$DAEMON/status") < memory + 1024)) || { echo "$memory kB before"; false; }
	# no id is used twice
	[ "$(sql 'SELECT count(*) = count(DISTINCT rule_id) FROM rule')" = 1 ]
}
