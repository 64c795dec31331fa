#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make_root.sh IMAGE RELEASE: makes the root file system of the virtual machines, a small Debian (bookworm,
# trixie) that boots systemd as PID 1. All kernels of the release share the image, and no machine writes to
# it. make remakes it when this file changes.
set -euo pipefail

# Packages whose name in that release differs from Debian 12's, as sed commands.
declare -A RENAMED=(
	[bookworm]=''
	[trixie]='s/^\(libdw1\|libelf1\|libnettle8\)$/\1t64/; s/^libllvm14$/libllvm19/'
)

# Packages beyond Debian's minimal set, each with its reason.
packages() {
	sed "s/ .*//; ${RENAMED[$release]}" <<- 'END' | paste -s -d ,
		systemd-sysv     is PID 1
		dbus             systemctl, and what systemd logs without it
		systemd-oomd     kills units whose memory pressure lasts
		udev             tells systemd that a disk is there
		kmod             loads the kernel modules that the tests need
		libbpf1          bourdon-load, bourdond
		libcap-ng0       bourdon-load, bourdond
		libdw1           bourdond
		libelf1          bourdond, libbpf
		libinih1         bourdond
		liblz4-1         bourdond
		libncursesw6     bourdon
		libnettle8       bourdon-load, bourdond
		libprotobuf-c1   bourdon
		libseccomp2      compile_seccomp, which the unit tests run
		libsqlite3-0     bourdond, bourdon
		libstdc++6       programs in C++ whose stacks are known
		libsubunit0      the unit tests
		libexpat1        the same
		bats             runs the end-to-end tests, which need the following
		bpftool          looks into maps
		bsdextrautils    column reads the threads
		e2fsprogs        makes file systems
		jq               reads JSON
		libllvm14        a large file to make an unwind table of
		make             installs bourdon
		openssl          a target without frame pointers
		perl             renames processes, damages programs; and another target
		procps           finds processes
		python3          reads databases
		sqlite3          reads databases
		tmux             plays a terminal
		stress-ng        makes pressure as a service of somebody else's
		util-linux       unshare, setpriv, flock, findmnt, losetup, fsfreeze
		xz-utils         a target with threads
	END
}

image=$1
release=$2
mkdir -p "$(dirname "$image")"
root=$(mktemp -d "$image.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT

echo "debootstrap: about 2 minutes, once; its log is $image.log"
# in a mount namespace of its own: its mounts end with it, even when it is killed
unshare --mount --propagation private debootstrap --variant=minbase --include="$(packages)" "$release" "$root" > "$image.log"
chmod 0755 "$root"
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}
# a login prompt on the second serial line would mix with the tests' output
ln -s /dev/null "$root/etc/systemd/system/serial-getty@.service"
mkdir "$root/bourdon"
echo 'LABEL=tree /bourdon ext4 defaults 0 0' > "$root/etc/fstab"
# a disk with one partition, named to the kernel by its id: the order in which the kernel finds disks is
# random
rm -f "$image"
truncate -s 2G "$image"
printf 'label: dos\nlabel-id: 0x62646f6e\nstart=1MiB, type=83\n' | sfdisk --quiet "$image"
mke2fs -q -t ext4 -d "$root" -E offset=1048576 "$image" 2047M
