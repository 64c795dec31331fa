#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Complete stacks: programs with known frames (tests/workloads/unwind/), compiled without frame pointers,
# linked and loaded in every way. One capture contains them all, triggered by their own CPU pressure; each
# test checks one program.

source "$BATS_TEST_DIRNAME/lib.bash"

DEPTH=40
MOST_FRAMES=$(awk '$2 == "SAMPLE_USER_FRAMES" { print $3 + 0 }' "$TREE/common/abi/samples.h")
LEAST_SAMPLES=20 # of each program

# programs: prints a name, a program and its arguments for each
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
		debug_frame     debug_frame
		debug_frame_gz  debug_frame_gz
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
		vfork           pie --kind vfork
		register        pie --kind register
		coroutine       pie --kind coroutine
		made_stack      pie --kind made-stack
		moved           pie --kind moved
		moved_part      pie --kind moved-in-part
		moved_no_pie    no_pie --kind moved
		probed          probed
		probed_fp       probed_fp
		left            pie --kind left
		leaves          pie --kind leaves
		deep            pie --depth 200
		reloaded        plugin --kind reloaded
		replaced        plugin --kind replaced
		lazy            lazy
		lazy_ibt        lazy_ibt
		early           early
		bare            bare
		jit             jit
		spin            objects --kind spin
		sort            objects --kind sort
		throw           objects --kind throw
	END
}

# signal_all SIGNAL [NAME]: sends the signal to all programs except NAME
signal_all() {
	local file
	for file in "$WORK"/pid.*; do
		[[ $file == *."${2-none}" ]] || kill "-$1" "$(< "$file")" 2> /dev/null || true
	done
}

# probe_returns PROGRAM FUNCTION...: another tool's probes of the returns of these functions, in a program that starts later
probe_returns() {
	local function
	[[ -e $TRACING/uprobe_events ]] || return 0
	for function in "${@:2}"; do
		echo "r:$PROBES/${1}_$function $WORK/$1:0x$(nm "$WORK/$1" | awk -v name="$function" '$3 == name { print $1 }')" >> "$TRACING/uprobe_events"
	done
	echo 1 > "$TRACING/events/$PROBES/enable"
}

probes_end() {
	[[ ! -d $TRACING/events/$PROBES ]] || {
		echo 0 > "$TRACING/events/$PROBES/enable"
		echo "-:$PROBES/" >> "$TRACING/uprobe_events"
	}
	! mountpoint -q "$TRACING" || umount "$TRACING"
}

# take_capture: captures all programs once they have their unwind tables
take_capture() {
	local name program arguments path
	load --hz 499
	rule targets 'comm = unwind_*' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	cp "$BUILD/workloads/unwind_pie" "$WORK/unwind_probed"
	cp "$BUILD/workloads/unwind_no_tables_fp" "$WORK/unwind_probed_fp"
	probe_returns unwind_probed in_main level_small level_pushes
	probe_returns unwind_probed_fp chain_descend level_large
	# stopped meanwhile, because building tables takes CPU time
	while read -r name program arguments; do
		path=$BUILD/workloads/unwind_$program
		[[ ! -e $WORK/unwind_$program ]] || path=$WORK/unwind_$program
		# shellcheck disable=SC2086
		start_command "$path" $arguments
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
	# naming yields to other processes, so end them; it needs none of them alive, only the perf map of the
	# JIT
	await_status 30 '.captures | length == 0'
	signal_all KILL jit
	await_log 90 'captured [0-9]+ stacks of rule pressure'
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	stop "$(< "$WORK/pid.jit")" # removes its perf map at its end
	children_end
}

setup_file() {
	bourdon_setup unwind
	TRACING=$WORK/tracing
	PROBES=bourdon_$BASHPID
	export WORK DB TRACING PROBES
	mkdir "$TRACING"
	mount -t tracefs none "$TRACING" || true # a kernel without it has no probes, either
	cgroup_make
	take_capture
}

teardown_file() {
	[[ ! -e $WORK/pid.jit ]] || rm -f "/tmp/perf-$(< "$WORK/pid.jit").map"
	children_end
	probes_end
	bourdon_teardown
}

# ---- expected stacks: extended regular expressions, outermost function first ----

STUB='unwind_[a-z_]+\+0x[0-9a-f]+|[^;]*plt[^;]*' # of the procedure linkage table
LIBC='libc\.so\.6\+0x[0-9a-f]+|_[^;]*|mem[a-z][^;]*' # without debug symbols, some functions have no name
START="_start;(__libc_start_main[^;]*|$LIBC);(__libc_start_call_main|$LIBC);main"
THREAD="(_*clone3|$LIBC);(start_thread|$LIBC);thread_main"

# descent NAME...: the chain from DEPTH down to 1, of these functions in turn (tests/workloads/unwind/chain.h)
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

# ---- captured stacks ----

# samples_of PROGRAM KIND: prints FROM and WHERE for its samples since the trigger, with their user stack as
# text
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

# every_stack KIND PROGRAM PATTERN CLAIM: all stacks of the program match PATTERN, and the "truncated ended
# unwinder" of each matches CLAIM. Prints those that do not.
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

# most_whole PROGRAM PATTERN PERCENT: all stacks that are not truncated match, and they are at least PERCENT
# of all
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

# some_stack PROGRAM PATTERN: at least one stack matches
some_stack() {
	sql "SELECT stack $(samples_of "$1" on-cpu)" | grep -Eq "$2" || { echo "none like $2 of $1"; return 1; }
}

# ---- builds ----

@test "position-independent executable" {
	on_cpu pie "$START;in_main;$PLAIN;burn"
}

@test "executable at a fixed address" {
	on_cpu no_pie "$START;in_main;$PLAIN;burn"
}

@test "static executables, position-independent and not" {
	on_cpu static "$START;in_main;$PLAIN;burn"
	on_cpu static_pie "$START;in_main;$PLAIN;burn"
}

@test "text whose distance from the first mapping differs from the file" {
	on_cpu far_text "$START;in_main;$PLAIN;burn"
}

@test "stripped: a frame for each function, with its name or without" {
	local own='([a-z_]+|unwind_stripped\+0x[0-9a-f]+)'
	on_cpu stripped "$own;(__libc_start_main[^;]*|$LIBC);(__libc_start_call_main|$LIBC)(;$own){$((DEPTH + 4))}"
}

@test "frame pointers and unwind tables: the tables are used" {
	on_cpu frame_pointers "$START;in_main;$PLAIN;burn"
}

@test "frame pointers without tables: complete stacks through both" {
	on_cpu no_tables_fp "$START;in_main;$PLAIN;burn" '0 root mixed'
}

@test "neither tables nor frame pointers: the leaf, ended by no-rule" {
	on_cpu no_tables 'burn' '1 no-rule [a-z-]+'
	# why names the file, once, and says what to do
	"$BUILD/bourdon" --db "$DB" why --section not_whole --json | jq -e '[.not_whole[] | select(.module | endswith("/unwind_no_tables"))] |
		length == 1 and .[0].ended == "no-rule" and (.[0].remedy | contains("-fasynchronous-unwind-tables"))'
}

@test "no .eh_frame, but .debug_frame, deflated or not: complete stacks" {
	on_cpu debug_frame "$START;in_main;$PLAIN;burn"
	on_cpu debug_frame_gz "$START;in_main;$PLAIN;burn"
}

# ---- frames ----

@test "frames of variable size, aligned frames, frames located by a saved pointer" {
	on_cpu by_pointer "$START;in_main;$BY_POINTER;burn"
}

@test "samples within prologues and epilogues" {
	on_cpu often "$START;in_main;$BY_POINTER;call_often(;leaf_(small|pushes|large|alloca|realigned|drap))?"
	some_stack often 'leaf_pushes$'
	some_stack often 'leaf_drap$'
}

@test "a tail call: the function that jumped has no frame" {
	on_cpu jump "$START;in_main;$PLAIN;call_who_jumps;burn"
}

@test "calls that are the last instruction of their function" {
	on_cpu end "$START;in_main;$PLAIN;call_who_ends;end_with_call;end_with_noreturn;burn_to_the_end"
}

@test "a stack deeper than a sample: the innermost frames, marked as truncated" {
	on_cpu deep "$(DEPTH=$((MOST_FRAMES - 1)) descent small pushes large | sed 's/chain_descend;//');burn" '1 depth eh-frame'
}

# ---- where threads begin, and where they are interrupted ----

@test "the stack of a thread ends at its start function" {
	on_cpu thread "$THREAD;$PLAIN;burn"
	on_cpu static_thread "$THREAD;$PLAIN;burn"
}

@test "a forked process" {
	on_cpu forked "$START;in_child;$PLAIN;burn"
}

@test "a signal handler: the interrupted function is its caller" {
	local handler="(__restore_rt|$LIBC|unwind_static\+0x[0-9a-f]+)(;on_timer(;burn_in_handler)?)?"
	on_cpu signal "$START;in_main;$PLAIN;meet_signals;burn_interrupted(;$handler)?"
	some_stack signal 'burn_in_handler$'
	on_cpu static_signal "$START;in_main;$PLAIN;meet_signals;burn_interrupted(;$handler)?"
	some_stack static_signal 'burn_in_handler$'
}

@test "a signal handler on an alternate stack" {
	on_cpu signal_stack \
		"$START;in_main;$PLAIN;meet_signals_elsewhere;burn_interrupted(;(__restore_rt|$LIBC)(;on_timer(;burn_in_handler)?)?)?"
	some_stack signal_stack 'burn_in_handler$'
}

@test "interrupted at the first instruction of a function: that function is named" {
	on_cpu trap "$START;in_main;$BY_POINTER;meet_traps(;trap(;(__restore_rt|$LIBC)(;on_trap(;burn_in_handler)?)?)?)?"
	some_stack trap 'burn_in_handler$'
}

@test "a return address in a register: glibc's vfork(), and a function that spins so" {
	every_stack off-cpu vfork "$START;in_main;$BY_POINTER;fork_often(;(_*vfork|$LIBC|_*waitpid|_*wait4)){1,3}" "$WHOLE"
	on_cpu register "$START;in_main;$PLAIN;call_in_register(;spin_in_register)?"
	some_stack register 'spin_in_register$'
}

@test "a stack that the program made: by makecontext(), and one that ends with a 0" {
	on_cpu coroutine "(__start_context|$LIBC);on_made_stack;$PLAIN;burn"
	on_cpu made_stack "on_made_stack;$PLAIN;burn"
}

@test "code that the program moved to memory of no file, at the same addresses" {
	on_cpu moved "$START;in_moved_text;in_main;$PLAIN;burn"
	on_cpu moved_part "$START;in_moved_text;in_main;$PLAIN;burn"
	on_cpu moved_no_pie "$START;in_moved_text;in_main;$PLAIN;burn"
}

@test "functions whose returns another tool probes: their callers are those without a probe" {
	[[ -e $TRACING/uprobe_events ]] || skip 'this kernel has no probes of functions'
	on_cpu probed "$START;in_main;$PLAIN;burn"
	on_cpu probed_fp "$START;in_main;$PLAIN;burn" '0 root mixed'
}

@test "a process whose first thread has ended: before it was known, and after" {
	on_cpu left "(_*clone3|$LIBC);(start_thread|$LIBC);thread_that_stays;$PLAIN;burn"
	on_cpu leaves "(_*clone3|$LIBC);(start_thread|$LIBC);thread_that_stays;$PLAIN;burn"
}

@test "off-CPU stacks: asleep and preempted" {
	# it may also lose the CPU in the linkage table
	every_stack off-cpu sleep \
		"$START;in_main;$PLAIN;sleep_often(;(_*nanosleep[^;]*|$LIBC)(;(_*clock_nanosleep[^;]*|$LIBC)(;(_*syscall_cancel[^;]*|$LIBC)){0,2})?)?" "$WHOLE"
	every_stack off-cpu pie "$START;in_main;$PLAIN;burn" "$WHOLE"
}

# ---- code that is not the program's ----

@test "functions of the vDSO" {
	local vdso='(\[vdso\]\+0x[0-9a-f]+|__vdso_clock_gettime)' # some kernels have local functions there
	on_cpu clock "$START;in_main;$PLAIN;burn_clock(;(_*clock_gettime[^;]*|$LIBC|$STUB))?(;$vdso)*"
	some_stack clock ';__vdso_clock_gettime'
}

@test "the procedure linkage table and the dynamic loader" {
	local name loader='(ld-linux-x86-64\.so\.2\+0x[0-9a-f]+|[a-z_][a-z_0-9.]*)'
	for name in lazy lazy_ibt; do
		on_cpu "$name" "$START;$SHORT;call_lazily(;lazy_tick|;($STUB)|(;$loader)+)?"
		some_stack "$name" 'call_lazily;(ld-linux|_dl_)'
	done
	# a stub is sampled rarely: at least in one program
	some_stack lazy ";($STUB)\$" || some_stack lazy_ibt ";($STUB)\$"
}

# plugin_stack FUNCTION: prints the pattern of the whole stacks of the function that runs plugins, from any place
# in it
plugin_stack() {
	local other="(;(dlopen|dlclose|dlsym|_*clock_gettime|$LIBC|$STUB)[^;]*(;[^;]+)*)?" # samples while the plugin is loaded
	echo "$START;$SHORT;$1(;run_plugin(;plugin_enter(;call_back(;plugin_burn)?)?|$other))?"
}

@test "first functions without unwind information: of the dynamic loader, and of a program without a C library" {
	on_cpu early "(_dl_start_user|ld-linux[^;]*);(_dl_init|ld-linux[^;]*)(;(call_init|ld-linux[^;]*))?;early_begin(;early_burn)?"
	on_cpu bare "bare_start;bare_main(;bare_burn)?"
}

@test "a plugin that calls back and is loaded again and again" {
	# A scan that comes while the plugin is not loaded takes its tables away; they are back after some samples.
	most_whole reloaded "$(plugin_stack reload)" $((PATIENCE > 1 ? 66 : 90))
	some_stack reloaded 'plugin_burn$'
}

@test "another plugin at the same address: stacks said to be complete are" {
	# at most three loads in that time; each has its tables, and is told from the other
	local percent=$((PATIENCE > 1 ? 10 : 75))
	has_epochs || percent=0
	most_whole replaced "$(plugin_stack replace)" "$percent"
}

@test "JIT code with frame pointers" {
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

@test "C++: templates and virtual functions" {
	on_cpu spin "$START$(templates);[^;]*Spinner[^;]*burn[^;]*"
	on_cpu sort "$START$(templates);[^;]*Sorter[^;]*burn[^;]*(;[^;]*(sort|heap|median|partition|move|append)[^;]*|;($LIBC|$STUB))*"
}

@test "C++: while exceptions are thrown" {
	local fail='[^;]*Thrower[^;]*fail[^;]*'
	# for a moment libgcc's own frames cannot be unwound, because it has overwritten their saved registers
	most_whole throw "$START$(templates);[^;]*Thrower[^;]*burn[^;]*(;$fail){0,6}(;[^;]+)*" 95
	some_stack throw "_Unwind_RaiseException"
	some_stack throw "($fail;){6}"
}
