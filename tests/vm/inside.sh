#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a virtual machine runs as soon as systemd has booted it: says which kernel this is and what the loader thinks
# of it, then runs the tests. The second serial line is theirs alone; the first is the kernel's.
set -u
exec < /dev/null > /dev/ttyS1 2>&1
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

echo "Linux $(uname -r), booted in $(cut -d ' ' -f 1 /proc/uptime) s"
for module in build/modules/*; do
	insmod "$module"
done
build/bourdon-load --check
# filling databases takes many minutes here, and no part of it depends on the kernel
export CK_EXCLUDE_TAGS=slow
tests/run.sh tests/vm
