#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Whose stacks are whole: programs that know each frame of theirs (tests/workloads/unwind/), compiled without frame
# pointers, loaded and linked in every way that there is. All of them are the targets of one capture, which each
# test looks at its own program in: that is the CPU pressure, too.

source "$BATS_TEST_DIRNAME/lib.bash"

DEPTH=40
MOST_FRAMES=$(awk '$2 == "SAMPLE_USER_FRAMES" { print $3 + 0 }' "$TREE/common/abi.h")
LEAST_SAMPLES=20 # less would say nothing

# name, program, and how it is started
programs() {
	cat <<- 'END'
		pie             pie
		no_pie          no_pie
		static          static
		static_pie      static_pie
		far_text        far_text
		stripped        stripped
		frame_pointers  frame_pointers
		no_tables       no_tables
		no_tables_fp    no_tables_fp
		by_pointer      pie --kind by-frame-pointer
		often           pie --kind often
		thread          pie --kind thread
		static_thread   static --kind thread
		forked          pie --kind forked
		jump            pie --kind jump
		end             pie --kind end
		clock           pie --kind clock
		sleep           pie --kind sleep
		signal          pie --kind signal
		static_signal   static --kind signal
		signal_stack    pie --kind signal-stack
		trap            pie --kind trap
		deep            pie --depth 200
		reloaded        plugin --kind reloaded
		replaced        plugin --kind replaced
		lazy            lazy
		lazy_ibt        lazy_ibt
		jit             jit
		spin            objects --kind spin
		sort            objects --kind sort
		throw           objects --kind throw
	END
}

# signal_all SIGNAL [BUT]: to all programs but one
signal_all() {
	local file
	for file in "$WORK"/pid.*; do
		[[ $file == *."${2-none}" ]] || kill "-$1" "$(< "$file")" 2> /dev/null || true
	done
}

# take_capture: of all programs, from when they are known to be targets
take_capture() {
	local name program arguments
	load --hz 499
	rule targets 'comm = unwind_*' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	# an emulated CPU has better things to do than to make tables while all of these burn it
	while read -r name program arguments; do
		# shellcheck disable=SC2086
		start "unwind_$program" $arguments
		[[ $name != forked ]] || pgrep -P "$CHILD" > "$WORK/pid.child"
		echo "$CHILD" > "$WORK/pid.$name"
		signal_all STOP
	done < <(programs)
	daemon_start
	await_tables
	signal_all CONT
	mv "$WORK/pid.child" "$WORK/pid.forked"
	rule pressure 'comm = unwind_*' "cgroup = /$CGROUP" 'cpu.some = 1%' 'watch = system' 'history = 1s' \
		"capture = $((6 + 6 * PATIENCE))s" 'cooldown = 1h'
	await_log 30 'rule pressure fired'
	# names come when nobody else wants the CPUs: of programs that are gone, too, but for the map of the one that makes code
	await_status 30 '.captures | length == 0'
	signal_all KILL jit
	await_log 90 'captured [0-9]+ stacks of rule pressure'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	stop "$(< "$WORK/pid.jit")" # it takes its map away
	children_end
}

setup_file() {
	bourdon_setup unwind
	export WORK DB
	cgroup_make
	take_capture
}

teardown_file() {
	[[ ! -e $WORK/pid.jit ]] || rm -f "/tmp/perf-$(< "$WORK/pid.jit").map"
	bourdon_teardown
}

# ---- what there should be, as extended regular expressions over stacks whose outermost function comes first ----

STUB='unwind_[a-z_]+\+0x[0-9a-f]+|[^;]*plt[^;]*' # of the procedure linkage table
LIBC='libc\.so\.6\+0x[0-9a-f]+|_[^;]*|mem[a-z][^;]*' # not all of its functions have a name without debug symbols
START="_start;(__libc_start_main[^;]*|$LIBC);(__libc_start_call_main|$LIBC);main"
THREAD="(_*clone3|$LIBC);(start_thread|$LIBC);thread_main"

# descent NAME...: the chain from DEPTH down to 1, of functions that take turns as tests/workloads/unwind/chain.h says
descent() {
	local left names=("$@") text=chain_descend
	for ((left = DEPTH; left > 0; left--)); do
		text+=";level_${names[left % ${#names[@]}]}"
	done
	echo "$text"
}

PLAIN=$(descent small pushes large)
BY_POINTER=$(descent alloca pushes realigned drap)
SHORT=$(descent small pushes)

# ---- what there is ----

# samples_of PROGRAM KIND: a FROM and a WHERE: its samples from the trigger on, with the text of the stack's user part
samples_of() {
	cat <<- END
		FROM (
			SELECT s.samples, st.*, (
				SELECT group_concat(function, ';') FROM (
					SELECT f.function FROM stack_frame sf JOIN frame f USING(frame_id) JOIN module m USING(module_id)
					WHERE sf.stack_id = st.stack_id AND m.kind NOT IN ('kernel', 'module') AND NOT f.inlined
					ORDER BY sf.position DESC)) AS stack
			FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
			WHERE p.tgid = $(< "$WORK/pid.$1") AND s.kind = '$2' AND s.second >= 0
		) WHERE stack IS NOT NULL
	END
}

# every_stack KIND PROGRAM PATTERN CLAIM: all there are of the program are of the pattern, and what is said of them is
# of the other: truncated, how the walk ended, what it went by. Shows those that are not.
every_stack() {
	local samples wrong
	samples=$(sql "SELECT ifnull(sum(samples), 0) $(samples_of "$2" "$1")")
	[ "$samples" -ge "$LEAST_SAMPLES" ] || { echo "$samples samples of $2"; return 1; }
	sql "SELECT sum(samples) || ' ' || stack $(samples_of "$2" "$1") GROUP BY stack ORDER BY 1 DESC" > "$WORK/stacks"
	if wrong=$(grep -Evx "[0-9]+ $3" "$WORK/stacks"); then
		printf 'of %s samples of %s, %s are not as they should be:\n%s\n' "$samples" "$2" \
			"$(awk '{ all += $1 } END { print all }' <<< "$wrong")" "$wrong"
		return 1
	fi
	sql "SELECT sum(samples) || ' ' || truncated || ' ' || ended || ' ' || unwinder $(samples_of "$2" "$1")
		GROUP BY truncated, ended, unwinder" > "$WORK/claims"
	if wrong=$(grep -Evx "[0-9]+ $4" "$WORK/claims"); then
		printf 'of %s samples of %s, this is said:\n%s\n' "$samples" "$2" "$wrong"
		return 1
	fi
}

WHOLE='0 root eh-frame'

# on_cpu PROGRAM PATTERN [CLAIM]
on_cpu() {
	every_stack on-cpu "$1" "$2" "${3-$WHOLE}"
}

# most_whole PROGRAM PATTERN PERCENT: what is said to be whole is of the pattern, and at least so much is
most_whole() {
	local wrong whole
	sql "SELECT DISTINCT stack $(samples_of "$1" on-cpu) AND NOT truncated" > "$WORK/stacks"
	if wrong=$(grep -Evx "$2" "$WORK/stacks"); then
		printf 'said to be whole, of %s:\n%s\n' "$1" "$wrong"
		return 1
	fi
	whole=$(sql "SELECT ifnull(sum(samples) FILTER (WHERE NOT truncated) * 100 / sum(samples), 0) $(samples_of "$1" on-cpu)")
	[ "$whole" -ge "$3" ] || { echo "$whole % of $1 are whole"; return 1; }
}

# some_stack PROGRAM PATTERN: there is one that has it
some_stack() {
	sql "SELECT stack $(samples_of "$1" on-cpu)" | grep -Eq "$2" || { echo "none like $2 of $1"; return 1; }
}

# ---- builds ----

@test "position-independent" {
	on_cpu pie "$START;in_main;$PLAIN;burn"
}

@test "at a fixed place" {
	on_cpu no_pie "$START;in_main;$PLAIN;burn"
}

@test "static, and static position-independent" {
	on_cpu static "$START;in_main;$PLAIN;burn"
	on_cpu static_pie "$START;in_main;$PLAIN;burn"
}

@test "text at another distance from the file's first byte than in the file" {
	on_cpu far_text "$START;in_main;$PLAIN;burn"
}

@test "stripped: a frame for each function, with its name or without" {
	local own='([a-z_]+|unwind_stripped\+0x[0-9a-f]+)'
	on_cpu stripped "$own;(__libc_start_main[^;]*|$LIBC);(__libc_start_call_main|$LIBC)(;$own){$((DEPTH + 4))}"
}

@test "frame pointers, and tables that make them needless" {
	on_cpu frame_pointers "$START;in_main;$PLAIN;burn"
}

@test "frame pointers without tables: one by the other, up to the thread's first function" {
	on_cpu no_tables_fp "$START;in_main;$PLAIN;burn" '0 root mixed'
}

@test "neither: the leaf alone, and that there is no rule" {
	on_cpu no_tables 'burn' '1 no-rule [a-z-]+'
}

# ---- frames ----

@test "frames of changing size, aligned ones, and such by a pointer in themselves" {
	on_cpu by_pointer "$START;in_main;$BY_POINTER;burn"
}

@test "each instruction of prologues and epilogues" {
	on_cpu often "$START;in_main;$BY_POINTER;call_often(;leaf_(small|pushes|large|alloca|realigned|drap))?"
	some_stack often 'leaf_pushes$'
	some_stack often 'leaf_drap$'
}

@test "a tail call: who jumped is not there" {
	on_cpu jump "$START;in_main;$PLAIN;call_who_jumps;burn"
}

@test "calls that are the last instruction of their function" {
	on_cpu end "$START;in_main;$PLAIN;call_who_ends;end_with_call;end_with_noreturn;burn_to_the_end"
}

@test "deeper than a sample has room for: the innermost frames, and that it is not whole" {
	on_cpu deep "$(DEPTH=$((MOST_FRAMES - 1)) descent small pushes large | sed 's/chain_descend;//');burn" '1 depth eh-frame'
}

# ---- where threads begin, and where they are interrupted ----

@test "a thread ends at its own first function" {
	on_cpu thread "$THREAD;$PLAIN;burn"
	on_cpu static_thread "$THREAD;$PLAIN;burn"
}

@test "a process that was forked" {
	on_cpu forked "$START;in_child;$PLAIN;burn"
}

@test "in a signal's handler: below it, what the signal interrupted" {
	local handler="(__restore_rt|$LIBC|unwind_static\+0x[0-9a-f]+)(;on_timer(;burn_in_handler)?)?"
	on_cpu signal "$START;in_main;$PLAIN;meet_signals;burn_interrupted(;$handler)?"
	some_stack signal 'burn_in_handler$'
	on_cpu static_signal "$START;in_main;$PLAIN;meet_signals;burn_interrupted(;$handler)?"
	some_stack static_signal 'burn_in_handler$'
}

@test "the same on a stack of the handler's own" {
	on_cpu signal_stack \
		"$START;in_main;$PLAIN;meet_signals_elsewhere;burn_interrupted(;(__restore_rt|$LIBC)(;on_timer(;burn_in_handler)?)?)?"
	some_stack signal_stack 'burn_in_handler$'
}

@test "interrupted at the first instruction of a function, which is the one to be named" {
	on_cpu trap "$START;in_main;$BY_POINTER;meet_traps(;trap(;(__restore_rt|$LIBC)(;on_trap(;burn_in_handler)?)?)?)?"
	some_stack trap 'burn_in_handler$'
}

@test "off the CPU: asleep, and preempted" {
	every_stack off-cpu sleep \
		"$START;in_main;$PLAIN;sleep_often(;(_*nanosleep[^;]*|$LIBC)(;(_*clock_nanosleep[^;]*|$LIBC))?)?" "$WHOLE"
	every_stack off-cpu pie "$START;in_main;$PLAIN;burn" "$WHOLE"
}

# ---- code that is not the program's ----

@test "the vDSO" {
	local vdso='(\[vdso\]\+0x[0-9a-f]+|__vdso_clock_gettime)'
	on_cpu clock "$START;in_main;$PLAIN;burn_clock(;(_*clock_gettime[^;]*|$LIBC|$STUB))?(;$vdso)*"
	some_stack clock "$vdso\$"
}

@test "the procedure linkage table, and the loader that resolves it" {
	local name loader='(ld-linux-x86-64\.so\.2\+0x[0-9a-f]+|[a-z_][a-z_0-9.]*)'
	for name in lazy lazy_ibt; do
		on_cpu "$name" "$START;$SHORT;call_lazily(;lazy_tick|;($STUB)|(;$loader)+)?"
		some_stack "$name" 'call_lazily;(ld-linux|_dl_)'
	done
	# a stub is one of a hundred instructions
	some_stack lazy ";($STUB)\$" || some_stack lazy_ibt ";($STUB)\$"
}

# plugin_stack FUNCTION: the pattern of a whole stack of the function that runs plugins, wherever the sample was taken
plugin_stack() {
	local other="(;(dlopen|dlclose|dlsym|_*clock_gettime|$LIBC|$STUB)[^;]*(;[^;]+)*)?" # what loads it takes its time, too
	echo "$START;$SHORT;$1(;run_plugin(;plugin_enter(;call_back(;plugin_burn)?)?|$other))?"
}

@test "a plugin that calls back, and that is loaded anew" {
	local stack
	stack=$(plugin_stack reload)
	if ((PATIENCE == 1)); then
		on_cpu reloaded "$stack"
	else
		# an emulated CPU is sampled before the tables of where it is now have come, and its stacks say so
		most_whole reloaded "$stack" 66
	fi
	some_stack reloaded 'plugin_burn$'
}

@test "another plugin in the place of the first: no stack is said to be whole that is not" {
	# at most three loads in that time, of which each takes some seconds to be known, and longer where CPUs are emulated
	most_whole replaced "$(plugin_stack replace)" $((PATIENCE > 1 ? 10 : 33))
}

@test "code made while it runs, by its frame pointer" {
	local jit='(jit_function|\[anonymous\]\+0x[0-9a-f]+)'
	on_cpu jit "$START;$SHORT;call_jit(;$jit(;jit_callback)?)?" '0 root (mixed|eh-frame)'
	some_stack jit ";$jit;jit_callback\$"
	[ "$(sql "SELECT DISTINCT unwinder $(samples_of jit on-cpu) AND stack LIKE '%;jit_callback'")" = mixed ]
}

# ---- C++ ----

# templates: the instantiations of a function template, mangled or not
templates() {
	local left text=
	for ((left = 40; left >= 0; left--)); do
		text+=";[^;]*descend(ILi|<)$left(E|>)[^;]*"
	done
	echo "$text"
}

@test "templates and virtual functions" {
	on_cpu spin "$START$(templates);[^;]*Spinner[^;]*burn[^;]*"
	on_cpu sort "$START$(templates);[^;]*Sorter[^;]*burn[^;]*(;[^;]*(sort|heap|median|partition|move|append)[^;]*|;($LIBC|$STUB))*"
}

@test "exceptions, while they are thrown" {
	local fail='[^;]*Thrower[^;]*fail[^;]*'
	# libgcc writes over what its own frames have saved before it leaves them: for a moment there is no way out
	most_whole throw "$START$(templates);[^;]*Thrower[^;]*burn[^;]*(;$fail){0,6}(;[^;]+)*" 95
	some_stack throw "_Unwind_RaiseException"
	some_stack throw "($fail;){6}"
}
