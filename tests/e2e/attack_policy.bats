#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Attacks on root's policy that outlast a load: what a consumer opened under one policy, it must not use under
# the next. tools/see_all has the consumer's user and group, and no capability.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup attack_policy
	cgroup_make
	private_bpffs 0711
	POLICY=$WORK/policy.conf
}

teardown() {
	[[ -z ${HOARDER-} ]] || kill "$HOARDER" 2> /dev/null || true
	bourdon_teardown
}

# policy LINE...
policy() {
	printf '%s\n' '[policy]' "$@" > "$POLICY"
}

# hog_as UID: starts OWN as that user
hog_as() {
	start_command setpriv --reuid "$1" --regid "$1" --clear-groups "$WORK/$OWN" --threads 2
}

# hoard_start SECONDS TGID...: opens everything that the consumer may open. hoard_look prints what comes of it in that
# many seconds.
hoard_start() {
	exec {HOARD}< <(exec setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups --inh-caps=-all \
		--bounding-set=-all "$BUILD/tools/see_all" --hoard "$PIN_DIR" "$@")
	HOARDER=$!
	local line
	IFS= read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "$HOARD" line
	[ "$line" = ready ]
}

hoard_look() {
	kill -USR1 "$HOARDER"
	output=$(cat <&"$HOARD")
	HOARDER=
	echo "$output"
}

# seen TGID NAME: prints that number of the process from the output of see_all
seen() {
	sed -nE "s/^tgid=$1 .*\\b$2=([0-9]+).*/\\1/p" <<< "$output"
}

@test "what was opened under the policy before: it delivers until the next load, and nothing from then on" {
	local late what
	own_workload cpu_hog
	policy 'allow_uids = 1004, 1005'
	load --policy "$POLICY" --hz 97
	hog_as 1005
	# shellcheck disable=SC2016
	start_command setpriv --reuid 1005 --regid 1005 --clear-groups \
		sh -c 'echo ready; until [ -e "$1" ]; do sleep 0.2; done; exec "$0" --threads 2' "$WORK/$OWN" "$WORK/go"
	late=$CHILD
	CHILD=${CHILDREN[0]}
	hoard_start 2 "$CHILD"
	hoard_look
	for what in tasks mappings oncpu offcpu targets totals; do
		[ "$(seen "$CHILD" $what)" -gt 0 ] || { echo "$what: none"; false; }
	done
	[[ $output =~ iterator_bytes=([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	hoard_start 3 "$CHILD" "$late"
	policy 'deny_uids = 1005'
	load --policy "$POLICY" --hz 97
	touch "$WORK/go"
	hoard_look
	for what in tasks threads mappings events ends oncpu offcpu open; do
		[ "$(seen "$CHILD" $what)" -eq 0 ] || { echo "$what of $CHILD"; false; }
		[ "$(seen "$late" $what)" -eq 0 ] || { echo "$what of $late"; false; }
	done
	[ "$(tail -n 1 <<< "$output")" = 'iterator_bytes=0 oncpu=0 offcpu=0' ]
}
