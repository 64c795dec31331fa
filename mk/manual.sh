#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# manual.sh BUILD: makes the manual pages, in BUILD/man, of what a program prints for --help, and of those parts of the documents
# that mk/manual.txt lists, so that nothing is written twice. CHANGELOG.md has their date.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 man=$1/man.new
# "## 0.9.0, 2026-11-30"
read -r _ version date < <(grep -m 1 '^## ' CHANGELOG.md)
rm -rf "$man"
mkdir -p "$man"

# write_page NAME SECTION TITLE < SECTIONS: puts what it is before them, and the pages beside it behind them
write_page() {
	local name=$1 section=$2 title=$3
	{
		printf '.TH "%s" %s "%s" "bourdon %s"\n.SH NAME\n' "${name^^}" "$section" "$date" "${version%,}"
		printf '%s \\- %s\n' "$name" "$title" | fold -s -w 76 | sed 's/ $//'
		cat
		printf '.SH "SEE ALSO"\n'
		see_also "$name"
	} | sed '/^$/d' > "$man/$name.$section"
}

# of_help [OPTIONS] < HELP
of_help() {
	awk -v OPTIONS="${1-}" -f mk/roff.awk -f mk/help_to_man.awk
}

# of_document DOCUMENT SECTIONS TITLE
of_document() {
	awk -v SECTIONS="$2" -v TITLE="$3" -f mk/roff.awk -f mk/document_to_man.awk "docs/$1"
}

# see_also NAME: the other pages, but for those of subcommands, which bourdon(1) lists
see_also() {
	local name section others=()
	while IFS='|' read -r name section _; do
		[[ $name = "$1" ]] || others+=(".BR $name ($section)")
	done < <(grep -v '^#' mk/manual.txt)
	printf '%s ,\n' "${others[@]}" | sed '$s/ ,$//'
}

# subcommands: prints "NAME|WHAT IT DOES" for each, which are columns of the help
subcommands() {
	"$build/bourdon" --help | awk '/^  [a-z]/ && $1 != "db" { print $1 "|" substr($0, 18) }'
	"$build/bourdon" db --help | awk '/^  db / { print $1 " " $2 "|" substr($0, 26) }'
	echo 'help|explain a subcommand'
}

subcommands | while IFS='|' read -r subcommand title; do
	# shellcheck disable=SC2086 # two words
	"$build/bourdon" help $subcommand | of_help | write_page "bourdon-${subcommand/ /-}" 1 "$title"
done
while IFS='|' read -r name section title document sections; do
	case $section in
	8) "$build/$name" --help | of_help <(of_document "$document" "$sections" OPTIONS) ;;
	1) "$build/$name" --help | of_help; of_document "$document" "$sections" '' ;;
	*) of_document "$document" "$sections" DESCRIPTION ;;
	esac | write_page "$name" "$section" "$title"
done < <(grep -v '^#' mk/manual.txt)
rm -rf "$build/man"
mv "$man" "$build/man"
