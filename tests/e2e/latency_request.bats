#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Latencies of requests: servers that answer in known times, beside what their clients measured; connections on which requests
# overlap; and clients that flood.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/accounts.bash"

setup() {
	accounts_setup latency_request
}

teardown() {
	bourdon_teardown
}

# known HOW MS: a server that answers in known ways, as a victim; sets PORT
known() {
	own_workload known_server
	load --probes request,runqueue
	follow
	victim "$WORK/$OWN" --how "$1" --time "$2"
	PORT=${CHILD_LINE#ready }
	begin
}

# ask OPTION...: asks it, and sets COUNT, MEDIAN and P99 to what the client measured
ask() {
	read -r COUNT MEDIAN P99 < <("$BUILD/workloads/known_client" --port "$PORT" "$@")
	echo "client: $COUNT exchanges, median $MEDIAN ns, p99 $P99 ns" >&2
	[[ $COUNT ]]
}

# finish_requests: ends the capture, and shows what it has
finish_requests() {
	finish
	sql "SELECT * FROM latency_measured WHERE span = 'during' AND metric LIKE 'request%'" >&2
	sql "SELECT * FROM latency_percentile WHERE metric LIKE 'request%'" >&2
}

# of METRIC LABEL: events, and p50 in ns
counted_in() {
	sql "SELECT ifnull(sum(count), 0) FROM histogram WHERE metric = '$1' AND label LIKE '%/victim:$PORT$2' AND span = 'during'"
}

p50_of() {
	sql "SELECT p50_ns FROM latency_percentile WHERE metric = '$1' AND label LIKE '%/victim:$PORT' AND span = 'during'"
}

# within_a_bucket NS METRIC: whether the median is NS, or in a bucket beside it
within_a_bucket() {
	local p50
	p50=$(p50_of "$2")
	echo "$2: $p50 ns, expected $1" >&2
	# p50 is the upper bound of a bucket, which is an eighth wide
	((p50 * 64 >= $1 * 56 && p50 * 64 <= $1 * 81))
}

# all_but_unseen COUNT EXPECTED: on some machines the kernel leaves out a few programs, and no counter of its own says so
all_but_unseen() {
	echo "counted $1 of $2" >&2
	(($1 <= $2 && $1 * 100 >= $2 * 97 - 100))
}

# no_longer_than_the_client METRIC: the server's median is not above the bucket of what the client saw
no_longer_than_the_client() {
	local p50
	p50=$(p50_of "$1")
	echo "$1: $p50 ns, the client saw $MEDIAN" >&2
	((p50 * 64 <= MEDIAN * 81))
}

@test "a server that sleeps is blocked for as long" {
	known sleep 5
	ask --times 200
	finish_requests
	all_but_unseen "$(counted_in request)" 200
	within_a_bucket 5060000 request.blocked
	within_a_bucket "$MEDIAN" request
	# the one thread has no other connection
	[ "$(counted_in request.blocked)" -eq "$(counted_in request)" ]
	no_longer_than_the_client request
}

@test "a server that computes is on a CPU for as long, whatever runs beside it" {
	known burn 3
	ask --times 200
	finish_requests
	all_but_unseen "$(counted_in request)" 200
	within_a_bucket 3000000 request.on_cpu
	no_longer_than_the_client request
	# most of the time in which it did not compute, it was not blocked
	(($(sql "SELECT sum(sum_ns) FROM histogram WHERE metric = 'request.blocked' AND span = 'during'") < 200 * 3000000 / 10))
}

@test "an answer begins with its first byte and ends with its last one" {
	known twice 4
	ask --times 100
	finish_requests
	all_but_unseen "$(counted_in request)" 100
	within_a_bucket 4060000 request.blocked
	(($(p50_of request) > 4000000 && $(p50_of request.first_byte) < 4000000))
}

@test "another thread answers: the time is told, and not taken apart" {
	known hand 4
	ask --times 100
	finish_requests
	all_but_unseen "$(counted_in request)" 100
	(($(p50_of request) > 4000000))
	(($(counted_in request.on_cpu) == 0))
}

@test "each request on a connection of its own" {
	known sleep 1
	ask --times 200 --anew
	finish_requests
	all_but_unseen "$(counted_in request)" 200
	within_a_bucket 1060000 request.blocked
}

@test "connections on which requests overlap are recognised, and measured apart" {
	known sleep 4
	ask --times 300 --apart 3100
	finish_requests
	# a connection is judged by its first exchanges
	(($(counted_in request.multiplexed) > 0))
	(($(counted_in request) <= 30))
}

@test "the last exchange of a connection that stays open is counted" {
	known sleep 1
	exec {STAYS}< <(exec "$BUILD/workloads/known_client" --port "$PORT" --times 10 --stays)
	CHILDREN+=($!)
	read -r COUNT _ <&"$STAYS"
	# by then the connection is idle for a second
	SECONDS=0
	await 20 eval '((SECONDS >= 3))'
	finish_requests
	[ "$(counted_in request)" -eq 10 ]
}

@test "requests in pieces are one; several at once are recognised as such" {
	known sleep 1
	ask --times 60 --pieces
	ask --times 60 --batch 8
	finish_requests
	# a connection is judged after eight exchanges, which count as unpaired
	(($(counted_in request) <= 60 && $(counted_in request.multiplexed) >= 45))
	[ "$(sql "SELECT sum(count) >= 54 FROM histogram WHERE metric = 'request' AND upper_ns < 1000000000 AND span = 'during'")" = 1 ]
}

# as_target PROGRAM: has it run a script of standard input as a target, in the victim's cgroup
as_target() {
	mkdir -p "$WORK/$1"
	ln -sf "$(PATH=/usr/bin:$PATH command -v "$1")" "$WORK/$1/$OWN"
	(
		echo "$BASHPID" > "$CGROUP2/$CGROUP/victim/cgroup.procs"
		exec timeout 100 "$WORK/$1/$OWN" -
	)
}

@test "only servers of targets are measured, and their labels have an end" {
	known sleep 1
	local port=$PORT all lost
	start_command "$BUILD/workloads/known_server" --time 1
	PORT=${CHILD_LINE#ready }
	ask --times 50
	(($(counted_in request) == 0))
	PORT=$port
	ask --times 50
	# one port after another
	as_target python3 <<- 'END'
		import socket
		for i in range(1500):
		    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
		        connection = server.accept()[0]
		        client.sendall(b"ask")
		        connection.recv(3)
		        connection.sendall(b"answer")
		        client.recv(6)
		        connection.close()
	END
	ask --times 50
	finish_requests
	[ "$(sql "SELECT count(*) FROM histogram WHERE metric LIKE 'request%' AND label NOT LIKE '%/victim%' AND label <> 'other'")" -eq 0 ]
	(($(sql "SELECT count(DISTINCT label) FROM histogram WHERE metric = 'request'") <= 1026))
	# what has no room is told as lost
	all=$(sql "SELECT sum(count) FROM histogram WHERE metric = 'request' AND span = 'during'")
	lost=$(sql "SELECT lost FROM latency_measured WHERE metric = 'request' AND span = 'during'")
	all_but_unseen $((all + lost)) 1600
}

@test "a thread that reads from several connections before it answers: the parts of its time say so" {
	known sleep 1
	as_target python3 <<- 'END'
		import socket
		with socket.create_server(("127.0.0.1", 0)) as server:
		    clients = [socket.create_connection(server.getsockname()) for i in range(2)]
		    connections = [server.accept()[0] for i in range(2)]
		    for i in range(50):
		        for client in clients:
		            client.sendall(b"ask")
		        for connection in connections:
		            connection.recv(3)
		        for connection in connections:
		            connection.sendall(b"answer")
		        for client in clients:
		            client.recv(6)
		    for connection in connections:
		        connection.close()
	END
	finish_requests
	# it read the second request last
	all_but_unseen "$(sql "SELECT ifnull(sum(count), 0) FROM histogram WHERE metric = 'request.on_cpu' AND label LIKE '%/victim:% shared'")" 50
	all_but_unseen "$(sql "SELECT ifnull(sum(count), 0) FROM histogram WHERE metric = 'request.on_cpu' AND label NOT LIKE '% shared'")" 50
	all_but_unseen "$(sql "SELECT ifnull(sum(count), 0) FROM histogram WHERE metric = 'request'")" 100
}

@test "HTTP/2 with parallel streams is recognised" {
	command -v node > /dev/null || skip 'no nodejs'
	known sleep 1
	as_target node <<- 'END'
		const http2 = require('http2');
		const server = http2.createServer();
		let left = 40;
		server.on('stream', (stream) => setTimeout(() => { stream.respond({ ':status': 200 }); stream.end('answer'); }, 2 + Math.random() * 8));
		server.listen(0, '127.0.0.1', () => {
			const client = http2.connect('http://127.0.0.1:' + server.address().port);
			const round = () => {
				let open = 10;
				for (let i = 0; i < 10; i++)
					setTimeout(() => {
						const request = client.request({ ':path': '/' });
						request.resume();
						request.on('end', () => {
							if (--open)
								return;
							if (--left)
								return round();
							client.close();
							server.close();
						});
						request.end();
					}, i * 2);
			};
			round();
		});
	END
	finish_requests
	(($(sql "SELECT sum(count) FROM histogram WHERE metric = 'request.multiplexed'") > 40))
	(($(sql "SELECT ifnull(sum(count), 0) FROM histogram WHERE metric = 'request'") <= 12))
}

@test "a process that becomes a target has its connections measured from then on" {
	own_workload known_server
	load --probes request
	rule idle 'comm = bourdon-none' 'cpu.some = 10s/10s' 'probes = request'
	daemon_start
	victim "$WORK/$OWN" --time 1
	PORT=${CHILD_LINE#ready }
	exec {ASKING}< <(exec "$BUILD/workloads/known_client" --port "$PORT" --times 100000)
	CHILDREN+=($!)
	await_cpu "$VICTIM" 100
	begin
	await_cpu "$VICTIM" 200
	finish_requests
	(($(counted_in request) > 100))
}

@test "clients that never read their answers cost the others nothing" {
	known sleep 1
	exec {NEVER}< <(exec /usr/bin/python3 -c 'if True:
		import signal, socket, sys
		asking = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for i in range(300)]
		for one in asking:
		    one.sendall(bytes(24))
		print("asked", flush=True)
		signal.pause()' "$PORT")
	CHILDREN+=($!)
	read -r _ <&"$NEVER"
	ask --times 100
	SECONDS=0
	await 20 eval '((SECONDS >= 3))'
	finish_requests
	all_but_unseen "$(counted_in request)" 400
}

@test "the server of PostgreSQL takes no longer than its client sees" {
	local bin
	bin=$(find /usr/lib/postgresql -path '*/bin/pgbench' -printf '%h\n' 2> /dev/null | sort -V | tail -n 1)
	[[ -n $bin ]] || skip 'no postgresql'
	# free a moment ago
	PORT=$(/usr/bin/python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
	as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups env HOME="$WORK" PGHOST=127.0.0.1 PGPORT="$PORT" "$@"; }
	mkdir "$WORK/data"
	chown postgres: "$WORK/data"
	as_postgres "$bin/initdb" -D "$WORK/data" --auth trust --no-sync > /dev/null
	OWN=postgres
	load --probes request
	follow
	victim setpriv --reuid postgres --regid postgres --clear-groups bash -c 'echo ready; exec "$@"' bash \
		"$bin/postgres" -D "$WORK/data" -k '' -p "$PORT" -c fsync=off
	await 60 as_postgres "$bin/pg_isready" -q -d postgres
	as_postgres "$bin/pgbench" -i -q postgres 2> /dev/null
	begin
	# the third column of its log is what each took, in us
	(cd "$WORK/data" && as_postgres "$bin/pgbench" -S -n -c 1 -t 2000 -l postgres > /dev/null)
	finish_requests
	MEDIAN=$(sort -n -k 3,3 "$WORK"/data/pgbench_log.* | awk '{ all[NR] = $3 } END { print all[int(NR / 2)] * 1000 }')
	# pgbench has a few more of its own, as for the size of its tables
	(($(counted_in request) >= 1940 && $(counted_in request) <= 2010))
	no_longer_than_the_client request
	(($(p50_of request) * 4 >= MEDIAN))
	# one process a connection: each is taken apart
	[ "$(counted_in request.on_cpu)" -eq "$(counted_in request)" ]
}

@test "a rule on the latency of requests fires, and says where the time went" {
	own_workload known_server
	rule slow "comm = $OWN" "cgroup = /$CGROUP/victim" 'latency = request.p99 > 20ms / 5s' 'history = 5s' 'capture = 2s' 'cooldown = 1h'
	load --probes request
	daemon_start
	victim "$WORK/$OWN" --time 30
	PORT=${CHILD_LINE#ready }
	exec {ASKING}< <(exec "$BUILD/workloads/known_client" --port "$PORT" --times 10000)
	CHILDREN+=($!)
	await_log 60 'rule slow fired: request p99 '
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete' AND trigger_mode = 'latency'" 1
	[ "$(sql 'SELECT latency_metric, latency_quantile FROM capture')" = 'request|p99' ]
	run "$BUILD/bourdon" --db "$DB" latency --metric request
	echo "$output"
	[[ $output == *'request: from the arrival of a request to the last byte of its answer'* && $output == *"victim:$PORT"* ]]
}

@test "unless root asks for it, no program is called for what connections send and receive" {
	load
	[ ! -e "$PIN_DIR/prog_request_arrived" ] && [ ! -e "$PIN_DIR/requests" ]
	load --probes all
	[ -e "$PIN_DIR/prog_request_arrived" ] && [ -e "$PIN_DIR/requests" ]
}
