#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Which language's runtime a process is, and what says so: real programs of Debian. Those that are not installed are left
# out; python3 and perl always are.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup runtimes
	cgroup_make
	PROCESSES=()
}

teardown() {
	bourdon_teardown
}

# run_as NAME COMMAND ARGUMENT...: starts it, and notes its pid as that of NAME. The command prints "ready", and burns.
run_as() {
	start_command "${@:2}"
	PROCESSES+=("$1 $CHILD")
}

pid_of() {
	printf '%s\n' "${PROCESSES[@]}" | awk -v name="$1" '$1 == name { print $2 }'
}

# is RUNTIME EVIDENCE NAME: the process of that name has that runtime, and evidence that matches
is() {
	local said
	said=$(sql "SELECT DISTINCT runtime || ': ' || runtime_evidence FROM process JOIN usage USING(process_id)
		WHERE tgid = $(pid_of "$3") AND role = 'target'")
	[[ $said =~ ^$1:\ $2$ ]] || { echo "$3 is $said, not $1: $2" >&2; return 1; }
}

@test "python3, perl, node, java, php, ruby and Go are known by their content, and a file named python3 is not" {
	local go
	load
	rule targets 'comm = *' "cgroup = /$CGROUP" 'io.full = 100%'
	daemon_start
	run_as python /usr/bin/python3 -c $'print("ready", flush=True)\nwhile True: pass'
	# shellcheck disable=SC2016
	run_as perl /usr/bin/perl -e '$| = 1; print "ready\n"; for (;;) { $i++ }'
	cp "$BUILD/workloads/cpu_hog" "$WORK/python3"
	run_as impostor "$WORK/python3"
	cp "$(realpath /usr/bin/perl)" "$WORK/worker"
	# shellcheck disable=SC2016
	run_as renamed "$WORK/worker" -e '$| = 1; print "ready\n"; for (;;) { $i++ }'
	if [[ -x /usr/bin/node ]]; then
		run_as node /usr/bin/node -e 'require("fs").writeSync(1, "ready\n"); for (;;) ;'
	fi
	if command -v php > /dev/null; then
		run_as php php -r 'echo "ready\n"; for (;;) ;'
	fi
	if command -v ruby > /dev/null; then
		# shellcheck disable=SC2016
		run_as ruby ruby -e '$stdout.sync = true; puts "ready"; loop { }'
	fi
	if command -v java > /dev/null && java --help 2> /dev/null | grep -q 'source-file mode\|sourcefile'; then
		printf '%s\n' 'class Burn { public static void main(String[] a) { System.out.println("ready"); for (;;) ; } }' > "$WORK/Burn.java"
		run_as java java "$WORK/Burn.java"
	fi
	if command -v go > /dev/null; then
		printf '%s\n' 'package main' 'import "os"' 'func main() { os.Stdout.WriteString("ready\n"); for { } }' > "$WORK/burn.go"
		go=$(cd "$WORK" && CGO_ENABLED=0 HOME=$WORK GOFLAGS=-mod=mod GOPROXY=off GOCACHE=$WORK/cache go build -ldflags=-s -o server burn.go 2>&1) ||
			{ echo "$go" >&2; return 1; }
		run_as go "$WORK/server"
	fi
	# stopped, so that reading node's 99 MB does not compete with all of them
	kill -STOP "${CHILDREN[@]}"
	await_tables "${PROCESSES[@]##* }"
	kill -CONT "${CHILDREN[@]}"
	rule pressure 'comm = *' "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 1s' 'capture = 2s' 'cooldown = 1h'
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	sql "SELECT DISTINCT comm, exe, runtime, runtime_evidence FROM process" >&2
	is python 'python3[.0-9]* (defines|imports) Py_BytesMain' python
	is perl 'perl defines perl_run' perl
	is native 'no sign of a runtime in [2-9] files that it maps' impostor
	is perl 'worker defines perl_run' renamed
	[[ -z $(pid_of node) ]] || is node 'node (defines|imports) node::Start' node
	[[ -z $(pid_of php) ]] || is php 'php[.0-9]* defines php_request_startup' php
	[[ -z $(pid_of ruby) ]] || is ruby 'ruby[.0-9]* (defines|imports) ruby_run_node' ruby
	[[ -z $(pid_of java) ]] || is jvm 'java imports JLI_Launch' java
	[[ -z $(pid_of go) ]] || is go 'server has section \.go(pclntab|\.buildinfo)' go
}
