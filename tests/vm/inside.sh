#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual machine runs this as soon as systemd has booted it: prints the kernel and the result of
# bourdon-load --check, then runs the tests. Their output goes to the second serial line; the first is the
# kernel's.
set -u
exec < /dev/null > /dev/ttyS1 2>&1
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

echo "Linux $(uname -r), booted in $(cut -d ' ' -f 1 /proc/uptime) s"
for module in build/modules/*; do
	insmod "$module"
done
build/bourdon-load --check
# leaves out filling the database: it takes many minutes here, and does not depend on the kernel
export CK_EXCLUDE_TAGS=slow
# one emulated CPU runs at a time
export JOBS=1
tests/run.sh tests/vm
