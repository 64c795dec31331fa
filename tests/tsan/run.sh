#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make tsan: run.sh BUILD PATH... runs the unit tests of BUILD/tsan, then these end-to-end tests with its bourdond and the
# other programs of BUILD, all under ThreadSanitizer where they have threads. It fails if a test fails, or if there is a data
# race: it prints each, with the lines of its addresses. The logs stay in BUILD/tsan/log.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=$(cd "$1" && pwd)
own=$build/tsan
log=$own/log
shift

# A sanitizer's runtime locks no memory, so that a test that demands it fails: it is left out.
WITHOUT='locked in memory|fires a kernel trigger; the capture has history'

# A process that becomes another user keeps the randomised addresses that the runtime cannot handle: switched off before.
unrandomised() {
	setarch -R "$@"
}

# locate FILE: the report, and the function and line of each address in bourdond, which cannot look into its own file once
# it is confined
locate() {
	local line
	while IFS= read -r line; do
		printf '%s\n' "$line"
		[[ ! $line =~ \(bourdond\+(0x[0-9a-f]+)\) ]] ||
			addr2line -p -f -i -e "$own/bourdond" "${BASH_REMATCH[1]}" | sed 's/^/        /'
	done < "$1"
}

rm -rf "$log"
mkdir -p "$log"
# copies, because bourdond opens no file outside of the directories that its settings name
for directory in workloads tools; do
	rm -rf "${own:?}/$directory"
	cp -a "$build/$directory" "$own/"
done
for program in bourdon bourdon-load bourdon-grant; do
	ln -sfn "../$program" "$own/$program"
done

status=0
CK_TIMEOUT_MULTIPLIER=10 TSAN_OPTIONS="suppressions=$PWD/tests/tsan/suppressions" unrandomised "$own/unit" > "$log/unit.log" 2>&1 || status=1
tail -n 1 "$log/unit.log"

titles=$(sed -n 's/^@test "\(.*\)" {$/\1/p' "$@" | grep -vE "$WITHOUT" | sed 's/[][().*+?^$|{}\\]/\\&/g' | paste -sd '|')
BOURDON_BUILD=$own KEEP_LOGS=$log PATIENCE=${PATIENCE:-4} unrandomised bats --tap --timing --filter "^($titles)$" "$@" || status=1

for file in "$log"/*.log; do
	! grep -q 'WARNING: ThreadSanitizer' "$file" || { locate "$file"; status=1; }
done
races=$(cat "$log"/*.log | grep -c 'WARNING: ThreadSanitizer')
echo "tsan: $races data races in $(find "$log" -name '*.log' | wc -l) logs"
exit "$status"
