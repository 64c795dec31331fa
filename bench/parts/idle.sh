#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the consumer costs while nothing is wrong: CPU time, wake-ups and memory, with one rule and nothing to
# watch it for, with 100 cgroups and 1,000 targets, and with 3,000 pressure files that are read once a second.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# cpu_ns: of all threads of the daemon.
cpu_ns() {
	cat "/proc/$DAEMON/task"/*/schedstat | awk '{ all += $1 } END { printf "%.0f\n", all }'
}

# wakeups: a thread that sleeps leaves the CPU by its own will before each.
wakeups() {
	cat "/proc/$DAEMON/task"/*/status | awk '$1 == "voluntary_ctxt_switches:" { all += $2 } END { print all }'
}

# rss_kib PID: resident memory without the mapped rings, which are the kernel's and counted as such.
rss_kib() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = $6 ~ /bpf-map/ } $1 == "Rss:" && !ring { all += $2 }
		END { print all }' "/proc/$1/smaps"
}

# spawn CGROUPS PROCESSES: that many sleeping processes in each of that many cgroups, and no others.
spawn() {
	local i directories=()
	doing "$1 cgroups of $2 processes"
	children_end
	cgroup_remove
	cgroup_make
	for ((i = 0; i < $1; i++)); do
		directories+=("$CGROUP2/$CGROUP/$i")
	done
	mkdir "${directories[@]}"
	start sleepers "$2" "${directories[@]}"
}

# watch NAME TARGETS WATCHES: an idle consumer with so many, as "cpu_ns=N wakeups=N rss_kib=N spawner_kib=N".
watch() {
	local cpu switches
	load
	daemon_start
	if [[ $LOG_LINE != *" $2 targets, $3 watches" ]]; then
		echo "not $2 targets and $3 watches: $LOG_LINE" >&2
		return 1
	fi
	sleep 3 # the start's own work is over
	doing "$1: $IDLE_SECONDS s"
	cpu=$(cpu_ns)
	switches=$(wakeups)
	sleep "$IDLE_SECONDS"
	cpu=$(($(cpu_ns) - cpu))
	switches=$(($(wakeups) - switches))
	echo "cpu_ns=$cpu wakeups=$switches rss_kib=$(rss_kib "$DAEMON")" \
		"spawner_kib=$(rss_kib "$(pgrep -P "$DAEMON")")" > "$WORK/$1"
	disarm
}

# rows NAME WHAT CPU_PERCENT_MAX: what the consumer took
rows() {
	local percent wakeups mib
	percent=$(calc "$(value cpu_ns < "$WORK/$1") / $IDLE_SECONDS / 1e7")
	# a tick more or less at the ends of the time is no wake-up more
	wakeups=$(printf '%.1f' "$(calc "$(value wakeups < "$WORK/$1") / $IDLE_SECONDS")")
	mib=$(calc "$(value rss_kib < "$WORK/$1") / 1024")
	row_at_most "idle, $2: CPU" "$(printf '%.4f %%' "$percent")" "$percent" "$3" '% of a core'
	row_at_most "idle, $2: wake-ups" "$wakeups /s" "$wakeups" 1 '/s'
	row_at_most "idle, $2: RSS without rings (and its spawner: $(value spawner_kib < "$WORK/$1") KiB)" \
		"$(printf '%.1f MiB' "$mib")" "$mib" 12 MiB
}

bench_setup idle

quiet_rule one no_such_process
watch one 0 1

spawn 100 10
rule many 'comm = sleepers' 'cpu.some = 90%'
watch many 1000 100

spawn 1000 1
rule sampled 'comm = sleepers' 'cpu.some = 90%' 'memory.some = 90%' 'io.some = 90%'
watch sampled 1000 3000

rows one '1 rule, no target' 0.02
# a sampled watch has a budget of its own, 3 us a second: 100 of them 0.03 %
rows many '100 cgroups watched (sampled), 1,000 targets' 0.05
us=$(calc "($(value cpu_ns < "$WORK/sampled") - $(value cpu_ns < "$WORK/one")) / 3000 / 1e3 / $IDLE_SECONDS")
row_at_most 'a sampled watch, a second (of 3,000, on 1,000 cgroups)' "$(printf '%.2f us' "$us")" "$us" 3 us
