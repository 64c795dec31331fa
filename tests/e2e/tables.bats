#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the maps of unwind tables hold: for whom, how often, and until when; and what becomes of a file that finds no
# room, or that nobody can make a table of.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup tables
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# begin [LOAD-OPTION...]: loads, with the programs of these tests as targets
begin() {
	local comm
	load "$@"
	for comm in cpu_hog mapper becomes 'server-*'; do
		rule "${comm%-*}" "comm = $comm" "cgroup = /$CGROUP" 'cpu.some = 100%' 'watch = system'
	done
	daemon_start
}

# entry TGID: its element of unwind_procs, as bpftool shows it, or nothing
entry() {
	bpftool map lookup pinned "$PIN_DIR/unwind_procs" key $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 0 \
		2>/dev/null | jq -c '.value // empty'
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

@test "processes that were forked share what is known of their mappings" {
	local pid layouts
	begin
	start prefork --workers 20
	await_status 20 '.unwind[0].processes >= 21 and .unwind[0].pending == 0'
	for pid in "$CHILD" $(pgrep -P "$CHILD"); do
		entry "$pid" | jq -c '[.first, .count]'
	done > "$WORK/layouts"
	[ "$(wc -l < "$WORK/layouts")" -eq 21 ]
	layouts=$(sort -u "$WORK/layouts" | wc -l)
	[ "$layouts" -eq 1 ] || { sort "$WORK/layouts" | uniq -c; false; }
}

@test "who ends is forgotten, and so is what a program was before it became another" {
	begin
	start cpu_hog --threads 1
	await 20 has_entry "$CHILD"
	kill -KILL "$CHILD"
	await 5 has_no_entry "$CHILD"
	mkfifo "$WORK/go"
	cp /bin/sh "$WORK/becomes"
	start_command "$WORK/becomes" -c "echo ready; read -r line < $WORK/go; exec $BUILD/workloads/cpu_hog --threads 1"
	await 20 has_entry "$CHILD"
	local before
	before=$(entry "$CHILD")
	echo > "$WORK/go"
	is_another() { [ -n "$(entry "$CHILD")" ] && [ "$(entry "$CHILD")" != "$before" ]; }
	await 20 is_another
}

@test "a daemon does not walk by what the one before has left" {
	begin
	start cpu_hog --threads 1
	await 20 has_entry "$CHILD"
	daemon_stop KILL
	has_entry "$CHILD"
	rm "$RULES_DIR"/*.conf
	rule none 'comm = nobody' 'cpu.some = 100%' 'watch = system'
	daemon_start
	has_no_entry "$CHILD"
}

# a file of which no table is made at once; the compiler's, and of the virtual machines
large_library() {
	find /usr/lib/*-linux-gnu -maxdepth 1 -type f -name 'libLLVM*' -size +50M | grep -m 1 .
}

@test "a table that finds no room: it is counted and said, and other files have theirs" {
	local library without i
	library=$(find /usr/lib/*-linux-gnu -maxdepth 1 -name 'libcrypto.so.3')
	begin --unwind-memory 1MiB
	# several, of which each is soon made: one that took long would be given up for that
	for i in 1 2 3 4; do
		cp "$library" "$WORK/copy-$i"
	done
	start mapper "$WORK"/copy-*
	await_status 30 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	without=$(unwind_status modules_without)
	((without >= 1 && without <= 4 && $(unwind_status modules) >= 1))
	[ "$(status_json | jq "[.problems[] | select(.problem | contains(\"no room for $without files\"))] | length")" -eq 1 ]
	[[ $(status_json | jq -r '.problems[].remedy') == *--unwind-memory* ]]
	await_log 5 "no room for the unwind table of $WORK/copy-"
	# what was tried was given back: there is room for others
	start cpu_hog --threads 1
	await_status 20 '.unwind[0].processes == 2 and .unwind[0].modules >= 3'
	[ "$(unwind_status bytes)" -le "$(unwind_status bytes_max)" ]
}

# Cut, with sections that overlap, that are endless, that lie outside: at most the symbolizer ends.
@test "malformed files: the daemon lives, says so, and other files have their tables" {
	local i
	mkdir "$WORK/damaged"
	for ((i = 0; i < 60; i++)); do
		cp /usr/bin/env "$WORK/damaged/$i"
		case $((i % 4)) in
		0) truncate -s $((4096 + i * 700)) "$WORK/damaged/$i" ;;
		1) dd if=/dev/urandom of="$WORK/damaged/$i" bs=1 seek=64 count=$((i * 20)) conv=notrunc status=none ;;
		2) dd if=/dev/urandom of="$WORK/damaged/$i" bs=64 seek=$((i * 10)) count=40 conv=notrunc status=none ;;
		3)
			# the section headers: where they are, and how many
			printf '\377\377\377\177' | dd of="$WORK/damaged/$i" bs=1 seek=$((40 + i % 24)) conv=notrunc status=none
			;;
		esac
	done
	begin
	start mapper "$WORK"/damaged/*
	await_status 60 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	[ "$(unwind_status modules)" -ge 3 ]
	start cpu_hog --threads 1
	await_status 20 '.unwind[0].processes == 2 and .unwind[0].pending == 0'
	kill -0 "$DAEMON"
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

# rows_of PROGRAM NAME PROCESSES: the rows of all tables, in ROWS, when so many processes of the program are known, which
# is copied into the file of that name. Another number than before.
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

@test "another program in the file of one that has ended: its own table" {
	local inode hog lock both again
	begin
	rows_of cpu_hog server-a 1
	hog=$ROWS
	inode=$(stat -c %i "$WORK/server-a")
	rows_of lock_hog server-a 2
	lock=$ROWS
	[ "$(stat -c %i "$WORK/server-a")" = "$inode" ]
	# what each of them has, in a file that had no table yet
	rows_of lock_hog server-b 1
	both=$ROWS
	rows_of cpu_hog server-c 2
	again=$ROWS
	[ $((hog - lock)) -ne 0 ]
	[ $((hog - lock)) -eq $((again - both - (both - lock))) ]
}

@test "a file that may not be read any more: whoever runs it keeps its table, and who comes has it, too" {
	begin
	install -m 0755 "$BUILD/workloads/cpu_hog" "$WORK/server-a"
	start_command "$WORK/server-a" --threads 1
	await_status 30 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	ROWS=$(unwind_status rows)
	chmod 0711 "$WORK/server-a"
	start_command "$WORK/server-a" --threads 1
	await_status 30 '.unwind[0].processes == 2 and .unwind[0].pending == 0'
	[ "$(unwind_status rows)" -eq "$ROWS" ]
	# one that could never be read has none
	install -m 0711 "$BUILD/workloads/lock_hog" "$WORK/server-b"
	start_command "$WORK/server-b"
	await_status 30 '.unwind[0].processes == 3 and .unwind[0].pending == 0'
	[ "$(unwind_status rows)" -eq "$ROWS" ]
}

@test "a file that is cut while its table is made" {
	begin
	cp "$(large_library)" "$WORK/large"
	start mapper "$WORK/large"
	truncate -s 100000 "$WORK/large"
	await_status 30 '.unwind[0].processes == 1 and .unwind[0].pending == 0'
	[ "$(unwind_status modules)" -ge 3 ]
	kill -0 "$DAEMON"
}
