#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Forty random mixtures of three hogs beside a victim: the database ranks them as the kernel's own counters do.
# BOURDON_MIXTURES_SEED=… repeats a run.

# bats file_tags=alone

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/truth.bash"

MIXTURES=40
POINTS=3 # shares this close may tie

setup() {
	bourdon_setup mixtures
	cgroup_make
	# naming, which yields to the hogs, must keep up with a capture every few seconds
	NAMING=1 write_settings
	own_workload cpu_hog
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP"/{a,b,c}
	for hog in a b c; do cp "$BUILD/workloads/cpu_hog" "$WORK/$hog$OWN"; done
	TRUTH=
}

teardown() {
	[[ -z $TRUTH ]] || truth_end
	bourdon_teardown
}

# mix: starts the three hogs, each with a random number of threads on a random CPU or on all of them, and sets HOGS. One is
# on the victim's CPU, so that the rule fires.
mix() {
	local hog cpus=(0 $((RANDOM % 2)) any) nice cpu threads turn=$((RANDOM % 3))
	cpus=("${cpus[@]:turn}" "${cpus[@]:0:turn}")
	HOGS=()
	MIXTURE=
	for hog in a b c; do
		cpu=${cpus[0]}
		cpus=("${cpus[@]:1}")
		nice=$((RANDOM % 3 * 4))
		threads=$((1 + RANDOM % 6))
		MIXTURE+=" $hog: $threads threads on CPU $cpu, nice $nice;"
		ON_CPU=
		[[ $cpu == any ]] || ON_CPU=$cpu
		CGROUP=$CGROUP/$hog start_command nice -n "$nice" "$WORK/$hog$OWN" --threads "$threads"
		HOGS+=("$CHILD")
	done
	ON_CPU=
}

end_mixture() {
	local pid
	for pid in "${HOGS[@]}"; do
		kill -KILL "$pid"
		wait "$pid" 2> /dev/null || true
	done
}

# judge CAPTURE: prints "right" or "wrong", and of how many pairs, after the shares of a, b and c in % of the machine's time
judge() {
	local from to hog seen line=
	read -r from to <<< "$(span_of "$1")"
	for hog in a b c; do
		seen=$(sql "SELECT ifnull(sum(cpu_ns), 0) FROM culprit_group WHERE capture_id = $1 AND program = '$hog$OWN' AND cgroup = '/$CGROUP/$hog'")
		line+="$(machine_share "$(truth_of "$hog" "$from" "$to")" "$from" "$to") $(machine_share "$seen" "$from" "$to") "
	done
	awk -v points="$POINTS" '{
		wrong = pairs = 0
		for (i = 1; i < 6; i += 2) for (j = i + 2; j < 6; j += 2) {
			difference = $i - $j
			if (difference < points && difference > -points) continue
			pairs++
			if (difference * ($(i + 1) - $(j + 1)) <= 0) wrong++
		}
		far = 0
		for (i = 1; i < 6; i += 2) { off = $i - $(i + 1); if (off > points || off < -points) far++ }
		printf "kernel %s %s %s, bourdon %s %s %s: %s %d pairs, %d shares off\n",
			$1, $3, $5, $2, $4, $6, wrong ? "wrong" : "right", pairs, far
	}' <<< "$line"
}

# bats test_tags=long
@test "40 random mixtures of three hogs are ranked as the kernel's counters rank them, in 95 % of them" {
	local seed=${BOURDON_MIXTURES_SEED:-$((SRANDOM % 32768))} i captures capture right=0 pairs off
	RANDOM=$seed
	echo "BOURDON_MIXTURES_SEED=$seed repeats it" >&2
	load
	ON_CPU=0 CGROUP=$CGROUP/victim start_command "$WORK/$OWN"
	truth_start "a=$CGROUP2/$CGROUP/a/cpu.stat,usage_usec" "b=$CGROUP2/$CGROUP/b/cpu.stat,usage_usec" \
		"c=$CGROUP2/$CGROUP/c/cpu.stat,usage_usec"
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 0s' 'capture = 1s' 'cooldown = 1s'
	daemon_start
	for ((i = 1; i <= MIXTURES; i++)); do
		mix
		await_log 30 'rule victim fired'
		await_status 60 '.captures | length == 0'
		end_mixture
		echo "mixture $i:$MIXTURE" >> "$WORK/mixtures"
	done
	children_end
	# a capture may have begun when a mixture was about to end: its span has its own shares, and its own truth
	await_status 60 '.captures | length == 0'
	await_sql 120 "SELECT count(*) FROM capture WHERE state = 'recording'" 0
	truth_stop
	cat "$WORK/mixtures" >&2
	captures=0
	for capture in $(sql "SELECT capture_id FROM capture WHERE state = 'complete' ORDER BY capture_id"); do
		judge "$capture" > "$WORK/judged"
		echo "capture $capture: $(< "$WORK/judged")" | tee -a "$WORK/verdicts" >&2
		((++captures))
		! grep -q right "$WORK/judged" || ((++right))
	done
	pairs=$(awk '{ sum += $(NF - 4) } END { print sum }' "$WORK/verdicts")
	off=$(awk '{ sum += $(NF - 2) } END { print sum }' "$WORK/verdicts")
	echo "# $right of $captures captures rank the three right, by $pairs pairs; $off of $((3 * captures)) shares are off by more than $POINTS points; BOURDON_MIXTURES_SEED=$seed repeats it" >&3
	((captures >= MIXTURES))
	((pairs >= captures)) # else the mixtures are too much alike
	((right * 100 >= captures * 95))
	((off * 100 <= 3 * captures * 5))
}
