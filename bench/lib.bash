# SPDX-License-Identifier: GPL-2.0-only
#
# What the parts of make bench share: an installation of their own (tests/e2e/lib.bash), numbers out of what
# the programs in bench/ print, medians of them, and the rows of the table.
#
# A part is an executable in bench/parts/. It prints rows on standard output and nothing else; what it is
# doing goes to standard error. It exits with 0 unless it could not measure: a missed budget is a result.

# shellcheck source=tests/e2e/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/../tests/e2e/lib.bash"

ROUNDS=${BENCH_ROUNDS:-7}          # of what is compared, one after the other
ROUND_SECONDS=${BENCH_SECONDS:-5}  # of each
IDLE_SECONDS=${BENCH_IDLE_SECONDS:-60}
CPUS=$(getconf _NPROCESSORS_ONLN)
HZ=${BENCH_HZ:-47}

# bench_setup NAME: an installation for this part, on a disk (/tmp may be memory), that ends with it.
bench_setup() {
	TMPDIR=/var/tmp bourdon_setup "bench-$1"
	trap bourdon_teardown EXIT
}

doing() {
	printf '  %s\n' "$*" >&2
}

# value NAME: that number from each line of "name=number name=number ...".
value() {
	awk -v name="$1" '{ for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2 && pair[1] == name) print pair[2] }'
}

# calc EXPRESSION: its value, with six significant digits.
calc() {
	awk "BEGIN { printf \"%.6g\\n\", $1 }"
}

# median: of the numbers on standard input, a line each.
median() {
	sort -g | awk '{ all[NR] = $1 } END {
		if (!NR) exit 1
		print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# spread DIGITS UNIT: "median UNIT (lowest to highest)" of the numbers on standard input.
spread() {
	sort -g | awk -v digits="$1" -v unit="$2" '{ all[NR] = $1 } END {
		if (!NR) exit 1
		middle = NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2
		printf "%.*f %s (%.*f to %.*f)\n", digits, middle, unit, digits, all[1], digits, all[NR] }'
}

# verdict NUMBER LIMIT
verdict() {
	awk -v number="$1" -v limit="$2" 'BEGIN { print number <= limit ? "within" : "over" }'
}

# row WHAT BOURDON OTHER RATIO VERDICT: a row of the table. OTHER is the reference or the budget.
row() {
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "${3:--}" "${4:--}" "${5:--}"
}

# row_at_most WHAT SHOWN NUMBER LIMIT UNIT: a row whose budget is LIMIT.
row_at_most() {
	row "$1" "$2" "at most $4 $5" "$(printf '%.2f' "$(calc "$3 / $4")")" "$(verdict "$3" "$4")"
}

# row_at_least WHAT SHOWN NUMBER LIMIT UNIT
row_at_least() {
	row "$1" "$2" "at least $4 $5" "$(printf '%.2f' "$(calc "$3 / $4")")" "$(verdict "$4" "$3")"
}

# quiet_rule NAME COMM: a rule that makes targets and never fires.
quiet_rule() {
	rule "$1" "comm = $2" 'io.full = 100%' 'watch = system'
}

# arm COMM: loads, and starts the consumer with processes of that name as targets.
arm() {
	load --hz "$HZ"
	quiet_rule armed "$1"
	daemon_start
}

# disarm: ends what arm began, so that nothing of it runs.
disarm() {
	daemon_stop TERM
	rm -f "$RULES_DIR"/*.conf
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

# bpf_cost SECONDS: what the pinned programs cost meanwhile, as "name=number ...".
bpf_cost() {
	"$BUILD/bench/bpf_cost" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --seconds "$1"
}
