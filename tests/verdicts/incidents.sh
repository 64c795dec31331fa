#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# incidents.sh [PATTERN...] makes incidents of known truth, most with real servers, and prints for each the truth and what
# `bourdon why` says of it on a terminal of 80 columns. By hand, as root, some 5 minutes.
set -euo pipefail
source "$(dirname "$0")/situation.bash"

# finish NAME TITLE
finish() {
	local fact
	{
		echo "== $1: $2"
		echo "truth: $KIND${WHOM:+, $WHOM}"
		for fact in "${FACTS[@]}"; do echo "       $fact"; done
		COLUMNS=80 "$BUILD/bourdon" --db "$DB" why
		echo
	} > "$WORK/finished"
}

incidents() {
	situation 01-runaway-threads 'twelve threads of one program on all CPUs' runaway_app 12
	situation 02-mutex 'six threads and one mutex, on demand' mutex 6 20
	situation 03-crowd '110 small programs in 14 units' crowd 110 14 60
	situation 04-quota-stops 'a quota of a unit that stops before the capture ends' quota_stops app 20
	situation 05-quota 'a quota of cgroup v1 of a Python program, beside a neighbour' quota python3 30 self gzip
	situation 06-limit 'a working set beyond its memory limit: pressure of memory and of I/O' limited memory 'io.some = 2%'
	situation 07-kill 'an OOM kill at a limit, alone' killed python3
	situation 08-kill-beside 'an OOM kill while xz takes the CPU' killed perl xz
	situation 09-whole-host 'a rule for the whole host' whole_host
	situation 10-fork-storm 'a storm of short programs beside redis' fork_storm redis
	situation 11-xz 'xz beside redis, which has clients' busy_server redis xz
	situation 12-row-lock 'twelve clients of PostgreSQL that want one row, on demand' row_lock
	situation 13-slow-query 'a client that waits for a query with LIKE, on demand' slow_like
	situation 14-node 'openssl beside a server of node' busy_server node openssl
	situation 15-php 'two programs beside a server of PHP' busy_server php perl
	situation 16-nginx 'a compression beside nginx' busy_server nginx gzip
	situation 17-java 'threads of Java that want one monitor, on demand' monitor
	situation 18-forged 'a hog whose cgroup is named as a sentence' forged
}

situations_run incidents "$@"
