#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Upgrades and downgrades over a running bourdon: build/next is this tree with another ABI and another schema.

source "$BATS_TEST_DIRNAME/lib.bash"

OTHER=$BUILD/next

setup() {
	bourdon_setup upgrade
	touch "$WORK/bourdon.conf"
	rule web 'comm = nginx' 'cpu.some = 5%'
}

teardown() {
	bourdon_teardown
}

# as BUILD COMMAND...: runs it with the binaries of that version.
as() {
	local BUILD=$1
	shift
	"$@"
}

daemon() {
	"$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --state-dir "$STATE_DIR" \
		--rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf" --user "$TEST_USER" --group "$TEST_GROUP"
}

unload() {
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

# one_line STATUS PATTERN: `run` ended with this status and one line that matches; a line about RLIMIT_MEMLOCK is ignored.
one_line() {
	echo "status $status: $output"
	[ "$status" -eq "$1" ]
	[[ $(grep -v RLIMIT_MEMLOCK <<< "$output") == *$2* ]]
	[ "$(grep -vc RLIMIT_MEMLOCK <<< "$output")" -eq 1 ]
}

abi_of_manifest() {
	sed -n 's/^abi = //p' "$RUN_DIR/manifest"
}

no_trace() {
	[ ! -e "$PIN_DIR" ] && [ ! -e "${PIN_DIR}_loading" ] && [ ! -e "$RUN_DIR" ]
}

# replace FROM TO: TO's loader replaces FROM's pins while FROM's daemon runs.
replace() {
	local from=$1 to=$2 old new
	as "$from" load
	old=$(abi_of_manifest)
	as "$from" daemon_start
	as "$to" load
	new=$(abi_of_manifest)
	[ "$old" -ne "$new" ]
	# the running daemon ends
	await_log 10 'the pins were replaced or removed'
	daemon_wait
	[ "$DAEMON_STATUS" -eq 0 ]
	# started again, it names both ABIs and the remedy
	run as "$from" daemon
	one_line 1 "$RUN_DIR/manifest: the loaded programs have ABI $new, but this bourdond has ABI $old: run the bourdon-load of version"
	run "$from/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 1 ]
	[[ $output == *"with ABI $new; this is version "*" with ABI $old"* ]]
	# the pins are the new version's alone
	[ "$(find "$PIN_DIR" "${PIN_DIR}_loading" -name 'oncpu' 2> /dev/null | wc -l)" -eq 1 ]
	rm -f "$DB"*
	as "$to" daemon_start
	daemon_stop TERM
}

@test "a load over that of a newer or an older version: its daemon ends, and the new one works" {
	replace "$BUILD" "$OTHER"
	replace "$OTHER" "$BUILD"
}

@test "a manifest of another version that lacks keys: the error names the ABI" {
	as "$OTHER" load
	# every version has pin_dir, which tells whose mount of the BPF file system it is
	sed -i '/^hz = \|^targets = \|^slots_per_cpu = /d' "$RUN_DIR/manifest"
	run daemon
	one_line 1 'the loaded programs have ABI 1000, but this bourdond has ABI'
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *'with ABI 1000; this is version'* ]]
	# a load replaces it
	load
	[ "$(abi_of_manifest)" -ne 1000 ]
	daemon_start
}

@test "each version unloads the other" {
	as "$OTHER" load
	unload
	no_trace
	load
	as "$OTHER" unload
	no_trace
}

@test "a failed load leaves the pins of the other version, and its daemon running" {
	load
	daemon_start
	chmod 0777 "$RUN_DIR"
	run as "$OTHER" load
	[ "$status" -eq 1 ]
	chmod 0750 "$RUN_DIR"
	[ "$(abi_of_manifest)" -ne 1000 ]
	kill -0 "$DAEMON"
	await_status 5 '.rules | length == 1'
}

# one_run BUILD: that version's daemon runs once, from load to end
one_run() {
	as "$1" load
	as "$1" daemon_start
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

@test "a database of a newer schema: refused by bourdond and bourdon in one line with the remedy, and unchanged" {
	local before
	one_run "$OTHER"
	before=$(sha256sum < "$DB")
	load
	run daemon
	one_line 1 "cannot open the database $DB: its schema has version 1000, but bourdond "*" writes version "*"; install the newer bourdon that wrote it, or move it elsewhere, and bourdond creates a new one"
	[ "$(sha256sum < "$DB")" = "$before" ]
	run "$BUILD/bourdon" --db "$DB" list
	one_line 1 "'$DB' has schema version 1000, and bourdon "*": install a newer bourdon, that of the bourdond that wrote it"
	# the version that wrote it continues to use it
	one_run "$OTHER"
	[ "$(sql 'SELECT count(*) FROM run')" -eq 2 ]
}

@test "a database of an older schema: the newer bourdond goes on with it" {
	one_run "$BUILD"
	one_run "$OTHER"
	grep -q 'migrated the database in' "$WORK/daemon.log"
	[ "$(sql 'PRAGMA user_version')" -eq 1000 ]
	[ "$(sql 'SELECT count(*), count(DISTINCT database_id), (SELECT count(*) FROM database) FROM run')" = '2|1|1' ]
}
