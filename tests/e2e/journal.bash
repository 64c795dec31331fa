# SPDX-License-Identifier: GPL-2.0-only
#
# A journal of the tests' own: systemd-journald alone, without systemd, in a mount namespace whose /run is private. A daemon that
# DAEMON_BY starts there sends its entries to it. Source lib.bash first.

# journal_namespace: makes the namespace, with no journal in it yet. Load first: the loader may have to mount bpffs, which a namespace
# of its own would not see. Sets JOURNAL_KEEPER.
journal_namespace() {
	# shellcheck disable=SC2016 # it is another shell's
	exec {JOURNAL_READY}< <(exec unshare --mount --propagation private bash -euc '
		mount -t tmpfs -o mode=0755 tmpfs /run
		mkdir -p /run/systemd/journal /run/systemd/journald.conf.d /run/log/journal
		printf "%s\n" "[Journal]" Storage=volatile ReadKMsg=no Audit=no ForwardToSyslog=no ForwardToConsole=no \
			ForwardToWall=no RateLimitBurst=0 > /run/systemd/journald.conf.d/test.conf
		[ -s /etc/machine-id ] || {
			tr -d - < /proc/sys/kernel/random/uuid > /run/machine-id
			mount --bind /run/machine-id /etc/machine-id
		}
		echo ready
		exec sleep infinity')
	JOURNAL_KEEPER=$!
	read -r -t 60 -u "$JOURNAL_READY" _
	IN_JOURNAL=(nsenter "--mount=/proc/$JOURNAL_KEEPER/ns/mnt" --)
	DAEMON_BY=${IN_JOURNAL[*]}
	JOURNALD=
}

# journal_start: starts journald there, and waits until it listens.
journal_start() {
	"${IN_JOURNAL[@]}" /lib/systemd/systemd-journald 2> "$WORK/journald.log" 3>&- &
	JOURNALD=$!
	await 30 "${IN_JOURNAL[@]}" test -S /run/systemd/journal/socket
}

# journal_stop: ends journald, and its socket, as no systemd keeps it.
journal_stop() {
	[[ -n ${JOURNALD-} ]] || return 0
	kill -CONT "$JOURNALD" 2> /dev/null || true
	kill -TERM "$JOURNALD"
	wait "$JOURNALD" || true
	JOURNALD=
	"${IN_JOURNAL[@]}" rm -f /run/systemd/journal/socket
}

# journal_end: ends all of it.
journal_end() {
	[[ -n ${JOURNAL_KEEPER-} ]] || return 0
	journal_stop
	kill "$JOURNAL_KEEPER"
	wait "$JOURNAL_KEEPER" 2> /dev/null || true
	JOURNAL_KEEPER=
}

# journal_catalog ROOT: makes that journalctl explain entries by the catalogs that are installed below ROOT.
journal_catalog() {
	journalctl --quiet --root="$1" --update-catalog
	# shellcheck disable=SC2016 # it is another shell's
	"${IN_JOURNAL[@]}" sh -euc 'mount -t tmpfs tmpfs /var/lib/systemd
		mkdir /var/lib/systemd/catalog
		cp "$1/var/lib/systemd/catalog/database" /var/lib/systemd/catalog' sh "$1"
}

# journal OPTION...: journalctl of that journal
journal() {
	"${IN_JOURNAL[@]}" journalctl -q --no-pager "$@"
}
