#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a context switch costs: between threads that are no targets, between targets, and between
# targets during a capture. The reference is offcputime of libbpf-tools, watching another process or this one.
# Two threads on one CPU wake each other through a pipe, the highest switch rate that a CPU can reach.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

PAIRS=1000000000         # more than any round can finish
OTHERS_NS_MAX=60 OTHERS_PERCENT_MIN=95 OTHERS_OF_EMPTY_PERCENT_MIN=98
STACKS_HZ_CAPTURING=4000 # the budgets of consumer/recorder.c; slots: half a ring, four times a second
SLOTS_HZ_CAPTURING=$((2 * (1 << 20) / 1448))

# pair_start: starts the two threads; sets PAIR to their pid.
pair_start() {
	taskset -c 0 perf bench sched pipe -T -l "$PAIRS" > /dev/null 2>&1 &
	PAIR=$!
	CHILDREN+=("$PAIR")
}

# switched: prints the context switches of all CPUs since boot.
switched() {
	awk '$1 == "ctxt" { print $2 }' /proc/stat
}

# our_cost NAME: measures bourdon's program: ns a run into NAME.ns, those of both programs at a wake-up into NAME.wake,
# stacks and slots a second into NAME.stacks and NAME.slots.
our_cost() {
	local line
	line=$(bpf_cost "$ROUND_SECONDS")
	calc "$(value switches_ns <<< "$line") / $(value switches <<< "$line")" >> "$WORK/$1.ns"
	calc "($(value wakings_ns <<< "$line") + $(value wakeups_ns <<< "$line")) / $(value wakeups <<< "$line")" >> "$WORK/$1.wake"
	calc "$(value offcpu_stacks <<< "$line") / $(value wall_ns <<< "$line") * 1e9" >> "$WORK/$1.stacks"
	calc "$(value offcpu_slots <<< "$line") / $(value wall_ns <<< "$line") * 1e9" >> "$WORK/$1.slots"
}

# their_begin PID: starts offcputime, which watches that process, for two rounds.
their_begin() {
	offcputime -p "$1" $((2 * ROUND_SECONDS + 2)) > "$WORK/offcputime" 2>&1 &
	CHILDREN+=($!)
	until bpftool -j prog show name sched_switch 2> /dev/null | jq -e 'length > 0' > /dev/null; do sleep 0.05; done
}

# their_cost NAME: measures its program: ns a run into NAME.ns.
their_cost() {
	with_sysctl kernel.bpf_stats_enabled 1 sleep "$ROUND_SECONDS"
	bpftool -j prog show name sched_switch | jq -s 'flatten | map(select(.run_cnt)) |
		(map(.run_time_ns) | add) / (map(.run_cnt) | add)' >> "$WORK/$1.ns"
}

# measure NAME [PID]: measures switches a second of this machine, and then the cost of a run of bourdon's program if it is
# loaded; with a PID, or "pair", of offcputime's. Not at the same time: the kernel's count of a program's time takes time.
measure() {
	local before
	pair_start
	[[ -z ${2-} ]] || their_begin "${2/pair/$PAIR}"
	sleep 0.5 # until it runs at full speed
	before=$(switched)
	sleep "$ROUND_SECONDS"
	calc "($(switched) - $before) / $ROUND_SECONDS" >> "$WORK/$1.rate"
	if [[ -n ${2-} ]]; then
		their_cost "$1"
	elif [[ -d $PIN_DIR ]]; then
		our_cost "$1"
	fi
	kill -KILL "$PAIR"
	wait "$PAIR" 2> /dev/null || true
	[[ -z ${2-} ]] || wait "${CHILDREN[-1]}" 2> /dev/null || true
}

# measure_empty NAME HOOK...: measures switches a second with an empty program at each of these places.
measure_empty() {
	local attached empty
	exec {attached}< <(exec "$BUILD/bench/empty_hooks" "${@:2}")
	empty=$!
	CHILDREN+=("$empty")
	read -r _ <&"$attached"
	measure "$1"
	stop "$empty"
	exec {attached}<&-
}

# arm_capturing COMM: adds a rule that fires at once, with a capture as long as the round.
arm_capturing() {
	load --hz "$HZ"
	rule armed "comm = $1" 'cpu.some = 1%' 'watch = system' 'history = 1s' "capture = $((2 * ROUND_SECONDS + 5))s" 'cooldown = 0s'
	daemon_start
	start cpu_hog --threads $((2 * CPUS))
	await_log 30 'fired'
	stop "$CHILD"
}

bench_setup offcpu
cgroup_make
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure none
	measure offcputime-others 1
	measure offcputime-targets pair
	arm no_such_process
	measure others
	disarm
	measure_empty empty switch waking wakeup
	measure_empty empty-switch switch
	arm 'sched-pipe*'
	measure targets
	disarm
	arm_capturing 'sched-pipe*'
	measure capturing
	disarm
done

# compared WHAT OURS THEIRS UNIT SUFFIX: prints the medians, and the median ratio of the rounds.
compared() {
	row "$1" "$(spread 0 "$4" < "$WORK/$2.$5")" "$(spread 0 "$4" < "$WORK/$3.$5")" \
		"$(paste "$WORK/$2.$5" "$WORK/$3.$5" | awk '{ print $1 / $2 }' | median | xargs printf '%.2f')"
}
compared 'a switch between threads that are no targets (reference: offcputime -p of another)' others offcputime-others ns ns
compared 'a switch between targets (reference: offcputime -p of them)' targets offcputime-targets ns ns
compared 'a switch between targets, while a capture is taken (reference: the same)' capturing offcputime-targets ns ns
for kind in others targets capturing; do
	row "a wake-up, both programs of it together, $kind" "$(spread 0 ns < "$WORK/$kind.wake")"
done
for kind in others targets capturing offcputime-others offcputime-targets; do
	compared "switches a second of a pair on one CPU, $kind (reference: with nothing)" "$kind" none /s rate
done
compared 'switches a second of a pair on one CPU, with three empty programs at the same places (reference: with nothing)' \
	empty none /s rate
compared 'switches a second of a pair on one CPU, with one empty program at sched_switch (reference: with nothing)' \
	empty-switch none /s rate
row_at_most 'a switch between threads that are no targets' "$(spread 0 ns < "$WORK/others.ns")" "$(median < "$WORK/others.ns")" \
	"$OTHERS_NS_MAX" ns
paste "$WORK/others.rate" "$WORK/none.rate" | awk '{ print 100 * $1 / $2 }' > "$WORK/others.percent"
row_at_least 'switches a second of a pair on one CPU, others, as a share of the rate with nothing' "$(spread 0 % < "$WORK/others.percent")" \
	"$(median < "$WORK/others.percent")" "$OTHERS_PERCENT_MIN" %
paste "$WORK/others.rate" "$WORK/empty.rate" | awk '{ print 100 * $1 / $2 }' > "$WORK/others-of-empty.percent"
row_at_least 'the same, as a share of the rate with three empty programs' "$(spread 0 % < "$WORK/others-of-empty.percent")" \
	"$(median < "$WORK/others-of-empty.percent")" "$OTHERS_OF_EMPTY_PERCENT_MIN" %
rate=$(median < "$WORK/capturing.rate" | xargs printf '%.0f')
for what in "stacks $STACKS_HZ_CAPTURING" "slots $SLOTS_HZ_CAPTURING"; do
	row_at_most "off-CPU ${what% *} a second of one CPU, while a capture is taken, at $rate switches a second" \
		"$(spread 0 /s < "$WORK/capturing.${what% *}")" "$(median < "$WORK/capturing.${what% *}")" "${what#* }" /s
done
