#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# An administrator's work on a machine with systemd as PID 1: make install, systemctl start, pressure in a
# service, bourdon why; reload, restart, a daemon that is killed or hangs, unload, make uninstall. The tests
# run in order: each leaves the daemon running, and nothing unexpected in the journal.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"

DB=/var/lib/bourdon/bourdon.db
UNITS=(bourdon-load.service bourdond.service bourdon-grant.socket)

setup_file() {
	[ -d /run/systemd/system ] || skip 'no systemd runs here'
	# Debian's default
	sysctl -q -w kernel.perf_event_paranoid=3
	make -s -C "$TREE" install
}

teardown_file() {
	[ -d /run/systemd/system ] || return 0
	make -s -C "$TREE" uninstall
	systemctl stop hog.service 2> /dev/null || true
	rm -rf /run/systemd/system/bourdon* /etc/sysctl.d/10-bourdon.conf /etc/bourdon /run/bourdon /run/bourdon-grant /var/lib/bourdon
	systemctl daemon-reload
}

setup() {
	[ ! -e "$BATS_FILE_TMPDIR/failed" ] || skip 'an earlier one failed'
	WORK=$(mktemp -d)
	CHECKED_FROM=$(date '+%F %T')
	SECONDS=0
}

teardown() {
	rm -rf "${WORK-}"
	[ -n "${WORK-}" ] || return 0
	[ -n "$BATS_TEST_COMPLETED" ] || touch "$BATS_FILE_TMPDIR/failed"
	[ -n "$BATS_TEST_COMPLETED" ] || journalctl -o cat -u 'bourdon*' -n 40
}

# rule NAME LINE...: installs a rule, as an administrator does.
write_rule() {
	local name=$1
	shift
	printf '%s\n' "[rule $name]" "$@" > "$WORK/$name.conf"
	install -m 644 "$WORK/$name.conf" /etc/bourdon/rules.d/
}

main_pid() {
	systemctl show -P MainPID bourdond
}

status_text() {
	systemctl show -P StatusText bourdond
}

is_active() {
	[ "$(systemctl show -P ActiveState bourdond)" = active ]
}

# is_another PID: the daemon runs again, as another process.
is_another() {
	local pid
	pid=$(main_pid) # 0 when it has just ended
	[ "$pid" -ne 0 ] && [ "$pid" -ne "$1" ] && is_active
}

# has_restarted TIMES: systemd has restarted the daemon that often by itself since it was started.
has_restarted() {
	[ "$(systemctl show -P NRestarts bourdond)" -ge "$1" ]
}

status_has() {
	[[ $(status_text) == *"$1"* ]]
}

status_has_not() {
	[[ $(status_text) != *"$1"* ]]
}

doctor_is_content() {
	bourdon doctor > "$WORK/doctor"
}

# journal_says TEXT: bourdond has logged this text since the test began.
journal_says() {
	[[ $(journalctl -q -o cat -u bourdond --since "$CHECKED_FROM") == *"$1"* ]]
}

# Warnings that tell of a machine too slow for a deadline, as an emulated one on a busy host can be
readonly TOO_SLOW='naming ended at its deadline|mapping scan timed out'

# The journal has no other warning or error of bourdon's units, and the kernel has denied nothing.
expect_quiet_journal() {
	run journalctl -q -o cat -p warning --since "$CHECKED_FROM" -u 'bourdon*'
	output=$(grep -vE "$TOO_SLOW" <<< "$output" || true)
	[ -z "$output" ] || { echo "warnings: $output"; false; }
	run journalctl -q -o cat -k --since "$CHECKED_FROM" --grep 'audit|seccomp|landlock|apparmor|segfault|bourdon'
	[ -z "$output" ] || { echo "the kernel: $output"; false; }
	# messages of PID 1 about units that it cannot set up or does not understand
	run journalctl -q -o cat --since "$CHECKED_FROM" _PID=1 --grep 'bourdon.*(fail|denied|ignor|unknown|watchdog)'
	[ -z "$output" ] || { echo "systemd: $output"; false; }
}

# are_armed: both rules watch hog.service by kernel triggers.
are_armed() {
	sleep 1
	bourdon status --json | jq -e '[.watches[].trigger_mode] == ["kernel", "kernel"]' > "$WORK/armed"
}

# hog: starts a service that is idle until its watches are armed, and then makes pressure among its own
# threads, so that the rest of the emulated machine still answers in time.
hog() {
	# shellcheck disable=SC2016 # it is another shell's
	systemd-run --quiet --unit hog -p CPUWeight=1 bash -c 'stress-ng --cpu 1 --cpu-load 1 &
		until [ -e "$1" ]; do sleep 0.2; done; exec stress-ng --cpu 4' hog "$WORK/go"
	await 30 are_armed
	touch "$WORK/go"
}

# expect_captured RULE WINDOW-US: the rule has a capture from a kernel trigger with this window.
expect_captured() {
	await_sql 60 "SELECT count(*) > 0 FROM capture WHERE rule = '$1' AND window_us = $2 AND state = 'complete' AND
		trigger_mode = 'kernel' AND cgroup = '/system.slice/hog.service'" 1
}

@test "Debian's kernel.perf_event_paranoid stays 3, and the load works; by the examples it works without CAP_SYS_ADMIN" {
	systemctl restart systemd-sysctl
	[ "$(sysctl -n kernel.perf_event_paranoid)" -eq 3 ]
	systemctl start bourdon-load
	[ "$(sysctl -n kernel.perf_event_paranoid)" -eq 3 ]
	systemctl stop bourdon-load
	# for hosts that do not give it the capability
	install -D -m 644 "$TREE/systemd/examples/no-sys-admin.conf" /run/systemd/system/bourdon-load.service.d/a.conf
	systemctl daemon-reload
	run systemctl start bourdon-load
	[ "$status" -ne 0 ]
	[ "$(systemctl show -P ExecMainStatus bourdon-load)" -eq 3 ]
	journalctl -q -o cat -p err -u bourdon-load --since "$CHECKED_FROM" --grep 'perf_event_paranoid is 3.*perf_event_paranoid=2'
	install -D -m 644 "$TREE/systemd/examples/perf-event-paranoid.conf" /etc/sysctl.d/10-bourdon.conf
	systemctl restart systemd-sysctl
	[ "$(sysctl -n kernel.perf_event_paranoid)" -eq 2 ]
	systemctl start bourdon-load
	systemctl stop bourdon-load
	rm /run/systemd/system/bourdon-load.service.d/a.conf /etc/sysctl.d/10-bourdon.conf
	systemctl daemon-reload
	sysctl -q -w kernel.perf_event_paranoid=3
}

@test "without policy.conf nothing is loaded" {
	mv /etc/bourdon/policy.conf "$WORK/"
	run systemctl start bourdon-load
	[ "$status" -ne 0 ]
	journalctl -q -o cat -p err -u bourdon-load --since "$CHECKED_FROM" --grep '/etc/bourdon/policy.conf: No such file or directory'
	[ ! -e /sys/fs/bpf/bourdon ]
	mv "$WORK/policy.conf" /etc/bourdon/
	systemctl reset-failed bourdon-load # so many starts in so short a time would be refused
	systemctl start bourdon-load
}

@test "enabled and started: it is ready, and has nothing left to lose" {
	write_rule short 'comm = stress-ng*' 'cgroup = /system.slice/hog.service' 'cpu.some = 300ms/500ms' \
		'history = 2s' 'capture = 2s' 'cooldown = 60s'
	write_rule long 'comm = stress-ng*' 'cgroup = /system.slice/hog.service' 'cpu.some = 1500ms/2s' \
		'history = 2s' 'capture = 2s' 'cooldown = 60s'
	systemctl enable --now --quiet bourdond
	[ "$(systemctl is-enabled "${UNITS[@]}" | sort -u)" = enabled ]
	is_active
	status_has '2 rules, 0 targets'
	local pid
	pid=$(main_pid)
	[ "$(stat -c %U "/proc/$pid")" = bourdon ]
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		grep -qx "$set:	0000000000000000" "/proc/$pid/status"
	done
	grep -qx 'NoNewPrivs:	1' "/proc/$pid/status"
	grep -qx 'Seccomp:	2' "/proc/$pid/status"
	# the pins are the only part of bpffs that it sees
	[ -e "/proc/$pid/root/run/bourdon/pins/oncpu" ]
	[ -z "$(nsenter -t "$pid" -m ls /sys/fs/bpf)" ]
	grep -qE '^Max locked memory +134217728 +134217728' "/proc/$pid/limits"
	[ "$(cat "/proc/$pid/oom_score_adj")" -eq -800 ]
	run bourdon doctor
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	expect_quiet_journal
}

@test "the README's way to a picture of a program: each of its commands works as it stands there" {
	local commands pid
	commands=$(awk '/^## A picture of your own program/ { inside = 1 } inside && /^    / { print } /^## Install/ { exit }' "$TREE/README.md")
	# the machine is where its first two commands lead
	[ "$(sed -n 1,2p <<< "$commands")" = '    make deps && make && make install
    systemctl enable --now bourdond' ]
	perl -e 'for (;;) { $n{$_ % 1000}++ for 1 .. 1000 }' &
	pid=$!
	cd "$WORK"
	bash -eux <<< "$(sed 1,2d <<< "$commands" | sed "s/4711/$pid/g")"
	kill "$pid"
	wait "$pid" || true
	grep -q 'Perl_pp_' "$pid.html"
	grep -q 'Content-Security-Policy' "$pid.html"
	expect_quiet_journal
}

@test "pressure by stress-ng in a service: captured by kernel triggers of 500 ms and of 2 s, and explained" {
	hog
	expect_captured short 500000
	expect_captured long 2000000
	systemctl stop hog
	run bourdon why --full
	[ "$status" -eq 0 ]
	[[ $output == *'trigger   kernel, on cgroup /system.slice/hog.service'* ]]
	[[ $output == *'stress-ng'* ]]
	# functions of a file in /usr have names, because the sandbox lets the daemon read it
	[ "$(sql "SELECT count(*) > 0 FROM frame JOIN module USING(module_id) WHERE path LIKE '/usr/%' AND function IS NOT NULL")" -eq 1 ]
	[[ $(runuser -u bourdon -- bourdon doctor) =~ bourdon-grant\ opened\ [1-9][0-9]*\ files\ and\ refused\ 0\ requests ]]
	expect_quiet_journal
}

# hook_has_run: the hook's command has told of a capture since the test began, and its file is gone.
hook_has_run() {
	[[ $(journalctl -q -o cat -u bourdon-hook --since "$CHECKED_FROM") == *'hook of asked for: capture '* ]] &&
		[ -z "$(ls -A /var/lib/bourdon/hook)" ]
}

@test "a capture is an entry of the journal with a text; metrics need no restart; the hook's units run a command" {
	local captured entry said examples=/usr/local/share/doc/bourdon/examples
	captured=$(sed -n 's/^#define ANNOUNCE_CAPTURED "\(.*\)"/\1/p' "$TREE/consumer/store/announce.h")
	entry=$(journalctl -q -o json -n 1 "MESSAGE_ID=$captured" _SYSTEMD_UNIT=bourdond.service)
	jq -e '.BOURDON_UNIT == "hog.service" and .BOURDON_RESOURCE == "cpu" and .PRIORITY == "5"' <<< "$entry"
	[[ $(journalctl -q -x -n 1 "MESSAGE_ID=$captured") == *'Pressure was captured: cpu'*"bourdon why $(jq -r .BOURDON_CAPTURE <<< "$entry")"* ]]
	sed -i 's|^#textfile = .*|textfile = /run/bourdon-metrics/bourdon.prom|; s|^#interval = 15s|interval = 1s|' /etc/bourdon/bourdon.conf
	await 30 test -s /run/bourdon-metrics/bourdon.prom
	runuser -u nobody -- grep -q '^bourdon_unit_cpu_seconds_total ' /run/bourdon-metrics/bourdon.prom
	install -m 644 $examples/bourdon-hook.tmpfiles.conf /etc/tmpfiles.d/bourdon-hook.conf
	systemd-tmpfiles --create bourdon-hook.conf
	install -m 644 $examples/bourdon-hook.path $examples/bourdon-hook.service /run/systemd/system/
	# shellcheck disable=SC2016 # the command expands it
	printf '%s\n' '#!/bin/sh' 'echo "hook of $(bourdon why "$1" | head -n 1), user $(id -u), asked by ${BOURDON_ASKED_BY-}"' > /etc/bourdon/hook
	chmod 755 /etc/bourdon/hook
	systemctl daemon-reload
	systemctl start bourdon-hook.path
	bourdon capture --all --for 1s > "$WORK/asked"
	await 60 hook_has_run
	said=$(journalctl -q -o cat -u bourdon-hook --since "$CHECKED_FROM" --grep 'hook of')
	local words='^hook of [a-zA-Z/ ]+: capture .*, user ([0-9]+), asked by root$'
	[[ $said =~ $words ]] || { echo "$said"; false; }
	# of systemd's dynamic users: https://systemd.io/UIDS-GIDS
	((BASH_REMATCH[1] >= 61184 && BASH_REMATCH[1] <= 65519))
	systemctl stop bourdon-hook.path
	rm -r /run/systemd/system/bourdon-hook.* /etc/tmpfiles.d/bourdon-hook.conf /etc/bourdon/hook /var/lib/bourdon/hook
	systemctl daemon-reload
	sed -i 's|^textfile = .*|textfile = off|' /etc/bourdon/bourdon.conf
	await 30 test ! -e /run/bourdon-metrics/bourdon.prom
	expect_quiet_journal
}

# grant_answers: bourdon-grant looks at a request.
grant_answers() {
	[ "$(runuser -u bourdon -- "$BUILD/tools/ask_grant" /run/bourdon-grant.sock 'elf 4194304 1 4096')" = 'refused no such process' ]
}

@test "a flood of requests by bourdon's user: the socket of bourdon-grant listens on, and systemd answers" {
	local answers cpu socket
	[ "$(systemctl show -P TriggerLimitBurst bourdon-grant.socket)" -eq 0 ]
	cpu=$(cpu_ms 1)
	answers=$(runuser -u bourdon -- "$BUILD/tools/ask_grant" --flood 600 /run/bourdon-grant.sock 'elf 4194304 1 4096')
	echo "# $answers in $SECONDS s, $(($(cpu_ms 1) - cpu)) ms of PID 1" >&3
	[[ $answers =~ ^files\ 0\ later\ [0-9]+\ refused\ [1-9] ]]
	for socket in ActiveState=active SubState=listening Result=success; do
		[ "$(systemctl show -p "${socket%=*}" bourdon-grant.socket)" = "$socket" ]
	done
	await 30 grant_answers
	[ -z "$(systemctl list-units --plain --no-legend --state=failed 'bourdon*')" ]
	systemctl restart bourdond
	is_active
	sleep 1 # the next test looks at the journal from this second on
}

@test "reload: by systemctl, by a changed file, and with a mistake, which systemctl status shows" {
	local pid
	pid=$(main_pid)
	write_rule third 'comm = nobody' 'cpu.some = 90%'
	systemctl reload bourdond
	await 10 status_has '3 rules'
	rm /etc/bourdon/rules.d/third.conf
	await 10 status_has '2 rules'
	expect_quiet_journal
	write_rule third 'comm = nobody' 'cpu.some = 900%'
	await 10 status_has '2 rules, 0 targets, 0 watches; not in force: /etc/bourdon/rules.d/third.conf:3: cpu.some = 900%'
	rm /etc/bourdon/rules.d/third.conf
	await 10 is_active
	await 10 status_has_not 'not in force'
	[ "$(main_pid)" -eq "$pid" ]
}

@test "restart, kill -9 and a main thread that hangs: it comes back" {
	local pid holder
	pid=$(main_pid)
	systemctl restart bourdond
	is_another "$pid"
	expect_quiet_journal
	pid=$(main_pid)
	kill -KILL "$pid"
	await 20 is_another "$pid"
	mkdir -p /run/systemd/system/bourdond.service.d
	printf '[Service]\nWatchdogSec=6s\nTimeoutAbortSec=2s\n' > /run/systemd/system/bourdond.service.d/w.conf
	systemctl daemon-reload
	systemctl restart bourdond
	pid=$(main_pid)
	# the daemon feeds the watchdog: it lives longer than the timeout
	sleep 15
	[ "$(main_pid)" -eq "$pid" ]
	# the main thread hangs in ppoll()
	"$BUILD/tools/inject_call" "$pid" ppoll 0 0 0 0 0 > /dev/null 2>&1 & holder=$!
	await 30 is_another "$pid"
	wait "$holder" || true
	await 30 has_restarted 1
	rm -r /run/systemd/system/bourdond.service.d
	systemctl daemon-reload
	systemctl restart bourdond
}

@test "new pins, by the unit and by hand: the daemon comes back on them by itself" {
	local pid
	pid=$(main_pid)
	systemctl restart bourdon-load
	await 20 is_another "$pid"
	expect_quiet_journal
	pid=$(main_pid)
	bourdon-load
	await 20 is_another "$pid"
	await 20 doctor_is_content
	expect_quiet_journal
	# after an unload by hand the log says why nothing runs, until programs are loaded again
	bourdon-load --unload
	await 20 journal_says 'nothing is loaded: there is no /run/bourdon/manifest; run bourdon-load first'
	systemctl restart bourdon-load
	await 20 is_active
	await 20 doctor_is_content
}

@test "a daemon whose database cannot be opened is tried again, and runs when it can" {
	systemctl stop bourdond
	# the state directory is on a full file system of its own
	mount -t tmpfs -o size=64k,mode=0750,uid=bourdon,gid=bourdon tmpfs /var/lib/bourdon
	head -c 64k /dev/zero > /var/lib/bourdon/full || true
	run systemctl start bourdond
	[ "$status" -ne 0 ]
	await 20 has_restarted 2
	# at most one start every five seconds
	local tries
	tries=$(journalctl -q -o cat -u bourdond --since "$CHECKED_FROM" --grep 'cannot open the database')
	echo "$tries"
	[ "$(wc -l <<< "$tries")" -le $((SECONDS / 5 + 2)) ]
	[[ $tries != *'Read-only'* ]]
	rm /var/lib/bourdon/full
	mount -o remount,size=64m /var/lib/bourdon
	await 20 is_active
	systemctl stop bourdond
	umount /var/lib/bourdon
	systemctl start bourdond
}

@test "root's policy: in force with a reload; one that is not root's alone changes nothing" {
	local policy=/etc/bourdon/policy.conf pid
	cp -a "$policy" "$WORK/"
	printf '%s\n' '[policy]' 'deny_uids = 12345' > "$policy"
	pid=$(main_pid)
	systemctl reload bourdon-load
	await 20 is_another "$pid"
	[ "$(bourdon status --json | jq -r '.daemon[0].policy')" = 'deny_uids = 12345; deny_undumpable = yes' ]
	pid=$(main_pid)
	chmod 0666 "$policy"
	run systemctl reload bourdon-load
	[ "$status" -ne 0 ]
	journalctl -q -o cat -p err -u bourdon-load --since "$CHECKED_FROM" --grep 'policy.conf: it must belong to root'
	# the loaded programs stay, and so does the daemon that uses them
	[ "$(systemctl show -P ActiveState bourdon-load)" = active ]
	[ "$(main_pid)" -eq "$pid" ]
	[ "$(bourdon status --json | jq -r '.daemon[0].policy')" = 'deny_uids = 12345; deny_undumpable = yes' ]
	cp -a "$WORK/policy.conf" "$policy"
	systemctl reload bourdon-load
	await 20 is_another "$pid"
	[ "$(bourdon status --json | jq -r '.daemon[0].policy')" = '' ]
}

# programs: prints the number of bourdon's programs in the kernel, by the names of the functions in bpf/.
programs() {
	bpftool -j prog show | jq '[.[] | select((.name // "") | test("^(oncpu|offcpu|walk|target|memstall)_"))] | length'
}

@test "stopped: bourdond alone leaves the pins, bourdon-load takes it along and leaves none" {
	systemctl stop bourdond
	[ -e /sys/fs/bpf/bourdon/oncpu ]
	[ "$(programs)" -gt 5 ]
	systemctl start bourdond
	systemctl stop bourdon-load
	[ "$(systemctl show -P ActiveState bourdond)" = inactive ]
	[ -z "$(find /sys/fs/bpf -name 'bourdon*')" ]
	[ ! -e /run/bourdon/manifest ]
	[ "$(programs)" -eq 0 ]
	expect_quiet_journal
}

@test "a private BPF file system: the same, and nothing of it below /sys/fs/bpf" {
	rm -rf /var/lib/bourdon/*
	make -s -C "$TREE" install PRIVATE_BPFFS=yes
	systemctl start bourdond
	is_active
	[ -e /run/bourdon/bpf/bourdon/oncpu ]
	[ ! -e /sys/fs/bpf/bourdon ]
	[ "$(stat -c '%a %U %G' /run/bourdon/bpf/bourdon/control)" = '660 root bourdon-pins' ]
	[ "$(stat -c '%U %G' /run/bourdon/manifest)" = 'root bourdon' ]
	setpriv --reuid nobody --regid bourdon --clear-groups bourdon status > /dev/null
	run setpriv --reuid nobody --regid bourdon --clear-groups bpftool map dump pinned /run/bourdon/bpf/bourdon/control
	[ "$status" -ne 0 ]
	[ "$(findmnt -n -o FSTYPE /run/bourdon/bpf)" = bpf ]
	run setpriv --reuid nobody --regid nogroup --clear-groups ls /run/bourdon/bpf
	[[ $output == *'Permission denied'* ]]
	grep -qx 'CapBnd:	0000000000000000' "/proc/$(main_pid)/status"
	hog
	expect_captured short 500000
	expect_captured long 2000000
	systemctl stop hog
	run bourdon doctor
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	local pid
	pid=$(main_pid)
	bourdon-load --pin-dir /run/bourdon/bpf/bourdon
	await 20 is_another "$pid"
	systemctl stop bourdon-load
	[ ! -e /run/bourdon/bpf/bourdon ]
	expect_quiet_journal
	# the readers' pin is beside them
	systemctl start bourdond
	[ "$(stat -c '%a %U %G' /run/bourdon/bpf/threads)" = '440 root bourdon-read' ]
	systemctl stop bourdon-load
	[ ! -e /run/bourdon/bpf/threads ]
	# back to the shared BPF file system
	make -s -C "$TREE" install
	systemctl start bourdond
	[ -e /sys/fs/bpf/bourdon/oncpu ]
	[ "$(stat -c '%a %U %G' /run/bourdon/bpf/threads)" = '440 root bourdon-read' ]
	setpriv --reuid nobody --regid bourdon-read --clear-groups cat /run/bourdon/bpf/threads | grep -q '	bourdond	'
	run setpriv --reuid nobody --regid nogroup --clear-groups cat /run/bourdon/bpf/threads
	[[ $output == *'Permission denied'* ]]
}

@test "uninstalled: what an administrator wrote stays, and nothing else" {
	echo '# mine' >> /etc/bourdon/bourdon.conf
	make -s -C "$TREE" install
	[ "$(tail -n 1 /etc/bourdon/bourdon.conf)" = '# mine' ]
	# the means to unload stay while programs are loaded
	systemctl stop bourdon-load
	bourdon-load
	run make -s -C "$TREE" uninstall
	[ "$status" -ne 0 ]
	[[ $output == *'make uninstall: still loaded'* ]]
	bourdon-load --unload
	make -s -C "$TREE" uninstall
	[ -z "$(find /sys/fs/bpf -name 'bourdon*')" ]
	[ -z "$(find /usr/local /etc/systemd -name '*bourdon*')" ]
	[ -z "$(find /run -maxdepth 1 -name '*bourdon*')" ]
	[ -e /var/lib/bourdon/bourdon.db ]
	[ "$(tail -n 1 /etc/bourdon/bourdon.conf)" = '# mine' ]
	[ -e /etc/bourdon/rules.d/short.conf ]
	make -s -C "$TREE" uninstall
	make -s -C "$TREE" install
	systemctl start bourdond
}
