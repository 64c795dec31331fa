#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# messages.sh: prints every message of all programs as "FILE:LINE TEXT", so that people can review them in one
# go: log lines, findings of --check and doctor, help texts, reports and status. A string in the sources is a
# message if it is an argument of a function that writes text, if it has two words in a row, or if it is a
# heading of a report. Macros beside it appear as <NAME>. SQL is left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# shellcheck disable=SC2016  # the dollars are awk's
find common consumer loader report policy -name '*.[ch]' -print0 | sort -z | xargs -0 awk '
BEGIN {
	writes = "^(log_(error|failed|warning|info)|findings_(ok|add)|config_error|printf|fprintf|vfprintf|fputs|puts|perror)$"
	never = "^(_Static_assert|static_assert|format|section|str(n|case|ncase)?cmp|strstr|strchr|sscanf|getenv)$"
	sql = "^(SELECT|INSERT|UPDATE|DELETE|PRAGMA|BEGIN|COMMIT|ROLLBACK|CREATE|DROP|WITH|FROM|WHERE|ORDER|GROUP|JOIN|LEFT|UNION|LIMIT|AND|ATTACH|VACUUM)( |$)"
}

function is_message(words) {
	if (caller ~ never || text ~ sql)
		return 0
	words = text
	gsub(/%[-+ #0*.0-9]*(hh|h|ll|l|j|z|t)?[a-zA-Z%]/, " ", words)
	gsub(/\\[a-z]/, " ", words)
	gsub(/<[A-Za-z0-9_]+>/, " ", words)
	if (words !~ /[A-Za-z]/)
		return 0
	if (caller ~ writes || words ~ /[A-Za-z0-9]['"'"',.:;)]* +[(]?[A-Za-z]/)
		return 1
	return FILENAME ~ /^report\// && words ~ /^[A-Z][A-Z -]+$/
}

# Ends the current string.
function finish() {
	if (text != "" && is_message())
		print FILENAME ":" place "  " text
	text = ""
}

FNR == 1 {
	finish()
	depth = comment = 0
	before = ""
}

/^#[ \t]*(include|if|elif|else|endif|error|undef)/ {
	next
}

{
	rest = $0
	sub(/^#[ \t]*define[ \t]+[A-Za-z0-9_]+/, "", rest)
	while (rest != "") {
		if (comment) {
			end = index(rest, "*/")
			rest = end ? substr(rest, end + 2) : ""
			comment = !end
			continue
		}
		if (match(rest, /^[ \t\\]+/)) {
			rest = substr(rest, RLENGTH + 1)
		} else if (rest ~ /^\/\*/) {
			comment = 1
			rest = substr(rest, 3)
		} else if (rest ~ /^\/\//) {
			rest = ""
		} else if (match(rest, /^"([^"\\]|\\.)*"/)) {
			if (text == "") {
				place = FNR
				caller = call[depth]
				text = before
			}
			text = text substr(rest, 2, RLENGTH - 2)
			before = ""
			rest = substr(rest, RLENGTH + 1)
		} else if (match(rest, /^[A-Za-z_][A-Za-z0-9_]*/)) {
			name = substr(rest, 1, RLENGTH)
			rest = substr(rest, RLENGTH + 1)
			macro = name ~ /^([A-Z][A-Z0-9_]+|PRI[a-z0-9]+)$/ ? "<" name ">" : ""
			if (text != "" && macro != "")
				text = text macro
			else
				finish()
			before = text == "" ? macro : ""
		} else if (match(rest, /^'"'"'([^'"'"'\\]|\\.)*'"'"'/)) {
			finish()
			before = ""
			rest = substr(rest, RLENGTH + 1)
		} else {
			finish()
			before = ""
			sign = substr(rest, 1, 1)
			rest = substr(rest, 2)
			if (sign == "(")
				call[++depth] = name
			else if (sign == ")" && depth)
				depth--
			name = sign == "(" ? "" : name
		}
	}
}

END {
	finish()
}
'
