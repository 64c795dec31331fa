#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel programs enforce root's policy.conf even if an attacker controls the consumer: tools/see_all
# writes to all maps that the consumer can write, to see as much as possible.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup policy
	cgroup_make
	POLICY=$WORK/policy.conf
}

teardown() {
	bourdon_teardown
}

# policy LINE...
policy() {
	printf '%s\n' '[policy]' "$@" > "$POLICY"
}

# start_as UID WORKLOAD ARGUMENT...
start_as() {
	start_command setpriv --reuid "$1" --regid "$1" --clear-groups "$BUILD/workloads/$2" "${@:3}"
}

# start_late UID: starts a process that sleeps until say_when, and then executes cpu_hog
start_late() {
	# shellcheck disable=SC2016
	start_command setpriv --reuid "$1" --regid "$1" --clear-groups \
		sh -c 'echo ready; until [ -e "$1" ]; do sleep 0.2; done; exec "$0" --threads 2' "$BUILD/workloads/cpu_hog" \
		"$WORK/looking"
}

say_when() {
	await 20 eval "[ \"\$(counter 8)\" -gt 0 ]"
	touch "$WORK/looking"
}

# see [OPTION...] SECONDS TGID...: runs see_all with the rights of the consumer and the capability that opens
# the pins
see() {
	local options=()
	while [[ $1 == --* ]]; do
		options+=("$1")
		shift
	done
	run setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups --inh-caps=-all,+dac_read_search \
		--ambient-caps=-all,+dac_read_search "$BUILD/tools/see_all" "${options[@]}" "$PIN_DIR" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
}

# see_first NUMBER TGID...: sees until the first NUMBER of these processes were seen everywhere, some twenty samples of each
see_first() {
	see --until-seen="$1" $((LEAST_DEADLINE * PATIENCE)) "${@:2}"
}

# seen TGID NAME: prints that number of the process from the output of see
seen() {
	sed -nE "s/^tgid=$1 .*\\b$2=([0-9]+).*/\\1/p" <<< "$output"
}

nothing_seen_of() {
	grep -q "^tgid=$1 tid=[0-9]* tasks=0 mappings=0 lines=0 events=0 oncpu=0 offcpu=0 open=0 targets=0 totals=0 .* said=0$" <<< "$output"
}

all_seen_of() {
	local what
	for what in tasks mappings lines oncpu offcpu targets totals; do
		[ "$(seen "$1" $what)" -gt 0 ] || { echo "$what of $1: none"; return 1; }
	done
}

@test "processes of a denied or not allowed uid appear nowhere" {
	local denied allowed beyond late
	policy 'allow_uids = 0, 1000-1009' 'deny_uids = 1005'
	load --policy "$POLICY" --hz 97
	start_as 1004 cpu_hog --threads 2
	allowed=$CHILD
	start_as 1005 cpu_hog --threads 2
	denied=$CHILD
	start_as 1010 cpu_hog --threads 2
	beyond=$CHILD
	start_late 1004
	late=$CHILD
	start_late 1005
	say_when 3>&- &
	see $((6 * PATIENCE + 2)) "$allowed" "$denied" "$beyond" "$late" "$CHILD"
	wait $!
	all_seen_of "$allowed"
	all_seen_of "$late"
	[ "$(seen "$late" events)" -gt 0 ]
	[ "$(seen "$late" open)" -gt 0 ]
	nothing_seen_of "$denied"
	nothing_seen_of "$beyond"
	nothing_seen_of "$CHILD"
}

@test "a process is denied if one of its four uids is" {
	local -A processes
	local who
	policy 'deny_uids = 1005' 'deny_undumpable = no' # a process that has changed its uids is not dumpable
	load --policy "$POLICY" --hz 97
	for who in real effective saved filesystem none; do
		# shellcheck disable=SC2016
		start_command perl -e '
			my %ids = (real => [1005, 1006, 1006], effective => [1006, 1005, 1006], saved => [1006, 1006, 1005],
				filesystem => [0, 0, 0], none => [1006, 1006, 1006]);
			syscall(117, @{$ids{$ARGV[0]}}) and die "setresuid: $!"; # x86-64
			syscall(122, 1005) if $ARGV[0] eq "filesystem"; # setfsuid()
			$| = 1; print "ready\n"; 1 while 1' $who
		processes[$who]=$CHILD
	done
	see_first 1 "${processes[none]}" "${processes[real]}" "${processes[effective]}" "${processes[saved]}" "${processes[filesystem]}"
	nothing_seen_of "${processes[real]}"
	nothing_seen_of "${processes[effective]}"
	nothing_seen_of "${processes[saved]}"
	nothing_seen_of "${processes[filesystem]}"
	all_seen_of "${processes[none]}"
}

# deny_own: DENIED is a uid that no process of another test run has, so that the count of the denied is this test's
deny_own() {
	DENIED=$((200000 + BASHPID % 100000))
	policy "deny_uids = $DENIED" 'deny_undumpable = no'
}

@test "a target that takes a denied uid is none from its next sample on" {
	deny_own
	load --policy "$POLICY" --hz 97
	start turncoat --uid "$DENIED"
	see_first 1 "$CHILD"
	all_seen_of "$CHILD"
	kill -USR2 "$CHILD"
	read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" line
	[ "$line" = 'process changed' ]
	# the first sample after the change detects it
	see --no-walks 1 "$CHILD"
	see --no-walks 3 "$CHILD"
	[ "$(seen "$CHILD" oncpu)" -eq 0 ]
	[ "$(seen "$CHILD" offcpu)" -eq 0 ]
	[ "$(seen "$CHILD" targets)" -eq 0 ]
	see 3 "$CHILD"
	[ "$(seen "$CHILD" tasks)" -eq 0 ]
	[ "$(seen "$CHILD" mappings)" -eq 0 ]
	[ "$(counter 16)" -eq 1 ]
}

# turned_unseen: starts an idle target, CHILD, that changes to the uid DENIED while the programs do not sample.
turned_unseen() {
	start turncoat --idle --uid "$DENIED"
	see 2 "$CHILD"
	[ "$(seen "$CHILD" mappings)" -gt 0 ]
	[ "$(seen "$CHILD" offcpu)" -gt 0 ]
	# a tick without a heartbeat counts as quiet
	local before
	before=$(counter 1)
	await 20 eval "[ \"\$(counter 1)\" -gt $before ]"
	kill -USR2 "$CHILD"
	read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" line
	[ "$line" = 'process changed' ]
}

@test "a target that took a denied uid while nothing was sampled: no mapping and no interval appears" {
	deny_own
	load --policy "$POLICY" --hz 97 --quiet-after 2s
	start cpu_hog # the clock ticks only while targets run
	turned_unseen
	see --only-mappings 1 "$CHILD"
	# the process was a target until then
	[ "$(seen "$CHILD" targets)" -gt 0 ]
	[ "$(seen "$CHILD" mappings)" -eq 0 ]
	turned_unseen
	# its other thread was off CPU meanwhile, with a stack taken before the change
	see --no-walks 2 "$CHILD"
	[ "$(seen "$CHILD" offcpu)" -eq 0 ]
	[ "$(counter 16)" -eq 2 ]
}

@test "a thread with a denied uid is not sampled; other threads of its process are" {
	local second
	policy 'deny_uids = 1005' 'deny_undumpable = no'
	load --policy "$POLICY" --hz 97
	start turncoat --uid 1005
	second=${CHILD_LINE#ready }
	see 1 "$CHILD"
	[ "$(seen "$CHILD" threads)" -gt 0 ]
	kill -USR1 "$CHILD"
	read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" line
	[ "$line" = 'thread changed' ]
	see 3 "$CHILD/$CHILD" "$CHILD/$second" "$CHILD"
	# nor has it a record; the main thread is in the record of the process
	[[ $output =~ tid=0\ tasks=[1-9].*\ threads=0\  ]]
	[ "$(sed -nE "s/^tgid=$CHILD tid=$CHILD .* oncpu=([0-9]+).*/\\1/p" <<< "$output")" -gt 0 ]
	grep -q "^tgid=$CHILD tid=$second .* oncpu=0 offcpu=0 open=0 " <<< "$output"
}

# start_undumpable: starts a process of each kind whose memory the kernel protects, all with the uid 1006 and none with a
# denied uid. Sets UNDUMPABLE, and CHILD to an ordinary process of the same program.
start_undumpable() {
	# each in a session of its own: the kernel gives each the same part of a CPU, and none has no sample
	local how
	declare -gA UNDUMPABLE=()
	own_workload cpu_hog
	for how in set_uid capability unreadable; do
		cp "$WORK/$OWN" "$WORK/$how"
	done
	chown 1007 "$WORK/set_uid"
	chmod 4755 "$WORK/set_uid"
	# setxattr(): CAP_NET_BIND_SERVICE permitted and effective, as struct vfs_ns_cap_data of linux/capability.h
	# shellcheck disable=SC2016
	perl -e 'my ($path, $name, $data) = ($ARGV[0], "security.capability", pack "V5", 0x02000001, 1 << 10, 0, 0, 0);
		syscall(188, $path, $name, $data, length $data, 0) and die "setxattr: $!"' "$WORK/capability"
	chmod 0711 "$WORK/unreadable"
	for how in set_uid capability unreadable; do
		# setpriv itself executes with capabilities, and env without
		start_command setsid setpriv --reuid 1006 --regid 1006 --clear-groups env "$WORK/$how" --threads 2
		UNDUMPABLE[$how]=$CHILD
	done
	# shellcheck disable=SC2016
	start_command setsid setpriv --reuid 1006 --regid 1006 --clear-groups \
		perl -e '$| = 1; syscall(157, 4, 0, 0, 0) and die "prctl: $!"; print "ready\n"; 1 while 1' # PR_SET_DUMPABLE
	UNDUMPABLE[prctl]=$CHILD
	# shellcheck disable=SC2016
	start_command setsid perl -e '$| = 1; syscall(117, 1006, 1006, 1006) and die "setresuid: $!"; print "ready\n"; 1 while 1'
	UNDUMPABLE[setuid]=$CHILD
	start_command setsid setpriv --reuid 1006 --regid 1006 --clear-groups "$WORK/$OWN" --threads 2
}

@test "a process that is not dumpable appears nowhere under a policy on uids" {
	local how
	policy 'deny_uids = 1005'
	load --policy "$POLICY" --hz 97
	start_undumpable
	see_first 1 "$CHILD" "${UNDUMPABLE[@]}"
	all_seen_of "$CHILD"
	for how in "${!UNDUMPABLE[@]}"; do
		nothing_seen_of "${UNDUMPABLE[$how]}" || { echo "$how: ${UNDUMPABLE[$how]}"; false; }
	done
}

@test "a process that is not dumpable: seen if policy says so, or has nothing on uids; denied if policy says that" {
	local how
	policy 'deny_uids = 1005' 'deny_undumpable = no'
	load --policy "$POLICY" --hz 97
	start_undumpable
	see_first $((1 + ${#UNDUMPABLE[@]})) "$CHILD" "${UNDUMPABLE[@]}"
	for how in "${!UNDUMPABLE[@]}"; do
		all_seen_of "${UNDUMPABLE[$how]}" || { echo "$how"; false; }
	done
	load --hz 97
	see_first $((1 + ${#UNDUMPABLE[@]})) "$CHILD" "${UNDUMPABLE[@]}"
	for how in "${!UNDUMPABLE[@]}"; do
		all_seen_of "${UNDUMPABLE[$how]}" || { echo "$how"; false; }
	done
	policy 'deny_undumpable = yes'
	load --policy "$POLICY" --hz 97
	see_first 1 "$CHILD" "${UNDUMPABLE[@]}"
	all_seen_of "$CHILD"
	for how in "${!UNDUMPABLE[@]}"; do
		nothing_seen_of "${UNDUMPABLE[$how]}" || { echo "$how"; false; }
	done
}

@test "a target that becomes undumpable is none from its next sample on" {
	policy 'deny_uids = 1005'
	load --policy "$POLICY" --hz 97
	# shellcheck disable=SC2016
	start_command perl -e '$SIG{USR2} = sub { syscall(157, 4, 0, 0, 0) and die "prctl: $!"; print "changed\n" };
		$| = 1; print "ready\n"; 1 while 1'
	see_first 1 "$CHILD"
	all_seen_of "$CHILD"
	kill -USR2 "$CHILD"
	read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" line
	[ "$line" = changed ]
	see --no-walks 1 "$CHILD"
	see --no-walks 3 "$CHILD"
	[ "$(seen "$CHILD" oncpu)" -eq 0 ]
	[ "$(seen "$CHILD" offcpu)" -eq 0 ]
	[ "$(seen "$CHILD" targets)" -eq 0 ]
	see 3 "$CHILD"
	[ "$(seen "$CHILD" tasks)" -eq 0 ]
	[ "$(seen "$CHILD" mappings)" -eq 0 ]
}

@test "a process whose first thread has ended is judged by the others, and a zombie is not shown" {
	local ended zombie
	policy 'deny_uids = 1005'
	load --policy "$POLICY" --hz 97
	start turncoat --first-ends
	ended=$CHILD
	start turncoat --first-ends --undumpable
	# shellcheck disable=SC2016
	zombie=$(start_command perl -e '$| = 1; my $child = fork // die; $child or exit; until (`cat /proc/$child/stat` =~ /\) Z /) {}
		print "ready $child\n"; sleep 1000' && echo "$CHILD ${CHILD_LINE#ready }")
	CHILDREN+=("${zombie% *}")
	see 4 "$ended" "$CHILD" "${zombie#* }"
	[ "$(seen "$ended" tasks)" -gt 0 ]
	[ "$(seen "$ended" oncpu)" -gt 0 ]
	nothing_seen_of "$CHILD"
	nothing_seen_of "${zombie#* }"
}

@test "processes with a denied comm appear nowhere, also after renaming themselves" {
	local hog
	policy 'deny_comms = cpu_h*, secret'
	load --policy "$POLICY" --hz 97
	start cpu_hog --threads 2
	hog=$CHILD
	# shellcheck disable=SC2016
	start_command perl -e '$| = 1; $SIG{USR1} = sub { $0 = "secret"; print "renamed\n" }; print "ready\n"; 1 while 1'
	see_first 1 "$CHILD" "$hog"
	nothing_seen_of "$hog"
	all_seen_of "$CHILD"
	kill -USR1 "$CHILD"
	read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$CHILD_OUTPUT" line
	# an event reports that the process is not a target any more, without its new name
	see --no-walks 1 "$CHILD"
	[ "$(seen "$CHILD" targets)" -eq 0 ]
	[ "$(seen "$CHILD" ends)" -eq 1 ]
	[ "$(seen "$CHILD" said)" -eq 0 ]
	see 3 "$hog" "$CHILD"
	nothing_seen_of "$hog"
	# its totals from before the change stay until it ends
	grep -q "^tgid=$CHILD tid=0 tasks=0 mappings=0 lines=0 events=0 oncpu=0 offcpu=0 open=0 targets=0 .* said=0$" <<< "$output"
}

@test "kernel_stacks = no, unwinding = none: no kernel frames, one user frame" {
	policy 'kernel_stacks = no' 'unwinding = none'
	load --policy "$POLICY" --hz 97
	start io_hog --file "$WORK/hog" --seconds 60
	see_first 1 "$CHILD"
	all_seen_of "$CHILD"
	[ "$(seen "$CHILD" kernel_frames)" -eq 0 ]
	[ "$(seen "$CHILD" user_frames)" -eq 1 ]
	[ "$(seen "$CHILD" unwinders)" -eq 0 ]
}

@test "max_rate limits samples of the clock and of switches" {
	policy 'max_rate = 20'
	run load --policy "$POLICY" --hz 21
	[ "$status" -eq 1 ]
	[[ $output == *"--hz 21: $POLICY allows 20 (max_rate)" ]]
	load --policy "$POLICY"
	grep -qx 'hz = 20' "$RUN_DIR/manifest"
	start lock_hog
	see 5 "$CHILD"
	[[ $output =~ oncpu=([0-9]+)\ offcpu=([0-9]+)$ ]]
	# the budget starts with one second's samples
	[ "${BASH_REMATCH[1]}" -le $((20 * 6 * $(nproc))) ]
	[ "${BASH_REMATCH[2]}" -gt 0 ]
	[ "${BASH_REMATCH[2]}" -le $((20 * 7 * $(nproc))) ]
}

@test "a policy in force is frozen, also for root" {
	policy 'deny_uids = 1005'
	load --policy "$POLICY"
	[ "$(stat -c %a "$PIN_DIR/policy")" = 440 ]
	run "$BUILD/tools/see_all" "$PIN_DIR" 1 1
	[ "$status" -eq 0 ]
	bpftool map show pinned "$PIN_DIR/policy" | grep -qw frozen
	run "$BUILD/bourdon-load" --status --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	[[ $output == *'policy        deny_uids = 1005'* ]]
}

@test "an invalid or untrusted policy: the load fails, the one before stays, an unload works" {
	policy 'deny_uids = 1005'
	load --policy "$POLICY"
	policy 'deny_uids = root' 'kernel_stack = no'
	run load --policy "$POLICY"
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "bourdon-load: $POLICY:2: deny_uids: 'root' is neither a uid, such as 0, nor a range of uids, such as 1000-1999" ]
	[ "${lines[1]}" = "bourdon-load: $POLICY:3: unknown key 'kernel_stack'" ]
	policy 'deny_uids = 0'
	chmod 0666 "$POLICY"
	run load --policy "$POLICY"
	[ "$status" -eq 1 ]
	[[ ${lines[0]} == *"$POLICY: it must belong to root, and nobody else may write to it"* ]]
	# a symbolic link is refused, even a broken one
	chmod 0644 "$POLICY"
	ln -s "$POLICY" "$WORK/link"
	ln -s "$WORK/nowhere" "$WORK/broken"
	for link in link broken; do
		run load --policy "$WORK/$link"
		[ "$status" -eq 1 ]
		[[ ${lines[0]} == *"$WORK/$link: it is a symbolic link: name the file itself" ]]
	done
	run "$BUILD/bourdon-load" --status --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	[[ $output == *'policy        deny_uids = 1005'* ]]
	"$BUILD/bourdon-load" --unload --policy "$POLICY" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	[ ! -e "$PIN_DIR" ]
}

@test "status, database and why show the policy" {
	policy 'deny_uids = 1005' 'kernel_stacks = no' 'unwinding = none'
	load --policy "$POLICY"
	# without history: when the hog started, the dynamic linker ran, where one frame is two functions, one inlined
	rule hog 'comm = cpu_hog' "cgroup = /$CGROUP" 'cpu.some = 20%' 'history = 0s' 'capture = 2s' 'cooldown = 1h'
	daemon_start
	[ "$(status_json | jq -r '.daemon[0].policy')" = 'deny_uids = 1005; deny_undumpable = yes; kernel_stacks = no; unwinding = none' ]
	[ "$(status_json | jq -r '.unwind[0].bytes_max')" -eq 0 ]
	start_as 1005 cpu_hog --threads 4
	start_as 1004 cpu_hog --threads 4
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	[ "$(sql 'SELECT policy FROM run')" = 'deny_uids = 1005; deny_undumpable = yes; kernel_stacks = no; unwinding = none' ]
	[ "$(sql 'SELECT DISTINCT uid FROM sample JOIN process USING(process_id)')" = 1004 ]
	[ "$(sql 'SELECT count(*) FROM usage JOIN process USING(process_id) WHERE uid = 1005')" -eq 0 ]
	sql 'SELECT unwinder, ended, depth, kind, sum(samples) FROM sample JOIN stack USING(stack_id) GROUP BY 1, 2, 3, 4'
	[ "$(sql 'SELECT DISTINCT unwinder, ended, depth FROM sample JOIN stack USING(stack_id)')" = 'none|policy|1' ]
	[ "$(sql "SELECT sum(events) FROM loss WHERE reason IN ('stack-not-whole', 'stack-truncated', 'kernel-stack', 'user-stack')")" -eq 0 ]
	run "$BUILD/bourdon" --db "$DB" why --full
	[[ $output == *'policy    deny_uids = 1005; deny_undumpable = yes; kernel_stacks = no; unwinding = none'* ]]
}
