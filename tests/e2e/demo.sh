#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make demo: loads, lets one program of its own take a CPU from another, captures and explains it, cleans up, and leaves
# build/demo/bourdon.db. Both are on one CPU, in a cgroup of their own, so that other load of the machine is not what they
# wait for. Ends with 3 if this machine cannot run it. demo.sh --can: only finds that out, before anything is built.
set -euo pipefail
# shellcheck source=tests/e2e/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

say() {
	printf '\n\033[1m# %s\033[0m\n' "$*"
}

missing=$(QUICK=1 "$TREE/tests/machine.sh" root kernel btf cgroup2 psi bpf bpffs | cut -f 2)
[[ -z $missing ]] || { echo "make demo: ${missing//$'\n'/; }" >&2; exit 3; }
[[ ${1-} != --can ]] || exit 0

# is_recorded: no capture is recorded any more
is_recorded() {
	status_json | grep -q '"captures": \[\]'
}

# run_at NICE PROGRAM: starts it on the CPU, in a session of its own, because the kernel shares a CPU by sessions
run_at() {
	ON_CPU=$CPU start_command setsid nice -n "$1" "$WORK/$2"
	go_ahead "$CHILD" "$1"
}

bourdon_setup demo
trap bourdon_teardown EXIT
cp "$BUILD/workloads/cpu_hog" "$WORK/shop"
cp "$BUILD/workloads/cpu_hog" "$WORK/backup"
CPU=$(taskset -p -c $$ | sed 's/.*: //; s/[,-].*//')
cgroup_make
# both before whatever else runs there; but bourdond needs that CPU, too, if it is the only one
read -r shop backup <<< "$(($(nproc) > 1 ? -10 : 0)) $(($(nproc) > 1 ? -20 : -8))"

say 'bourdon-load, as root: load the kernel programs, pin them, end'
load # ends with 3 where the kernel refuses what the capabilities permit

say 'A rule: keep what happens when "shop" has to wait for a CPU. bourdond records, without privilege'
grant_start
rule demo 'comm = shop' "cgroup = /$CGROUP" 'cpu.some = 50%' 'history = 10s' 'capture = 2s'
cat "$RULES_DIR/demo.conf"
daemon_start
grep -E '^(Uid|CapEff|Seccomp):' "/proc/$DAEMON/status"

say "\"shop\" works on CPU $CPU; then \"backup\" comes, with a higher priority"
run_at "$shop" shop
await_cpu "$CHILD" 1000
run_at "$backup" backup
culprit=$CHILD
await_log 60 'rule demo fired'
echo "$LOG_LINE"
await 60 is_recorded
children_end # naming yields to them
await_log 60 'captured [0-9]+ stacks'
daemon_stop TERM

# as the user who owns it, who may write there
"$BUILD/bourdon" --db "$DB" db copy "$STATE_DIR/copy.db" > "$WORK/copy.log"
mkdir -p "$BUILD/demo"
mv "$STATE_DIR/copy.db" "$BUILD/demo/bourdon.db"
chown "$(id -u):$(id -g)" "$BUILD/demo/bourdon.db"
say 'bourdon why: who was short of what, by whom, in which function?'
answer=$("$BUILD/bourdon" --db "$BUILD/demo/bourdon.db" why)
echo "$answer"

say 'How to read it'
echo 'shop is the victim: it waited for the CPU. backup is the culprit: it ran there, in the function burn_cpu.
More of the same capture:
    build/bourdon --db build/demo/bourdon.db why --full
    build/bourdon --db build/demo/bourdon.db report -o demo.html'
grep -q "^ *culprit .*backup\[$culprit\]" <<< "$answer" || { echo "make demo: backup[$culprit] is not the culprit" >&2; exit 1; }
