#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make.sh [PATTERN...] makes the captures of tests/verdicts/captures/ whose names match: situations of known truth, each captured by
# a loader and a daemon of this tree. By hand, as root; README.md says what is written, and by which rule the truth is told.
set -euo pipefail
source "$(dirname "$0")/situation.bash"

# finish NAME TITLE: writes the capture
finish() {
	write_situation "$1" "$2" > "$WORK/situation.sql"
	mkdir -p "$HERE/captures"
	mv "$WORK/situation.sql" "$HERE/captures/$1.sql"
	echo "$1: $KIND" > "$WORK/finished"
}

situations() {
	local number
	situation neighbour-xz 'xz takes the CPU of a program' neighbour app xz
	situation neighbour-gzip 'gzip takes the CPU of a Python program' neighbour python3 gzip
	situation neighbour-bzip2 'bzip2 takes the CPU of a Perl program' neighbour perl bzip2
	situation neighbour-openssl 'openssl takes the CPU of a PHP program' neighbour php openssl
	situation neighbour-sqlite3 'sqlite3 takes the CPU of a program of node' neighbour node sqlite3
	situation neighbour-python3 'a Python program takes the CPU of openssl' neighbour openssl python3
	situation neighbour-node 'a program of node takes the CPU of sqlite3' neighbour sqlite3 node
	situation neighbour-java 'a Java program takes the CPU of xz' neighbour xz java
	situation neighbour-php 'a PHP program takes the CPU of a Java program' neighbour java php
	situation neighbour-perl 'a Perl program takes the CPU of gzip' neighbour gzip perl
	situation neighbour-stress-ng 'stress-ng takes the CPU of a program' neighbour app stress-ng
	situation neighbour-cc1 'a compiler takes the CPU of a program' neighbour app cc1
	situation neighbour-awk 'awk takes the CPU of a program' neighbour app awk
	situation neighbour-dd 'dd takes the CPU of a Python program, in the kernel' neighbour python3 dd
	situation neighbour-bash 'a shell takes the CPU of sha256sum' neighbour sha256sum bash
	situation neighbour-redis 'xz takes the CPU of redis, which has clients' busy_server redis xz
	situation neighbour-nginx 'gzip takes the CPU of nginx, which has clients' busy_server nginx gzip
	situation neighbour-http-node 'openssl takes the CPU of a server of node' busy_server node openssl
	situation neighbour-http-php 'a Perl program takes the CPU of a server of PHP' busy_server php perl
	situation neighbour-postgres 'a Python program takes the CPU of PostgreSQL' busy_server postgres python3
	situation storm-redis 'a storm of short programs takes the CPU of redis' fork_storm redis
	situation storm-nginx 'a storm of short programs takes the CPU of nginx' fork_storm nginx
	for number in {1..40}; do
		situation "mixture-$(printf %02u "$number")" 'one to five programs of random priorities beside a victim' mixture "$number"
	done
	situation own-threads-2 'two threads of one program want one CPU' own_threads 2
	situation own-threads-6 'six threads of one program want one CPU' own_threads 6
	situation own-threads-3-xz 'three threads of one program and xz want one CPU' own_threads 3 xz -3
	situation own-threads-8-gzip 'eight threads of one program and gzip want one CPU' own_threads 8 gzip -3
	situation threads-beside-xz 'three threads of one program beside xz, which has as much of the CPU' own_threads 3 xz -8
	situation threads-beside-gzip 'eight threads of one program beside gzip, which has as much of the CPU' own_threads 8 gzip -8
	situation own-threads-runaway 'twelve threads of one program on all CPUs' runaway_app 12
	situation own-threads-stress-ng 'stress-ng beside itself' runaway stress-ng-cpu stress-ng --cpu 6 --cpu-method fft
	situation own-threads-openssl 'openssl beside itself' runaway openssl openssl speed -multi 6 -seconds 600 sha256
	situation crowd-110 '110 small programs in 14 units' crowd 110 14 60
	situation crowd-60 '60 small programs in 6 units' crowd 60 6 30
	situation crowd-40 '40 small programs in 10 units' crowd 40 10 20
	situation quota-app 'a quota of a fifth of a CPU, of cgroup v1' quota app 20 self
	situation quota-python3 'a quota of half a CPU, of cgroup v1' quota python3 50 self
	situation quota-above 'a quota of the cgroup above' quota perl 20 above
	situation quota-node 'a quota of a server beside a neighbour' quota node 30 self gzip
	situation quota-php 'a quota of a tenth of a CPU' quota php 10 self
	situation quota-stops 'a quota of a unit that stops before the capture ends' quota_stops app 20
	situation lock-mutex 'six threads and one mutex, on demand' mutex 6 20
	situation lock-mutex-short 'twelve threads and one mutex, on demand' mutex 12 5
	situation lock-mutex-three 'three threads and one mutex, on demand' mutex 3 50
	situation lock-java 'a monitor of Java, on demand' monitor
	situation lock-go 'a mutex of Go, on demand' go_mutex
	situation lock-go-threads 'a mutex of Go of goroutines with threads of their own, on demand' go_threads_mutex
	situation lock-rust 'a mutex of Rust, on demand' rust_mutex
	situation idle-pool 'a pool of 64 idle workers, on demand' idle_pool
	situation limit-memory 'a working set beyond the memory limit' limited memory
	situation limit-io 'the same, asked as I/O' limited io
	situation limit-python3 'a Python program reads a file larger than its memory limit' limited_reader memory
	situation limit-python3-io 'the same, asked as I/O' limited_reader io
	situation kill-perl 'an OOM kill at a limit' killed perl
	situation kill-python3 'an OOM kill at a limit of a Python program' killed python3
	situation kill-beside-xz 'an OOM kill while xz takes the CPU' killed perl xz
	situation kill-beside-openssl 'an OOM kill of a Python program while openssl takes the CPU' killed python3 openssl
	situation own-io-direct 'a program that writes past the page cache' own_io io_hog
	situation own-io-dd 'dd, block by block' own_io dd
	situation own-io-sqlite3 'sqlite3, commit by commit' own_io sqlite3
	situation own-io-python3 'a Python program that flushes each write' own_io python3
	situation io-neighbour 'a backup writes beside a program that writes little' io_neighbour 2
	situation io-neighbour-four 'a backup of four threads beside a program that writes little' io_neighbour 4
	situation negligible-app 'a program that goes before its neighbour' calm app xz
	situation negligible-python3 'a Python program that goes before its neighbour' calm python3 gzip
	situation negligible-openssl 'openssl goes before its neighbour' calm openssl awk
	situation idle-redis 'redis without clients, on demand' idle redis
	situation idle-nginx 'nginx without clients, on demand' idle nginx
	situation idle-node 'a server of node without clients, on demand' idle node
	situation idle-postgres 'PostgreSQL without clients, on demand' idle postgres
	situation peer-pipe 'a program that waits for bytes of another, on demand' waits_for_pipe 20
	situation peer-redis 'a client that waits for redis, on demand' waits_for_redis
	situation peer-row-lock 'twelve clients of PostgreSQL that want one row, on demand' row_lock
	situation wait-postgres 'a client that waits for one long query, on demand' waits_for_postgres
	situation network-perl 'a program that waits for another host, on demand' waits_for_network
	situation interrupts-app 'a flood of datagrams on the CPU of a program' flood app
	situation interrupts-python3 'a flood of datagrams on the CPU of a Python program' flood python3
	situation undetermined-xz 'a program that the policy denies takes the CPU' denied app xz
	situation undetermined-perl 'a Perl program that the policy denies takes the CPU' denied python3 perl
	situation whole-host 'a rule for the whole host' whole_host
}

situations_run situations "$@"
