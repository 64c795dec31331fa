# SPDX-License-Identifier: GPL-2.0-only
#
# What makes situations of known truth, of workloads and of real programs and servers. Source situation.bash before. Each function
# makes its situation, captures it, and tells the truth; the numbers of a random one follow from its number, and VERDICTS_SEED=…
# makes others.

# ---- programs that take all CPU time that they get: COMM, then the command ----

# busy NAME: sets COMM and BUSY, the command
busy() {
	COMM=$1
	case $1 in
		xz) BUSY=(xz -1 -c /dev/zero) ;;
		gzip) BUSY=(gzip -c /dev/zero) ;;
		bzip2) BUSY=(bzip2 -c /dev/zero) ;;
		openssl) BUSY=(openssl speed -seconds 600 sha256) ;;
		sqlite3) BUSY=(sqlite3 :memory: 'WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c') ;;
		python3) BUSY=(/usr/bin/python3 -c 'while True: pass') ;;
		perl) BUSY=(perl -e '1 while 1') ;;
		node) BUSY=(node -e 'for (;;);') ;;
		php) BUSY=(php -r 'for (;;);') ;;
		awk) BUSY=(awk 'BEGIN { while (1) i++ }') ;;
		sha256sum) BUSY=(sha256sum /dev/zero) ;;
		dd) BUSY=(dd if=/dev/zero of=/dev/null bs=1M) ;;
		bash) BUSY=(bash -c 'while :; do :; done') ;;
		java) java_class Spin 'static volatile long i; public static void main(String[] a) { for (;;) i++; }'
			BUSY=(java -XX:+UseSerialGC -cp "$WORK" Spin) ;;
		stress-ng) COMM=stress-ng-cpu BUSY=(stress-ng --cpu 1 --cpu-method fft) ;;
		cc1) compiled_source
			BUSY=(bash -c "while :; do gcc -O2 -c '$WORK/compiled.c' -o '$WORK/compiled.o'; done") ;;
		*) program "$1" && BUSY=("$WORK/$1") ;;
	esac
}
BUSY_PROGRAMS=(xz gzip bzip2 openssl sqlite3 python3 perl node php awk sha256sum dd bash java stress-ng)

# java_class NAME BODY: compiles it
java_class() {
	[[ -e $WORK/$1.class ]] && return
	echo "public class $1 { $2 }" > "$WORK/$1.java"
	javac -d "$WORK" "$WORK/$1.java"
}

# compiled_source: a C file that gcc needs a second for
compiled_source() {
	local i
	for ((i = 0; i < 1500; i++)); do
		echo "int f$i(int *p, int n) { int s = $i; for (int i = 0; i < n; i++) s = s * 31 + (p[i] ^ s) / (i + $i + 1); return s; }"
	done > "$WORK/compiled.c"
}

# hog NAME: that program, in a service of its name
hog() {
	busy "$1"
	COMM_OF[$1]=$COMM
	serve "$1" "${BUSY[@]}"
}

# busy_victim NAME
busy_victim() {
	busy "$1"
	victim "$COMM" "${BUSY[@]}"
}

# ---- situations: each makes it, captures it, and tells the truth ----

# A hog beside a victim on one CPU.
neighbour() { # VICTIM HOG
	busy_victim "$1"
	hog "$2"
	fires 'cpu.some=10%'
	shares_on_one_cpu 1
}

# One to five programs with random priorities beside a victim on one CPU.
mixture() { # NUMBER
	local count programs name
	RANDOM=$((${VERDICTS_SEED:-38} * 1000 + $1))
	count=$((1 + RANDOM % 5))
	mapfile -t programs < <(for name in "${BUSY_PROGRAMS[@]}"; do echo "$RANDOM $name"; done | sort -n | sed 's/.* //')
	PRIORITY=$((-12 + RANDOM % 7)) busy_victim "${programs[count]}"
	for name in "${programs[@]:0:count}"; do PRIORITY=$((-12 + RANDOM % 9)) hog "$name"; done
	fires 'cpu.some=10%'
	shares_on_one_cpu 1
}

has_threads() {
	local tasks=("/proc/$VICTIM_PID/task"/*)
	((${#tasks[@]} >= $1))
}

# A victim whose own threads want its CPU, and a neighbour or none.
own_threads() { # THREADS [HOG PRIORITY]
	program app
	victim app "$WORK/app" --threads "$1"
	await 20 has_threads "$1"
	[[ -z ${2-} ]] || PRIORITY=$3 hog "$2"
	fires 'cpu.some=10%'
	shares_on_one_cpu "$1"
}

# Many small programs in some units beside a victim on one CPU: each has less than a twentieth of it.
crowd() { # PROGRAMS UNITS MS: each rests so long after each ms of work
	local i unit
	for ((i = 0; i < $1; i++)); do program "small$i" three_hot; done
	for ((unit = 0; unit < $2; unit++)); do
		# shellcheck disable=SC2016 # the inner shell expands it
		PRIORITY=-10 serve "unit$unit" bash -c 'for ((i = $0; i < $1; i += $2)); do "./small$i" --rest "$3" & done; wait' \
			"$unit" "$1" "$2" "$3"
	done
	busy_victim app
	fires 'cpu.some=10%'
	truth crowd
}

# A storm of short programs beside a server.
fork_storm() { # SERVER
	"server_$1"
	"clients_$1"
	serve storm bash -c 'while :; do /bin/true; done'
	fires 'cpu.some=5%'
	truth 'neighbour|neighbours' '* in storm.service'
}

# ---- quotas, locks, memory, disks ----

# A quota of the victim's cgroup, of version 1, or of the one above it; and perhaps a hog.
quota() { # VICTIM PERCENT self|above [HOG]
	v1_group "$V1_CPU" "verdicts-$3"
	echo 100000 > "$V1/cpu.cfs_period_us"
	echo "${2}000" > "$V1/cpu.cfs_quota_us"
	echo 16384 > "$V1/cpu.shares" # as a priority of sessions
	LABELS+=("throttled=$V1/cpu.stat,throttled_time")
	if [[ $3 == above ]]; then
		local above=$V1
		V1=
		mkdir "$above/below"
		V1_MADE=("$above/below" "${V1_MADE[@]}")
		V1=$above/below
	fi
	busy_victim "$1"
	V1=
	[[ -z ${4-} ]] || PRIORITY=0 hog "$4"
	fires 'cpu.some=10%'
	is_throttled
}

# The same, of a unit that stops before its capture ends.
quota_stops() { # VICTIM PERCENT
	v1_group "$V1_CPU" verdicts-stops cpu.shares=16384 cpu.cfs_period_us=100000 "cpu.cfs_quota_us=${2}000"
	busy_victim "$1"
	V1=
	follows 'cpu.some = 10%'
	await_log 30 'rule victim fired'
	await_cpu "$VICTIM_PID" 200
	echo 1 > "$CGROUP2/$CGROUP/victim.service/cgroup.kill"
	await 60 rmdir "$CGROUP2/$CGROUP/victim.service"
	captured
	truth quota
}

# Threads that contend for one mutex.
mutex() { # THREADS HOLD-MS
	program locker lock_hog
	ON_CPU='' victim locker "$WORK/locker" --threads "$1" --hold "$2"
	asked
	is_lock "$1"
}

# A lock of Java's: a monitor that several threads hold in turn.
monitor() {
	javac -d "$WORK" "$LOCKS/Locks.java"
	ON_CPU='' victim java java -cp "$WORK" Locks synchronized
	await_cpu "$VICTIM_PID" 500
	asked
	truth lock
}

# A mutex of Go's, for which goroutines wait: fewer threads do, and these wait for each other's CPU, too.
go_mutex() {
	go_build golocks "$LOCKS/locks.go"
	ON_CPU='' victim golocks "$WORK/golocks" mutex
	asked
	truth 'lock|own threads'
}

# The same of goroutines that have threads of their own.
go_threads_mutex() {
	cat > "$WORK/threads.go" << 'END'
package main

import ("runtime"; "sync"; "time")

func main() {
	var lock sync.Mutex
	for i := 0; i < 4; i++ {
		go func() {
			runtime.LockOSThread()
			for { lock.Lock(); for t := time.Now(); time.Since(t) < 10*time.Millisecond; {}; lock.Unlock() }
		}()
	}
	select {}
}
END
	go_build gothreads "$WORK/threads.go"
	ON_CPU='' victim gothreads "$WORK/gothreads"
	asked
	is_lock 4
}

go_build() { # NAME SOURCE
	[[ -e $WORK/$1 ]] || CGO_ENABLED=0 HOME=$WORK GO111MODULE=off GOPROXY=off GOCACHE=$WORK/cache go build -o "$WORK/$1" "$2"
}

# A mutex of Rust's.
rust_mutex() {
	[[ -e $WORK/rustlocks ]] || rustc --edition 2021 -O -o "$WORK/rustlocks" "$LOCKS/locks.rs"
	ON_CPU='' victim rustlocks "$WORK/rustlocks" mutex
	asked
	truth lock
}

# A pool of idle workers.
idle_pool() {
	program pooled pool
	ON_CPU='' victim pooled "$WORK/pooled" --threads 64
	asked
	truth 'negligible|peer'
}

# A working set beyond the limit of memory.
limited() { # RESOURCE [LINE...]: of the rule
	v1_group "$V1_MEMORY" verdicts-limit "memory.limit_in_bytes=$((48 << 20))"
	program worker mem_hog
	victim worker "$WORK/worker" --size 96MiB --file "$WORK/scratch"
	V1=
	fires "$1.some=2%" "${@:2}"
	truth limit
}

# The same of a program that reads a file at random.
limited_reader() { # RESOURCE
	v1_group "$V1_MEMORY" verdicts-limit "memory.limit_in_bytes=$((48 << 20))"
	# past the page cache: its pages are charged to the first who reads them
	dd if=/dev/urandom of="$WORK/set" bs=1M count=96 oflag=direct status=none
	victim python3 /usr/bin/python3 -c '
import mmap, random
with open("set", "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    while True: pages[random.randrange(len(pages))]'
	V1=
	fires "$1.some=2%"
	truth limit
}

# An OOM kill at a limit: alone, or while a hog takes the CPU.
killed() { # PROGRAM [HOG]
	v1_group "$V1_MEMORY" verdicts-kill "memory.limit_in_bytes=$((64 << 20))"
	# shellcheck disable=SC2016 # the inner programs expand it
	case $1 in
		perl) victim perl perl -e '$SIG{USR1} = sub { push @held, "x" x (1 << 20) while 1 }; 1 while 1' ;;
		python3) victim python3 /usr/bin/python3 -c '
import signal
def grow(*_):
    held = []
    while True: held.append(bytearray(b"x") * (1 << 20))
signal.signal(signal.SIGUSR1, grow)
while True: pass' ;;
	esac
	V1=
	local pid=$VICTIM_PID
	if [[ -n ${2-} ]]; then
		hog "$2"
		follows 'cpu.some = 10%'
		await_log 30 'rule victim fired'
	else
		follows 'on_kill = yes'
	fi
	await_cpu "$pid" 500
	kill -USR1 "$pid"
	wait "$pid" || true
	[[ -n ${2-} ]] || await_log 60 'was killed for lack of memory'
	captured
	truth kill "$VICTIM in victim.service"
}

# A program that waits for its own writes.
own_io() { # io_hog|dd|sqlite3|python3
	case $1 in
		io_hog) program writer io_hog; victim writer "$WORK/writer" --file "$WORK/scratch" ;;
		dd) victim dd dd if=/dev/zero of="$WORK/scratch" bs=64k count=100000 oflag=direct,dsync ;;
		sqlite3)
			{ echo 'CREATE TABLE t(x);'; for ((i = 0; i < 100000; i++)); do echo 'INSERT INTO t VALUES (randomblob(60000));'; done } > "$WORK/commits.sql"
			rm -f "$WORK/commits.db"
			# shellcheck disable=SC2016 # the inner shell expands it
			victim sqlite3 bash -c 'exec sqlite3 "$0" < "$1"' "$WORK/commits.db" "$WORK/commits.sql"
			;;
		python3) victim python3 /usr/bin/python3 -c '
import os
fd = os.open("scratch", os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(fd, b"x" * 65536, 0)
    os.fsync(fd)' ;;
	esac
	LABELS+=("wrote=/proc/$VICTIM_PID/io,write_bytes:" "sectors=/sys/class/block/$(basename "$(findmnt -n -o SOURCE -T "$WORK")")/stat,7")
	fires 'io.some=2%'
	local percent
	percent=$(($(truth_of wrote "$FROM" "$TO") * 100 / ($(truth_of sectors "$FROM" "$TO") * 512)))
	fact "written: $percent % of what the disk wrote"
	((percent >= 50)) || { echo "it wrote only $percent % of what the disk wrote" >&2; return 1; }
	truth 'own I/O'
}

# A neighbour that writes much more than the victim: by the bytes that the kernel counts of each.
io_neighbour() { # THREADS
	program backup io_hog
	program writer io_hog
	victim python3 /usr/bin/python3 -c '
import os, mmap
fd = os.open("small", os.O_RDWR | os.O_CREAT | os.O_DIRECT | os.O_SYNC)
page = mmap.mmap(-1, 4096)
while True: os.pwrite(fd, page, 0)'
	ON_CPU=1 serve backup "$WORK/backup" --threads "$1" --file "$WORK/large"
	LABELS+=("wrote_victim=/proc/$VICTIM_PID/io,write_bytes:" "wrote_backup=/proc/$CHILD/io,write_bytes:")
	fires 'io.some=2%'
	local of_victim of_backup
	of_victim=$(truth_of wrote_victim "$FROM" "$TO") of_backup=$(truth_of wrote_backup "$FROM" "$TO")
	fact "written: victim.service $of_victim"
	fact "written: backup.service $of_backup"
	((of_backup > 2 * of_victim))
	truth neighbour 'backup in backup.service'
}

# ---- calm, and waits for others ----

# A program that goes before its neighbour: its rule fires at nothing much.
calm() { # VICTIM HOG
	PRIORITY=-20 busy_victim "$1"
	PRIORITY=5 hog "$2"
	fires 'cpu.some=0.2%'
	local ran
	ran=$(truth_of victim "$FROM" "$TO")
	fact "ran: $((100 * ran / (TO - FROM))) % of the span"
	((ran * 100 >= 97 * (TO - FROM)))
	truth negligible
}

# A service that has nothing to do, asked for.
idle() { # SERVER
	"server_$1"
	asked
	truth negligible
}

# server COMM COMMAND...: in the service SERVER
server() {
	if [[ ${SERVER-victim} == victim ]]; then
		victim "$@"
	else
		serve "$SERVER" "${@:2}"
		COMM_OF["$SERVER"]=$1
	fi
}

server_redis() {
	ln -sf /usr/bin/redis-check-rdb "$WORK/redis-server"
	server redis-server "$WORK/redis-server" --port 0 --unixsocket "$WORK/redis.sock" --save ''
	await 20 test -S "$WORK/redis.sock"
}

server_nginx() {
	mkdir -p "$WORK/www"
	head -c 20000 /dev/urandom > "$WORK/www/index.html"
	printf '%s\n' "daemon off; pid $WORK/nginx.pid; error_log /dev/null; events {}" \
		"http { access_log off; server { listen 127.0.0.1:18471; root $WORK/www; gzip on; gzip_types *; } }" > "$WORK/nginx.conf"
	chmod 0755 "$WORK/www"
	server nginx nginx -c "$WORK/nginx.conf"
	await 20 curl -s -o /dev/null http://127.0.0.1:18471/
}

server_node() {
	server node node -e "require('http').createServer((q, a) => a.end('x'.repeat(2000))).listen(18472, '127.0.0.1')"
	await 20 curl -s -o /dev/null http://127.0.0.1:18472/
}

server_php() {
	mkdir -p "$WORK/www"
	# shellcheck disable=SC2016 # PHP's variables
	echo '<?php for ($i = 0, $s = ""; $i < 20000; $i++) $s = md5($s . $i); echo $s;' > "$WORK/www/index.php"
	server php php -S 127.0.0.1:18473 -t "$WORK/www"
	await 20 curl -s -o /dev/null http://127.0.0.1:18473/
}

server_postgres() {
	local bin
	bin=$(echo /usr/lib/postgresql/*/bin)
	[[ -e $WORK/pg/PG_VERSION ]] || {
		install -d -o "$TEST_USER" "$WORK/pg"
		setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$bin/initdb" -D "$WORK/pg" -A trust -U postgres > /dev/null
	}
	server postgres setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$bin/postgres" -D "$WORK/pg" -k "$WORK/pg" -h ''
	await 30 psql -q -h "$WORK/pg" -U postgres -c 'SELECT 1' > /dev/null 2>&1
}

# clients: what asks the server, on the other CPU
clients_redis() { ON_CPU=1 serve clients redis-benchmark -s "$WORK/redis.sock" -n 100000000 -c 20 -P 16 -q; }
clients_nginx() { ON_CPU=1 serve clients wrk -t 1 -c 20 -d 600 -H 'Accept-Encoding: gzip' http://127.0.0.1:18471/; }
clients_node() { ON_CPU=1 serve clients wrk -t 1 -c 20 -d 600 http://127.0.0.1:18472/; }
clients_php() { ON_CPU=1 serve clients wrk -t 1 -c 4 -d 600 http://127.0.0.1:18473/; }
clients_postgres() {
	pgbench -q -i -s 1 -h "$WORK/pg" -U postgres postgres > /dev/null 2>&1
	ON_CPU=1 serve clients pgbench -S -n -c 4 -T 600 -h "$WORK/pg" -U postgres postgres
}

# A server with clients, and a hog on its CPU.
busy_server() { # SERVER HOG
	"server_$1"
	"clients_$1"
	hog "$2"
	fires 'cpu.some=5%'
	truth neighbour "${COMM_OF[$2]} in $2.service"
}

# Clients that wait for one row of a database, which one of them has locked.
row_lock() {
	server_postgres
	psql -q -h "$WORK/pg" -U postgres -c 'DROP TABLE IF EXISTS r; CREATE TABLE r(x int); INSERT INTO r VALUES (0)'
	cat > "$WORK/row.sql" << 'END'
BEGIN;
UPDATE r SET x = x + 1;
SELECT pg_sleep(0.05);
COMMIT;
END
	ON_CPU=1 serve clients pgbench -n -c 12 -f "$WORK/row.sql" -T 600 -h "$WORK/pg" -U postgres postgres
	asked
	truth peer 'postgres in victim.service'
}

# A client that waits for the answer of a server on the other CPU.
waits_for_postgres() {
	SERVER=server ON_CPU=1 server_postgres
	victim psql psql -h "$WORK/pg" -U postgres -c 'SELECT sum(length(md5(x::text))) FROM generate_series(1, 1000000000) x'
	asked
	# one wait, which does not end
	truth 'negligible|undetermined|peer'
}

# A query that searches a text: the client waits for the server, which always answers in the end.
slow_like() {
	SERVER=server ON_CPU=1 server_postgres
	psql -q -h "$WORK/pg" -U postgres -c "DROP TABLE IF EXISTS texts; CREATE TABLE texts AS SELECT md5(x::text) AS t FROM generate_series(1, 100000) x"
	echo "SELECT count(*) FROM texts WHERE t LIKE '%abc%def%';" > "$WORK/like.sql"
	victim pgbench pgbench -n -c 1 -f "$WORK/like.sql" -T 600 -h "$WORK/pg" -U postgres postgres
	asked
	truth peer 'postgres in server.service'
}

waits_for_redis() {
	SERVER=server ON_CPU=1 server_redis
	victim redis-benchmark redis-benchmark -s "$WORK/redis.sock" -n 100000000 -c 1 -q eval 'for i = 1, 300000 do end' 0
	asked
	truth peer 'redis-server in server.service'
}

# A program that waits for another one's bytes, every so often.
waits_for_pipe() { # MS
	program reader relay
	program sender relay
	rm -f "$WORK/pipe"
	mkfifo "$WORK/pipe"
	# shellcheck disable=SC2016 # the inner shell expands it
	ON_CPU=1 serve sender bash -c 'exec "$0" --pulse "$2" --seconds 3600 > "$1"' "$WORK/sender" "$WORK/pipe" "$1"
	# shellcheck disable=SC2016
	victim reader bash -c 'exec "$0" --read < "$1"' "$WORK/reader" "$WORK/pipe"
	asked
	truth peer 'sender in sender.service'
}

# A program that waits for another host, whose segments its own timers send.
waits_for_network() {
	network_up
	# shellcheck disable=SC2016 # perl's variables; 47 is SO_MAX_PACING_RATE, in bytes a second
	ON_CPU=1 serve far ip netns exec verdicts perl -MIO::Socket::INET -e '
		$listener = IO::Socket::INET->new(Listen => 1, LocalAddr => "10.183.7.2", LocalPort => 7000) or die;
		$to = $listener->accept; setsockopt($to, 1, 47, pack("L", 30000)); print $to "x" x 1000 while 1'
	await 20 ip netns exec verdicts bash -c 'ss -ltn | grep -q :7000'
	# shellcheck disable=SC2016
	victim perl perl -MIO::Socket::INET -e '
		$from = IO::Socket::INET->new(PeerAddr => "10.183.7.2", PeerPort => 7000) or die;
		1 while sysread($from, $bytes, 65536)'
	asked
	truth network
}

# network_up: a network of two, of which the far one is a namespace
network_up() {
	ip netns add verdicts
	ip link add verdicts0 type veth peer name verdicts1 netns verdicts
	ip addr add 10.183.7.1/24 dev verdicts0
	ip link set verdicts0 up
	ip -n verdicts addr add 10.183.7.2/24 dev verdicts1
	ip -n verdicts link set verdicts1 up
}

# A flood of datagrams, which CPU 1 sends and CPU 0 receives in soft interrupts, beside a victim on CPU 0.
flood() { # VICTIM
	network_up
	ip netns exec verdicts bash -c 'echo 1 > /sys/class/net/verdicts1/queues/rx-0/rps_cpus'
	busy_victim "$1"
	# shellcheck disable=SC2016
	ON_CPU=1 serve flood perl -MIO::Socket::INET -e '
		$s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "10.183.7.2", PeerPort => 7000) or die;
		while (1) { send($s, "x" x 1000, 0) }'
	fires 'cpu.some=5%'
	truth interrupts
}

# Programs that root's policy denies take the CPU.
denied() { # VICTIM HOG
	busy "$2"
	printf '%s\n' '[policy]' "deny_comms = $COMM" > "$WORK/denied.conf"
	reload --policy "$WORK/denied.conf"
	busy_victim "$1"
	hog "$2"
	fires 'cpu.some=10%'
	truth undetermined
}

# A rule for the whole host: one service has two thirds of the CPUs, another one the rest.
whole_host() {
	program noisy
	program app
	# sessions have CPU time by their priority, not by their threads: this one 1.25^3 as much as the other
	PRIORITY=-11 ON_CPU=0,1 serve noisy "$WORK/noisy" --threads 8
	ON_CPU=0,1 victim app "$WORK/app" --threads 4
	rule victim 'comm = *' 'watch = system' 'cpu.some = 10%' "history = $HISTORY" "capture = $SPAN" 'cooldown = 1h'
	truth_start "${LABELS[@]}"
	daemon_start
	await_log 30 'rule victim fired'
	captured
	truth 'own threads|neighbour' 'noisy in noisy.service'
}

# A hog in a cgroup whose name reads like an answer.
forged() {
	program hog
	busy_victim app
	serve 'a; the largest is sshd in /x' "$WORK/hog"
	fires 'cpu.some=10%'
	truth neighbour 'hog in verdicts.slice' # what lies below a cgroup that is no unit is none
}

runaway_app() { # THREADS
	program app
	runaway app "$WORK/app" --threads "$1"
}

# More threads of one program than the machine has CPUs.
runaway() { # COMM COMMAND...
	ON_CPU=0,1 PRIORITY=-18 victim "$@"
	fires 'cpu.some=10%'
	local percent
	percent=$(($(truth_of victim "$FROM" "$TO") * 100 / (TO - FROM) / $(nproc)))
	fact "ran: $percent % of the CPUs"
	((percent >= 60)) || { echo "it had only $percent % of the CPUs" >&2; return 1; }
	truth 'own threads' "$VICTIM in victim.service"
}
