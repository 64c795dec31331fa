#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the blocks of docs/WITHOUT_UNITS.md, and fails where they leave anything. For newuser.bats, which starts it in a mount
# namespace of its own: TREE WORK.

TREE=$1 WORK=$2
: "${PATIENCE:=1}"

block() {
	awk -v fence="\`\`\`sh $1" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' "$TREE/docs/WITHOUT_UNITS.md"
}

await() {
	local deadline=$((SECONDS + $1 * PATIENCE))
	until "${@:2}"; do
		((SECONDS <= deadline)) || { echo "in vain: ${*:2}"; tail /var/log/bourdon*.log; return 1; }
		sleep 0.1
	done
}

holds() {
	"$@" || { echo "does not hold: $*"; exit 1; }
}

# others: the processes of this mount namespace but this one and what it runs right now
others() {
	local own pid
	own=$(readlink /proc/self/ns/mnt)
	for pid in /proc/[0-9]*; do
		pid=${pid#/proc/}
		[[ $pid == "$$" || $pid == "$PPID" || $pid == "$BASHPID" || $(readlink "/proc/$pid/ns/mnt" 2> /dev/null) != "$own" ]] ||
			[[ $(ps -o ppid= -p "$pid" | tr -d ' ') == "$BASHPID" ]] || ps -o pid=,args= -p "$pid"
	done
}

status_is() {
	bourdon status --json 2> /dev/null | jq -e "$1" > /dev/null
}

ended() {
	[[ -z $(others) ]]
}

mkdir "$WORK/etc"
cp -a /etc/. "$WORK/etc"
mount --bind "$WORK/etc" /etc
sed -i '/^bourdon:/d' /etc/passwd /etc/shadow /etc/group /etc/gshadow
rm -rf /etc/bourdon
for directory in /run /var/lib /var/log /usr/local; do
	mount -t tmpfs -o mode=0755 tmpfs "$directory"
done
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
install -D -t /usr/local/sbin "$TREE/build/bourdond" "$TREE/build/bourdon-load"
install -D -t /usr/local/bin "$TREE/build/bourdon"
install -D -t /usr/local/libexec/bourdon "$TREE/build/bourdon-grant"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

eval "$(block accounts)"
holds test "$(getent passwd bourdon | cut -d : -f 6,7)" = /nonexistent:/usr/sbin/nologin
printf '%s\n' '[rule shells]' 'comm = bash' 'cpu.some = 1900ms/2s' > /etc/bourdon/rules.d/shells.conf
locked=all
(ulimit -l 131072) 2> /dev/null || locked=present # in a container
eval "$(block start)"
await 20 status_is ".daemon[0].locked_memory == \"$locked\" and "'([.watches[] | select(.trigger_mode == "kernel")] | length) > 0'
before=$(bourdon status --json | jq '.daemon[0].pid')
eval "$(block reload)"
await 30 status_is ".daemon[0].pid != $before"
eval "$(block stop)"
await 10 ended || { others; exit 1; }
holds test ! -e /sys/fs/bpf/bourdon
holds test -z "$(find /run -mindepth 1 -not -path '/run/mount*')"
grep 'ending: ' /var/log/bourdond.log
eval "$(block purge)"
holds test -z "$(getent passwd bourdon)$(getent group bourdon bourdon-pins)"
holds test -z "$(find /var/lib /var/log /etc/bourdon -mindepth 1 2> /dev/null)"
echo 'nothing is left'
