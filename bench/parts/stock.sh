#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how many stacks of Debian's own programs are complete, by bourdon and, in the same seconds, by
# perf, which copies 8 KiB of each stack and unwinds it later. All programs run at the same time.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source "$TREE/tests/e2e/stock.bash"

PROGRAMS=(xz sqlite3 openssl perl python3 redis postgres)
STOCK_HZ=${BENCH_HZ:-197} # enough samples for a result; perf script needs time for each
STOCK_SECONDS=$((2 * ROUND_SECONDS))
LEAST_PERCENT=99

# perf_record: records the processes in this test's cgroup.
perf_record() {
	local pids
	pids=$(paste -s -d , "$CGROUP2/$CGROUP/cgroup.procs")
	for pid in ${pids//,/ }; do
		echo "$pid $(< "/proc/$pid/comm")"
	done > "$WORK/pids"
	perf record -q -e cpu-clock -F "$STOCK_HZ" --call-graph dwarf -p "$pids" -o "$WORK/perf.data" -- \
		sleep "$STOCK_SECONDS" > /dev/null 2>&1
}

# perf_stacks: prints a line "comm whole" for each sample with user frames. Whole: its last frames are where
# threads begin.
perf_stacks() {
	timeout 300 perf script -i "$WORK/perf.data" --no-inline -F pid,ip,sym,dso 2> /dev/null |
		awk -v pids="$WORK/pids" '
			BEGIN { while ((getline line < pids) > 0) { split(line, word, " "); comm[word[1]] = word[2] } }
			function ended() {
				if (pid != "" && user)
					print comm[pid], (last last_but_one) ~ /_start|__libc_start_main|clone|start_thread/
				pid = ""; user = 0; last = last_but_one = ""
			}
			/^ *[0-9]+ *$/ { ended(); pid = $1; next }
			NF == 0 { ended(); next }
			$NF !~ /^\(\[(kernel|guest)/ { user = 1; last_but_one = last; last = $2 }
			END { ended() }'
}

percent() {
	awk -v some="$1" -v all="$2" 'BEGIN { printf "%.1f %% of %d", all ? 100 * some / all : 0, all }'
}

# compare NAME: prints a row, and one more for each reason why stacks of it are incomplete.
compare() {
	local all whole their_all their_whole samples reason module
	IFS='|' read -r all whole < <(stock_share "$1")
	read -r their_all their_whole < <(awk -v comm="stock-$1" '$1 == comm { all++; whole += $2 } END { print all + 0, whole + 0 }' \
		"$WORK/perf.stacks")
	((all > 0))
	row "stacks of $1 that are whole (reference: perf record --call-graph dwarf)" "$(percent "$whole" "$all")" \
		"$(percent "$their_whole" "$their_all")" '-' "$(verdict $((LEAST_PERCENT * all)) $((100 * whole))) $LEAST_PERCENT %"
	while IFS='|' read -r samples reason module; do
		row "of these, ended by \`$reason\` in ${module##*/}" "$(percent "$samples" "$all")"
	done < <(stock_shortfalls "$1")
}

bench_setup stock
trap 'stock_end; bourdon_teardown' EXIT
cgroup_make
doing "${PROGRAMS[*]}, for $STOCK_SECONDS s"
STOCK_MEANWHILE=perf_record
stock_capture "$STOCK_HZ" "$STOCK_SECONDS" "${PROGRAMS[@]}"
stock_end
doing 'perf script'
perf_stacks > "$WORK/perf.stacks"
for name in "${PROGRAMS[@]}"; do
	compare "$name"
done
