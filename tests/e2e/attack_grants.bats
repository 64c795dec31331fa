#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Attacks on bourdon-grant, which starts a process for each request: by targets whose files only it can open, beside an
# honest target that needs it, too; and by a compromised daemon, which asks without end.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/honest.bash"

PROCESSES=${ATTACK_PROCESSES:-4}
FILES=${ATTACK_FILES:-4000} # of each process
BURNS=${ATTACK_BURNS:-3}    # of the honest target, during the attack
FLOOD=${ATTACK_FLOOD:-1000} # requests of the compromised daemon, at once
ATTACKER=65533              # uid

# common/protocol/grant_limits.h: what the daemon asks for, and what bourdon-grant answers
ASKED_BURST=256
ASKED_PER_SECOND=32
ANSWERED_BURST=512
ANSWERED_PER_SECOND=64

setup() {
	NAMING=20 bourdon_setup attack-grants # as by default: the honest target's rule waits for it
	cgroup_make
	ATTACK=$CGROUP/attack
	mkdir "$CGROUP2/$ATTACK"
	install -d -o "$ATTACKER" -g "$ATTACKER" -m 0755 "$WORK/attack"
}

teardown() {
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill"
	honest_end
	bourdon_teardown
}

# attack: starts the attackers. Nobody but their user may read their files, which are deleted besides. They attack with
# their files, with all CPU time that they get, and with a hundred files on each stack.
attack() {
	local i directory
	for ((i = 0; i < PROCESSES; i++)); do
		directory=$WORK/attack/$i
		install -d -o "$ATTACKER" "$directory"
		cp "$BUILD/workloads/modules" "$WORK/attack/u$BASHPID-$i"
		CGROUP=$ATTACK start_command setpriv --reuid "$ATTACKER" --regid "$ATTACKER" --clear-groups \
			"$WORK/attack/u$BASHPID-$i" --count "$FILES" --mode 0400 "$directory"
		rm -r "$directory"
	done
}

# own_counter NAME: prints a counter of the daemon.
own_counter() {
	status_json | jq ".counters[] | select(.name == \"$1\").value"
}

# requests: prints how many requests bourdon-grant has counted.
requests() {
	awk '/^(granted|refused|later) / { sum += $2 } END { print sum + 0 }' "$WORK/grants"
}

# counted_as NAME: prints one of bourdon-grant's counters.
counted_as() {
	awk -v name="$1" '$1 == name { print $2 + 0 }' "$WORK/grants"
}

# cp_private FILE PLACE: as cp(1), but only its owner may read the copy. For honest_start: the daemon needs
# bourdon-grant for the honest target's program as well.
cp_private() {
	command cp "$1" "$2"
	[ -d "$2" ] || chmod 0700 "$2"
}

# bats test_tags=long
@test "targets with thousands of files that only bourdon-grant can open: an honest one gets its names and tables" {
	local began i
	load
	grant_start
	daemon_start
	rule attackers "comm = u$BASHPID*" "cgroup = /$ATTACK" 'cpu.some = 1%' 'capture = 2s' 'cooldown = 60s' 'history = 1s'
	began=$SECONDS
	attack
	# Attackers that take all CPU time make bourdon-grant too slow for the limit to be reached: they are frozen until it is.
	echo 1 > "$CGROUP2/$ATTACK/cgroup.freeze"
	await_status 60 '.counters[] | select(.name == "files-deferred").value > 0'
	echo 0 > "$CGROUP2/$ATTACK/cgroup.freeze"
	cp() { cp_private "$@"; }
	honest_start
	unset -f cp
	rm "$WORK/$HONEST"
	honest_watch_begin
	for ((i = 0; i < BURNS; i++)); do
		honest_burn
	done
	# of the files of attackers and of the honest target, and of pressure
	echo "$(requests) requests in $((SECONDS - began)) s, $(own_counter files-deferred) put off"
	(($(requests) <= 2 * (ASKED_BURST + ASKED_PER_SECOND * (SECONDS - began + 1))))
	(($(own_counter files-granted) + $(own_counter files-refused) <= ASKED_BURST + ASKED_PER_SECOND * (SECONDS - began + 1)))
	[ "$(counted_as later)" -eq 0 ]
	honest_watch_end
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill"
	honest_check
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	grep -qE "process [0-9]+ .* files? that only bourdon-grant can open" "$WORK/daemon.log"
}

held() {
	grep -c 'holds a request' "$WORK/grant.log" || true
}

# bats test_tags=long
@test "targets for whose files bourdon-grant never answers: an honest one gets its names and tables" {
	local i before began
	load
	# it answers no request for a file of the attackers' processes
	GRANT_BY="$BUILD/tools/hold_grant $ATTACKER --" grant_start
	daemon_start
	rule attackers "comm = u$BASHPID*" "cgroup = /$ATTACK" 'cpu.some = 1%' 'capture = 2s' 'cooldown = 5s' 'history = 1s'
	FILES=100 attack # each request for their files hangs
	# their first capture waits for names
	await_sql 60 "SELECT count(*) > 0 FROM capture WHERE rule = 'attackers' AND state = 'complete'" 1
	(($(held) > 0))
	cp() { cp_private "$@"; }
	honest_start
	unset -f cp
	rm "$WORK/$HONEST"
	honest_watch_begin
	before=$(held) began=$SECONDS
	for ((i = 0; i < BURNS; i++)); do
		honest_burn
	done
	echo "$(held) requests are held, $before of them before the honest target began"
	# it hangs in vain ever more rarely: after 1, 2, 4, ..., 32 and 32 s for one target, and likewise for their user
	(($(held) - before <= 6 + (SECONDS - began) / 8))
	honest_watch_end
	echo 1 > "$CGROUP2/$ATTACK/cgroup.kill"
	honest_check
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	grep -qE "bourdon-grant did not answer for a file of process [0-9]+ of uid $ATTACKER" "$WORK/daemon.log"
	[[ $(< "$WORK/daemon.log") != *'gives no files'* ]]
}

# flood REQUEST: a compromised daemon sends the request many times at once. While no answer is "later" it does so again: a slow
# machine may answer the first thousand no faster than the limit allows. Sets FILES_GOT, LATER, REFUSED and TOOK.
flood() {
	local answers began=$SECONDS turn
	FILES_GOT=0 LATER=0 REFUSED=0
	for ((turn = 0; turn < 4 && LATER == 0; turn++)); do
		answers=$(setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups \
			"$BUILD/tools/ask_grant" --flood "$FLOOD" "$GRANT_SOCKET" "$1")
		echo "$1: $answers"
		[[ $answers =~ ^files\ ([0-9]+)\ later\ ([0-9]+)\ refused\ ([0-9]+)\ nothing\ 0$ ]] || {
			grep -Ev ': Communication attempt|refused process|granted process' "$WORK/grant.log" | tail -n 20
			return 1
		}
		FILES_GOT=$((FILES_GOT + BASH_REMATCH[1])) LATER=${BASH_REMATCH[2]} REFUSED=$((REFUSED + BASH_REMATCH[3]))
	done
	TOOK=$((SECONDS - began + 1))
	echo "in less than $TOOK s"
}

# answers REQUEST PATTERN: whether one request has such an answer.
answers() {
	[[ $("$BUILD/tools/ask_grant" "$GRANT_SOCKET" "$1") =~ $2 ]]
}

@test "a daemon that asks without end: some requests are answered each second, the others are put off" {
	local cgroup answered
	cgroup=$(stat -c %i "$CGROUP2/$CGROUP")
	grant_start
	flood "elf 4194304 1 4096"
	answered=$REFUSED
	((FILES_GOT == 0 && LATER > 0 && answered >= ANSWERED_BURST))
	((answered <= ANSWERED_BURST + ANSWERED_PER_SECOND * TOOK))
	# requests for files, and those that are none, have not used up those for pressure
	flood 'no request'
	((FILES_GOT == 0 && LATER > 0 && REFUSED <= ANSWERED_PER_SECOND * (TOOK + 1)))
	flood "pressure $cgroup cpu 2000000"
	((REFUSED == 0 && LATER > 0 && FILES_GOT >= ANSWERED_BURST))
	((FILES_GOT <= ANSWERED_BURST + ANSWERED_PER_SECOND * TOOK))
	# afterwards it is as before
	await 5 answers "pressure $cgroup cpu 2000000" '/cpu\.pressure read-write$'
	await 5 answers "elf 4194304 1 4096" '^refused no such process$'
	(($(counted_as later) >= 3 * FLOOD - 2 * ANSWERED_BURST - ANSWERED_PER_SECOND * 4 * TOOK))
	# ever more rarely
	(($(grep -c 'over the limit of requests a second' "$WORK/grant.log") <= 13))
}

# helper: sets HELPER to the pid of a bourdon-grant that waits for a request, and will for two seconds.
helper() {
	ASKER=
	await 5 helper_waits
}

helper_waits() {
	# on a busy machine the two seconds may be over before it is found
	if [ -z "$ASKER" ] || ! kill -0 "$ASKER" 2> /dev/null; then
		"$BUILD/tools/ask_grant" --silent "$GRANT_SOCKET" > /dev/null & ASKER=$!
		CHILDREN+=("$ASKER")
	fi
	HELPER=$(pgrep -P "$ACTIVATOR" -x bourdon-grant) && grep -q '^Seccomp:	2$' "/proc/$HELPER/status"
}

helper_ended() {
	! pgrep -P "$ACTIVATOR" > /dev/null
}

# assert_gives RESULT CALL [ARGUMENT...]: what comes of the call in a bourdon-grant that runs.
assert_gives() {
	local result
	helper
	result=$("$BUILD/tools/inject_call" "$HELPER" "${@:2}")
	# shellcheck disable=SC2053 # a pattern
	[[ $result == $1 ]] || { echo "$*: $result"; return 1; }
	kill -KILL "$HELPER" 2> /dev/null || true
	await 5 helper_ended
}

@test "bourdon-grant itself: it opens files for reading, and can neither make, truncate nor append to one" {
	local flags
	grant_start
	ACTIVATOR=${CHILDREN[-1]}
	echo kept > "$WORK/victim"
	chmod 0666 "$WORK/victim"
	assert_gives 'result *' openat -100 "str:$WORK/victim" 0x80000
	# O_TRUNC alone; with O_CLOEXEC; with all other flags of a pressure file; with O_WRONLY; O_APPEND; O_CREAT
	for flags in 0x200 0x80200 0xa0a02 0x80201 0x80402 0x80042 0x80002; do
		assert_gives 'killed SIGSYS' openat -100 "str:$WORK/victim" "$flags"
	done
	assert_gives 'errno ENOSYS' openat2 -100 "str:$WORK/victim" words:0x80200,0,0,0,0,0 24
	assert_gives 'killed SIGSYS' open "str:$WORK/victim" 0x80000
	assert_gives 'killed SIGSYS' creat "str:$WORK/new" 0600
	assert_gives 'killed SIGSYS' truncate "str:$WORK/victim" 0
	assert_gives 'killed SIGSYS' open_by_handle_at 3 zero:16 0x80202
	assert_gives 'killed SIGSYS' unlink "str:$WORK/victim"
	assert_gives 'killed SIGSYS' execve str:/bin/sh 0 0
	[ "$(< "$WORK/victim")" = kept ]
	[ ! -e "$WORK/new" ]
}
