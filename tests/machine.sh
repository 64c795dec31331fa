#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# machine.sh [WORD...]: tries what the tests need of this machine, and prints a line for each thing that it lacks:
# WORD<TAB>what is missing; what to do. Prints nothing where all is there. With words, tries only those. Ends with 0.
#
# It tries each thing itself, and without root only what can be told without. BPF and perf events are what build/bourdon-load
# --check, once built, found by loading its programs. QUICK=1, or before that: only the capabilities are looked at.
set -u
BUILD=${BOURDON_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build}
WORDS=(root kernel btf cgroup2 psi bpf perf bpffs mounts loop)

lacks() {
	printf '%s\t%s\n' "$1" "$2"
}

is_root() {
	[[ $(id -u) -eq 0 ]]
}

# may CAPABILITY-NUMBER: whether this process has the capability
may() {
	local effective
	effective=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
	((0x$effective >> $1 & 1))
}
CAP_SYS_ADMIN=21
CAP_PERFMON=38
CAP_BPF=39

# try_mount ARGUMENT...: mounts that in a mount namespace of its own
try_mount() {
	unshare --mount --propagation private mount "$@" 2>&1
}

try_root() {
	is_root || lacks root 'not root: nothing can be loaded into the kernel; run it as root'
}

try_kernel() {
	local major minor
	IFS=.- read -r major minor _ <<< "$(uname -r)"
	((major > 6 || (major == 6 && minor >= 1))) || lacks kernel "Linux $(uname -r) is too old; use Linux 6.1 or newer"
}

try_btf() {
	[[ -r /sys/kernel/btf/vmlinux ]] ||
		lacks btf 'the kernel has no BTF, or /sys is hidden: /sys/kernel/btf/vmlinux; use a kernel with CONFIG_DEBUG_INFO_BTF=y, outside of a container'
}

try_cgroup2() {
	local mount made said
	mount=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
	if [[ -z $mount ]]; then
		lacks cgroup2 'cgroup2 is not mounted; mount -t cgroup2 cgroup2 /sys/fs/cgroup'
	elif is_root; then
		made=$mount/bourdon-try-$$
		if said=$(mkdir "$made" 2>&1); then
			[[ -e $made/cpu.pressure ]] ||
				lacks cgroup2 "cgroups have no pressure files: $made/cpu.pressure; boot with psi=1 and without cgroup_disable=pressure"
			rmdir "$made"
		else
			lacks cgroup2 "no cgroup can be made: $said; run it outside of a container"
		fi
	fi
}

# With psi=0 the files are missing, or reading them fails.
try_psi() {
	local said
	said=$(cat /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io 2>&1 > /dev/null) ||
		lacks psi "pressure (PSI) is off: ${said%%$'\n'*}; boot with psi=1, on a kernel with CONFIG_PSI=y"
}

# check: runs bourdon-load --check once, into CHECKED; fails where that cannot be asked
check() {
	is_root && [[ -z ${QUICK-} && -x $BUILD/bourdon-load ]] || return
	[[ -n ${CHECKED-} ]] || CHECKED=$("$BUILD/bourdon-load" --check --pin-dir "/sys/fs/bpf/bourdon_try_$$" 2> /dev/null)
	[[ -n $CHECKED ]]
}

# failed NAME...: prints the first of these findings that failed, and fails if none did
failed() {
	local name
	for name; do
		awk -v name="$name" 'index($0, name "  ") == 1 && / failed +/ { sub(/.* failed +/, ""); print; found = 1; exit }
			END { exit !found }' <<< "$CHECKED" && return
	done
}

try_bpf() {
	local said
	is_root || return 0
	if ! may $CAP_SYS_ADMIN && ! { may $CAP_BPF && may $CAP_PERFMON; }; then
		lacks bpf 'this process may not load BPF programs (no CAP_BPF, CAP_PERFMON), as in a container; run it on the host'
	elif ! grep -q ' 4294967295$' /proc/self/uid_map; then
		lacks bpf 'this is root of a user namespace only, which may not load BPF programs; run it on the host'
	elif check && said=$(failed 'bpf()' 'canary: load' 'canary: event' 'canary: sample'); then
		lacks bpf "the kernel refuses BPF programs: $said; run it on the host, without lockdown=confidentiality"
	fi
}

try_perf() {
	local said
	check || return 0
	! said=$(failed 'perf events' 'canary: attach') ||
		lacks perf "the kernel refuses perf events: $said; run it on the host"
}

try_bpffs() {
	local said
	is_root || return 0
	[[ $(findmnt -n -o FSTYPE /sys/fs/bpf) == bpf ]] || said=$(try_mount -t bpf bpf /sys/fs/bpf) ||
		lacks bpffs "no BPF file system: $said; mount -t bpf bpf /sys/fs/bpf"
}

try_mounts() {
	local said
	is_root || return 0
	said=$(try_mount -t tmpfs tmpfs /mnt) || lacks mounts "nothing can be mounted: $said; run it outside of a container"
}

try_loop() {
	local device
	is_root || return 0
	device=$(losetup --find 2>&1)
	[[ -b $device ]] || lacks loop "no loop device: $device; modprobe loop, outside of a container"
}

for word in "${@:-${WORDS[@]}}"; do
	"try_$word"
done
