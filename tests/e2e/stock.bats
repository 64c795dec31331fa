#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of Debian, compiled without frame pointers: how many of their stacks are complete. `make bench
# PART=stock` tests more programs, and compares with perf.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/stock.bash"

LEAST_PERCENT=99
LEAST_SAMPLES=100

setup() {
	bourdon_setup stock
	cgroup_make
}

teardown() {
	stock_end
	bourdon_teardown
}

# entry_of NAME: prints e_entry, which equals the file offset in these files
entry_of() {
	od -A n -t u8 -j 24 -N 8 "$WORK/stock-$1"
}

@test "xz, sqlite3, openssl, perl: 99 % of the stacks are complete, the others have a reason" {
	local name all whole missed=
	stock_capture 499 6 xz sqlite3 openssl perl
	for name in xz sqlite3 openssl perl; do
		IFS='|' read -r all whole < <(stock_share "$name")
		echo "$name: $whole of $all"
		stock_shortfalls "$name"
		[ "$all" -ge "$LEAST_SAMPLES" ] && [ $((whole * 100)) -ge $((all * LEAST_PERCENT)) ] || missed+=" $name"
	done
	[ -z "$missed" ] || { echo "less than $LEAST_PERCENT %, or than $LEAST_SAMPLES samples:$missed"; false; }
	# the outermost frame of a complete stack is in _start, or at the place where the C library starts
	# threads
	for name in xz sqlite3 openssl perl; do
		run sql "WITH $STOCK_SAMPLES SELECT outermost, count(DISTINCT offset), sum(samples) FROM user
			WHERE comm = 'stock-$name' AND whole AND NOT (outermost = '$(realpath "$WORK/stock-$name")'
				AND offset - $(entry_of "$name") BETWEEN 0 AND 48) GROUP BY outermost"
		[[ -z $output || ($name == xz && $output =~ ^[^$'\n']*/libc\.so\.6\|1\|[0-9]+$) ]] || {
			echo "$name: $output"
			false
		}
	done
	[ "$(sql "WITH $STOCK_SAMPLES SELECT count(*) FROM user WHERE (ended = 'root') <> whole OR ended IS NULL")" -eq 0 ]
}

@test "PHP: regular expressions made at run time have the caller that entered them" {
	local all whole
	[ -x /usr/bin/php ] || skip 'PHP is not installed'
	ON_CPU=0 stock_capture 499 10 php xz # two on one CPU: pressure
	IFS='|' read -r all whole < <(stock_share php)
	echo "php: $whole of $all"
	stock_shortfalls php
	[ "$all" -ge "$LEAST_SAMPLES" ]
	[ $((whole * 100)) -ge $((all * LEAST_PERCENT)) ]
	# each guess leads to PCRE2, and from there to _start
	run sql "SELECT m.path, f.function, sum(s.samples) FROM sample s JOIN stack st USING(stack_id)
			JOIN stack_frame made ON made.stack_id = st.stack_id JOIN frame of_made ON of_made.frame_id = made.frame_id
			JOIN module of ON of.module_id = of_made.module_id AND of.path = '[anonymous]'
			JOIN stack_frame sf ON sf.stack_id = st.stack_id AND sf.position = made.position + 1
			JOIN frame f ON f.frame_id = sf.frame_id JOIN module m ON m.module_id = f.module_id
		WHERE s.kind = 'on-cpu' AND s.second >= 0 AND st.unwinder <> 'eh-frame' GROUP BY 1, 2"
	[ -n "$output" ]
	! grep -v /libpcre2-8 <<< "$output" || false
}
