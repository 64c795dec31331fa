# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of accounts and blame share: a victim, the daemon that follows it, and a capture of it from begin() to finish().

# accounts_setup NAME: as bourdon_setup, and makes the cgroup of the victim
accounts_setup() {
	bourdon_setup "$1"
	cgroup_make
	mkdir "$CGROUP2/$CGROUP/victim"
}

# victim COMMAND...: a process of a session of its own in the cgroup of the victim
victim() {
	CGROUP=$CGROUP/victim start_command setsid "$@"
	VICTIM=$CHILD
}

# follow: starts the daemon with a rule that never fires, so that the victim is a target before a capture of it begins
follow() {
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10s/10s'
	daemon_start
}

# is_old: whether the victim has lived for two of the spans in which the kernel programs sum: where one of these is in part
# before the capture, its time counts evenly
is_old() {
	awk -v now="$(cut -d ' ' -f 1 /proc/uptime)" -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); exit now - $20 / hz < 2.2 }' "/proc/$VICTIM/stat"
}

# begin [OPTION...]: begins a capture on demand of the victim, or of what these options of `bourdon capture` say
begin() {
	(($#)) || set -- --comm "$OWN"
	await 10 is_old
	capture_begin "$@"
}

# finish: ends it, and sets SPAN, its ns
finish() {
	capture_end
	show
}

# show: prints what the capture has, and sets SPAN
show() {
	sql 'SELECT * FROM account' >&2
	sql 'SELECT * FROM blame_share' >&2
	sql "SELECT printf('%s %s', then_account, where_text) FROM blame WHERE wait = 'lock'" >&2
	SPAN=$(sql 'SELECT ended_at - triggered_at FROM capture')
}

# waited PID: how long all its threads have waited for a CPU so far, as the kernel counts it
waited() {
	cat "/proc/$1/task"/*/schedstat | awk '{ sum += $2 } END { printf "%.0f\n", sum }'
}

has_waited() {
	(($(waited "$1") >= $2))
}

# await_waited SECONDS: until the victim has waited so much longer
await_waited() {
	await 60 has_waited "$VICTIM" $(($(waited "$VICTIM") + $1 * 1000000000))
}

is_over() {
	((SECONDS >= SLOT_OVER))
}

# slept: how often the victim has begun to wait so far
slept() {
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$VICTIM/status"
}

has_slept() {
	(($(slept) >= $1))
}

# account NAME: the ns of an account, of all victims
account() {
	sql "SELECT ifnull(sum(ns), 0) FROM account WHERE account = '$1'"
}

# adds_up THREADS: the accounts are the life of so many threads in the span, within 2 % or 10 ms for each
adds_up() {
	local sum life=$(($1 * SPAN)) off
	sum=$(sql 'SELECT sum(ns) FROM account')
	off=$((sum > life ? sum - life : life - sum))
	echo "accounts: $sum ns of $life" >&2
	((off * 50 <= life || off <= $1 * 10000000))
	# each ns of waiting is blamed once
	[ "$(sql "SELECT (SELECT sum(ns) FROM blame) = (SELECT sum(ns) FROM account WHERE account NOT IN ('ran', 'sleep', 'rest'))")" = 1 ]
}

