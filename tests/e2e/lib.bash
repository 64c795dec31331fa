# SPDX-License-Identifier: GPL-2.0-only
#
# What the end-to-end tests, the demo and make bench share: an installation of its own (pins, run, state and
# rules directories, a cgroup), awaiting log lines, and taking all of it away again.

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$TREE/build
TEST_USER=nobody
TEST_GROUP=nogroup
# How many times as long as here a slow machine, such as an emulated one, may take for what is awaited.
: "${PATIENCE:=1}"

# bourdon_setup NAME: names and makes the directories. The loader mounts bpffs itself where nobody did.
bourdon_setup() {
	PIN_DIR=/sys/fs/bpf/bourdon_$1_$$
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/bourdon-$1.XXXXXX")
	chmod 0711 "$WORK"
	RUN_DIR=$WORK/run
	STATE_DIR=$WORK/state
	RULES_DIR=$WORK/rules.d
	DB=$STATE_DIR/bourdon.db
	CGROUP2=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
	CGROUP=bourdon-$1-$$
	DAEMON=
	CHILDREN=()
	GRANT_SOCKET=$WORK/grant.sock
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0750 "$STATE_DIR"
	install -d -m 0755 "$RULES_DIR"
	# the workloads are ELF files of this tree, or copies of them in $WORK
	write_settings
}

# write_settings [LINE...]: bourdon.conf, which must name the directories of all ELF files that the daemon may read.
# shellcheck disable=SC2120 # other files give it some
write_settings() {
	printf '%s\n' '[files]' "directories = /usr /lib /lib64 /bin /sbin /opt $BUILD $WORK" \
		"naming = $((20 * PATIENCE))s" "$@" > "$WORK/bourdon.conf"
}

# bourdon_teardown: what setup, load and the functions below made is gone afterwards, whatever happened.
bourdon_teardown() {
	[[ -z $DAEMON ]] || kill -CONT "$DAEMON" 2> /dev/null || true # a test may have failed while it was stopped
	daemon_stop TERM
	children_end
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" || true
	! mountpoint -q "$WORK/bpf" || umount "$WORK/bpf"
	cgroup_remove
	# a build with SECCOMP_LOG=1 has named them in logs that go with $WORK
	grep -hs 'is not in policy/' "$WORK"/*.log >&2 || true
	rm -rf "$WORK"
}

# private_bpffs MODE: the pins are on a file system of the test's own; 0700 is what systemd gives /sys/fs/bpf, 0711
# run-bourdon-bpf.mount its own.
private_bpffs() {
	mkdir "$WORK/bpf"
	mount -t bpf -o "mode=$1,nosuid,nodev,noexec" bpf "$WORK/bpf"
	PIN_DIR=$WORK/bpf/bourdon
}

load() {
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" "$@"
}

# rule NAME LINE...: a file of its own in the rules directory.
rule() {
	local name=$1
	shift
	printf '%s\n' "[rule $name]" "$@" > "$RULES_DIR/$name.conf"
}

# daemon_start [OPTION...]: starts bourdond and awaits that it is ready. Its log is in $WORK/daemon.log, too. DAEMON_BY=
# COMMAND...: which then starts it, and which execs.
daemon_start() {
	# shellcheck disable=SC2086
	exec {DAEMON_LOG}< <(exec ${DAEMON_BY-} "$BUILD/bourdond" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" \
		--state-dir "$STATE_DIR" --rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf" \
		--grant-socket "$GRANT_SOCKET" --user "$TEST_USER" --group "$TEST_GROUP" "$@" 2>&1)
	DAEMON=$!
	await_log 10 'confined: Landlock version [1-9][0-9]*, other system calls: '"${SECCOMP:-kill}"
	await_log 10 'ready:'
	assert_no_privilege "$DAEMON"
}

# assert_no_privilege PID: every thread of it and of its children has no capability, nor a way to any, and a filter.
assert_no_privilege() {
	local pid status text confined='CapInh: 0+ CapPrm: 0+ CapEff: 0+ CapBnd: 0+ CapAmb: 0+ NoNewPrivs: 1 Seccomp: 2 '
	confined=${confined// /[[:space:]]}
	for pid in "$1" $(pgrep -P "$1"); do
		for status in "/proc/$pid"/task/*/status; do
			# all of it at once: lines are no such units there, the numbers before them change
			text=$(cat "$status" 2>/dev/null) || continue # it has ended
			[[ $text =~ $confined ]] || {
				echo "not confined: $text" >&2
				return 1
			}
		done
	done
}

# grant_start [OPTION...]: bourdon-grant behind its socket, as a socket unit starts it. Its log is $WORK/grant.log.
grant_start() {
	systemd-socket-activate --accept -l "$GRANT_SOCKET" "$BUILD/bourdon-grant" --user "$TEST_USER" \
		--pin-dir "$PIN_DIR" --counters "$WORK/grants" "$@" 2> "$WORK/grant.log" &
	CHILDREN+=($!)
	until [[ -S $GRANT_SOCKET ]]; do sleep 0.05; done
	chown "$TEST_USER" "$GRANT_SOCKET"
}

# counted GRANTED REFUSED: by grant_start()'s, which count when they have answered.
counted() {
	[[ $(sed 's/ 0*\([0-9]\)/ \1/' "$WORK/grants") == "granted $1"$'\n'"refused $2" ]]
}

# await SECONDS COMMAND...: until it succeeds.
await() {
	local deadline=$((SECONDS + $1 * PATIENCE))
	until "${@:2}"; do
		((SECONDS <= deadline)) || return 1
		sleep 0.1
	done
}

# status_json: what the daemon says of itself.
status_json() {
	"$BUILD/bourdon" --db "$DB" status --json
}

# await_status SECONDS JQ-EXPRESSION: until it is true of the status.
await_status() {
	local deadline=$((SECONDS + $1 * PATIENCE))
	until status_json 2>/dev/null | jq -e "$2" > /dev/null; do
		if ((SECONDS > deadline)); then
			echo "'$2' is not true of:" >&2
			status_json >&2
			return 1
		fi
		sleep 0.1
	done
}

# await_tables: until what the targets map has its tables for unwinding.
await_tables() {
	await_status 60 '.unwind[0].bytes_max == 0 or .daemon[0].targets > 0 and .unwind[0].processes == .daemon[0].targets and .unwind[0].pending == 0'
}

# await_log SECONDS PATTERN: reads the daemon's log up to a line that matches; fails when none comes.
await_log() {
	local deadline=$((SECONDS + $1 * PATIENCE)) line
	while ((SECONDS <= deadline)); do
		if ! IFS= read -r -t $((deadline - SECONDS + 1)) -u "$DAEMON_LOG" line; then
			break
		fi
		printf '%s\n' "$line" >> "$WORK/daemon.log"
		if [[ $line =~ $2 ]]; then
			LOG_LINE=$line
			return 0
		fi
	done
	echo "no line like '$2' in the daemon's log:" >&2
	cat "$WORK/daemon.log" >&2
	return 1
}

# daemon_stop SIGNAL: ends the daemon, if there is one, and sets DAEMON_STATUS to how it ended.
daemon_stop() {
	[[ -n $DAEMON ]] || return 0
	kill "-$1" "$DAEMON" 2>/dev/null || true
	daemon_wait
}

daemon_wait() {
	DAEMON_STATUS=0
	wait "$DAEMON" || DAEMON_STATUS=$?
	cat <&"$DAEMON_LOG" >> "$WORK/daemon.log"
	exec {DAEMON_LOG}<&-
	DAEMON=
}

# cgroup_make [v1-memory-limit]: a cgroup of our own; a memory limit where the hierarchy has one.
cgroup_make() {
	mkdir -p "$CGROUP2/$CGROUP"
	MEMORY_CGROUP=
	[[ -n ${1-} ]] || return 0
	if [[ -e $CGROUP2/$CGROUP/memory.max ]]; then
		echo "$1" > "$CGROUP2/$CGROUP/memory.max"
	else
		MEMORY_CGROUP=$(findmnt -n -o TARGET -t cgroup -O memory | head -n 1)/$CGROUP
		mkdir -p "$MEMORY_CGROUP"
		echo "$1" > "$MEMORY_CGROUP/memory.limit_in_bytes"
	fi
}

cgroup_remove() {
	local directory
	for directory in "$CGROUP2/$CGROUP" "${MEMORY_CGROUP-}"; do
		[[ -n $directory && -d $directory ]] || continue
		# a process that was killed leaves its cgroup when it is gone for good
		for _ in {1..100}; do
			find "$directory" -depth -type d -exec rmdir {} \; 2>/dev/null
			[[ -d $directory ]] || break
			sleep 0.05
		done
	done
}

# start WORKLOAD ARGUMENT...: runs a workload in our cgroup, awaits that it works; its pid is in CHILD, its first line in
# CHILD_LINE, and what it says from then on can be read from CHILD_OUTPUT. ON_CPU=N: pinned.
start() {
	start_command "$BUILD/workloads/$1" "${@:2}"
}

# start_command COMMAND ARGUMENT...: the same with any command that becomes a workload.
start_command() {
	exec {CHILD_OUTPUT}< <(
		echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
		[[ -z ${MEMORY_CGROUP-} ]] || echo "$BASHPID" > "$MEMORY_CGROUP/cgroup.procs"
		[[ -z ${ON_CPU-} ]] || taskset -p -c "$ON_CPU" "$BASHPID" > /dev/null
		exec "$@"
	)
	CHILD=$!
	CHILDREN+=("$CHILD")
	IFS= read -r -t $((20 * PATIENCE)) -u "$CHILD_OUTPUT" CHILD_LINE
	[[ $CHILD_LINE == ready* ]]
}

# children_end: ends all workloads that are left, whatever they are doing.
children_end() {
	local pid
	for pid in "${CHILDREN[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	CHILDREN=()
}

# stop PID: ends a workload.
stop() {
	kill -TERM "$1"
	wait "$1" || true
}

# sql STATEMENT [DATABASE]: as a reader would.
sql() {
	sqlite3 -readonly -separator '|' "${2-$DB}" "$1"
}

# await_sql SECONDS STATEMENT RESULT: until a reader sees that. A database has no event to wait for.
await_sql() {
	local deadline=$((SECONDS + $1 * PATIENCE))
	while [[ $(sql "$2" 2>&1) != "$3" ]]; do
		if ((SECONDS > deadline)); then
			echo "'$2' is not '$3': $(sql "$2" 2>&1)" >&2
			return 1
		fi
		sleep 0.1
	done
}

# counter KEY: of the kernel programs (COUNTER_* of common/abi.h), all CPUs together.
counter() {
	bpftool -j map dump pinned "$PIN_DIR/counters" | jq --argjson key "$1" \
		'[.[] | select(.formatted.key == $key).formatted.values[].value] | add'
}

# with_sysctl NAME VALUE COMMAND...: runs it under that setting of the kernel, which is as before afterwards.
with_sysctl() {
	local path=/proc/sys/${1//.//} value=$2 before status=0
	before=$(< "$path")
	shift 2
	echo "$value" > "$path"
	"$@" || status=$?
	echo "$before" > "$path"
	return "$status"
}
