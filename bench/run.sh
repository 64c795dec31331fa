#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make bench: runs the parts one after the other and prints their rows as one table. With --write the table
# replaces the one in bench/README.md. Fails only if something could not be measured.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PARTS=(oncpu unwind stock whole first-second busy-host overload offcpu accounts clock throughput drain naming store why whose interrupts growth block request latency load trigger activity idle)
COLUMNS=$'what\tbourdon\treference or budget\tratio\tverdict'
README=bench/README.md
BEGIN='<!-- make bench WRITE=1 writes from here -->'
END='<!-- to here -->'

usage() {
	echo "Usage: bench/run.sh [--write] [PART]; the parts are: ${PARTS[*]}" >&2
	exit 2
}

# machine: prints the line above the table.
machine() {
	local model memory
	model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	memory=$(awk '$1 == "MemTotal:" { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)
	echo "$(getconf _NPROCESSORS_ONLN) CPUs ($model), $memory, Linux $(uname -r), $(date -u +%F)"
}

# aligned FILE: prints tab-separated columns for a terminal.
aligned() {
	awk -F '\t' '{ rows[NR] = $0; for (i = 1; i <= NF; i++) if (length($i) > width[i]) width[i] = length($i) }
		END { for (row = 1; row <= NR; row++) {
			count = split(rows[row], cell, "\t"); line = ""
			for (i = 1; i <= count; i++) line = line sprintf(i < count ? "%-*s  " : "%*s", i < count ? width[i] : 0, cell[i])
			print line } }' "$1"
}

# markdown FILE: prints tab-separated columns as a Markdown table.
markdown() {
	awk -F '\t' -v OFS=' | ' '{ $1 = $1; print "| " $0 " |" } NR == 1 { print "|---|---|---|---|---|" }' "$1"
}

# write_table FILE: replaces the text between the two marks in the README, which must exist.
write_table() {
	local text
	text=$(machine; echo; markdown "$1")
	grep -qxF "$BEGIN" "$README" && grep -qxF "$END" "$README"
	TEXT=$text awk -v begin="$BEGIN" -v end="$END" '
		$0 == end { skipping = 0 }
		!skipping { print }
		$0 == begin { print "\n" ENVIRON["TEXT"] "\n"; skipping = 1 }' "$README" > "$README.new"
	mv "$README.new" "$README"
}

write=
if [[ ${1-} == --write ]]; then
	write=yes
	shift
fi
if [[ $# -gt 1 || (-n $write && $# -gt 0) ]]; then
	usage # the table of one part would delete the others
fi
if [[ $# -eq 1 ]]; then
	[[ " ${PARTS[*]} " == *" $1 "* ]] || usage
	PARTS=("$1")
fi
if [[ $(id -u) -ne 0 ]]; then
	echo 'make bench: not root; run it as root, it loads programs into the kernel' >&2
	exit 1
fi

rows=build/bench/rows.tsv
echo "$COLUMNS" > "$rows"
failed=
for part in "${PARTS[@]}"; do
	echo "bench: $part" >&2
	"bench/parts/$part.sh" >> "$rows" || failed="$failed $part"
done
machine
aligned "$rows"
if [[ -n $failed ]]; then
	echo "bench: could not measure:$failed" >&2
	exit 1
fi
if [[ -n $write ]]; then
	write_table "$rows"
fi
