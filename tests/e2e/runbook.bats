#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Every command of docs/RUNBOOK.md, on an installation at its default places, with a daemon, captures, the hook's directory,
# metrics and a journal: each prints what there is to see, and none fails.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup runbook
	cgroup_make
}

teardown() {
	bourdon_teardown
}

# runbook [MODE]: runs the commands in a mount namespace of its own, where /etc, /run, /var, /usr/local and the BPF file system
# are private.
runbook() {
	unshare --mount --propagation private bash -eu "$BATS_TEST_DIRNAME/runbook.sh" "$TREE" "$WORK" "$CGROUP2/$CGROUP" "$@"
}

@test "docs/RUNBOOK.md: each command prints what there is to see" {
	run runbook
	echo "$output"
	[ "$status" -eq 0 ]
	# all that are in the document, and there are many
	[[ ${lines[-1]} =~ ^([0-9]+)\ commands$ ]]
	[ "${BASH_REMATCH[1]}" -eq "$(awk '/^```sh( remedy)?$/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' "$TREE/docs/RUNBOOK.md" | wc -l)" ]
	[ "${BASH_REMATCH[1]}" -gt 50 ]
}

@test "the test of the runbook refuses a command that fails, prints nothing or does not exist" {
	local command
	for command in 'bourdon no-such-command' 'true' 'no-such-program' 'echo x; false' 'systemctl destroy bourdond'; do
		mkdir -p "$WORK/bad/docs"
		printf '%s\n' '# x' '```sh' "$command" '```' > "$WORK/bad/docs/RUNBOOK.md"
		run bash -eu "$BATS_TEST_DIRNAME/runbook.sh" "$WORK/bad" "$WORK" none commands
		[ "$status" -ne 0 ] || { echo "$command: $output"; false; }
	done
	printf '%s\n' '```sh remedy' 'true' '```' '```sh' 'echo x' '```' > "$WORK/bad/docs/RUNBOOK.md"
	run bash -eu "$BATS_TEST_DIRNAME/runbook.sh" "$WORK/bad" "$WORK" none commands
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = '2 commands' ]
}
