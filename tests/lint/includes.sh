#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# includes.sh [DIRECTORY]: checks the includes between the rooms (folders) of the tree in DIRECTORY:
#   1. a room includes only the rooms, and single headers, that the table below allows it;
#   2. no module (NAME.c with NAME.h) includes itself by way of others;
#   3. the draining thread's rooms include no header and call no function that can block;
#   4. one header of each room says in its first comment what the room is, who calls it, and what it may touch.
# Prints each mistake as one line, FILE:LINE: MESSAGE, and then exits with status 1. Without a mistake it prints one line of
# counts.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

# What most rooms may include: code without state, the readers of /proc and /sys, and what the programs say to each other.
SHARED='common/abi common/base common/text common/system common/kernel common/policy common/protocol'
# The rooms, lowest first, each with the rooms and headers that it may include besides its own; @shared is SHARED. A room may
# name only the rooms listed before it, so that rooms cannot form a circle.
ROOMS='
common/abi
common/base
common/text          common/base
common/system        common/base common/text
policy               common/base common/system
common/confine       common/base common/system
common/kernel        common/abi common/base common/system common/confine
common/policy        common/abi common/base common/system
common/protocol      common/abi common/base common/text common/system common/kernel common/policy
common/sql           common/base common/text
common/symbolizer    common/abi common/base common/system common/confine common/protocol
common/verdict       common/abi common/base common/text common/kernel
common/store         common/base common/text common/sql common/verdict
bpf                  common/abi common/kernel/kernel_functions.h common/policy/policy_denial.h
loader/grant         @shared common/confine
loader               @shared common/confine
consumer/process     @shared common/confine
consumer/rules       @shared consumer/process
consumer/host        @shared consumer/process consumer/rules
consumer/watch       @shared consumer/process consumer/rules
consumer/capture     @shared common/verdict/disk.h common/verdict/roles.h consumer/process consumer/rules consumer/host
consumer/kept        @shared common/sql consumer/process
consumer/symbols     @shared common/symbolizer consumer/process consumer/rules consumer/host consumer/watch consumer/capture consumer/kept
consumer/unwind      @shared common/symbolizer consumer/process consumer/rules consumer/kept consumer/symbols
consumer/store       @shared common/sql common/store common/verdict consumer/process consumer/rules consumer/host consumer/capture consumer/symbols
consumer/worker      @shared common/symbolizer common/store consumer/process consumer/rules consumer/host consumer/capture consumer/kept consumer/symbols consumer/unwind consumer/store
consumer             @shared common/confine common/symbolizer common/sql common/store consumer/process consumer/rules consumer/host consumer/watch consumer/capture consumer/symbols consumer/unwind consumer/worker
report/model         @shared common/sql common/store common/verdict
report/text          @shared report/model
report/context       @shared report/model report/text
report/daemon        @shared report/model report/text report/context
report/live          @shared common/store report/model report/text report/context report/daemon
report/latency       @shared report/model report/text report/context report/daemon report/live
report/answer        @shared common/verdict report/model report/text report/context report/live
report/why           @shared common/verdict report/model report/text report/context report/latency report/answer
report/diff          @shared report/model report/text report/context report/answer
report/picture       @shared report/model report/text report/context report/latency report/answer report/why
report/export        @shared report/model report/text report/context
report/files         @shared common/symbolizer common/sql common/store common/verdict report/model report/text report/context
report/health        @shared common/store report/model report/text report/context report/daemon report/answer
report               @shared common/sql report/context
'
# `loader` does not name loader/grant: no code of the helper is linked into bourdon-load.

# The draining thread never waits: not for a disk, not for another process, not for a lock that is held long.
DRAINING="$SHARED common/confine consumer/process consumer/rules consumer/host consumer/watch consumer/capture"
BLOCKING_HEADERS='^(sqlite3|libelf|gelf|dwarf|lzma|zlib|bzlib)\.h$|^elfutils/'
BLOCKING_CALLS='fsync|fdatasync|syncfs|sync|sleep|usleep|nanosleep|clock_nanosleep|pause|wait|waitpid|waitid|system|popen'
BLOCKING_CALLS+='|scandir|opendir|fdopendir|nftw|fts_open|pthread_join|pthread_cond_wait|sem_wait'
# functions of this project that read files or wait for an answer
BLOCKING_CALLS+='|ini_read_file|settings_read|rules_read_directory|configuration_read|pass_fd_wait|cgroup_walk'

# FILE FUNCTION: calls that are allowed, each with its reason.
ALLOWED_CALLS='
consumer/watch/closer.c pthread_cond_wait              the closer is a thread of its own
consumer/watch/closer.c pthread_join                   it is joined when the daemon ends
consumer/rules/settings.c ini_read_file                in settings_read()
consumer/rules/rules.c scandir                         in rules_read_directory()
consumer/rules/rules.c ini_read_file                   in rules_read_directory()
consumer/rules/configuration.c settings_read           in configuration_read(), which main() and the worker thread call
consumer/rules/configuration.c rules_read_directory    in configuration_read()
'

# shellcheck disable=SC2016  # the dollars are awk's
find bpf common consumer loader policy report -name '*.[ch]' -print0 | sort -z |
	xargs -0 awk -v rooms="${ROOMS//@shared/$SHARED}" -v draining="$DRAINING" -v headers="$BLOCKING_HEADERS" \
		-v calls="$BLOCKING_CALLS" -v allowed_calls="$ALLOWED_CALLS" '
function mistake(where, text) {
	print where ": " text
	mistakes++
}

function room_of(path) {
	sub("/[^/]*$", "", path)
	return path
}

function module_of(path) {
	sub("\\.[ch]$", "", path)
	return path
}

function read_table(  lines, words, count, i, j) {
	count = split(rooms, lines, "\n")
	for (i = 1; i <= count; i++) {
		split("", words)
		if (!split(lines[i], words, " "))
			continue
		for (j = 2; j in words; j++) {
			if (words[j] !~ /\.h$/ && !(words[j] in is_room))
				mistake("tests/lint/includes.sh", "the table lets " words[1] " include " words[j] \
					", which is not above it")
			may[words[1], words[j]] = 1
		}
		is_room[words[1]] = 1
		order[++rooms_count] = words[1]
	}
	count = split(draining, words, " ")
	for (i = 1; i <= count; i++)
		is_draining[words[i]] = 1
	count = split(allowed_calls, lines, "\n")
	for (i = 1; i <= count; i++)
		if (split(lines[i], words, " "))
			is_allowed[words[1], words[2]] = 1
}

# Depth first; `trail` holds the modules on the path to the current one.
function find_circle(module, trail,  count, next_ones, i) {
	state[module] = "open"
	count = split(includes[module], next_ones, " ")
	for (i = 1; i <= count; i++) {
		if (state[next_ones[i]] == "open")
			mistake(place[module, next_ones[i]], "circle: " \
				substr(trail, index(trail " ", next_ones[i] " ")) " " next_ones[i])
		else if (state[next_ones[i]] == "")
			find_circle(next_ones[i], trail " " next_ones[i])
	}
	state[module] = "done"
}

BEGIN {
	read_table()
}

FNR == 1 {
	room = room_of(FILENAME)
	if (!(room in is_room))
		mistake(FILENAME ":1", room " is not in the table of rooms in tests/lint/includes.sh")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	other = room_of(part[2])
	if (other != room && !((room, other) in may) && !((room, part[2]) in may) && !is_generated(part[2]))
		mistake(FILENAME ":" FNR, room " must not include " part[2])
	if (other != room && other in is_room && !((room, other) in arrow)) {
		arrow[room, other] = 1
		arrows++
	}
	from = module_of(FILENAME)
	to = module_of(part[2])
	if (from != to && !((from, to) in place)) {
		place[from, to] = FILENAME ":" FNR
		includes[from] = includes[from] " " to
	}
}

# written by compile_seccomp
function is_generated(path) {
	return path ~ /^policy\/[^\/]*\.h$/
}

/^[ \t]*#[ \t]*include[ \t]*</ && room in is_draining {
	split($0, part, "[<>]")
	if (part[2] ~ headers)
		mistake(FILENAME ":" FNR, "<" part[2] "> can block, and the draining thread must not: " room)
}

FNR == 1 && FILENAME ~ /\.h$/ {
	has_headers[room] = 1
}

FILENAME ~ /\.h$/ && / Room: / {
	has_text[room]++
	if (has_text[room] > 1)
		mistake(FILENAME ":" FNR, "another header says what the room " room " is")
}

# A line without indentation is a definition or a prototype, not a call.
room in is_draining && room !~ /^common\// && /^[ \t].*\(/ {
	text = $0
	if (text ~ /^[ \t]*(\/\*|\*|\/\/)/)
		text = ""
	gsub(/"([^"\\]|\\.)*"/, "", text)
	sub(/\/\*.*/, "", text)
	while (match(text, "(^|[^A-Za-z0-9_>.])(" calls ")\\(")) {
		name = substr(text, RSTART, RLENGTH - 1)
		gsub(/[^A-Za-z0-9_]/, "", name)
		text = substr(text, RSTART + RLENGTH)
		used[FILENAME, name] = 1
		if (!((FILENAME, name) in is_allowed))
			mistake(FILENAME ":" FNR, name "() can block, and the draining thread must not: " room)
	}
}

END {
	for (call in is_allowed) {
		split(call, part, SUBSEP)
		if (!(call in used))
			mistake("tests/lint/includes.sh", "allows " part[2] "() in " part[1] ", which does not call it")
	}
	for (room in is_room)
		if (has_headers[room] && !has_text[room])
			mistake(room, "no header says in its first comment what this room is (Room: )")
	for (module in includes)
		start[++starts] = module
	for (i = 1; i <= starts; i++)
		if (state[start[i]] == "")
			find_circle(start[i], start[i])
	if (mistakes)
		exit 1
	for (i = 1; i <= rooms_count; i++) {
		floor[order[i]] = 1
		for (j = 1; j < i; j++)
			if ((order[i], order[j]) in arrow && floor[order[j]] >= floor[order[i]])
				floor[order[i]] = floor[order[j]] + 1
		floors = floor[order[i]] > floors ? floor[order[i]] : floors
	}
	printf "includes: %d files in %d rooms, %d arrows, %d floors: no circle, nothing upward, nothing that blocks on the draining thread\n", \
		ARGC - 1, rooms_count, arrows, floors
}
' || exit 1
