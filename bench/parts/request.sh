#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what the group `request` costs an exchange between a server and a client on this machine: of a target, of others, and
# while nobody wants the group.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

EXCHANGES=20000

# run_time: prints the run time of the group's programs since the load, in ns, and how often they ran
run_time() {
	local program
	for program in request_state request_arrived request_read request_answered; do
		bpftool -j prog show pinned "$PIN_DIR/prog_$program" | jq -r '"\(.run_time_ns // 0) \(.run_cnt // 0)"'
	done | awk '{ ns += $1; runs += $2 } END { print ns, runs }'
}

# exchange VARIANT: adds what an exchange takes of the programs, beside what the kernel takes to count a run
exchange() {
	local ns runs ns_after runs_after port
	start_command "$BUILD/workloads/known_server" --time 0
	port=${CHILD_LINE#ready }
	# the client meets a target, and what it runs for the first time
	"$BUILD/workloads/known_client" --port "$port" --times 1000 > "$WORK/client"
	read -r ns runs <<< "$(run_time)"
	"$BUILD/workloads/known_client" --port "$port" --times "$EXCHANGES" > "$WORK/client"
	read -r ns_after runs_after <<< "$(run_time)"
	calc "($ns_after - $ns) / $EXCHANGES" >> "$WORK/$1.ns"
	calc "($runs_after - $runs) / $EXCHANGES" >> "$WORK/$1.runs"
	children_end
}

# measure VARIANT COMM: with a rule on processes of that name, if one is given
measure() {
	if [[ $2 ]]; then
		arm "$2" --probes request
	else
		load --probes request
	fi
	exchange "$1"
	disarm
}

bench_setup request
cgroup_make
count_runs 1
for ((round = 1; round <= ROUNDS; round++)); do
	doing "round $round of $ROUNDS"
	measure off ''
	measure others no_such_process
	measure target known_server
done
row 'an exchange, the server is a target: all its tracepoints' "$(spread 0 ns < "$WORK/target.ns")"
row 'the same, the server is no target' "$(spread 0 ns < "$WORK/others.ns")"
row 'the same, while nobody wants the group' "$(spread 0 ns < "$WORK/off.ns")"
row 'of these, a program is called' "$(spread 1 times < "$WORK/target.runs")"
