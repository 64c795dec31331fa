#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make test: unit tests, then the end-to-end tests on the running kernel. Ends with one line of counts.
# run.sh PATH...: those end-to-end tests, too. TESTS="PATH..." run.sh: those alone; several paths are separated by blanks.
# CK_EXCLUDE_TAGS=TAG: without the tests that have this tag, of both kinds. `slow`: too slow for an emulated CPU. `long`: left
# out by .ci/run, because it takes forty seconds or more.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

if [ "$(id -u)" -ne 0 ]; then
	echo 'make test: run it as root: it loads programs into the kernel' >&2
	exit 1
fi

passed=0
failed=0
skipped=0
# All that the tests make carries the name of this run, so that what others run meanwhile is not taken for it:
# temporary files and mounts lie in its directory; pins and cgroups have its name (tests/e2e/lib.bash); processes have
# it in their environment or arguments.
directory=$(mktemp -d /tmp/bourdon-run.XXXXXX)
run=${directory##*.}
chmod 0711 "$directory"
results=$(mktemp)
failures=$(mktemp)
trap 'rm -rf --one-file-system "$results" "$failures" "$directory"' EXIT

# left_behind: what the tests have made and not removed, one line each.
left_behind() {
	local file
	find /sys/fs/bpf -mindepth 1 -name "bourdon*_${run}_*" 2>/dev/null
	find "$(findmnt -n -o TARGET -t cgroup2 | head -n 1)" -maxdepth 1 -name "bourdon-*-$run-*"
	find "$directory" -mindepth 1
	findmnt -n -l -o TARGET,FSTYPE | grep -F "$directory"
	losetup -n -O NAME,BACK-FILE | grep -F "$directory"
	# a zombie, which only its parent can remove, has neither environment nor arguments
	grep -lsF -f <(echo "$run") /proc/[0-9]*/{environ,cmdline} | sed 's|/[a-z]*$||' | sort -u | while read -r file; do
		echo "process ${file#/proc/}: $(tr '\0' ' ' 2>/dev/null < "$file/cmdline")"
	done
}

# Check's own limit of 4 s for a test is too short beside other programs.
run_unit() {
	TMPDIR=$directory CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=${PATIENCE:-1} build/unit | tee "$results"
	if [[ $(tail -n 1 "$results") =~ ^unit:\ ([0-9]+)\ checks,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1] - BASH_REMATCH[2]))
		failed=$((failed + BASH_REMATCH[2]))
		grep -E ':[0-9]+:[FE]:' "$results" >> "$failures"
	else
		echo 'the unit tests did not run to their end'
		failed=$((failed + 1))
	fi
}

# run_end_to_end PATH...: files, or directories of files.
run_end_to_end() {
	TMPDIR=$directory BOURDON_RUN=$run bats --tap --timing ${CK_EXCLUDE_TAGS:+--filter-tags "!$CK_EXCLUDE_TAGS"} "$@" | tee "$results"
	skipped=$((skipped + $(grep -c '^ok .* # skip' "$results")))
	passed=$((passed + $(grep '^ok ' "$results" | grep -vc ' # skip')))
	failed=$((failed + $(grep -c '^not ok ' "$results")))
	# with what a test that failed has said
	awk '/^(not )?ok / { told = /^not / } told' "$results" >> "$failures"
	if [ "$(grep -cE '^(not )?ok ' "$results")" -ne "$(sed -n 's/^1\.\.//p' "$results")" ]; then
		echo 'the end-to-end tests did not run to their end'
		failed=$((failed + 1))
	fi
}

if [ -n "${TESTS-}" ]; then
	# shellcheck disable=SC2086 # several paths are several words
	run_end_to_end $TESTS
else
	run_unit
	run_end_to_end tests/e2e "$@"
fi

# a process that was killed may take a moment to end
for _ in {1..30}; do
	left=$(left_behind)
	[ -n "$left" ] || break
	sleep 0.1
done
if [ -z "$left" ]; then
	passed=$((passed + 1))
else
	printf 'the tests left something behind:\n%s\n' "$left"
	failed=$((failed + 1))
fi

# again, because a log may be cut to its end
[ ! -s "$failures" ] || { echo 'failed:' && cat "$failures"; }

counts="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || counts+=", $skipped skipped"
echo "$counts"
[ "$failed" -eq 0 ]
