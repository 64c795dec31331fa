#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# get_kernel.sh VERSION IMAGE: unpacks Debian's newest kernel of that version (6.1, 6.12) to IMAGE, and the
# modules that the tests need to modules/ beside it. Installs nothing.
set -euo pipefail

MODULES='bfq configfs loop null_blk overlay' # for file systems that fill up or hang; for containers; for slow disks

# newest_package: names the newest cloud kernel; cloud kernels have the drivers for virtual disks built in.
newest_package() {
	apt-cache pkgnames linux-image | grep -Ex "linux-image-${version/./\\.}\\.[0-9]+(-[0-9]+|\\+deb1[23])-cloud-$architecture-unsigned" |
		sort -V | tail -n 1
}

download() {
	local package
	package=$(newest_package)
	[ -n "$package" ] && (cd "$directory" && apt-get -q -o APT::Sandbox::User=root download "$package")
}

version=$1
image=$2
architecture=$(dpkg --print-architecture)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# the package list is missing, or older than the archive
download || { apt-get update -q && download; }
dpkg -x "$directory"/linux-image-*.deb "$directory/package"
mkdir -p "$(dirname "$image")/modules"
for module in $MODULES; do
	# /lib/modules in Debian 12, /usr/lib/modules in Debian 13
	find "$directory/package" -path '*/lib/modules/*' -name "$module.ko*" -exec cp {} "$(dirname "$image")/modules/" \;
done
cp "$directory"/package/boot/vmlinuz-* "$image"
