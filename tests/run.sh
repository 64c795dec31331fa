#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make test: unit tests, then the end-to-end tests on the running kernel. Ends with one line of counts.
# run.sh PATH...: those end-to-end tests, too. TESTS="PATH..." run.sh: those alone; several paths are separated by blanks.
# CK_EXCLUDE_TAGS=slow: without the tests that have this tag, of both kinds.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

if [ "$(id -u)" -ne 0 ]; then
	echo 'make test: run it as root: it loads programs into the kernel' >&2
	exit 1
fi

passed=0
failed=0
skipped=0
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# What the tests must not leave behind, as text that two moments can be compared by.
traces() {
	find /sys/fs/bpf -mindepth 1 -name 'bourdon*' 2>/dev/null
	find "$(findmnt -n -o TARGET -t cgroup2 | head -n 1)" -maxdepth 1 -name 'bourdon-*'
	find /tmp /run -maxdepth 1 -name 'bourdon*' 2>/dev/null
	# a zombie waits for its parent, which for an orphan is init: not ours to end
	ps -eo stat=,comm= | awk '$1 !~ /^Z/ && $2 ~ /^(bourdon|cpu_hog|hostile|inlines|io_hog|jit|linked|lock_hog|locked|mapper|mem_hog|packed|prefork|secret|stripped|sleepers|turncoat|unwind_|bdtest)/'
	findmnt -n -l -o TARGET,FSTYPE | sort
	losetup -n -O NAME,BACK-FILE
}
before=$(traces)

run_unit() {
	CK_TIMEOUT_MULTIPLIER=${PATIENCE:-1} build/unit | tee "$results"
	if [[ $(tail -n 1 "$results") =~ ^unit:\ ([0-9]+)\ checks,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1] - BASH_REMATCH[2]))
		failed=$((failed + BASH_REMATCH[2]))
	else
		echo 'the unit tests did not run to their end'
		failed=$((failed + 1))
	fi
}

# run_end_to_end PATH...: files, or directories of files.
run_end_to_end() {
	bats --tap --timing ${CK_EXCLUDE_TAGS:+--filter-tags "!$CK_EXCLUDE_TAGS"} "$@" | tee "$results"
	skipped=$((skipped + $(grep -c '^ok .* # skip' "$results")))
	passed=$((passed + $(grep '^ok ' "$results" | grep -vc ' # skip')))
	failed=$((failed + $(grep -c '^not ok ' "$results")))
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

# what somebody else took away meanwhile is nobody's leavings
left=$(comm -13 <(sort <<< "$before") <(traces | sort))
if [ -z "$left" ]; then
	passed=$((passed + 1))
else
	printf 'the tests left something behind:\n%s\n' "$left"
	failed=$((failed + 1))
fi

counts="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || counts+=", $skipped skipped"
echo "$counts"
[ "$failed" -eq 0 ]
