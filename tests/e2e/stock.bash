# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of Debian as targets for the tests and make bench, compiled without frame pointers. They run until they are
# ended; the comm of each is stock-NAME. Source lib.bash before.

# stock_start NAME PROGRAM ARGUMENT...: starts it in our cgroup, with standard error in $WORK/stock-NAME.log.
stock_start() {
	local name=stock-$1
	ln -sf "$(command -v "$2")" "$WORK/$name"
	(
		[[ -z ${ON_CPU-} ]] || taskset -p -c "$ON_CPU" "$BASHPID" > /dev/null
		echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
		cd "$WORK" || exit
		exec ${STOCK_AS:+setpriv --reuid "$STOCK_AS" --regid "$STOCK_AS" --init-groups} "$WORK/$name" "${@:3}"
	) <&0 > /dev/null 2> "$WORK/$name.log" 3>&- &
	CHILD=$!
	CHILDREN+=("$CHILD")
}

# again FILE: prints its bytes without end.
again() {
	while cat "$1" 2> /dev/null; do :; done
}

stock_xz() {
	stock_start xz xz -T2 --block-size=1MiB -c < <(again "$BUILD/bourdond")
}

stock_sqlite3() {
	stock_start sqlite3 sqlite3 :memory: '
		CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
		INSERT INTO t SELECT value, hex(randomblob(8)), value / 7.0 FROM generate_series(1, 20000);
		CREATE INDEX t_by_b ON t(b);
		WITH RECURSIVE round(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM round)
		SELECT (SELECT count(*) FROM (SELECT substr(b, i % 8, 3) AS s, sum(c) FROM t GROUP BY s ORDER BY 2)),
			(SELECT group_concat(upper(b)) FROM (SELECT b FROM t WHERE b > i % 16 ORDER BY c DESC LIMIT 500)) FROM round'
}

stock_openssl() {
	local what
	for what in sha256 aes-128-cbc rsa2048 '-evp chacha20-poly1305'; do
		# shellcheck disable=SC2086
		stock_start openssl openssl speed -seconds 600 -bytes 1024 $what
	done
}

stock_perl() {
	# shellcheck disable=SC2016
	stock_start perl perl -e 'for (;;) {
		my %seen;
		$seen{$_ % 1000} .= sprintf("%d:%s;", $_, join(",", map { $_ ** 2 } 1 .. 10)) for 1 .. 20000;
		s/(\d+):/<$1>/g for values %seen;
		my @sorted = sort { $seen{$a} cmp $seen{$b} } keys %seen;
	}'
}

stock_php() {
	# shellcheck disable=SC2016
	stock_start php php -n -r 'for (;;) { $a = []; for ($i = 0; $i < 1000; $i++) $a[] = md5((string)$i); preg_match_all("/a+/", join($a)); }'
}

stock_python3() {
	PATH=/usr/bin stock_start python3 python3 -c '
import json, re
def ackermann(m, n):
    return n + 1 if not m else ackermann(m - 1, 1 if not n else ackermann(m, n - 1))
while True:
    ackermann(2, 6)
    text = json.dumps([{"number": i, "text": str(i) * 3} for i in range(1000)])
    sorted(json.loads(text), key=lambda row: row["text"])
    re.sub(r"(\d+)\"", lambda found: found.group(1)[::-1], text)
'
}

# The server is redis-check-rdb of redis-tools under another name. Threads read, parse and write.
stock_redis() {
	stock_start redis redis-check-rdb --port 0 --unixsocket "$WORK/redis.sock" --save '' --io-threads 2 \
		--io-threads-do-reads yes
	await 10 test -S "$WORK/redis.sock"
	redis-benchmark -s "$WORK/redis.sock" -l -q -c 50 -P 16 -n 1000000 -t set,get,lpush,zadd,mset > /dev/null 2>&1 3>&- &
	CHILDREN+=($!)
}

stock_postgres() {
	local programs=(/usr/lib/postgresql/*/bin)
	install -d -o postgres -g postgres -m 0700 "$WORK/postgres"
	as_postgres() {
		(cd "$WORK/postgres" && exec setpriv --reuid postgres --regid postgres --init-groups "${programs[-1]}/$1" "${@:2}") \
			> "$WORK/stock-postgres.$1.log" 2>&1 3>&-
	}
	as_postgres initdb -D "$WORK/postgres/data" -A trust
	STOCK_AS=postgres stock_start postgres "${programs[-1]}/postgres" -D "$WORK/postgres/data" -k "$WORK/postgres" \
		-c listen_addresses= -c fsync=off
	POSTGRES=$CHILD
	await 20 as_postgres pg_isready -h "$WORK/postgres"
	as_postgres pgbench -h "$WORK/postgres" -i -s 1 postgres
	as_postgres pgbench -h "$WORK/postgres" -c 2 -T 600 postgres &
	CHILDREN+=($!)
	as_postgres pgbench -h "$WORK/postgres" -c 1 -T 600 -S postgres &
	CHILDREN+=($!)
}

# stock_end: ends all programs; PostgreSQL by SIGQUIT, because its shared memory would outlive SIGKILL.
stock_end() {
	[[ -z ${POSTGRES-} ]] || { kill -QUIT "$POSTGRES" && wait "$POSTGRES"; } || true
	POSTGRES=
	children_end
}

# has_run PID: whether it has run for a second, after which its libraries are loaded.
has_run() {
	[ "$(awk '{ print $14 }' "/proc/$1/stat")" -ge "$(getconf CLK_TCK)" ]
}

# stock_capture HZ SECONDS NAME...: starts these programs and captures them; their own pressure fires the rule.
# STOCK_MEANWHILE: a command that runs within the capture.
stock_capture() {
	local name
	load --hz "$1"
	rule targets 'comm = stock-*' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	daemon_start
	# on an emulated CPU the programs are stopped while tables are made
	for name in "${@:3}"; do
		"stock_$name"
		((PATIENCE == 1)) || { await 20 has_run "$CHILD" && kill -STOP "${CHILDREN[@]}"; }
	done
	await_tables
	((PATIENCE == 1)) || kill -CONT "${CHILDREN[@]}"
	rule pressure 'comm = stock-*' "cgroup = /$CGROUP" 'cpu.some = 1%' 'watch = system' 'history = 1s' "capture = $2s" \
		'cooldown = 1h'
	await_log 30 'rule pressure fired'
	${STOCK_MEANWHILE-}
	await_log $(($2 + 60)) 'captured [0-9]+ stacks of rule pressure'
}

# The clause after WITH for the on-CPU samples with a user stack, from the trigger on: comm, number, whether the stack
# is complete, why it ends, and module and file offset of its outermost frame.
STOCK_SAMPLES="user AS (
	SELECT p.comm, s.samples, NOT st.truncated AND st.ended IS 'root' AS whole, st.ended, m.path AS outermost, f.offset
	FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
		JOIN stack_frame sf ON sf.stack_id = st.stack_id AND sf.position = st.depth - 1
		JOIN frame f USING(frame_id) JOIN module m USING(module_id)
	WHERE s.kind = 'on-cpu' AND s.second >= 0 AND m.kind NOT IN ('kernel', 'module')
)"

# stock_share NAME: samples, and how many of them have a complete stack.
stock_share() {
	sql "WITH $STOCK_SAMPLES SELECT ifnull(sum(samples), 0), ifnull(sum(samples) FILTER (WHERE whole), 0) FROM user
		WHERE comm = 'stock-$1'"
}

# stock_shortfalls NAME: "samples|reason|module" of incomplete stacks, most first.
stock_shortfalls() {
	sql "WITH $STOCK_SAMPLES SELECT sum(samples), ended, outermost FROM user WHERE comm = 'stock-$1' AND NOT whole
		GROUP BY ended, outermost ORDER BY 1 DESC"
}
