#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make test: the unit tests and the end-to-end tests on the running kernel. Ends with one line of counts.
# run.sh PATH...: those end-to-end tests, too. TESTS="PATH..." run.sh: those alone; several paths are separated by blanks.
#
# Files run side by side, JOBS at once; the tests of one file run one after the other. Tags of tests and files:
#   alone    judges the whole machine, so it runs after all others, and nothing beside it
#   no-load  loads nothing into the kernel; no-root, moreover, needs no root. The others are left out where tests/machine.sh
#            misses something, and the end of the output says why
#   slow     too slow for an emulated CPU
#   long     takes forty seconds or more
# CK_EXCLUDE_TAGS=TAG leaves out the tests that have this tag, of both kinds: `long`, unless it is set, also to nothing.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

export CK_EXCLUDE_TAGS=${CK_EXCLUDE_TAGS-long}
: "${JOBS:=$((2 * $(nproc)))}"

# All that the tests make carries the name of this run, so that what others run meanwhile is not taken for it:
# temporary files and mounts lie in its directory; pins and cgroups have its name (tests/e2e/lib.bash); processes have
# it in their environment or arguments.
directory=$(mktemp -d "${TMPDIR:-/tmp}/bourdon-run.XXXXXX")
run=${directory##*.}
chmod 0711 "$directory"
results=$(mktemp -d "${TMPDIR:-/tmp}/bourdon-results.XXXXXX")
mounted=

tidy() {
	rm -rf --one-file-system "$results" "$directory"
	# the kernel's own files have dots; others may use it by now
	[ -z "$mounted" ] || find /sys/fs/bpf -mindepth 1 ! -name '*.*' | grep -q . || umount /sys/fs/bpf
}
trap tidy EXIT
trap 'trap "" TERM; kill 0; exit 1' INT TERM

# left_behind: what the tests have made and not removed, one line each.
left_behind() {
	local file cgroups
	cgroups=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
	find /sys/fs/bpf -mindepth 1 -name "bourdon*_${run}_*" 2>/dev/null
	[ -z "$cgroups" ] || find "$cgroups" -maxdepth 1 -name "bourdon-*-$run-*"
	find "$directory" -mindepth 1
	findmnt -n -l -o TARGET,FSTYPE | grep -F "$directory"
	losetup -n -O NAME,BACK-FILE | grep -F "$directory"
	# a zombie, which only its parent can remove, has neither environment nor arguments
	grep -lsF -f <(echo "$run") /proc/[0-9]*/{environ,cmdline} | sed 's|/[a-z]*$||' | sort -u | while read -r file; do
		echo "process ${file#/proc/}: $(tr '\0' ' ' 2>/dev/null < "$file/cmdline")"
	done
}

# ---- what runs ----

# bats takes tests that have all tags of a list, and none with an exclamation mark.
filter=
for tag in $CK_EXCLUDE_TAGS; do filter+=",!$tag"; done
missing=$(tests/machine.sh)

# Else loaders mount it and unmount it, and those of another mount namespace see that.
if [[ $missing != *bpf* ]] && ! mountpoint -q /sys/fs/bpf; then
	mount -t bpf -o mode=0700,nosuid,nodev,noexec bpf /sys/fs/bpf && mounted=yes
fi
if [[ $'\n'$missing == *$'\nroot\t'* ]]; then
	filter+=,no-root
elif [ -n "$missing" ]; then
	filter+=,no-load
fi

run_unit() {
	TMPDIR=$directory CK_TIMEOUT_MULTIPLIER=${PATIENCE:-1} build/unit
}

# run_file LOT-OF-TAGS FILE
run_file() {
	TMPDIR=$directory BOURDON_RUN=$run bats --tap --timing --filter-tags "$1$filter" "$2"
}

# job NAME COMMAND...: runs it with its output in a file of that name, and shows that at the end.
job() {
	local name=$1
	shift
	# bash's own time: of the children, which the tests wait for
	{ TIMEFORMAT="%0R s, %0U user, %0S system  $name"; time "$@" > "$results/$name" 2>&1 < /dev/null; } 2> "$results/$name.seconds"
	flock "$results/lock" cat "$results/$name"
}

# jobs_of LOT END FILE...: a line for each file that has tests of this lot, which `pool` runs; its output's name has that end.
jobs_of() {
	local lot=$1 end=$2 file
	shift 2
	for file; do
		[ "$(bats --count --filter-tags "$lot$filter" "$file")" -eq 0 ] ||
			printf 'job %q run_file %q %q\n' "$(basename "$file" .bats)$end" "$lot" "$file"
	done
}

# pool NUMBER: runs the lines of its input as commands, so many at once.
pool() {
	export -f job run_unit run_file
	export directory run results filter
	xargs -r -d '\n' -P "$1" -n 1 bash -c
}

# Long files begin first, so that no CPU idles at the end.
# shellcheck disable=SC2086 # several paths are several words
mapfile -t files < <(find ${TESTS:-tests/e2e "$@"} -maxdepth 1 -name '*.bats' -exec wc -l {} + | sort -rn | awk '$2 ~ /\.bats$/ { print $2 }')
{
	[ -n "${TESTS-}" ] || echo 'job unit run_unit'
	jobs_of '!alone' .tap "${files[@]}"
} | pool "$JOBS" &
wait $! # a trap interrupts it
jobs_of alone .alone.tap "${files[@]}" | pool 1 &
wait $!

# ---- what came out ----

passed=0
failed=0
skipped=0
failures=
for output in "$results"/unit "$results"/*.tap; do
	[ -e "$output" ] || continue
	if [ "${output##*/}" = unit ]; then
		if [[ $(tail -n 1 "$output") =~ ^unit:\ ([0-9]+)\ checks,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
			passed=$((passed + BASH_REMATCH[1] - BASH_REMATCH[2]))
			failed=$((failed + BASH_REMATCH[2]))
			skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
			failures+=$(grep -E ':[0-9]+:[FE]:' "$output")
		else
			failures+=$'\nthe unit tests did not run to their end'
			failed=$((failed + 1))
		fi
		continue
	fi
	skipped=$((skipped + $(grep -c '^ok .* # skip' "$output")))
	passed=$((passed + $(grep '^ok ' "$output" | grep -vc ' # skip')))
	failed=$((failed + $(grep -c '^not ok ' "$output")))
	# with what a test that failed has said
	failures+=$(awk -v file="${output##*/}" '/^(not )?ok / { told = /^not / } told { print (/^not /) ? file ": " $0 : $0 }' "$output" | sed '1s/^/\n/')
	if [ "$(grep -cE '^(not )?ok ' "$output")" -ne "$(sed -n 's/^1\.\.//p' "$output")" ]; then
		failures+=$'\n'"${output##*/} did not run to its end"
		failed=$((failed + 1))
	fi
done

# a process that was killed may take a moment to end
for _ in {1..30}; do
	left=$(left_behind)
	[ -n "$left" ] || break
	sleep 0.1
done
if [ -z "$left" ]; then
	passed=$((passed + 1))
else
	failures+=$'\n'"the tests left something behind:"$'\n'"$left"
	failed=$((failed + 1))
fi

if [ -n "$missing" ]; then
	all=$(bats --count "${files[@]}")
	printf '%d of %d end-to-end tests were left out, because this machine lacks:\n%s\n' \
		$((all - $(bats --count --filter-tags "${filter#,}" "${files[@]}"))) "$all" "$missing"
fi
echo 'longest:'
cat "$results"/*.seconds | sort -rn | head -n 16
[ -z "$failures" ] || printf 'failed:\n%s\n' "${failures#$'\n'}"
printf '%d s with %d files at once: ' $SECONDS "$JOBS"
cat "$results"/*.seconds | awk '{ programs += $3; kernel += $5 } END { printf "%d s of CPU time of programs, %d s of the kernel\n", programs, kernel }'
# Of a log that is cut, the end is read.
grep -hE '^not ok |:[0-9]+:[FE]:' "$results"/unit "$results"/*.tap 2> /dev/null | cut -c 1-120
counts="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || counts+=", $skipped skipped"
echo "$counts"
[ "$failed" -eq 0 ]
