#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# repeat.sh N: runs tests/run.sh N times, each time beside a busy loop, a loop of forks and a second run of itself. Prints
# the closing lines, and a table of what failed how often. BESIDE=nothing leaves out the other load. Each test that it
# names is a defect, of the test or of the product. Output: build/repeat/.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

logs=build/repeat
load=()
rm -rf "$logs"
mkdir -p "$logs"
trap '[ ${#load[@]} -eq 0 ] || kill "${load[@]}"' EXIT

# run NAME: one run, and how long it took
run() {
	local began=$SECONDS
	tests/run.sh > "$logs/$1" 2>&1 < /dev/null
	printf '%s: %s in %d s\n' "$1" "$(tail -n 1 "$logs/$1")" $((SECONDS - began)) | tee -a "$logs/closing-lines"
}

if [ "${BESIDE-load}" = load ]; then
	(while :; do :; done) & load+=($!)
	(while :; do /bin/true; done) & load+=($!)
fi
for ((i = 1; i <= $1; i++)); do
	if [ ${#load[@]} -gt 0 ]; then
		run "$i-second" & second=$!
		run "$i"
		wait "$second"
	else
		run "$i"
	fi
done

# The end of an output repeats what failed.
for log in "$logs"/[0-9]*; do
	sed -n '/^failed:/,$p' "$log" | sed -nE 's/^([^ ]*: )not ok [0-9]+ (.*) in [0-9]+ms$/\1\2/p; /did not run|left something behind/p; s/^([^ ]*):[0-9]+:[FE]:([^:]*:[^:]*).*/\1: \2/p' | sort -u
done | sort | uniq -c | sort -rn > "$logs/failures"
echo 'failures:'
cat "$logs/failures"
cat "$logs/closing-lines"
[ ! -s "$logs/failures" ]
