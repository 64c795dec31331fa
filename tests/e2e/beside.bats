#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# A storm of short-lived programs, seen by bourdon, pidstat, atop and execsnoop in the same run: bourdon gives their name to
# at least as much CPU time, and counts as many of them.

# bats file_tags=alone

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/truth.bash"

STORM=500 # programs: few enough that they end while the others look

setup() {
	bourdon_setup beside
	cgroup_make
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/storm"
	own_workload cpu_hog
	TRUTH=
}

teardown() {
	[[ -z $TRUTH ]] || truth_end
	bourdon_teardown
}

# snoop: starts execsnoop of libbpf-tools, which needs tracefs: mounted where nobody else sees it. Its lines go to
# $WORK/execsnoop.
snoop() {
	unshare --mount --propagation private bash -c 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
		exec stdbuf -oL /usr/sbin/execsnoop' > "$WORK/execsnoop" 2> "$WORK/execsnoop.log" 3>&- &
	CHILDREN+=($!)
}

# sees_execs: whether execsnoop reports what is executed
sees_execs() {
	/bin/true
	grep -q '^true ' "$WORK/execsnoop"
}

# of_pidstat, of_atop: print the CPU time, in ms, that they give to processes of the storm's program
of_pidstat() {
	awk -v comm="t$OWN" '$1 ~ /^[0-9]/ && $NF == comm { sum += $(NF - 2) } END { print sum * 10 }' "$WORK/pidstat"
}

# PRC (atop(1), parseable output): command, state, ticks a second, ticks in user mode, in kernel mode; the second part is
# that of the interval
of_atop() {
	awk -v comm="(t$OWN)" '$1 == "SEP" { part++ } $1 == "PRC" && part == 1 && $8 == comm { sum += ($11 + $12) / $10 }
		END { print sum * 1000 }' "$WORK/atop"
}

@test "a storm beside pidstat, atop and execsnoop: no less CPU time, as many programs" {
	local pidstat_ms atop_ms ours_ms kernel_ms seen counted from to watchers program
	for program in pidstat atop /usr/sbin/execsnoop; do
		command -v "$program" > /dev/null || skip "$program is not installed"
	done
	cp /bin/true "$WORK/t$OWN"
	load
	ON_CPU=0 CGROUP=$CGROUP/victim start_command "$WORK/$OWN" --threads 2
	truth_start "storm=$CGROUP2/$CGROUP/storm/cpu.stat,usage_usec"
	snoop
	await 30 sees_execs || { cat "$WORK/execsnoop.log"; return 1; }
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 1s' "capture = $((20 * PATIENCE))s" 'cooldown = 1h'
	daemon_start
	await_log 30 fired
	LC_ALL=C S_TIME_FORMAT=ISO pidstat -u 1 $((12 * PATIENCE)) > "$WORK/pidstat" 3>&- &
	watchers=($!)
	LC_ALL=C atop -P PRC $((12 * PATIENCE)) 2 > "$WORK/atop" 3>&- &
	watchers+=($!)
	# both have read their first values
	await 10 grep -q '^SEP' "$WORK/atop"
	await 10 grep -q UID "$WORK/pidstat"
	# shellcheck disable=SC2016
	CGROUP=$CGROUP/storm start_command bash -c 'echo ready; for ((i = 0; i < $1; i++)); do "$0"; done; echo done; read -r' "$WORK/t$OWN" "$STORM"
	read -r -t $((60 * PATIENCE)) -u "$CHILD_OUTPUT" # "done"
	# the storm has ended while all were looking
	kill -0 "${watchers[@]}"
	[ "$(status_json | jq '.captures | length')" -eq 1 ]
	wait "${watchers[@]}"
	await_status 60 '.captures | length == 0'
	truth_stop
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	read -r from to <<< "$(span_of 1)"
	pidstat_ms=$(of_pidstat) atop_ms=$(of_atop)
	kernel_ms=$(($(truth_of storm "$from" "$to") / 1000000))
	ours_ms=$(sql "SELECT sum(cpu_ns) / 1000000 FROM culprit_group WHERE program = 't$OWN'")
	seen=$(grep -c "^t$OWN " "$WORK/execsnoop")
	counted=$(sql "SELECT sum(processes) FROM culprit_group WHERE program = 't$OWN'")
	echo "# CPU time: bourdon $ours_ms ms, pidstat $pidstat_ms ms, atop $atop_ms ms; the kernel, with the shell, $kernel_ms ms" >&3
	echo "# programs: $STORM executed, bourdon $counted, execsnoop $seen" >&3
	awk -v ours="$ours_ms" -v one="$pidstat_ms" -v other="$atop_ms" 'BEGIN { exit !(ours >= one && ours >= other) }'
	near $((STORM / 50)) "$counted" "$seen"
	near $((STORM / 50)) "$counted" "$STORM"
	((ours_ms <= kernel_ms && ours_ms * 2 > kernel_ms))
	# all of the storm, the shell that begins the programs included
	near $((kernel_ms / 33 + 1)) "$(sql "SELECT sum(cpu_ns) / 1000000 FROM culprit_group WHERE cgroup = '/$CGROUP/storm'")" "$kernel_ms"
}
