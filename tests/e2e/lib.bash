# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the end-to-end tests, the demo and make bench: a private installation (directories of pins, run
# files, state and rules, a cgroup), functions that wait for an event, and the removal of everything.
#
# The machine need not be idle, and another run of the tests may be under way. So rules name the test's own
# cgroup and watch its pressure, a test waits for an event instead of a time, and the number of samples it
# expects follows from the CPU time that its processes received.

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BOURDON_BUILD:-$TREE/build} # make tsan has another
TOOLS=$BUILD/tools # of this version, also while a test sets BUILD to another
TEST_USER=nobody
TEST_GROUP=nogroup
# How many times slower this machine is than a real one, for example if it is emulated.
: "${PATIENCE:=1}"
# No deadline is shorter than this, because other programs may use the CPUs; a test that passes does not wait
# that long. A test that asserts a duration measures it itself.
LEAST_DEADLINE=60

# The texts of bourdon are as wide as the terminal, and 80 columns elsewhere: the same wherever tests run.
export COLUMNS=100

# bourdon_setup NAME: names and makes the directories. If bpffs is not mounted, the loader mounts it.
# tests/run.sh finds leftovers of a test by BOURDON_RUN.
bourdon_setup() {
	PIN_DIR=/sys/fs/bpf/bourdon_$1_${BOURDON_RUN-alone}_$$
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/bourdon-$1.XXXXXX")
	chmod 0711 "$WORK"
	RUN_DIR=$WORK/run
	STATE_DIR=$WORK/state
	RULES_DIR=$WORK/rules.d
	DB=$STATE_DIR/bourdon.db
	CGROUP2=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
	CGROUP=bourdon-$1-${BOURDON_RUN-alone}-$$
	DAEMON=
	CHILDREN=()
	GRANT_SOCKET=$WORK/grant.sock
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0750 "$STATE_DIR"
	install -d -m 0755 "$RULES_DIR"
	write_settings
	install -m 0644 /dev/null "$WORK/no-limits.conf"
}

# write_settings [LINE...]: writes bourdon.conf, with all directories whose ELF files the daemon may read:
# workloads are in $BUILD or, as copies, in $WORK. `naming` is 60 s (NAMING), because naming yields to other
# programs.
# shellcheck disable=SC2120 # other files pass lines
write_settings() {
	printf '%s\n' '[files]' "directories = /usr /lib /lib64 /bin /sbin /opt $BUILD $WORK" \
		"naming = $((${NAMING-60} * PATIENCE))s" "$@" > "$WORK/bourdon.conf"
}

# bourdon_teardown: removes everything that bourdon_setup, load and the functions below made, also after a
# failure. The workloads first: the log ends with the last symbolizer, which at nice 19 gets no CPU time beside them.
bourdon_teardown() {
	[[ -z $DAEMON ]] || kill -CONT "$DAEMON" 2> /dev/null || true # a failed test may have left it stopped
	children_end
	daemon_stop TERM
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" || true
	! mountpoint -q "$WORK/bpf" || umount "$WORK/bpf"
	! mountpoint -q "$RUN_DIR/bpf" || umount "$RUN_DIR/bpf"
	# bats goes on in a teardown after a failure
	local failed=0
	cgroup_remove || { echo "$CGROUP has processes that do not end" >&2; failed=1; }
	# whatever a test recorded, its rows alone give the verdict that bourdond wrote
	[[ ! -s ${DB-} ]] || ! "$BUILD/bourdon" --db "$DB" db check 2> /dev/null | grep 'is not what its rows say' >&2 || failed=1
	# a build with SECCOMP_LOG=1 names unlisted calls in these logs, which are removed with $WORK
	grep -hs 'is not in policy/' "$WORK"/*.log >&2 || true
	[[ -z ${KEEP_LOGS-} || ! -e $WORK/daemon.log ]] || cp "$WORK/daemon.log" "$KEEP_LOGS/${WORK##*/}.log"
	rm -rf "$WORK"
	return "$failed"
}

# private_bpffs MODE: puts the pins on a BPF file system of the test's own. systemd mounts /sys/fs/bpf with
# mode 0700, and run-bourdon-bpf.mount mounts its own with 0711.
private_bpffs() {
	mkdir "$WORK/bpf"
	mount -t bpf -o "mode=$1,nosuid,nodev,noexec" bpf "$WORK/bpf"
	PIN_DIR=$WORK/bpf/bourdon
}

# load OPTION...: with a policy that limits nothing, and not with that of the machine, unless an option names another
load() {
	[[ " $* " == *' --policy '* ]] || set -- --policy "$WORK/no-limits.conf" "$@"
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" "$@"
}

# load_targets_alone OPTION...: under a policy by which nobody else is sampled: other programs of the machine need no names
# and no unwind tables
load_targets_alone() {
	printf '%s\n' '[policy]' 'bystanders = no' 'kernel_threads = no' > "$WORK/targets-alone.conf"
	load --policy "$WORK/targets-alone.conf" "$@"
}

# rule NAME LINE...: writes the rule to a file of its own, by a rename, so that the daemon never reads half a
# file.
rule() {
	local name=$1
	shift
	printf '%s\n' "[rule $name]" "$@" > "$WORK/rule.new"
	mv "$WORK/rule.new" "$RULES_DIR/$name.conf"
}

# daemon_start [OPTION...]: starts bourdond and waits for its line "ready:". Its log goes to $WORK/daemon.log.
# DAEMON_BY=COMMAND... starts it by that command, which must exec it.
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

# assert_no_privilege PID: each thread of the process and of its children has no capability, cannot gain one, and has a
# seccomp filter.
assert_no_privilege() {
	local pid status text confined='CapInh: 0+ CapPrm: 0+ CapEff: 0+ CapBnd: 0+ CapAmb: 0+ NoNewPrivs: 1 Seccomp: 2 '
	confined=${confined// /[[:space:]]}
	for pid in "$1" $(pgrep -P "$1"); do
		for status in "/proc/$pid"/task/*/status; do
			# read at once: the file's lines move between two reads
			text=$(cat "$status" 2>/dev/null) || continue # the thread has ended
			[[ $text =~ $confined ]] || {
				echo "not confined: $text" >&2
				return 1
			}
		done
	done
}

# listens PATH: a process listens on that Unix socket; its file exists earlier. 00010000 is __SO_ACCEPTCON (proc(5)).
listens() {
	grep -q "^[^ ]* [^ ]* [^ ]* 00010000 .* $1\$" /proc/net/unix
}

# grant_start [OPTION...]: starts bourdon-grant for each connection, as its socket unit does, by the command GRANT_BY
# if that is set; log: $WORK/grant.log.
grant_start() {
	# shellcheck disable=SC2086 # words
	systemd-socket-activate --accept -l "$GRANT_SOCKET" ${GRANT_BY-} "$BUILD/bourdon-grant" --user "$TEST_USER" \
		--pin-dir "$PIN_DIR" --counters "$WORK/grants" "$@" 2> "$WORK/grant.log" &
	CHILDREN+=($!)
	until listens "$GRANT_SOCKET"; do sleep 0.05; done
	chown "$TEST_USER" "$GRANT_SOCKET"
}

# counted GRANTED REFUSED: whether the counters show these numbers. bourdon-grant counts after it has
# answered.
counted() {
	[[ $(sed 's/ 0*\([0-9]\)/ \1/; 2q' "$WORK/grants") == "granted $1"$'\n'"refused $2" ]]
}

# deadline SECONDS: sets DEADLINE to that many seconds from now on an idle machine, in terms of $SECONDS.
deadline() {
	DEADLINE=$((SECONDS + ($1 > LEAST_DEADLINE ? $1 : LEAST_DEADLINE) * PATIENCE))
}

# await SECONDS COMMAND...: repeats the command until it succeeds; fails at the deadline.
await() {
	local DEADLINE
	deadline "$1"
	until "${@:2}"; do
		((SECONDS <= DEADLINE)) || return 1
		sleep 0.1
	done
}

# status_json: prints the status of the daemon.
status_json() {
	"$BUILD/bourdon" --db "$DB" status --json
}

# await_status SECONDS JQ-EXPRESSION: waits until the expression is true of the status. One process asks each tenth of a
# second.
await_status() {
	local DEADLINE
	deadline "$1"
	"$TOOLS/await_status" "$DB" $((DEADLINE - SECONDS)) "$2"
}

# capture_begin OPTION...: asks for a capture, ASKED, and waits until it is recorded. It lasts until capture_end
capture_begin() {
	local before
	before=$(status_json | jq '.captures | length')
	"$BUILD/bourdon" --db "$DB" capture --for 1h "$@" > "$WORK/capture.out" 2>&1 &
	ASKED=$!
	CHILDREN+=("$ASKED")
	await_status 30 ".captures | length == $((before + 1))"
}

# capture_end [PID]: ends what was asked last, or by this process
capture_end() {
	kill -INT "${1:-$ASKED}"
	wait "${1:-$ASKED}" || { cat "$WORK/capture.out" >&2; false; }
}

# entry TGID: prints the element of unwind_procs for the process, if there is one
entry() {
	bpftool map lookup pinned "$PIN_DIR/unwind_procs" key $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 0 \
		2>/dev/null | jq -c '.value // empty'
}

# have_tables PID...: whether each of these processes has unwind tables.
have_tables() {
	local pid
	for pid; do
		[[ $(entry "$pid" | jq '.count > 0') == true ]] || return 1
	done
}

# is_listed TGID: whether the bystander was sampled often enough for its mappings to be asked for
is_listed() {
	bpftool map lookup pinned "$PIN_DIR/bystanders" \
		key $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 0 2> /dev/null | jq -e '.value.samples >= 8' > /dev/null 2>&1
}

# await_tables [PID...]: waits until these processes have their unwind tables, or without PID all targets. Name the
# processes if a rule is for every comm: its targets come and go, and bourdon status is one of them.
await_tables() {
	if (($# > 0)); then
		await 60 have_tables "$@"
		await_status 60 '.unwind[0].pending == 0'
	else
		await_status 60 '.unwind[0].bytes_max == 0 or .daemon[0].targets > 0 and .unwind[0].processes == .daemon[0].targets and .unwind[0].pending == 0'
	fi
}

# await_log SECONDS PATTERN: reads the daemon's log up to a line that matches, LOG_LINE; fails at the
# deadline.
await_log() {
	local DEADLINE line
	deadline "$1"
	while ((SECONDS <= DEADLINE)); do
		if ! IFS= read -r -t $((DEADLINE - SECONDS + 1)) -u "$DAEMON_LOG" line; then
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

# daemon_stop SIGNAL: ends the daemon if it runs, and sets DAEMON_STATUS to its exit status.
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

# cgroup_make [BYTES]: makes the test's cgroup, with this memory limit: in cgroup2 or, if cgroup2 has no
# memory controller, in a cgroup of version 1 beside it.
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
	local directory kept=0
	# what the workloads had begun and not ended, too
	[[ ! -e $CGROUP2/$CGROUP/cgroup.kill ]] || echo 1 > "$CGROUP2/$CGROUP/cgroup.kill"
	for directory in "$CGROUP2/$CGROUP" "${MEMORY_CGROUP-}"; do
		# a killed process leaves its cgroup when it gets a CPU
		[[ -z $directory ]] || await 60 remove_cgroups "$directory" || kept=1
	done
	return "$kept"
}

# remove_cgroups DIRECTORY: whether it and all cgroups below it are gone
remove_cgroups() {
	[[ ! -d $1 ]] || find "$1" -depth -type d -delete 2> /dev/null
}

# start WORKLOAD ARGUMENT...: runs a workload in the test's cgroup and waits for its line "ready", CHILD_LINE.
# Sets CHILD to its pid; CHILD_OUTPUT reads its further lines. ON_CPU=N pins it to that CPU.
start() {
	start_command "$BUILD/workloads/$1" "${@:2}"
}

# own_workload WORKLOAD: copies the workload to a comm that no other process of the machine has, OWN. Start it
# by start_command "$WORK/$OWN". For tests that count targets: a comm matches processes of other test runs, too.
own_workload() {
	OWN=${1:0:3}$BASHPID
	cp "$BUILD/workloads/$1" "$WORK/$OWN"
}

# start_command COMMAND ARGUMENT...: the same for any command, which must become a workload. It gives way to what tests wait
# for: most workloads take all CPU time that they get, and get the less of it the more files run side by side.
start_command() {
	exec {CHILD_OUTPUT}< <(
		renice -n 5 -p "$BASHPID" > /dev/null
		# before it enters the cgroup, in which rules would see taskset, too
		[[ -z ${ON_CPU-} ]] || taskset -p -c "$ON_CPU" "$BASHPID" > /dev/null
		echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
		[[ -z ${MEMORY_CGROUP-} ]] || echo "$BASHPID" > "$MEMORY_CGROUP/cgroup.procs"
		exec "$@"
	)
	CHILD=$!
	CHILDREN+=("$CHILD")
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" CHILD_LINE
	[[ $CHILD_LINE == ready* ]]
}

# start_ahead COMMAND ARGUMENT...: the same for one that gets most of the CPU time that it asks for, whatever else runs on the
# machine. It has a session of its own, because the kernel gives each session the same part of a CPU.
start_ahead() {
	start_command setsid nice -n -8 "$@"
	go_ahead "$CHILD" -8
}

# go_ahead PID NICE: the session of the process goes before the others by so much, as well as the process does
go_ahead() {
	# the kernel keeps this for a session: in that of the tests, all later ones would go ahead as well
	(($(ps -o sid= -p "$1") != $(ps -o sid= -p "$BASHPID"))) || { echo "process $1 has no session of its own" >&2; return 1; }
	renice -n "$2" -p "$1" > /dev/null
	[[ ! -e /proc/$1/autogroup ]] || echo "$2" > "/proc/$1/autogroup"
}

# BY_CONNECTION PROGRAM...: a command that prints "ready PORT", and becomes the program when somebody has connected to that port
# of this host: the connection is the program's standard input.
# shellcheck disable=SC2034 # tests use it
BY_CONNECTION=(python3 -c 'import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
os.dup2(connection.fileno(), 0)
os.execv(sys.argv[1], sys.argv[1:])')

# has_epochs: whether samples have the kernel's count of changes of their address space (Linux 6.4)
has_epochs() {
	bpftool btf dump file /sys/kernel/btf/vmlinux | grep -q "'mm_lock_seq'"
}

# children_end: kills all remaining workloads.
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

# recording_ends PATTERN: waits until a line of the log has the pattern, "fired", and no capture is recorded any more.
recording_ends() {
	await_log 30 "$1"
	await_status 60 '.captures | length == 0'
}

# recorded: waits until a rule has fired and its capture has ended, and ends the workloads, because naming
# yields to them.
recorded() {
	recording_ends fired
	children_end
}

# sql STATEMENT [DATABASE]: runs the statement as a reader of the database.
sql() {
	sqlite3 -readonly -separator '|' "${2-$DB}" "$1"
}

# make_tables DATABASE: makes a database without rows.
make_tables() {
	{
		cat "$TREE/common/store/schema.sql"
		sed -n 's/^#define SCHEMA_APPLICATION_ID \(0x[0-9a-f]*\).*/PRAGMA application_id = \1;/p; s/^#define SCHEMA_VERSION \(.*\)/PRAGMA user_version = \1;/p' \
			"$TREE/common/store/schema.h"
	} | sqlite3 "$1"
}

# await_sql SECONDS STATEMENT RESULT: waits until the statement gives this result.
await_sql() {
	local DEADLINE
	deadline "$1"
	while [[ $(sql "$2" 2>&1) != "$3" ]]; do
		if ((SECONDS > DEADLINE)); then
			echo "'$2' is not '$3': $(sql "$2" 2>&1)" >&2
			return 1
		fi
		sleep 0.1
	done
}

# counter KEY: prints a counter of the BPF programs (COUNTER_* of common/abi/abi.h), summed over all CPUs.
counter() {
	bpftool -j map dump pinned "$PIN_DIR/counters" | jq --argjson key "$1" \
		'[.[] | select(.formatted.key == $key).formatted.values[].value] | add'
}

# cpu_ms PID: prints the CPU time, in ms, that all threads of the process have received so far.
cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / hz) }' "/proc/$1/stat"
}

# ran_ns PID: prints the CPU time, in ns, that its main thread has received so far.
ran_ns() {
	awk '{ print $1 }' "/proc/$1/schedstat"
}

# has_run_until PID MS: whether it has received so much CPU time in all.
has_run_until() {
	(($(cpu_ms "$1") >= $2))
}

# await_cpu PID MS: waits until the process has received so much more CPU time.
await_cpu() {
	await 60 has_run_until "$1" $(($(cpu_ms "$1") + $2))
}

# cgroup_cpu_us DIRECTORY: prints the CPU time, in us, that the cgroup's processes have received so far.
cgroup_cpu_us() {
	awk '/^usage_usec/ { print $2 }' "$1/cpu.stat"
}

# busy_ms: prints the CPU time, in ms, that all processes of the machine have received so far.
busy_ms() {
	awk -v hz="$(getconf CLK_TCK)" '/^cpu / { print int(($2 + $3 + $4 + $7 + $8) * 1000 / hz) }' /proc/stat
}

# with_sysctl NAME VALUE COMMAND...: runs the command under that kernel setting, and restores the setting.
with_sysctl() {
	local path=/proc/sys/${1//.//} value=$2 before status=0
	before=$(< "$path")
	shift 2
	echo "$value" > "$path"
	"$@" || status=$?
	echo "$before" > "$path"
	return "$status"
}
