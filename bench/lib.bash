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

# arm COMM [LOAD-OPTION...]: loads, and starts the consumer with processes of that name as targets.
arm() {
	load --hz "$HZ" "${@:2}"
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

# measure_reference PID: what the reference program costs on a process.
measure_reference() {
	"$BUILD/bench/reference" --tgid "$1" --hz "$HZ" --seconds "$ROUND_SECONDS"
}

# ns_a_sample: all time of the program by the samples that were written: runs that left early are paid for.
ns_a_sample() {
	awk '{ for (i = 1; i <= NF; i++) { split($i, pair, "="); number[pair[1]] = pair[2] }
		printf "%.1f\n", number["run_ns"] / number["samples"] }'
}

# no_drops FILE: dropped samples would make the reference look cheap.
no_drops() {
	[[ $(value dropped < "$1" | awk '{ all += $1 } END { print all + 0 }') -eq 0 ]]
}

# ---- a consumer at rest ----

# spawn CGROUPS PROCESSES: that many sleeping processes in each of that many cgroups, and no other children.
spawn() {
	local i directories=()
	doing "$1 cgroups of $2 processes"
	children_end
	cgroup_remove
	cgroup_make
	for ((i = 0; i < $1; i++)); do
		directories+=("$CGROUP2/$CGROUP/$i")
	done
	mkdir "${directories[@]}"
	start sleepers "$2" "${directories[@]}"
}

# await_grants NUMBER: until bourdon-grant has granted so many since it was started, and the daemon armed them.
await_grants() {
	local name granted=0 deadline=$((SECONDS + 120))
	while ((10#$granted < $1)); do
		((SECONDS < deadline)) || return 1
		sleep 0.02
		[[ ! -s $WORK/grants ]] || read -r name granted < "$WORK/grants"
		[[ $name == granted ]] || granted=0
	done
	GRANTED_AT=$EPOCHREALTIME # to 20 ms; the daemon counts them once a second
	await_status 10 "(.counters[] | select(.name == \"grants\")).value == $1"
}

# cpu_ns: of all threads of the daemon.
cpu_ns() {
	cat "/proc/$DAEMON/task"/*/schedstat | awk '{ all += $1 } END { printf "%.0f\n", all }'
}

# wakeups: a thread that sleeps leaves the CPU by its own will before each.
wakeups() {
	cat "/proc/$DAEMON/task"/*/status | awk '$1 == "voluntary_ctxt_switches:" { all += $2 } END { print all }'
}

# rss_kib PID: resident memory without the mapped rings, which are the kernel's and counted as such.
rss_kib() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = $6 ~ /bpf-map/ } $1 == "Rss:" && !ring { all += $2 }
		END { print all }' "/proc/$1/smaps"
}

# at_rest SECONDS: what the daemon takes meanwhile, as "cpu_ns=N wakeups=N rss_kib=N spawner_kib=N fds=N".
at_rest() {
	local cpu switches
	cpu=$(cpu_ns)
	switches=$(wakeups)
	sleep "$1"
	cpu=$(($(cpu_ns) - cpu))
	switches=$(($(wakeups) - switches))
	echo "cpu_ns=$cpu wakeups=$switches rss_kib=$(rss_kib "$DAEMON")" \
		"spawner_kib=$(rss_kib "$(pgrep -P "$DAEMON")") fds=$(find "/proc/$DAEMON/fd" -mindepth 1 | wc -l)"
}
