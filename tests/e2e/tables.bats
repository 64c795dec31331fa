#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The maps of unwind tables: which processes have entries, and until when; files whose tables do not fit, or
# that are damaged.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup tables
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# begin [LOAD-OPTION...]: loads, and starts the daemon with the programs $WORK/$PREFIX* as targets, without captures.
# These tests count processes, so no program of another run has such a name.
begin() {
	PREFIX=tab$BASHPID-
	load_targets_alone "$@"
	rule own "comm = $PREFIX*" "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	daemon_start
}

# start_own WORKLOAD [ARGUMENT...]: starts a copy of it as $WORK/${PREFIX}NAME, NAME being its first three letters
start_own() {
	local copy=$WORK/$PREFIX${1:0:3}
	[[ -e $copy ]] || cp "$BUILD/workloads/$1" "$copy"
	start_command "$copy" "${@:2}"
}

has_entry() {
	[ -n "$(entry "$1")" ]
}

has_no_entry() {
	[ -z "$(entry "$1")" ]
}

# unwind_status FIELD
unwind_status() {
	status_json | jq ".unwind[0].$1"
}

@test "forked processes share one list of mappings" {
	local pid layouts
	begin
	start_own prefork --workers 20 --name "${PREFIX}main"
	await_status 20 '.unwind[0].processes >= 21 and .unwind[0].pending == 0'
	for pid in "$CHILD" $(pgrep -P "$CHILD"); do
		entry "$pid" | jq -c '[.first, .count]'
	done > "$WORK/layouts"
	[ "$(wc -l < "$WORK/layouts")" -eq 21 ]
	layouts=$(sort -u "$WORK/layouts" | wc -l)
	[ "$layouts" -eq 1 ] || { sort "$WORK/layouts" | uniq -c; false; }
}

@test "a process loses its entry when it ends, and gets another when it executes a program" {
	begin
	start_own cpu_hog --threads 1
	await 20 has_entry "$CHILD"
	kill -KILL "$CHILD"
	await 5 has_no_entry "$CHILD"
	mkfifo "$WORK/go"
	cp /bin/sh "$WORK/${PREFIX}sh"
	start_command "$WORK/${PREFIX}sh" -c "echo ready; read -r line < $WORK/go; exec $WORK/${PREFIX}cpu --threads 1"
	await 20 has_entry "$CHILD"
	local before
	before=$(entry "$CHILD")
	echo > "$WORK/go"
	is_another() { [ -n "$(entry "$CHILD")" ] && [ "$(entry "$CHILD")" != "$before" ]; }
	await 20 is_another
}

@test "a new daemon removes the entries of the one before" {
	begin
	start_own cpu_hog --threads 1
	await 20 has_entry "$CHILD"
	daemon_stop KILL
	has_entry "$CHILD"
	rm "$RULES_DIR"/*.conf
	rule none 'comm = nobody' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	daemon_start
	has_no_entry "$CHILD"
}

# large_library: prints the path of a file whose table takes long to build; clang and the virtual machines
# contain one
large_library() {
	find /usr/lib/*-linux-gnu -maxdepth 1 -type f -name 'libLLVM*' -size +50M | grep -m 1 .
}

@test "a table that finds no room is counted and reported; other files have theirs" {
	local library without i
	library=$(find /usr/lib/*-linux-gnu -maxdepth 1 -name 'libcrypto.so.3')
	begin --unwind-memory 1MiB
	# several small files, because a large one could exceed its time limit instead
	for i in 1 2 3 4; do
		cp "$library" "$WORK/copy-$i"
	done
	start_own mapper "$WORK"/copy-*
	await_status 30 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	without=$(unwind_status modules_without)
	((without >= 1 && without <= 4 && $(unwind_status modules) >= 1))
	[ "$(status_json | jq "[.problems[] | select(.problem | contains(\"no room for $without files\"))] | length")" -eq 1 ]
	[[ $(status_json | jq -r '.problems[].remedy') == *--unwind-memory* ]]
	await_log 5 "no room for the unwind table of $WORK/copy-"
	# the attempt took no room from other files
	start_own cpu_hog --threads 1
	await_status 20 '.unwind[0].processes == 2 and .unwind[0].modules >= 3'
	[ "$(unwind_status bytes)" -le "$(unwind_status bytes_max)" ]
}

@test "damaged ELF files: the daemon lives, and other files have their tables" {
	local i
	mkdir "$WORK/damaged"
	for ((i = 0; i < 60; i++)); do
		cp /usr/bin/env "$WORK/damaged/$i"
		case $((i % 4)) in
		0) truncate -s $((4096 + i * 700)) "$WORK/damaged/$i" ;;
		1) dd if=/dev/urandom of="$WORK/damaged/$i" bs=1 seek=64 count=$((i * 20)) conv=notrunc status=none ;;
		2) dd if=/dev/urandom of="$WORK/damaged/$i" bs=64 seek=$((i * 10)) count=40 conv=notrunc status=none ;;
		3)
			# offset and number of the section headers
			printf '\377\377\377\177' | dd of="$WORK/damaged/$i" bs=1 seek=$((40 + i % 24)) conv=notrunc status=none
			;;
		esac
	done
	begin
	start_own mapper "$WORK"/damaged/*
	await_status 60 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	[ "$(unwind_status modules)" -ge 3 ]
	start_own cpu_hog --threads 1
	await_status 20 '.unwind[0].processes == 2 and .unwind[0].pending == 0'
	kill -0 "$DAEMON"
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

# rows_of PROGRAM NAME PROCESSES: copies the program to the file NAME, runs that many processes of it, and
# sets ROWS to the rows of all tables. The number of processes must differ from the previous call's.
rows_of() {
	local i
	cat "$BUILD/workloads/$1" > "$WORK/$2"
	chmod 0755 "$WORK/$2"
	for ((i = 0; i < $3; i++)); do
		start_command "$WORK/$2" --threads 2
	done
	await_status 30 ".unwind[0].processes == $3 and .unwind[0].pending == 0"
	children_end
	ROWS=$(unwind_status rows)
}

@test "a program that overwrites the file of an ended one has its own table" {
	local inode hog lock both again
	begin
	rows_of cpu_hog "${PREFIX}a" 1
	hog=$ROWS
	inode=$(stat -c %i "$WORK/${PREFIX}a")
	rows_of lock_hog "${PREFIX}a" 2
	lock=$ROWS
	[ "$(stat -c %i "$WORK/${PREFIX}a")" = "$inode" ]
	# the rows of each program, in files that have no table yet
	rows_of lock_hog "${PREFIX}b" 1
	both=$ROWS
	rows_of cpu_hog "${PREFIX}c" 2
	again=$ROWS
	[ $((hog - lock)) -ne 0 ]
	[ $((hog - lock)) -eq $((again - both - (both - lock))) ]
}

@test "a file that became unreadable: running and new processes have its table" {
	begin
	install -m 0755 "$BUILD/workloads/cpu_hog" "$WORK/${PREFIX}a"
	start_command "$WORK/${PREFIX}a" --threads 1
	await_status 30 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	ROWS=$(unwind_status rows)
	chmod 0711 "$WORK/${PREFIX}a"
	start_command "$WORK/${PREFIX}a" --threads 1
	await_status 30 '.unwind[0].processes == 2 and .unwind[0].pending == 0'
	[ "$(unwind_status rows)" -eq "$ROWS" ]
	# a file that was never readable has no table
	install -m 0711 "$BUILD/workloads/lock_hog" "$WORK/${PREFIX}b"
	start_command "$WORK/${PREFIX}b"
	await_status 30 '.unwind[0].processes == 3 and .unwind[0].pending == 0'
	[ "$(unwind_status rows)" -eq "$ROWS" ]
}

@test "a file that is truncated while its table is made: the daemon lives, other files have tables" {
	begin
	cp "$(large_library)" "$WORK/large"
	start_own mapper "$WORK/large"
	truncate -s 100000 "$WORK/large"
	await_status 30 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	[ "$(unwind_status modules)" -ge 3 ]
	kill -0 "$DAEMON"
}
