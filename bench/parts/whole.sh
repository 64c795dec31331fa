#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how many stacks of a whole busy host are whole and named: a build, PostgreSQL under pgbench, PHP, Java, node, Python,
# Perl and git gc at once. In the same seconds perf copies 32 KiB of each stack and unwinds it later: a function that bourdon
# shows in a program's stacks, and perf never does, is printed. gdb is asked for the name at each address that bourdon named.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
source "$TREE/tests/e2e/stock.bash"
source "$TREE/bench/programs.bash"

WHOLE_HZ=${BENCH_HZ:-97}
WHOLE_SECONDS=$((4 * ROUND_SECONDS))
LEAST_WHOLE=98
LEAST_NAMED=99.5
# a function of fewer of a program's samples may be in no sample of perf's by chance
LEAST_SHARE=0.05 LEAST_SAMPLES=200

# loops COMMAND...: runs it again and again, in our cgroup, until the part ends.
loops() {
	(
		echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
		while "$@" > /dev/null 2>> "$WORK/loops.log"; do :; done
	) 3>&- &
	CHILDREN+=($!)
}

# programs NAME...: those of bench/programs.bash.
programs() {
	local name
	for name in "$@"; do
		command_of "$name"
		(
			echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
			exec "${COMMAND[@]}"
		) > /dev/null 2> "$WORK/$name.log" 3>&- &
		CHILDREN+=($!)
	done
}

# A build as most are: make, a shell for each file, and two compilers.
# shellcheck disable=SC2016 # make expands it
build() {
	cp -r "$TREE/common" "$WORK/common"
	printf '%s\n' 'objects := $(patsubst %.c,%.o,$(wildcard common/*/*.c))' 'all: $(objects)' \
		'%.o: %.c; @echo $< | sed s/common// && $(if $(findstring s,$*),clang,gcc) -std=gnu11 -O2 -g -I. -c $< -o $@' > "$WORK/Makefile"
	loops make -s -k -j2 -B -C "$WORK" all
}

repository() {
	local file
	git init -q "$WORK/repository"
	for file in "$TREE"/consumer/*.c "$TREE"/report/*/*.c; do
		cp "$file" "$WORK/repository"
		git -C "$WORK/repository" add .
		git -C "$WORK/repository" -c user.name=bench -c user.email=bench@localhost commit -qm "$file"
	done
	loops git -C "$WORK/repository" gc -q --aggressive --force
}

# The daemon has seen the programs for a while, as on a host that is always busy.
begin() {
	write_java
	build
	repository
	stock_postgres
	stock_perl
	stock_php
	stock_python3
	programs java node
	sleep "$WHOLE_SECONDS"
}

SAMPLES="user AS (
	SELECT s.kind, s.samples, s.thread, st.stack_id, NOT st.truncated AND st.ended IS 'root' AS whole
	FROM sample s JOIN stack st USING(stack_id) WHERE s.capture_id = (SELECT max(capture_id) FROM capture) AND st.ended IS NOT NULL)"

# whole_row OF CONDITION
whole_row() {
	local all whole
	IFS='|' read -r all whole < <(sql "WITH $SAMPLES SELECT sum(samples), sum(samples) FILTER (WHERE whole) FROM user WHERE $2")
	row_at_least "stacks $1 that are whole" "$(calc "100 * $whole / $all" | xargs printf '%.1f') % of $all" "$(calc "100 * $whole / $all")" "$LEAST_WHOLE" %
}

# Frames as often as they are in samples. A file's frame without a name has its reason: no symbol of the file is there.
named_row() {
	local all named file memory
	IFS='|' read -r all named file memory < <(sql "WITH $SAMPLES
		SELECT sum(samples), sum(samples) FILTER (WHERE f.function_offset IS NOT NULL),
			sum(samples) FILTER (WHERE f.function_offset IS NULL AND m.kind = 'file'),
			sum(samples) FILTER (WHERE f.function_offset IS NULL AND m.path = '[anonymous]')
		FROM user JOIN stack_frame USING(stack_id) JOIN frame f USING(frame_id) JOIN module m USING(module_id)
		WHERE m.kind NOT IN ('kernel', 'module')")
	row_at_least 'frames that are named, in files without a symbol there, or in memory of no file' \
		"$(calc "100 * ($named + ${file:-0} + ${memory:-0}) / $all" | xargs printf '%.2f') % of $all" \
		"$(calc "100 * ($named + ${file:-0} + ${memory:-0}) / $all")" "$LEAST_NAMED" %
	row 'of these, named' "$(calc "100 * $named / $all" | xargs printf '%.1f') %"
}

# shortfalls: tells where the stacks that are not whole end
shortfalls() {
	sql "WITH $SAMPLES SELECT u.thread, st.ended, m.path, sum(samples) AS samples FROM user u JOIN stack st USING(stack_id)
		JOIN stack_frame sf ON sf.stack_id = st.stack_id AND sf.position = st.depth - 1 JOIN frame f USING(frame_id) JOIN module m USING(module_id)
		WHERE NOT whole GROUP BY 1, 2, 3 ORDER BY samples DESC LIMIT 15" | while read -r line; do doing "not whole: $line"; done
}

# gdb_differs: prints "path address ours offset theirs offset" of each address in a named function that gdb finds in a function that
# begins elsewhere. One address has several names in libraries, of which each may choose another: the begin decides.
gdb_differs() {
	local path
	sql "SELECT DISTINCT m.path, printf('0x%x', f.offset + m.bias), f.function, f.function_offset FROM frame f JOIN module m USING(module_id)
		WHERE m.kind = 'file' AND m.bias IS NOT NULL AND f.function_offset IS NOT NULL AND NOT f.inlined" > "$WORK/named"
	while read -r path; do
		[[ -f $path ]] || continue
		awk -F '|' -v path="$path" '$1 == path' "$WORK/named" > "$WORK/ours"
		awk -F '|' '{ print "info symbol " $2 }' "$WORK/ours" > "$WORK/questions"
		timeout 300 gdb -nx -batch -iex 'set debuginfod enabled off' -x "$WORK/questions" "$path" 2> /dev/null |
			grep -E '^No symbol matches| in section ' > "$WORK/theirs"
		paste -d '|' "$WORK/ours" "$WORK/theirs" | grep -v '|No symbol matches' || true
	done < <(cut -d '|' -f 1 "$WORK/named" | sort -u) | sed -E 's/ in section .*//; s/ \+ ([0-9]+)$/|\1/' > "$WORK/both"
	awk -F '|' '$4 != $6 + 0' "$WORK/both"
}

# What is left of a function's name, which demanglers and versions write in several ways.
# shellcheck disable=SC2016 # awk's
PLAIN='function plain(name) {
	gsub(/\(anonymous namespace\)/, "anonymous", name)
	sub(/ \[clone .*/, "", name)
	while (gsub(/<[^<>]*>/, "", name)) { }
	sub(/\(.*/, "", name)
	sub(/@.*/, "", name)
	sub(/.* /, "", name)
	sub(/\.(part|constprop|isra|cold)\..*/, "", name)
	gsub(/^_+(GI_+|libc_)?/, "", name)
	return name
}'

# perf_lacks: prints "program|function|share" of functions in so many of a program's samples, and in none of perf's, under any name
# that gdb has for them either. perf does not get through code that HotSpot and V8 have made.
perf_lacks() {
	timeout 500 perf script -i "$WORK/perf.data" --no-inline -F comm,ip,sym 2> /dev/null | awk -v OFS='|' "$PLAIN"'
		/^[^ \t]/ { comm = $0; sub(/ *$/, "", comm); all[comm]++; next }
		NF > 1 { sub(/^[ \t]*[0-9a-f]+ /, ""); seen[comm, plain($0)] = 1 }
		END { for (comm in all) print "all", comm, all[comm]; for (one in seen) { split(one, part, SUBSEP); print "seen", part[1], part[2] } }' > "$WORK/perf.seen"
	sql "WITH $SAMPLES, on_cpu AS (SELECT thread, stack_id, sum(samples) AS samples FROM user WHERE kind = 'on-cpu' AND thread NOT IN ('java', 'node') GROUP BY 1, 2),
		total AS (SELECT thread, sum(samples) AS samples FROM on_cpu GROUP BY thread HAVING sum(samples) >= $LEAST_SAMPLES),
		has AS (SELECT DISTINCT stack_id, f.function FROM stack_frame JOIN frame f USING(frame_id) JOIN module m USING(module_id)
			WHERE stack_id IN (SELECT stack_id FROM on_cpu) AND f.function_offset IS NOT NULL AND NOT f.inlined
				AND m.kind NOT IN ('kernel', 'module'))
		SELECT thread, function, 1.0 * sum(o.samples) / t.samples AS share FROM on_cpu o JOIN has USING(stack_id) JOIN total t USING(thread)
		GROUP BY 1, 2 HAVING share >= $LEAST_SHARE" > "$WORK/ours.shares"
	awk -F '|' -v least="$LEAST_SAMPLES" "$PLAIN"'
		FILENAME ~ /both$/ { alias[plain($3)] = plain($5); next }
		FILENAME ~ /seen$/ { if ($1 == "all") all[$2] = $3; else seen[$2, $3] = 1; next }
		all[$1] >= least && !(($1, plain($2)) in seen) && !(($1, alias[plain($2)]) in seen)' "$WORK/both" "$WORK/perf.seen" "$WORK/ours.shares"
}

bench_setup whole
trap 'stock_end; bourdon_teardown' EXIT
cgroup_make
load --hz "$WHOLE_HZ"
daemon_start
doing "begin the programs, and wait for $WHOLE_SECONDS s"
begin
doing "a capture of all, and perf record, for $WHOLE_SECONDS s"
perf record -q -a -e cpu-clock -F "$WHOLE_HZ" --call-graph dwarf,32768 -o "$WORK/perf.data" -- sleep "$WHOLE_SECONDS" > /dev/null 2>&1 3>&- &
recorder=$!
"$BUILD/bourdon" --db "$DB" capture --all --for "${WHOLE_SECONDS}s" > "$WORK/capture.log"
wait "$recorder"
stock_end
echo 1 > "$CGROUP2/$CGROUP/cgroup.kill"
whole_row 'of all samples' 1
whole_row 'on CPU' "kind = 'on-cpu'"
whole_row 'off CPU' "kind = 'off-cpu'"
named_row
shortfalls
doing 'gdb'
gdb_differs > "$WORK/gdb.differs"
while read -r line; do doing "gdb: $line"; done < <(head -n 40 "$WORK/gdb.differs")
row_at_most 'addresses that gdb finds in another function' "$(wc -l < "$WORK/gdb.differs") of $(wc -l < "$WORK/both")" \
	"$(wc -l < "$WORK/gdb.differs")" 0.5 addresses
doing 'perf script'
perf_lacks > "$WORK/perf.lacks"
while read -r line; do doing "perf never has: $line"; done < "$WORK/perf.lacks"
row_at_most "functions in a $(calc "1 / $LEAST_SHARE")th of a program's samples, and in none of perf's" \
	"$(wc -l < "$WORK/perf.lacks") of $(wc -l < "$WORK/ours.shares")" "$(wc -l < "$WORK/perf.lacks")" 0.5 functions
