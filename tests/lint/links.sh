#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# links.sh [DIRECTORY]: checks that each relative link in README.md, docs/*.md and bench/README.md leads to a file, and
# each anchor to a heading. DIRECTORY is this tree, or an installed DOCDIR, which has no bench/.
set -euo pipefail
cd "${1-$(dirname "${BASH_SOURCE[0]}")/../..}"
mistakes=0

# anchors FILE: prints the anchor of each heading, as GitHub forms it; text in code fences is not a heading.
anchors() {
	awk '/^ *```/ { fenced = !fenced } !fenced && sub(/^#+ +/, "")' "$1" |
		sed 's/\[\([^]]*\)\]([^)]*)/\1/g' | tr '[:upper:]' '[:lower:]' | sed 's/[^[:alnum:] _-]//g; s/ /-/g'
}

# links FILE: prints "LINE TARGET" for each link outside of code
links() {
	awk '/^ *```/ { fenced = !fenced } !fenced { gsub(/`[^`]*`/, "code")
		while (match($0, /\]\([^)]+\)/)) {
			print NR, substr($0, RSTART + 2, RLENGTH - 3)
			$0 = substr($0, RSTART + RLENGTH)
		} }' "$1"
}

for file in README.md docs/*.md bench/README.md; do
	[ -e "$file" ] || continue
	while read -r line target; do
		[[ $target != *://* ]] || continue
		path=${target%%#*}
		path=${path:+$(dirname "$file")/$path}
		path=${path:-$file}
		if [ ! -e "$path" ]; then
			echo "$file:$line: '$target': there is no $path" >&2
			mistakes=$((mistakes + 1))
		elif [[ $target == *#* ]] && ! anchors "$path" | grep -qxF -- "${target#*#}"; then
			echo "$file:$line: '$target': $path has no such heading" >&2
			mistakes=$((mistakes + 1))
		fi
	done < <(links "$file")
done
[ "$mistakes" -eq 0 ]
