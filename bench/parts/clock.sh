#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the 47 Hz clock costs without anything to sample: on idle CPUs, and on CPUs that run processes
# that are no targets.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

# timer_interrupts: prints the number on all CPUs since boot.
timer_interrupts() {
	awk '$1 == "LOC:" { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) all += $i; print all }' /proc/interrupts
}

# idle_ticks: prints the idle time of all CPUs since boot, in USER_HZ.
idle_ticks() {
	awk '$1 == "cpu" { print $5 + $6 }' /proc/stat
}

# interrupts_a_second SECONDS: prints the rate of one CPU and the idle share, as "interrupts=N idle=PERCENT".
interrupts_a_second() {
	local interrupts idle
	interrupts=$(timer_interrupts)
	idle=$(idle_ticks)
	sleep "$1"
	calc "($(timer_interrupts) - $interrupts) / $1 / $CPUS" | sed 's/^/interrupts=/' | tr '\n' ' '
	calc "100 * ($(idle_ticks) - $idle) / $1 / $CPUS / $(getconf CLK_TCK)" | sed 's/^/idle=/'
}

measure_idle() {
	local round
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "idle, round $round of $ROUNDS"
		interrupts_a_second "$ROUND_SECONDS" >> "$WORK/without"
		arm no_such_process
		interrupts_a_second "$ROUND_SECONDS" >> "$WORK/with"
		bpf_cost "$ROUND_SECONDS" >> "$WORK/runs"
		disarm
	done
	row "timer interrupts of an idle CPU, a second ($(value idle < "$WORK/with" | median) % idle)" \
		"$(value interrupts < "$WORK/with" | spread 1 '/s')" \
		"$(value interrupts < "$WORK/without" | spread 1 '/s without')" \
		"+$(calc "$(value interrupts < "$WORK/with" | median) - $(value interrupts < "$WORK/without" | median)") /s"
	row 'runs of the sampler on an idle CPU, a second' \
		"$(value runs < "$WORK/runs" | awk -v all="$((CPUS * ROUND_SECONDS))" '{ print $1 / all }' | spread 1 '/s')"
}

# An idle tick does not run the program at all (exclude_idle); a tick in a process that is no target returns
# early.
measure_others() {
	local round
	start cpu_hog --threads "$CPUS" --spread
	arm no_such_process
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "no target, round $round of $ROUNDS"
		bpf_cost "$ROUND_SECONDS" >> "$WORK/early"
	done
	disarm
	stop "$CHILD"
	paste <(value run_ns < "$WORK/early") <(value runs < "$WORK/early") | awk '{ print $1 / $2 }' > "$WORK/ns"
	row 'a tick that meets no target' "$(spread 0 ns < "$WORK/ns")"
	row "the same, $HZ times a second, of a CPU" "$(awk -v hz="$HZ" '{ print $1 * hz / 1e7 }' "$WORK/ns" | spread 5 %)"
}

bench_setup clock
cgroup_make
measure_idle
measure_others
