#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The installed units: systemd accepts them, docs/SECURITY.md explains their exposure scores, and an
# installation keeps an administrator's files. No unit is started here.

source "$BATS_TEST_DIRNAME/lib.bash"

UNITS=(bourdon-load.service bourdond.service bourdon-grant.socket bourdon-grant@one.service)

setup_file() {
	export ROOT=$BATS_FILE_TMPDIR/root PRIVATE_ROOT=$BATS_FILE_TMPDIR/private
	install_into "$ROOT"
	install_into "$PRIVATE_ROOT" PRIVATE_BPFFS=yes
}

setup() {
	PINS=/sys/fs/bpf/bourdon_units_${BOURDON_RUN-alone}_$$
	RUN=$BATS_TEST_TMPDIR/run
}

teardown() {
	"$BUILD/bourdon-load" --unload --pin-dir "$PINS" --run-dir "$RUN"
	[[ -z ${PASSABLE-} ]] || rm -rf "$PASSABLE"
}

# install_into ROOT VARIABLE...: installs as for a package.
install_into() {
	make -s -C "$TREE" install PREFIX=/usr DESTDIR="$1" "${@:2}"
}

# complete ROOT: copies the system's units and programs that the units name, for systemd-analyze.
complete() {
	cp -a /usr/lib/systemd/system/*.target /usr/lib/systemd/system/systemd-sys* "$1/usr/lib/systemd/system/"
	install -D /usr/bin/kill "$1/usr/bin/kill"
}

# verify ROOT UNIT...: systemd-analyze verify prints nothing.
verify() {
	complete "$1"
	run systemd-analyze verify --man=no --root="$1" "${@:2}"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

# exposure ROOT UNIT: prints ten times the score.
exposure() {
	systemd-analyze security --offline=yes --no-pager --root="$1" "$2" |
		sed -nE 's/.*Overall exposure level for .*: ([0-9]+)\.([0-9]).*/\1\2/p' | sed 's/^0*\(.\)/\1/'
}

# documented COLUMN: prints ten times the score of that unit in docs/SECURITY.md.
documented() {
	sed -nE "s/^\\| what it counts \\|.*\\b$1 ([0-9])\\.([0-9]).*/\\1\\2/p" "$TREE/docs/SECURITY.md" | sed 's/^0*\(.\)/\1/'
}

# explained ROOT UNIT COLUMN: each point of the score has a row with its number in docs/SECURITY.md.
explained() {
	local exposures
	exposures=$(systemd-analyze security --offline=yes --json=short --root="$1" "$2" |
		jq -r '.[] | select((.exposure // "0.0") != "0.0" and .exposure != "") | .exposure' | sort | paste -s -d ' ')
	[ "$exposures" = "$(awk -F ' *\\| *' -v column="$3" '/^\| [^w-].*\| *(0\.[0-9])? *\|/ && NF == 7 && $column ~ /^0/ {print $column}' \
		"$TREE/docs/SECURITY.md" | sort | paste -s -d ' ')" ] || { echo "$2: $exposures"; false; }
}

@test "systemd-analyze verify prints nothing" {
	verify "$ROOT" "${UNITS[@]}" run-bourdon-bpf.mount
	verify "$PRIVATE_ROOT" "${UNITS[@]}" run-bourdon-bpf.mount
}

@test "exposure: within the limits, and docs/SECURITY.md explains each point" {
	[ "$(exposure "$ROOT" bourdond.service)" -le 6 ]
	[ "$(exposure "$ROOT" bourdon-grant@one.service)" -le 13 ]
	[ "$(exposure "$ROOT" bourdon-load.service)" -le 14 ]
	[ "$(exposure "$PRIVATE_ROOT" bourdond.service)" -le 6 ]
	[ "$(exposure "$PRIVATE_ROOT" bourdon-grant@one.service)" -le 13 ]
	[ "$(exposure "$PRIVATE_ROOT" bourdon-load.service)" -le 13 ]
	[ "$(exposure "$ROOT" bourdond.service)" -eq "$(documented bourdond)" ]
	[ "$(exposure "$ROOT" bourdon-grant@one.service)" -eq "$(documented bourdon-grant@)" ]
	[ "$(exposure "$ROOT" bourdon-load.service)" -eq "$(documented bourdon-load)" ]
	explained "$ROOT" bourdond.service 3
	explained "$ROOT" bourdon-grant@one.service 4
	explained "$ROOT" bourdon-load.service 5
}

@test "without CAP_SYS_ADMIN, by the example, the loader's exposure is what docs/SECURITY.md says" {
	local root=$BATS_TEST_TMPDIR/root score
	cp -a "$ROOT" "$root"
	install -D -m 644 "$root/usr/share/doc/bourdon/examples/no-sys-admin.conf" \
		"$root/etc/systemd/system/bourdon-load.service.d/no-sys-admin.conf"
	verify "$root" bourdon-load.service
	score=$(exposure "$root" bourdon-load.service)
	grep -qF "| \`examples/no-sys-admin.conf\` and \`examples/perf-event-paranoid.conf\` | 1.${score#1} |" "$TREE/docs/SECURITY.md" ||
		{ echo "$score"; false; }
	grep -qF "With \`PRIVATE_BPFFS=yes\` the loader has 1.$(($(exposure "$PRIVATE_ROOT" bourdon-load.service) - 10))" \
		"$TREE/docs/SECURITY.md"
}

@test "the loader's unit names policy.conf: without the file nothing is loaded" {
	local root command line
	for root in "$ROOT" "$PRIVATE_ROOT"; do
		# every command that loads, in the unit and in its drop-in
		while read -r line; do
			command=${line#*=/usr/sbin/}
			command=${command//--pin-dir \/run\/bourdon\/bpf\/bourdon/}
			[[ $command == 'bourdon-load --policy /etc/bourdon/policy.conf'* ]] || { echo "$line"; false; }
			# shellcheck disable=SC2086
			run "$BUILD"/${command//\/etc\/bourdon/$BATS_TEST_TMPDIR} --pin-dir "$PINS" --run-dir "$RUN" --group root
			[ "$status" -eq 1 ]
			[[ $output == *"$BATS_TEST_TMPDIR/policy.conf: No such file or directory"* ]]
			[ ! -e "$PINS" ]
		done < <(grep -rhE '^Exec(Start|Reload)=/.*bourdon-load' "$root/usr/lib/systemd/system")
	done
	[ -e "$ROOT/etc/bourdon/policy.conf" ]
}

@test "units: bourdond has no capability, bourdon-load only those that a load may need" {
	local root
	for root in "$ROOT" "$PRIVATE_ROOT"; do
		grep -qx 'CapabilityBoundingSet=' "$root/usr/lib/systemd/system/bourdond.service"
		run grep -rE 'AmbientCapabilities|CAP_' "$root/usr/lib/systemd/system/" --include='bourdond*' --include=private-bpffs.conf
		[ -z "$output" ]
		grep -qx 'CapabilityBoundingSet=CAP_BPF CAP_PERFMON CAP_SYS_ADMIN' "$root/usr/lib/systemd/system/bourdon-load.service"
	done
}

@test "no number of requests fails the socket of bourdon-grant" {
	local unit=$ROOT/usr/lib/systemd/system/bourdon-grant.socket connections
	grep -qx 'TriggerLimitIntervalSec=0' "$unit"
	grep -qx 'TriggerLimitBurst=0' "$unit"
	# 50 idle clients do not keep bourdond out, with its nine connections
	connections=$(sed -n 's/^MaxConnections=//p' "$unit")
	((connections >= 50 + 9))
}

@test "the units name installed programs and files, and the socket of the daemon" {
	local path
	while read -r path; do
		[ -x "$PRIVATE_ROOT$path" ] || { echo "$path"; false; }
	done < <(sed -nE 's/^Exec(Start|Stop)=-?(\/[^ ]+).*/\2/p' "$PRIVATE_ROOT"/usr/lib/systemd/system/bourdon*.service{,.d/*})
	grep -qx "ListenStream=$(sed -n 's/^#define GRANT_SOCKET_DEFAULT "\(.*\)"/\1/p' "$TREE/common/protocol/grant_request.h")" \
		"$ROOT/usr/lib/systemd/system/bourdon-grant.socket"
	run grep -r @ "$ROOT/usr/lib" --include='*.service' --include='*.mount' --include='*.conf'
	[[ $output != *@*DIR@* ]]
	while read -r path; do
		[ -e "$ROOT$path" ] || { echo "$path"; false; }
	done < <(grep -rhoE '/usr/share/doc/bourdon/[A-Za-z./]+' "$ROOT/usr/lib/systemd")
	[ "$(stat -c %a "$ROOT/usr/sbin/bourdon-load" "$ROOT/etc/bourdon/bourdon.conf" | paste -s -d ' ')" = '755 644' ]
}

# tmpfiles ROOT: creates what the snippet names below ROOT. Names in access lists are looked up in the host's files.
tmpfiles() {
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -euc 'mount --bind "$1/etc/group" /etc/group
		mount --bind "$1/etc/passwd" /etc/passwd
		systemd-tmpfiles --root="$1" --create bourdon.conf' tmpfiles "$1"
}

# as_member GROUP COMMAND...: as a user who is in this group of $root alone
as_member() {
	local gid
	gid=$(sed -n "s/^$1:x:\([0-9]*\):.*/\1/p" "$root/etc/group")
	setpriv --reuid 65534 --regid "$gid" --clear-groups "${@:2}"
}

@test "the group bourdon-read reads the database, of any age, and can ask for nothing" {
	local root state name owner
	# bats lets no other user into its own directory
	PASSABLE=$(mktemp -d "${TMPDIR:-/tmp}/bourdon-units.XXXXXX")
	chmod 711 "$PASSABLE"
	root=$PASSABLE/root state=$PASSABLE/root/var/lib/bourdon
	install_into "$root"
	mkdir -p "$root/run" "$root/var/lib"
	printf 'root:x:0:0::/root:/bin/sh\n' > "$root/etc/passwd"
	printf 'root:x:0:\n' > "$root/etc/group"
	systemd-sysusers --root="$root" bourdon.conf
	owner=$(sed -n 's/^bourdon:x:\([0-9]*:[0-9]*\):.*/\1/p' "$root/etc/passwd")
	# an upgrade finds a database
	install -d -m 750 -o "${owner%:*}" -g "${owner#*:}" "$state"
	install -m 640 -o "${owner%:*}" -g "${owner#*:}" /dev/null "$state/bourdon.db"
	tmpfiles "$root"
	# the daemon makes files and its socket later
	# shellcheck disable=SC2016
	setpriv --reuid "${owner%:*}" --regid "${owner#*:}" --clear-groups bash -euc 'umask 0027; cd "$1"
		sqlite3 -cmd ".filectrl persist_wal 1" bourdon.db "PRAGMA journal_mode = WAL; CREATE TABLE kept(x); INSERT INTO kept VALUES(42)" > /dev/null
		sqlite3 copy.db "CREATE TABLE kept(x); INSERT INTO kept VALUES(43)"
		perl -MIO::Socket::UNIX -e "IO::Socket::UNIX->new(Local => q(control), Listen => 1); chmod 0660, q(control)"' bash "$state"
	for name in bourdon bourdon-read; do
		[ "$(as_member "$name" sqlite3 -readonly "$state/bourdon.db" 'SELECT x FROM kept')" = 42 ]
		[ "$(as_member "$name" sqlite3 -readonly "$state/copy.db" 'SELECT x FROM kept')" = 43 ]
		! as_member "$name" touch "$state/bourdon.db" "$state/another" || false
	done
	as_member bourdon test -w "$state/control"
	! as_member bourdon-read test -w "$state/control" || false
	# and nobody else
	for name in bourdon-pins bourdon-grant; do
		! as_member "$name" ls "$state" || false
	done
	# the unit sets this mode at each start: of a list it is the most that any group has
	[ "$(stat -c %a "$state")" = 750 ]
	chmod 750 "$state"
	as_member bourdon-read test -r "$state/bourdon.db"
}

@test "sysusers and tmpfiles snippets work, and no kernel setting is changed" {
	local root=$BATS_TEST_TMPDIR/root
	# of an earlier version
	install -D /dev/null "$root/usr/lib/sysctl.d/10-bourdon.conf"
	install_into "$root"
	mkdir -p "$root/run" "$root/var/lib"
	printf 'root:x:0:0::/root:/bin/sh\n' > "$root/etc/passwd"
	printf 'root:x:0:\n' > "$root/etc/group"
	run systemd-sysusers --root="$root" bourdon.conf
	[ "$status" -eq 0 ]
	[[ $output != *warn* && $output != *nore* ]]
	[ "$(cut -d : -f 1 "$root/etc/passwd" | paste -s -d ' ')" = 'root bourdon bourdon-grant' ] ||
		{ cat "$root/etc/passwd"; false; }
	run tmpfiles "$root"
	[ "$status" -eq 0 ]
	[ "$(stat -c %a "$root/run/bourdon" "$root/var/lib/bourdon" | paste -s -d ' ')" = '751 750' ]
	[ "$(sed -n 's/^\(bourdon-read\):.*/\1/p' "$root/etc/group")" = bourdon-read ]
	# of the groups, one has a member: that of the pins, and it is the daemon's user
	[ "$(sed -n 's/^\([^:]*\):[^:]*:[^:]*:\(.\)/\1 \2/p' "$root/etc/group")" = 'bourdon-pins bourdon' ]
	[ "$("$BUILD/bourdon-load" --help | grep -c 'may open the pins (bourdon-pins)')" -eq 1 ]
	run grep -rhE '^(Group|SupplementaryGroups)=' "$ROOT/usr/lib/systemd/system/bourdond.service"
	[ "$output" = Group=bourdon ]
	[ -z "$(find "$root" -path '*sysctl.d/*')" ]
	[ "$(grep -v '^#' "$root/usr/share/doc/bourdon/examples/perf-event-paranoid.conf")" = 'kernel.perf_event_paranoid = 2' ]
}

@test "the installed configuration is valid, and its commented lines, too" {
	local root=$BATS_TEST_TMPDIR/root
	install_into "$root"
	mkdir "$root/rules"
	cp "$root/usr/share/doc/bourdon/examples/web.conf" "$root/rules/"
	"$BUILD/bourdond" --check-config --config "$root/etc/bourdon/bourdon.conf" --rules-dir "$root/rules"
	# with all commented settings enabled
	sed -i 's/^#\([a-z_]* = \)/\1/' "$root/etc/bourdon/bourdon.conf"
	[ "$(grep -c ' = ' "$root/etc/bourdon/bourdon.conf")" -ge 3 ]
	"$BUILD/bourdond" --check-config --config "$root/etc/bourdon/bourdon.conf" --rules-dir "$root/rules"
	# the installed policy limits nothing; with its commented lines enabled, it has the limits of these
	# lines
	local policy=$root/etc/bourdon/policy.conf
	"$BUILD/bourdon-load" --policy "$policy" --group root --pin-dir "$PINS" --run-dir "$RUN"
	run "$BUILD/bourdon-load" --status --pin-dir "$PINS" --run-dir "$RUN"
	[[ $output == *'policy        the default: nobody is denied'* ]]
	sed -i 's/^#\([a-z_]* = \)/\1/' "$policy"
	"$BUILD/bourdon-load" --policy "$policy" --group root --pin-dir "$PINS" --run-dir "$RUN"
	run "$BUILD/bourdon-load" --status --pin-dir "$PINS" --run-dir "$RUN"
	[[ $output == *'policy        allow_uids = 1000-59999; deny_uids = 0, 65534; deny_comms = sshd, gpg*, ssh-agent; deny_undumpable = yes; max_rate = 1000'* ]]
}

@test "another installation and make uninstall keep the files that an administrator changed" {
	local root=$BATS_TEST_TMPDIR/root
	install_into "$root" PRIVATE_BPFFS=yes
	printf '[database]\nmax_size = 64MiB\n' > "$root/etc/bourdon/bourdon.conf"
	echo mine > "$root/etc/bourdon/rules.d/mine.conf"
	install_into "$root"
	[ "$(sed -n 2p "$root/etc/bourdon/bourdon.conf")" = 'max_size = 64MiB' ]
	# the files of PRIVATE_BPFFS are gone
	[ -z "$(find "$root/usr/lib/systemd" -name '*private*')" ]
	make -s -C "$TREE" uninstall PREFIX=/usr DESTDIR="$root"
	[ "$(find "$root" -type f -printf '%P\n' | sort | paste -s -d ' ')" = \
		'etc/bourdon/bourdon.conf etc/bourdon/policy.conf etc/bourdon/rules.d/mine.conf' ] ||
		{ find "$root"; false; }
	[ "$(find "$root" -name '*bourdon*' -type d -printf '%P\n')" = etc/bourdon ] || { find "$root" -type d; false; }
	make -s -C "$TREE" uninstall PREFIX=/usr DESTDIR="$root"
}
