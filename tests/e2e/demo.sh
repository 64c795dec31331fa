#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make demo: loads, makes real CPU pressure, captures it, explains it, cleans up, and leaves
# build/demo/bourdon.db.
set -euo pipefail
# shellcheck source=tests/e2e/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

say() {
	printf '\n\033[1m# %s\033[0m\n' "$*"
}

bourdon_setup demo
trap bourdon_teardown EXIT
threads=$((2 * $(nproc)))

say 'Root loads the kernel programs, pins them, and is gone'
load
"$BUILD/bourdon-load" --status --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"

say 'The helper that opens pressure files of cgroups, started by its socket for each request'
grant_start
ls -l "$GRANT_SOCKET"

say 'A rule: keep what happens when CPU pressure rises in a cgroup where cpu_hog runs'
rule demo 'comm = cpu_hog' 'cgroup = /bourdon-demo-*' 'cpu.some = 40%' 'history = 10s' 'capture = 4s'
cat "$RULES_DIR/demo.conf"

say "The consumer, as $TEST_USER, without any capability, behind its system-call filter"
daemon_start
grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' "/proc/$DAEMON/status"

say "Pressure: $threads threads on $(nproc) CPUs"
cgroup_make
start cpu_hog --threads "$threads"
await_log 60 'rule demo fired'
echo "$LOG_LINE"
"$BUILD/bourdon" --db "$DB" status
await_log 60 'captured [0-9]+ stacks'
stop "$CHILD"
daemon_stop TERM

say 'Why was this host under pressure?'
mkdir -p "$BUILD/demo"
rm -f "$BUILD/demo/bourdon.db"
sqlite3 "$DB" "VACUUM INTO '$BUILD/demo/bourdon.db'"
"$BUILD/bourdon" --db "$BUILD/demo/bourdon.db" why

say 'The same in SQL, from build/demo/bourdon.db'
sqlite3 -box "$BUILD/demo/bourdon.db" 'SELECT function, samples, percent FROM hot_function LIMIT 3'
