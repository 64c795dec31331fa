#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Databases of older schemas (tests/databases): bourdon prints from them what the bourdon of their version printed, and
# writes nothing.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup older
	KEPT=$TREE/tests/databases
}

teardown() {
	! mountpoint -q "$WORK/disk" || umount "$WORK/disk"
	bourdon_teardown
}

# expect_kept DIRECTORY COMMAND...: of each kept database, a copy in DIRECTORY gives the kept texts. COMMAND (setpriv)
# runs bourdon.
expect_kept() {
	local database file words count=0
	for database in "$KEPT"/schema*.db; do
		for file in "${database%.db}"/*; do
			# why-1.json: bourdon --json why 1
			words=${file##*/}
			words=${words%.*}
			words=${words//-/ }
			[[ $file != *.json ]] || words="--json $words"
			count=$((count + 1))
			# shellcheck disable=SC2086 # words
			"${@:2}" "$BUILD/bourdon" --db "$1/${database##*/}" $words > "$WORK/printed" 2> "$WORK/said" || {
				cat "$WORK/said"
				[[ ${file##*/} == status.* ]] # no daemon runs: exit 1
			}
			diff "$file" "$WORK/printed" || { echo "$file"; return 1; }
			[ ! -s "$WORK/said" ]
		done
	done
	[ "$count" -ge 20 ]
}

# state DIRECTORY: prints the names, times and contents of its files, and the time of the directory
state() {
	stat -c '%n %s %Y %Z %a' "$1" "$1"/*
	sha256sum "$1"/*
}

@test "bourdon prints from a database of an older schema what the bourdon of its version printed, and writes nothing" {
	mkdir -m 0755 "$WORK/copies"
	cp "$KEPT"/schema*.db "$WORK/copies"
	local before
	before=$(state "$WORK/copies")
	expect_kept "$WORK/copies"
	[ "$(state "$WORK/copies")" = "$before" ]
}

@test "the same from a read-only file system, by a user who may not write" {
	mkdir "$WORK/disk"
	mount -t tmpfs -o mode=0755 tmpfs "$WORK/disk"
	cp "$KEPT"/schema*.db "$WORK/disk"
	mount -o remount,ro "$WORK/disk"
	local before
	before=$(state "$WORK/disk")
	expect_kept "$WORK/disk"
	expect_kept "$WORK/disk" setpriv --reuid 65533 --regid 65533 --clear-groups
	[ "$(state "$WORK/disk")" = "$before" ]
}
