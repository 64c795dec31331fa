# SPDX-License-Identifier: GPL-2.0-only
#
# An honest target beside an attack, and a monitor of the daemon. Source lib.bash before. A test does this:
#
#	load
#	daemon_start
#	honest_start            # before the attack or within it
#	honest_watch_begin
#	...                     # the attack goes on in the background; attackers have a cgroup of their own
#	honest_burn             # the target makes pressure and is captured; as often as the attack lasts
#	honest_run              # perhaps: another process, whose tables are made within the attack
#	honest_watch_end
#	honest_check            # fails with the figures that broke their limit
#
# and calls honest_end in teardown, before bourdon_teardown.
#
# The target has two threads on one CPU, so that its cgroup has CPU pressure whatever its neighbours do. Other
# programs take CPU time from it, so the samples that it should have follow from the CPU time that it counted itself.

HONEST_SECONDS=6    # of pressure in honest_burn
HONEST_CAPTURE=7    # seconds; from the trigger to behind the end of the pressure
HONEST_HISTORY=5    # seconds; to before the begin of the pressure, if the trigger is late
HONEST_COOLDOWN=9   # seconds; the pressure of one honest_burn is captured once
HONEST_TABLES=60    # seconds within which the target has its unwind tables
: "${HONEST_HEARTBEAT_MS:=$((2000 * PATIENCE))}" # at most, as are the following
: "${HONEST_STATUS_MS:=$((1000 * PATIENCE))}"
: "${HONEST_RSS_KIB:=32768}" # without the kernel's rings, whose size depends on the number of CPUs

# honest_start [LINE...]: starts the target, with a comm, a cgroup and a rule of its own, which has these lines,
# too. Waits until the daemon has the unwind tables of all its files.
honest_start() {
	HONEST=honest$BASHPID
	HONEST_CGROUP=$CGROUP/honest
	HONEST_CPU_NS=() # of each honest_burn
	HONEST_PIDS=()   # likewise
	HONEST_NEXT=0
	HONEST_PID=
	HONEST_TABLES_MS=0
	HONEST_MONITOR=
	mkdir -p "$CGROUP2/$HONEST_CGROUP"
	cp "$BUILD/workloads/unwind_honest" "$WORK/$HONEST"
	cp "$BUILD/workloads/unwind_honest_library.so" "$WORK"
	rule honest "comm = $HONEST" "cgroup = /$HONEST_CGROUP" 'cpu.some = 10%' "history = ${HONEST_HISTORY}s" \
		"capture = ${HONEST_CAPTURE}s" "cooldown = ${HONEST_COOLDOWN}s" "$@"
	await 10 honest_has_rule
	honest_run
}

# honest_run: starts the target's process. Called again, it first ends the one before: everything about the new process
# has to be found within the attack. HONEST_TABLES_MS is the longest time that this took.
honest_run() {
	local began
	[[ -z ${HONEST_PID-} ]] || stop "$HONEST_PID"
	began=$(date +%s%3N)
	CGROUP=$HONEST_CGROUP MEMORY_CGROUP='' start_command "$WORK/$HONEST" --burn "$HONEST_SECONDS"
	HONEST_PID=$CHILD
	HONEST_OUTPUT=$CHILD_OUTPUT
	await "$HONEST_TABLES" "$BUILD/tools/has_tables" "$PIN_DIR" "$HONEST_PID" > "$WORK/tables" || {
		echo "the honest target has no tables after $(($(date +%s%3N) - began)) ms: $(tail -n 1 "$WORK/tables")" >&2
		return 1
	}
	began=$(($(date +%s%3N) - began))
	((began <= HONEST_TABLES_MS)) || HONEST_TABLES_MS=$began
}

honest_has_rule() {
	status_json 2> /dev/null | jq -e '.rules | any(.name == "honest")' > /dev/null
}

# honest_burn: the target makes pressure for HONEST_SECONDS, once the cooldown of the last time is over. Returns
# when it has ended; its capture ends later.
honest_burn() {
	local line
	while ((SECONDS < HONEST_NEXT)); do sleep 0.2; done
	kill -USR1 "$HONEST_PID"
	IFS= read -r -t $((HONEST_SECONDS + LEAST_DEADLINE * PATIENCE)) -u "$HONEST_OUTPUT" line
	[[ $line =~ ^burnt\ cpu_ns=([0-9]+)$ ]] || { echo "the honest target said '$line'" >&2; return 1; }
	HONEST_CPU_NS+=("${BASH_REMATCH[1]}")
	HONEST_PIDS+=("$HONEST_PID")
	# a trigger comes at the latest when the pressure ends, or a window later
	HONEST_NEXT=$((SECONDS + HONEST_COOLDOWN + 3))
}

# honest_watch_begin: measures the daemon until honest_watch_end: the age of its heartbeat fifty times a second, how long
# `bourdon status` takes every second, its memory, and the CPU time of the daemon and its children, for which they get
# a cgroup of their own.
honest_watch_begin() {
	local pid line
	HONEST_DAEMON_CGROUP=$CGROUP2/$CGROUP-daemon
	mkdir "$HONEST_DAEMON_CGROUP"
	for pid in "$DAEMON" $(pgrep -P "$DAEMON"); do
		echo "$pid" > "$HONEST_DAEMON_CGROUP/cgroup.procs"
	done
	HONEST_USAGE_US=$(cgroup_cpu_us "$HONEST_DAEMON_CGROUP")
	HONEST_RINGS_KIB=$(awk '/^[0-9a-f]+-/ { ring = /bpf-map/ } $1 == "Rss:" && ring { all += $2 } END { print all + 0 }' "/proc/$DAEMON/smaps")
	exec {HONEST_MONITOR_OUTPUT}< <(exec "$BUILD/tools/watch_daemon" "$PIN_DIR" "$DAEMON" -- \
		"$BUILD/bourdon" --db "$DB" status 2>&1)
	HONEST_MONITOR=$!
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$HONEST_MONITOR_OUTPUT" line
	[[ $line == ready ]] || { echo "$line" >&2; return 1; }
}

# honest_watch_end: ends the measurement. HONEST_WATCHED has the figures, as watch_daemon prints them, and the CPU time
# in ms.
honest_watch_end() {
	local line
	kill -TERM "$HONEST_MONITOR" 2> /dev/null || true
	HONEST_WATCHED=
	while IFS= read -r -u "$HONEST_MONITOR_OUTPUT" line; do
		HONEST_WATCHED=$line # behind what `bourdon status` may have said
		[[ $line == heartbeat_ms=* ]] || echo "$line" >&2
	done
	exec {HONEST_MONITOR_OUTPUT}<&-
	wait "$HONEST_MONITOR" || true
	HONEST_MONITOR=
	HONEST_WATCHED+=" cpu_ms=$((($(cgroup_cpu_us "$HONEST_DAEMON_CGROUP") - HONEST_USAGE_US) / 1000))"
	[[ $HONEST_WATCHED == heartbeat_ms=* ]]
}

# honest_figure NAME: prints one of the figures
honest_figure() {
	[[ " $HONEST_WATCHED " =~ \ $1=([0-9]+)\  ]] && echo "${BASH_REMATCH[1]}"
}

# honest_within NAME UNIT LIMIT WHAT: fails and says so if the figure is above its limit.
honest_within() {
	local value
	value=$(honest_figure "$1_$2") || { echo "honest: no figure $1_$2 in: $HONEST_WATCHED"; return 1; }
	((value <= $3)) && return 0
	echo "honest: $4: $value $2, at most $3 $2 expected ($HONEST_WATCHED)"
	return 1
}

# honest_near COUNTED CPU_NS HZ SECONDS: so many samples are those of the CPU time within 5 % plus four standard
# deviations, because ticks fall at random times (none of them if the thread always runs). Prints what was expected.
honest_near() {
	awk -v counted="$1" -v ns="$2" -v hz="$3" -v seconds="$4" -v patience="$PATIENCE" 'BEGIN {
		expected = ns * hz / 1e9; share = ns / 1e9 / seconds
		if (share > 1) share = 1
		difference = counted > expected ? counted - expected : expected - counted
		printf "%.0f\n", expected
		exit !(patience > 1 || difference <= 2 + 0.05 * expected + 4 * sqrt(expected * (1 - share))) }'
}

# honest_captured: whether each honest_burn has its complete capture
honest_captured() {
	[[ $(sql "SELECT count(*) FROM capture WHERE rule = 'honest' AND state = 'complete'" 2>&1) == "${#HONEST_CPU_NS[@]}" ]]
}

# honest_stack: prints the pattern of its stacks, outermost function first.
honest_stack() {
	local libc='libc\.so\.6\+0x[0-9a-f]+' left levels=
	for ((left = 10; left > 0; left--)); do
		levels+=";level_$( ((left % 2)) && echo pushes || echo small)"
	done
	echo "(_*clone3|$libc);(start_thread|$libc);honest_thread;chain_descend$levels;honest_enter;honest_serve;honest_handle;honest_burn"
}

# honest_check_capture ID CPU_NS PID: checks one capture. Sets HONEST_HZ, and adds its samples to HONEST_COUNTED.
honest_check_capture() {
	local failed=0 hz verdict counted expected whole daemons stalled
	IFS='|' read -r hz verdict daemons < <(sql "SELECT hz, verdict, received_samples || ' of ' || expected_samples FROM capture WHERE capture_id = $1")
	[[ -n $verdict && $verdict != undetermined ]] || {
		echo "honest: capture $1: verdict: '$verdict', not examined: $(sql "SELECT not_examined FROM capture WHERE capture_id = $1")"
		sql "SELECT account, ns FROM account WHERE capture_id = $1"
		sql "SELECT wait, role, party, percent FROM blame_share WHERE capture_id = $1 ORDER BY ns DESC LIMIT 20"
		failed=1
	}
	counted=$(sql "SELECT ifnull(sum(samples), 0) FROM sample JOIN process USING(process_id)
		WHERE capture_id = $1 AND tgid = $3 AND kind = 'on-cpu'")
	# a total cannot grow by more than the time that passes; that of another cgroup is larger by hours
	stalled=$(sql "SELECT group_concat(scope || ' ' || resource || ' ' || grown, ', ') FROM (
		SELECT pressure.scope, pressure.resource, max(some_us) - min(some_us) AS grown, ended_at - triggered_at AS span
		FROM pressure JOIN capture USING(capture_id) WHERE capture_id = $1 GROUP BY pressure.scope, pressure.resource)
		WHERE grown > 2 * span / 1000") || stalled='no answer'
	[[ -z $stalled ]] || { echo "honest: capture $1: stalled for longer than it took: $stalled us"; failed=1; }
	expected=$(honest_near "$counted" "$2" "$hz" "$HONEST_SECONDS") || {
		echo "honest: capture $1: $counted samples, $expected expected of $(($2 / 1000000)) ms at $hz Hz"
		failed=1
	}
	HONEST_HZ=$hz
	# of 17 ms, beside two whole test runs, there may be no sample
	((HONEST_COUNTED += counted, counted > 0 || expected < 3)) || failed=1
	sql "SELECT sum(samples) || ' ' || unwinder || ' ' || ended || ' ' || ifnull(stack, '') FROM (
			SELECT s.samples, st.unwinder, ifnull(st.ended, 'none') AS ended, (
				SELECT group_concat(function, ';') FROM (
					SELECT f.function FROM stack_frame sf JOIN frame f USING(frame_id) JOIN module m USING(module_id)
					WHERE sf.stack_id = st.stack_id AND m.kind NOT IN ('kernel', 'module') AND NOT f.inlined
					ORDER BY sf.position DESC)) AS stack
			FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
			WHERE s.capture_id = $1 AND p.tgid = $3 AND s.kind = 'on-cpu')
		GROUP BY unwinder, ended, stack ORDER BY sum(samples) DESC" > "$WORK/honest.$1"
	whole=$(grep -E "^[0-9]+ eh-frame root $(honest_stack)\$" "$WORK/honest.$1" | awk '{ sum += $1 } END { print sum + 0 }')
	# a sample or two may be of the moments in which the threads wake and go back to sleep
	((counted - whole <= 2 + counted / 100)) || {
		echo "honest: capture $1: $whole of $counted stacks are whole, by tables, and named; the others:"
		grep -Ev "^[0-9]+ eh-frame root $(honest_stack)\$" "$WORK/honest.$1" | head -n 20
		failed=1
	}
	echo "honest: capture $1: $counted samples of $expected expected ($(($2 / 1000000)) ms; the daemon: $daemons), $whole whole and named, verdict: $verdict; losses:" \
		"$(sql "SELECT group_concat(reason || ' ' || events, ', ') FROM loss WHERE capture_id = $1 AND events > 0")"
	return "$failed"
}

# honest_check: the honest target's captures are complete, and the daemon kept its limits while it was watched. Prints
# each figure that broke. Call it when the attackers have ended or yield CPUs to naming. HONEST_COUNTED and HONEST_EXPECTED
# are the samples of all captures.
honest_check() {
	local failed=0 ids i cpu_ns=0
	HONEST_COUNTED=0
	((${#HONEST_CPU_NS[@]} > 0)) || { echo 'honest: honest_burn was not called'; failed=1; }
	await $((${NAMING-60} + 30)) honest_captured || {
		echo "honest: ${#HONEST_CPU_NS[@]} captures expected, but: $(sql "SELECT capture_id, state FROM capture WHERE rule = 'honest'" | tr '\n' ' ')"
		grep -F 'rule honest' "$WORK/daemon.log"
		failed=1
	}
	mapfile -t ids < <(sql "SELECT capture_id FROM capture WHERE rule = 'honest' ORDER BY triggered_at")
	for ((i = 0; i < ${#ids[@]} && i < ${#HONEST_CPU_NS[@]}; i++)); do
		honest_check_capture "${ids[i]}" "${HONEST_CPU_NS[i]}" "${HONEST_PIDS[i]}" || failed=1
		((cpu_ns += HONEST_CPU_NS[i]))
	done
	HONEST_EXPECTED=$(honest_near "$HONEST_COUNTED" "$cpu_ns" "${HONEST_HZ:-0}" $((i * HONEST_SECONDS + !i))) || {
		echo "honest: all captures together: $HONEST_COUNTED samples, $HONEST_EXPECTED expected"
		failed=1
	}
	honest_within heartbeat ms "$HONEST_HEARTBEAT_MS" 'the oldest heartbeat' || failed=1
	honest_within status ms "$HONEST_STATUS_MS" 'the slowest status' || failed=1
	honest_within rss kib $((HONEST_RSS_KIB + HONEST_RINGS_KIB)) "the daemon's memory, rings included" || failed=1
	honest_within peak kib $((HONEST_RSS_KIB + HONEST_RINGS_KIB)) "the daemon's memory at its peak, rings included" || failed=1
	(($(honest_figure statuses || echo 0) > 0)) || { echo "honest: no status was answered: $HONEST_WATCHED"; failed=1; }
	[[ $(honest_figure statuses_failed) == 0 ]] || { echo "honest: bourdon status failed: $HONEST_WATCHED"; failed=1; }
	echo "honest: tables after $HONEST_TABLES_MS ms; $HONEST_WATCHED"
	return "$failed"
}

# honest_end: ends the monitor, and removes the daemon's cgroup. Also after a failure; the daemon may still run.
honest_end() {
	[[ -z ${HONEST_MONITOR-} ]] || kill -TERM "$HONEST_MONITOR" 2> /dev/null || true
	[[ -n ${HONEST_DAEMON_CGROUP-} && -d $HONEST_DAEMON_CGROUP ]] || return 0
	await 5 honest_cgroup_removed
}

honest_cgroup_removed() {
	local pids pid
	mapfile -t pids < "$HONEST_DAEMON_CGROUP/cgroup.procs"
	for pid in "${pids[@]}"; do
		echo "$pid" > "$CGROUP2/cgroup.procs" || true # it may have ended
	done 2> /dev/null
	rmdir "$HONEST_DAEMON_CGROUP" 2> /dev/null
}
