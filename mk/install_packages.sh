#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# install_packages.sh [--needed]: reads lines "PACKAGE REASON", names the Debian packages among them that are missing, and
# installs them. Waits up to 300 s for whoever else uses apt, and says so.
#
# An ordinary user can install nothing, and is told what root has to. With --needed a package that stays missing ends it with
# status 3; otherwise the caller does without.
set -euo pipefail

needed=${1-}
deadline=$((SECONDS + 300))
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

# lock_files: apt's locks, one a line. APT_CONFIG decides where they are.
lock_files() {
	local lists archives status
	eval "$(apt-config shell lists Dir::State::lists/d archives Dir::Cache::archives/d status Dir::State::status/f)"
	printf '%s\n' "${status%/*}/lock-frontend" "${status%/*}/lock" "${lists}lock" "${archives}lock"
}

# await_lock FILE SECONDS: waits until no process holds it. apt's own waiting (DPkg::Lock::Timeout) leaves out the locks of its
# lists and archives. The locks are those of fcntl(2), which flock(1) does not see.
# shellcheck disable=SC2016 # the dollars are perl's
await_lock() {
	perl -MFcntl=:DEFAULT,:seek -e '
		my ($file, $seconds) = @ARGV;
		open my $lock, "+<", $file or exit 0;
		my $form = "s s x4 q q i x4";
		my $all = pack $form, F_WRLCK, SEEK_SET, 0, 0, 0;
		exit 0 if fcntl $lock, F_SETLK, $all;
		my $held = $all;
		fcntl $lock, F_GETLK, $held;
		my $pid = (unpack $form, $held)[4];
		open my $comm, "<", "/proc/$pid/comm";
		my $name = $comm ? <$comm> : "unknown";
		chomp $name;
		print STDERR "waiting up to $seconds s for apt: process $pid ($name) holds $file\n";
		$SIG{ALRM} = sub { print STDERR "apt is still in use: $file\n"; exit 1 };
		alarm $seconds;
		exit !fcntl $lock, F_SETLKW, $all' "$@"
}

# apt_get ARGUMENT...: another process may take a lock between the wait and apt-get.
apt_get() {
	local lock left
	while :; do
		for lock in $(lock_files); do
			left=$((deadline - SECONDS))
			await_lock "$lock" $((left > 1 ? left : 1)) || return 1
		done
		! LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q "$@" 2> "$errors" || break
		cat "$errors" >&2
		grep -q 'Could not get lock' "$errors" && ((SECONDS < deadline)) || return 1
	done
	cat "$errors" >&2
}

declare -A reasons
names=()
while read -r package reason; do
	[[ -z $package ]] || names+=("$package")
	[[ -z $package ]] || reasons[$package]=$reason
done
if ! command -v dpkg-query > /dev/null; then
	echo 'this is no Debian: install what mk/dependencies.mk lists by the names of your distribution' >&2
	exit 0
fi
mapfile -t missing < <(comm -23 <(printf '%s\n' "${names[@]}" | sort -u) \
	<(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2> /dev/null | sed -n 's/ installed$//p' | sort -u))
((${#missing[@]} > 0)) || exit 0

root=
[[ $(id -u) -eq 0 ]] || root=', which root has to install'
for package in "${missing[@]}"; do
	echo "missing: $package (${reasons[$package]})$root"
done
if [[ -z $root ]]; then
	apt_get update
	apt_get install -y --no-install-recommends "${missing[@]}"
elif [[ $needed == --needed ]]; then
	echo "cannot go on without these packages; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
	exit 3
fi
