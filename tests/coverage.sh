#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make coverage: coverage.sh BUILD runs the unit tests of a build with gcc's --coverage, and prints which share of
# the product's lines they reach. What end-to-end tests reach beyond is not in it, nor what a child does that
# ends without exit(3), as the confined ones must.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1

find "$build/object" -name '*.gcda' -delete
# a child that gave up its rights cannot add to the counts, and says so for each file
"$build/unit" 2> >(grep -v '^profiling:.*:Cannot open' >&2)
# Debian 12's geninfo warns of its own subroutines
lcov --quiet --capture --directory "$build/object" --base-directory . --output-file "$build/all.info" \
	2> >(grep -v '^Subroutine .* redefined at /usr/bin/geninfo' >&2)
lcov --quiet --extract "$build/all.info" "$PWD"/{common,consumer,loader,report}/'*' --output-file "$build/lines.info"
genhtml --quiet --prefix "$PWD" --title bourdon --output-directory "$build/html" "$build/lines.info"

# Lines that there are, lines that were reached, and the file, one line a file.
files=$(awk -F: -v root="$PWD/" '
	$1 == "SF" { file = substr($2, length(root) + 1) }
	$1 == "LF" { there = $2 }
	$1 == "LH" { reached = $2 }
	$1 == "end_of_record" { print there, reached, file }' "$build/lines.info")

echo 'line coverage by the unit tests'
awk '{
	sub(/\/[^\/]*$/, "", $3)
	there[$3] += $1; reached[$3] += $2; all += $1; all_reached += $2
}
END {
	for (directory in there)
		printf "  %-24s %5.1f %% of %5d\n", directory, 100 * reached[directory] / there[directory],
			there[directory] | "sort"
	close("sort")
	printf "  %-24s %5.1f %% of %5d\n", "all", 100 * all_reached / all, all
}' <<< "$files"

echo 'the least covered files'
awk '{ printf "  %-36s %5.1f %% of %5d\n", $3, 100 * $2 / $1, $1 }' <<< "$files" | sort -k2,2n -k5,5nr | sed -n 1,12p
echo "each line: $build/html/index.html"
