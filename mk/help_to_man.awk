# SPDX-License-Identifier: GPL-2.0-only
#
# Turns what a program's --help prints into sections of its manual page. What the file OPTIONS has,
# which is such a section already, replaces the options. Needs roff.awk.

# "--name ARGUMENT  what it does", or "name OPERANDS  what it does"
function item(line,    name, words) {
	sub(/^  /, "", line)
	match(line, line ~ /^-/ ? "^-[^ ]+( [^ ]+)?  +" : "^[a-z]+( [a-z]+)? +(\\[ID\\] |[A-Z.]+( [][A-Z.]+)* +)?")
	words = substr(line, 1, RLENGTH)
	line = substr(line, RLENGTH + 1)
	gsub(/ +/, " ", words)
	sub(/ $/, "", words)
	name = words
	sub(/ .*/, "", name)
	entry("\\fB" escape(name) "\\fP" escape(substr(words, length(name) + 1)))
	fill(escape(line))
}

NR == 1 {
	sub(/^Usage: /, "")
	section("SYNOPSIS")
	fill("\\fB" escape($1) "\\fP" escape(substr($0, length($1) + 1)))
	section("DESCRIPTION")
	next
}
/^Example: / {
	sub(/^Example: /, "")
	sub(/  +\(.*/, "")
	section("EXAMPLE")
	literal_begin()
	literal($0)
	literal_end()
	next
}
/^  -/ && !options++ {
	if (!OPTIONS) section("OPTIONS")
	while (OPTIONS && (getline line < OPTIONS) > 0) print line
}
/^  -/ && OPTIONS { next }
/^  / { item($0); next }
/./ {
	paragraph_begin()
	is_begin = 1
	fill(escape($0))
}
