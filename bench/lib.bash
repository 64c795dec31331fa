# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the parts of make bench: a separate installation (tests/e2e/lib.bash), numbers from the output of
# the programs in bench/, their medians, and the rows of the table.
#
# A part is an executable in bench/parts/. It prints rows on standard output and nothing else; progress goes
# to standard error. It exits with 0 unless it could not measure: a missed budget is a result.

# shellcheck source=tests/e2e/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/../tests/e2e/lib.bash"

ROUNDS=${BENCH_ROUNDS:-7}          # alternating rounds of each variant
ROUND_SECONDS=${BENCH_SECONDS:-5}  # length of a round
IDLE_SECONDS=${BENCH_IDLE_SECONDS:-60}
CPUS=$(getconf _NPROCESSORS_ONLN)
HZ=${BENCH_HZ:-47}

# bench_setup NAME: creates an installation for this part, removed at exit. On a disk, because /tmp may be
# memory.
bench_setup() {
	TMPDIR=/var/tmp bourdon_setup "bench-$1"
	trap bourdon_teardown EXIT
}

# count_runs 0|1: from 1 on the kernel counts how often programs run, and for how long, in place of what it did before the part
count_runs() {
	STATS=${STATS-$(sysctl -n kernel.bpf_stats_enabled)}
	trap count_runs_end EXIT
	sysctl -q "kernel.bpf_stats_enabled=$1"
}

count_runs_end() {
	sysctl -q "kernel.bpf_stats_enabled=$STATS"
	bourdon_teardown
}

doing() {
	printf '  %s\n' "$*" >&2
}

# value NAME: prints that number from each line of "name=number name=number ...".
value() {
	awk -v name="$1" '{ for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2 && pair[1] == name) print pair[2] }'
}

# calc EXPRESSION: prints its value with six significant digits.
calc() {
	awk "BEGIN { printf \"%.6g\\n\", $1 }"
}

# median: prints the median of the numbers on standard input, one a line.
median() {
	sort -g | awk '{ all[NR] = $1 } END {
		if (!NR) exit 1
		print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'
}

# spread DIGITS UNIT: prints "median UNIT (lowest to highest)" of the numbers on standard input.
spread() {
	sort -g | awk -v digits="$1" -v unit="$2" '{ all[NR] = $1 } END {
		if (!NR) exit 1
		middle = NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2
		printf "%.*f %s (%.*f to %.*f)\n", digits, middle, unit, digits, all[1], digits, all[NR] }'
}

# verdict NUMBER LIMIT: prints "within" or "over".
verdict() {
	awk -v number="$1" -v limit="$2" 'BEGIN { print number <= limit ? "within" : "over" }'
}

# row WHAT BOURDON OTHER RATIO VERDICT: prints a row of the table. OTHER is the reference or the budget.
row() {
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "${3:--}" "${4:--}" "${5:--}"
}

# row_at_most WHAT SHOWN NUMBER LIMIT UNIT: prints a row with a budget of at most LIMIT.
row_at_most() {
	row "$1" "$2" "at most $4 $5" "$(printf '%.2f' "$(calc "$3 / $4")")" "$(verdict "$3" "$4")"
}

# row_at_least WHAT SHOWN NUMBER LIMIT UNIT: prints a row with a budget of at least LIMIT.
row_at_least() {
	row "$1" "$2" "at least $4 $5" "$(printf '%.2f' "$(calc "$3 / $4")")" "$(verdict "$4" "$3")"
}

# instructions FUNCTION COMMAND...: prints how many instructions, in millions, the command spends in that function and in
# those that it calls.
instructions() {
	valgrind --tool=callgrind "--toggle-collect=$1*" --callgrind-out-file=/dev/null "--log-file=$WORK/callgrind" \
		"${@:2}" > /dev/null
	awk '$2 == "Collected" { found = $4 / 1000000 } END { if (!found) exit 1; printf "%.0f\n", found }' "$WORK/callgrind"
}

# quiet_rule NAME COMM: adds a rule that selects targets and never fires.
quiet_rule() {
	rule "$1" "comm = $2" 'io.full = 100%' 'watch = system'
}

# arm COMM [LOAD-OPTION...]: loads the programs and starts the daemon; processes of that name become targets.
arm() {
	load --hz "$HZ" "${@:2}"
	quiet_rule armed "$1"
	daemon_start
}

# disarm: stops the daemon and unloads the programs.
disarm() {
	daemon_stop TERM
	rm -f "$RULES_DIR"/*.conf
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
}

# many_watches: settings for one rule with more watches than it has by default
many_watches() {
	write_settings '[triggers]' 'watches_per_rule = 4096'
}

# await_watching TARGETS WATCHES: a rule opens what its work of a second allows, and the rest in the next ones
await_watching() {
	await_status 30 ".daemon[0].targets == $1 and .daemon[0].watches == $2"
}

# bpf_cost SECONDS: prints what the pinned programs cost in that time, as "name=number ...".
bpf_cost() {
	"$BUILD/bench/bpf_cost" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --seconds "$1"
}

# measure_reference PID: prints what the reference program costs for a process.
measure_reference() {
	"$BUILD/bench/reference" --tgid "$1" --hz "$HZ" --seconds "$ROUND_SECONDS"
}

# ns_a_sample: prints all CPU time of the program divided by the samples written, so early returns are
# included.
ns_a_sample() {
	awk '{ for (i = 1; i <= NF; i++) { split($i, pair, "="); number[pair[1]] = pair[2] }
		printf "%.1f\n", number["run_ns"] / number["samples"] }'
}

# no_drops FILE: fails if samples were dropped, which would make the reference look cheap.
no_drops() {
	[[ $(value dropped < "$1" | awk '{ all += $1 } END { print all + 0 }') -eq 0 ]]
}

# ---- an idle daemon ----

# spawn CGROUPS PROCESSES: starts that many sleeping processes in each of that many cgroups; ends all other
# children.
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

# await_grants NUMBER: waits until bourdon-grant has granted that many requests and the daemon has armed them.
await_grants() {
	local name granted=0 deadline=$((SECONDS + 120))
	while ((10#$granted < $1)); do
		((SECONDS < deadline)) || return 1
		sleep 0.02
		[[ ! -s $WORK/grants ]] || read -r name granted < "$WORK/grants"
		[[ $name == granted ]] || granted=0
	done
	GRANTED_AT=$EPOCHREALTIME # exact to 20 ms; the daemon counts them once a second
	await_status 10 "(.counters[] | select(.name == \"grants\")).value == $1"
}

# cpu_ns: prints the CPU time of all threads of the daemon.
cpu_ns() {
	cat "/proc/$DAEMON/task"/*/schedstat | awk '{ all += $1 } END { printf "%.0f\n", all }'
}

# wakeups: prints the voluntary context switches of all threads: a sleeping thread makes one before each
# wake-up.
wakeups() {
	cat "/proc/$DAEMON/task"/*/status | awk '$1 == "voluntary_ctxt_switches:" { all += $2 } END { print all }'
}

# rss_kib PID: prints resident memory without the mapped rings, which are kernel memory and counted as such.
rss_kib() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / { ring = $6 ~ /bpf-map/ } $1 == "Rss:" && !ring { all += $2 }
		END { print all }' "/proc/$1/smaps"
}

# at_rest SECONDS: prints what the daemon uses in that time, as "cpu_ns=N wakeups=N rss_kib=N spawner_kib=N
# fds=N".
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
