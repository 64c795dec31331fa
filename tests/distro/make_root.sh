#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make_root.sh RELEASE ROOT: makes a minimal Debian of that release (bookworm, trixie, sid) in the directory
# ROOT; make deps installs the rest there. ROOT appears only once it is complete.
set -euo pipefail

release=$1
root=$2
mkdir -p "$(dirname "$root")"
making=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf --one-file-system "$making"' EXIT

echo "debootstrap $release: about 2 minutes, once; its log is $root.log"
# in a mount namespace of its own: its mounts end with it, even when it is killed
unshare --mount --propagation private debootstrap --variant=minbase --include=make,ca-certificates "$release" "$making" > "$root.log"
chmod 0755 "$making"
# a snapshot of a mirror stays usable after its index has expired
echo 'Acquire::Check-Valid-Until "false";' > "$making/etc/apt/apt.conf.d/90snapshot"
mv -T "$making" "$root"
trap - EXIT
