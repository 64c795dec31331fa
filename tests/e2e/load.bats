#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# bourdon-load: its pins and files, replacing a load, unloading, and its errors.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	MOUNTED=$(findmnt -n /sys/fs/bpf | wc -l)
	bourdon_setup load
}

teardown() {
	bourdon_teardown
	# with a damaged manifest, --unload does not know that bourdon-load mounted bpffs
	[ "$MOUNTED" -gt 0 ] || [ -n "$(ls -A /sys/fs/bpf)" ] || umount /sys/fs/bpf 2>/dev/null || true
}

tool() {
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" "$@"
}

# in_namespace SCRIPT: runs it in a mount namespace of its own, where files of the machine can be hidden.
in_namespace() {
	unshare --mount --propagation private bash -euc "$1"
}

one_line_saying() {
	[ "${#lines[@]}" -eq 1 ] || { echo "$output"; false; }
	[[ $output == *"$1"* ]] || { echo "$output"; false; }
}

@test "pins have the documented owners and modes" {
	load
	[ "$(stat -c '%a %U %G' "$PIN_DIR")" = "750 root $TEST_GROUP" ]
	local expected name
	expected="660 patterns_a patterns_b oncpu offcpu control events errors cgroups_known cgroup_paths wanted unwind_procs unwind_maps unwind_pages unwind_rows unwind_rules unwind_hotspot activity
440 targets totals victims blame offcpu_open clocks counters interrupts irq_names tasks mappings states looks away programs threads stacks"
	while read -r mode names; do
		for name in $names; do
			[ "$(stat -c '%a %U %G' "$PIN_DIR/$name")" = "$mode root $TEST_GROUP" ] || { echo "$name"; false; }
		done
	done <<< "$expected"
	for name in "$PIN_DIR"/link_* "$PIN_DIR"/prog_*; do
		[ "$(stat -c '%a %U %G' "$name")" = '600 root root' ] || { echo "$name"; false; }
	done
	[ "$(find "$PIN_DIR" -name 'link_oncpu_*' | wc -l)" -eq "$(nproc)" ]
	for name in target_exec target_fork target_rename target_moved target_exit cpu_step; do
		[ -e "$PIN_DIR/link_$name" ]
	done
}

@test "the manifest and --status describe the load" {
	load --hz 97 --ring-size 256KiB
	local manifest=$RUN_DIR/manifest
	[ "$(stat -c '%a %U %G' "$RUN_DIR")" = "751 root $TEST_GROUP" ]
	[ "$(stat -c '%a %U %G' "$manifest")" = "640 root $TEST_GROUP" ]
	grep -qx 'abi = 17' "$manifest"
	grep -qx "kernel = $(uname -r)" "$manifest"
	grep -qx 'hz = 97' "$manifest"
	grep -qx "slots_per_cpu = $((262144 / 1448))" "$manifest"
	grep -qx "pin_dir = $PIN_DIR" "$manifest"
	grep -qx "object_sha256 = $(sha256sum < "$BUILD/bourdon.bpf.o" | cut -d ' ' -f 1)" "$manifest"
	grep -q '^attached = .*link_oncpu_0' "$manifest"
	run tool --status
	[ "$status" -eq 0 ]
	[[ $output == *'97 Hz'* ]]
}

@test "kernel-symbols is sorted, contains no address, and has the kernel's functions" {
	load
	local symbols=$RUN_DIR/kernel-symbols
	[ "$(stat -c '%a %U %G' "$symbols")" = "640 root $TEST_GROUP" ]
	grep -qx '0 _text' "$symbols"
	sort -C -n -k 1,1 "$symbols"
	local expected
	expected=$(awk '$3 == "_text" { text = $1 } $3 == "vfs_read" { print text, $1 }' /proc/kallsyms)
	read -r text address <<< "$expected"
	grep -qx "$((0x$address - 0x$text)) vfs_read" "$symbols"
	# offsets in the module area count from its lowest symbol: offsets from _text would reveal the address
	# of _text
	[ "$(awk 'NF == 3 { print $1; exit }' "$symbols")" -eq $((0x60000000)) ]
	[ "$(awk 'NF == 3 && $1 < 2 ^ 30' "$symbols" | wc -l)" -eq 0 ]
	[ "$(awk 'NF == 2 && $1 >= 2 ^ 30' "$symbols" | wc -l)" -eq 0 ]
}

@test "another user cannot read the pins; the group can through an inherited descriptor" {
	load
	run setpriv --reuid 1 --regid 1 --clear-groups cat "$PIN_DIR/tasks"
	[ "$status" -ne 0 ]
	[[ $output == *'Permission denied'* ]]
	# the group can read an iterator through a descriptor that root has opened
	run setpriv --reuid 1 --regid "$TEST_GROUP" --clear-groups bash -c 'cat <&3 | wc -c' 3< "$PIN_DIR/tasks"
	[ "$status" -eq 0 ]
	[ "$output" -gt 0 ]
}

@test "a second load replaces the first completely" {
	load
	local before
	before=$(stat -c %i "$PIN_DIR")
	load --hz 11
	[ "$(stat -c %i "$PIN_DIR")" != "$before" ]
	[ ! -e "${PIN_DIR}_loading" ]
	grep -qx 'hz = 11' "$RUN_DIR/manifest"
}

@test "a first load that fails as late as it can leaves nothing" {
	mkdir -p "$RUN_DIR/manifest/in the way"
	run load
	[ "$status" -eq 1 ]
	[[ $output == *"$RUN_DIR"* ]]
	[ ! -e "$PIN_DIR" ]
	[ ! -e "${PIN_DIR}_loading" ]
	[ "$(ls "$RUN_DIR")" = manifest ]
	rm -r "$RUN_DIR/manifest"
	load
}

@test "a load that fails early or late leaves the previous one" {
	load
	local before manifest
	before=$(stat -c %i "$PIN_DIR")
	manifest=$(cat "$RUN_DIR/manifest")
	run in_namespace "
		mount -t tmpfs tmpfs /sys/devices/system/cpu
		echo '' > /sys/devices/system/cpu/online
		'$BUILD/bourdon-load' --pin-dir '$PIN_DIR' --run-dir '$RUN_DIR' --group '$TEST_GROUP'"
	[ "$status" -eq 1 ]
	one_line_saying 'cannot read the list of online CPUs'
	run in_namespace "
		mount -t tmpfs tmpfs /sys/devices/system/cpu
		echo 4000 > /sys/devices/system/cpu/online
		echo 0-4000 > /sys/devices/system/cpu/possible
		'$BUILD/bourdon-load' --pin-dir '$PIN_DIR' --run-dir '$RUN_DIR' --group '$TEST_GROUP' --ring-size 16KiB"
	[ "$status" -eq 1 ]
	[[ $output == *'perf clock of CPU 4000'* ]]
	[ "$(stat -c %i "$PIN_DIR")" = "$before" ]
	[ "$(cat "$RUN_DIR/manifest")" = "$manifest" ]
	[ ! -e "${PIN_DIR}_loading" ]
	[ ! -e "$RUN_DIR/manifest.new" ]
}

@test "a program that the verifier refuses: its log is shown, and the previous load stays" {
	load
	local before
	before=$(stat -c %i "$PIN_DIR")
	# a loader whose programs call a nonexistent helper instead of bpf_ktime_get_ns
	perl -0777 -pe 's/\x85\0\0\0\x05\0\0\0/\x85\0\0\0\xff\xff\x7f\0/g' "$BUILD/bourdon-load" > "$WORK/damaged-load"
	chmod +x "$WORK/damaged-load"
	run "$WORK/damaged-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP"
	[ "$status" -eq 1 ]
	[[ $output == *'BEGIN PROG LOAD LOG'*'invalid func unknown#8388607'*'END PROG LOAD LOG'* ]]
	[[ ${lines[-1]} == *'cannot load the programs'* ]]
	[ "$(stat -c %i "$PIN_DIR")" = "$before" ]
}

# verified_sum: prints the sum of what the verifier looked at, of the output of verify_programs
verified_sum() {
	awk '{ sum += $3 } END { print sum }'
}

@test "no program takes the verifier half as much again as before" {
	local verified=$WORK/verified
	"$BUILD/tools/verify_programs" > "$verified"
	run "$TREE/tests/e2e/verified.sh" "$(uname -r)" < "$verified"
	# with the whole column, for who writes it
	[ "$status" -eq 0 ] || { echo "$output"; cat "$verified"; false; }
	echo "# ${lines[-1]}" >&3
	# it fails if one does, or was not there before
	awk '$1 == "oncpu_tick" { $3 *= 2 } { print } END { print "new_program", 10, 10, 10 }' "$verified" > "$verified.more"
	run "$TREE/tests/e2e/verified.sh" "$(uname -r)" < "$verified.more"
	[ "$status" -eq 1 ]
	[[ ${lines[0]} == 'oncpu_tick: '*'half as much again'* ]]
	[[ ${lines[1]} == 'new_program: '*'the table has no number'* ]]
	[ "${#lines[@]}" -eq 4 ]
}

@test "the longest policy does not double what the verifier looks at" {
	local i uids names=
	uids=$(for ((i = 1; i <= 16; i++)); do printf '%s, ' "$((100 * i))-$((100 * i + 50))"; done)
	names=$(for ((i = 1; i <= 32; i++)); do printf '%s, ' "name$i*"; done)
	printf '%s\n' '[policy]' "deny_uids = ${uids%, }" "allow_uids = ${uids%, }" "deny_comms = ${names%, }" 'deny_undumpable = yes' \
		> "$WORK/longest.conf"
	"$BUILD/tools/verify_programs" > "$WORK/verified"
	"$BUILD/tools/verify_programs" --policy "$WORK/longest.conf" > "$WORK/longest"
	echo "# $(verified_sum < "$WORK/verified") instructions without a policy, $(verified_sum < "$WORK/longest") with the longest" >&3
	(($(verified_sum < "$WORK/longest") < 2 * $(verified_sum < "$WORK/verified")))
}

@test "missing capabilities are named" {
	load
	run setpriv --bounding-set=-sys_admin,-perfmon --inh-caps=-all \
		"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP"
	[ "$status" -eq 1 ] || { echo "$output"; false; }
	one_line_saying 'cap_perfmon'
}

@test "with bpffs mounted, CAP_SYS_ADMIN is not needed" {
	load
	# at 3, Debian's default, Debian's kernels require CAP_SYS_ADMIN
	run with_sysctl kernel.perf_event_paranoid 2 setpriv --bounding-set=-sys_admin,-syslog --inh-caps=-all \
		"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" --hz 13
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	grep -qx 'hz = 13' "$RUN_DIR/manifest"
	grep -qx '0 _text' "$RUN_DIR/kernel-symbols"
}

@test "two loads at once do not mix" {
	local first second programs
	load
	programs=$(find "$PIN_DIR" -name 'prog_*' | wc -l)
	load --hz 23 & first=$!
	load --hz 29 & second=$!
	wait "$first"
	wait "$second"
	[ ! -e "${PIN_DIR}_loading" ]
	grep -Eqx 'hz = (23|29)' "$RUN_DIR/manifest"
	[ "$(find "$PIN_DIR" -name 'prog_*' | wc -l)" -eq "$programs" ]
}

@test "leftovers of a killed loader are removed" {
	load
	mkdir "${PIN_DIR}_loading"
	bpftool map create "${PIN_DIR}_loading/left" type array key 4 value 4 entries 1 name left
	load
	[ ! -e "${PIN_DIR}_loading" ]
}

@test "--unload removes all, names the process that has an iterator open, and may be repeated" {
	load
	exec 7< "$PIN_DIR/tasks"
	run tool --unload
	exec 7<&-
	[ "$status" -eq 0 ]
	[[ $output == *"still has $PIN_DIR/tasks open"* ]]
	[ ! -e "$PIN_DIR" ]
	[ ! -e "$RUN_DIR" ]
	run tool --unload
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	# bpffs stays mounted if it was mounted before, or if others use it
	[ "$(findmnt -n /sys/fs/bpf | wc -l)" -eq "$MOUNTED" ] || [ -n "$(ls -A /sys/fs/bpf)" ]
}

@test "files and directories that are not its own stay as they are" {
	mkdir -m 0755 "$WORK/files" "$WORK/shared"
	touch "$WORK/files/mine" "$WORK/shared/mine"
	run "$BUILD/bourdon-load" --unload --pin-dir "$WORK/files" --run-dir "$WORK/shared"
	[ "$status" -eq 1 ]
	one_line_saying 'not a directory on a BPF file system'
	[ -e "$WORK/files/mine" ]
	# an existing run directory stays, with its mode
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$WORK/shared" --group "$TEST_GROUP"
	[ "$(stat -c '%a %G' "$WORK/shared")" = '755 root' ]
	"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$WORK/shared"
	[ "$(ls "$WORK/shared")" = mine ]
	# a run directory that other users can write to is refused
	chmod 1777 "$WORK/shared"
	run "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$WORK/shared" --group "$TEST_GROUP"
	[ "$status" -eq 1 ]
	one_line_saying "it must belong to root, and nobody else may write to it"
	[ ! -e "$PIN_DIR" ]
	# a symbolic link in place of the temporary directory is not followed
	load
	ln -s "$WORK/files" "${PIN_DIR}_loading"
	run load
	[ "$status" -eq 1 ]
	rm "${PIN_DIR}_loading"
	[ -e "$WORK/files/mine" ]
}

@test "a load gives up when another one holds the lock" {
	private_bpffs 0700 # the parent directory of the pins is locked; a private one is not shared with other loaders
	load
	flock --no-fork "$(dirname "$PIN_DIR")" sleep 60 & CHILDREN+=($!)
	until ! flock -n "$(dirname "$PIN_DIR")" true; do sleep 0.05; done
	run load
	[ "$status" -eq 1 ]
	one_line_saying 'another loader works there'
}

@test "loaders of two pin directories work at the same time; a second one of the same waits for the first" {
	local first second
	# stopped while it verifies: it holds its own pins and nothing else
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" & first=$!
	CHILDREN+=("$first")
	until [ -e "${PIN_DIR}_loading" ]; do sleep 0.01; done
	kill -STOP "$first"
	"$BUILD/bourdon-load" --pin-dir "${PIN_DIR}_b" --run-dir "$WORK/other" --group "$TEST_GROUP"
	"$BUILD/bourdon-load" --unload --pin-dir "${PIN_DIR}_b" --run-dir "$WORK/other"
	"$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group "$TEST_GROUP" & second=$!
	CHILDREN+=("$second")
	until grep -qE '^(35|230) ' "/proc/$second/syscall"; do sleep 0.01; done # nanosleep, clock_nanosleep: it waits
	# longer than for a lock, which anybody may hold: verifying takes its time on a busy machine
	until (($(ps -o etimes= -p "$second") > 11)); do sleep 0.1; done
	[ ! -e "$PIN_DIR" ]
	kill -CONT "$first"
	wait "$first"
	wait "$second"
	[ -e "$PIN_DIR/oncpu" ] && [ ! -e "${PIN_DIR}_loading" ]
}

@test "--status with nothing loaded: exit 1" {
	run tool --status
	[ "$status" -eq 1 ]
	one_line_saying 'nothing is loaded'
}

@test "a damaged manifest: the error names file and line" {
	load
	sed -i 's/^hz = .*/hz = fast/' "$RUN_DIR/manifest"
	run tool --status
	[ "$status" -eq 1 ]
	one_line_saying "$RUN_DIR/manifest:$(grep -n '^hz' "$RUN_DIR/manifest" | cut -d : -f 1): bad value for 'hz'"
}

@test "missing BTF, PSI, cgroup2 or bpffs: exit 3, one line with the remedy" {
	run in_namespace "mount -t tmpfs tmpfs /sys/kernel/btf; '$BUILD/bourdon-load' --check --pin-dir '$PIN_DIR'"
	[ "$status" -eq 3 ]
	[[ $output == *'kernel BTF'*'CONFIG_DEBUG_INFO_BTF=y'* ]]
	run in_namespace "mount -t tmpfs tmpfs /proc/pressure; '$BUILD/bourdon-load' --group '$TEST_GROUP' --pin-dir '$PIN_DIR'"
	[ "$status" -eq 3 ]
	one_line_saying 'CONFIG_PSI=y'
	run in_namespace "umount -l '$CGROUP2'; '$BUILD/bourdon-load' --group '$TEST_GROUP' --pin-dir '$PIN_DIR'"
	[ "$status" -eq 3 ]
	one_line_saying 'mount -t cgroup2'
	run "$BUILD/bourdon-load" --group "$TEST_GROUP" --pin-dir "$WORK/pins" --run-dir "$RUN_DIR"
	[ "$status" -eq 3 ]
	one_line_saying "mount -t bpf -o mode=0700 bpf $WORK"
}

@test "load and unload on another BPF file system" {
	local private=$WORK/bpf
	mkdir "$private"
	mount -t bpf -o mode=0750,gid="$(getent group "$TEST_GROUP" | cut -d : -f 3)" bpf "$private"
	local pins=$private/bourdon
	"$BUILD/bourdon-load" --pin-dir "$pins" --run-dir "$RUN_DIR" --group "$TEST_GROUP"
	[ -e "$pins/oncpu" ]
	"$BUILD/bourdon-load" --pin-dir "$pins" --run-dir "$RUN_DIR" --unload
	[ ! -e "$pins" ]
	umount "$private"
}

@test "failures: exit 1, one line" {
	run tool --group no_such_group_here
	[ "$status" -eq 1 ]
	one_line_saying 'no such group'
	run setpriv --reuid 1 --regid 1 --clear-groups "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --group "$TEST_GROUP"
	[ "$status" -eq 1 ] || [ "$MOUNTED" -eq 0 ] || { echo "$output"; false; } # another status if bpffs is not mounted
	[[ $output == *'run it as root'* ]]
	run "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir /proc/no/such --group "$TEST_GROUP"
	[ "$status" -eq 1 ]
	one_line_saying '/proc/no/such'
	[ ! -e "$PIN_DIR" ]
}
