#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make fuzz-corpora: minimise.sh BUILD chooses, of what `make fuzz` has found and of the corpora in the tree, a small set
# of inputs that reaches the same code, and writes it to tests/fuzz/corpus/TARGET.base64, an input a line. Inputs that
# people wrote are the files of tests/fuzz/corpus/TARGET/, and stay. Long inputs are left out, and the targets of
# NOT_KEPT, whose seeds are made from real programs when they run.
set -euo pipefail
build=$1
tests=$(dirname "${BASH_SOURCE[0]}")
BYTES_MOST=512    # of one input
TOTAL_MOST=200000 # of the corpora as they are in the tree
NOT_KEPT='elf_symbols go_functions hotspot unwind_table'

for target in "$build"/fuzz_*; do
	name=${target##*/fuzz_}
	[[ " $NOT_KEPT " != *" $name "* ]] || continue
	corpora=()
	for directory in "$build/seeds/$name" "$build/corpus/$name" "$tests/corpus/$name"; do
		[ ! -d "$directory" ] || corpora+=("$directory")
	done
	rm -rf "$build/minimised"
	mkdir "$build/minimised"
	"$target" -set_cover_merge=1 "-max_len=$BYTES_MOST" "$build/minimised" "${corpora[@]}" > "$build/log/$name.minimise" 2>&1 || {
		tail -n 20 "$build/log/$name.minimise"
		exit 1
	}
	find "$build/minimised" -type f -size "-${BYTES_MOST}c" -exec base64 -w 0 {} \; -exec echo \; | LC_ALL=C sort > "$tests/corpus/$name.base64"
	printf 'corpus: %-16s %4d inputs\n' "$name" "$(wc -l < "$tests/corpus/$name.base64")"
done
total=$(find "$tests/corpus" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }')
echo "corpora: $total bytes"
[ "$total" -le "$TOTAL_MOST" ] || {
	echo "corpora: more than $TOTAL_MOST bytes; lower BYTES_MOST" >&2
	exit 1
}
