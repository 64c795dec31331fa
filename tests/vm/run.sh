#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh VERSION...: boots each kernel under QEMU, without KVM, with systemd as PID 1 and pure cgroup2, and
# runs this tree's tests there; all kernels at once, because the tests mostly wait. make provides
# build/vm/root.img and build/vm/VERSION/; this script only copies the tree. VERSION trixie is Debian 13: it
# has a root image of its own, and uses the build of tests/distro/run.sh. A second machine of each kernel, the
# twin, records the stacks of tests/vm/hashes.bats again, for their hashes to be compared. The last line is the
# sum of the counts of all kernels and of the comparisons.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VM=build/vm
MINUTES_MOST=120 # for one kernel; it takes 90 minutes on an idle host, so a longer run hangs
PATIENCE=5      # an emulated CPU is about ten times slower, but waits take no longer

say() {
	printf 'test-vm: %s\n' "$*"
}

# built VERSION: prints the directory of the binaries, compiled for the machine's release.
built() {
	case $1 in
	trixie) echo "build/distro/$1/root/bourdon/build" ;;
	*) echo build ;;
	esac
}

# root_image VERSION: prints the path of the machine's root image.
root_image() {
	case $1 in
	trixie) echo "$VM/$1/root.img" ;;
	*) echo "$VM/root.img" ;;
	esac
}

# make_tree VERSION: makes the file system that the machine mounts at /bourdon.
make_tree() {
	local tree other build
	build=$(built "$1")
	tree=$(mktemp -d "$VM/$1/tree.XXXXXX")
	chmod 0755 "$tree" # applies to the file system's root, too: tests run programs in it as other users
	tar -c --exclude ./.git --exclude ./build . | tar -x -C "$tree"
	mkdir "$tree/build"
	find "$build" -maxdepth 1 -type f -exec cp -a -t "$tree/build" {} +
	for other in next logging; do
		mkdir "$tree/build/$other"
		find "$build/$other" -maxdepth 1 -type f -exec cp -a -t "$tree/build/$other" {} +
	done
	mkdir "$tree/build/logging/policy"
	cp -a "$build/logging/policy/mode" "$tree/build/logging/policy/"
	cp -a "$build"/{policy,symbols,tools,workloads} "$VM/$1/modules" "$tree/build/"
	rm -f "$VM/$1/tree.ext4"
	mke2fs -q -t ext4 -L tree -d "$tree" "$VM/$1/tree.ext4" 1G
	rm -rf "$tree"
}

# boot VERSION LOG TESTS [KERNEL-OPTIONS]: streams the tests' output, to LOG, too. Writes to its disks are
# discarded, and the machine ends with the shell that runs this. One emulator thread runs both emulated CPUs
# in turn: with one thread each, a CPU was seen to execute a breakpoint that the other CPU had removed from
# the kernel's text when a tracepoint was released, and the kernel crashed; real CPUs synchronise. A CPU that
# hangs for two minutes ends the machine. The emulated CPU lacks cmpxchg16b: QEMU 7.2's sets wrong flags, and
# Debian 13's kernel crashed in kmalloc(). The kernel skips its boot check of timer ticks, which fails on a
# busy host.
boot() {
	setpriv --pdeathsig TERM timeout "${MINUTES_MOST}m" qemu-system-x86_64 \
		-accel tcg,thread=single -cpu max,-cx16 -smp 2 -m 2048 -nic none -display none -monitor none -no-reboot \
		-serial "file:$VM/$1/$2.console" -serial stdio -device nvme,id=disks,serial=disks \
		-drive "id=root,if=none,format=raw,snapshot=on,cache=unsafe,file=$(root_image "$1")" \
		-device nvme-ns,bus=disks,drive=root,nsid=1 \
		-drive "id=tree,if=none,format=raw,snapshot=on,cache=unsafe,file=$VM/$1/tree.ext4" \
		-device nvme-ns,bus=disks,drive=tree,nsid=2 \
		-kernel "$VM/$1/vmlinuz" \
		-append "console=ttyS0 quiet no_timer_check panic=-1 softlockup_panic=1 watchdog_thresh=60 root=PARTUUID=62646f6e-01 rootwait rw systemd.run=/bourdon/tests/vm/inside.sh \
systemd.run_success_action=poweroff-force systemd.run_failure_action=poweroff-force \
systemd.setenv=PATIENCE=$PATIENCE systemd.setenv=TESTS=$3 ${4-}" \
		< /dev/null | sed -u 's/\r$//' | tee "$VM/$1/$2.log" | sed -u "s/^/$1  /"
}

# count WHAT LOG: prints how many tests the machine reported as passed, failed or skipped.
count() {
	sed -nE "\$s/.*\\b([0-9]+) $1\\b.*/\\1/p" "$2.log"
}

# Only boot options remove these features. Skipped when TESTS= names a single file.
LACKING_TOO=yes
case ${TESTS-} in *.bats) LACKING_TOO=no ;; esac
LACKING='psi=0 cgroup_disable=pressure lockdown=confidentiality'

# Only if the complete machine runs tests/vm/hashes.bats
case ${TESTS-} in '' | tests/vm | tests/vm/hashes.bats) TWIN_TOO=yes ;; *) TWIN_TOO=no ;; esac

# test_kernel VERSION: runs all tests on a complete machine, then tests/vm/lacking on one that lacks features, then the twin.
test_kernel() {
	local started=$SECONDS
	boot "$1" tests "${TESTS-}" || true
	[ "$LACKING_TOO" = no ] || boot "$1" lacking tests/vm/lacking "$LACKING" || true
	[ "$TWIN_TOO" = no ] || boot "$1" twin tests/vm/hashes.bats || true
	say "Linux $1: $((SECONDS - started)) s"
}

# hashes VERSION LOG KIND: prints the hash and the functions of that stack (user, kernel), as tests/vm/hashes.bats said them there
hashes() {
	sed -n "s/^# hash $3 //p" "$VM/$1/$2.log"
}

# compare VERSION LOG VERSION LOG KIND: the stack has one hash in both machines.
compare() {
	local one other
	one=$(hashes "$1" "$2" "$5")
	other=$(hashes "$3" "$4" "$5")
	if [ -n "$one" ] && [ "$one" = "$other" ]; then
		say "$5 stack, Linux $1 ($2) and Linux $3 ($4): equal hashes: ${one%% *}"
		passed=$((passed + 1))
	else
		say "$5 stack, Linux $1 ($2) and Linux $3 ($4): the hashes differ:"
		printf '%s\n' "${one:-none}" "${other:-none}"
		failed=$((failed + 1))
	fi
}

# compare_hashes VERSION...: of each kernel's two machines, of the program and of the kernel; of different kernels on the same
# Debian, of the program.
compare_hashes() {
	local version first=
	for version; do
		compare "$version" tests "$version" twin user
		compare "$version" tests "$version" twin kernel
		[ "$version" != trixie ] || continue
		[ -z "$first" ] || compare "$first" tests "$version" tests user
		first=${first:-$version}
	done
}

trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
passed=0
failed=0
skipped=0

# add_counts LOG: adds the counts of this log to the sums.
add_counts() {
	if [ -z "$(count passed "$1")" ]; then
		say "the machine did not run the tests to their end; the last that its kernel said (all of it: $1.console):"
		tail -n 20 "$1.console"
		failed=$((failed + 1))
		return
	fi
	passed=$((passed + $(count passed "$1")))
	failed=$((failed + $(count failed "$1")))
	skipped=$((skipped + $(count skipped "$1" | grep . || echo 0)))
	# what failed, and all that it said, again: the log of several machines is long
	sed -n '/^failed:$/,$p' "$1.log" | sed "s|^|${1#"$VM"/}  |"
}

for version in "$@"; do
	make_tree "$version"
	rm -f "$VM/$version/"*.log
	test_kernel "$version" &
done
wait
for version in "$@"; do
	add_counts "$VM/$version/tests"
	[ "$LACKING_TOO" = no ] || add_counts "$VM/$version/lacking"
	[ "$TWIN_TOO" = no ] || add_counts "$VM/$version/twin"
done
[ "$TWIN_TOO" = no ] || compare_hashes "$@"

counts="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || counts+=", $skipped skipped"
echo "$counts"
[ "$failed" -eq 0 ]
