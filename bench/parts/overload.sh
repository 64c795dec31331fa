#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a capture of the whole host loses on an overloaded one: 16 busy threads for two CPUs and a storm of processes,
# in a cgroup beside that of the services, as in user.slice. The daemon has the CPU weight and the nice value of its unit.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

HISTORY=10 CAPTURE=5
MOST_LOST=2 LEAST_HISTORY=90 MOST_RSS_KIB=$((32 << 10))

# unit_setting NAME DEFAULT: prints a setting of the daemon's unit
unit_setting() {
	sed -n "s/^$1=//p" "$TREE/systemd/bourdond.service.in" | grep . || echo "$2"
}

# cpu_group NAME WEIGHT: makes a cgroup with that CPU weight, of whichever version has the controller; sets CPU_GROUP
cpu_group() {
	local mount weight=$2 file=cpu.weight
	mount=$(findmnt -n -o TARGET -t cgroup -O cpu | head -n 1)
	if [[ -z $mount ]]; then
		mount=$CGROUP2
		echo +cpu > "$mount/cgroup.subtree_control"
		[[ $1 != */* ]] || echo +cpu > "$mount/${1%/*}/cgroup.subtree_control"
	else
		file=cpu.shares
		weight=$((weight * 1024 / 100))
	fi
	CPU_GROUP=$mount/$1
	mkdir "$CPU_GROUP"
	CPU_GROUPS=("$CPU_GROUP" "${CPU_GROUPS[@]}")
	echo "$weight" > "$CPU_GROUP/$file"
}

# into CPU_GROUP COMMAND...: the command in that cgroup, in a session of its own
into() {
	echo "$BASHPID" > "$1/cgroup.procs"
	exec setsid "${@:2}"
}

# daemon_in CPU_GROUP: as its service manager starts it
daemon_in() {
	cat > "$WORK/as-service" <<- END
		#!/bin/sh
		echo \$\$ > $1/cgroup.procs
		exec nice -n $(unit_setting Nice 0) "\$@"
	END
	chmod +x "$WORK/as-service"
	DAEMON_BY=$WORK/as-service daemon_start
}

# ran_ms: prints how long the draining thread, and all threads of the daemon, have run
ran_ms() {
	cat "/proc/$DAEMON/task/$DAEMON/schedstat" "/proc/$DAEMON/task"/*/schedstat |
		awk 'NR == 1 { draining = $1; next } { all += $1 } END { printf "draining_ms=%.0f all_ms=%.0f\n", draining / 1e6, all / 1e6 }'
}

remove_groups() {
	bourdon_teardown
	((${#CPU_GROUPS[@]} == 0)) || await 60 rmdir "${CPU_GROUPS[@]}" 2> /dev/null
}

# whole_host LINE...: the rule, with these lines
whole_host() {
	rule whole 'comm = *' "$@" 'watch = system' "history = ${HISTORY}s" "capture = ${CAPTURE}s" 'cooldown = 1h'
}

# begin_load STORM...: the busy threads, and a storm by these arguments of churn
begin_load() {
	(into "$USERS" "$BUILD/workloads/cpu_hog" --threads 16) > /dev/null &
	CHILDREN+=($!)
	(into "$USERS" "$BUILD/workloads/churn" "$@") > /dev/null &
	CHILDREN+=($!)
	sleep $((HISTORY + 3)) # the rings hold what the rule asks for
}

# fire: a capture by the rule, and one by hand that begins within it; sets BEFORE and AFTER to ran_ms, SECONDS_RAN and RSS
fire() {
	local began
	whole_host 'cpu.some = 100ms/2s'
	await_log 60 'rule whole fired'
	BEFORE=$(ran_ms)
	began=$(date +%s%N)
	sleep 2
	"$BUILD/bourdon" --db "$DB" capture --all --before "${HISTORY}s" --for 1s > "$WORK/capture.log" 2>&1 &
	CHILDREN+=($!)
	sleep $((CAPTURE - 1))
	AFTER=$(ran_ms)
	RAN_MS=$((($(date +%s%N) - began) / 1000000))
	RSS=$(rss_kib "$DAEMON")
	status_json > "$WORK/status.json"
	children_end
	await_sql 120 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
}

# grown NAME: by how much that number of ran_ms grew meanwhile, in percent of a CPU
grown() {
	calc "100 * ($(value "$1" <<< "$AFTER") - $(value "$1" <<< "$BEFORE")) / $RAN_MS"
}

LOST="'overwritten-slots', 'torn-slots', 'offcpu-over-budget', 'unknown-process', 'capture-full', 'samples-missing'"

# measure WHAT STORM...
measure() {
	local what="overload, $1" each share column
	doing "$what"
	load --hz "$HZ"
	whole_host 'io.full = 100%'
	daemon_in "$SERVICE"
	begin_load "${@:2}"
	fire
	sql "SELECT trigger_mode, reason, events FROM loss JOIN capture USING(capture_id) WHERE events > 0" >&2
	for each in "trigger_mode <> 'manual'" "trigger_mode = 'manual'"; do
		share=$(sql "SELECT 100.0 * lost / (lost + sample_count) FROM (SELECT sample_count,
			(SELECT sum(events) FROM loss l WHERE l.capture_id = c.capture_id AND reason IN ($LOST)) AS lost
			FROM capture c WHERE $each)")
		[[ $each == *'<>'* ]] || what+=', a capture within that capture'
		row_at_most "$what: lost" "$(printf '%.2f %%' "$share")" "$share" $MOST_LOST %
		for column in history_ns offcpu_history_ns; do
			share=$(sql "SELECT $column / ${HISTORY}e7 FROM capture WHERE $each")
			row_at_least "$what: $column, of the $HISTORY s asked for" "$(printf '%.1f %%' "$share")" "$share" $LEAST_HISTORY %
		done
	done
	what="overload, $1"
	row "$what: intervals off CPU whose time counts with another" \
		"$(sql "SELECT printf('%.0f %%', 100.0 * l.events / (l.events + c.interval_count)) FROM loss l JOIN capture c USING(capture_id)
			WHERE reason = 'offcpu-joined' AND trigger_mode <> 'manual'")"
	row "$what: the draining thread; all of bourdond; of a CPU" \
		"$(printf '%.1f %%; %.1f %%' "$(grown draining_ms)" "$(grown all_ms)")"
	row "$what: the rings were drained so late, at most" "$(jq -r '(.queues[] | select(.name == "oncpu") | .lag_most_ns) / 1e6 | floor | "\(.) ms"' "$WORK/status.json")"
	row_at_most "$what: RSS without rings" "$(printf '%.1f MiB' "$(calc "$RSS / 1024")")" "$RSS" $MOST_RSS_KIB KiB
	daemon_stop TERM
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	rm -f "$RULES_DIR"/*.conf "$STATE_DIR"/*
}

CPU_GROUPS=()
bench_setup overload
trap remove_groups EXIT
cpu_group "$CGROUP-user" 100
USERS=$CPU_GROUP
cpu_group "$CGROUP-system" 100
cpu_group "$CGROUP-system/bourdond" "$(unit_setting CPUWeight 100)"
SERVICE=$CPU_GROUP
measure 'two that fork' --workers 2 storm
measure 'sixteen that fork' --workers 16 storm
measure 'sixteen that make threads' --workers 16 --kind thread storm
