# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the sections of a document that SECTIONS names, parted by ";" (empty: all), as those of a manual page. The only one, or
# the document's own, is called TITLE there. A table becomes a list, as no table of whole sentences fits into a terminal. Needs
# roff.awk.

function row(line,    i, text, keyed) {
	gsub(/\\\|/, "\001", line)
	sub(/^\| */, "", line)
	sub(/ *\|$/, "", line)
	columns = split(line, cell, / *\| */)
	for (i = 1; i <= columns; i++) gsub("\001", "|", cell[i])
	if (!in_table) {
		for (i = 1; i <= columns; i++) head[i] = cell[i]
		in_table = 1
		return
	}
	text = cell[columns]
	# a key of an INI file has the name of its section
	keyed = head[1] == "section" && head[2] == "key"
	if (keyed) cell[1] = "[" cell[1] "] " cell[2]
	for (i = 2 + keyed; i < columns; i++)
		if (cell[i] != "")
			text = text (text == "" || text ~ /[.:]$/ ? "" : ".") " " toupper(substr(head[i], 1, 1)) substr(head[i], 2) ": " cell[i]
	sub(/^ /, "", text)
	entry(escape_markdown(cell[1] == "" ? "(none)" : cell[1]))
	fill(escape_markdown(text))
}

# What has been read of a paragraph, or of an item of a list, becomes lines.
function flush() {
	if (paragraph == "") return
	if (tag == "") paragraph_begin()
	else print ".IP \"" tag "\" 4"
	is_begin = 0
	fill(escape_markdown(paragraph))
	paragraph = tag = ""
}

function heading(level, title) {
	flush()
	gsub(/`/, "", title)
	if (level > top) subsection(title)
	else section(toupper(title))
}

BEGIN {
	count = split(SECTIONS, wanted, ";")
	for (i = 1; i <= count; i++) is_wanted[wanted[i]] = 1
}
/^```/ {
	flush()
	is_fenced = !is_fenced
	is_drawn = is_fenced ? /mermaid/ : is_drawn
	if (shown && !is_drawn) { if (is_fenced) literal_begin(); else literal_end() }
	if (!is_fenced) is_drawn = 0
	next
}
is_fenced { if (shown && !is_drawn) literal($0); next }
/^# / {
	shown = !count
	top = count ? 0 : 2
	if (shown) heading(1, TITLE)
	next
}
/^##+ / {
	flush()
	level = index($0, " ") - 1
	title = substr($0, level + 2)
	if (title in is_wanted) { shown = 1; top = level }
	else if (count && level <= top) shown = 0
	in_table = 0
	# the page's own title says what its only section is about
	if (shown) heading(level, count == 1 && level == top ? TITLE : title)
	next
}
!shown { next }
/^    / && paragraph == "" && !in_table {
	if (!is_literal) literal_begin()
	is_literal = 1
	literal(substr($0, 5))
	next
}
is_literal { literal_end(); is_literal = 0 }
/^\|[-|: ]+\|$/ { next }
/^\|/ { flush(); row($0); next }
/^$/ { flush(); in_table = 0; next }
/^(- |[0-9]+\. )/ {
	flush()
	tag = /^-/ ? "\\(bu" : $1
	sub(/^[^ ]+ +/, "")
}
{ sub(/^ +/, ""); paragraph = paragraph (paragraph == "" ? "" : " ") $0 }
END { flush(); if (is_literal) literal_end() }
