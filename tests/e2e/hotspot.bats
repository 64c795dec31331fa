#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Java programs: stacks through code that HotSpot compiled, which uses rbp for anything, are whole and have every frame.

# bats file_tags=alone

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/stock.bash"

LEAST_PERCENT=99
LEAST_SAMPLES=100
CALLS=60

setup() {
	bourdon_setup hotspot
	cgroup_make
	JAVAS=()
	local java
	for java in /usr/lib/jvm/*/bin/java; do
		# JDK 9 and later, each once
		[[ -L ${java%/bin/java} || ! -e ${java%/bin/java}/lib/server/libjvm.so ]] || JAVAS+=("$java")
	done
	((${#JAVAS[@]} > 0)) || skip 'no Java virtual machine'
	have_java_compiler || skip 'no Java compiler'
}

teardown() {
	stock_end
	bourdon_teardown
}

have_java_compiler() {
	"${JAVAS[0]}" --list-modules | grep -q '^jdk.compiler'
}

# A map of strings: C2 inlines most of it, keeps values in rbp, and pushes words onto the stack to compare strings.
write_tree() {
	cat > "$WORK/Tree.java" <<-'CODE'
		import java.util.*;
		class Tree {
			public static void main(String[] arguments) {
				for (long n = 0;; n++) {
					Map<String, Long> map = new TreeMap<>();
					for (long i = 0; i < 1000; i++)
						map.merge("k" + i * n % 97, i, Long::sum);
				}
			}
		}
	CODE
}

# A stack of known depth: CALLS calls of down() by itself, which keeps values over the call, and below them nearly all of the
# time. With more values than registers, rbp is among them.
write_deep() {
	cat > "$WORK/Deep.java" <<-CODE
		class Deep {
			static long down(int left, long a, long b) {
				if (left == 0)
					return work(a, b);
				return down(left - 1, a * 3 + left, b ^ a) * left + a - b;
			}
			static long work(long a, long b) {
				long c = 1, d = 2, e = 3, f = 4, g = 5, h = 6, i = 7, j = 8, k = 9;
				for (int n = 0; n < 1000000; n++) {
					a += b ^ n; b += c * 3; c ^= d + a; d += e >> 1; e ^= f + n; f += g * 5;
					g ^= h + b; h += i; i ^= j + d; j += k * 7; k ^= a + f;
				}
				return a + b + c + d + e + f + g + h + i + j + k;
			}
			public static void main(String[] arguments) {
				long sum = 0;
				for (long n = 0;; n++)
					sum += down($CALLS, n, sum);
			}
		}
	CODE
}

stock_java() {
	local number
	for number in "${!JAVAS[@]}"; do
		stock_start "tree$number" "${JAVAS[number]}" "$WORK/Tree.java"
		stock_start "deep$number" "${JAVAS[number]}" -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Deep::* "$WORK/Deep.java"
	done
	# until their hot code is compiled for good
	for number in "${CHILDREN[@]}"; do
		await 120 has_run_for "$number" 4
	done
}

# has_run_for PID SECONDS: whether it has used so much CPU time.
has_run_for() {
	[ "$(awk '{ print $14 }' "/proc/$1/stat")" -ge $(($2 * $(getconf CLK_TCK))) ]
}

# depths NAME: "calls|samples" of its whole stacks: how often the place that is most often in a stack is there.
depths() {
	sql "WITH deep AS (
			SELECT s.stack_id, sum(s.samples) AS samples
			FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
			WHERE s.kind = 'on-cpu' AND s.second >= 0 AND p.comm = 'stock-$1' AND st.ended = 'root' GROUP BY s.stack_id),
		alike AS (
			SELECT d.stack_id, d.samples, f.offset, count(*) AS calls
			FROM deep d JOIN stack_frame sf USING(stack_id) JOIN frame f USING(frame_id) JOIN module m USING(module_id)
			WHERE m.path = '[anonymous]' GROUP BY d.stack_id, f.offset),
		deepest AS (SELECT stack_id, samples, max(calls) AS calls FROM alike GROUP BY stack_id)
		SELECT calls, sum(samples) FROM deepest GROUP BY calls ORDER BY 2 DESC"
}

@test "Java: 99 % of the stacks are complete, and a recursion of known depth has each of its frames" {
	local number name all whole missed=
	write_tree
	write_deep
	stock_capture 499 8 java
	for number in "${!JAVAS[@]}"; do
		for name in "tree$number" "deep$number"; do
			IFS='|' read -r all whole < <(stock_share "$name")
			echo "$name (${JAVAS[number]}): $whole of $all"
			stock_shortfalls "$name"
			[ "$all" -ge "$LEAST_SAMPLES" ] && [ $((whole * 100)) -ge $((all * LEAST_PERCENT)) ] || missed+=" $name"
			# threads of the virtual machine start in the C library
			run sql "WITH $STOCK_SAMPLES SELECT DISTINCT outermost FROM user WHERE comm = 'stock-$name' AND whole"
			echo "$output"
			[[ $output =~ ^[^$'\n']*/libc\.so\.6$ ]] || missed+=" $name:outermost"
		done
		# of the stacks in work(), none has fewer calls or more; hardly any is outside of it
		echo "calls in stacks of deep$number:"
		run depths "deep$number"
		echo "$output"
		[[ ${lines[0]} == "$CALLS|"* ]] || missed+=" deep$number:depth"
		((100 * $(awk -F '|' -v calls=$CALLS '$1 != calls { others += $2 } END { print others + 0 }' <<< "$output") <= whole)) ||
			missed+=" deep$number:depths"
	done
	[ -z "$missed" ] || { echo "not as it has to be:$missed"; false; }
}
