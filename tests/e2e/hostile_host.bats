#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# All attacks at once, of strangers and of members of the daemon's group, beside an honest target. Other files test each attack by itself. The figures
# that it prints are in docs/SECURITY.md.

# bats file_tags=alone,long

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/honest.bash"
source "$BATS_TEST_DIRNAME/members.bash"

# shellcheck disable=SC2034 # lib.bash's: attackers that make thousands of objects beside others need a moment
LEAST_DEADLINE=180
DURATION=${HOSTILE_SECONDS:-120} # of the attack, in seconds
# An emulated machine has neither the memory nor the time for the numbers below: a twentieth of each.
PERCENT=${HOSTILE_PERCENT:-$((PATIENCE > 1 ? 5 : 100))}
CGROUPS=$((20000 * PERCENT / 100))
LONG_CGROUPS=$((25000 * PERCENT / 100)) # with paths of 3.8 KB
WATCHED=$((1200 * PERCENT / 100))       # cgroups with a target each; the daemon may have 1,024 descriptors
MAPPERS=$(((40 * PERCENT + 99) / 100))  # processes, with 60,000 executable mappings each
MODULES=$((4000 * PERCENT / 100))       # small ELF files, each executed
UNREADABLE=$((2000 * PERCENT / 100))    # as many that only their owner can read
ATTACKER=65533                          # uid
MEMBER=65520                            # the first uid of those who are members of the daemon's group

setup() {
	bourdon_setup hostile-host
	cgroup_make
	members_setup
	ATTACK=$CGROUP/attack
	PREFIX=h$BASHPID # of the names that rules match
	ATTACKERS=()     # pids
	mkdir "$CGROUP2/$ATTACK"
	install -d -o "$ATTACKER" -g "$ATTACKER" -m 0755 "$WORK/attack"
}

teardown() {
	# it reaches processes that fork faster than one can list them
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill" || true
	honest_end
	bourdon_teardown
}

# attack COMMAND...: starts an attacker as an unprivileged user in the attackers' cgroup
attack() {
	CGROUP=$ATTACK start_command setpriv --reuid "$ATTACKER" --regid "$ATTACKER" --clear-groups \
		--no-new-privs "$@"
	ATTACKERS+=("$CHILD")
}

# attacked: all attackers still run, with all their cgroups
attacked() {
	local pid cgroups
	for pid in "${ATTACKERS[@]}"; do
		kill -0 "$pid" || return 1
	done
	cgroups=$(awk '$1 == "nr_descendants" { print $2 }' "$CGROUP2/$ATTACK/cgroup.stat")
	((cgroups > CGROUPS + LONG_CGROUPS + WATCHED)) || { echo "only $cgroups cgroups"; return 1; }
}

# program NAME WORKLOAD: links the workload to a name in the attackers' directory, and prints the path
program() {
	ln -s "$BUILD/workloads/$2" "$WORK/attack/$1"
	echo "$WORK/attack/$1"
}

# names COUNT: sets NAMES to comms that a rule matches, and others, some of them hostile
names() {
	local i
	NAMES=()
	for ((i = 0; i < $1; i++)); do
		NAMES+=("$PREFIX-$i" "other-$i" "$PREFIX"$'\e]0;x\a' "$PREFIX"$'\xff\x9b' "$PREFIX\";%n\\")
	done
}

# delegate: makes the cgroup ATTACK, which belongs to the attackers, as a service manager does
delegate() {
	mkdir "$CGROUP2/$ATTACK"
	chown "$ATTACKER" "$CGROUP2/$ATTACK" "$CGROUP2/$ATTACK/cgroup.procs"
}

# ---- attacks ----

# Cgroups without end, also with paths beyond PATH_MAX, and a process that moves through them and renames itself
attack_cgroups() {
	local ATTACK=$ATTACK/storm
	delegate
	attack "$BUILD/workloads/cgroup_storm" --comm "$PREFIX-storm" --cgroups "$CGROUPS" --long "$LONG_CGROUPS" --deep \
		--idle 12 "$CGROUP2/$ATTACK"
}

# More cgroups that a rule watches than the daemon may have descriptors
attack_watches() {
	local ATTACK=$ATTACK/flood
	delegate
	attack "$BUILD/workloads/cgroup_flood" --directory "$CGROUP2/$ATTACK" --count "$WATCHED" --name "$PREFIX-flood"
}

# Processes that begin, end, execute programs and rename themselves and their threads as fast as they can

attack_churn() {
	local kind
	names 8
	for kind in fork comm thread; do
		attack "$(program "$PREFIX-$kind" churn)" --kind "$kind" --workers 2 -- "${NAMES[@]}"
	done
	attack "$(program "$PREFIX-exec" churn)" --kind exec --workers 2 -- \
		"$(program "$PREFIX-a" churn)" "$(program other churn)" "$(program "$PREFIX"$'\e[2J' churn)"
}

# Processes with as many executable mappings as the kernel allows
attack_mappings() {
	attack "$(program "$PREFIX-maps" many_mappings)" --processes "$MAPPERS" --mappings 60000
}

# Many small files on each stack: readable ones, in a directory with a hostile name, and some that only bourdon-grant can open
attack_modules() {
	local directory=$WORK/attack/$'\e]0;modules\a;<b>'
	install -d -o "$ATTACKER" "$directory" "$WORK/attack/unreadable"
	attack "$(program "$PREFIX-modules" modules)" --count "$MODULES" -- "$directory"
	attack "$(program "$PREFIX-unread" modules)" --count "$UNREADABLE" --mode 0400 -- "$WORK/attack/unreadable"
}

# Members who want all connections, all places for captures and all of the database: four who ask for captures in a loop, four
# whose captures last an hour, one who only connects, one who asks what nobody can answer
attack_members() {
	local uid
	{
		echo "$BASHPID" > "$CGROUP2/$ATTACK/cgroup.procs"
		for ((uid = MEMBER; uid < MEMBER + 4; uid++)); do
			loop_captures "$uid" --all &
			asks $((uid + 4)) --comm "zzz$uid" --for 1h
		done
		flood $((MEMBER + 8)) "$IDLE"
		flood $((MEMBER + 9)) "$NONSENSE"
		wait
	} &
	ATTACKERS+=($!)
	await 30 grep -q many "$WORK/flood.$((MEMBER + 9))"
}

# ---- what was seen ----

# counts_of: prints lines "name count" as "name count, name count"
counts_of() {
	paste -s -d , | sed 's/,/, /g; s/^$/none/'
}

# print_figures: the table in docs/SECURITY.md
print_figures() {
	local ms whose
	ms=$(honest_figure watched_ms)
	echo "$((ms / 1000)) s, $PERCENT % of the size, $(nproc) CPUs, Linux $(uname -r)"
	echo "| what | limit | measured |"
	echo "|---|---|---|"
	echo "| age of the heartbeat | 2,000 ms | at most $(honest_figure heartbeat_ms) ms |"
	echo "| \`bourdon status\` answers | 1,000 ms | within $(honest_figure status_ms) ms, $(honest_figure statuses) times |"
	echo "| memory of \`bourdond\` without the rings of these CPUs, $HONEST_RINGS_KIB KiB | 32,768 KiB | at most $(($(honest_figure peak_kib) - HONEST_RINGS_KIB)) KiB |"
	echo "| CPU time of \`bourdond\` and its children | | $(honest_figure cpu_ms) ms, of $((ms * $(nproc))) |"
	echo "| captures of the honest target | all | $(sql "SELECT count(*) FROM capture WHERE rule = 'honest' AND state = 'complete'") of ${#HONEST_CPU_NS[@]} |"
	echo "| its samples | ±5 % | $HONEST_COUNTED of $HONEST_EXPECTED |"
	echo "| tables of a new honest process | | after $HONEST_TABLES_MS ms at most |"
	for whose in '=' '<>'; do
		echo "| losses reported in the $(sql "SELECT count(*) FROM capture WHERE rule $whose 'honest'") captures of $(
			[[ $whose == = ]] && echo 'the honest target' || echo attackers) | | $(
			sql "SELECT reason || ' ' || sum(events) FROM loss JOIN capture USING(capture_id)
				WHERE events > 0 AND rule $whose 'honest' GROUP BY reason" | counts_of) |"
	done
	echo "| problems in \`bourdon status\` | | $(jq -r '.problems[]?.problem' "$WORK/status.json" | paste -s -d ';' | sed 's/;/; /g') |"
	jq -r '.counters[] | select(.value > 0) | "counter \(.name) \(.value)"' "$WORK/status.json"
}

# assert_plain FILE...: no control character but tabs and line ends
assert_plain() {
	local found
	! found=$(LC_ALL=C grep -Hanm 3 -P '[\x00-\x08\x0b-\x1f\x7f]' "$@") || { echo "$found" | cat -v; return 1; }
}

@test "all attacks at once for two minutes: the honest target is captured as if it were alone" {
	local end half
	load
	grant_start
	DAEMON_BY='prlimit --nofile=1024:1024' daemon_start
	rule attackers "comm = $PREFIX*" "cgroup = /$ATTACK*" 'cpu.some = 1%' 'capture = 2s' 'cooldown = 1s' 'history = 1s'
	honest_start
	honest_watch_begin
	attack_watches
	attack_cgroups
	attack_mappings
	attack_modules
	attack_churn
	attack_members
	end=$((SECONDS + DURATION)) half=$((SECONDS + DURATION / 2))
	while ((SECONDS < half)); do
		honest_burn
	done
	honest_run # everything about another process has to be found within the attack
	while ((SECONDS < end)); do
		honest_burn
	done
	status_json > "$WORK/status.json"
	honest_watch_end
	attacked
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill"
	children_end
	honest_check > "$WORK/checked" || { cat "$WORK/checked"; print_figures; false; }
	{ cat "$WORK/checked"; print_figures; } | sed 's/^/# /' >&3
	"$BUILD/bourdon" --db "$DB" status > "$WORK/status"
	"$BUILD/bourdon" --db "$DB" list > "$WORK/list"
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	assert_plain "$WORK/daemon.log" "$WORK/status" "$WORK/list"
}
