#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh RELEASE ROOT [COMMAND...]: builds and tests this tree with another Debian release's compilers and
# libraries, on the running kernel. make_root.sh makes ROOT. Copies the tree to ROOT/bourdon and runs make
# demo and make test there, as root. TESTS= selects end-to-end tests, as in tests/run.sh. The last line is
# the tests' count; a failed demo counts as one more failure. With COMMAND, runs that instead.
#
# Everything runs in a mount namespace whose root is ROOT, with a BPF file system of its own: no mount and no
# pin stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

release=$1
root=$(realpath "$2")
shift 2

say() {
	printf 'test-distro: %s\n' "$*"
}

# Objects in ROOT/bourdon/build are reused by the next run, because tar keeps the times of the sources.
copy_tree() {
	mkdir -p "$root/bourdon"
	find "$root/bourdon" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf --one-file-system {} +
	tar -c --exclude ./.git --exclude ./build . | tar -x --no-same-owner -C "$root/bourdon"
}

# In the new mount namespace: makes ROOT its root, then runs `inside` there.
# shellcheck disable=SC2016 # the inner shell expands it
ENTER='
set -e
root=$1
shift
mount --bind "$root" "$root"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=0755 tmpfs "$root/run"
mount -t bpf -o mode=0700,nosuid,nodev,noexec bpf "$root/sys/fs/bpf"
cat /etc/resolv.conf > "$root/etc/resolv.conf"
mkdir -p "$root/run/lock" "$root/run/host"
cd "$root"
pivot_root . run/host
cd /bourdon
umount -l /run/host
rmdir /run/host
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
'

enter() {
	unshare --mount --propagation private bash -c "$ENTER" enter "$root" \
		${TESTS:+TESTS="$TESTS"} ${PATIENCE:+PATIENCE="$PATIENCE"} ${CK_EXCLUDE_TAGS:+CK_EXCLUDE_TAGS="$CK_EXCLUDE_TAGS"} \
		"$@" < /dev/null
}

copy_tree
if [ $# -gt 0 ]; then
	enter "$@"
	exit
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT
demo_failed=0
say "Debian $release: make demo"
enter make "-j$(nproc)" demo || demo_failed=1
say "Debian $release: make test"
enter make "-j$(nproc)" test | tee "$results" || true

if [[ $(tail -n 1 "$results") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ [0-9]+\ skipped)?$ ]]; then
	failed=$((BASH_REMATCH[2] + demo_failed))
	counts="${BASH_REMATCH[1]} passed, $failed failed${BASH_REMATCH[3]}"
else
	failed=$((1 + demo_failed))
	counts="0 passed, $failed failed"
fi
[ "$demo_failed" -eq 0 ] || say "Debian $release: make demo failed"
echo "$counts"
[ "$failed" -eq 0 ]
