#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what it costs to time an interrupt: a soft interrupt, under a flood of datagrams on one CPU, and the CPU's own
# timer; and what a day-to-day rate of them is of a CPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

flood() {
	# shellcheck disable=SC2016 # perl's variables
	ON_CPU=0 start_command perl -MIO::Socket::INET -e '
		$to = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1") or die;
		$from = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1", PeerPort => $to->sockport) or die;
		$| = 1; print "ready\n"; send($from, "x", 0) while 1'
}

# cost PROGRAM...: prints the run time of these programs, in ns, for each run of the first
cost() {
	local program runs ns_of ns=0 first=
	for program; do
		read -r runs ns_of <<< "$(bpftool -j prog show pinned "$PIN_DIR/prog_$program" | jq -r '"\(.run_cnt // 0) \(.run_time_ns // 0)"')"
		first=${first:-$runs}
		ns=$((ns + ns_of))
	done
	calc "$ns / $first"
}

bench_setup interrupts
cgroup_make
count_runs 1
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	load --hz "$HZ"
	quiet_rule one no_such_process
	daemon_start
	flood
	sleep "$ROUND_SECONDS"
	children_end
	cost softirq_enter softirq_leave >> "$WORK/soft"
	[ ! -e "$PIN_DIR/prog_timer_enter" ] || cost timer_enter timer_leave >> "$WORK/timer"
	disarm
done
row 'a soft interrupt, its begin and end' "$(spread 0 ns < "$WORK/soft")"
[ ! -e "$WORK/timer" ] || row "an interrupt of the CPU's own timer, the same" "$(spread 0 ns < "$WORK/timer")"
row '1,000 interrupts a second, of a CPU' "$(awk '{ print $1 * 1000 / 1e7 }' "$WORK/soft" | spread 4 %)"
