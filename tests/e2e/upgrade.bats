#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Another version of bourdon comes over the one that runs, newer or older: build/next is this tree with another ABI and
# another schema. Each direction is the same to those who do not know the other.

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

# as BUILD COMMAND...: with the binaries of that version.
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

# one_line STATUS PATTERN: what `run` ran ended so, and said that in its only line, but for what this machine lacks.
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

# replace FROM TO: TO's loader over FROM's pins, under FROM's daemon.
replace() {
	local from=$1 to=$2 old new
	as "$from" load
	old=$(abi_of_manifest)
	as "$from" daemon_start
	as "$to" load
	new=$(abi_of_manifest)
	[ "$old" -ne "$new" ]
	# the daemon that runs lets go of pins that are not there any more
	await_log 10 'the pins were replaced or removed'
	daemon_wait
	[ "$DAEMON_STATUS" -eq 0 ]
	# started again it says what is loaded, what it is itself, and what to do
	run as "$from" daemon
	one_line 1 "$RUN_DIR/manifest: what is loaded speaks ABI $new, this binary ABI $old: load again with the bourdon-load of version"
	run "$from/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 1 ]
	[[ $output == *"with ABI $new; this is version "*" with ABI $old"* ]]
	# the pins are the new version's alone
	[ "$(find "$PIN_DIR" "${PIN_DIR}_loading" -name 'oncpu' 2> /dev/null | wc -l)" -eq 1 ]
	rm -f "$DB"*
	as "$to" daemon_start
	daemon_stop TERM
}

@test "a newer load over an older one, and an older one over a newer" {
	replace "$BUILD" "$OTHER"
	replace "$OTHER" "$BUILD"
}

@test "a manifest of another version that lacks what this one knows: the ABI is what is said" {
	as "$OTHER" load
	# pin_dir stays, which every version has: without it nobody knows whose mount of the BPF file system it was
	sed -i '/^hz = \|^targets = \|^slots_per_cpu = /d' "$RUN_DIR/manifest"
	run daemon
	one_line 1 'what is loaded speaks ABI 1000, this binary ABI'
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[[ $output == *'with ABI 1000; this is version'* ]]
	# a load replaces it all the same
	load
	[ "$(abi_of_manifest)" -ne 1000 ]
	daemon_start
}

@test "either version unloads the other's" {
	as "$OTHER" load
	unload
	no_trace
	load
	as "$OTHER" unload
	no_trace
}

@test "a load that fails leaves the other version's in place, and its daemon running" {
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

# refuses FROM TO VERSION: a database that FROM wrote, whose schema has that number, and what TO says of it.
refuses() {
	local from=$1 to=$2 version=$3
	rm -f "$DB"*
	as "$from" load
	as "$from" daemon_start
	daemon_stop TERM
	local before
	before=$(sha256sum < "$DB")
	as "$to" load
	run as "$to" daemon
	one_line 1 "cannot open the database $DB: its schema is version $version, and bourdond "*" writes version "*"; move it away, where its own version reads it"
	[ "$(sha256sum < "$DB")" = "$before" ]
	run "$to/bourdon" --db "$DB" list
	one_line 1 "'$DB' has schema version $version, and bourdon "*"use a bourdon that reads version $version"
	# whose version it is, reads and writes it on
	as "$from" load
	as "$from" daemon_start
	daemon_stop TERM
	[ "$(sql 'SELECT count(*) FROM run')" -eq 2 ]
}

@test "a database of a newer or an older schema: refused in one line, unchanged, by daemon and reader" {
	refuses "$OTHER" "$BUILD" 1000
	refuses "$BUILD" "$OTHER" "$(sed -n 's/^#define SCHEMA_VERSION //p' "$TREE/common/schema.h")"
}
