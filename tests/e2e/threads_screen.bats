#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# `bourdon threads`: its table, JSON and CSV say of threads in known states what these do, for root and for a member of the
# readers' group; and the screen, in a terminal that tmux plays, does what its keys say in any size.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/screen.bash"

SCREEN_SECONDS=20

READERS=54399 # a group that owns nothing else

setup() {
	bourdon_setup screen
	cgroup_make
	TMUX_SOCKET=$WORK/tmux
	SCREEN_OF=(threads --run-dir "$RUN_DIR")
}

teardown() {
	tmux -S "$TMUX_SOCKET" kill-server 2> /dev/null || true
	bourdon_teardown
}

threads() {
	"$BUILD/bourdon" threads --run-dir "$RUN_DIR" "$@"
}

# group JQ: one value of the only group in the output. A sum of numbers is printed without zeros; jq 1.7 prints numbers as
# they were read.
group() {
	jq -r ".groups | if length == 1 then .[0] else error(\"\\(length) groups\") end | $1" <<< "$output"
}

@test "averages are the threads that are in known states" {
	local name state call
	load
	ON_CPU=0 start states
	[[ $CHILD_LINE =~ pipe=([0-9]+)\ epoll=([0-9]+) ]]
	local pipe=${BASH_REMATCH[1]} epoll=${BASH_REMATCH[2]}
	while read -r name state call fd; do
		run threads --once --json --match "tgid=$CHILD comm=$name state=*" --columns state,syscall,comm,fd
		[ "$status" -eq 0 ]
		[ "$(group '"\(.state) \(.syscall) \(.fd)"')" = "$state $call $fd" ] || { echo "$name: $output"; false; }
		[ "$(group '.average == 1 and .share == 1')" = true ]
		[ "$(jq .looks <<< "$output")" -eq 10 ]
	done <<- END
		in-read S read $pipe
		in-epoll S epoll_pwait $epoll
		in-sleep S nanosleep null
		in-vfork D vfork null
	END
	# three threads wait for two futexes
	run threads --once --json --hz 5 --match "tgid=$CHILD state=S syscall=futex" --columns syscall
	[ "$(group '.average + 0')" = 3 ]
	[ "$(jq .looks <<< "$output")" -eq 5 ]
	run threads --once --json --match "tgid=$CHILD syscall=futex state=*" --columns futex
	[ "$(jq -c '[.groups[].average + 0]' <<< "$output")" = '[2,1]' ]
	# without a word on the state: who runs or waits for a CPU, or is in D
	run threads --once --json --match "tgid=$CHILD" --columns process
	[ "$(group '"\(.process) \(.average + 0)"')" = 'states 3' ]
	# all of it adds up, but for what each group was rounded by
	run threads --once --json --match 'state=*'
	[ "$(jq '(.threads - ([.groups[].average] | add) | fabs) <= 0.0005 * (1 + (.groups | length)) + 0.00001' <<< "$output")" = true ]
	[ "$(jq '([.groups[].share] | add - 1 | fabs) <= 0.00005 * (.groups | length) + 0.00001' <<< "$output")" = true ]
}

@test "text and CSV, and a table each second until the reader ends" {
	load
	start states
	run threads --once --match "tgid=$CHILD comm=in-vfork" --columns state,syscall,function
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == '1.0 threads on average over 10 looks: 0.0 running, 0.0 queued, 1.0 in D' ]]
	[[ ${lines[2]} =~ ^\ +1\.00\ +100\ %\ .*\ D\ +vfork\ +kernel_clone$ ]]
	run threads --once --csv --match "tgid=$CHILD comm=in-vfork" --columns state,syscall,fd,uid
	[ "$(tr -d '\r' <<< "${lines[0]}")" = 'at,average,share,state,syscall,fd,uid' ]
	[[ ${lines[1]} =~ ^20[0-9-]+T[0-9:]+Z,1\.000,1\.0000,\"D\",\"vfork\",,\"0\" ]]
	[ "$(threads --json --match "tgid=$CHILD comm=in-vfork" | head -n 3 | jq -c '.groups[0].average + 0' | paste -s -d ' ')" = '1 1 1' ]
	[ "$(threads --csv --match "tgid=$CHILD comm=in-vfork" | head -n 4 | grep -c '"in-vfork"')" -eq 3 ]
	run threads --once --match "tgid=$CHILD state=X"
	[ "$status" -eq 0 ]
	[[ $output == *'no thread matches'* ]]
}

@test "units, cgroups and names of others reach a terminal escaped" {
	local cgroup=$CGROUP2/$CGROUP/$'evil\e[31m.service'
	mkdir "$cgroup"
	load
	# shellcheck disable=SC2016
	start_command perl -e '$| = 1; syscall(157, 15, my $name = "\e[7m\"x\",\0"); print "ready\n"; sleep 3600' # PR_SET_NAME
	echo "$CHILD" > "$cgroup/cgroup.procs"
	for form in '' --csv; do
		# shellcheck disable=SC2086
		run threads --once $form --match "tgid=$CHILD state=*" --columns comm,cgroup
		[[ $output == *'\x1b[7m'* && $output == *'\x1b[31m'* ]]
		[[ $output != *$'\e'* ]]
	done
	run threads --once --json --match "tgid=$CHILD state=*" --columns comm,cgroup
	[ "$(group .comm)" = $'\e[7m"x",' ]
	[ "$(group .cgroup)" = "${cgroup#"$CGROUP2"}" ]
}

@test "a member of the readers' group, and nobody else; root keeps no privilege" {
	install -d -m 0751 -g "$TEST_GROUP" "$RUN_DIR"
	mkdir "$RUN_DIR/bpf"
	mount -t bpf -o mode=0711,nosuid,nodev,noexec bpf "$RUN_DIR/bpf"
	load --readers "$READERS"
	run setpriv --reuid 54321 --regid "$READERS" --clear-groups "$BUILD/bourdon" threads --run-dir "$RUN_DIR" --once --json --match 'state=*'
	[ "$status" -eq 0 ]
	[ "$(jq '.threads > 10' <<< "$output")" = true ]
	run setpriv --reuid 54321 --regid 54321 --clear-groups "$BUILD/bourdon" threads --run-dir "$RUN_DIR" --once
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"$RUN_DIR/bpf/threads: Permission denied"*bourdon-read* ]]
	# root becomes nobody, with that group alone
	"$BUILD/bourdon" threads --run-dir "$RUN_DIR" --csv > "$WORK/csv" &
	local pid=$!
	CHILDREN+=("$pid")
	await 20 eval "[ \"\$(wc -l < '$WORK/csv')\" -gt 1 ]"
	grep -qx "Uid:	65534	65534	65534	65534" "/proc/$pid/status"
	grep -qx "Gid:	$READERS	$READERS	$READERS	$READERS" "/proc/$pid/status"
	grep -qE '^CapEff:	0+$' "/proc/$pid/status"
	grep -qx 'NoNewPrivs:	1' "/proc/$pid/status"
	# after another load it goes on with the new pin, and after an unload it ends
	load --readers "$READERS"
	local lines_before
	lines_before=$(wc -l < "$WORK/csv")
	await 20 eval "[ \"\$(wc -l < '$WORK/csv')\" -gt $((lines_before + 1)) ]"
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	local ended=0
	wait "$pid" || ended=$?
	[ "$ended" -eq 1 ]
	run threads --once
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"cannot read $RUN_DIR/bpf/threads"* ]]
}

@test "the screen needs a terminal" {
	run threads < /dev/null
	[ "$status" -eq 1 ]
	[[ $output == *'the screen needs a terminal'* ]]
}

# ---- the screen ----

# end_screen: the next one has another server, because this one may take requests while it ends
end_screen() {
	in_tmux kill-server
	TMUX_SOCKET+=x
}

# has_lines COUNT PATTERN
has_lines() {
	[ "$(seen | grep -cE -- "$2")" -eq "$1" ]
}

first_row_has() {
	[[ $(seen | sed -n "/^AVERAGE/{n;p}") == *"$1"* ]]
}

# is_later TIME: whether the screen shows a second at least five after it
is_later() {
	(($(date -d "$(time_shown)" +%s) >= $(date -d "$1" +%s) + 5))
}

# time_shown: that of the title
time_shown() {
	seen | sed -n '1s/ .*//p'
}

@test "the screen: groups, their threads, one thread, and back" {
	load
	start states
	screen 80 24
	fits 80 24
	shows '^>? +1\.00 +[0-9]+% .* D +vfork +in-vfork +kernel_clone'
	[ "$(seen | grep -c in-read)" -eq 0 ] # sleeps
	seen | head -n 1 | grep -qE '^[0-9:]{8}  live  1[0-9] threads: [0-9.]+ running, [0-9.]+ queued, 1\.0 in D$'
	# the machine, whatever the filter is
	shows '^CPU +[0-9]+% .* mem +[0-9]+% .* I/O [0-9.]+ [KMG]?i?B/s +PSI cpu [0-9]+%  mem [0-9]+%  io [0-9]+%$'
	keys a
	shows ' S +read +in-read +[a-z_]*pipe_read'
	shows 'all states'
	# search, and into what it found
	keys / in-read Enter
	shows '^>.*in-read'
	keys Enter
	shows '^threads of state=S syscall=read comm=in-read'
	shows '^>  1\.00 100% .* [0-9]+ +in-read +S +read'
	keys Enter
	shows '^ thread [0-9]+  in-read'
	shows "^ process $CHILD  states  uid 0"
	shows '^ state S for [0-9.]+ m?s, CPU [0-9]'
	shows '^ system call read  fd [0-9]+'
	shows "^ cgroup /$CGROUP"
	shows '^ (in  |from) [a-z_]*pipe_read$'
	shows '^ from (do_syscall_64|el0_svc|entry_SYSCALL_64_after_hwframe)'
	keys q
	shows '^threads of'
	keys Escape
	shows '^groups'
	# a filter, and a wrong one, which changes nothing
	keys f C-u 'comm=in-futex* state=*' Enter
	shows 'filter: comm=in-futex'
	await 20 has_lines 3 in-futex
	keys f C-u 'colour=red' Enter
	shows "no column of the name before '=' in 'colour=red'"
	[ "$(seen | grep -c 'in-futex')" -eq 3 ]
	keys '?'
	shows 'several with blanks'
	keys x
	shows '^groups'
	keys q
	await 20 has_ended 0
}

@test "the screen: sort, window, units, freeze, and time" {
	local began frozen
	load
	start states
	screen 100 24
	began=$(time_shown)
	keys f C-u "tgid=$CHILD state=*" Enter
	shows 'filter'
	keys s
	shows '^AVERAGE.*STATE\+'
	keys s s
	shows 'COMM\+'
	await 20 first_row_has in-epoll
	keys r
	shows 'COMM-'
	await 20 first_row_has states
	keys w
	shows 'average of 5 s'
	keys u
	shows ' UNIT'
	keys u
	shows ' COMM'
	# frozen: the title stands still, and goes back and forth
	await 20 is_later "$began"
	keys Space
	shows 'FROZEN, [0-9]+ s ago'
	frozen=$(time_shown)
	shows 'FROZEN, 3 s ago'
	[ "$(time_shown)" = "$frozen" ]
	keys Left Left
	await 20 eval "[ \"\$(time_shown)\" != '$frozen' ]"
	[[ $(time_shown) < $frozen ]]
	keys Right Right
	await 20 eval "[ \"\$(time_shown)\" = '$frozen' ]"
	keys Space
	shows '  live  '
	[[ $(time_shown) > $frozen ]]
}

@test "the screen fits 40 by 12, 200 by 60, and what it becomes" {
	load
	start states
	screen 40 12
	fits 40 12
	shows 'D +vfo'
	in_tmux resize-window -x 200 -y 60
	shows 'LAST 60 SECONDS'
	fits 200 60
	shows ' D +vfork +in-vfork +kernel_clone'
	in_tmux resize-window -x 80 -y 24
	shows 'LAST 10 s'
	fits 80 24
	keys Enter Enter
	shows '^ thread [0-9]+'
	in_tmux resize-window -x 40 -y 12
	fits 40 12
	# a terminal that grows may move its lines after the program has drawn: once in some fifty times before there was a remedy
	for _ in 1 2 3 4 5 6 7 8; do
		in_tmux resize-window -x 10 -y 3
		await 20 has_lines 3 ''
		in_tmux resize-window -x 80 -y 24
		fits 80 24
	done
}

@test "the screen is read without colours, and without UTF-8" {
	load
	start states
	screen 80 24 NO_COLOR=1
	shows '^> '
	[ "$(in_tmux capture-pane -p -e | grep -cE $'\e\\[(3[0-7]|[0-9;]*38;)')" -eq 0 ]
	keys q
	end_screen
	screen 80 24
	in_tmux capture-pane -p -e | grep -qE $'\e\\[[0-9;]*3[0-7]'
	seen | grep -q █
	keys q
	end_screen
	screen 80 24 LC_ALL=C
	shows '^>.*#'
	[ "$(seen | LC_ALL=C grep -c '[^ -~]')" -eq 0 ]
	shows '@'
	# and nothing of a hostile name reaches the terminal
	keys q
	# shellcheck disable=SC2016
	start_command perl -e '$| = 1; syscall(157, 15, my $name = "\e]0;pwned\a\0"); print "ready\n"; 1 while 1'
	end_screen
	screen 80 24
	shows '\\x1b\]0;pwn'
	[ "$(in_tmux display-message -p '#{pane_title}')" != pwned ]
}

@test "the screen ends with the load, and says why" {
	load
	start states
	screen 80 24
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	await 20 has_ended 1
	grep -q 'start again, or load with' "$WORK/errors"
}
