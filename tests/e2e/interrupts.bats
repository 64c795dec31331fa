#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Time in interrupts: what the kernel counts, whose vector or handler it was, and its share of the machine's time.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup interrupts
	cgroup_make
	own_workload cpu_hog
	rule victim "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 1s' 'capture = 5s' 'cooldown = 1h'
}

teardown() {
	bourdon_teardown
}

# flood: sends datagrams to a socket that nobody reads, as fast as it can, on CPU 0. Each is a soft interrupt NET_RX.
flood() {
	# shellcheck disable=SC2016 # perl's variables
	ON_CPU=0 start_command perl -MIO::Socket::INET -e '
		$to = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1") or die;
		$from = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1", PeerPort => $to->sockport) or die;
		$| = 1; print "ready\n"; send($from, "x", 0) while 1'
}

# ring_timers: a signal every 50 us, on CPU 0. Each is an interrupt of the CPU's own timer.
ring_timers() {
	# shellcheck disable=SC2016 # perl's variables
	ON_CPU=0 start_command perl -MTime::HiRes=setitimer,ITIMER_REAL -e '
		$SIG{ALRM} = sub {}; setitimer(ITIMER_REAL, 0.00005, 0.00005); $| = 1; print "ready\n"; 1 while 1'
}

# of_kernel NAME: the kernel's count of a soft interrupt, or of one in /proc/interrupts, over all CPUs
of_kernel() {
	awk -v name="$1:" '$1 == name { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum + 0 }' \
		/proc/softirqs /proc/interrupts
}

# of_programs KIND NUMBER: the programs' count since the load, over all CPUs
of_programs() {
	bpftool --json map dump pinned "$PIN_DIR/interrupts" |
		jq --argjson kind "$1" --argjson number "$2" \
			'[.[].formatted | select(.key.kind == $kind and .key.number == $number).values[].value.count] | add // 0'
}

# between LEAST MOST NUMBER
between() {
	awk -v least="$1" -v most="$2" -v number="$3" 'BEGIN { exit !(number >= least && number <= most) }' ||
		{ echo "$3 is not between $1 and $2"; return 1; }
}

# captured START...: starts the load and two targets on one CPU, and waits until their capture is stored
captured() {
	"$@"
	ON_CPU=0 start_command "$WORK/$OWN"
	ON_CPU=0 start_command "$WORK/$OWN"
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	sql 'SELECT kind, number, name, count, ns, percent FROM interrupt ORDER BY ns DESC LIMIT 5' >&2
	sql 'SELECT verdict, victim, blamed_percent FROM capture' >&2
}

@test "a flood of datagrams is NET_RX: as often as the kernel counts, and at most as long" {
	load
	daemon_start
	local kernel programs grew seen ns
	kernel=$(of_kernel NET_RX)
	programs=$(of_programs 1 3)
	captured flood
	grew=$(($(of_kernel NET_RX) - kernel))
	seen=$(($(of_programs 1 3) - programs))
	echo "the kernel counts $grew, the programs $seen" >&2
	((grew > 1000))
	between 0.995 1.005 "$(jq -n "$seen / $grew")"
	# the flood is older than the capture, and goes on after it
	between 0.3 1 "$(sql "SELECT 1.0 * count / $grew FROM interrupt WHERE kind = 'softirq' AND name = 'NET_RX' AND number = 3")"
	# what ends processes beside it makes RCU longer, and what writes to disks, BLOCK
	[ "$(sql "SELECT name FROM interrupt WHERE kind = 'softirq' AND name NOT IN ('RCU', 'BLOCK') ORDER BY ns DESC LIMIT 1")" = NET_RX ]
	# The kernel counts by ticks: its way in and out of soft interrupts, too, and not what a tick itself makes run behind it.
	ns=$(sql "SELECT sum(ns) FROM interrupt WHERE kind = 'softirq'")
	between 0.3 10 "$(sql "SELECT 1.0 * $ns / ns FROM machine_time WHERE part = 'softirq'")"
	ns=$(sql "SELECT sum(ns) FROM interrupt WHERE kind = 'softirq' AND name NOT IN ('RCU', 'TIMER', 'SCHED')")
	between 0 1.2 "$(sql "SELECT 1.0 * $ns / ns FROM machine_time WHERE part = 'softirq'")"
	# of two decimals
	between -0.0051 0.0051 "$(sql "SELECT percent - 100.0 * i.ns / m.total FROM interrupt i, (SELECT max(to_at - from_at) * $(getconf _NPROCESSORS_ONLN) AS total FROM machine_time) m WHERE name = 'NET_RX'")"
	# why shows them from 5 % of the machine's time on
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $output == *$'\nNET_RX '* ]] || [ "$(sql 'SELECT sum(percent) < 5 FROM interrupt')" -eq 1 ]
}

@test "a storm of timers is the CPU's own timer, as often as the kernel counts" {
	load
	[ -e "$PIN_DIR/link_timer_enter" ] || skip 'only x86 has the tracepoints of a timer without a number'
	daemon_start
	# one count cannot be read at the moment of the other: the kernel's is read before and after that of the programs
	local before=() after=() seen least most
	before=("$(of_kernel LOC)" "$(of_programs 3 0)" "$(of_kernel LOC)")
	captured ring_timers
	after=("$(of_kernel LOC)" "$(of_programs 3 0)" "$(of_kernel LOC)")
	seen=$((after[1] - before[1])) least=$((after[0] - before[2])) most=$((after[2] - before[0]))
	echo "the kernel counts $least to $most, the programs $seen" >&2
	((least > 1000 && seen * 100 >= least * 99 && seen * 100 <= most * 101))
	between 0.3 1 "$(sql "SELECT 1.0 * count / $most FROM interrupt WHERE kind = 'irq' AND number IS NULL AND name = 'local timer'")"
	(($(sql "SELECT ns FROM interrupt WHERE name = 'local timer'") > 0))
}

@test "a hard interrupt has its number and its handler's name" {
	load
	daemon_start
	captured dd if=/dev/zero of="$WORK/data" bs=1M count=64 oflag=direct status=none
	local number name found=0
	while IFS='|' read -r number name; do
		echo "$number is $name" >&2
		grep -q "^ *$number: .* $name\( *,.*\)\?$" /proc/interrupts
		found=$((found + 1))
	done <<< "$(sql "SELECT number, name FROM interrupt WHERE kind = 'irq' AND number IS NOT NULL AND ns > 0")"
	((found > 0))
}
