#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what many watches and many processes cost, and how long these take: arming, reloading, from an exec
# to a target, from a crossed threshold to a capture, and a walk over all processes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

SCALE_CGROUPS=${BENCH_CGROUPS:-1000}
SCALE_PROCESSES=$((10 * SCALE_CGROUPS))
SCALE_WATCHES=$((3 * SCALE_CGROUPS))
SCALE_SECONDS=$((IDLE_SECONDS < 20 ? 20 : IDLE_SECONDS))
LOAD_EXECS=2000 # execs a second
OTHER_RULES=49
EXECS=$((ROUNDS * 150))
STALL_US=400000 # 20 % of the default window of 2 s

# since MICROSECONDS: prints the ms from then (EPOCHREALTIME without its point) until now.
since() {
	calc "(${EPOCHREALTIME/./} - $1) / 1e3"
}

# counter NAME: prints a counter of the kernel programs or the daemon.
counter() {
	status_json | jq ".counters[] | select(.name == \"$1\").value"
}

# percentiles UNIT-IN-NS UNIT: prints "median UNIT (99 %: N)" of the ns on standard input.
percentiles() {
	sort -g | awk -v unit_ns="$1" -v unit="$2" '{ all[NR] = $1 / unit_ns } END {
		if (!NR) exit 1
		middle = NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2
		printf "%.0f %s (99 %%: %.0f %s)\n", middle, unit, all[int((NR - 1) * 0.99) + 1], unit }'
}

# ---- many watches ----

# scale MODE: measures a daemon with all watches, kernel or sampled.
scale() {
	local began
	load --targets 16384
	many_watches
	rule many 'comm = sleepers' 'cpu.some = 90%' 'memory.some = 90%' 'io.some = 90%'
	began=${EPOCHREALTIME/./}
	daemon_start
	echo "ready_ms=$(since "$began")" > "$WORK/scale-$1"
	await_watching "$SCALE_PROCESSES" "$SCALE_WATCHES"
	if [[ $1 == kernel ]]; then
		await_grants "$SCALE_WATCHES"
		echo "armed_ms=$(calc "(${GRANTED_AT/./} - $began) / 1e3")" >> "$WORK/scale-$1"
	fi
	sleep 3
	doing "$1: $SCALE_SECONDS s"
	at_rest "$SCALE_SECONDS" >> "$WORK/scale-$1"
	echo "events_lost=$(counter events-lost)" >> "$WORK/scale-$1"
	[[ $1 == kernel ]] || walks
	disarm
}

# walks: measures walks by the iterator and by /proc, while all processes are targets.
walks() {
	doing 'walks'
	"$BUILD/bench/walks" --pin-dir "$PIN_DIR" --rounds $((3 * ROUNDS)) > "$WORK/walks"
}

# scale_of MODE NAME: prints a number measured by scale.
scale_of() {
	value "$2" < "$WORK/scale-$1"
}

scale_rows() {
	local mode=$1 what percent
	what="$SCALE_WATCHES $mode watches, $SCALE_PROCESSES targets"
	percent=$(calc "$(scale_of "$mode" cpu_ns) / $SCALE_SECONDS / 1e7")
	row "$what: start to ready" "$(printf '%.0f ms' "$(scale_of "$mode" ready_ms)")"
	if [[ $mode == kernel ]]; then
		row "$what: start to all armed" "$(printf '%.1f s' "$(calc "$(scale_of kernel armed_ms) / 1000")")"
		row "$what: CPU at rest" "$(printf '%.3f %%' "$percent")"
	else # budget: 3 us a second for each watch, plus 0.02 %
		row_at_most "$what: CPU at rest" "$(printf '%.3f %%' "$percent")" "$percent" \
			"$(calc "0.02 + 3e-4 * $SCALE_WATCHES")" '% of a core'
	fi
	row_at_most "$what: wake-ups" "$(printf '%.1f /s' "$(calc "$(scale_of "$mode" wakeups) / $SCALE_SECONDS")")" \
		"$(printf '%.1f' "$(calc "$(scale_of "$mode" wakeups) / $SCALE_SECONDS")")" 1 '/s'
	row "$what: RSS without rings" "$(printf '%.1f MiB' "$(calc "$(scale_of "$mode" rss_kib) / 1024")")"
	row "$what: descriptors; events lost" "$(scale_of "$mode" fds); $(scale_of "$mode" events_lost)"
}

walk_rows() {
	local ratio
	ratio=$(awk '{ split($1, ours, "="); split($3, theirs, "="); print theirs[2] / ours[2] }' "$WORK/walks" | median)
	row_at_least "a walk of $(value iterator_processes < "$WORK/walks" | median) processes (reference: /proc), so much cheaper" \
		"$(value iterator_ns < "$WORK/walks" | awk '{ print $1 / 1e6 }' | spread 2 ms)" "$ratio" 10 \
		"times; /proc: $(value proc_ns < "$WORK/walks" | awk '{ print $1 / 1e6 }' | spread 0 ms)"
}

measure_scale() {
	spawn "$SCALE_CGROUPS" 10
	grant_start
	scale kernel
	GRANT_SOCKET=$WORK/nobody.sock
	scale sampled
	children_end
	scale_rows kernel
	scale_rows sampled
	walk_rows
}

# ---- reloads ----

# reload: changes comm and threshold of one rule; prints the ms from SIGHUP to the log line.
variant=1
reload() {
	local began
	variant=$((3 - variant))
	printf '%s\n' '[rule changing]' "comm = changing-$variant" "cpu.some = 9$variant%" > "$WORK/changing"
	mv "$WORK/changing" "$RULES_DIR/changing.conf"
	began=${EPOCHREALTIME/./}
	kill -HUP "$DAEMON"
	await_log 20 'reloaded:'
	since "$began"
	sleep 0.3
}

# reloads NAME: measures a series of reloads.
reloads() {
	local round
	doing "reloads, $1"
	for ((round = 1; round <= 3 * ROUNDS; round++)); do
		reload
	done > "$WORK/reloads-$1"
}

measure_reloads() {
	local i load matches lost stale full
	spawn 100 10
	load
	for ((i = 2; i <= OTHER_RULES; i++)); do
		rule "other-$i" "comm = other-$i" 'cgroup = /other/*' 'cpu.some = 90%' 'io.some = 90%'
	done
	rule many 'comm = sleepers' 'cpu.some = 90%'
	quiet_rule child exec_child
	daemon_start
	reloads quiet
	matches=$(counter matches) lost=$(counter events-lost) stale=$(counter stale-events) full=$(counter targets-full)
	"$BUILD/bench/exec_load" "$BUILD/bench/exec_child" --rate "$LOAD_EXECS" > "$WORK/execs" &
	load=$!
	CHILDREN+=("$load")
	sleep 1
	reloads loaded
	kill -TERM "$load"
	wait "$load"
	sleep 1 # the last child has started
	matches=$(($(counter matches) - matches)) lost=$(($(counter events-lost) - lost))
	stale=$(($(counter stale-events) - stale)) full=$(($(counter targets-full) - full))
	disarm
	row "a reload that changes one of $((OTHER_RULES + 1)) rules, 1,000 targets, $(value rate < "$WORK/execs") execs a second (reference: none)" \
		"$(spread 1 ms < "$WORK/reloads-loaded")" "$(spread 1 ms < "$WORK/reloads-quiet")"
	row "of $(value execs < "$WORK/execs") execs meanwhile: no target; events lost, stale; no room" \
		"$(($(value execs < "$WORK/execs") - matches)); $lost, $stale; $full"
}

# ---- from exec to target ----

measure_execs() {
	local early
	load
	doing "$EXECS execs, twice"
	"$BUILD/bench/exec_latency" "$BUILD/bench/exec_child" --execs "$EXECS" --pin-dir "$PIN_DIR" \
		--run-dir "$RUN_DIR" > "$WORK/latency"
	disarm
	early=$(grep '^map_ns' "$WORK/latency" | awk -F '[= ]' '$2 && $2 <= $4 { early++ } END { print early + 0 }')
	row 'execve(2) to its entry among the targets (reference: to its first instruction)' \
		"$(value map_ns < "$WORK/latency" | percentiles 1e3 us)" \
		"$(value map_first_ns < "$WORK/latency" | percentiles 1e3 us)"
	row "of $EXECS, seen among the targets before their first instruction" "$early"
	row 'execve(2) to its event at the consumer (reference: to its first instruction)' \
		"$(value event_ns < "$WORK/latency" | percentiles 1e3 us)" \
		"$(value event_first_ns < "$WORK/latency" | percentiles 1e3 us)"
	row 'programs that decide, of an exec' "$(value program_ns < "$WORK/latency") ns"
}

# ---- from threshold to capture ----

# crossing: runs one round; prints the ms from the crossing to the start of the capture that follows.
crossing() {
	local crossing at
	"$BUILD/bench/crossing" "$CGROUP2/$CGROUP/cpu.pressure" --stall-us "$STALL_US" > "$WORK/crossing" &
	crossing=$!
	# at least a window, plus a random part, so that rounds start at different phases
	sleep "$(calc "2 + $RANDOM % 2000 / 1000")"
	CGROUP=$CGROUP/watched start cpu_hog --threads $((2 * CPUS))
	wait "$crossing"
	at=$(($(value crossed_at < "$WORK/crossing") - 20000000)) # between two of its readings
	await_sql 20 "SELECT count(*) > 0 FROM capture WHERE triggered_at > $at" 1
	stop "$CHILD"
	sql "SELECT (min(triggered_at) - $at) / 1e6 FROM capture WHERE triggered_at > $at"
	sleep 5 # until nothing of the round is left in a window
}

# pulse: keeps the kernel's two-second clock of the cgroup running, as in a cgroup that has work.
pulse() {
	echo "$BASHPID" > "$CGROUP2/$CGROUP/watched/cgroup.procs"
	while sleep 0.5; do :; done
}

crossings() {
	local round
	load
	rule "$1" 'comm = *' "cgroup = /$CGROUP/watched" "cpu.some = $((STALL_US / 1000))ms/2s" 'history = 1s' \
		'capture = 1s' 'cooldown = 0s'
	daemon_start
	[[ $1 != kernel ]] || await_grants 1
	await_status 5 ".watches[0].trigger_mode == \"$1\""
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "$1, round $round of $ROUNDS"
		crossing
	done > "$WORK/crossings-$1"
	disarm
}

measure_crossings() {
	children_end
	cgroup_remove
	mkdir -p "$CGROUP2/$CGROUP/watched"
	pulse &
	CHILDREN+=($!)
	GRANT_SOCKET=$WORK/grant.sock
	rm -f "$WORK/grants" "$GRANT_SOCKET"
	grant_start
	crossings kernel
	GRANT_SOCKET=$WORK/nobody.sock
	crossings sampled
	row "crossed threshold to capture, kernel trigger (reference: sampled)" \
		"$(spread 0 ms < "$WORK/crossings-kernel")" "$(spread 0 ms < "$WORK/crossings-sampled")"
}

bench_setup trigger
measure_scale
measure_reloads
measure_execs
measure_crossings
