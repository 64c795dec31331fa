#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Captures on demand: who may ask and for what, what they contain, and how they end. There is no rule in these tests, so
# whatever is a target is one because somebody asked.

source "$BATS_TEST_DIRNAME/lib.bash"

MEMBER=(setpriv --reuid 54321 --regid 54321 --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all)
STRANGER=(setpriv --reuid 54322 --regid 54322 --clear-groups --bounding-set=-all --inh-caps=-all)

setup() {
	bourdon_setup ondemand
	cgroup_make
	install -m 0755 "$BUILD/bourdon" "$WORK/bourdon"
}

teardown() {
	bourdon_teardown
	rm -f "${PERF_MAP-}"
}

# ask OPTION...: bourdon capture, as a member of the daemon's group
ask() {
	"${MEMBER[@]}" "$WORK/bourdon" --db "$DB" capture "$@"
}

# ask_behind OPTION...: the same in the background, ASKED, once it is recorded; its output goes to $WORK/asked.out and .err
ask_behind() {
	"${MEMBER[@]}" "$WORK/bourdon" --db "$DB" capture "$@" > "$WORK/asked.out" 2> "$WORK/asked.err" &
	ASKED=$!
	CHILDREN+=("$ASKED")
	await_status 30 '.captures | length == 1'
}

# answered: waits for the end of what was asked, and sets ASKED_STATUS
answered() {
	ASKED_STATUS=0
	wait "$ASKED" || ASKED_STATUS=$?
	cat "$WORK/asked.err" >&2
}

# has_run MS PID: whether the process has received so much CPU time
has_run() {
	(($(cpu_ms "$2") >= $1))
}

# run_for MS PID: waits until the process has received so much more
run_for() {
	await 300 has_run $(($(cpu_ms "$2") + $1)) "$2"
}

# refused_saying STATUS TEXT: what `run` ran failed with one line that has the text
refused_saying() {
	[ "$status" -eq "$1" ] || { echo "status $status: $output"; false; }
	[ "${#lines[@]}" -eq 1 ] || { echo "$output"; false; }
	[[ $output == *"$2"* ]] || { echo "$output"; false; }
}

# no_targets: whoever was wanted is wanted no more
no_targets() {
	await_status 30 '.daemon[0].targets == 0'
	[ "$(bpftool -j map dump pinned "$PIN_DIR/wanted")" = '[]' ]
}

# words NUMBER...: the bytes of 64-bit words, as bpftool takes them
words() {
	local word i
	for word; do
		for ((i = 0; i < 64; i += 8)); do printf '%d ' $((word >> i & 255)); done
	done
}

# forge_want PID: writes to the kernel's map, as a compromised daemon could, that the process is wanted for an hour
forge_want() {
	local uptime
	uptime=$(cut -d . -f 1 /proc/uptime)
	# shellcheck disable=SC2046 # WANTED_PROCESS and no bytes of a comm, in one word
	bpftool map update pinned "$PIN_DIR/wanted" key $(words 1 "$1" 0) value $(words $(((uptime + 3000) * 1000000000)) 0)
}

# is_target PID
is_target() {
	bpftool map lookup pinned "$PIN_DIR/targets" key $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 0 > /dev/null 2>&1
}

is_no_target() {
	! is_target "$1"
}

# start_denied: loads a policy that denies by comm and by uid, and starts a process of each: DENIED_COMM, DENIED_UID. They
# start first: until they execute, they are shells of root, which are not denied and would be sampled.
start_denied() {
	printf '%s\n' '[policy]' 'deny_uids = 54399' 'deny_comms = od-denied' > "$WORK/policy.conf"
	chmod 0755 "$WORK" # its directory must not be writable by others
	cp "$BUILD/workloads/three_hot" "$WORK/od-denied"
	cp "$BUILD/workloads/three_hot" "$WORK/three_hot"
	start_command "$WORK/od-denied"
	DENIED_COMM=$CHILD
	start_command setpriv --reuid 54399 --regid 54399 --clear-groups "$WORK/three_hot"
	DENIED_UID=$CHILD
	load --policy "$WORK/policy.conf"
	daemon_start
}

# within SHARE OTHER: whether they differ by 3 points at most
within() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b <= 3 && b - a <= 3) }'
}

@test "--pid reports the known shares of three functions, beside perf record -p, and its folded stacks are what SQL counts" {
	load --hz 997
	daemon_start
	start three_hot
	local perf=0 name known share by_perf
	ask_behind --pid "$CHILD" --for 1h --on-cpu --note 'three hot functions' --format folded
	if perf record -q -e cpu-clock -F 997 -o "$WORK/try.data" -- true > "$WORK/perf.log" 2>&1; then
		perf record -q -e cpu-clock -F 997 -p "$CHILD" -o "$WORK/perf.data" > "$WORK/perf.log" 2>&1 &
		perf=$!
		CHILDREN+=("$perf")
	fi
	run_for 5000 "$CHILD"
	kill -INT "$ASKED"
	answered
	[ "$ASKED_STATUS" -eq 0 ]
	if ((perf)); then
		kill -INT "$perf"
		wait "$perf" || true
		perf script -i "$WORK/perf.data" -F ip,sym 2> "$WORK/perf.log" | awk '{ print $2 }' | sort | uniq -c > "$WORK/perf.txt"
		cat "$WORK/perf.txt" >&2
	else
		echo "perf cannot run here, and is not compared: $(cat "$WORK/perf.log")" >&3
	fi
	sql 'SELECT function, samples, percent FROM hot_function LIMIT 5' >&2
	[ "$(sql 'SELECT sum(samples) > 3000 FROM sample')" = 1 ]
	# of what ran in the three: an emulated kernel takes its part
	while read -r name known; do
		share=$(sql "SELECT 100.0 * sum(samples) FILTER (WHERE function = '$name') / sum(samples) FROM hot_function
			WHERE function LIKE 'burn\_%' ESCAPE '\'")
		within "$share" "$known"
		if ((perf)); then
			by_perf=$(awk -v name="$name" '/ burn_/ { all += $1 } $2 == name { own = $1 } END { print 100 * own / all }' "$WORK/perf.txt")
			within "$by_perf" "$known"
			within "$share" "$by_perf"
		fi
	done <<< $'burn_half 50\nburn_third 33.3\nburn_sixth 16.7'
	[ "$(awk '{ sum += $NF } END { print sum }' "$WORK/asked.out")" = "$(sql "SELECT sum(samples) FROM sample WHERE kind = 'on-cpu'")" ]
	[ "$(sql "SELECT count(*) FROM sample WHERE kind <> 'on-cpu'")" = 0 ]
	[ "$(sql 'SELECT DISTINCT tgid, comm FROM sample JOIN process USING(process_id)')" = "$CHILD|three_hot" ]
	# nothing fired; who asked is who the kernel says
	[ "$(sql 'SELECT trigger_mode, rule_id, rule, resource, kind, stall_us, incident_id, asked_by_uid, note FROM capture')" = \
		'manual|||||||54321|three hot functions' ]
	[ "$(sql 'SELECT asked_for FROM capture')" = "--pid $CHILD --for 3600s --on-cpu" ]
	no_targets
}

@test "why, list and status say who asked and for what" {
	load
	daemon_start
	start three_hot
	"$BUILD/bourdon" --db "$DB" capture --pid "$CHILD" --for 1s --note $'a note\x1b[2J' > "$WORK/out"
	[[ $(< "$WORK/out") == "capture 1 is complete: 'bourdon why 1' explains it" ]]
	run "$BUILD/bourdon" --db "$DB" why --full
	echo "$output"
	[ "$status" -eq 0 ]
	# a verdict, whatever it is on this machine now
	[[ ${lines[0]} == [a-z]*': capture 1 on '* ]]
	[[ $output == *$'\n  short     nothing fired: root asked for --pid '"$CHILD"' --for 1s'$'\n'* ]]
	[[ $output == *$'\ncapture 1 (complete), on demand, '* ]]
	[[ $output == *$'\nasked for by root (uid 0)\n  options   --pid '"$CHILD"$' --for 1s\n  note      a note\\x1b[2J\n'* ]]
	[[ $output != *pressure* || $output != *threshold* ]]
	[[ $output == *'who used most CPU time, by program'* ]]
	[ "$("$BUILD/bourdon" --db "$DB" why --json | jq -r '.asked.asked_by, .asked.asked_by_uid, .capture.rule')" = $'root\n0\nnull' ]
	run "$BUILD/bourdon" --db "$DB" list
	[[ ${lines[1]} == *' on demand '*' manual '* ]] || { echo "$output"; false; }
	run "$BUILD/bourdon" --db "$DB" why --incident
	[ "$status" -eq 1 ]
	ask_behind --all --for 1h
	[[ $(status_json | jq -r '.captures[0].asked_by') == 'uid 54321' ]]
	[[ $("$BUILD/bourdon" --db "$DB" status) == *'asked for by uid 54321, '*' stacks so far'* ]]
	kill -INT "$ASKED"
	answered
	"$BUILD/bourdon" --db "$DB" db check
}

@test "--before has what a process did before anybody asked, though it was no target" {
	load --hz 97 --ring-size 8MiB # a ring holds a minute of a busy CPU
	daemon_start
	start three_hot
	run_for 1500 "$CHILD"
	ask --pid "$CHILD" --for 1s --before 60s
	sql 'SELECT second, kind, sum(samples) FROM sample GROUP BY 1, 2' >&2
	[ "$(sql 'SELECT DISTINCT tgid FROM sample JOIN process USING(process_id)')" = "$CHILD" ]
	[ "$(sql "SELECT sum(samples) > 100 FROM sample WHERE second < 0 AND kind = 'on-cpu'")" = 1 ]
	[ "$(sql "SELECT 100 * sum(samples) FILTER (WHERE function LIKE 'burn_%') >= 90 * sum(samples) FROM
		(SELECT s.samples, f.function FROM sample s JOIN stack_frame p ON p.stack_id = s.stack_id AND p.position = 0
			JOIN frame f USING(frame_id) WHERE s.second < 0)")" = 1 ]
	[ "$(sql 'SELECT history_ns BETWEEN 1 AND 60000000000 AND began_at = triggered_at - history_ns FROM capture')" = 1 ]
	# without --before it begins with the request
	ask --pid "$CHILD" --for 1s
	[ "$(sql 'SELECT count(*) FROM sample WHERE capture_id = 2 AND second < 0')" = 0 ]
}

@test "--comm covers the processes of that name, and those that get it meanwhile" {
	load
	daemon_start
	cp "$BUILD/workloads/three_hot" "$WORK/od-$$-a"
	cp "$BUILD/workloads/three_hot" "$WORK/od-$$-b"
	cp "$BUILD/workloads/three_hot" "$WORK/oe-$$"
	start_command "$WORK/od-$$-a"
	local first=$CHILD second
	start_command "$WORK/oe-$$"
	ask_behind --comm "od-$$-*" --for 1h
	start_command "$WORK/od-$$-b"
	second=$CHILD
	run_for 300 "$first"
	run_for 300 "$second"
	kill -INT "$ASKED"
	answered
	[ "$(sql 'SELECT DISTINCT tgid FROM sample JOIN process USING(process_id) ORDER BY 1')" = "$(printf '%s\n' "$first" "$second" | sort -n)" ]
	# one name alone
	ask --comm "oe-$$" --for 1s
	[ "$(sql 'SELECT DISTINCT comm FROM sample JOIN process USING(process_id) WHERE capture_id = 2')" = "oe-$$" ]
	no_targets
}

@test "--cgroup and --unit cover a cgroup and those below it, also those that are made meanwhile" {
	load
	mkdir "$CGROUP2/$CGROUP/demo.service" "$CGROUP2/$CGROUP/other.service"
	daemon_start
	local outside inside below
	CGROUP=$CGROUP/other.service start three_hot
	outside=$CHILD
	CGROUP=$CGROUP/demo.service start three_hot
	inside=$CHILD
	ask_behind --cgroup "/$CGROUP/demo.service" --for 1h
	mkdir "$CGROUP2/$CGROUP/demo.service/below"
	CGROUP=$CGROUP/demo.service/below start three_hot
	below=$CHILD
	run_for 300 "$inside"
	run_for 300 "$below"
	kill -INT "$ASKED"
	answered
	[ "$(sql 'SELECT DISTINCT tgid FROM sample JOIN process USING(process_id) ORDER BY 1')" = "$(printf '%s\n' "$inside" "$below" | sort -n)" ]
	[ "$(sql 'SELECT cgroup FROM capture')" = "/$CGROUP/demo.service" ]
	[ "$(sql "SELECT count(*) > 0 FROM pressure WHERE scope = '/$CGROUP/demo.service'")" = 1 ]
	ask --unit demo.service --for 2s
	[ "$(sql 'SELECT DISTINCT tgid FROM sample JOIN process USING(process_id) WHERE capture_id = 2 ORDER BY 1')" = \
		"$(printf '%s\n' "$inside" "$below" | sort -n)" ]
	[ "$(sql 'SELECT cgroup FROM capture WHERE capture_id = 2')" = "/$CGROUP/demo.service" ]
	[ "$(sql "SELECT count(*) > 0 FROM sample WHERE capture_id = 2 AND kind = 'off-cpu'")" = 1 ] # they are targets, then
	run ask --cgroup "/$CGROUP/none.service" --for 1s
	refused_saying 1 'there is no such cgroup'
	no_targets
	has_run 1 "$outside"
}

@test "--all covers every process, and --off-cpu has waiting alone" {
	load
	daemon_start
	start three_hot
	local hot=$CHILD
	start three_hot --rest 5
	local resting=$CHILD
	ask_behind --all --for 1h
	run_for 300 "$hot"
	run_for 20 "$resting"
	kill -INT "$ASKED"
	answered
	[ "$(sql "SELECT count(DISTINCT tgid) FROM sample JOIN process USING(process_id) WHERE tgid IN ($hot, $resting)")" = 2 ]
	[ "$(sql 'SELECT count(*) FROM other_sample WHERE role = "other"')" = 0 ]
	ask_behind --pid "$resting" --for 1h --off-cpu --format folded
	await_tables "$resting" # a wait has a whole stack from then on
	run_for 20 "$resting"
	kill -INT "$ASKED"
	answered
	cat "$WORK/asked.out" >&2
	[ "$(sql 'SELECT DISTINCT kind FROM sample WHERE capture_id = 2')" = off-cpu ]
	[ "$(sql 'SELECT count(*) FROM other_sample WHERE capture_id = 2')" = 0 ]
	[ "$(sql 'SELECT expected_samples IS NULL AND received_samples IS NULL FROM capture WHERE capture_id = 2')" = 1 ]
	# in microseconds: it slept in rest() for five times as long as it ran, or longer
	awk '/;main;rest;/ { sum += $NF } END { exit !(sum > 100000) }' "$WORK/asked.out"
	local all
	all=$(awk '{ sum += $NF } END { print sum }' "$WORK/asked.out")
	[ "$(sql "SELECT sum(weight_ns) / 1000 - $all BETWEEN 0 AND 1000 FROM sample WHERE capture_id = 2")" = 1 ]
	"$BUILD/bourdon" --db "$DB" folded --off-cpu 2 | diff - "$WORK/asked.out"
}

@test "Ctrl-C, and the end of the client, end a capture early and keep it" {
	load
	daemon_start
	start three_hot
	ask_behind --pid "$CHILD" --for 1h --format top
	run_for 500 "$CHILD"
	kill -INT "$ASKED"
	answered
	[ "$ASKED_STATUS" -eq 0 ]
	grep -q burn_half "$WORK/asked.out"
	ask_behind --pid "$CHILD" --for 1h
	run_for 500 "$CHILD"
	kill -KILL "$ASKED"
	answered
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
	[ "$(sql 'SELECT count(*) FROM capture WHERE ended_at - triggered_at < 3600000000000')" = 2 ]
	[ "$(sql 'SELECT count(*) FROM (SELECT capture_id FROM sample GROUP BY 1 HAVING sum(samples) > 10)')" = 2 ]
	no_targets
}

@test "a client that stops reading stops nobody else, and has its result when it goes on" {
	load
	daemon_start
	start_ahead "$BUILD/workloads/three_hot"
	ask_behind --pid "$CHILD" --for 2s --format folded
	kill -STOP "$ASKED"
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	ask --pid "$CHILD" --for 1s
	kill -CONT "$ASKED"
	answered
	[ "$ASKED_STATUS" -eq 0 ]
	grep -q burn_half "$WORK/asked.out"
}

@test "root's policy decides: what it denies cannot be asked for, and appears nowhere" {
	start_denied
	start three_hot
	run ask --pid "$DENIED_COMM" --for 1s
	refused_saying 1 "cannot capture process $DENIED_COMM: it does not exist, or root's policy denies it"
	run ask --pid "$CHILD" --pid "$DENIED_UID" --for 1s
	refused_saying 1 "cannot capture process $DENIED_UID: "
	run ask --comm od-denied --for 1s
	refused_saying 1 "root's policy denies processes of that name"
	ask_behind --all --for 1h --before 5s
	run_for 500 "$CHILD"
	kill -INT "$ASKED"
	answered
	ask --comm 'od-*' --for 1s --before 5s
	ask --cgroup "/$CGROUP" --for 1s --before 5s
	[ "$(sql "SELECT count(*) FROM process WHERE tgid IN ($DENIED_COMM, $DENIED_UID)")" = 0 ]
	[ "$(sql "SELECT count(*) FROM process WHERE tgid = $CHILD")" -gt 0 ]
	has_run 100 "$DENIED_COMM"
	has_run 100 "$DENIED_UID"
}

@test "a compromised daemon cannot make a target of whom root's policy denies, by the map of what is wanted" {
	start_denied
	start three_hot
	local allowed=$CHILD
	start three_hot
	ask_behind --pid "$CHILD" --for 1h # from now on there are keys of processes
	forge_want "$DENIED_COMM"
	forge_want "$DENIED_UID"
	is_no_target "$allowed"
	forge_want "$allowed"
	await 30 is_target "$allowed" # the walk of each second has met all of them
	is_target "$CHILD"
	is_no_target "$DENIED_COMM"
	is_no_target "$DENIED_UID"
	kill -INT "$ASKED"
	answered
	[ "$(sql 'SELECT DISTINCT tgid FROM sample JOIN process USING(process_id)')" = "$CHILD" ]
	[ "$(sql "SELECT count(*) FROM process WHERE tgid IN ($DENIED_COMM, $DENIED_UID)")" = 0 ]
}

@test "what cannot be captured is refused with one line" {
	load
	daemon_start
	start cpu_hog --threads 2
	local thread
	run ask --pid 4194304 --for 1s
	refused_saying 1 'no process 4194304: it has ended, or there was none'
	run ask --pid 2 --for 1s
	refused_saying 1 'cannot capture process 2: it is a kernel thread'
	thread=$(find "/proc/$CHILD/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vx "$CHILD" | head -n 1)
	run ask --pid "$thread" --for 1s
	refused_saying 1 "$thread is a thread of process $CHILD: give --pid $CHILD"
	[ "$(sql 'SELECT count(*) FROM capture')" = 0 ]
	daemon_stop TERM
	run ask --all --for 1s
	refused_saying 1 'no bourdond is running'
}

@test "who is not a member of the group may not ask, though the socket let him in" {
	load
	daemon_start
	run "${STRANGER[@]}" "$WORK/bourdon" --db "$DB" capture --all --for 1s
	refused_saying 1 'become a member of its group'
	chmod 0755 "$STATE_DIR"
	chmod 0666 "$STATE_DIR/bourdond.sock"
	run "${STRANGER[@]}" "$WORK/bourdon" --db "$DB" capture --all --for 1s
	refused_saying 1 "only root and members of bourdond's group may ask for captures"
	[ "$(status_json | jq '.counters[] | select(.name == "requests-refused").value')" = 1 ]
	[ "$(sql 'SELECT count(*) FROM capture')" = 0 ]
}

# processes_of_daemon COUNT: so many processes have the command line of a daemon with these pins.
processes_of_daemon() {
	[ "$(pgrep -c -f -- "--pin-dir $PIN_DIR")" -eq "$1" ]
}

@test "what the daemon has recorded when it ends is kept, and marked interrupted" {
	load
	daemon_start
	start three_hot
	ask_behind --pid "$CHILD" --for 1h
	run_for 500 "$CHILD"
	daemon_stop TERM
	answered
	[ "$ASKED_STATUS" -eq 1 ]
	grep -q 'bourdond is ending: what was recorded is kept' "$WORK/asked.err"
	[ "$(sql 'SELECT state FROM capture')" = interrupted ]
	[ "$(sql 'SELECT sum(samples) > 10 FROM sample')" = 1 ]
	[ "$(sql 'SELECT ended_at IS NOT NULL FROM run')" = 1 ]
	# sampling has stopped, although the workload still runs
	local before
	before=$(counter 0)
	run_for 500 "$CHILD"
	[ "$(counter 0)" -eq "$before" ]
	# killed, it keeps nothing but the row
	daemon_start
	ask_behind --pid "$CHILD" --for 1h
	await_sql 30 "SELECT count(*) FROM capture WHERE state = 'recording'" 1
	daemon_stop KILL
	answered
	[ "$ASKED_STATUS" -eq 1 ]
	grep -q 'the connection to bourdond has ended' "$WORK/asked.err"
	[ "$(bpftool -j map dump pinned "$PIN_DIR/wanted" | jq length)" = 1 ] # until its time
	daemon_start
	[ "$(sql 'SELECT DISTINCT state FROM capture')" = interrupted ]
	no_targets
	# the spawner of the killed daemon has ended, too
	await 10 processes_of_daemon 2
}

@test "the first capture of a program with a perf map has the names of its functions" {
	load
	daemon_start
	start_command node --perf-basic-prof -e 'function spinning(n) { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum }
		spinning(1e7); require("fs").writeSync(1, "ready\n"); for (;;) spinning(1e6)'
	PERF_MAP=/tmp/perf-$CHILD.map
	ask_behind --pid "$CHILD" --for 1h
	run_for 1000 "$CHILD"
	kill -INT "$ASKED"
	answered
	[ "$(sql "SELECT 100 * sum(samples) FILTER (WHERE EXISTS (SELECT 1 FROM stack_frame JOIN frame USING(frame_id)
		WHERE stack_id = s.stack_id AND function GLOB '*spinning*')) >= 90 * sum(samples) FROM sample s WHERE kind = 'on-cpu'")" = 1 ]
}
