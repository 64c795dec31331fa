# SPDX-License-Identifier: GPL-2.0-only
#
# What the makers of captures of known truth share: services in cgroups and sessions of their own, one capture of one of them,
# and what the kernel counted of the others meanwhile. Source it as root.

HERE=$(dirname "${BASH_SOURCE[0]}")
source "$HERE/../e2e/lib.bash"
source "$HERE/../e2e/truth.bash"
source "$HERE/makers.bash"

LOCKS=$HERE/../workloads/locks
HISTORY=2s
SPAN=3s
OTHERS_MOST=20 # % of the waiting
TRIES=3
LEAST_DEADLINE=20 # a situation that does not come about is made again

situations_setup() {
	bourdon_setup verdicts
	CGROUP=verdicts.slice # so that the cgroups below are units
	[[ ! -e $CGROUP2/$CGROUP ]] || { echo "$CGROUP2/$CGROUP exists: another run?" >&2; exit 1; }
	NAMING=3 write_settings
	cgroup_make
	V1_CPU=$(findmnt -n -o TARGET -t cgroup -O cpu | head -n 1)
	V1_MEMORY=$(findmnt -n -o TARGET -t cgroup -O memory | head -n 1)
	# of a run that was killed
	find "$V1_CPU" "$V1_MEMORY" -mindepth 1 -maxdepth 2 -depth -path '*/verdicts-*' -type d -exec rmdir {} +
	V1_MADE=()
	TRUTH=
	RELOADED=
	load
}

# reload OPTION...: loads again, under another policy
# shellcheck disable=SC2120 # make.sh passes some
reload() {
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	load "$@"
	RELOADED=1
}

situations_teardown() {
	situation_end
	bourdon_teardown
}

# situation_begin: forgets the one before
situation_begin() {
	LABELS=() SERVED=() FACTS=()
	: > "$WORK/finished"
	declare -gA COMM_OF=()
	KIND='' WHOM='' VICTIM='' VICTIM_PID='' ON_CPU=0
	rm -rf "$STATE_DIR" "$RULES_DIR"
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0750 "$STATE_DIR"
	install -d -m 0755 "$RULES_DIR"
}

# situation_end: ends all its processes and removes their cgroups
situation_end() {
	local directory
	[[ -z $TRUTH ]] || truth_end
	[[ -z $DAEMON ]] || daemon_stop TERM
	echo 1 > "$CGROUP2/$CGROUP/cgroup.kill"
	children_end
	await 60 grep -qx 'populated 0' "$CGROUP2/$CGROUP/cgroup.events"
	find "$CGROUP2/$CGROUP" -mindepth 1 -depth -type d -delete
	for directory in "${V1_MADE[@]}"; do await 10 rmdir "$directory"; done
	V1_MADE=()
	ip netns del verdicts 2> /dev/null || true
	[[ -z $RELOADED ]] || reload
	RELOADED=
}

# serve SERVICE COMMAND...: runs the command in SERVICE.service, on the CPUs ON_CPU, in a session of its own that goes before
# the machine's other ones by PRIORITY. Sets CHILD. What the command prints is thrown away.
serve() {
	mkdir -p "$CGROUP2/$CGROUP/$1.service"
	# shellcheck disable=SC2016 # the inner shell expands it
	CGROUP=$CGROUP/$1.service start_command setsid bash -c '
		echo "$1" > /proc/self/autogroup
		for directory in $2; do echo $$ > "$directory/cgroup.procs"; done
		cd "$3"; echo ready; exec "${@:4}" > /dev/null 2>&1 < /dev/null' serve \
		"${PRIORITY--8}" "${V1-}" "$WORK" "${@:2}"
	[[ " ${SERVED[*]-} " == *" $1 "* ]] || {
		SERVED+=("$1")
		LABELS+=("$1=$CGROUP2/$CGROUP/$1.service/cpu.stat,usage_usec")
	}
}

# victim COMM COMMAND...: the service that the rule is for, and the name that its processes have
victim() {
	VICTIM=$1
	serve victim "${@:2}"
	VICTIM_PID=$CHILD
}

# v1_group CONTROLLER-DIRECTORY NAME FILE=VALUE...: makes a cgroup of version 1, and adds it to V1, for serve
v1_group() {
	local setting
	mkdir "$1/$2"
	V1_MADE=("$1/$2" "${V1_MADE[@]}")
	for setting in "${@:3}"; do echo "${setting#*=}" > "$1/$2/${setting%%=*}"; done
	V1="${V1:+$V1 }$1/$2"
}

# program NAME [WORKLOAD]: a copy of the workload, under that name
program() {
	[[ -e $WORK/$1 ]] || cp "$BUILD/workloads/${2-cpu_hog}" "$WORK/$1"
}

# fires RESOURCE.some=THRESHOLD [LINE...]: a rule for the victim fires, and its capture is complete
fires() {
	follows "${1//=/ = }" "${@:2}"
	await_log 30 'rule victim fired'
	captured
}

# follows TRIGGER [LINE...]: a daemon follows the victim
follows() {
	local thread
	THREADS=()
	for thread in "/proc/$VICTIM_PID/task"/*; do
		THREADS+=("${thread##*/}")
		LABELS+=("queued_${thread##*/}=$thread/schedstat,2")
	done
	rule victim "comm = $VICTIM" "cgroup = /$CGROUP/victim.service" "$1" "history = $HISTORY" "capture = $SPAN" 'cooldown = 1h' "${@:2}"
	truth_start "${LABELS[@]}"
	daemon_start
}

# has_passed NS: whether that time, of the wall clock, is over
has_passed() {
	(($(date +%s%N) >= $1))
}

# asked: a capture on demand of the victim
asked() {
	follows 'cpu.some = 10s/10s'
	await 10 has_passed $(($(date +%s%N) + 2200000000))
	local before
	before=$(queued_ns)
	"$BUILD/bourdon" --db "$DB" capture --for "$SPAN" --comm "$VICTIM" --cgroup "/$CGROUP/victim.service" > "$WORK/capture.out" 2>&1
	QUEUED_NS=$(($(queued_ns) - before))
	captured
}

# queued_ns: how long all threads of the victim have waited for a CPU so far, as the kernel counts it
queued_ns() {
	cat "/proc/$VICTIM_PID/task"/*/schedstat | awk '{ sum += $2 } END { printf "%.0f\n", sum }'
}

# captured: the capture has ended and is stored. Sets FROM and TO, its span
captured() {
	await_status 60 '.captures | length == 0'
	truth_stop
	echo 1 > "$CGROUP2/$CGROUP/cgroup.kill" # naming yields to them
	await_sql 60 "SELECT max(state) FROM capture" complete
	daemon_stop TERM
	read -r FROM TO <<< "$(sql 'SELECT triggered_at - min(history_ns, ifnull((SELECT history_ns FROM rule r WHERE r.rule_id = c.rule_id), 0)), ended_at FROM capture c' | tr '|' ' ')"
}

# ---- truth ----

# fact LINE: a further line of the header
fact() {
	FACTS+=("$1")
}

# truth KIND [WHOM]: what the script has made
truth() {
	KIND=$1 WHOM=${2-}
}

# shares_on_one_cpu THREADS: the truth of a victim of which so many threads want CPU ON_CPU all the time, beside services that
# have no other CPU: README.md has the rule. Fails if the machine's other programs took too much.
shares_on_one_cpu() {
	local service thread usage='' waited=0 line
	for service in "${SERVED[@]}"; do usage+="$service $(truth_of "$service" "$FROM" "$TO")"$'\n'; done
	# one that has ended was none that wants the CPU all the time
	for thread in "${THREADS[@]}"; do ((waited += $(truth_of "queued_$thread" "$FROM" "$TO" 2> /dev/null || echo 0))); done
	awk -v threads="$1" -v waited="$waited" -v most="$OTHERS_MOST" '
		{ used[$1] = $2 }
		END {
			share["own"] = 100 * (threads - 1) * used["victim"] / waited
			for (service in used) if (service != "victim") share[service] = 100 * threads * used[service] / waited
			of_others = 100
			for (party in share) of_others -= share[party]
			if (of_others > most) { printf "the machine'\''s other programs have %.1f %%\n", of_others > "/dev/stderr"; exit 1 }
			for (party in share) {
				if (share[party] > first) { first = share[party]; who = party }
			}
			# its own threads are no neighbour
			for (party in share) if (party != who && (party != "own" || who == "own") && share[party] > second) second = share[party]
			# a share this near to a bound may be on either side
			own = who == "own" ? 1 : share["own"] > first * 0.9 ? 0.5 : 0
			one = first >= 1.5 * second * 1.1 && first >= 22 ? 1 : first < 1.5 * second * 0.9 || first < 18 ? 0 : 0.5
			if (own == 1) kind = second > first * 0.9 ? "own threads|neighbour|neighbours" : "own threads"
			else kind = (own ? "own threads|" : "") (one == 1 ? "neighbour" : one ? "neighbour|neighbours" : "neighbours")
			print "kind " kind
			if (own != 1 && second < first * 0.95) print "whom " who
			for (party in share) printf "share %s %.1f\n", party (party == "own" ? "" : ".service"), share[party]
			printf "share others %.1f\n", of_others
		}' <<< "${usage%$'\n'}" > "$WORK/shares" || return 1
	KIND=$(sed -n 's/^kind //p' "$WORK/shares")
	WHOM=$(sed -n 's/^whom //p' "$WORK/shares")
	[[ -z $WHOM ]] || WHOM="${COMM_OF[$WHOM]-$WHOM} in $WHOM.service"
	while read -r line; do fact "$line"; done < <(sed -n 's/^share /share: /p' "$WORK/shares" | sort)
}

# is_throttled DIRECTORY: the truth of a victim of one thread that always wants to run, beside a quota of cgroup v1 whose cpu.stat
# was read as `throttled`: README.md has the rule. Fails where the machine's other programs made it wait too much.
is_throttled() {
	local throttled waited
	throttled=$(truth_of throttled "$FROM" "$TO")
	waited=$((TO - FROM - $(truth_of victim "$FROM" "$TO")))
	fact "throttled: $((100 * throttled / waited)) % of the wait"
	((throttled * 100 >= waited * 25)) || { echo "throttled for $throttled of $waited ns" >&2; return 1; }
	truth quota
}

# is_lock LOCK-THREADS: the same of so many threads, of which all but one wait for a lock or for a CPU: the lock has to be more
is_lock() {
	local locked=$(($1 * (TO - FROM) - $(truth_of victim "$FROM" "$TO") - QUEUED_NS))
	fact "lock: $((locked / 1000000)) ms, CPU: $((QUEUED_NS / 1000000)) ms"
	((locked * 4 >= QUEUED_NS * 5)) || { echo "queued for $QUEUED_NS ns" >&2; return 1; }
	truth lock
}

# ---- files ----

# What bourdon makes of the facts is no fact.
ANSWERS="'cause', 'because', 'incident_id', 'explained_by', 'verdict', 'verdict_version', 'victim', 'wait', 'waited_ns', 'blamed_percent', 'limit_cgroup', 'limit_name', 'limit_value', 'killed_comm', 'killed_tgid', 'killed_how', 'not_examined'"

# insert TABLE [CONDITION]: prints the rows as one statement, without columns that have NULL in all of them
insert() {
	local all counts columns i some=() answers=$ANSWERS comma="||','||"
	[[ $1 == capture ]] || answers="''"
	mapfile -t all < <(sql "SELECT name FROM pragma_table_info('$1') WHERE name NOT IN ($answers)")
	columns=$(IFS=,; echo "${all[*]}")
	IFS='|' read -r -a counts <<< "$(sql "SELECT count(${columns//,/), count(}) FROM $1 WHERE ${2-1}")"
	for i in "${!all[@]}"; do ((counts[i] == 0)) || some+=("${all[i]}"); done
	((${#some[@]} > 0)) || return 0
	columns=$(IFS=,; echo "${some[*]}")
	echo "INSERT INTO $1($columns) VALUES"
	sql "SELECT '(' || quote(${columns//,/) $comma quote(}) || ')' FROM $1 WHERE ${2-1}" | sed '$!s/$/,/; $s/$/;/'
}

# fold TABLE KEYS SUMS CONDITION: replaces the rows by one that has their sums, and whose keys are those of the first
fold() {
	local sums="sum(${3//, /), sum(})"
	echo "INSERT INTO $1(capture_id, role, $2, $3) SELECT 1, 'rest', ${2//denied/0}, $sums FROM $1 WHERE $4 GROUP BY capture_id;
		DELETE FROM $1 WHERE $4;"
}

# rows_of_capture: the rows that are facts about it. Processes that did little are one row, as where the daemon has too many,
# and what names this machine and its directories is left out.
rows_of_capture() {
	local table little="role IN ('other', 'kernel') AND cpu_ns < 5000000 AND read_bytes + write_bytes < 262144"
	sqlite3 "$DB" "UPDATE run SET hostname = 'host', policy = NULL, object_sha256 = NULL, attachments = NULL, database_id = NULL;
		UPDATE rule SET source = 'victim.conf:1';
		UPDATE OR IGNORE process SET exe = replace(exe, rtrim(exe, replace(exe, '/', '')), ''), runtime_evidence = NULL;
		$(fold usage 'from_at, to_at' 'cpu_ns, run_delay_ns, io_delay_ns, stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, major_faults, minor_faults, read_bytes, write_bytes, voluntary_switches, involuntary_switches, rss_bytes, rss_before_bytes, reclaims, reclaim_ns' \
			"$little AND abs(rss_bytes - rss_before_bytes) < 4194304")
		$(fold ended denied 'processes, cpu_ns, run_delay_ns, major_faults, read_bytes, write_bytes, reclaims, reclaim_ns' "$little")"
	insert run
	insert rule "rule_id = (SELECT rule_id FROM capture)"
	insert capture
	insert process "process_id IN (SELECT process_id FROM usage)"
	for table in usage ended machine_time machine_bytes account blame interrupt killed cgroup_memory statistic; do
		insert "$table"
	done
	# as it began and as it ended
	insert pressure 'at IN (SELECT min(at) FROM pressure UNION SELECT max(at) FROM pressure)'
	insert loss 'events > 0'
}

# write_situation NAME TITLE: prints the file
write_situation() {
	local line
	echo "-- situation: $1: $2"
	echo "-- kind: $KIND"
	[[ -z $WHOM ]] || echo "-- whom: $WHOM"
	for line in "${FACTS[@]}"; do echo "-- $line"; done
	rows_of_capture
}

# ---- the run ----

# situation NAME TITLE FUNCTION [ARGUMENT...]: makes it, if its name matches one of PATTERNS, and calls `finish NAME TITLE`; again, if
# the machine was too busy
situation() {
	local pattern status=1 try
	for pattern in "${PATTERNS[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 != $pattern ]] || status=0
	done
	((status == 0)) || return 0
	for ((try = 1; try <= TRIES; try++)); do
		set +e
		(
			set -e
			trap situation_end EXIT
			situation_begin
			"${@:3}"
			finish "$1" "$2"
		) > "$WORK/situation.log" 2>&1
		status=$?
		set -e
		((status != 0)) || break
		echo "$1: try $try failed: $(tail -n 1 "$WORK/situation.log")" >&2
	done
	((status == 0)) || FAILED+=("$1")
	cat "$WORK/finished"
}

# situations_run LIST PATTERN...: makes those of the list, a function, whose names match
situations_run() {
	PATTERNS=("${@:2}")
	((${#PATTERNS[@]} > 0)) || PATTERNS=('*')
	FAILED=()
	trap situations_teardown EXIT
	situations_setup
	"$1"
	((${#FAILED[@]} == 0)) || { echo "not made: ${FAILED[*]}" >&2; return 1; }
}
