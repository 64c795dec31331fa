# SPDX-License-Identifier: GPL-2.0-only
#
# man(7) of text, for the scripts beside this one. A request is a line that begins with a dot.

# What troff would read as its own becomes text. A minus sign, unlike a hyphen, can be copied into a shell.
function escape(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}

# The same of Markdown: code and what is strong are bold, a link is its text and the document that it leads to.
function escape_markdown(text,    part, count, i, out, document) {
	while (match(text, /\[[^]]+\]\([^)]+\)/)) {
		out = document = substr(text, RSTART + 1, RLENGTH - 2)
		sub(/\]\(.*/, "", out)
		sub(/.*\]\(/, "", document)
		sub(/#.*/, "", document)
		if (document != "" && document != out) out = out " (" document ")"
		text = substr(text, 1, RSTART - 1) out substr(text, RSTART + RLENGTH)
	}
	count = split(text, part, /`|\*\*/)
	out = escape(part[1])
	for (i = 2; i <= count; i++) out = out (i % 2 ? "\\fP" : "\\fB") escape(part[i])
	return out
}

# Prints text that is escaped, in lines of at most 75 bytes: some characters are several to troff.
function fill(text,    at) {
	while (text != "") {
		at = length(text) + 1
		if (at > 76) {
			for (at = 76; at > 1 && substr(text, at, 1) != " "; at--);
			if (at <= 1 && !(at = index(text, " "))) at = length(text) + 1
		}
		# a line that begins with one of these would be a request
		print (text ~ /^[.']/ ? "\\&" : "") substr(text, 1, at - 1)
		text = substr(text, at + 1)
	}
}

function section(title) {
	print ".SH \"" escape(title) "\""
	is_begin = 1
}

function subsection(title) {
	print ".SS \"" escape(title) "\""
	is_begin = 1
}

# A title begins a paragraph itself.
function paragraph_begin() {
	if (!is_begin) print ".PP"
	is_begin = 0
}

# An entry of a list of terms; `term` is escaped, as is what is filled behind it.
function entry(term) {
	print ".TP\n" term
	is_begin = 0
}

function literal_begin() {
	paragraph_begin()
	print ".in +4n\n.nf"
}

function literal(line) {
	line = escape(line)
	print (line ~ /^[.']/ ? "\\&" : "") line
}

function literal_end() {
	print ".fi\n.in"
}
