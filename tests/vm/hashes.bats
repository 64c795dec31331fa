#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The hashes of known stacks, which have to be the same in every virtual machine: tests/vm/run.sh compares them.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"
source "$BATS_TEST_DIRNAME/../e2e/hashes.bash"

setup() {
	bourdon_setup hashes
	cgroup_make
}

teardown() {
	bourdon_teardown
}

@test "stacks of a known program have hashes, which the host compares" {
	load
	own_workload chain
	daemon_start
	record_chains "$WORK/$OWN"
	hashes "$OWN" | tee "$WORK/hashes"
	assert_hashes "$WORK/hashes"
	sed 's/^/# hash /' "$WORK/hashes" >&3
}
