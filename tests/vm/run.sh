#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh VERSION...: boots each kernel under QEMU, without KVM, with systemd as PID 1 and pure cgroup2, and runs this
# tree's tests there; all kernels at once, because the tests mostly wait. It makes nothing but copies:
# build/vm/root.img and build/vm/VERSION/ are make's, the tree is taken as it is. VERSION trixie is Debian 13: it has a
# root image of its own, and the build of tests/distro/run.sh. Ends with one line of counts, the sum of all kernels.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VM=build/vm
MINUTES_MOST=120 # for one kernel, which takes an hour and a half where nothing else runs; one that takes longer hangs
PATIENCE=5      # an emulated CPU is about ten times slower, but not where it waits

say() {
	printf 'test-vm: %s\n' "$*"
}

# built VERSION: the directory of the binaries, compiled for the machine's release.
built() {
	case $1 in
	trixie) echo "build/distro/$1/root/bourdon/build" ;;
	*) echo build ;;
	esac
}

# root_image VERSION
root_image() {
	case $1 in
	trixie) echo "$VM/$1/root.img" ;;
	*) echo "$VM/root.img" ;;
	esac
}

# make_tree VERSION: the file system that the machine mounts at /bourdon.
make_tree() {
	local tree other build
	build=$(built "$1")
	tree=$(mktemp -d "$VM/$1/tree.XXXXXX")
	chmod 0755 "$tree" # of the file system, too: tests run programs in it as others
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

# boot VERSION LOG TESTS [KERNEL-OPTIONS]: streams what the tests say, to LOG, too. What is written to a disk is gone
# with the machine, and the machine with the shell that runs this. One thread of the emulator runs both emulated CPUs in
# turn: on a thread each, one was seen to go on taking a breakpoint that the other had taken out of the kernel's text (as
# a tracepoint was let go), which real CPUs are told to forget, until the kernel gave up. A CPU that hangs two minutes
# ends the machine. The emulated CPU has no cmpxchg16b: that of QEMU 7.2 was seen to leave other flags behind, of which
# Debian 13's kernel died in kmalloc(). The kernel does not check at boot that its timer ticks in time, which it does not on a busy host.
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

# count WHAT LOG: how many tests the machine said passed, failed or were skipped.
count() {
	sed -nE "\$s/.*\\b([0-9]+) $1\\b.*/\\1/p" "$2.log"
}

# What no test can take away from a kernel that runs; a developer who wants one file does without it.
LACKING_TOO=yes
case ${TESTS-} in *.bats) LACKING_TOO=no ;; esac
LACKING='psi=0 cgroup_disable=pressure lockdown=confidentiality'

# test_kernel VERSION: all tests on a machine that has everything, then those of what it says when it has not.
test_kernel() {
	local started=$SECONDS
	boot "$1" tests "${TESTS-}" || true
	[ "$LACKING_TOO" = no ] || boot "$1" lacking tests/vm/lacking "$LACKING" || true
	say "Linux $1: $((SECONDS - started)) s"
}

trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
passed=0
failed=0
skipped=0

# add_counts LOG
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
done

counts="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || counts+=", $skipped skipped"
echo "$counts"
[ "$failed" -eq 0 ]
