#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The text iterator `threads`: what its lines say of threads in known states, who may read it, and what several readers do
# to each other and to sampling. The kernel's own files are the truth: /proc/PID/stat, wchan and cgroup.

source "$BATS_TEST_DIRNAME/lib.bash"

HEADER=$'tid\ttgid\tcomm\tuid\tstate\tsyscall\tfd\tfutex\tfunction\tcpu\tstate_ns\trun_delay_ns\tio_delay_ns\tcgroup'
READERS=54399 # a group that owns nothing else

setup() {
	bourdon_setup threads
	THREADS=$PIN_DIR/threads
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# mount_for_readers: as run-bourdon-bpf.mount does; THREADS is then the readers' pin
mount_for_readers() {
	install -d -m 0751 -g "$TEST_GROUP" "$RUN_DIR"
	mkdir "$RUN_DIR/bpf"
	mount -t bpf -o mode=0711,nosuid,nodev,noexec bpf "$RUN_DIR/bpf"
	THREADS=$RUN_DIR/bpf/threads
}

# pins_for_readers: without the kernel's own, maps.debug and progs.debug
pins_for_readers() {
	find "$RUN_DIR/bpf" -mindepth 1 -not -name '*.debug' -printf '%f\n'
}

# as_reader COMMAND...: as another user, in the group of readers alone
as_reader() {
	setpriv --reuid 54321 --regid "$READERS" --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# in_workload NAME: prints the fields of the thread of that name of the workload states, from the lines on stdin
in_workload() {
	awk -F '\t' -v tgid="$CHILD" -v comm="$1" '$2 == tgid && $3 == comm'
}

# field NUMBER: prints that field of the lines on stdin
field() {
	cut -f "$1"
}

@test "each line has the fields of the header, and each thread of the machine one line" {
	load
	cat "$THREADS" > "$WORK/lines"
	[ "$(head -n 1 "$WORK/lines")" = "$HEADER" ]
	[ "$(grep -c ^tid "$WORK/lines")" -eq 1 ]
	[ "$(awk -F '\t' '{ print NF }' "$WORK/lines" | sort -u)" = 14 ]
	[ "$(awk '{ print NF }' "$WORK/lines" | sort -u)" = 14 ] # no blanks, no empty fields
	[ -z "$(field 1 < "$WORK/lines" | sort | uniq -d)" ]
	# of those that lived before and after, but those that this kernel keeps even from root
	find /proc/[0-9]*/task -mindepth 1 -maxdepth 1 2> /dev/null | sed 's|.*/||' | sort > "$WORK/before"
	cat "$THREADS" > "$WORK/lines"
	find /proc/[0-9]*/task -mindepth 1 -maxdepth 1 2> /dev/null | sed 's|.*/||' | sort > "$WORK/after"
	[ "$(comm -12 "$WORK/before" "$WORK/after" | wc -l)" -gt 20 ]
	while read -r tid; do
		! readlink "/proc/$tid/ns/pid" || { echo "no line of $tid, $(cat "/proc/$tid/comm")"; false; }
	done < <(comm -12 "$WORK/before" "$WORK/after" | comm -23 - <(field 1 < "$WORK/lines" | sort))
}

@test "threads in known states and system calls are classified right in 99 % of 1,000 looks" {
	local look began used
	load
	ON_CPU=0 start_ahead "$BUILD/workloads/states"
	[[ $CHILD_LINE =~ stopped=([0-9]+)\ traced=([0-9]+)\ ended=([0-9]+)\ pipe=([0-9]+)\ epoll=([0-9]+) ]]
	local stopped=${BASH_REMATCH[1]} traced=${BASH_REMATCH[2]} ended=${BASH_REMATCH[3]} pipe=${BASH_REMATCH[4]} epoll=${BASH_REMATCH[5]}
	began=${EPOCHREALTIME/[.,]/}
	used=$(cpu_ms "$CHILD")
	# on another CPU, the shell as well: where they run between two looks, the two busy threads wait
	{
		taskset -p -c $(($(nproc) > 1)) "$BASHPID" > /dev/null
		for ((look = 0; look < 1000; look++)); do cat "$THREADS"; done
	} | awk -F '\t' -v OFS='\t' -v tgid="$CHILD" -v children=" $stopped $traced $ended " '
		$2 == tgid || index(children, " " $2 " ") { print $3, $5, $6, $7, $8, $10 }' > "$WORK/seen"
	used=$(($(cpu_ms "$CHILD") - used))
	began=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
	# right NAME STATE SYSCALL FD: prints how many of the looks say so
	right() {
		awk -F '\t' -v comm="$1" -v want="$2 $3 $4" '$1 == comm && $2 " " $3 " " $4 == want { right++ } END { print right + 0 }' "$WORK/seen"
	}
	while read -r name state call fd; do
		echo "$name: $(right "$name" "$state" "$call" "$fd") of $(awk -F '\t' -v comm="$name" '$1 == comm' "$WORK/seen" | wc -l) looks"
		[ "$(right "$name" "$state" "$call" "$fd")" -ge 990 ]
		[ "$(awk -F '\t' -v comm="$name" '$1 == comm' "$WORK/seen" | wc -l)" -eq 1000 ]
	done <<- END
		in-read S read $pipe
		in-poll S poll -
		in-epoll S epoll_pwait $epoll
		in-sleep S nanosleep -
		in-futex S futex -
		in-lock S futex -
		in-vfork D vfork -
		states S pause -
		is-stopped T tgkill -
		is-traced t tgkill -
		has-ended Z - -
	END
	# two busy threads on one CPU: never both run, they never wait for anything but a CPU, and they run as long as they used it
	[ "$(awk -F '\t' '$1 ~ /^runs-/ && ($2 == "running" || $2 == "queued") && $6 == 0' "$WORK/seen" | wc -l)" -ge 1980 ]
	# two lines are of two moments; an emulated machine may do much between them
	((PATIENCE > 1)) || [ "$(awk -F '\t' '$1 ~ /^runs-/ { if (FNR == last + 1 && $2 == "running" && before == "running") both++; last = FNR; before = $2 } END { print both + 0 }' "$WORK/seen")" -le 10 ]
	local running
	running=$(awk -F '\t' '$1 ~ /^runs-/ && $2 == "running"' "$WORK/seen" | wc -l)
	echo "running in $running of 1000 looks, $used ms of CPU in $began ms"
	((PATIENCE > 1 || $(nproc) == 1)) || ((running * began > (used - began / 8) * 1000 && running * began < (used + began / 8) * 1000))
	# two threads that wait for one futex have its key, another one has another
	[ "$(awk -F '\t' '$1 ~ /^in-futex/ { print $5 }' "$WORK/seen" | sort -u | grep -cE '^[0-9a-f]{16}$')" -eq 1 ]
	[ "$(awk -F '\t' '$1 == "in-lock" || $1 == "in-futex" { print $5 }' "$WORK/seen" | sort -u | wc -l)" -eq 2 ]
}

@test "function, time and cgroup are what the kernel says elsewhere" {
	local name tid line wchan began ended
	load
	start states
	for name in in-read in-poll in-sleep in-futex in-vfork; do
		line=$(in_workload $name < "$THREADS")
		tid=$(field 1 <<< "$line")
		wchan=$(cat "/proc/$tid/wchan")
		[ "$(field 9 <<< "$line")" = "$wchan" ] || { echo "$line: $wchan"; false; }
		[ "$(field 14 <<< "$line")" = "/$CGROUP" ]
		[ "$(field 4 <<< "$line")" -eq 0 ]
		[ "$(field 12 <<< "$line")" -eq "$(cut -d ' ' -f 2 "/proc/$tid/schedstat")" ]
	done
	# how long a thread has slept: between two moments that enclose it, to the tick of the reader
	read -r began _ < /proc/uptime
	start_command sh -c 'echo ready; exec sleep 3600'
	await 20 eval "[[ \$(in_workload sleep < '$THREADS') == *clock_nanosleep* ]]"
	sleep 1
	line=$(in_workload sleep < "$THREADS")
	read -r ended _ < /proc/uptime
	awk -v ns="$(field 11 <<< "$line")" -v least=0.95 -v most="$(awk "BEGIN { print $ended - $began + 0.05 }")" \
		'BEGIN { print ns / 1e9, least, most; exit !(ns / 1e9 >= least && ns / 1e9 <= most) }'
}

@test "stacks: of each thread the functions that /proc/PID/stack has" {
	local name tid stack
	load
	start states
	[ "$(head -n 1 "$PIN_DIR/stacks")" = $'tid\tstack' ]
	[ "$(awk -F '\t' '{ print NF }' "$PIN_DIR/stacks" | sort -u)" = 2 ]
	for name in in-read in-poll in-sleep in-futex in-vfork; do
		tid=$(in_workload $name < "$THREADS" | field 1)
		stack=$(awk -F '\t' -v tid="$tid" '$1 == tid { print $2 }' "$PIN_DIR/stacks")
		[ "$stack" = "$(sed -E 's/^\[<0>\] //; s/\+0x.*//' "/proc/$tid/stack" | paste -s -d ';')" ] || { echo "$stack"; cat "/proc/$tid/stack"; false; }
		[[ $stack == *\;* ]]
	done
	load_under 'kernel_stacks = no'
	[ "$(awk -F '\t' 'NR > 1 { print $2 }' "$PIN_DIR/stacks" | sort -u)" = - ]
	load_under 'deny_uids = 0'
	[ "$(awk -F '\t' -v tid="$CHILD" '$1 == tid' "$PIN_DIR/stacks" | wc -l)" -eq 0 ]
}

@test "no absolute kernel address, whatever kptr_restrict says" {
	local setting before
	before=$(cat /proc/sys/kernel/kptr_restrict)
	for setting in 0 2; do
		with_sysctl kernel.kptr_restrict "$setting" load
		# a key of a futex has no more than 16 digits, and a name of a thread may have any
		cut -f 9 "$THREADS" > "$WORK/functions"
		cut -f 2 "$PIN_DIR/stacks" | tr ';' '\n' >> "$WORK/functions"
		[ "$(grep -ciE '^0x|[0-9a-f]{12,}' "$WORK/functions")" -eq 0 ]
		[ "$(cut -f 1,2,4-7,10- "$THREADS" | grep -ciE '(0x)?ffff[0-9a-f]{8,}')" -eq 0 ]
		awk -F '\t' '$9 ~ /^[a-zA-Z_]/ { named++ } END { exit !(named > 10) }' "$THREADS"
	done
	[ "$(cat /proc/sys/kernel/kptr_restrict)" = "$before" ]
}

@test "the group of readers reads with cat, and can do nothing else" {
	local id
	mount_for_readers
	load --readers "$READERS"
	[ "$(stat -c '%a %u %g' "$THREADS")" = "440 0 $READERS" ]
	chmod 0711 "$WORK"
	[ "$(as_reader cat "$THREADS" | head -n 1)" = "$HEADER" ]
	[ "$(as_reader cat "$THREADS" | wc -l)" -gt 20 ]
	# not without the group
	run setpriv --reuid 54321 --regid 54321 --clear-groups cat "$THREADS"
	[ "$status" -ne 0 ]
	[[ $output == *'Permission denied'* ]]
	run as_reader bash -c "echo > '$THREADS'"
	[ "$status" -ne 0 ]
	run as_reader rm -f "$THREADS"
	[ "$status" -ne 0 ]
	run as_reader ls "$RUN_DIR"
	[ "$status" -ne 0 ]
	run as_reader ls "$RUN_DIR/bpf"
	[ "$status" -ne 0 ]
	run as_reader cat "$RUN_DIR/manifest"
	[ "$status" -ne 0 ]
	[ "$(stat -c '%a %u %g' "$RUN_DIR/bpf/stacks")" = "440 0 $READERS" ]
	[ "$(as_reader cat "$RUN_DIR/bpf/stacks" | wc -l)" -gt 20 ]
	run as_reader cat "$PIN_DIR/threads"
	[ "$status" -ne 0 ]
	# bpf(BPF_OBJ_GET): a link opens for reading and writing only
	run as_reader bpftool link show pinned "$THREADS"
	[ "$status" -ne 0 ]
	[ "$("$BUILD/bourdon-load" --status --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" | grep ^readers)" = "readers       $THREADS, group $READERS" ]
}

@test "the readers' pin comes and goes with the load" {
	local before
	mount_for_readers
	# a failed load leaves none
	mkdir -p "$RUN_DIR/manifest/in the way"
	run load --readers "$READERS"
	[ "$status" -eq 1 ]
	[ -z "$(pins_for_readers)" ]
	rm -r "$RUN_DIR/manifest"
	run load --readers no_such_group_here
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'--readers no_such_group_here'* ]]
	load --readers "$READERS"
	before=$(stat -c %i "$THREADS")
	exec {old}< "$THREADS"
	# a failed one leaves the one before
	mv "$RUN_DIR/manifest" "$WORK/manifest"
	mkdir -p "$RUN_DIR/manifest/in the way"
	run load --readers "$READERS"
	[ "$status" -eq 1 ]
	[ "$(stat -c %i "$THREADS")" = "$before" ]
	[ "$(head -n 1 "$THREADS")" = "$HEADER" ]
	rm -r "$RUN_DIR/manifest"
	mv "$WORK/manifest" "$RUN_DIR/manifest"
	load --readers "$READERS"
	[ "$(stat -c %i "$THREADS")" != "$before" ]
	[ "$(pins_for_readers | sort | paste -s -d ' ')" = 'stacks threads' ]
	# what was opened before delivers nothing
	[ "$(wc -c <&"$old")" -eq 0 ]
	exec {old}<&-
	exec {old}< "$THREADS"
	run "$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
	[ "$status" -eq 0 ]
	[[ $output == *"still has $THREADS open"* ]]
	[ -z "$(pins_for_readers)" ]
	[ "$(wc -c <&"$old")" -eq 0 ]
	exec {old}<&-
	# without a BPF file system there is no second pin, and that is no error
	umount "$RUN_DIR/bpf"
	load
	[ ! -e "$THREADS" ]
}

# policy LINE...: loads under these limits
load_under() {
	printf '%s\n' '[policy]' "$@" > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf"
}

# as_uid UID COMMAND...
as_uid() {
	start_command setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}

is_shown() {
	awk -F '\t' -v tgid="$1" '$2 == tgid { lines++ } END { exit !lines }' "$THREADS"
}

@test "what root's policy denies has no line" {
	local denied allowed named protected
	as_uid 1005 sh -c 'echo ready; exec sleep 3600'
	denied=$CHILD
	as_uid 1006 sh -c 'echo ready; exec sleep 3600'
	allowed=$CHILD
	# shellcheck disable=SC2016
	start_command perl -e '$| = 1; $0 = "secret"; print "ready\n"; sleep 3600'
	named=$CHILD
	start_command perl -e '$| = 1; syscall(157, 4, 0); print "ready\n"; sleep 3600' # prctl(PR_SET_DUMPABLE, 0)
	protected=$CHILD
	load_under 'deny_uids = 1005'
	run is_shown "$denied"
	[ "$status" -eq 1 ]
	is_shown "$allowed"
	is_shown "$named"
	run is_shown "$protected" # a line on uids also denies what is not dumpable
	[ "$status" -eq 1 ]
	load_under 'allow_uids = 1005' 'deny_undumpable = no'
	is_shown "$denied"
	run is_shown "$allowed"
	[ "$status" -eq 1 ]
	load_under 'deny_comms = secret'
	run is_shown "$named"
	[ "$status" -eq 1 ]
	is_shown "$protected"
	load_under 'kernel_threads = no'
	[ "$(awk -F '\t' '$3 == "kthreadd"' "$THREADS" | wc -l)" -eq 0 ]
	is_shown "$allowed"
	# without a daemon nobody is a target
	load_under 'bystanders = no'
	[ "$(awk -F '\t' '$3 == "kthreadd"' "$THREADS" | wc -l)" -eq 1 ]
	run is_shown "$allowed"
	[ "$status" -eq 1 ]
	load_under 'kernel_stacks = no'
	is_shown "$allowed"
	[ "$(awk -F '\t' 'NR > 1 { print $9 }' "$THREADS" | sort -u)" = - ]
}

@test "a thread with a denied uid has no line in a process that is allowed" {
	local other
	start_command python3 -c '
import ctypes, threading, time
libc = ctypes.CDLL(None)
def other():
    libc.syscall(117, 1005, 1005, 1005)  # setresuid(2) of this thread alone
    time.sleep(3600)
thread = threading.Thread(target=other)
thread.start()
while True:
    if "Uid:\t1005" in open(f"/proc/self/task/{thread.native_id}/status").read(): break
print("ready", thread.native_id, flush=True)
time.sleep(3600)'
	other=${CHILD_LINE#ready }
	load_under 'deny_uids = 1005' 'deny_undumpable = no'
	[ "$(awk -F '\t' -v tgid="$CHILD" '$2 == tgid { print $1 }' "$THREADS")" = "$CHILD" ]
	[ "$(awk -F '\t' -v tid="$other" '$1 == tid' "$THREADS" | wc -l)" -eq 0 ]
}

@test "hostile names of threads and cgroups end no field and reach no terminal" {
	local name cgroup=$CGROUP2/$CGROUP/$'\e[31mred\t"quoted\'\\,;|#\xff' decoded
	local names=($'a\tb\nc' '"quoted"' "it's, so;" $'\e]0;title\a' '\134\040' $'\xff\xfe\x80' 'a,b;c|d#e' '  two  blanks' '-' $'\r\n' '')
	mkdir "$cgroup"
	load
	for name in "${names[@]}"; do
		# shellcheck disable=SC2016
		start_command perl -e '$| = 1; syscall(157, 15, my $name = "$ARGV[0]\0"); print "ready\n"; sleep 3600' "$name" # PR_SET_NAME
		echo "$CHILD" > "$cgroup/cgroup.procs"
		cat "$THREADS" > "$WORK/lines"
		[ "$(awk -F '\t' '{ print NF }' "$WORK/lines" | sort -u)" = 14 ]
		[ "$(awk '{ print NF }' "$WORK/lines" | sort -u)" = 14 ]
		[ "$(LC_ALL=C tr -d '\t\n\041-\176' < "$WORK/lines" | wc -c)" -eq 0 ]
		# and they can be had again
		decoded=$(awk -F '\t' -v tgid="$CHILD" '$2 == tgid { print $3 "." }' "$WORK/lines")
		[ "$(printf '%b' "${decoded//\\/\\0}" | tr -d '\0')" = "${name:0:15}." ] || { echo "$decoded"; false; }
		decoded=$(awk -F '\t' -v tgid="$CHILD" '$2 == tgid { print $14 }' "$WORK/lines")
		[ "$(printf '%b' "${decoded//\\/\\0}")" = "${cgroup#"$CGROUP2"}" ] || { echo "$decoded"; false; }
	done
}

@test "a cgroup's path of any length does not keep others from reading" {
	local path=$CGROUP2/$CGROUP
	load
	for _ in {1..30}; do
		path+=/$(printf '\t%.0s' {1..250})
		mkdir "$path" 2> /dev/null || break
	done
	start_command sh -c 'echo ready; exec sleep 3600'
	# the path is longer than one system call takes
	(cd "$CGROUP2/$CGROUP" && while cd ./*/ 2> /dev/null; do :; done && echo "$CHILD" > cgroup.procs)
	cat "$THREADS" > "$WORK/lines"
	[ "$(awk -F '\t' '{ print NF }' "$WORK/lines" | sort -u)" = 14 ]
	[[ $(awk -F '\t' -v tgid="$CHILD" '$2 == tgid { print $14 }' "$WORK/lines") == "/$CGROUP/"*'\011/...' ]]
	[ "$(awk -F '\t' '{ print $1 }' "$WORK/lines" | wc -l)" -gt 20 ]
}

@test "awk, column, sqlite3 and DuckDB read it" {
	load
	start states
	cat "$THREADS" > "$WORK/threads.tsv"
	[ "$(awk -v tgid="$CHILD" '$2 == tgid && $6 == "futex"' "$WORK/threads.tsv" | wc -l)" -eq 3 ]
	[ "$(column -t "$WORK/threads.tsv" | awk -v tgid="$CHILD" '$2 == tgid && $5 == "D" { print $6 }')" = vfork ]
	[ "$(sqlite3 :memory: -cmd '.mode tabs' -cmd ".import $WORK/threads.tsv threads" \
		"SELECT count(*), count(DISTINCT futex) FROM threads WHERE tgid = $CHILD AND syscall = 'futex'")" = $'3\t2' ]
	[ -e "$BUILD/npm/installed" ] || skip "$(cat "$BUILD/npm/missing" 2> /dev/null || echo 'npm: DuckDB is not installed: make npm')"
	[ "$(NODE_PATH=$BUILD/npm/node_modules node "$TREE/tests/npm/duckdb.cjs" \
		"SELECT count(*), count(DISTINCT futex), max(state_ns) > 0 FROM read_csv('$WORK/threads.tsv', nullstr = '-')
		WHERE tgid = $CHILD AND syscall = 'futex'")" = '3|2|true' ]
}

# looks RATE SECONDS FILE: reads so often, and writes what is wrong with a look, and the number of looks
looks() {
	local look lines wrong=0
	for ((look = 0; look < $1 * $2; look++)); do
		lines=$(awk -F '\t' -v tgid="$CHILD" 'NF != 14 { bad++ } NR == 1 && $1 != "tid" { bad++ } $2 == tgid { own++ }
			END { print bad + 0, own + 0 }' "$THREADS")
		[[ $lines == '0 11' ]] || wrong=$((wrong + 1))
		read -r -t "0.$((9 / $1))" <> <(:) || true
	done
	echo "$look $wrong" > "$3"
}

# contiguous RING: whether the numbers of the slots of each CPU have no gap
contiguous() {
	bpftool -j map dump pinned "$PIN_DIR/$1" | jq -e '
		[.[].formatted.value | select(.seq > 0) | {cpu, seq}] | group_by(.cpu) |
		map({n: length, first: (map(.seq) | min), last: (map(.seq) | max)}) |
		length > 0 and all(.last - .first + 1 == .n)' > /dev/null
}

@test "two readers at 10 and 1 Hz disturb neither each other nor sampling, and one that stops disturbs nobody" {
	local began used samples hog quiet
	own_workload cpu_hog
	load --quiet-after 5s
	rule own "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 1%'
	daemon_start
	ON_CPU=1 start_command "$WORK/$OWN"
	hog=$CHILD
	start states
	await_status 30 '.daemon[0].targets >= 1'
	exec {stopped}< "$THREADS"
	IFS= read -r began <&"$stopped"
	[ "$began" = "$HEADER" ]
	used=$(cpu_ms "$hog")
	samples=$(counter 0)
	looks 10 10 "$WORK/fast" 3>&- &
	local fast=$!
	looks 1 10 "$WORK/slow" 3>&- &
	wait "$fast" $!
	samples=$(($(counter 0) - samples))
	used=$(($(cpu_ms "$hog") - used))
	local expected=$((used * 47 / 1000))
	echo "looks and wrong ones: $(cat "$WORK/fast"), $(cat "$WORK/slow"); $samples samples of $expected in $used ms of CPU"
	[ "$(cat "$WORK/fast")" = '100 0' ]
	[ "$(cat "$WORK/slow")" = '10 0' ]
	# 47 samples a second of the time that the target ran, to 3 % and four standard deviations of what is by chance; and
	# no number of a ring is missing
	# (an emulated machine loses ticks)
	((PATIENCE > 1)) || awk -v n="$samples" -v e="$expected" 'BEGIN { d = n - e; exit !(e > 0 && d * d <= (e * 0.03 + 4 * sqrt(e)) ^ 2) }'
	# what the ring holds stands still when the daemon has ended and its heartbeat is old
	quiet=$(counter 1)
	daemon_stop TERM
	await 20 eval "[ \"\$(counter 1)\" -gt $quiet ]"
	contiguous oncpu
	# the reader that stopped goes on where it was
	cat <&"$stopped" > "$WORK/lines"
	[ "$(awk -F '\t' '{ print NF }' "$WORK/lines" | sort -u)" = 14 ]
	exec {stopped}<&-
}
