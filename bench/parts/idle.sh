#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the idle daemon costs in CPU time, wake-ups and memory: with one rule and no target; with 100
# cgroups and 1,000 targets (by kernel triggers, and sampled); and with 3,000 pressure files read once a
# second.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# watch NAME TARGETS WATCHES [GRANTS]: measures an idle daemon with that many targets, watches and kernel
# triggers.
watch() {
	load
	daemon_start
	await_watching "$2" "$3"
	[[ -z ${4-} ]] || await_grants "$4"
	sleep 3 # the start's own work is over
	doing "$1: $IDLE_SECONDS s"
	at_rest "$IDLE_SECONDS" > "$WORK/$1"
	disarm
}

# rows NAME WHAT CPU_PERCENT_MAX: prints what the daemon used.
rows() {
	local percent wakeups mib
	percent=$(calc "$(value cpu_ns < "$WORK/$1") / $IDLE_SECONDS / 1e7")
	# one wake-up more or less at the ends of the period is noise
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
rule many 'comm = sleepers' 'cpu.some = 90%'
grant_start
watch kernel 1000 100 100
GRANT_SOCKET=$WORK/nobody.sock

spawn 1000 1
many_watches
rule sampled 'comm = sleepers' 'cpu.some = 90%' 'memory.some = 90%' 'io.some = 90%'
watch sampled 1000 3000

rows one '1 rule, no target' 0.02
rows kernel '100 cgroups watched by kernel triggers, 1,000 targets' 0.02
# a sampled watch has a budget of its own, 3 us a second: 0.03 % for 100 of them
rows many '100 cgroups watched (sampled), 1,000 targets' 0.05
us=$(calc "($(value cpu_ns < "$WORK/sampled") - $(value cpu_ns < "$WORK/one")) / 3000 / 1e3 / $IDLE_SECONDS")
row_at_most 'a sampled watch, a second (of 3,000, on 1,000 cgroups)' "$(printf '%.2f us' "$us")" "$us" 3 us
