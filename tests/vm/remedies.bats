#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Remedies do what they say: each test makes a situation for which `bourdon why` prints a command, runs that command as it is
# printed, and shows that the victim then waits less for that resource, or is killed less often.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"

WINDOW=10 # seconds over which waiting is measured
NULL_BLOCK=/sys/kernel/config/nullb/bdslow

setup() {
	bourdon_setup remedies
	PATH=$BUILD:$PATH # commands say `bourdon`
	VICTIM=bdvictim-$BASHPID.service
	OTHER=bdother-$BASHPID.service
	FILE=/var/tmp/bourdon-file-$BASHPID # /tmp may be in memory
	SLICE=system.slice # the victim's
	DISK=
	AUTOGROUP=
	# CPU 1 is the victim's and the neighbour's: this shell, the daemon and what else they start keep off it
	taskset -p -c 0 "$BASHPID" > /dev/null
}

teardown() {
	systemctl stop --quiet "$VICTIM" "$OTHER" 2> /dev/null || true
	bourdon_teardown
	rm -f "$FILE"*
	[ -z "$DISK" ] || rmdir "$NULL_BLOCK"
	[ -z "$AUTOGROUP" ] || echo "$AUTOGROUP" > /proc/sys/kernel/sched_autogroup_enabled
	# what set-property --runtime has set ends with a unit of systemd-run
	await 10 has_no_settings
}

has_no_settings() {
	! compgen -G "/run/systemd/*/$VICTIM.d" && ! compgen -G "/run/systemd/*/$OTHER.d"
}

# watch LINE...: a rule with these lines, and a daemon that reads it
watch() {
	rule victim "$@" 'history = 2s' 'capture = 5s' 'cooldown = 1h'
	load
	daemon_start
}

# start_service UNIT OPTION... COMMAND...: on CPU 1
start_service() {
	systemd-run --quiet --collect --unit="$1" --property=CPUAffinity=1 "${@:2}"
}

main_pid() {
	systemctl show -P MainPID "$1"
}

# ---- what the victim waits ----

# stalled RESOURCE: µs that the victim's cgroup has waited, by the kernel
stalled() {
	sed -n 's/^some .*total=//p' "$CGROUP2/$SLICE/$VICTIM/$1.pressure"
}

now_us() {
	date +%s%6N
}

# written_kib: by the victim's first process
written_kib() {
	awk '$1 == "write_bytes:" { print int($2 / 1024) }' "/proc/$(main_pid "$VICTIM")/io"
}

# waits PROGRESS WAITED...: how much WAITED grows, over a window, in thousandths of what PROGRESS grows
waits() {
	local progress waited
	waited=$("${@:2}")
	progress=$($1)
	sleep "$WINDOW"
	echo $((1000 * ($("${@:2}") - waited) / ($($1) - progress)))
}

# ---- the answer ----

# answers VERDICT: the first capture has this verdict; COMMAND is its remedy. Until the command is run, worse pressure may begin
# another capture.
answers() {
	local answer
	await_log 120 fired
	await_sql 120 "SELECT state FROM capture WHERE capture_id = 1" complete
	answer=$(bourdon --db "$DB" --json why 1 | jq .answer)
	jq '{verdict, victim, blamed, remedy}' <<< "$answer" >&2
	# shellcheck disable=SC2053 # a pattern
	[[ $(jq -r .verdict <<< "$answer") == $1 ]]
	COMMAND=$(jq -r .remedy.command <<< "$answer")
}

# waits_less BEFORE PROGRESS WAITED...: by at least a third
waits_less() {
	local after
	after=$(waits "${@:2}")
	echo "# $3: $after after $1, in thousandths of $2" >&3
	((3 * after <= 2 * $1))
}

# remedy_helps PROGRESS WAITED...: runs the command, and the victim then waits less
remedy_helps() {
	local before
	before=$(waits "$@")
	((before > 0))
	sh -c "$COMMAND"
	await 60 waits_less "$before" "$@"
}

# waited_us PID: µs that the process has waited for a CPU; its neighbour waits in the same cgroup
waited_us() {
	awk '{ print int($2 / 1000) }' "/proc/$1/schedstat"
}

# start_session COMMAND...: in a session of its own, in the root cgroup: whatever controllers systemd has switched on, the kernel
# schedules such processes by their sessions
start_session() {
	CGROUP=. ON_CPU=1 start_command setsid "$@"
}

@test "a neighbour in another session, where the kernel schedules sessions: a lower priority of its session" {
	local neighbour
	# Debian's kernels are built with it, and have it off
	AUTOGROUP=$(< /proc/sys/kernel/sched_autogroup_enabled)
	echo 1 > /proc/sys/kernel/sched_autogroup_enabled
	own_workload cpu_hog
	start_session "$BUILD/workloads/cpu_hog"
	neighbour=$CHILD
	start_session "$WORK/$OWN"
	# last: other programs make pressure of the whole host, too
	watch "comm = $OWN" 'watch = system' 'cpu.some = 20%'
	answers neighbour
	[ "$COMMAND" = "echo 10 > /proc/$neighbour/autogroup" ]
	remedy_helps now_us waited_us "$CHILD"
}

@test "a neighbour in the victim's own unit: a lower priority" {
	own_workload cpu_hog
	# each has a session, but a weight switches the CPU controller on, and then sessions do not count
	# shellcheck disable=SC2016 # another shell's
	start_service "$VICTIM" --property=CPUWeight=100 sh -c 'setsid "$0" & exec "$1"' "$BUILD/workloads/cpu_hog" "$WORK/$OWN"
	# setsid is a program, too, and an emulated CPU needs a while for it
	await 30 pgrep -P "$(main_pid "$VICTIM")" -x cpu_hog > /dev/null
	watch "comm = $OWN" "unit = $VICTIM" 'cpu.some = 20%'
	answers neighbour
	[ "$COMMAND" = "renice -n 10 -p $(pgrep -P "$(main_pid "$VICTIM")")" ]
	remedy_helps now_us waited_us "$(main_pid "$VICTIM")"
}

@test "a quota: the victim is no longer throttled" {
	watch "unit = $VICTIM" 'cpu.some = 20%'
	start_service "$VICTIM" --property=CPUQuota=20% "$BUILD/workloads/cpu_hog"
	answers quota
	[[ $COMMAND == "systemctl set-property --runtime $VICTIM CPUQuota="* ]]
	remedy_helps now_us stalled cpu
}

@test "a neighbour in a unit beside the victim's: a lower weight gives the victim the CPU" {
	watch "unit = $VICTIM" 'cpu.some = 20%'
	start_service "$OTHER" --property=CPUWeight=200 "$BUILD/workloads/cpu_hog"
	start_service "$VICTIM" "$BUILD/workloads/cpu_hog"
	answers neighbour
	[ "$COMMAND" = "systemctl set-property --runtime $OTHER CPUWeight=40" ]
	remedy_helps now_us stalled cpu
}

@test "a neighbour in system.slice, the victim in another: a quota for the neighbour's unit alone" {
	SLICE=bdvictims.slice
	watch "unit = $VICTIM" 'cpu.some = 20%'
	start_service "$OTHER" "$BUILD/workloads/cpu_hog"
	start_service "$VICTIM" --slice="$SLICE" "$BUILD/workloads/cpu_hog"
	answers neighbour
	[[ $COMMAND == "systemctl set-property --runtime $OTHER CPUQuota="* ]]
	remedy_helps now_us stalled cpu
}

# slow_disk SCHEDULER: DISK, which writes one request at a time and needs 5 ms for it
slow_disk() {
	local setting
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	mkdir "$NULL_BLOCK"
	# irqmode 2: completed by a timer
	for setting in size=1048576 irqmode=2 completion_nsec=5000000 hw_queue_depth=1 submit_queues=1 power=1; do
		echo "${setting#*=}" > "$NULL_BLOCK/${setting%=*}"
	done
	DISK=nullb$(cat "$NULL_BLOCK/index")
	[ -e "/dev/$DISK" ] || DISK=bdslow
	echo "$1" > "/sys/block/$DISK/queue/scheduler"
}

# writers COUNT: a command of so many processes that write to the disk
writers() {
	# shellcheck disable=SC2016 # another shell's
	WRITERS=(sh -c 'for i in $(seq 2 "$0"); do "$@" & done; exec "$@"' "$1" dd if=/dev/zero "of=/dev/$DISK" bs=256k oflag=direct conv=notrunc status=none)
}

@test "a neighbour that writes, on a disk without weights: a limit of its bandwidth" {
	slow_disk none
	watch "unit = $VICTIM" 'io.some = 20%'
	writers 4
	start_service "$OTHER" "${WRITERS[@]}"
	writers 1
	start_service "$VICTIM" "${WRITERS[@]}"
	answers neighbour
	[[ $COMMAND == "systemctl set-property --runtime $OTHER IOWriteBandwidthMax='/dev/$DISK "*M\' ]]
	remedy_helps written_kib stalled io
}

@test "a neighbour that writes, on a disk with weights: a lower weight" {
	slow_disk bfq
	echo 0 > "/sys/block/$DISK/queue/iosched/low_latency" # which gives those who began lately more
	watch "unit = $VICTIM" 'io.some = 20%'
	writers 4
	start_service "$OTHER" --property=IOWeight=100 "${WRITERS[@]}"
	writers 1
	start_service "$VICTIM" --property=IOWeight=25 "${WRITERS[@]}"
	answers neighbour
	[ "$COMMAND" = "systemctl set-property --runtime $OTHER IOWeight=20" ]
	remedy_helps written_kib stalled io
}

# memory_limit PROPERTY: a victim that needs more than its limit
memory_limit() {
	watch "unit = $VICTIM" 'memory.some = 10%'
	start_service "$VICTIM" --property="$1=64M" "$BUILD/workloads/mem_hog" --size 96MiB --file "$FILE"
	answers limit
	[ "$COMMAND" = "systemctl set-property --runtime $VICTIM $1=128M" ]
	remedy_helps now_us stalled memory
}

@test "a memory limit, MemoryMax: its pages stay in memory" {
	memory_limit MemoryMax
}

@test "a memory limit, MemoryHigh: the same" {
	memory_limit MemoryHigh
}

# kills: a million for each OOM kill in the victim's unit
kills() {
	awk '$1 == "oom_kill" { print $2 * 1000000 }' "$CGROUP2/$SLICE/$VICTIM/memory.events"
}

@test "a kill at a memory limit: what was killed then has room" {
	watch "unit = $VICTIM" 'on_kill = yes'
	# tail keeps a line until its end
	start_service "$VICTIM" --property=MemoryMax=64M --property=OOMPolicy=continue \
		sh -c 'while :; do head -c 96M /dev/zero | tail > /dev/null; sleep 0.5; done'
	answers kill
	[ "$COMMAND" = "systemctl set-property --runtime $VICTIM MemoryMax=128M" ]
	remedy_helps now_us kills
}

@test "a neighbour that grows where memory is short: held, it leaves the victim its pages" {
	local available
	cgroup_make
	watch "unit = $VICTIM" 'memory.some = 10%'
	start_service "$VICTIM" "$BUILD/workloads/mem_hog" --size 160MiB --file "$FILE"
	await_cpu "$(main_pid "$VICTIM")" 2000
	available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	# holds all but 256 MiB beside the victim's pages
	# shellcheck disable=SC2016 # perl's variables
	start_command perl -e '$| = 1; my $held = ""; vec($held, ($ARGV[0] << 20) - 1, 8) = 1; print "ready\n"; sleep 1 while 1' $((available - 416))
	# holes of a file: pages that need no disk. Touched again and again, because the kernel would rather evict what was used once
	truncate -s 768M "$FILE.other"
	start_service "$OTHER" python3 -c '
import mmap, sys
with open(sys.argv[1], "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
used = 0
while True:
    used = min(used + (4 << 20), len(pages))
    pages[0:used:mmap.PAGESIZE]' "$FILE.other"
	answers '@(memory shortage|neighbour)'
	[[ $COMMAND == "systemctl set-property --runtime $OTHER MemoryHigh="* ]]
	remedy_helps now_us stalled memory
}

@test "where no number of one cgroup helps, the command shows more" {
	watch "unit = $VICTIM" 'cpu.some = 20%'
	start_service "$VICTIM" "$BUILD/workloads/cpu_hog" --threads 3
	answers 'own threads'
	[[ $COMMAND == "bourdon --db "*" why 1 --section "* ]]
	run sh -c "$COMMAND"
	[ "$status" -eq 0 ]
	[[ $output == *burn_cpu* ]]
}
