#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The statements of docs/SCHEMA.md: each is taken from there and run by the sqlite3 shell on a database that is recorded
# here. Each of the twenty questions has to find what the workloads did, or what a test plants in a copy.
# shellcheck disable=SC2016  # the dollars are awk's

source "$BATS_TEST_DIRNAME/lib.bash"

DOCUMENT=$TREE/docs/SCHEMA.md

# Captures of one rule. In capture 1, FIRST, two threads of cpu_hog share CPU 0 with another program, which the rule does
# not cover, and moments precedes them there for 200 ms, then sleeps for 500 ms. In the last, LOCKED, lock_hog has taken the
# place of cpu_hog.
setup_file() {
	bourdon_setup schema
	export WORK DB RUN_DIR CGROUP PREFIX=sch$BASHPID- FIRST=1
	cgroup_make
	load --hz 199
	cp "$BUILD/workloads/cpu_hog" "$WORK/${PREFIX}cpu"
	cp "$BUILD/workloads/lock_hog" "$WORK/${PREFIX}lock"
	cp "$BUILD/workloads/moments" "$WORK/${PREFIX}mom"
	own_workload cpu_hog
	rule own "comm = $PREFIX*" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 2s' 'capture = 3s' 'cooldown = 1s'
	daemon_start
	ON_CPU=0 start_command chrt -f 1 "$WORK/${PREFIX}mom" --burn 200 --sleep 500
	local said moments=$CHILD hog
	exec {said}<&"$CHILD_OUTPUT"
	await_tables "$moments"
	ON_CPU=0 start_ahead "$WORK/$OWN"
	ON_CPU=0 start_ahead "$WORK/${PREFIX}cpu" --threads 2
	hog=$CHILD
	await_log 30 'rule own fired'
	kill -USR1 "$moments"
	read -r -u "$said" -t $((LEAST_DEADLINE * PATIENCE)) _ BURN_BEGAN BURN_ENDED
	kill -USR2 "$moments"
	read -r -u "$said" -t $((LEAST_DEADLINE * PATIENCE)) _ SLEEP_BEGAN SLEEP_ENDED
	await_sql 60 "SELECT count(*) >= 2 FROM capture WHERE state = 'complete'" 1
	stop "$hog"
	ON_CPU=0 start_ahead "$WORK/${PREFIX}lock" --threads 4
	# with nothing of cpu_hog in its history
	local locked
	locked="FROM capture WHERE state = 'complete' AND began_at >= $(date +%s%N)"
	await_sql 60 "SELECT count(*) > 0 $locked" 1
	LOCKED=$(sql "SELECT min(capture_id) $locked")
	children_end
	daemon_stop TERM
	export OTHER=$OWN HOG=$hog MOMENTS=$moments BURN_BEGAN BURN_ENDED SLEEP_BEGAN SLEEP_ENDED LOCKED
	TRIGGERED=$(sql "SELECT triggered_at FROM capture WHERE capture_id = $FIRST")
	CAPTURES=$(sql 'SELECT count(*) FROM capture')
	export TRIGGERED CAPTURES
}

teardown_file() {
	bourdon_teardown
}

# statement NUMBER: prints the statement below that question's heading
statement() {
	awk -v heading="### $1. " '
		index($0, heading) == 1 { here = 1 }
		here && within && /^```$/ { exit }
		here && within
		here && /^```sql$/ { within = 1 }' "$DOCUMENT"
}

# ask NUMBER [PARAMETER=VALUE...]: prints the answer. DB names another database.
ask() {
	local number=$1 parameter
	shift
	{
		for parameter; do
			echo ".parameter set :${parameter%%=*} \"'${parameter#*=}'\""
		done
		statement "$number"
	} > "$BATS_TEST_TMPDIR/statement"
	sqlite3 -readonly -bail -separator '|' "$DB" < "$BATS_TEST_TMPDIR/statement" | tee "$BATS_TEST_TMPDIR/answer"
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

# plant STATEMENT: makes DB a copy of the database in which it was executed
plant() {
	local copy=$BATS_TEST_TMPDIR/planted.db
	sqlite3 -readonly "$DB" "VACUUM INTO '$copy'"
	sqlite3 -bail "$copy" "$1"
	DB=$copy
}

# answer AWK-CONDITION: prints how many lines of the last answer meet it
answer() {
	awk -F '|' -v prefix="$PREFIX" "$1 { count++ } END { print count + 0 }" "$BATS_TEST_TMPDIR/answer"
}

# ms_of TIME: from the trigger
ms_of() {
	echo $((($1 - TRIGGERED) / 1000000))
}

@test "there are twenty questions, and this file asks each" {
	local number
	[ "$(grep -c '^### [0-9]*\. ' "$DOCUMENT")" -eq 20 ]
	for ((number = 1; number <= 20; number++)); do
		[ -n "$(statement "$number")" ]
		grep -q "^	ask $number\b" "$BATS_TEST_FILENAME" || { echo "no test asks question $number"; false; }
	done
}

@test "the documents have the versions of the database that there are" {
	local ours oldest
	ours=$(sqlite3 -readonly "$DB" 'PRAGMA user_version')
	oldest=$(sed -n 's/^#define SCHEMA_OLDEST \([0-9]*\)$/\1/p' "$TREE/common/store/schema.h")
	[ "$(sed -nE 's/^`user_version` ([0-9]+)\).*/\1/p' "$DOCUMENT")" = "$ours" ]
	grep -qF "$(printf '`application_id` 0x%x,' "$(sqlite3 -readonly "$DB" 'PRAGMA application_id')")" "$DOCUMENT"
	[ "$(sed -nE 's/.* from `user_version` ([0-9]+) on.*/\1/p' "$DOCUMENT")" = "$oldest" ]
	[ "$(sed -nE 's/.*Both know databases from schema ([0-9]+) on.*/\1/p' "$TREE/docs/CONFIGURATION.md")" = "$oldest" ]
}

@test "the other statements of the document have answers" {
	awk '/^## Twenty questions/ { exit } within && /^```$/ { within = 0; print "" } within; /^```sql$/ { within = 1 }' \
		"$DOCUMENT" | awk -v RS= '{ print }' > "$BATS_TEST_TMPDIR/statements"
	[ "$(grep -c '^SELECT' "$BATS_TEST_TMPDIR/statements")" -eq 4 ]
	plant "UPDATE thread_state SET state = 'D' WHERE state = 'S' AND role = 'target';
		INSERT INTO activity_key(key_id, state, comm, kernel, syscall, function, uid, cgroup, unit, container, hash)
			VALUES(1, 'D', '${PREFIX}sync', 0, 'fsync', 'jbd2_log_wait_commit', 0, '/own', NULL, NULL, 0);
		INSERT INTO activity_minute(minute_id, run_id, at, interval_ns, steps, looks, missed, threads, bytes)
			SELECT 1, min(run_id), (unixepoch() - 120) * 1000000000, 1000000000, 60, 60, NULL, 90, 0 FROM run;
		INSERT INTO activity(minute_id, key_id, threads, least, most, times) VALUES(1, 1, 90, 1, 2, NULL)"
	sqlite3 -readonly -bail "$DB" < "$BATS_TEST_TMPDIR/statements" | tee "$BATS_TEST_TMPDIR/answer"
	# five samples with their times; a stack, from its leaf on; threads in D, in each second; and in the last hour
	[ "$(answer '$3 ~ /^\[[0-9,-]+\]$/')" -eq 5 ]
	[ "$(answer 'NF == 4 && $1 == 0 && $2 != ""')" -eq 1 ]
	[ "$(answer 'NF == 5 && $1 ~ /futex/ && $3 == "futex" && $5 >= 1')" -ge 1 ]
	[ "$(answer 'NF == 7 && $1 == "D" && $2 == "fsync" && $4 == prefix "sync" && $6 == 1.5 && $7 == 2')" -eq 1 ]
}

@test "Python gives the same answers as the shell" {
	local number stack capture
	stack=$(sql "SELECT min(stack_id) FROM sample WHERE capture_id = $FIRST")
	for ((number = 1; number <= 20; number++)); do
		capture=$((number == 3 ? 2 : FIRST)) # before the first trigger the programs may not have run for long
		ask "$number" capture="$capture" before="$FIRST" after="$LOCKED" "comm=${PREFIX}mom" function=burn_cpu from_ms=0 to_ms=3000 \
			tid="$MOMENTS" stack="$stack" rule=own > /dev/null
		/usr/bin/python3 -I - "$DB" "$BATS_TEST_TMPDIR/answer" "$number" "$(statement "$number")" capture="$capture" before="$FIRST" \
			after="$LOCKED" "comm=${PREFIX}mom" function=burn_cpu from_ms=0 to_ms=3000 tid="$MOMENTS" stack="$stack" rule=own <<- 'END'
			import sqlite3, sys
			database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
			parameters = dict(argument.split("=", 1) for argument in sys.argv[5:])
			rows = database.execute(sys.argv[4], parameters).fetchall()
			def text(value): # as the shell prints it: 15 digits, no sign of -0.0
			    if value is None or not isinstance(value, float):
			        return "" if value is None else str(value)
			    digits = f"{value + 0.0:.15g}"
			    return digits if set(digits) & set(".e") else digits + ".0"
			lines = ["|".join(map(text, row)) for row in rows]
			shell = open(sys.argv[2]).read().splitlines()
			assert rows and lines == shell, (sys.argv[3], lines, shell)
		END
	done
}

@test "SQLite reads one capture alone where a view is asked for one" {
	local view plan count=0
	for view in $(sqlite3 -readonly "$DB" "SELECT name FROM sqlite_schema v WHERE type = 'view' AND EXISTS
		(SELECT 1 FROM pragma_table_info(v.name) WHERE name = 'capture_id')"); do
		plan=$(sqlite3 -readonly "$DB" "EXPLAIN QUERY PLAN SELECT * FROM $view WHERE capture_id = 1")
		# the aliases in the views of the tables that have capture_id: a search finds rows by it, a scan reads all
		[[ ! $plan =~ SCAN\ (r|l|u|e|c|m|sample_row|wake_row|histogram_row|latency_measured|growth_row|loss|usage|ended|pressure|statistic|capture)($'\n'|\ USING) ]] ||
			{ echo "$view: $plan"; false; }
		count=$((count + 1))
	done
	[ "$count" -eq 23 ]
}

@test "1. captures of this week" {
	plant 'UPDATE capture SET triggered_at = triggered_at - 8 * 86400 * 1000000000 WHERE capture_id = 2'
	ask 1
	[ "$(cut -d '|' -f 1 "$BATS_TEST_TMPDIR/answer" | paste -s -d ,)" = \
		"$(seq "$CAPTURES" -1 1 | grep -vx 2 | paste -s -d ,)" ]
	[ "$(answer '$3 == "own" && $4 == "cpu" && $5 == "some" && $6 >= 40')" -eq $((CAPTURES - 1)) ]
}

@test "2. why it fired" {
	ask 2 capture="$FIRST"
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/answer")" = "$(sql "SELECT 'verdict', victim, verdict, blamed_percent || ' %' FROM capture WHERE capture_id = $FIRST")" ]
	# the other program and cpu_hog used CPU time in the cgroup
	[ "$(answer "\$1 == \"cpu.stat\" && \$2 == \"/$CGROUP\" && \$3 == \"usage_usec\" && \$4 > 500000")" -eq 1 ]
}

@test "3. what ran in the 200 ms before the trigger" {
	ask 3 capture=2
	# cpu_hog has two of the three threads on CPU 0
	[ "$(answer '$1 == prefix "cpu" && $2 == "burn_cpu" && $3 >= 5 && $3 <= 41 && $4 == "0"')" -eq 1 ]
	[ "$(answer '$1 != prefix "cpu"')" -eq 0 ]
}

@test "4. a burst at steps of 20 ms" {
	local step name missing=0 most=$((PATIENCE > 1 ? 5 : 0))
	ask 4 capture="$FIRST" "comm=${PREFIX}mom"
	for ((step = BURN_BEGAN / 20000000 + 1; step < BURN_ENDED / 20000000; step++)); do
		TZ=UTC printf -v name '%(%H:%M:%S)T.%03d' $((step / 50)) $((step % 50 * 20))
		grep -q "^$name|[1-9][0-9]*|#*$" "$BATS_TEST_TMPDIR/answer" || { missing=$((missing + 1)); echo "no $name"; }
	done
	[ "$missing" -le "$most" ]
}

@test "5. which CPUs" {
	ask 5 capture="$FIRST"
	[ "$(answer '$1 == prefix "cpu" && $2 == 0 && $3 > 20 / '"$PATIENCE")" -eq 1 ]
	[ "$(answer '$1 == prefix "mom" && $2 == 0')" -eq 1 ]
	[ "$(answer '$2 != 0')" -eq 0 ]
}

@test "6. the longest intervals off CPU" {
	local ms=$(((SLEEP_ENDED - SLEEP_BEGAN) / 1000000)) begin end
	begin=$(ms_of "$SLEEP_BEGAN") end=$(ms_of "$SLEEP_ENDED")
	ask 6 capture="$FIRST"
	# in the C library's function, below sleep_moment()
	[ "$(answer "\$4 == prefix \"mom\" && \$6 == \"none\" && \$7 == 0 && \$8 != \"\" &&
		\$1 >= $ms - 10 && \$1 <= $ms + 10 && \$2 >= $begin - 10 && \$2 <= $begin + 10 && \$3 >= $end - 10 && \$3 <= $end + 10")" -eq 1 ]
	[ "$(cut -d '|' -f 1 "$BATS_TEST_TMPDIR/answer" | sort -rnc && echo sorted)" = sorted ]
}

@test "7. who waited while a program ran" {
	ask 7 capture="$FIRST" "comm=${PREFIX}mom"
	# the threads of cpu_hog, for most of the burst; a wait that began before the capture may have got no stack
	[ "$(answer '$1 == prefix "cpu" && $5 >= 100 && $5 <= 300')" -ge 1 ]
	[ "$(answer '$1 != prefix "cpu"')" -eq 0 ]
}

@test "8. who used the resource" {
	ask 8 capture="$FIRST"
	# the other program had a third of a CPU for three seconds, if nobody else used it
	[ "$(answer "\$1 == \"$OTHER\" && \$2 == 1 && \$5 == \"/$CGROUP\" && \$6 > 1 && \$7 > 0.1")" -eq 1 ]
	# so had the target
	[ "$(answer '$1 == prefix "cpu" && $7 > 0.1')" -eq 1 ]
}

@test "9. what each thread waited for" {
	ask 9 capture="$FIRST"
	[ "$(answer "\$1 == prefix \"cpu\" && \$3 == $HOG && \$4 == \"cpu\" && \$5 > 300 && \$6 > 1")" -eq 1 ]
	ask 9 capture="$LOCKED"
	# three of four wait for the lock, at any time
	[ "$(answer '$1 == prefix "lock" && $4 == "none" && $5 > 500')" -ge 4 ]
}

@test "10. which stacks stalled longest" {
	ask 10 capture="$FIRST"
	[[ $(head -n 1 "$BATS_TEST_TMPDIR/answer") =~ ^${PREFIX}cpu\|cpu\|[0-9]{2,}\|.*burn_cpu ]]
}

@test "11. the hottest functions and lines" {
	ask 11 capture="$FIRST"
	[ "$(answer 'NR == 1 && $1 == "burn_cpu" && $2 ~ /tests\/workloads\/cpu_hog.c$/ && $3 > 1 && $4 ~ prefix "cpu$"')" -eq 1 ]
	[ "$(awk -F '|' '{ sum += $6 } END { print (sum > 90 && sum < 101) }' "$BATS_TEST_TMPDIR/answer")" -eq 1 ]
}

@test "12. which functions got hotter" {
	ask 12 before="$FIRST" after="$LOCKED"
	# what lock_hog spins in: reading the clock, in the vdso or the kernel
	[ "$(answer 'NR == 1 && $1 != "burn_cpu" && $4 > 10 && $5 > 10')" -eq 1 ]
	ask 12 before="$LOCKED" after="$FIRST"
	[ "$(answer 'NR == 1 && $1 == "burn_cpu" && $3 == 0 && $4 > 30 && $5 == $4')" -eq 1 ]
}

@test "13. who calls a function" {
	local samples
	samples=$(sql "SELECT sum(samples) FROM sample WHERE capture_id = $FIRST AND kind = 'on-cpu' AND stack_id IN
		(SELECT stack_id FROM stack_frame JOIN frame USING(frame_id) WHERE function = 'burn_cpu')")
	ask 13 capture="$FIRST" function=burn_cpu
	[ "$(answer '$1 == "worker_main" && $2 ~ prefix "cpu$" && $3 > 0')" -eq 1 ]
	[ "$(awk -F '|' '{ sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/answer")" -eq "$samples" ]
}

@test "14. the flame graph of a moment" {
	ask 14 capture="$FIRST" from_ms=$(($(ms_of "$BURN_BEGAN") + 10)) to_ms=$(($(ms_of "$BURN_ENDED") - 10))
	# moments had the CPU to itself
	[ "$(awk '{ sum += $NF } END { print (sum > 20 / '"$PATIENCE"') }' "$BATS_TEST_TMPDIR/answer")" -eq 1 ]
	[ "$(grep -cvE "^${PREFIX}mom;.*;main;burn_moment(;.*)? [0-9]+$" "$BATS_TEST_TMPDIR/answer")" -eq 0 ]
}

@test "15. what a thread did, in order" {
	local began ended
	ask 15 capture="$FIRST" tid="$MOMENTS"
	began=$(ms_of "$BURN_BEGAN") ended=$(ms_of "$BURN_ENDED")
	[ "$(answer "\$3 == \"on-cpu\" && \$2 == \"\" && \$1 >= $began && \$1 <= $ended")" -gt $((20 / PATIENCE)) ]
	began=$(ms_of "$SLEEP_BEGAN") ended=$(ms_of "$SLEEP_ENDED")
	[ "$(answer "\$3 == \"off-cpu\" && \$1 >= $began - 10 && \$1 <= $began + 10 && \$2 >= $ended - 10 && \$2 <= $ended + 10")" -eq 1 ]
	[ "$(cut -d '|' -f 1 "$BATS_TEST_TMPDIR/answer" | sort -nc && echo sorted)" = sorted ]
}

@test "16. how complete a capture is" {
	plant "UPDATE loss SET events = 17 WHERE capture_id = $FIRST AND reason = 'torn-slots'"
	ask 16 capture="$FIRST"
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/answer")" = "$(sql "SELECT 'samples expected, received', 'sample', expected_samples, received_samples, '' FROM capture WHERE capture_id = $FIRST")" ]
	[ "$(answer '$1 == "torn-slots" && $2 == "sample" && $3 == 17 && $5 > 0')" -eq 1 ]
	[ "$(answer '$1 == "user stacks that end: root" && $3 > 20 / '"$PATIENCE")" -eq 1 ]
}

@test "17. how a capture was made" {
	ask 17 capture="$FIRST"
	[ "$(cut -d '|' -f 1,4 "$BATS_TEST_TMPDIR/answer")" = "$(hostname)|$(uname -r)" ]
	[ "$(cut -d '|' -f 5 "$BATS_TEST_TMPDIR/answer")" = "$(sed -n 's/^object_sha256 = //p' "$RUN_DIR/manifest")" ]
	[ "$(answer "\$6 == 199 && \$9 == prefix \"*\" && \$10 == \"/$CGROUP\" && \$11 ~ /link_oncpu/ && \$12 == \"cpu.some 200000us/2000000us\"")" -eq 1 ]
}

@test "18. where else a stack was seen" {
	local stack samples
	IFS='|' read -r stack samples < <(sql "SELECT stack_id, sum(samples) FROM sample WHERE capture_id = $FIRST AND kind = 'on-cpu'
		GROUP BY stack_id ORDER BY 2 DESC LIMIT 1")
	# another host has it, of a file with another path, so in other frames; and a second stack, of another hash
	plant "INSERT INTO database(database_id, id) VALUES(77, 'elsewhere');
		INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz, database_id)
			SELECT 77, started_at, version, abi, kernel, 'elsewhere', cpus, hz, 77 FROM run WHERE run_id = 1;
		INSERT INTO capture(capture_id, run_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at, began_at,
			history_ns, state, observed_us, hz) SELECT 77, 77, 'theirs', resource, kind, stall_us, window_us, trigger_mode,
			triggered_at + 1, began_at, history_ns, state, observed_us, hz FROM capture WHERE capture_id = $FIRST;
		INSERT INTO stack_node SELECT 777777, NULL, '[1]', class, 1, hash FROM stack_node WHERE node_id = $stack;
		INSERT INTO stack_node SELECT 777778, NULL, '[2]', class, 1, CAST(x'00' || substr(hash, 2) AS BLOB) FROM stack_node WHERE node_id = $stack;
		INSERT INTO sample_row SELECT DISTINCT 77, 777777, thread_id, class, 0, 4, 8000000, NULL FROM sample_row WHERE stack_id = $stack LIMIT 1;
		INSERT INTO sample_row SELECT DISTINCT 77, 777778, thread_id, class, 0, 5, 8000000, NULL FROM sample_row WHERE stack_id = $stack LIMIT 1"
	ask 18 stack="$stack"
	[ "$(answer "\$1 == \"$(hostname)\" && \$2 == $FIRST && \$5 == $samples")" -eq 1 ]
	[ "$(answer '$1 == "elsewhere" && $2 == 77 && $4 == "theirs" && $5 == 4 && $6 == 8')" -eq 1 ]
	[ "$(answer 1)" -eq "$(sql "SELECT 1 + count(DISTINCT capture_id) FROM sample WHERE stack_id = $stack")" ]
	# one pass over the stacks, and the samples by their primary key
	run sqlite3 -readonly "$DB" "EXPLAIN QUERY PLAN $(statement 18 | sed "s/:stack/$stack/")"
	[[ $(grep -c 'SCAN' <<< "$output") -eq 2 && $output == *'r USING PRIMARY KEY (capture_id=? AND stack_id=?)'* ]] ||
		{ echo "$output"; false; }
}

@test "19. how a rule's captures changed" {
	plant "UPDATE capture SET triggered_at = triggered_at - 86400 * 1000000000, verdict = 'planted' WHERE capture_id = 2;
		UPDATE loss SET events = 5 WHERE capture_id = 2 AND reason = 'samples-missing'"
	ask 19 rule=own
	[ "$(answer "\$1 == \"$(sql "SELECT date(triggered_at / 1000000000, 'unixepoch') FROM capture WHERE capture_id = 2")\" && \$3 == \"planted\" && \$4 == 1 && \$6 == 5")" -eq 1 ]
	[ "$(awk -F '|' '{ sum += $4 } END { print sum }' "$BATS_TEST_TMPDIR/answer")" -eq "$CAPTURES" ]
	ask 19 rule=none
	[ "$(answer 1)" -eq 0 ]
}

@test "20. what is the largest" {
	ask 20
	[ "$(awk -F '|' '$1 == "table or index" { sum += $3 } END { print sum }' "$BATS_TEST_TMPDIR/answer")" -le \
		"$(sql 'SELECT page_count * page_size / 1024 FROM pragma_page_count, pragma_page_size')" ]
	[ "$(answer 'NR == 1 && $1 == "table or index" && $3 > 0')" -eq 1 ]
	[ "$(answer '$2 == "sample_row" && $3 > 0')" -eq 1 ]
	local largest
	largest=$(awk -F '|' '$1 == "capture" { print $2; exit }' "$BATS_TEST_TMPDIR/answer")
	[ "$(answer "\$1 == \"capture\" && \$2 == $largest && \$4 == $(sql "SELECT count(*) FROM sample_row WHERE capture_id = $largest")")" -eq 1 ]
	[ "$(answer '$1 == "capture"')" -eq "$((CAPTURES > 10 ? 10 : CAPTURES))" ]
}
