#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make test-vm: Debian's 6.1 and 6.12 kernels under QEMU, without KVM, with systemd as PID 1 and pure cgroup2.
# The machine is an initramfs: Debian's packages (made once, kept under build/vm) and the built tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

VM=build/vm
KERNELS='linux-image-6\.1\.0-[0-9]+-cloud-amd64-unsigned linux-image-6\.12\.[0-9]+\+deb12-cloud-amd64-unsigned'
PACKAGES=systemd,systemd-sysv,dbus,libbpf1,libelf1,libdw1,libcap-ng0,libsqlite3-0,libinih1,libnettle8
PACKAGES+=,sqlite3,bats,jq,procps,bpftool,e2fsprogs,util-linux,perl,findutils
SECONDS_MAX=1200

say() {
	printf 'test-vm: %s\n' "$*"
}

make_root() {
	[ -e "$VM/root.cpio.gz" ] && return
	say 'the root file system, once'
	rm -rf "$VM/root"
	mkdir -p "$VM"
	debootstrap --variant=minbase --include="$PACKAGES" bookworm "$VM/root" > "$VM/debootstrap.log"
	# the getty would take the console away
	ln -sf /dev/null "$VM/root/etc/systemd/system/serial-getty@ttyS0.service"
	rm -rf "$VM"/root/var/cache/apt/archives/*.deb "$VM"/root/usr/share/{doc,man,locale}
	(cd "$VM/root" && find . | cpio -o -H newc --quiet) | gzip -1 > "$VM/root.cpio.gz.new"
	mv "$VM/root.cpio.gz.new" "$VM/root.cpio.gz"
	rm -rf "$VM/root"
}

# newest_package PATTERN
newest_package() {
	apt-cache pkgnames linux-image | grep -Ex "$1" | sort -V | tail -n 1
}

# make_kernel PACKAGE: its vmlinuz is $VM/PACKAGE afterwards.
make_kernel() {
	[ -e "$VM/$1" ] && return
	say "the kernel of $1, once"
	local download
	download=$(mktemp -d)
	(cd "$download" && apt-get -q -o APT::Sandbox::User=root download "$1" > /dev/null && dpkg -x ./*.deb .)
	cp "$download"/boot/vmlinuz-* "$VM/$1"
	rm -rf "$download"
}

# What differs from run to run: the tree, and the unit that tests it and ends the machine.
make_tree() {
	local tree
	tree=$(mktemp -d)
	mkdir -p "$tree/bourdon/build" "$tree/etc/systemd/system/multi-user.target.wants"
	cp -a common consumer docs tests "$tree/bourdon/"
	cp -a build/bourdon* build/workloads build/tools build/unit build/compile_seccomp build/policy "$tree/bourdon/build/"
	cp tests/vm/bourdon-test.service "$tree/etc/systemd/system/"
	ln -s ../bourdon-test.service "$tree/etc/systemd/system/multi-user.target.wants/"
	(cd "$tree" && find . | cpio -o -H newc --quiet) | gzip -1 > "$VM/tree.cpio.gz"
	rm -rf "$tree"
}

# boot PACKAGE: streams the console; fails unless the tests inside said that all passed.
boot() {
	local started=$SECONDS log=$VM/$1.log
	say "$1"
	cat "$VM/root.cpio.gz" "$VM/tree.cpio.gz" > "$VM/initrd.gz"
	timeout "$SECONDS_MAX" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 3072 -smp 2 -display none \
		-monitor none -serial stdio -nic none -no-reboot -kernel "$VM/$1" -initrd "$VM/initrd.gz" \
		-append 'console=ttyS0 quiet psi=1 rdinit=/sbin/init systemd.show_status=0 panic=-1' \
		< /dev/null 2>&1 | tr -d '\r' | tee "$log"
	say "$1: $((SECONDS - started)) s"
	grep -aqE '^[0-9]+ passed, 0 failed$' "$log"
}

make_root
make_tree
for pattern in $KERNELS; do
	package=$(newest_package "$pattern")
	if [ -z "$package" ]; then
		say "no package like $pattern: run apt-get update"
		exit 1
	fi
	make_kernel "$package"
	boot "$package"
done
say 'all kernels passed'
