#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# System calls of the real processes once they are confined: inject_call makes their threads call what an
# attacker in control of them would call.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup confinement
	cgroup_make
}

teardown() {
	# the symbolizer holds the daemon's log open
	[ -z "${SYMBOLIZER-}" ] || kill -KILL "$SYMBOLIZER" 2>/dev/null || true
	bourdon_teardown
	rm -f "/tmp/bourdon-made-$$"
	[ -z "${HOME_DIR-}" ] || rm -r "$HOME_DIR"
}

# threads PID: the thread ids of the process, the main thread first.
threads() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n
}

# inject TID CALL...
inject() {
	"$BUILD/tools/inject_call" "$@"
}

# assert_gives EXPECTED TID CALL...: the outcome matches the pattern: 'result *', 'errno NAME' or 'killed
# NAME'.
assert_gives() {
	local said
	said=$(inject "${@:2}") || true
	# shellcheck disable=SC2053
	[[ $said == $1 ]] || { echo "${*:3}: $said, not $1" >&2; return 1; }
}

# forbidden_calls: prints the calls that every policy kills, one a line: name and arguments, as inject_call
# reads them.
forbidden_calls() {
	cat <<- 'LINES'
		execve str:/bin/true 0 0
		execveat -100 str:/bin/true 0 0 0
		fork
		vfork
		clone 0x3d0f00 0 0 0 0
		ptrace 16 1 0 0
		process_vm_readv 1 0 0 0 0 0
		process_vm_writev 1 0 0 0 0 0
		kill 1 0
		kill -1 15
		tgkill 1 1 15
		tkill 1 6
		pidfd_open 1 0
		pidfd_getfd 3 3 0
		socket 2 1 0
		socket 2 2 0
		socket 10 1 0
		socket 16 3 0
		socket 17 3 0
		bpf 5 zero:128 128
		bpf 0 zero:128 128
		bpf 6 zero:128 128
		bpf 7 zero:128 128
		bpf 22 zero:128 128
		bpf 28 zero:128 128
		bpf 14 zero:128 128
		perf_event_open zero:128 -1 0 -1 0
		mmap 0 4096 5 0x22 -1 0
		mmap 0 4096 7 0x22 -1 0
		mprotect 0 4096 4
		pkey_mprotect 0 4096 4 -1
		memfd_create str:x 0
		userfaultfd 0
		io_uring_setup 8 zero:128
		open_by_handle_at -100 zero:64 0
		name_to_handle_at -100 str:/ zero:64 zero:8 0
		ioctl 0 0x5412 str:x
		ioctl 0 0x541c zero:8
		renameat -100 str:/etc/hostname -100 str:/etc/host
		renameat2 -100 str:/etc/hostname -100 str:/etc/host 0
		link str:/etc/hostname str:/tmp/linked
		symlink str:/etc/hostname str:/tmp/linked
		chmod str:/etc/hostname 0777
		fchmodat -100 str:/etc/hostname 0777
		chown str:/etc/hostname 65534 65534
		mknod str:/tmp/made 010600 0
		mkdir str:/tmp/made 0700
		truncate str:/etc/hostname 0
		setns 0 0
		unshare 0x10000000
		mount str:none str:/mnt str:tmpfs 0 0
		chroot str:/
		setuid 0
		capset zero:8 zero:24
		keyctl 0 0
		personality 0x40000
		init_module zero:8 8 str:
		reboot 0 0 0 0
		prctl 4 1 0 0 0
		setpgid 0 0
		shmget 0 4096 0
		mq_open str:/x 66 0 0
	LINES
}

# All threads have the same filter, which assert_no_privilege checks; so each call is tried in one thread, in
# turn.
@test "bourdond: a forbidden system call of any thread kills the process" {
	load
	rule idle 'comm = bdtest-1' 'cpu.some = 90%'
	local call turn=0 thread
	while read -r call; do
		daemon_start
		mapfile -t thread < <(threads "$DAEMON")
		[ "${#thread[@]}" -eq 11 ]
		# shellcheck disable=SC2086
		assert_gives 'killed SIGSYS' "${thread[turn++ % 11]}" $call
		daemon_wait
		[ "$DAEMON_STATUS" -eq 159 ] # SIGSYS, the whole process
	done < <(forbidden_calls)
	[ "$turn" -gt 50 ]
}

@test "bourdond opens the files that it needs and no others" {
	load
	rule idle 'comm = bdtest-1' 'cpu.some = 90%'
	# files outside its directories that its user owns or that all users can write
	HOME_DIR=$(mktemp -d /var/tmp/bourdon-confinement.XXXXXX)
	install -o "$TEST_USER" -m 0600 /dev/null "$HOME_DIR/own"
	chown "$TEST_USER" "$HOME_DIR"
	daemon_start
	chmod 0777 "$RULES_DIR"
	chmod 0666 "$RULES_DIR/idle.conf" "$RUN_DIR/manifest"
	local thread place
	for thread in $(threads "$DAEMON"); do
		# an allowed file shows that inject_call works
		assert_gives "result $DAEMON" "$thread" getpid
		assert_gives 'result *' "$thread" openat -100 "str:$RULES_DIR/idle.conf" 0
		assert_gives 'result *' "$thread" openat -100 "str:$RULES_DIR" 0x10000
		assert_gives 'result *' "$thread" openat -100 str:/usr/bin/env 0
		assert_gives 'result *' "$thread" openat -100 str:/proc/pressure/cpu 2
		assert_gives 'result *' "$thread" openat -100 "str:$STATE_DIR/new" 0102 0600
		assert_gives 'result 0' "$thread" rename "str:$STATE_DIR/new" "str:$STATE_DIR/newer"
		assert_gives 'result 0' "$thread" unlink "str:$STATE_DIR/newer"
		assert_gives 'result *' "$thread" mmap 0 4096 3 0x22 -1 0
		assert_gives 'result *' "$thread" socket 1 1 0
		assert_gives 'errno EACCES' "$thread" openat -100 str:/etc/shadow 0
		# readable for all users, but not for the confined daemon
		assert_gives 'errno EACCES' "$thread" openat -100 str:/etc/passwd 0
		assert_gives 'errno EACCES' "$thread" openat -100 str:/etc/hostname 0
		assert_gives 'errno EACCES' "$thread" openat -100 str:/home 0x10000
		assert_gives 'errno EACCES' "$thread" openat -100 str:/ 0x10000
		assert_gives 'errno EACCES' "$thread" openat -100 str:/proc 0x10000
		assert_gives 'errno EACCES' "$thread" openat -100 str:/proc/1/cmdline 0
		assert_gives 'errno EACCES' "$thread" openat -100 str:/proc/self/mem 2
		assert_gives 'errno EACCES' "$thread" openat -100 str:/proc/meminfo 0
		assert_gives 'errno EACCES' "$thread" openat -100 str:/dev/null 1
		# files of its own user, or writable for all users
		assert_gives 'errno EACCES' "$thread" openat -100 "str:$HOME_DIR/own" 0
		assert_gives 'errno EACCES' "$thread" openat -100 "str:$HOME_DIR/own" 2
		assert_gives 'errno EACCES' "$thread" openat -100 "str:$HOME_DIR/new" 0101 0600
		assert_gives 'errno EACCES' "$thread" unlink "str:$HOME_DIR/own"
		assert_gives 'errno EACCES' "$thread" rename "str:$HOME_DIR/own" "str:$HOME_DIR/other"
		assert_gives 'errno E*' "$thread" rename "str:$STATE_DIR/bourdon.db" "str:$HOME_DIR/bourdon.db"
		assert_gives 'errno EACCES' "$thread" openat -100 "str:$RUN_DIR/manifest" 2
		assert_gives 'errno EACCES' "$thread" openat -100 "str:$RULES_DIR/idle.conf" 2
		assert_gives 'errno EACCES' "$thread" openat -100 "str:$RULES_DIR/more.conf" 0101 0600
		assert_gives 'errno EACCES' "$thread" openat -100 "str:/tmp/bourdon-made-$$" 0101 0600
		# a descriptor opened with O_PATH does not help
		place=$(inject "$thread" openat -100 "str:$HOME_DIR/own" 0x200000)
		assert_gives 'errno EACCES' "$thread" openat -100 "str:/proc/self/fd/${place#result }" 0
		assert_gives 'result 0' "$thread" close "${place#result }"
		assert_gives 'errno EACCES' "$thread" openat -100 str:/usr/bin 0x10000
		# ENOSYS makes libc fall back to another call
		assert_gives 'errno ENOSYS' "$thread" openat2 -100 str:/etc/passwd zero:24 24
		assert_gives 'errno ENOSYS' "$thread" clone3 zero:88 88
	done
	[ ! -e "/tmp/bourdon-made-$$" ]
	# the daemon still works
	status_json | jq -e '.daemon[0].seccomp == "kill" and .daemon[0].landlock_abi > 0'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
}

@test "bourdond killed within a capture: the database is intact, and sampling stops" {
	load --quiet-after 2s
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'history = 5s' 'capture = 60s'
	daemon_start
	start cpu_hog --threads $((2 * $(nproc)))
	await_sql 30 'SELECT state FROM capture' recording
	assert_gives 'killed SIGSYS' "$DAEMON" execve str:/bin/sh 0 0
	daemon_wait
	[ "$DAEMON_STATUS" -eq 159 ]
	sleep 3 # --quiet-after is 2 s
	local before
	before=$(counter 0)
	sleep 1
	[ "$(counter 0)" -eq "$before" ]
	[ "$(sqlite3 "$DB" 'PRAGMA integrity_check')" = ok ]
	daemon_start
	[ "$(sql 'SELECT state FROM capture WHERE capture_id = 1')" = interrupted ]
}

# spawner: the pid of the daemon's only child.
spawner() {
	pgrep -P "$DAEMON"
}

@test "the spawner: every call but those for forking a symbolizer kills it" {
	load
	rule idle 'comm = bdtest-1' 'cpu.some = 90%'
	local call turn=0 pid
	while read -r call; do
		daemon_start
		pid=$(spawner)
		# shellcheck disable=SC2086
		assert_gives 'killed SIGSYS' "$pid" $call
		turn=$((turn + 1))
		daemon_stop TERM
		[ "$DAEMON_STATUS" -eq 0 ] # the daemon continued without the spawner
	done < <(
		forbidden_calls
		printf '%s\n' 'socket 1 1 0' 'bpf 1 zero:128 128' 'connect 3 zero:16 16' 'unlink str:/tmp/x' \
			"prlimit64 1 0 zero:16 0" 'socketpair 2 1 0 zero:8' 'setpriority 0 1 -20' 'rt_sigprocmask 1 words:-1,-1 0 8'
	)
	[ "$turn" -gt 55 ]
}

@test "the spawner opens no file, holds one socket, and is the first choice of the OOM killer" {
	load
	rule idle 'comm = bdtest-1' 'cpu.some = 90%'
	daemon_start
	local pid
	pid=$(spawner)
	assert_gives 'result 0' "$pid" sysinfo zero:128
	assert_gives 'errno ENOENT' "$pid" openat -100 str:/usr/bin/env 0
	assert_gives 'errno ENOENT' "$pid" openat -100 "str:$DB" 2
	assert_gives 'errno EBADF' "$pid" close 17
	[ "$(cat "/proc/$pid/oom_score_adj")" = 1000 ]
	[ "$(cat "/proc/$DAEMON/oom_score_adj")" != 1000 ]
	# it ignores SIGHUP, SIGINT and SIGTERM, and ends when its socket is closed
	(((0x$(awk '/^SigIgn/ { print $2 }' "/proc/$pid/status") & 0x4003) == 0x4003))
	# its socket and the three standard descriptors
	[ "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)" -eq 4 ]
	[ "$(find "/proc/$pid/fd" -mindepth 1 -lname 'socket:*' | wc -l)" -ge 1 ]
	# another process of its user can trace neither it nor the daemon
	run setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$BUILD/tools/inject_call" "$pid" getpid
	[[ $output == *'Operation not permitted'* ]]
	run setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$BUILD/tools/inject_call" "$DAEMON" getpid
	[[ $output == *'Operation not permitted'* ]]
}

# assert_limit PID NAME VALUE: soft and hard limit, by their name in /proc/PID/limits.
assert_limit() {
	grep -Eq "^Max $2 +$3 +$3 " "/proc/$1/limits" || { grep "^Max $2" "/proc/$1/limits"; return 1; }
}

# symbolizer_stopped: stops a symbolizer, SYMBOLIZER, that is confined and at work. It yields to busy CPUs, so
# it lives long enough to be found.
symbolizer_stopped() {
	local DEADLINE
	deadline 30
	until SYMBOLIZER=$(pgrep -P "$(spawner)" | head -n 1) &&
		grep -q '^Seccomp_filters:\s*2$' "/proc/$SYMBOLIZER/status" 2>/dev/null &&
		kill -STOP "$SYMBOLIZER" && grep -q '^State:\s*T' "/proc/$SYMBOLIZER/status" 2>/dev/null; do
		((SECONDS < DEADLINE)) || return 1
	done
}

@test "a symbolizer: calls of its spawner kill it, and the capture is complete without it" {
	load
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'history = 5s' 'capture = 1s' 'cooldown = 1h'
	daemon_start
	start cpu_hog --threads $((4 * $(nproc)))
	local call
	# calls that its spawner may make
	for call in 'socketpair 1 1 0 zero:8' 'write 2 str:x 1' 'clone 0x1200011 0 0 0 0' 'wait4 -1 zero:8 1 0'; do
		symbolizer_stopped
		assert_no_privilege "$(spawner)"
		assert_limit "$SYMBOLIZER" 'address space' $((2 << 30))
		assert_limit "$SYMBOLIZER" 'data size' $((192 << 20))
		assert_limit "$SYMBOLIZER" 'cpu time' 10
		assert_limit "$SYMBOLIZER" 'core file size' 0
		assert_gives 'errno ENOENT' "$SYMBOLIZER" openat -100 str:/usr/bin/env 0
		# of the daemon's descriptors it has none, and so not its log
		[ ! -e "/proc/$SYMBOLIZER/fd/2" ]
		# shellcheck disable=SC2086
		assert_gives 'killed SIGSYS' "$SYMBOLIZER" $call
		await_log 60 'captured [0-9]+ stacks|the symbolizer died reading'
		[[ $LOG_LINE == *ended* ]] || break
	done
	[[ $LOG_LINE == *captured* ]] || await_log 60 'captured [0-9]+ stacks'
	[ "$(sqlite3 "$DB" 'PRAGMA integrity_check')" = ok ]
	[ "$(sql 'SELECT state FROM capture')" = complete ]
	local ends
	ends=$(grep -c "its frames get no names" "$WORK/daemon.log") || true
	# again, if no further symbolizer could be started
	[[ $(sql "SELECT events FROM loss WHERE reason = 'symbolizer-failed'") =~ ^($ends|$((ends + 1)))$ ]]
}

# grant_held: sets GRANT to a bourdon-grant that waits for its client's request, for up to two seconds.
grant_held() {
	local DEADLINE
	deadline 30
	while :; do
		"$BUILD/tools/ask_grant" --silent "$GRANT_SOCKET" > /dev/null 2>&1 & CLIENT=$!
		while kill -0 "$CLIENT" 2> /dev/null; do # else the signal came too late, and bourdon-grant has answered
			GRANT=$(pgrep -P "$ACTIVATOR" -x bourdon-grant) && grep -qs '^Seccomp:\s*2$' "/proc/$GRANT/status" && return
			((SECONDS <= DEADLINE)) || return 1
			sleep 0.01
		done
		wait "$CLIENT" || true
	done
}

grant_dropped() {
	kill "$CLIENT" 2>/dev/null || true
	wait "$CLIENT" || true
}

@test "bourdon-grant: every call that it does not need kills it" {
	load
	grant_start
	ACTIVATOR=${CHILDREN[-1]}
	local call turn=0
	while read -r call; do
		grant_held
		# shellcheck disable=SC2086
		assert_gives 'killed SIGSYS' "$GRANT" $call
		grant_dropped
		turn=$((turn + 1))
	done < <(
		# without the calls that bourdon-grant needs: it drops capabilities, opens cgroups by id and
		# pins by name
		forbidden_calls | grep -Ev '^(capset|open_by_handle_at|bpf 7) '
		printf '%s\n' 'socket 1 1 0' 'connect 0 zero:16 16' 'bind 0 zero:16 16' 'unlink str:/tmp/x' 'bpf 2 zero:128 128' \
			'prlimit64 0 7 words:99,0,99,0 0' 'write 17 str:x 1' 'pwrite64 17 str:x 1 4096' 'dup2 0 2' 'fcntl 0 0 5'
	)
	[ "$turn" -gt 60 ]
	grant_held
	grep -q '^NoNewPrivs:\s*1$' "/proc/$GRANT/status"
	assert_limit "$GRANT" 'open files' 32
	assert_limit "$GRANT" 'core file size' 0
	assert_limit "$GRANT" 'address space' $((64 << 20))
	assert_limit "$GRANT" 'cpu time' 5
	assert_gives 'errno EBADF' "$GRANT" read 17 zero:8 8
	assert_gives 'errno ESPIPE' "$GRANT" lseek 0 0 0
	assert_gives 'errno ENOTTY' "$GRANT" ioctl 0 0x5401 zero:64
	# blocking all signals fails, so the alarm that ends bourdon-grant cannot be blocked
	assert_gives 'errno EPERM' "$GRANT" rt_sigprocmask 0 words:-1,-1 0 8
	grant_dropped
}

@test "bourdon-grant without a counters file cannot write to the files that it opens" {
	local number
	grant_start --counters "$WORK/nowhere/grants"
	ACTIVATOR=${CHILDREN[-1]}
	touch "$WORK/file"
	grant_held
	for number in 30 31; do
		[[ $(readlink "/proc/$GRANT/fd/$number") == socket:* ]]
	done
	assert_gives 'errno ESPIPE' "$GRANT" pwrite64 31 str:x 1 0
	number=$(inject "$GRANT" openat -100 "str:$WORK/file" 0)
	assert_gives 'killed SIGSYS' "$GRANT" pwrite64 "${number#result }" str:x 1 0
	grant_dropped
	grant_held
	assert_gives 'killed SIGSYS' "$GRANT" openat -100 "str:$WORK/file" 1
	grant_dropped
	[ ! -s "$WORK/file" ]
}

# loader_held: sets LOADER to a bourdon-load that waits for another one's lock.
loader_held() {
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" 2> /dev/null & LOADER=$!
	await 10 grep -q '^Seccomp:\s*2$' "/proc/$LOADER/status"
}

@test "bourdon-load: every call that it does not need kills it" {
	local call turn=0 status before
	private_bpffs 0700 # the lock is on the parent directory of the pins; a private one is not shared with other loaders
	load
	before=$(stat -c %i "$PIN_DIR")
	flock --no-fork "$(dirname "$PIN_DIR")" sleep 600 3>&- & CHILDREN+=($!)
	until ! flock -n "$(dirname "$PIN_DIR")" true; do sleep 0.05; done
	while read -r call; do
		loader_held
		# shellcheck disable=SC2086
		assert_gives 'killed SIGSYS' "$LOADER" $call
		status=0
		wait "$LOADER" || status=$?
		[ "$status" -eq 159 ]
		turn=$((turn + 1))
	done < <(
		# without the calls that bourdon-load needs: it makes BPF objects and replaces files
		forbidden_calls | grep -Ev '^(bpf (0|5|6|7|22|28) |perf_event_open|rename|chown|mkdir |(chmod|fchmodat) )'
		printf '%s\n' 'bpf 3 zero:128 128' 'bpf 8 zero:128 128' 'bpf 13 zero:128 128' 'bpf 34 zero:128 128' \
			"chmod str:$WORK/file 04755" "openat -100 str:$WORK/made 0101 02755" 'umount2 str:/mnt 0' 'socket 1 1 0' \
			'kill -2147483647 9' 'dup2 0 2' 'dup3 0 9 0' 'memfd_create str:x 3' 'setrlimit 4 zero:16'
	)
	[ "$turn" -gt 50 ]
	loader_held
	CHILDREN+=("$LOADER")
	grep -q '^NoNewPrivs:\s*1$' "/proc/$LOADER/status"
	assert_gives "result $LOADER" "$LOADER" getpid
	# BPF_TOKEN_CREATE fails as if nothing was delegated
	assert_gives 'errno ENOENT' "$LOADER" bpf 36 zero:128 128
	[ "$(stat -c %i "$PIN_DIR")" = "$before" ]
	[ ! -e "${PIN_DIR}_loading" ]
}

@test "a build with SECCOMP_LOG=1 allows and logs other calls; status reports it and make install refuses it" {
	load
	rule idle 'comm = bdtest-1' 'cpu.some = 90%'
	SECCOMP=log BUILD=$BUILD/logging daemon_start
	assert_gives 'result *' "$DAEMON" getppid
	await_log 10 '^bourdon: system call getppid \([0-9]+: [^)]*\) of process [0-9]+ is not in policy/bourdond.seccomp$'
	assert_gives 'result *' "$(spawner)" getppid
	await_log 10 '^bourdon: system call getppid \([0-9]+: [^)]*\) of process [0-9]+ is not in policy/spawner.seccomp$'
	status_json | jq -e '.daemon[0].seccomp == "log" and ([.problems[] | select(.remedy == "install a build without SECCOMP_LOG")] | length) == 1'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	run make -s -C "$TREE" install B=build/logging DESTDIR="$WORK/root"
	[ "$status" -ne 0 ]
	[[ $output == *'this build confines nothing: SECCOMP_LOG=1'* ]]
	[ ! -e "$WORK/root" ]
}

# names_call PROGRAM CALL LOG: the log names the call, the process and the policy that does not list the call.
names_call() {
	grep -Eq "^bourdon: system call $2 \\([0-9]+: [^)]*\\) of process $3 is not in policy/$1.seccomp\$" "$4"
}

@test "a build that logs names the calls of bourdon-load, bourdon-grant and a symbolizer, too" {
	local BUILD=$TREE/build/logging tools=$TREE/build
	load
	flock --no-fork "$(dirname "$PIN_DIR")" sleep 600 & CHILDREN+=($!)
	until ! flock -n "$(dirname "$PIN_DIR")" true; do sleep 0.05; done
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" 2> "$WORK/load.log" & LOADER=$!
	CHILDREN+=("$LOADER")
	await 10 grep -q '^Seccomp:\s*2$' "/proc/$LOADER/status"
	BUILD=$tools assert_gives 'result *' "$LOADER" getpgid 0
	await 10 names_call bourdon-load getpgid "$LOADER" "$WORK/load.log"
	stop "$LOADER" # stopped before it gets the lock
	stop "${CHILDREN[0]}"
	grant_start
	ACTIVATOR=${CHILDREN[-1]}
	BUILD=$tools grant_held
	BUILD=$tools assert_gives 'result *' "$GRANT" getpgid 0
	await 10 names_call bourdon-grant getpgid "$GRANT" "$WORK/grant.log"
	grant_dropped
	rule cpu 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 30%' 'watch = system' 'history = 5s' 'capture = 1s' 'cooldown = 1h'
	SECCOMP=log daemon_start
	BUILD=$tools
	# the spawner may call setpriority, a symbolizer may not
	"$tools/tools/inject_call" --child "$(spawner)" setpriority 0 0 19 > "$WORK/called" & CHILDREN+=($!)
	start cpu_hog --threads $((2 * $(nproc)))
	await_log 60 "system call setpriority \\(.* of process [0-9]+ is not in policy/symbolizer.seccomp$"
	await 10 grep -qx 'result 0' "$WORK/called"
	await_log 60 'captured [0-9]+ stacks'
	# without injected calls, no process calls anything that its policy does not list
	run grep -Ehv ' (getpgid|setpriority) ' <(grep -Eh 'is not in policy' "$WORK"/{load,grant,daemon}.log)
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "a changed list of ELF directories asks for a restart, and holds from then on" {
	load
	rule idle 'comm = bdtest-1' 'cpu.some = 90%'
	write_settings
	daemon_start
	assert_gives 'errno EACCES' "$DAEMON" openat -100 str:/etc/passwd 0
	sed -i 's|^directories = .*|& /etc|' "$WORK/bourdon.conf"
	await_log 10 'directories = .* takes effect after a restart of bourdond'
	await_status 10 '[.problems[] | select(.remedy == "restart bourdond")] | length == 1'
	assert_gives 'errno EACCES' "$DAEMON" openat -100 str:/etc/passwd 0
	daemon_stop TERM
	daemon_start
	assert_gives 'result *' "$DAEMON" openat -100 str:/etc/passwd 0
	status_json | jq -e '[.problems[] | select(.remedy == "restart bourdond")] == []'
}
