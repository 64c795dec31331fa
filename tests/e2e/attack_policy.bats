#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Attacks on root's policy: what a consumer opened under one policy, it must not use under the next; what it writes
# must not take more of the machine than policy allows. tools/see_all has the consumer's user and group, and no
# capability. And the loader's own privilege.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup attack_policy
	cgroup_make
	private_bpffs 0711
	POLICY=$WORK/policy.conf
	CHANGED=()
}

teardown() {
	[[ ${#CHANGED[@]} -eq 0 ]] || echo "${CHANGED[1]}" > "${CHANGED[0]}"
	[[ -z ${HOARDER-} ]] || kill "$HOARDER" 2> /dev/null || true
	bourdon_teardown
}

# set_sysctl NAME VALUE: until the end of the test. A function that with_sysctl runs does not fail at a line that fails.
set_sysctl() {
	CHANGED=("/proc/sys/${1//.//}")
	CHANGED+=("$(< "${CHANGED[0]}")")
	echo "$2" > "${CHANGED[0]}"
}

# policy LINE...
policy() {
	printf '%s\n' '[policy]' "$@" > "$POLICY"
}

# hog_as UID: starts OWN as that user
hog_as() {
	start_command setpriv --reuid "$1" --regid "$1" --clear-groups "$WORK/$OWN" --threads 2
}

# hoard_start SECONDS TGID...: opens everything that the consumer may open. hoard_look prints what comes of it in that
# many seconds.
hoard_start() {
	exec {HOARD}< <(exec setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups --inh-caps=-all \
		--bounding-set=-all "$BUILD/tools/see_all" --hoard "$PIN_DIR" "$@")
	HOARDER=$!
	local line
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$HOARD" line
	[ "$line" = ready ]
}

hoard_look() {
	kill -USR1 "$HOARDER"
	output=$(cat <&"$HOARD")
	HOARDER=
	echo "$output"
}

# seen TGID NAME: prints that number of the process from the output of see_all
seen() {
	sed -nE "s/^tgid=$1 .*\\b$2=([0-9]+).*/\\1/p" <<< "$output"
}

@test "what was opened under the policy before: it delivers until the next load, and nothing from then on" {
	local late what
	own_workload cpu_hog
	policy 'allow_uids = 1004, 1005'
	load --policy "$POLICY" --hz 97
	hog_as 1005
	# shellcheck disable=SC2016
	start_command setpriv --reuid 1005 --regid 1005 --clear-groups \
		sh -c 'echo ready; until [ -e "$1" ]; do sleep 0.2; done; exec "$0" --threads 2' "$WORK/$OWN" "$WORK/go"
	late=$CHILD
	CHILD=${CHILDREN[0]}
	hoard_start 2 "$CHILD"
	hoard_look
	for what in tasks mappings oncpu offcpu targets totals; do
		[ "$(seen "$CHILD" $what)" -gt 0 ] || { echo "$what: none"; false; }
	done
	[[ $output =~ iterator_bytes=([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	hoard_start 3 "$CHILD" "$late"
	policy 'deny_uids = 1005'
	load --policy "$POLICY" --hz 97
	touch "$WORK/go"
	hoard_look
	for what in tasks threads mappings lines events ends oncpu offcpu open; do
		[ "$(seen "$CHILD" $what)" -eq 0 ] || { echo "$what of $CHILD"; false; }
		[ "$(seen "$late" $what)" -eq 0 ] || { echo "$what of $late"; false; }
	done
	[ "$(tail -n 1 <<< "$output")" = 'iterator_bytes=0 oncpu=0 offcpu=0' ]
}

@test "what was opened before an unload delivers nothing from then on" {
	local what
	own_workload cpu_hog
	load --hz 97
	start_command "$WORK/$OWN" --threads 2
	hoard_start 3 "$CHILD"
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	hoard_look
	for what in tasks threads mappings lines events ends oncpu offcpu open; do
		[ "$(seen "$CHILD" $what)" -eq 0 ] || { echo "$what"; false; }
	done
	[ "$(tail -n 1 <<< "$output")" = 'iterator_bytes=0 oncpu=0 offcpu=0' ]
}

@test "a load that fails leaves what was opened before" {
	own_workload cpu_hog
	policy 'allow_uids = 1005'
	load --policy "$POLICY" --hz 97
	hog_as 1005
	hoard_start 2 "$CHILD"
	policy 'deny_uids = root'
	run load --policy "$POLICY" --hz 97
	[ "$status" -eq 1 ]
	hoard_look
	[ "$(seen "$CHILD" tasks)" -gt 0 ]
	[ "$(seen "$CHILD" oncpu)" -gt 0 ]
}

# switch_stats: sets RUNS and RUN_NS to how often offcpu_switch has run while the kernel counts it, and how long.
switch_stats() {
	read -r RUNS RUN_NS < <(bpftool -j prog show pinned "$PIN_DIR/prog_offcpu_switch" | jq -r '"\(.run_cnt // 0) \(.run_time_ns // 0)"')
}

# has_patterns: true if the consumer has named its targets.
has_patterns() {
	[ "$(bpftool -j map dump pinned "$PIN_DIR/patterns_b" | jq length)" -gt 0 ]
}

# switch_for SECONDS [OPTION]: with unlimited budgets, as a consumer that is not honest asks for them, measures offcpu_switch
# while CHILD is the target. --slow forges its tables before. Sets TIMES to its runs and TOOK_NS to their time.
switch_for() {
	local runs run_ns seconds=$1 consumer
	setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$BUILD/tools/see_all" --no-walks "$PIN_DIR" \
		$((seconds + 3)) "$CHILD" > "$WORK/seen" &
	consumer=$!
	await 10 has_patterns
	cat "$PIN_DIR/tasks" "$PIN_DIR/mappings" > "$WORK/walked"
	[[ -z ${2-} ]] || "$BUILD/tools/forge_tables" --slow "$PIN_DIR" "$CHILD" 1 5ec2e75ec2e75ec2
	switch_stats
	runs=$RUNS run_ns=$RUN_NS
	sleep "$seconds"
	switch_stats
	TIMES=$((RUNS - runs)) TOOK_NS=$((RUN_NS - run_ns))
	wait "$consumer"
	output=$(< "$WORK/seen")
	echo "$output"
	[ "$(seen "$CHILD" offcpu)" -gt 0 ]
}

# bats test_tags=alone
@test "forged tables and budgets: recording stacks takes a twentieth of each CPU" {
	local each_ns stacks_ns
	own_workload switcher
	start_command "$WORK/$OWN"
	set_sysctl kernel.bpf_stats_enabled 1
	policy 'max_rate = 1'
	load --policy "$POLICY"
	switch_for 2
	each_ns=$((TOOK_NS / TIMES))
	policy 'max_rate = 20000'
	load --policy "$POLICY"
	switch_for 3 --slow
	[ "$(seen "$CHILD" user_frames)" -eq 127 ]
	stacks_ns=$((TOOK_NS - TIMES * each_ns))
	echo "$TIMES times; a switch takes $each_ns ns; with forged tables stacks take $((stacks_ns / 3000000 / $(nproc))) ‰ of each CPU"
	# a twentieth, and two fifths of it for what differs between the two measurements
	[ "$stacks_ns" -le $((3000000000 * $(nproc) * 7 / 100)) ]
}

@test "bourdon-load gives CAP_SYS_ADMIN up where the kernel does not demand it" {
	local lock loader permitted
	[ $((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 21 & 1)) -eq 1 ] # CAP_SYS_ADMIN
	set_sysctl kernel.perf_event_paranoid 2
	# a loader that waits for the lock of another is confined
	exec {lock}< "$WORK/bpf"
	flock -x "$lock"
	"$BUILD/bourdon-load" --policy "$WORK/no-limits.conf" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" &
	loader=$!
	await 10 grep -q '^Seccomp:.*2$' "/proc/$loader/status"
	permitted=$((0x$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$loader/status")))
	flock -u "$lock"
	exec {lock}<&-
	wait "$loader"
	[ $((permitted >> 21 & 1)) -eq 0 ]
	[ $((permitted >> 39 & 1)) -eq 1 ] # CAP_BPF
}
