#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# How others learn of a capture: the journal's entry with its fields and its text in the catalog, the administrator's hook, and
# Prometheus, as docs/ALERTS.md describes them. journald, Prometheus, the node exporter and Alertmanager are real; they run as
# processes of the test.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/journal.bash"
source "$BATS_TEST_DIRNAME/prometheus.bash"

CAPTURED=$(sed -n 's/^#define ANNOUNCE_CAPTURED "\(.*\)"/\1/p' "$TREE/consumer/store/announce.h")
ASKED=$(sed -n 's/^#define ANNOUNCE_ASKED "\(.*\)"/\1/p' "$TREE/consumer/store/announce.h")

setup() {
	bourdon_setup alerts
	cgroup_make
}

teardown() {
	bourdon_teardown
	journal_end
}

# install_into ROOT: installs as for a package.
install_into() {
	make -s -C "$TREE" install PREFIX=/usr DESTDIR="$1"
}

# hog_rule NAME: a rule that a hog with two threads on one CPU fires
hog_rule() {
	rule own "comm = $1" "cgroup = /$CGROUP" 'cpu.some = 20%' 'history = 1s' 'capture = 1s' 'cooldown = 1h'
}

# entries ID: the journal's entries of that MESSAGE_ID, one JSON object a line
entries() {
	journal -o json "MESSAGE_ID=$1"
}

# has_entries ID NUMBER
has_entries() {
	[ "$(entries "$1" | grep -c .)" -eq "$2" ]
}

# counted_is NAME VALUE
counted_is() {
	[ "$(status_json | jq ".counters[] | select(.name == \"$1\").value")" = "$2" ]
}

# bats test_tags=alone
@test "the journal has one entry of a capture, with the fields of the database, and journalctl -x explains it" {
	local name=$'jo\e[2J\n"<' entry
	load
	journal_namespace
	journal_start
	cp "$BUILD/workloads/cpu_hog" "$WORK/$name"
	hog_rule 'jo*'
	daemon_start
	start_ahead "$WORK/$name" --threads $((2 * $(nproc)))
	recorded
	await 60 has_entries "$CAPTURED" 1
	entry=$(entries "$CAPTURED")
	# what the capture's row says, in the form that names have there
	sql 'SELECT capture_id, verdict, blamed_percent, not_examined FROM capture' >&2
	jq .MESSAGE <<< "$entry" >&2
	[ "$(jq -r '[.BOURDON_CAPTURE, .BOURDON_RULE, .BOURDON_RESOURCE, .BOURDON_KIND, .BOURDON_CAUSE, .BOURDON_CGROUP,
		.BOURDON_STALLED_USEC, .BOURDON_WINDOW_USEC, .BOURDON_THRESHOLD_USEC, .BOURDON_STATE] | join("|")' <<< "$entry")" = \
		"$(sql "SELECT capture_id, rule, resource, kind, verdict, cgroup, observed_us, window_us, stall_us, state FROM capture")" ]
	[ "$(jq -r .BOURDON_TRIGGERED_USEC <<< "$entry")" = "$(sql 'SELECT triggered_at / 1000 FROM capture')" ]
	[ "$(jq -r .BOURDON_SAMPLES <<< "$entry")" = "$(sql 'SELECT sample_count FROM capture')" ]
	jq -e --argjson percent "$(sql 'SELECT round(blamed_percent, 1) FROM capture')" '(.BOURDON_BLAMED_PERCENT | tonumber) - $percent | fabs < 0.11' <<< "$entry"
	jq -e '.BOURDON_CULPRIT as $culprit | .MESSAGE | contains($culprit)' <<< "$entry"
	# a string, so there is no byte in it that journalctl shows as a blob; a name with a quotation mark stands within two
	jq -e '.BOURDON_CULPRIT | type == "string" and startswith("\"jo\\x1b[2J\\x0a'"'"'<\"[")' <<< "$entry"
	jq -e '.PRIORITY == "5" and .SYSLOG_IDENTIFIER == "bourdond" and .BOURDON_SCOPE == "cgroup" and (.MESSAGE | startswith("capture 1, rule own: cpu some stalled "))' <<< "$entry"
	# of the daemon, says the kernel
	[ "$(jq -r '._PID + " " + ._UID' <<< "$entry")" = "$DAEMON $(id -u "$TEST_USER")" ]
	await 10 counted_is journal-entries 1
	counted_is journal-entries-lost 0
	# the line of a log that is not the journal
	await_log 10 'captured [0-9]+ stacks of rule own'
	install_into "$WORK/root"
	journal_catalog "$WORK/root"
	run journal -x "MESSAGE_ID=$CAPTURED"
	[[ $output == *'Subject: Pressure was captured: cpu, rule own'*'Threads stalled on the resource "cpu"'*'The verdict: own threads.'*'bourdon why 1'* ]]
}

@test "a capture on demand is an entry of its own" {
	load
	journal_namespace
	journal_start
	own_workload cpu_hog
	daemon_start
	start_command "$WORK/$OWN" --threads 1
	"$BUILD/bourdon" --db "$DB" capture --pid "$CHILD" --for 1s --note $'slow\nlogin'
	await 60 has_entries "$ASKED" 1
	has_entries "$CAPTURED" 0
	entries "$ASKED" | jq -e '.BOURDON_CAPTURE == "1" and .BOURDON_ASKED_BY_UID == "0" and .BOURDON_ASKED_BY == "root" and
		.BOURDON_NOTE == "slow\\x0alogin" and .PRIORITY == "6" and (has("BOURDON_RULE") | not)'
}

# bats test_tags=alone
@test "nothing of a process that root's policy denies is in an entry, a file for the hook or a metric" {
	local thief=thief$$
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0770 "$STATE_DIR/hook"
	install -d -o "$TEST_USER" -m 0755 "$WORK/metrics"
	write_settings '[metrics]' "textfile = $WORK/metrics/bourdon.prom" 'interval = 1s'
	printf '%s\n' '[policy]' "deny_comms = $thief" > "$WORK/denied.conf"
	load --policy "$WORK/denied.conf"
	journal_namespace
	journal_start
	cp "$BUILD/workloads/cpu_hog" "$WORK/$thief"
	own_workload cpu_hog
	hog_rule "$OWN"
	daemon_start
	start_ahead "$WORK/$thief" --threads $((2 * $(nproc)))
	start_command "$WORK/$OWN"
	recorded
	await 60 has_entries "$CAPTURED" 1
	await 60 grep -q '^bourdon_captures_total{rule="own",resource="cpu",cause="undetermined"} 1$' "$WORK/metrics/bourdon.prom"
	# what is charged to denied processes is known as a sum, and nobody is named
	[ "$(sql 'SELECT not_examined FROM capture')" = "processes that root's policy denies" ]
	entries "$CAPTURED" | jq -e '(.MESSAGE | endswith("processes that root'"'"'s policy denies")) and (has("BOURDON_CULPRIT") | not)'
	run grep -rlF "$thief" "$STATE_DIR/hook" "$WORK/metrics"
	[ "$status" -eq 1 ]
	[[ $(journal -o export) != *"$thief"* ]]
}

@test "without a journal captures are kept, the log says so once, and a journal that starts later has later ones" {
	load
	journal_namespace
	own_workload cpu_hog
	rule own "comm = $OWN" "cgroup = /$CGROUP" 'cpu.some = 20%' 'history = 1s' 'capture = 1s' 'cooldown = 1s'
	daemon_start
	ON_CPU=0 start_command "$WORK/$OWN" --threads 2
	await_sql 60 "SELECT count(*) >= 2 FROM capture WHERE state = 'complete'" 1
	await_log 10 'captured [0-9]+ stacks of rule own'
	journal_start
	await 60 has_no_less "$CAPTURED" 1
	children_end
	daemon_stop TERM
	[ "$(grep -c 'there is no journal at /run/systemd/journal/socket: captures have no entries there' "$WORK/daemon.log")" -eq 1 ]
	[ "$(sql "SELECT value >= 2 FROM counter WHERE name = 'journal-entries-lost' ORDER BY at DESC LIMIT 1")" -eq 1 ]
}

# has_no_less ID NUMBER
has_no_less() {
	[ "$(entries "$1" | grep -c .)" -ge "$2" ]
}

@test "a journal that does not read blocks nothing, and has the entry when it reads again" {
	load
	journal_namespace
	journal_start
	own_workload cpu_hog
	hog_rule "$OWN"
	daemon_start
	kill -STOP "$JOURNALD"
	"${IN_JOURNAL[@]}" /usr/bin/python3 -I -c '
import socket
full = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
full.setblocking(False)
try:
    while True:
        full.sendto(b"MESSAGE=filler\n", "/run/systemd/journal/socket")
except BlockingIOError:
    pass'
	ON_CPU=0 start_command "$WORK/$OWN" --threads 2
	recorded
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	counted_is journal-entries 0
	counted_is journal-entries-lost 0
	kill -CONT "$JOURNALD"
	await 60 has_entries "$CAPTURED" 1
	await 10 counted_is journal-entries 1
	counted_is journal-entries-lost 0
}

# ---- the hook ----

# hook_run: the installed program, as the unit runs it, but for its user's name
hook_run() {
	setpriv --reuid 54321 --regid 54321 --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all \
		"$WORK/root/usr/libexec/bourdon/bourdon-hook" "$WORK/command" "$STATE_DIR/hook"
}

# bats test_tags=alone
@test "the hook: a command of the administrator's runs once for each capture, as another user than bourdond and root" {
	# shellcheck disable=SC2016
	local name='ho$(touch pwned)'
	install_into "$WORK/root"
	install -d -o "$TEST_USER" -g "$TEST_GROUP" -m 0770 "$STATE_DIR/hook"
	install -d -o 54321 "$WORK/ran"
	cat > "$WORK/command" <<- END
		#!/bin/sh
		[ ! -e "$WORK/ran/\$1" ] || exit 9
		{ id -u; env | grep '^BOURDON_' | sort; "$BUILD/bourdon" --db "$DB" why "\$1" | head -n 1; } > "$WORK/ran/\$1"
	END
	chmod 755 "$WORK/command"
	load
	cp "$BUILD/workloads/cpu_hog" "$WORK/$name"
	hog_rule 'ho*'
	daemon_start
	start_ahead "$WORK/$name" --threads $((2 * $(nproc)))
	recorded
	await 60 test -s "$STATE_DIR/hook/capture-1"
	[ "$(stat -c '%a %U' "$STATE_DIR/hook/capture-1")" = "640 $TEST_USER" ]
	chmod 0750 "$STATE_DIR"
	hook_run
	[ "$(sed -n 1p "$WORK/ran/1")" = 54321 ]
	grep -qxF 'BOURDON_RULE=own' "$WORK/ran/1"
	# shellcheck disable=SC2016 # it must not be expanded
	grep -qF 'BOURDON_CULPRIT="ho$(touch pwned' "$WORK/ran/1"
	[[ $(head -n 1 <(grep ': capture 1 on ' "$WORK/ran/1")) == *': capture 1 on '*', rule own' ]]
	[ -z "$(ls -A "$STATE_DIR/hook")" ]
	[ -z "$(find "$WORK" -name 'pwned*')" ]
	# without a file there is nothing to do
	hook_run
}

@test "the hook's program: all files, the oldest first; no line becomes a command or another variable; a failure goes on" {
	local hook=$WORK/hook i
	install_into "$WORK/root"
	install -d -m 0770 "$hook"
	# shellcheck disable=SC2016 # the command expands it
	printf '%s\n' '#!/bin/sh' "echo \"\$1 \$BOURDON_RULE \${BOURDON_NOTE-none} \$PATH\" >> $WORK/ran" '[ "$1" != 9 ]' > "$WORK/command"
	chmod 755 "$WORK/command"
	for i in 10 9 2; do
		# shellcheck disable=SC2016 # it must not be expanded
		printf '%s\n' 'BOURDON_RULE=$(touch pwned) `touch pwned` a=b' 'PATH=/evil' 'LD_PRELOAD=/evil.so' 'BOURDON_x=y' 'BOURDON_=z' \
			'touch pwned' > "$hook/capture-$i"
	done
	echo 'BOURDON_NOTE=only of 2' >> "$hook/capture-2"
	# what bourdond does not write there stops nothing, and is not read
	touch "$hook"/$'capture-1\nx' "$hook"/$'capture-\n' "$hook/capture-x" "$hook/capture-" "$hook/capture-99999999999999999999"
	mkfifo "$hook/capture-3"
	ln -s capture-9 "$hook/capture-4"
	run timeout 60 "$WORK/root/usr/libexec/bourdon/bourdon-hook" "$WORK/command" "$hook"
	[ "$status" -eq 1 ]
	[ "$output" = "$WORK/command failed for capture-9 with status 1" ]
	# shellcheck disable=SC2016
	[ "$(cat "$WORK/ran")" = "$(printf '%s\n' "2 \$(touch pwned) \`touch pwned\` a=b only of 2 $PATH" \
		"9 \$(touch pwned) \`touch pwned\` a=b none $PATH" "10 \$(touch pwned) \`touch pwned\` a=b none $PATH")" ]
	[ -z "$(ls -A "$hook")" ]
	[ -z "$(find "$WORK" . -maxdepth 2 -name pwned)" ]
}

@test "the hook's units: systemd accepts them, their exposure is 0.4, and they run neither as root nor as bourdond" {
	local root=$WORK/root unit
	install_into "$root"
	cp -a /usr/lib/systemd/system/*.target /usr/lib/systemd/system/systemd-sys* "$root/usr/lib/systemd/system/"
	for unit in bourdon-hook.path bourdon-hook.service; do
		install -D -m 644 "$root/usr/share/doc/bourdon/examples/$unit" "$root/etc/systemd/system/$unit"
	done
	run systemd-analyze verify --man=no --root="$root" bourdon-hook.path bourdon-hook.service
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run systemd-analyze security --offline=yes --no-pager --root="$root" bourdon-hook.service
	[[ $output == *'Overall exposure level for bourdon-hook.service: 0.4 '* ]]
	grep -qx 'DynamicUser=yes' "$root/etc/systemd/system/bourdon-hook.service"
	run grep -E '^(User|Group|AmbientCapabilities)=' "$root/etc/systemd/system/bourdon-hook.service"
	[ -z "$output" ]
	# the directory that it watches is that of the daemon, and the program is installed
	grep -qx "DirectoryNotEmpty=/var/lib/bourdon/$(sed -n 's/^#define HOOK_DIRECTORY "\(.*\)"/\1/p' "$TREE/consumer/store/announce.h")" \
		"$root/etc/systemd/system/bourdon-hook.path"
	[ -x "$root$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$root/etc/systemd/system/bourdon-hook.service")" ]
	mkdir -p "$root/var/lib/bourdon"
	printf 'root:x:0:0::/root:/bin/sh\nbourdon:x:999:999::/:/bin/false\n' > "$root/etc/passwd"
	printf 'root:x:0:\nbourdon:x:999:\n' > "$root/etc/group"
	systemd-tmpfiles --root="$root" --create "$root/usr/share/doc/bourdon/examples/bourdon-hook.tmpfiles.conf"
	[ "$(stat -c '%a %u %g' "$root/var/lib/bourdon/hook")" = '770 999 999' ]
}

# ---- metrics ----

@test "the alerting rules: promtool accepts them, and each fires when it should" {
	local name
	need_prometheus
	cp "$TREE/systemd/examples/bourdon-alerts.yml" "$TREE/tests/prometheus/rules.test.yml" "$WORK"
	run "$PROMETHEUS/promtool" check rules "$WORK/bourdon-alerts.yml"
	[ "$status" -eq 0 ]
	[[ $output == *'SUCCESS: 8 rules found'* ]]
	cd "$WORK"
	run "$PROMETHEUS/promtool" test rules rules.test.yml
	echo "$output"
	[ "$status" -eq 0 ]
	# none is left out
	[ "$(sed -n 's/ *- alert: //p' bourdon-alerts.yml | sort)" = "$(sed -n 's/ *alertname: //p' rules.test.yml | sort -u)" ]
	# each metric that they name is one that bourdond writes
	while read -r name; do
		grep -q "\"$name\"" "$TREE/consumer/store/metrics_text.c" || { echo "$name"; false; }
	done < <(grep -oE '\bbourdon_[a-z_]+' bourdon-alerts.yml | sort -u)
}

@test "metrics: promtool is content, Prometheus scrapes them by the node exporter, and Alertmanager receives an alert" {
	local metrics=$WORK/metrics/bourdon.prom
	need_prometheus
	install -d -o "$TEST_USER" -m 0755 "$WORK/metrics"
	write_settings '[metrics]' "textfile = $metrics" 'interval = 1s'
	load
	own_workload cpu_hog
	hog_rule "$OWN"
	daemon_start
	await 30 test -s "$metrics"
	[ "$(stat -c '%a %U' "$metrics")" = "644 $TEST_USER" ]
	[[ $("$BUILD/bourdon" --db "$DB" status) == *"metrics: $metrics, every 1s"* ]]
	ON_CPU=0 start_command "$WORK/$OWN" --threads 2
	recorded
	prometheus_start "$WORK/metrics" "$TREE/systemd/examples/bourdon-alerts.yml"
	await 60 query_is 'bourdon_captures_total{rule="own",resource="cpu"}' 1
	"$PROMETHEUS/promtool" check metrics < "$metrics"
	query_is 'node_textfile_scrape_error' 0
	query_is 'bourdon_capture_last_trigger_timestamp_seconds{rule="own"} > bool (time() - 600)' 1
	# what the metrics say is so
	[ "$(query 'bourdon_captures_total' | wc -l)" -eq 1 ]
	[ "$(sql "SELECT sum(events) FROM loss WHERE reason = 'frames-unresolved'")" = "$(query 'bourdon_capture_losses_total{reason="frames-unresolved"}')" ]
	query_is "abs(bourdon_cpu_seconds_total * 1000 - $(cpu_ms "$DAEMON")) < bool 1000" 1
	query_is "abs(bourdon_resident_memory_bytes / 1024 - $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$DAEMON/status")) < bool 4096" 1
	query_is "bourdon_pressure_stall_seconds_total{resource=\"cpu\",kind=\"some\"} > bool 0" 1
	[ "$(query 'bourdon_database_bytes')" -ge "$(stat -c %s "$DB")" ]
	# no name of a process, unit or cgroup
	run grep -F "$CGROUP" "$metrics"
	[ "$status" -eq 1 ]
	run grep -F "$OWN" "$metrics"
	[ "$status" -eq 1 ]
	await 60 alert_is '.labels.alertname == "PressureCaptured" and .labels.rule == "own" and .labels.resource == "cpu"'
	# a change that needs no restart; then off, and the end
	write_settings '[metrics]' "textfile = $WORK/metrics/other.prom" 'interval = 1s'
	await 30 test -s "$WORK/metrics/other.prom"
	[ ! -e "$metrics" ]
	write_settings
	await 30 test ! -e "$WORK/metrics/other.prom"
	write_settings '[metrics]' "textfile = $metrics" 'interval = 1s'
	await 30 test -s "$metrics"
	daemon_stop TERM
	[ "$DAEMON_STATUS" -eq 0 ]
	[ -z "$(ls -A "$WORK/metrics")" ]
	run grep -E 'metrics|takes effect' "$WORK/daemon.log"
	[ "$status" -eq 1 ]
}

@test "metrics: a directory that the confined daemon cannot write to is named, counted, and waits for a restart" {
	install -d -o "$TEST_USER" -m 0755 "$WORK/metrics"
	load
	rule idle 'comm = nothing' 'cpu.some = 90%'
	daemon_start
	write_settings '[metrics]' "textfile = $WORK/metrics/bourdon.prom" 'interval = 1s'
	await_log 10 "\\[metrics\\] textfile = $WORK/metrics/bourdon.prom takes effect after a restart of bourdond"
	await_log 10 "cannot write metrics to $WORK/metrics/bourdon.prom: Permission denied"
	await_status 10 '[.counters[] | select(.name == "metrics-not-written")][0].value > 0'
	run "$BUILD/bourdon" --db "$DB" status
	[[ $output == *'[metrics] textfile was changed to another directory: the new value takes effect after a restart'* ]]
	[ -z "$(ls -A "$WORK/metrics")" ]
	daemon_stop TERM
	daemon_start
	await 30 test -s "$WORK/metrics/bourdon.prom"
	# a mistake is named
	write_settings '[metrics]' 'textfile = bourdon.prom'
	await_log 10 "textfile = bourdon.prom: expected 'off', or an absolute path that ends in .prom"
}
