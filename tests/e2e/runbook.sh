#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs each line of the blocks `sh` and `sh remedy` of docs/RUNBOOK.md, in their order, each in a shell of its own. It has to end
# with status 0; of a block `sh` it has to print something, too. For runbook.bats, which starts it in a mount namespace of
# its own: TREE WORK CGROUP ["commands": nothing but those].
#
# systemd does not run in that namespace. `systemctl` is played: what it would run is taken from the installed units.

TREE=$1 WORK=$2 CGROUP=$3 MODE=${4-all}
: "${PATIENCE:=1}"
PROCESSES=()

await() {
	local deadline=$((SECONDS + $1 * PATIENCE))
	until "${@:2}"; do
		((SECONDS <= deadline)) || { echo "in vain: ${*:2}"; tail -n 20 "$WORK"/*.log; return 1; }
		sleep 0.1
	done
}

# block NAME: of docs/WITHOUT_UNITS.md
block() {
	awk -v fence="\`\`\`sh $1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' "$TREE/docs/WITHOUT_UNITS.md"
}

# commands: prints "sh COMMAND" or "remedy COMMAND" for each line of the blocks
commands() {
	awk '/^```sh$/ { kind = "sh"; next } /^```sh remedy$/ { kind = "remedy"; next } /^```/ { kind = "" } kind && NF { print kind, $0 }' \
		"$TREE/docs/RUNBOOK.md"
}

# run_all: runs them, and prints each with what it says
run_all() {
	local kind command output status count=0
	while read -r kind command; do
		status=0
		output=$(bash -c "$command" 2>&1 < /dev/null) || status=$?
		printf '$ %s\n%s\n' "$command" "$output"
		if ((status)); then
			# a check that failed is what doctor is for; this machine may have one
			[[ $command == 'bourdon doctor' && $status -eq 1 && $output == *'kernel BTF '*' ok '* ]] ||
				{ echo "status $status: $command"; return 1; }
		fi
		[[ $kind == remedy || -n $output ]] || { echo "prints nothing: $command"; return 1; }
		[[ $output != *'command not found'* ]] || { echo "does not exist: $command"; return 1; }
		count=$((count + 1))
	done < <(commands)
	echo "$count commands"
}

# ---- the machine ----

private_places() {
	mkdir "$WORK/etc"
	cp -a /etc/. "$WORK/etc"
	mount --bind "$WORK/etc" /etc
	sed -i '/^bourdon/d' /etc/passwd /etc/shadow /etc/group /etc/gshadow
	rm -rf /etc/bourdon
	for directory in /run /var/lib /var/log /usr/local; do
		mount -t tmpfs -o mode=0755 tmpfs "$directory"
	done
	mkdir "$WORK/tree"
	mount --bind "$TREE" "$WORK/tree"
	mount -t tmpfs -o mode=1777 tmpfs /var/tmp
	[[ $TREE != /var/tmp/* ]] || { mkdir -p "$TREE" && mount --bind "$WORK/tree" "$TREE"; }
	mount -t bpf -o mode=0700 bpf /sys/fs/bpf
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

start_journal() {
	mkdir -p /run/systemd/journal /run/systemd/journald.conf.d /run/log/journal /var/lib/systemd/catalog
	printf '%s\n' '[Journal]' Storage=volatile ReadKMsg=no Audit=no ForwardToSyslog=no ForwardToConsole=no ForwardToWall=no \
		> /run/systemd/journald.conf.d/test.conf
	[ -s /etc/machine-id ] || tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
	/lib/systemd/systemd-journald 2> "$WORK/journald.log" &
	PROCESSES+=($!)
	await 30 test -S /run/systemd/journal/socket
	journalctl --quiet --update-catalog
}

# play_systemctl: `systemctl` for what the runbook does to the two services
play_systemctl() {
	mkdir -p /usr/local/bin
	cat > /usr/local/bin/systemctl <<- 'END'
		#!/bin/bash -eu
		units=/usr/local/lib/systemd/system
		before=$(cat /run/bourdond.pid)
		case "$*" in
		# the daemon ends over it
		'reload bourdon-load') $(sed -n 's/^ExecReload=//p' $units/bourdon-load.service) ;;
		'restart bourdond')
			grep -q '^ExecStart=.*/bourdond ' $units/bourdond.service
			kill "$before" 2> /dev/null || true
			;;
		*) echo "systemctl: not played: $*" >&2; exit 1 ;;
		esac
		for _ in {1..600}; do
			[[ $(cat /run/bourdond.pid) == "$before" ]] || ! bourdon status > /dev/null 2>&1 || exit 0
			sleep 0.1
		done
		exit 1
	END
	chmod 755 /usr/local/bin/systemctl
}

start_bourdon() {
	make -s -C "$TREE" install > "$WORK/install.log"
	journalctl --quiet --update-catalog
	eval "$(block accounts)"
	groupadd --system bourdon-read
	install -d -o bourdon -g bourdon -m 0755 /run/bourdon-metrics
	install -d -o bourdon -g bourdon -m 0770 /var/lib/bourdon/hook
	sed -i 's|^#textfile = .*|textfile = /run/bourdon-metrics/bourdon.prom|; s|^#interval = 15s|interval = 1s|' /etc/bourdon/bourdon.conf
	printf '%s\n' '[rule hogs]' 'comm = cpu_hog' 'cpu.some = 5%' 'watch = system' 'history = 1s' 'capture = 1s' 'cooldown = 1s' \
		> /etc/bourdon/rules.d/hogs.conf
	bourdon-load
	install -d -o root -g bourdon -m 0750 /run/bourdon-grant
	systemd-socket-activate --accept -l /run/bourdon-grant.sock /usr/local/libexec/bourdon/bourdon-grant \
		--counters /run/bourdon-grant/counters 2> "$WORK/grant.log" &
	PROCESSES+=($!)
	await 30 test -S /run/bourdon-grant.sock
	chown bourdon:bourdon /run/bourdon-grant.sock
	# one request, so that there are counters
	"$TREE/build/tools/ask_grant" /run/bourdon-grant.sock 'pressure 1 cpu 2000000' > "$WORK/asked.log" || true
	(
		trap 'kill $!; wait $!; exit' TERM
		while :; do
			systemd-cat -t bourdond bourdond & echo $! > /run/bourdond.pid
			wait $! || true
			sleep 1 & wait $!
		done
	) &
	PROCESSES+=($!)
	await 60 bourdon status > "$WORK/status.log"
}

# captured NUMBER
captured() {
	(($(sqlite3 -readonly /var/lib/bourdon/bourdon.db "SELECT count(*) FROM capture WHERE state = 'complete'" 2> /dev/null) >= $1))
}

has_entry() {
	journalctl -q -n 1 MESSAGE_ID=9f8b8a2aec894c2ba7be965f985b1066 | grep -q .
}

make_pressure() {
	(
		echo "$BASHPID" > "$CGROUP/cgroup.procs"
		exec taskset -c 0 "$TREE/build/workloads/cpu_hog" --threads 2 > "$WORK/hog.log"
	) &
	local hog=$!
	PROCESSES+=("$hog")
	await 60 captured 2
	kill "$hog"
	wait "$hog" || true
	await 60 has_entry
	await 60 grep -q '^bourdon_captures_total' /run/bourdon-metrics/bourdon.prom
}

# The loop ends its daemon itself. The last first: the journal has to take the end of the log.
end_all() {
	local i
	for ((i = ${#PROCESSES[@]} - 1; i >= 0; i--)); do
		kill "${PROCESSES[i]}" 2> /dev/null || true
		wait "${PROCESSES[i]}" || true
	done
	/usr/local/sbin/bourdon-load --unload || true
}

if [[ $MODE == commands ]]; then
	run_all
	exit
fi
private_places
trap end_all EXIT
start_journal
play_systemctl
start_bourdon
make_pressure
run_all
