#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The maps of unwind tables: which processes have entries, and until when; files whose tables do not fit, or
# that are damaged.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/stock.bash"

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

# await_tables_of SECONDS PID: waits until each file that the process, the only target, maps as code has a table, or a reason why
# it has none. Until then, a scan that was under way while it mapped them leaves nothing to do either.
await_tables_of() {
	local files
	files=$(awk '$2 ~ /x/ && $6 != "[vsyscall]" && ($5 != 0 || $6 == "[vdso]") { print $4, $5 }' "/proc/$2/maps" | sort -u | wc -l)
	await_status "$1" ".unwind[0] | .processes == 1 and .pending == 0 and .modules + .modules_without == $files"
}

@test "a process that maps a file later and then sleeps: the file has its table, though no stack led there" {
	begin
	cp "$BUILD/workloads/cpu_hog" "$WORK/later"
	start_own mapper --later "$WORK/later" "$BUILD/workloads/lock_hog"
	await_tables_of 30 "$CHILD"
	kill -USR1 "$CHILD"
	await 10 grep -q "$WORK/later" "/proc/$CHILD/maps"
	await_tables_of 15 "$CHILD"
	[ "$(unwind_status modules_without)" -eq 0 ]
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
	for i in 1 2 3 4 5 6; do
		cp "$library" "$WORK/copy-$i"
	done
	start_own mapper "$WORK"/copy-*
	await_tables_of 30 "$CHILD"
	without=$(unwind_status modules_without)
	((without >= 1 && without <= 6 && $(unwind_status modules) >= 1))
	[ "$(status_json | jq "[.problems[] | select(.problem | contains(\"no room for $without files\"))] | length")" -eq 1 ]
	[[ $(status_json | jq -r '.problems[].remedy') == *--unwind-memory* ]]
	await_log 5 "no unwind table for $WORK/copy-.*: no room in the kernel's maps; .*raise bourdon-load --unwind-memory"
	# each is named, with what to do
	[ "$(status_json | jq --arg of "$WORK/copy-" '[.files_without_table[] | select((.path | startswith($of)) and .reason == "no-room"
		and .remedy == "raise bourdon-load --unwind-memory" and .since_ns > 0 and .retry_ns <= 60000000000)] | length')" -eq "$without" ]
	"$BUILD/bourdon" --db "$DB" status | grep -A 2 "^  $WORK/copy-[1-6]: no room in the kernel's maps$" | grep -q '^    remedy: raise bourdon-load --unwind-memory$'
	# the attempt took no room from other files
	start_own cpu_hog --threads 1
	await_status 20 '.unwind[0].processes == 2 and .unwind[0].modules >= 3'
	[ "$(unwind_status bytes)" -le "$(unwind_status bytes_max)" ]
}

# looked_up TIMES: whether programs looked for rules so often, in all tables
looked_up() {
	(($(bpftool -j map dump pinned "$PIN_DIR/unwind_pages" | jq '[.[].formatted.value.uses] | add') >= $1))
}

@test "for a file that finds no room, those make room that were sampled least" {
	local library without i
	library=$(find /usr/lib/*-linux-gnu -maxdepth 1 -name 'libcrypto.so.3')
	begin --unwind-memory 1MiB
	for i in 1 2 3 4 5 6 7; do
		cp "$library" "$WORK/copy-$i"
	done
	start_own cpu_hog --threads 1
	await_tables_of 30 "$CHILD"
	await 30 looked_up 100
	kill -STOP "$CHILD"
	start_own mapper "$WORK"/copy-[1-6]
	await_status 30 '.unwind[0] | .processes == 2 and .pending == 0 and .modules_without >= 1'
	without=$(unwind_status modules_without)
	sleep 20 # a table that is younger makes no room
	start_own mapper "$WORK/copy-7"
	# another copy has none instead, and not what was sampled
	await_status 20 "([.files_without_table[].path | select(startswith(\"$WORK/copy-\"))] | length) == $((without + 1)) and
		([.files_without_table[].path | select(. == \"$WORK/copy-7\")] | length) == 0 and .unwind[0].processes == 3"
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
	# one with a name for a terminal
	head -c 100 /usr/bin/env > "$WORK/damaged/"$'red\e[31m\nname'
	begin
	start_own mapper "$WORK"/damaged/*
	await_tables_of 60 "$CHILD"
	[ "$(unwind_status modules)" -ge 3 ]
	# each file without a table is named with a reason, or counted
	status_json | jq -e '([.files_without_table[] | .more // 1] | add) == .unwind[0].modules_without and .unwind[0].modules_without > 10'
	status_json | jq -e --arg of "$WORK/damaged/" '[.files_without_table[] | select(.path | startswith($of)) | .reason] | unique | contains(["no-eh-frame"])'
	status_json | jq -e '.files_without_table | any(.path | endswith("/damaged/red\\x1b[31m\\x0aname"))'
	"$BUILD/bourdon" --db "$DB" status > "$WORK/shown"
	grep -q '^  .*/damaged/red\\x1b\[31m\\x0aname: ' "$WORK/shown"
	[ "$(grep -c $'\e' "$WORK/shown")" -eq 0 ]
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
	await_tables_of 30 "$CHILD"
	[ "$(unwind_status modules)" -ge 3 ]
	kill -0 "$DAEMON"
}

# await_kept CONDITION: waits until all tables are made, and jq's condition holds for the status
await_kept() {
	await_status 30 ".unwind[0].pending == 0 and .unwind[0].processes >= 1 and ($1)"
}

# A file that changed moments ago is not kept: a copy is as old as its making.
@test "tables are kept: the next daemon, after kill -9, takes them from the state directory" {
	local least=2 loaded
	# an image may give the system's files a fixed time: they are not kept
	[[ $(stat -L -c %z /usr/lib/*-linux-gnu/libc.so.6) != *.000000000* ]] || least=1
	begin
	cp "$BUILD/workloads/cpu_hog" "$WORK/${PREFIX}cpu"
	sleep 3 # no table is kept of a file that changed in the last 2 s
	start_own cpu_hog --threads 1
	await_kept ".unwind[0].kept >= $least and .unwind[0].loaded == 0"
	daemon_stop KILL
	daemon_start
	await_kept ".unwind[0].loaded >= $least"
	loaded=$(unwind_status loaded)
	[[ $("$BUILD/bourdon" --db "$DB" status) == *"$(unwind_status kept) kept table"?(s)", "*"$loaded taken from there since the start"* ]]
	[ "$loaded" -le "$(unwind_status kept)" ]
	daemon_stop TERM
	[ "$(sqlite3 -readonly "$STATE_DIR/tables.db" "SELECT count(*) FROM kept WHERE kind = 'unwind table' AND
		inode = $(stat -c %i "$WORK/${PREFIX}cpu") AND bytes = $(stat -c %s "$WORK/${PREFIX}cpu")")" -eq 1 ]
}

# start_container: starts the program of $WORK/image in a mount namespace with an overlay of its own, as a container has it
start_container() {
	# shellcheck disable=SC2016 # the shell inside expands it
	start_command unshare --mount sh -c 'mount -t overlay -o "lowerdir=$1/image:$1/empty" overlay "$1/merged" && exec "$1/merged/$2" --threads 1' \
		sh "$WORK" "${PREFIX}cpu"
}

# stat(2) reports another device for each overlay; the kernel maps the one file below.
@test "containers of one image share the tables of its files, also those of earlier containers" {
	local first
	begin
	grant_start
	mkdir "$WORK/image" "$WORK/empty" "$WORK/merged"
	cp "$BUILD/workloads/cpu_hog" "$WORK/image/${PREFIX}cpu"
	sleep 3 # no table is kept of a file that changed in the last 2 s
	start_container
	first=$CHILD
	await_kept '.unwind[0].modules_without == 0'
	start_container
	await_status 30 '.unwind[0].pending == 0 and .unwind[0].processes == 2'
	stop "$first"
	stop "$CHILD"
	daemon_stop TERM
	daemon_start
	start_container
	await_kept '.unwind[0].modules_without == 0'
	daemon_stop TERM
	[ "$(sqlite3 -readonly "$STATE_DIR/tables.db" "SELECT count(*) FROM kept WHERE kind = 'unwind table' AND
		inode = $(stat -c %i "$WORK/image/${PREFIX}cpu")")" -eq 1 ]
}

# whole_stacks: a capture of the process; prints how many of its on-CPU stacks are not whole, and how many there are
whole_stacks() {
	"$BUILD/bourdon" --db "$DB" capture --pid "$CHILD" --for 2s --on-cpu > "$WORK/capture.log"
	sql "SELECT sum(st.ended IS NOT 'root') || ' ' || count(*) FROM sample s JOIN stack st USING(stack_id)
		WHERE capture_id = (SELECT max(capture_id) FROM capture) AND kind = 'on-cpu' AND st.ended IS NOT NULL"
}

@test "kill -9 while tables are written, and damage of the file that they are kept in, cost a table at most" {
	local file=$STATE_DIR/tables.db round bytes hog not_whole all
	begin
	mkdir "$WORK/files"
	cp -L /usr/lib/*-linux-gnu/lib{c,m,z,crypto,ssl}.so.[0-9]* "$WORK/files"
	sleep 3 # no table is kept of a file that changed in the last 2 s
	for round in 1 2 3 4 5 6; do
		# it maps what no table is made of yet
		start_own mapper "$WORK"/files/*
		case $round in
		1) await_status 30 '.unwind[0].modules >= 1' ;; # while others wait
		*) await_kept '.unwind[0].modules >= 8 and .unwind[0].modules_without == 0' ;;
		esac
		daemon_stop KILL
		kill -KILL "$CHILD"
		bytes=$(stat -c %s "$file")
		case $round in
		2) dd if=/dev/urandom of="$file" bs=1 count=4096 conv=notrunc seek=$((bytes / 2)) status=none ;;
		3) truncate -s $((bytes / 3)) "$file" ;;
		4) dd if=/dev/urandom of="$file" bs=1 count=64 conv=notrunc status=none ;;
		5) head -c "$bytes" /dev/zero > "$file" ;;
		6) rm "$file" && mkdir "$file" ;;
		esac
		daemon_start
	done
	start_own cpu_hog --threads 1
	await_status 30 '.unwind[0].pending == 0 and .unwind[0].processes == 1'
	[ "$(unwind_status kept)" -eq 0 ]
	daemon_stop TERM
	rmdir "$file"
	daemon_start
	hog=$CHILD
	start_own mapper "$WORK"/files/*
	await_kept '.unwind[0].kept >= 1'
	CHILD=$hog
	read -r not_whole all < <(whole_stacks)
	[ "$all" -ge 1 ]
	[ "$not_whole" -eq 0 ]
}

# ahead_of POLICY-LINE...: runs a daemon under that policy until it has made tables ahead of need. Sets KEPT to the number of
# kept tables of $WORK/sleeper.
ahead_of() {
	printf '%s\n' '[policy]' "$@" > "$WORK/ahead.conf"
	load --policy "$WORK/ahead.conf"
	daemon_start
	await_log 90 'made the unwind tables of [0-9]+ files? ahead of need'
	daemon_stop TERM
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	KEPT=$(sqlite3 -readonly "$STATE_DIR/tables.db" "SELECT count(*) FROM kept WHERE kind = 'unwind table' AND inode = $(stat -c %i "$WORK/sleeper")")
}

@test "tables of programs that only sleep are made ahead, of those that policy allows" {
	local name
	# of another file a table is made, too: in an image with a fixed time there may be none of the system's files to keep
	for name in sleeper another; do
		cp /bin/sleep "$WORK/$name"
		"$WORK/$name" 600 3>&- &
		CHILDREN+=($!)
	done
	sleep 3 # no table is kept of a file that changed in the last 2 s
	ahead_of 'deny_comms = sleeper'
	[ "$KEPT" -eq 0 ]
	rm "$STATE_DIR/tables.db"
	ahead_of 'bystanders = yes'
	[ "$KEPT" -eq 1 ]
}

# have_used FROM SECONDS: whether our programs have had so much time of each CPU since it was FROM
have_used() {
	(($(cgroup_cpu_us "$CGROUP2/$CGROUP") >= $1 + $2 * 1000000 * $(nproc)))
}

# from_first_second PERCENT: starts programs that take every CPU, and captures them until they had 8 s of each. Fails unless
# PERCENT of their stacks are whole, once they had the first. These are seconds of CPU time: what others run delays the daemon
# as it does them.
from_first_second() {
	local before began whole all what client
	before=$(cgroup_cpu_us "$CGROUP2/$CGROUP")
	stock_perl
	stock_python3
	stock_sqlite3
	ON_CPU=0 start cpu_hog --threads $((2 * $(nproc)))
	"$BUILD/bourdon" --db "$DB" capture --cgroup "/$CGROUP" --for 1h --on-cpu > "$WORK/capture.log" &
	client=$!
	await 60 have_used "$before" 1
	began=$(date +%s%N)
	await 300 have_used "$before" 8
	kill -INT "$client"
	wait "$client"
	children_end
	what="FROM sample_time t JOIN stack st USING(stack_id) JOIN process p USING(process_id)
		WHERE t.capture_id = (SELECT max(capture_id) FROM capture) AND t.kind = 'on-cpu' AND st.ended IS NOT NULL AND t.at >= $began"
	IFS='|' read -r whole all < <(sql "SELECT sum(st.ended = 'root'), count(*) $what")
	sql "SELECT p.comm, st.ended, count(*) $what GROUP BY 1, 2"
	[ "$all" -ge 300 ]
	[ $((100 * whole)) -ge $(($1 * all)) ]
}

@test "programs that have just begun, while every CPU is busy: whole stacks from the first second" {
	load_targets_alone --hz 197
	daemon_start
	from_first_second 95
	from_first_second 99
}

@test "a process that is ending: its samples say that its stack is gone" {
	local ending
	load --hz 997
	daemon_start
	# shellcheck disable=SC2016 # perl expands it
	start_command perl -MPOSIX -e '$SIG{USR1} = sub { POSIX::_exit(0) }; my $kept = "x" x (1 << 30); $| = 1; print "ready\n"; sleep 600'
	ending=$CHILD
	capture_begin --pid "$ending"
	kill -USR1 "$ending"
	await 30 eval "[ ! -e /proc/$ending ]"
	capture_end
	# to give a gigabyte back takes long
	[ "$(sql "SELECT sum(samples) FROM sample JOIN stack USING(stack_id) JOIN process USING(process_id)
		WHERE tgid = $ending AND kind = 'on-cpu' AND ended = 'exiting'")" -ge 5 ]
	"$BUILD/bourdon" --db "$DB" why --section not_whole | grep -q 'exiting: the process was ending'
}
