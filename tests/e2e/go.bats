#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Stripped Go programs of Debian under load, which `make prometheus` has unpacked: their functions have the names and places that
# Go itself gives them, and their stacks are whole. And a program with known frames (tests/workloads/go/), whose stacks go on across
# each switch to the scheduler's stack.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/prometheus.bash"

LEAST_PERCENT=99
LEAST_FRAMES=200

setup() {
	bourdon_setup go
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# serve COMMAND...: starts it in our cgroup, with its output in $WORK/served.log
serve() {
	(
		echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
		exec "$@"
	) < /dev/null > "$WORK/served.log" 2>&1 3>&- &
	CHILD=$!
	CHILDREN+=("$CHILD")
}

# capture_load: captures what is in our cgroup, once the program CHILD has its tables, and waits for the names
capture_load() {
	load_targets_alone --hz 499
	rule all 'comm = *' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	daemon_start
	await_tables "$CHILD"
	"$BUILD/bourdon" --db "$DB" capture --cgroup "/$CGROUP" --for $((4 * PATIENCE))s --on-cpu
	children_end
}

# are_whole PROGRAM: whether 99 % of the stacks that begin in this program's code are whole, or deeper than a sample
are_whole() {
	local all whole
	IFS='|' read -r all whole < <(sql "SELECT ifnull(sum(s.samples), 0), ifnull(sum(s.samples) FILTER (WHERE st.ended IN ('root', 'depth')), 0)
		FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
		WHERE s.kind = 'on-cpu' AND s.second >= 0 AND p.comm = substr('${1##*/}', 1, 15) AND st.ended IS NOT NULL")
	echo "${1##*/}: $whole of $all stacks are whole"
	sql "SELECT sum(s.samples), st.ended, st.unwinder, f.function
		FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
			JOIN stack_frame sf ON sf.stack_id = st.stack_id AND sf.position = st.depth - 1 JOIN frame f USING(frame_id)
		WHERE s.kind = 'on-cpu' AND s.second >= 0 AND p.comm = substr('${1##*/}', 1, 15) AND st.ended NOT IN ('root', 'depth')
		GROUP BY 2, 3, 4 ORDER BY 1 DESC LIMIT 10"
	((all >= ${2-100} && whole * 100 >= all * LEAST_PERCENT))
}

# is_named PROGRAM FUNCTION...: whether 99 % of its frames have a name, some have inlined functions, and these functions are
# among them. Prints what has no name.
is_named() {
	local path frames named placed inlined function
	path=$(realpath "$1")
	IFS='|' read -r frames named placed inlined < <(sql "SELECT count(*) FILTER (WHERE inlined = 0),
		count(function_offset) FILTER (WHERE inlined = 0), count(file) FILTER (WHERE inlined = 0),
		count(*) FILTER (WHERE inlined > 0) FROM frame JOIN module USING(module_id) WHERE path = '$path'")
	echo "${path##*/}: $frames frames, $named named, $placed with a place; $inlined inlined"
	sql "SELECT function FROM frame JOIN module USING(module_id) WHERE path = '$path' AND inlined = 0 AND function_offset IS NULL"
	((frames >= LEAST_FRAMES && inlined > 0))
	((named * 100 >= frames * LEAST_PERCENT && placed * 100 >= frames * LEAST_PERCENT))
	for function in "${@:2}"; do
		[[ $(sql "SELECT count(*) > 0 FROM frame JOIN module USING(module_id) WHERE path = '$path' AND function = '$function'") == 1 ]] ||
			{ echo "no frame of $function" >&2; return 1; }
	done
}

# places PROGRAM: address, function, file and line of each address that has a place: the function that has the code, and the place
# of the innermost
places() {
	sql "WITH place AS (
			SELECT module_id, offset, bias, max(inlined) AS innermost FROM frame JOIN module USING(module_id)
			WHERE path = '$(realpath "$1")' GROUP BY module_id, offset, bias
		)
		SELECT printf('%x', p.offset + p.bias) || char(9) || o.function || char(9) || i.file || char(9) || i.line FROM place p
			JOIN frame o ON (o.module_id, o.offset, o.inlined) = (p.module_id, p.offset, 0)
			JOIN frame i ON (i.module_id, i.offset, i.inlined) = (p.module_id, p.offset, p.innermost)
		WHERE i.file IS NOT NULL ORDER BY p.offset"
}

# is_as_gosym PROGRAM: whether debug/gosym has the same functions and places
is_as_gosym() {
	places "$1" > "$WORK/ours"
	[ "$(wc -l < "$WORK/ours")" -ge "$LEAST_FRAMES" ]
	# from Go 1.26 on the table does not say where the text begins
	cut -f 1 "$WORK/ours" | "$BUILD/symbols/go_plain" "$1" - > "$WORK/gosym" || skip 'debug/gosym cannot read the table'
	diff "$WORK/ours" "$WORK/gosym"
	echo "$(wc -l < "$WORK/ours") places, all as debug/gosym has them"
}

# ask_without_end PORT: asks Prometheus to count
ask_without_end() {
	/usr/bin/python3 -I -c '
import sys, time, urllib.parse, urllib.request
query = "sum by (le) (rate(prometheus_http_request_duration_seconds_bucket[1m])) + on () group_left () count({__name__=~\".+\"})"
ends = time.time() + 600
while time.time() < ends:
    until = time.time()
    urllib.request.urlopen("http://127.0.0.1:%s/api/v1/query_range?" % sys.argv[1] + urllib.parse.urlencode(
        {"query": query, "start": until - 3600, "end": until, "step": 1})).read()
    urllib.request.urlopen("http://127.0.0.1:%s/metrics" % sys.argv[1]).read()
' "$1"
}

@test "Prometheus: 99 % of its frames have a name, and each is as debug/gosym has it" {
	local port program=$PROMETHEUS/prometheus
	need_prometheus
	port=$(free_port)
	echo '{ global: { scrape_interval: 1s }, scrape_configs: [ { job_name: own, static_configs: [ { targets: [ "127.0.0.1:'"$port"'" ] } ] } ] }' \
		> "$WORK/prometheus.yml"
	serve "$program" --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/prometheus" \
		--web.listen-address="127.0.0.1:$port"
	await 60 answers "$port"
	for _ in 1 2; do
		ask_without_end "$port" > /dev/null 2>&1 3>&- &
		CHILDREN+=($!)
	done
	await_cpu "$CHILD" 1000
	capture_load
	is_named "$program" 'net/http.(*conn).serve' 'net/http.HandlerFunc.ServeHTTP'
	are_whole "$program"
	is_as_gosym "$program"
}

# store_without_end SOCKET: has containerd store contents
store_without_end() {
	for _ in {1..300}; do
		head -c 4M /dev/urandom | timeout 20 "$PROMETHEUS/ctr" --address "$1" content ingest "content-$RANDOM-$RANDOM"
		timeout 20 "$PROMETHEUS/ctr" --address "$1" content ls
	done
}

@test "containerd: 99 % of its frames have a name, and each is as debug/gosym has it" {
	local program=$PROMETHEUS/containerd
	need_prometheus
	cat > "$WORK/containerd.toml" <<- END
		version = 2
		root = "$WORK/containerd"
		state = "$WORK/containerd.state"
		disabled_plugins = [ "io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt", "io.containerd.internal.v1.tracing",
			"io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
			"io.containerd.snapshotter.v1.overlayfs", "io.containerd.snapshotter.v1.zfs" ]
		[grpc]
		address = "$WORK/containerd.sock"
		[ttrpc]
		address = "$WORK/containerd.ttrpc"
	END
	serve "$program" --config "$WORK/containerd.toml"
	await 60 test -S "$WORK/containerd.sock"
	for _ in 1 2; do
		store_without_end "$WORK/containerd.sock" > "$WORK/ctr.log" 2>&1 3>&- &
		CHILDREN+=($!)
	done
	await_cpu "$CHILD" 500
	capture_load
	is_named "$program" 'github.com/containerd/containerd/content/local.(*writer).Write'
	are_whole "$program"
	is_as_gosym "$program"
}

# whole_stacks: the distinct stacks of the program's user code that are whole, outermost function first
whole_stacks() {
	sql "SELECT DISTINCT (SELECT group_concat(replace(function, '.abi0', ''), ';') FROM (
			SELECT f.function FROM stack_frame sf JOIN frame f USING(frame_id) JOIN module m USING(module_id)
			WHERE sf.stack_id = st.stack_id AND m.kind NOT IN ('kernel', 'module') AND NOT f.inlined ORDER BY sf.position DESC))
		FROM sample s JOIN stack st USING(stack_id) JOIN process p USING(process_id)
		WHERE s.kind = 'on-cpu' AND s.second >= 0 AND p.comm = 'switches' AND st.ended = 'root'"
}

# some_stack PATTERN: at least one whole stack matches
some_stack() {
	grep -Eq "$1" "$WORK/whole" || { echo "none like $1:"; cut -c 1-300 "$WORK/whole" | head -20; false; }
}

@test "a goroutine's stack goes on where the runtime left it: systemstack, morestack, vDSO, C; scheduling ends at mcall" {
	command -v go > /dev/null || skip 'no go command'
	local chain='runtime\.goexit;(main\.main\.func[0-9]+;)?main\.run[A-Z][a-z]*;main\.outer;main\.middle'
	(cd "$TREE/tests/workloads/go" && GO111MODULE=off GOPROXY=off GOTOOLCHAIN=local GOCACHE="$WORK/go_cache" CGO_ENABLED=1 \
		go build -ldflags='-s -w' -o "$WORK/switches" .)
	load_targets_alone --hz 499
	rule targets 'comm = switches' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	daemon_start
	serve "$WORK/switches"
	await_tables "$CHILD"
	# so many samples, whatever part of the CPUs it gets
	capture_begin --comm switches
	await_cpu "$CHILD" 8000
	capture_end
	are_whole switches
	whole_stacks > "$WORK/whole"
	# every whole stack begins where a goroutine does, or where the scheduler does
	run grep -Evx '(runtime\.(goexit|mcall|mstart|rt0_go|gopreempt_m|preemptPark)|gogo|_*clone3)(;.*)?' "$WORK/whole"
	[ -z "$output" ] || { head -10 <<< "$output"; false; }
	# and none of the known callers is missing; the sample may be within one of them
	run grep -Ev "^$chain;|^${chain%;*}(;main\.middle)?\$|^runtime\.(mcall|mstart|rt0_go|gopreempt_m|preemptPark)|^gogo\$|^_*clone3|^runtime\.goexit(\$|;(runtime\.|main\.main|main\.run[A-Z][a-z]*(;runtime\..*)?\$))" "$WORK/whole"
	[ -z "$output" ] || { head -10 <<< "$output"; false; }
	some_stack "^$chain;main\.collect;runtime\.GC;.*;runtime\.systemstack;"
	some_stack "^$chain;main\.deepenOnce;(main\.deepen;)+runtime\.morestack;runtime\.newstack"
	some_stack "^$chain;main\.ask;time\.Now;.*vdso"
	some_stack "^$chain;main\.callC;.*runtime\.asmcgocall;switches\+0x"
	some_stack '^runtime\.mcall;runtime\.(park_m|goexit0|gosched_m)'
}
