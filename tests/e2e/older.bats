#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Databases of older schemas (tests/databases): bourdon prints from them what the bourdon of their version printed, and
# writes nothing. `why` prints an answer before that, and the rest with --full; its JSON has more members.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup older
	KEPT=$TREE/tests/databases
}

teardown() {
	! mountpoint -q "$WORK/disk" || umount "$WORK/disk"
	bourdon_teardown
}

# The members of `why --json` that the kept texts have no counterpart of.
NEW='del(.answer, .usual, .changes, .timeline, .not_whole)'

# kept FILE: prints that kept text, with the words of this version where an explanation is no longer true
kept() {
	sed 's/a new program has no tables for 1 to 2 s$/a new file has no table in its first second/' "$1"
}

# is_kept FILE: whether "$WORK/printed" is that kept text
is_kept() {
	case ${1##*/} in
	why-*.json)
		diff <(jq -S . "$1") <(jq -S "$NEW" "$WORK/printed")
		;;
	why-*)
		# the answer is ten lines, of which the last one is a command; the kept text is the end of the whole
		sed -n 10p "$WORK/printed" | grep -Eq '^  (do|look at) ' &&
			diff <(kept "$1") <(tail -n "$(wc -l < "$1")" "$WORK/printed")
		;;
	*)
		diff "$1" "$WORK/printed"
		;;
	esac
}

# expect_kept DIRECTORY COMMAND...: of each kept database, a copy in DIRECTORY gives the kept texts, or those that match
# KEPT_TEXTS. COMMAND (setpriv) runs bourdon.
expect_kept() {
	local copy file words count=0
	for copy in "$1"/schema*.db; do
		# shellcheck disable=SC2086 # patterns
		for file in $(cd "$KEPT/$(basename "$copy" .db)" && printf "$PWD/%s\n" ${KEPT_TEXTS-*}); do
			# why-1.json: bourdon --json why 1
			words=${file##*/}
			words=${words%.*}
			words=${words//-/ }
			[[ $file != *.json ]] || words="--json $words"
			[[ $words != why* ]] || words="$words --full"
			count=$((count + 1))
			# shellcheck disable=SC2086 # words
			"${@:2}" "$BUILD/bourdon" --db "$copy" $words > "$WORK/printed" 2> "$WORK/said" || {
				cat "$WORK/said"
				[[ ${file##*/} == status.* ]] # no daemon runs: exit 1
			}
			is_kept "$file" || { echo "$file"; return 1; }
			[ ! -s "$WORK/said" ]
		done
	done
	[ "$count" -ge 11 ]
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

@test "doctor reads the captures of an older schema" {
	local database verdict
	mkdir -m 0755 "$WORK/copies"
	for database in "$KEPT"/schema*.db; do
		install -m 0640 "$database" "$WORK/copies"
		run "$BUILD/bourdon" --db "$WORK/copies/${database##*/}" --run-dir "$RUN_DIR" doctor
		echo "$output"
		[ "$status" -eq 1 ] # no daemon runs, and nothing is loaded
		[[ $output =~ database\ +ok\  ]]
		[[ $output =~ last\ capture\ +warning\ capture\ 5\ of\ rule\ interrupted, ]]
		verdict=$(sqlite3 -readonly "$WORK/copies/${database##*/}" \
			"SELECT iif(max(percent) >= 1, 'warning', 'ok') FROM data_quality WHERE capture_id = 4")
		[[ $output =~ capture\ losses\ +$verdict\ +capture\ 4: ]]
	done
}

@test "bourdond converts it: bourdon prints the same captures, functions and stacks" {
	local database kept
	load
	rule web 'comm = nothing' 'io.full = 100%'
	for database in "$KEPT"/schema*.db; do
		rm -f "$DB"*
		install -o "$TEST_USER" -g "$TEST_GROUP" -m 0640 "$database" "$DB"
		daemon_start
		await_sql 30 'PRAGMA user_version' "$(sed -n 's/^#define SCHEMA_VERSION //p' "$TREE/common/schema.h")"
		await_sql 30 'SELECT count(*) FROM run' 3 # its own is the third
		daemon_stop TERM
		[ "$DAEMON_STATUS" -eq 0 ]
		mkdir -m 0755 "$WORK/converted"
		sqlite3 "$DB" "VACUUM INTO '$WORK/converted/${database##*/}'"
		# not why: of stacks with equal weight it shows that with the least id, and ids change; nor status: the last run is another
		KEPT_TEXTS='top* folded*' expect_kept "$WORK/converted"
		kept=$KEPT/$(basename "$database" .db)/list.json
		# before schema 9 the list does not show which captures are of one incident
		diff <(jq -S . "$kept") <("$BUILD/bourdon" --db "$WORK/converted/${database##*/}" list --json |
			jq -S --slurpfile kept "$kept" 'if $kept[0][0] | has("incident_id") then . else map(del(.incident_id)) end')
		"$BUILD/bourdon" --db "$WORK/converted/${database##*/}" list --json | jq -e 'all(.incident_id != null)'
		rm -r "$WORK/converted"
	done
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
