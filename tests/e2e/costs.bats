#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What recording costs: bourdond, which has no descriptor of a program, tells what the kernel counts of its programs, and says
# so where the kernel does not count.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup costs
	STATS=$(< /proc/sys/kernel/bpf_stats_enabled)
}

teardown() {
	echo "$STATS" > /proc/sys/kernel/bpf_stats_enabled
	bourdon_teardown
}

# counted_by_kernel: a line for each program, its name and its runs, as root sees them
counted_by_kernel() {
	local pin
	for pin in "$PIN_DIR"/prog_*; do
		echo "${pin##*/prog_} $(bpftool -j prog show pinned "$pin" | jq '.run_cnt // 0')"
	done | sort
}

# counted_by_bourdon: the same of the status
counted_by_bourdon() {
	status_json | jq -r '.programs[] | "\(.name) \(.runs)"' | sort
}

# bats test_tags=alone
@test "the time of in-kernel programs is the kernel's, or is said not to be counted" {
	own_workload cpu_hog
	rule costs "comm = $OWN" 'cpu.some = 100ms/2s'
	load
	echo 0 > /proc/sys/kernel/bpf_stats_enabled
	daemon_start
	[ "$(status_json | jq -c '.program_time[0].counted, ([.programs[].runs] | unique)')" = $'0\n[""]' ]
	[[ $("$BUILD/bourdon" --db "$DB" status) == *'their time is not counted: '*'kernel.bpf_stats_enabled=1'* ]]
	echo 1 > /proc/sys/kernel/bpf_stats_enabled
	sleep 1
	counted_by_kernel > "$WORK/before"
	counted_by_bourdon > "$WORK/told"
	counted_by_kernel > "$WORK/after"
	join "$WORK/before" <(join "$WORK/told" "$WORK/after") > "$WORK/joined"
	# of all programs, whatever runs meanwhile
	[ "$(wc -l < "$WORK/joined")" -eq "$(wc -l < "$WORK/before")" ]
	[ "$(wc -l < "$WORK/told")" -eq "$(wc -l < "$WORK/before")" ]
	awk '!($2 <= $3 && $3 <= $4) { print; wrong = 1 } $3 { ran++ } END { exit wrong || ran < 5 }' "$WORK/joined"
	[[ $("$BUILD/bourdon" --db "$DB" status) == *offcpu_switch* ]]
	# the daemon holds no program
	! grep -l '^prog_type:' "/proc/$DAEMON/fdinfo/"* || false
}
