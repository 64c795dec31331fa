#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# `bourdon top --live`: what is on the CPUs now, as a table, JSON and CSV, and on a screen that tmux plays; who may watch, whom
# root's policy hides, and what a client that does not read does to the daemon. No test here may write to the database.

bats_require_minimum_version 1.5.0

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/screen.bash"

SCREEN_SECONDS=60

MEMBER=(setpriv --reuid 54321 --regid 54321 --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all)
ANOTHER=(setpriv --reuid 54323 --regid 54323 --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all)
STRANGER=(setpriv --reuid 54322 --regid 54322 --clear-groups --bounding-set=-all --inh-caps=-all)

setup() {
	bourdon_setup live
	cgroup_make
	install -m 0755 "$BUILD/bourdon" "$WORK/bourdon"
	TMUX_SOCKET=$WORK/tmux
	SCREEN_OF=(--db "$DB" top --live)
}

teardown() {
	tmux -S "$TMUX_SOCKET" kill-server 2> /dev/null || true
	bourdon_teardown
}

# live OPTION...: bourdon top --live, as a member of the daemon's group
live() {
	"${MEMBER[@]}" "$WORK/bourdon" --db "$DB" top --live "$@"
}

# watch OPTION...: a line of JSON each second, in $WORK/live.json, by WATCHER
watch() {
	live --json "$@" > "$WORK/live.json" 2> "$WORK/live.err" &
	WATCHER=$!
	CHILDREN+=("$WATCHER")
}

# watched JQ: whether a second that was watched has this
watched() {
	jq -e -s "any(.[]; $1)" "$WORK/live.json" > /dev/null 2>&1
}

# watched_group JQ: the same of a group
watched_group() {
	jq -e -s "any(.[].groups[]; $1)" "$WORK/live.json" > /dev/null 2>&1
}

# watched_sum JQ: that of all lines but the last, which may be half a one, weighted by their length: on a busy machine a line may be of
# several seconds
watched_sum() {
	sed '$d' "$WORK/live.json" | jq -s "[.[] | .ticks * ([.groups[] | select($1) | .cpus] | add // 0)] | add // 0"
}

# rows: how much the database has of what captures leave in it
rows() {
	sql 'SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM sample), (SELECT count(*) FROM frame)'
}

# within POINTS SHARE OTHER: whether they differ by so much at most
within() {
	awk -v most="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(a - b <= most && b - a <= most) }'
}

# all_named: whether all functions of three_hot have their names within a second
all_named() {
	live --once --json --match "tgid=$CHILD" --columns function | jq -e '[.groups[].function | select(. // "" | startswith("burn_"))] | length == 3' > /dev/null
}

# has_samples NUMBER: whether so many samples of the workload with names were watched
has_samples() {
	[ "$(watched_sum '.function // "" | startswith("burn_")' | cut -d . -f 1)" -ge "$1" ]
}

@test "functions and processes have their shares of the CPUs, and nothing is written" {
	load --hz 997
	daemon_start
	start_ahead "$BUILD/workloads/three_hot"
	local name known sum all before
	before=$(rows)
	# from the first second on in which all have their names
	await 60 all_named
	watch --match "tgid=$CHILD" --columns function,comm,module,uid,tgid
	await 120 has_samples 3000
	kill "$WATCHER"
	wait "$WATCHER" || true
	all=$(watched_sum '.function // "" | startswith("burn_")')
	while read -r name known; do
		sum=$(watched_sum ".function == \"$name\"")
		echo "$name: $sum of $all, $known %" >&2
		within 5 "$(awk -v own="$sum" -v all="$all" 'BEGIN { print 100 * own / all }')" "$known"
	done <<- END
		burn_half 50
		burn_third 33.3
		burn_sixth 16.7
	END
	sed -i '$d' "$WORK/live.json"
	watched_group '.function == "burn_half" and .comm == "three_hot" and .module == "three_hot" and .uid == 0'
	watched '.cpus_sampled >= 1 and .missed == 0 and .ticks > 400'
	# the share of a CPU is what the process received meanwhile
	local ran_ms used
	ran_ms=$(cpu_ms "$CHILD")
	used=$(live --once --json --match "tgid=$CHILD" --columns tgid | jq '.cpus')
	awk -v used="$used" 'BEGIN { exit !(used > 0.02 && used <= 1.1) }'
	[ "$(cpu_ms "$CHILD")" -ge "$ran_ms" ]
	[ "$(rows)" = "$before" ]
	# one table, and CSV
	run live --once --match "tgid=$CHILD"
	[ "$status" -eq 0 ]
	[[ ${lines[0]} =~ ^[0-9.]+\ of\ [0-9]+\ CPUs\ in\ use.*,\ over\ [0-9]+\ ticks\ of\ the\ clock$ ]]
	[[ ${lines[1]} =~ CPUS\ +SHARE\ +FUNCTION\ +COMM ]]
	run live --once --csv --match "tgid=$CHILD comm=three_hot"
	[ "$(tr -d '\r' <<< "${lines[0]}")" = 'at,cpus,share,function,comm' ]
	[[ $output == *'"burn_half","three_hot"'* ]]
	[ "$(rows)" = "$before" ]
}

@test "root and members of the group may watch, and nobody else; four at once, and each user a share of them" {
	load
	daemon_start
	start three_hot
	run live --once
	[ "$status" -eq 0 ]
	run "${STRANGER[@]}" "$WORK/bourdon" --db "$DB" top --live --once
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'become a member of its group'* ]]
	# who reaches the socket all the same is refused by the daemon
	chmod 0751 "$STATE_DIR"
	chmod 0666 "$STATE_DIR/bourdond.sock"
	run "${STRANGER[@]}" "$WORK/bourdon" --db "$DB" top --live --once
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'refused'*'only root and members'* ]]
	# root becomes the owner of the database
	"$WORK/bourdon" --db "$DB" top --live --json > "$WORK/root.json" &
	local root=$! i
	CHILDREN+=("$root")
	await 60 test -s "$WORK/root.json"
	grep -qE '^Uid:	65534	' "/proc/$root/status"
	grep -qE '^CapEff:	0+$' "/proc/$root/status"
	# a user has half of what the others leave
	for i in 1 2; do
		"${MEMBER[@]}" "$WORK/bourdon" --db "$DB" top --live --json > "$WORK/$i.json" &
		CHILDREN+=("$!")
		await 60 test -s "$WORK/$i.json"
	done
	local second=${CHILDREN[-1]}
	run live --once
	[ "$status" -eq 1 ]
	[[ $output == *'try again later'* ]]
	"${ANOTHER[@]}" "$WORK/bourdon" --db "$DB" top --live --json > "$WORK/3.json" &
	CHILDREN+=("$!")
	await 60 test -s "$WORK/3.json"
	kill "$root" "$second"
	wait "$root" "$second" || true
	await 60 live --once
	await_status 30 '.daemon[0].pid'
}

@test "what root's policy denies appears nowhere" {
	printf '%s\n' '[policy]' 'deny_uids = 54399' 'deny_comms = live-denied' > "$WORK/policy.conf"
	chmod 0755 "$WORK" # its directory must not be writable by others
	load --policy "$WORK/policy.conf"
	daemon_start
	cp "$BUILD/workloads/three_hot" "$WORK/live-denied"
	cp "$BUILD/workloads/three_hot" "$WORK/live-shown"
	start_command "$WORK/live-denied"
	local denied=$CHILD
	start_command setpriv --reuid 54399 --regid 54399 --clear-groups "$BUILD/workloads/three_hot"
	local of_uid=$CHILD
	start_command "$WORK/live-shown"
	watch --columns function,comm,process,tgid,tid,uid,cgroup
	await 120 watched_group ".tgid == $CHILD and (.function // \"\" | startswith(\"burn_\"))"
	[ "$(cpu_ms "$denied")" -gt 0 ]
	[ "$(cpu_ms "$of_uid")" -gt 0 ]
	# what became them was somebody else's, and may be in the second before
	run ! watched_group ".uid == 54399 or .comm == \"live-denied\" or .process == \"live-denied\""
	run ! watched_group "(.tgid == $denied or .tgid == $of_uid) and (.function // \"\" | startswith(\"burn_\"))"
}

# start_deaf: a client that asks, and does not read until it gets SIGUSR1; then it reads to the end, and says so. Its socket
# is full soon.
start_deaf() {
	# shellcheck disable=SC2016
	start_command "${MEMBER[@]}" perl -MSocket -e '$| = 1; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; setsockopt($s, SOL_SOCKET, SO_RCVBUF, 1);
		connect($s, pack_sockaddr_un($ARGV[0])) or die $!; $SIG{USR1} = sub { 1 while sysread($s, my $part, 65536); print "end\n"; }; syswrite($s, "live\n"); print "ready\n"; sleep 3600 while 1' "$STATE_DIR/bourdond.sock"
	DEAF=$CHILD
	DEAF_OUTPUT=$CHILD_OUTPUT
}

# has_missed NUMBER: whether clients have not read so many seconds
has_missed() {
	status_json | jq -e ".counters[] | select(.name == \"client-lines-unread\") | .value >= $1" > /dev/null
}

@test "a client that does not read misses seconds, and then its place; the daemon and other clients go on" {
	load
	daemon_start
	start three_hot
	local bytes
	start_deaf
	watch
	await 60 watched '.ticks > 0'
	bytes=$(awk '/^RssAnon/ { print $2 }' "/proc/$DAEMON/status")
	await 300 has_missed 11
	# it gets what was sent until then, and the end of the connection
	sleep 3 # in which it could have read that
	kill -USR1 "$DEAF"
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$DEAF_OUTPUT" line
	[ "$line" = end ]
	[ "$(awk '/^RssAnon/ { print $2 }' "/proc/$DAEMON/status")" -lt $((bytes + 16384)) ]
	local seconds
	seconds=$(wc -l < "$WORK/live.json")
	await 60 eval "[ \"\$(wc -l < '$WORK/live.json')\" -gt $seconds ]"
	await 60 live --once
}

@test "a capture that a rule fires meanwhile is complete" {
	load
	rule live 'comm = three_hot' "cgroup = /$CGROUP" 'cpu.some = 50ms/2s' 'watch = cgroup' 'history = 2s' 'capture = 3s' 'cooldown = 1h'
	daemon_start
	watch
	await 60 watched '.ticks > 0'
	# three for one CPU: each waits for it, and beside others, too, they have samples in the three seconds
	local hogs=()
	for _ in 1 2 3; do
		ON_CPU=0 start_ahead "$BUILD/workloads/three_hot"
		hogs+=("$CHILD")
	done
	recording_ends 'rule live fired'
	kill "${hogs[@]}" # naming yields to them
	await_sql 180 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	[ "$(sql "SELECT count(*) FROM hot_function WHERE function = 'burn_half'")" -ge 1 ]
	[ "$(sql "SELECT coalesce(sum(events), 0) FROM loss WHERE reason IN ('overwritten-slots', 'torn-slots', 'symbolizer-failed', 'samples-missing')")" -eq 0 ]
	local seconds
	seconds=$(wc -l < "$WORK/live.json")
	await 60 eval "[ \"\$(wc -l < '$WORK/live.json')\" -gt $seconds ]"
}

@test "no daemon, or no terminal: exit 1, one line" {
	run "$BUILD/bourdon" --db "$DB" top --live --once
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'no bourdond is running'* ]]
	run "$BUILD/bourdon" --db "$DB" top --live < /dev/null
	[ "$status" -eq 1 ]
	[[ $output == *'the screen needs a terminal'* ]]
	run "$BUILD/bourdon" top --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 24 ]
}

# ---- the screen ----

@test "the screen: groups, their threads, the stacks of one thread; freeze and time" {
	load
	daemon_start
	start three_hot
	screen 80 24
	shows '^[> ] +[0-9.]+ +[0-9]+% .* burn_half +three_hot'
	fits 80 24
	shows '^ +CPUS'
	seen | head -n 1 | grep -qE '^[0-9:]{8}  live  [0-9.]+ of [0-9]+ CPUs in use'
	shows '^groups  on CPU  average of 1 s  filter: tgid='
	keys / burn_half Enter
	shows '^>.* burn_half'
	keys Enter
	shows '^threads of comm=three_hot function=burn_half'
	shows "^> .* $CHILD +three_hot +three_hot +burn_half"
	keys Enter
	shows "^ thread $CHILD  three_hot"
	shows "^ process $CHILD  three_hot  uid 0"
	shows "^ cgroup /$CGROUP"
	shows '^ [0-9]+ of [0-9]+ samples?$'
	shows '^ in   burn_(half|third|sixth)$'
	shows '^ from main$'
	keys q
	shows '^threads of'
	keys q
	shows '^groups'
	keys f C-u 'state=D' Enter # there are no states
	shows "filter: 'state' is not known here"
	keys a
	shows '^groups  on CPU'
	keys Space
	shows 'FROZEN, [0-9]+ s ago'
	keys Left
	shows 'FROZEN, [0-9]+ s ago'
	keys 0
	shows '  live  '
	keys '?'
	shows 'CPUS is how many CPUs the group used'
	keys x
	in_tmux resize-window -x 40 -y 12
	fits 40 12
	in_tmux resize-window -x 200 -y 60
	shows 'LAST 60 SECONDS'
	in_tmux resize-window -x 80 -y 24
	fits 80 24
	daemon_stop TERM
	await 60 has_ended 1
	grep -qE 'bourdond is ending|connection to bourdond has ended' "$WORK/errors"
}
