#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# links.sh [DIRECTORY]: checks what README.md, SECURITY.md, docs/*.md and bench/README.md name: each relative link leads to a file, and
# each anchor to a heading. In the source tree also that each path of a file exists (such as common/abi/abi.h; NAME and * stand
# for any text), each test (e2e/NAME, vm/NAME, fuzz/NAME, unit/SUITE; in quotes behind it, a part of the title of one of
# its cases), each make target, and each option in a table; and that each row of a table below "## Attackers" names a test.
# DIRECTORY is this tree, or an installed DOCDIR, which has no sources.
set -euo pipefail
cd "${1-$(dirname "${BASH_SOURCE[0]}")/../..}"
mistakes=0 checked_links=0 checked_names=0

# mistake FILE:LINE TEXT
mistake() {
	printf '%s: %s\n' "$1" "$2" >&2
	mistakes=$((mistakes + 1))
}

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

# check_links FILE
check_links() {
	local line target path
	while read -r line target; do
		[[ $target != *://* ]] || continue
		checked_links=$((checked_links + 1))
		path=${target%%#*}
		path=${path:+$(dirname "$1")/$path}
		path=${path:-$1}
		if [ ! -e "$path" ]; then
			mistake "$1:$line" "'$target': there is no $path"
		elif [[ $target == *#* ]] && ! anchors "$path" | grep -qxF -- "${target#*#}"; then
			mistake "$1:$line" "'$target': $path has no such heading"
		fi
	done < <(links "$1")
}

# names FILE: "LINE KIND NAME" of each path, test, target and option in it. A path begins with a folder of the tree.
names() {
	# shellcheck disable=SC2016  # the dollars are awk's
	awk -v folders="$(printf '%s ' */)" '
	BEGIN {
		count = split(folders, list, "/ *")
		for (i = 1; i <= count; i++)
			is_folder[list[i]] = list[i] != "" && list[i] != "build"
	}
	{
		text = $0
		while (match(text, /[A-Za-z0-9_.@*-]*(\/[A-Za-z0-9_.@*-]+)+\/?/)) {
			path = substr(text, RSTART, RLENGTH)
			before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
			text = substr(text, RSTART + RLENGTH)
			sub(/[.]$/, "", path)
			split(path, part, "/")
			if (before ~ /[\/~$}<:]/)
				continue
			if (is_folder[part[1]])
				print NR, "path", path
			else if (part[1] ~ /^(e2e|vm|fuzz|unit)$/ && part[2] ~ /^[a-z]/) {
				print NR, "test", path
				if (match(text, /^ "[^"]+"/))
					print NR, "title", path, substr(text, 3, RLENGTH - 3)
			}
		}
		if (/^#+ /)
			is_promises = /^## Attackers/
		if (is_promises && /^\|/ && !/^\|[-|]+$/ && !/\| shown by \|$/) {
			text = $0
			sub(/ *\|$/, "", text)
			sub(/.*\|/, "", text)
			if (text !~ /(e2e|vm|fuzz|unit)\/[a-z]/)
				print NR, "promise", text
		}
		text = $0
		while (match(text, /(`|^    |&& )make( [A-Z_]+=[^ `]*)*( [a-z][a-z-]*)+/)) {
			count = split(substr(text, RSTART, RLENGTH), word, " ")
			text = substr(text, RSTART + RLENGTH)
			for (i = 2; i <= count; i++)
				if (word[i] ~ /^[a-z][a-z-]*$/ && word[i] != "make")
					print NR, "target", word[i]
		}
		if (/^\| *`--/) {
			text = substr($0, 2)
			sub(/\|.*/, "", text)
			while (match(text, /--[a-z-]+/)) {
				print NR, "option", substr(text, RSTART + 2, RLENGTH - 2)
				text = substr(text, RSTART + RLENGTH)
			}
		}
	}' "$1"
}

# exists KIND NAME
exists() {
	local words
	case $1 in
	path) [ -e "$2" ] || compgen -G "${2//NAME/*}" > /dev/null ;;
	test)
		case $2 in
		*/NAME) true ;;
		e2e/* | vm/*) [ -e "tests/$2.bats" ] ;;
		fuzz/*) [ -e "tests/fuzz/fuzz_${2#*/}.c" ] ;;
		unit/*) grep -qsE "suite_create\\(.*\"${2#*/}[\" ]" "tests/unit/test_${2#*/}.c" ;;
		esac
		;;
	title)
		case $2 in
		e2e/* | vm/*) grep -qsF -- "${2#* }" <(sed -n 's/^@test "\(.*\)" {$/\1/p' "tests/${2%% *}.bats") ;;
		unit/*) words=${2#* } && grep -qs "^START_TEST(.*${words// /_}" "tests/unit/test_$(basename "${2%% *}").c" ;;
		esac
		;;
	promise) false ;;
	target) grep -qE "^(\.PHONY:.* )?$2( |:|\$)|^\.PHONY:.* $2( |\$)" Makefile mk/*.mk ;;
	option) grep -qsF "\"$2\"" loader/*.c loader/grant/*.c consumer/*.c consumer/rules/*.c report/*.c report/*/*.c ;;
	esac
}

# check_names FILE
check_names() {
	local line kind name
	while read -r line kind name; do
		checked_names=$((checked_names + 1))
		if [[ ! -v known["$kind $name"] ]]; then
			known["$kind $name"]=yes
			exists "$kind" "$name" || known["$kind $name"]=no
		fi
		if [ "$kind" = promise ]; then
			mistake "$1:$line" "this promise names no test: $name"
		elif [ "${known["$kind $name"]}" = no ]; then
			mistake "$1:$line" "there is no $kind $name"
		fi
	done < <(names "$1")
}

declare -A known=()
documents=0
for file in README.md SECURITY.md docs/*.md bench/README.md; do
	[ -e "$file" ] || continue
	documents=$((documents + 1))
	check_links "$file"
	[ ! -e Makefile ] || check_names "$file"
done
[ "$mistakes" -eq 0 ] || exit 1
echo "links: $documents documents, $checked_links links and $checked_names names of files, tests, titles, targets and options: all exist"
