#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the 47 Hz clock costs without a target: on idle CPUs, and on CPUs that run a process that is none, beside
# the same process as a target.
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

# tick COMM: prints what a tick costs while every CPU is busy with cpu_hog, and the rule is for that comm. Its processes
# have unwind tables, as in all but the first moments.
tick() {
	arm "$1"
	[[ $1 == cpu_hog ]] || await 30 is_listed "$CHILD"
	await_tables "$CHILD"
	bpf_cost "$ROUND_SECONDS"
	disarm
}

# An idle tick does not run the program at all (exclude_idle). One in a process that is no target writes a sample, too.
measure_ticks() {
	local round
	start cpu_hog --threads "$CPUS" --spread --depth 27
	for ((round = 1; round <= ROUNDS; round++)); do
		doing "ticks, round $round of $ROUNDS"
		tick no_such_process >> "$WORK/bystander"
		tick cpu_hog >> "$WORK/target"
	done
	stop "$CHILD"
	ns_a_sample < "$WORK/bystander" > "$WORK/bystander.ns"
	ns_a_sample < "$WORK/target" > "$WORK/target.ns"
	row "a tick on a bystander, $(value user_frames < "$WORK/bystander" | median) user frames (reference: on a target, $(value user_frames < "$WORK/target" | median))" \
		"$(spread 0 ns < "$WORK/bystander.ns")" "$(spread 0 ns < "$WORK/target.ns")" \
		"$(printf '%.2f' "$(paste "$WORK/bystander.ns" "$WORK/target.ns" | awk '{ print $1 / $2 }' | median)")"
	row "the same, $HZ times a second, of a CPU" "$(awk -v hz="$HZ" '{ print $1 * hz / 1e7 }' "$WORK/bystander.ns" | spread 5 %)"
}

bench_setup clock
cgroup_make
measure_idle
measure_ticks
