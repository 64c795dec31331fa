#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how much of a storm of short-lived programs has a name: bourdon, pidstat and atop at the same time, beside
# what the kernel counted for the storm's cgroup. And what it costs to account for a process that ends.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

storm() {
	local i
	for ((i = 0; i < CPUS; i++)); do
		CGROUP=$CGROUP/storm start_command bash -c 'echo ready; while :; do /bin/true; done'
	done
}

# of_pidstat FILE, of_atop FILE: print how much of the machine's CPU time they say the programs of the storm took, in %
of_pidstat() {
	awk -v cpus="$CPUS" '$1 == "Average:" && ($NF == "true" || $NF == "bash") { sum += $(NF - 2) } END { print sum / cpus }' "$1"
}

# PRC (atop(1), parseable output): command, state, ticks a second, ticks in user mode, in kernel mode
of_atop() {
	awk -v cpus="$CPUS" -v seconds="$ROUND_SECONDS" '$1 == "SEP" { part++ }
		$1 == "PRC" && part == 1 && ($8 == "(true)" || $8 == "(bash)") { sum += ($11 + $12) / $10 }
		END { print 100 * sum / cpus / seconds }' "$1"
}

# ended_cost: prints the runs and the run time, in ns, of the program that sees processes end
ended_cost() {
	bpftool -j prog show pinned "$PIN_DIR/prog_account_end" | jq -r '"\(.run_cnt) \(.run_time_ns)"'
}

measure_round() {
	local before from_ns to_ns
	load --hz "$HZ"
	rule whose 'comm = cpu_hog' "cgroup = /$CGROUP/victim" 'cpu.some = 5%' 'history = 1s' "capture = ${ROUND_SECONDS}s" \
		'cooldown = 1h'
	daemon_start
	storm
	CGROUP=$CGROUP/victim start cpu_hog --threads "$CPUS"
	await_log 30 fired
	before=$(cgroup_cpu_us "$CGROUP2/$CGROUP/storm")
	from_ns=$(date +%s%N)
	LC_ALL=C S_TIME_FORMAT=ISO pidstat -u 1 "$ROUND_SECONDS" > "$WORK/pidstat" &
	LC_ALL=C atop -P PRC "$ROUND_SECONDS" 2 > "$WORK/atop"
	wait $!
	to_ns=$(date +%s%N)
	calc "100 * 1000 * ($(cgroup_cpu_us "$CGROUP2/$CGROUP/storm") - $before) / ($to_ns - $from_ns) / $CPUS" >> "$WORK/kernel.percent"
	of_pidstat "$WORK/pidstat" >> "$WORK/pidstat.percent"
	of_atop "$WORK/atop" >> "$WORK/atop.percent"
	await_status 60 '.captures | length == 0'
	ended_cost >> "$WORK/ended"
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	sql "SELECT 100.0 * sum(cpu_ns) / (SELECT sum(ns) FROM machine_time) FROM culprit_group WHERE cgroup = '/$CGROUP/storm'" \
		>> "$WORK/bourdon.percent"
	disarm
	rm -f "$STATE_DIR"/bourdon.db*
}

bench_setup whose
cgroup_make
mkdir "$CGROUP2/$CGROUP/storm" "$CGROUP2/$CGROUP/victim"
count_runs 1
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure_round
done
what="a storm of short-lived programs: its part of the machine's CPU time, with a name"
for other in pidstat atop; do
	row "$what, beside $other" \
		"$(spread 1 % < "$WORK/bourdon.percent")" "$(spread 1 % < "$WORK/$other.percent")" \
		"$(printf '%.2f' "$(calc "$(median < "$WORK/bourdon.percent") / $(median < "$WORK/$other.percent")")")"
done
row 'the same, as the kernel counted it for the cgroup' "$(spread 1 % < "$WORK/kernel.percent")"
row 'a process that ends' "$(awk '{ print $2 / $1 }' "$WORK/ended" | spread 0 ns)"
