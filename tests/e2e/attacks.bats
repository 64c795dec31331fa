#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Attacks by another user of the machine, by a consumer under an attacker's control, by a reader of the
# database, and by the author of a database that root reads. docs/SECURITY.md lists the promises. Other files
# test the rest: files.bats and triggers.bats the requests to bourdon-grant, forged.bats unwind tables,
# hostile.bats names.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup attacks
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# hog_capture [COOLDOWN]: a rule that captures the pressure of cpu_hog in our cgroup
hog_capture() {
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'history = 2s' 'capture = 2s' \
		"cooldown = ${1-1h}"
}

take_capture() {
	load
	hog_capture
	daemon_start
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'captured [0-9]+ stacks'
	stop "$CHILD"
}

# stranger COMMAND...: runs it as a user outside the group
stranger() {
	setpriv --reuid 65533 --regid 65533 --clear-groups "$@"
}

# bpf_obj_get PIN FLAGS: prints the error of the system call, which bpftool hides. 321 is its number on
# x86-64.
bpf_obj_get() {
	# shellcheck disable=SC2016 # perl's
	perl -e 'my ($path, $flags) = ("$ARGV[0]\0", $ARGV[1]); my $attributes = pack "QLL", unpack("Q", pack "P", $path), 0, $flags;
		syscall(321, 7, $attributes, length $attributes) >= 0 or die "$ARGV[0]: $!\n"' "$@"
}
export -f bpf_obj_get

# refused COMMAND...: a stranger runs it, and it fails with a permission error
refused() {
	run stranger bash -c '"$@"' bash "$@"
	[[ $status -ne 0 && $output == *@(ermission denied|not permitted)* ]] || { echo "$*: status $status: $output"; return 1; }
}

@test "another user is refused by pins, sockets, database and processes" {
	local pin file
	load_targets_alone
	grant_start
	rule idle 'comm = bdtest-1' 'cpu.some = 90%' # no process of the machine, so that the daemon asks for no grant
	daemon_start
	# with the directories above open, each object still refuses
	chmod 0711 "$PIN_DIR"
	for pin in "$PIN_DIR"/*; do
		refused bpf_obj_get "$pin" 0
		refused bpf_obj_get "$pin" $((1 << 3)) # BPF_F_RDONLY
		refused bpf_obj_get "$pin" $((1 << 4)) # BPF_F_WRONLY
		refused cat "$pin"
	done
	chmod 0750 "$PIN_DIR"
	refused ls "$PIN_DIR"
	chmod 0711 "$STATE_DIR"
	for file in bourdon.db bourdon.db-wal bourdon.db-shm bourdond.lock; do
		[ -e "$STATE_DIR/$file" ] || continue
		refused cat "$STATE_DIR/$file"
		refused dd if=/dev/null of="$STATE_DIR/$file" conv=notrunc
	done
	refused touch "$STATE_DIR/bourdon.db-journal"
	run stranger "$BUILD/bourdon" --db "$DB" status
	[ "$status" -eq 1 ]
	[[ $output == *'become a member of its group'* ]]
	refused "$BUILD/tools/ask_grant" "$GRANT_SOCKET" 'pressure 1 cpu 2000000'
	[ ! -s "$WORK/grants" ]
	for file in "$RUN_DIR"/*; do
		refused cat "$file"
	done
	# the process itself
	for file in fd map_files root cwd; do
		refused ls "/proc/$DAEMON/$file/"
	done
	for file in mem maps environ syscall stack; do
		refused cat "/proc/$DAEMON/$file"
	done
	refused kill -TERM "$DAEMON"
	kill -0 "$DAEMON"
}

@test "a reader of the database opens no pin, and can do all that a reader may" {
	local pin flags member
	member=(setpriv --reuid 54321 --regid 54321 --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all)
	private_bpffs 0711
	# another group than the database's
	load --group 54322
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'history = 5s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	# the pins, the links and programs, which are root's, and what the daemon is
	[ "$(stat -c '%a %u %g' "$PIN_DIR" "$PIN_DIR/control" | paste -s -d ' ')" = '750 0 54322 660 0 54322' ]
	grep -Eqx 'Groups:\s+54322\s*' "/proc/$DAEMON/status"
	for pin in "$PIN_DIR"/*; do
		for flags in 0 $((1 << 3)) $((1 << 4)); do
			run "${member[@]}" bash -c 'bpf_obj_get "$@"' bash "$pin" "$flags"
			[[ $status -ne 0 && $output == *'ermission denied'* ]] || { echo "$pin, flags $flags: $output"; false; }
		done
	done
	# also where it can pass through the directory
	chmod 0751 "$PIN_DIR"
	run "${member[@]}" bash -c 'bpf_obj_get "$@"' bash "$PIN_DIR/control" 0
	[[ $status -ne 0 && $output == *'ermission denied'* ]]
	chmod 0750 "$PIN_DIR"
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 60 'captured [0-9]+ stacks'
	"${member[@]}" "$BUILD/bourdon" --db "$DB" status > "$WORK/status"
	"${member[@]}" "$BUILD/bourdon" --db "$DB" why | grep -q cpu_hog
	"${member[@]}" "$BUILD/bourdon" --db "$DB" capture --pid "$CHILD" --for 1s > "$WORK/asked"
	[ "$(sql "SELECT count(*) FROM capture WHERE trigger_mode = 'manual' AND state = 'complete'")" -eq 1 ]
	"${member[@]}" "$BUILD/bourdon" --db "$DB" top --live --once --csv --columns comm > "$WORK/live"
	grep -q cpu_hog "$WORK/live"
}

# kernel_complaints: the number of lines in the kernel's log that report a fault of the kernel
kernel_complaints() {
	dmesg | grep -cE 'BUG|WARNING|Oops|Call Trace|lockup|stall|hung|general protection' || true
}

@test "zeros, ones and random bytes in every map that the consumer may write: the kernel logs no fault" {
	local complaints
	load --hz 997
	hog_capture
	daemon_start
	start cpu_hog --threads $((2 * $(nproc)))
	start lock_hog --threads 4 --hold 5 --seconds 300
	await_tables
	# the attacker has stopped the daemon and is the only writer of the maps
	kill -STOP "$DAEMON"
	complaints=$(kernel_complaints)
	# meanwhile processes start, rename themselves and end
	(while :; do /bin/true; perl -e '$0 = "cpu_hog"'; done) & CHILDREN+=($!)
	run timeout 120 "$BUILD/tools/forge_tables" --all "$PIN_DIR" "$CHILD" 8 0
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ ^rounds\ ([0-9]+),\ maps\ ([0-9]+)$ ]]
	[ "${BASH_REMATCH[2]}" -eq "$(find "$PIN_DIR" -perm 0660 | wc -l)" ]
	[ "${BASH_REMATCH[2]}" -ge 10 ]
	[ "$(kernel_complaints)" -eq "$complaints" ]
	# a new load and a new daemon work as before
	kill -CONT "$DAEMON"
	daemon_stop KILL
	children_end
	load
	daemon_start
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'captured [0-9]+ stacks'
	[ "$(sql "SELECT function FROM hot_function WHERE capture_id = (SELECT max(capture_id) FROM capture) LIMIT 1")" = burn_cpu ]
}

# ---- readers ----

# reader COMMAND...: runs it as a member of the group, who can read and lock files
reader() {
	setpriv --reuid 65533 --regid 65533 --groups "$(getent group "$TEST_GROUP" | cut -d : -f 3)" "$@"
}

@test "captures wait for a reader that holds the writer's lock or an old snapshot, and none is lost" {
	local answer
	load
	hog_capture 1s
	daemon_start
	# byte 120 of -shm is the writer's lock: read access is enough for a shared lock on it
	# shellcheck disable=SC2016 # perl's
	coproc LOCK { exec setpriv --reuid 65533 --regid 65533 --groups "$(getent group "$TEST_GROUP" | cut -d : -f 3)" \
		perl -MFcntl -e 'open my $shm, "<", $ARGV[0] or die; my $lock = pack "ssx4qqlx4", F_RDLCK, SEEK_SET, 120, 1, 0;
			fcntl $shm, F_SETLK, $lock or die; $| = 1; print "locked\n"; <STDIN>' "$DB-shm"; }
	read -r -t 60 answer <&"${LOCK[0]}"
	[ "$answer" = locked ]
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 30 'rule cpu fired'
	await_status 20 '.captures | length == 0' # it has ended, and waits to be written
	[ "$(reader sqlite3 -readonly "$DB" 'SELECT count(*) FROM capture')" -eq 0 ]
	local lock=$LOCK_PID # bash unsets LOCK_PID when the process ends
	eval "exec ${LOCK[1]}>&-"
	wait "$lock" || true
	await_log 30 'captured [0-9]+ stacks'
	[ "$(sql 'SELECT min(state) FROM capture WHERE capture_id = 1')" = complete ]
	# while a reader holds a snapshot, the log can be written but not emptied
	coproc OLD { exec setpriv --reuid 65533 --regid 65533 --groups "$(getent group "$TEST_GROUP" | cut -d : -f 3)" \
		sqlite3 -readonly "$DB"; }
	echo "BEGIN; SELECT count(*) > 0 FROM capture;" >&"${OLD[1]}"
	read -r -t 60 answer <&"${OLD[0]}"
	[ "$answer" = 1 ]
	await_log 30 'captured [0-9]+ stacks'
	await_log 30 'captured [0-9]+ stacks'
	lock=$OLD_PID
	eval "exec ${OLD[1]}>&-"
	wait "$lock" || true
	[ "$(sqlite3 -readonly "$DB" 'PRAGMA integrity_check')" = ok ]
}

# ---- root reads a database that another user owns ----

# hold DATABASE: locks it, so that bourdon waits until let_go
hold() {
	local answer=
	coproc HOLD { exec sqlite3 "$1"; }
	HOLDER=$HOLD_PID # bash unsets HOLD_PID when the process ends
	echo "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT 'held';" >&"${HOLD[1]}"
	while [[ $answer != held ]]; do
		read -r -t 60 answer <&"${HOLD[0]}"
	done
}

let_go() {
	eval "exec ${HOLD[1]}>&-"
	wait "$HOLDER" || true
}

# has_given_up PID UID: whether the process has this uid, no capability, and cannot gain any.
has_given_up() {
	local uid=$2
	grep -Eq "^Uid:	$uid	$uid	$uid	$uid$" "/proc/$1/status" &&
		grep -Eq '^Groups:[[:space:]]*$' "/proc/$1/status" &&
		[ "$(grep -Ec '^Cap(Inh|Prm|Eff|Amb):	0000000000000000$' "/proc/$1/status")" -eq 4 ] &&
		grep -q '^NoNewPrivs:	1$' "/proc/$1/status"
}

# has_open PID PATH
has_open() {
	find "/proc/$1/fd" -lname "$2" | grep -q .
}

@test "bourdon run as root drops to the uid that may have written the database" {
	local command reader
	make_tables "$WORK/made.db"
	chown 65533 "$WORK/made.db" # not 65534, which the last case expects
	for command in list why top folded status doctor; do
		hold "$WORK/made.db"
		"$BUILD/bourdon" --db "$WORK/made.db" "$command" > "$WORK/answer" 2>&1 & reader=$!
		await 4 has_given_up "$reader" 65533
		let_go
		wait "$reader" || true
	done
	# another user's symbolic link to a database that only root can write: root reads it as root
	chown root "$WORK/made.db"
	ln -s "$WORK/made.db" "$STATE_DIR/bourdon.db"
	hold "$WORK/made.db"
	"$BUILD/bourdon" --db "$STATE_DIR/bourdon.db" list > "$WORK/answer" 2>&1 & reader=$!
	await 4 has_open "$reader" "$WORK/made.db"
	grep -q '^Uid:	0	0	0	0$' "/proc/$reader/status"
	let_go
	wait "$reader"
	# in a directory where any user can put a journal beside the database
	mkdir -m 1777 "$WORK/open"
	mv "$WORK/made.db" "$WORK/open/made.db"
	hold "$WORK/open/made.db"
	"$BUILD/bourdon" --db "$WORK/open/made.db" list > "$WORK/answer" 2>&1 & reader=$!
	await 4 has_given_up "$reader" 65534
	let_go
	wait "$reader" || true
}

# find_spawner PID: sets SPAWNER to the process that symbolize has started
find_spawner() {
	SPAWNER=$(pgrep -f "made.db symbolize --debug-dir $WORK" | grep -vx "$1" | head -n 1)
	[[ -n $SPAWNER ]] && grep -q '^Seccomp:	2$' "/proc/$SPAWNER/status"
}

@test "symbolize reads files in a process without root and without the database" {
	local owner reader
	make_tables "$WORK/made.db"
	chmod 0755 "$WORK"
	for owner in 0 65533; do
		chown "$owner" "$WORK/made.db"
		hold "$WORK/made.db"
		"$BUILD/bourdon" --db "$WORK/made.db" symbolize --debug-dir "$WORK" > "$WORK/answer" 2>&1 & reader=$!
		await 4 find_spawner "$reader"
		has_given_up "$SPAWNER" $((owner ? owner : 65534))
		run grep -F made.db "/proc/$SPAWNER/maps"
		[ "$status" -eq 1 ]
		[ "$(find "/proc/$SPAWNER/fd" -lname '*made.db*' | wc -l)" -eq 0 ]
		# a database that only root may write is read as root
		if ((owner == 0)); then
			grep -q '^Uid:	0	0	0	0$' "/proc/$reader/status"
		else
			has_given_up "$reader" "$owner"
		fi
		let_go
		wait "$reader"
	done
}

@test "a database with changed bytes: an answer or an error, never a crash or a control character" {
	local seed command
	take_capture
	daemon_stop TERM
	sql "VACUUM INTO '$WORK/sound.db'"
	for ((seed = 1; seed <= 60; seed++)); do
		perl -e 'my ($seed, $from, $to) = @ARGV; srand $seed; local $/; open my $in, "<:raw", $from; my $bytes = <$in>;
			for (1 .. 1 + int rand 40) {
				# damages page headers and cell pointers more often than contents
				my $at = rand(2) < 1 ? int rand length $bytes : 4096 * int(rand length($bytes) / 4096) + int rand 120;
				substr($bytes, $at, 1) = chr(rand(2) < 1 ? 255 * int rand 2 : int rand 256) if $at > 72;
			}
			open my $out, ">:raw", $to; print $out $bytes' "$seed" "$WORK/sound.db" "$WORK/changed.db"
		for command in list why top folded status; do
			run timeout 20 "$BUILD/bourdon" --db "$WORK/changed.db" "$command"
			[ "$status" -le 1 ] || { echo "seed $seed, $command: status $status: $output"; false; }
			[[ $output != *[$'\001'-$'\011\013'-$'\037']* ]]
		done
	done
}
