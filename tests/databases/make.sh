#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/databases keeps one database of each released schema: schemaN.db, as the bourdond with that schema
# wrote it, and in schemaN/ what the bourdon of that version printed from it, one file for each command. Tests
# show that later versions print the same from the file without writing to it, and that they migrate it.
#
# make.sh BUILD makes the database of the version whose build directory that is, with the rules and programs
# below. A release whose schema is new runs it once, as root on a quiet machine, and keeps the result; the
# files of older schemas are never made again.
#
# What it has: four captures of a cgroup (CPU, a lock, I/O, memory) and an interrupted one of the system, in
# two runs, the second with a policy; several processes, one of them with names of control characters and of
# bytes that are not UTF-8; kernel frames; inlined functions with files and lines; JIT code with a perf map;
# frames without a name (a program without symbols); incomplete stacks; intervals off CPU; and counters.
#
# It does not tell which machine recorded it: the host name is "example", the kernel's release is replaced, and
# processes other than the script's own are deleted, or called other and a number.
set -euo pipefail

[[ -n ${1-} && -x $1/bourdond ]] || {
	echo 'Usage: make.sh BUILD' >&2
	exit 2
}
[[ -n ${BOURDON_EXAMPLE-} ]] || BOURDON_EXAMPLE=1 exec unshare --uts "$0" "$@"
hostname example
BOURDON_BUILD=$(cd "$1" && pwd)
# shellcheck source=tests/e2e/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.bash"
OUT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# hostile_program PATH: one whose functions have these names
hostile_program() {
	local i names=($'\e]0;owned\a' $'a\nb\tc' $'\xff\xc0\x80z')
	cp "$BUILD/workloads/hostile" "$1"
	for i in "${!names[@]}"; do
		OLD=hostile_0$i NEW=${names[i]} LC_ALL=C perl -0777 -pi -e '
			s/(\Q$ENV{OLD}\E_{256})\0/$ENV{NEW} . "\0" x (1 + length($1) - length $ENV{NEW})/ge' "$1"
	done
	for i in {3..15}; do # 270 bytes each otherwise
		OLD=$(printf 'hostile_%02d' "$i") LC_ALL=C perl -0777 -pi -e '
			s/(\Q$ENV{OLD}\E)_{256}\0/$1 . "\0" x 257/ge' "$1"
	done
}

# compete: a process that uses more CPU time than those of the machine's other users, so that a capture names it
compete() {
	mkdir -p "$CGROUP2/$CGROUP/other"
	cp "$BUILD/workloads/cpu_hog" "$WORK/competitor"
	CGROUP=$CGROUP/other start_command "$WORK/competitor" --threads 8
}

# has_counted SAMPLES: the kernel programs have taken that many on CPU
has_counted() {
	(($(counter 0) >= $1))
}

# one_capture NAME COUNT LINE...: waits until the rule has fired and COUNT captures are whole, and ends the programs.
one_capture() {
	rule "$1" 'history = 1s' 'capture = 1s' 'cooldown = 1h' "cgroup = /$CGROUP" "${@:3}"
	await_log 60 "rule $1 fired"
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" "$2"
	await_log 60 "captured [0-9]+ stacks of rule $1"
	rm "$RULES_DIR/$1.conf"
	children_end
	rm -f "${MAPS[@]}"
}

record() {
	local samples
	load
	grant_start
	GRANT=${CHILDREN[0]}
	CHILDREN=() # one_capture ends them
	# makes targets of all programs, so that they have unwind tables before a rule fires
	rule all 'comm = *' "cgroup = /$CGROUP" 'io.full = 100%'
	daemon_start

	cp "$BUILD/workloads/inlines" "$WORK/inlines"
	start_command "$WORK/inlines" 120
	strip -o "$WORK/stripped" "$WORK/inlines"
	start_command "$WORK/stripped" 120
	start jit --seconds 120
	MAPS+=("/tmp/perf-$CHILD.map")
	hostile_program "$WORK/"$'bin\e[7m\xff'
	start_command "$WORK/"$'bin\e[7m\xff' --seconds 120 --comm $'\e[31mx' -- $'\xff\xfe;y' $'two\nlines'
	await_tables "${CHILDREN[@]}"
	compete
	one_capture cpu 1 'comm = *' 'cpu.some = 10%'

	compete
	start lock_hog --threads 3 --hold 20 --seconds 60
	one_capture locks 2 'comm = lock_hog' 'cpu.some = 1%'

	start io_hog --threads 1 --file "$WORK/io_hog.data" --seconds 60
	one_capture disk 3 'comm = io_hog' 'io.some = 2%'
	daemon_stop TERM

	printf '%s\n' '[policy]' 'deny_comms = sshd' 'max_rate = 4000' > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf"
	daemon_start
	cgroup_make $((64 << 20))
	start mem_hog --size 128MiB
	one_capture memory 4 'comm = mem_hog' 'memory.some = 1%'

	start cpu_hog --threads 4
	await_tables "$CHILD"
	compete
	rule interrupted 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 10%' 'watch = system' 'history = 1s' 'capture = 60s'
	await_log 60 'rule interrupted fired'
	samples=$(counter 0)
	await 30 has_counted $((samples + 60))
	daemon_stop TERM
}

# keep VERSION: stores the database without what the machine is and runs
keep() {
	sqlite3 "$DB" "
		UPDATE run SET kernel = '6.12.0-example';
		UPDATE frame_row SET file = 'tests/workloads/inlines.cc' WHERE file LIKE '%/inlines.cc';
		DELETE FROM usage WHERE role <> 'rest' AND process_id NOT IN (
			SELECT process_id FROM process WHERE cgroup LIKE '/$CGROUP%');
		DELETE FROM ended WHERE cgroup NOT LIKE '/$CGROUP%';
		CREATE TEMP TABLE others AS SELECT process_id FROM process WHERE cgroup IS NULL OR cgroup NOT LIKE '/$CGROUP%';
		DELETE FROM process WHERE process_id IN others AND process_id NOT IN (
			SELECT process_id FROM thread UNION SELECT process_id FROM thread_state);
		UPDATE process SET comm = 'other' || process_id, exe = NULL, cgroup = NULL WHERE process_id IN others;
		UPDATE thread SET thread = 'other' || thread_id WHERE process_id IN others;
		UPDATE thread_state SET thread = 'other' || tid WHERE process_id IN others;
		DELETE FROM cgroup WHERE path NOT LIKE '/$CGROUP%';
		DELETE FROM cgroup_memory WHERE cgroup NOT LIKE '/$CGROUP%';
		DELETE FROM killed WHERE cgroup NOT LIKE '/$CGROUP%';
		PRAGMA journal_mode = DELETE;
		VACUUM"
	sql 'PRAGMA foreign_key_check' > "$WORK/dangling"
	[[ ! -s $WORK/dangling ]] || {
		cat "$WORK/dangling"
		return 1
	}
	install -m 0644 "$DB" "$OUT/schema$1.db"
}

# print VERSION: stores what bourdon prints
print() {
	local id details
	details=$("$BUILD/bourdon" why --section help | awk 'NR > 4 { print $1 }' | paste -sd,) # all but the answer
	rm -rf "$OUT/schema$1"
	mkdir "$OUT/schema$1"
	cd "$OUT"
	bourdon() {
		"$BUILD/bourdon" --db "schema$version.db" "$@"
	}
	bourdon list > "schema$1/list.txt"
	for id in {1..5}; do
		COLUMNS=100 bourdon why "$id" --section "$details" > "schema$1/why-$id.txt"
		bourdon top "$id" > "schema$1/top-$id.txt"
		bourdon folded "$id" > "schema$1/folded-$id.txt"
		bourdon --json why "$id" > "schema$1/why-$id.json"
	done
	bourdon --json list > "schema$1/list.json"
	bourdon --json top 1 > "schema$1/top-1.json"
	bourdon --json status > "schema$1/status.json" || true # no daemon runs
}

teardown() {
	rm -f "${MAPS[@]}"
	CHILDREN+=("$GRANT")
	bourdon_teardown
}

MAPS=()
GRANT=
bourdon_setup example
trap teardown EXIT
cgroup_make
record
version=$(sqlite3 "$DB" 'PRAGMA user_version')
keep "$version"
print "$version"
du -b "$OUT/schema$version.db"
