#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The consumer is not trusted with what it writes for the kernel programs: whatever the unwind tables say, no word of a
# process's memory but addresses of its code comes out, and nothing ends or hangs.

source "$BATS_TEST_DIRNAME/lib.bash"

SECRET=5ec2e75ec2e75ec2

setup() {
	bourdon_setup forged
	cgroup_make
	load --hz 997 --ring-size 256KiB
	rule secret 'comm = secret' "cgroup = /$CGROUP" 'cpu.some = 100%' 'watch = system'
	daemon_start
	start secret --word $SECRET --seconds 60
	await_tables
}

teardown() {
	bourdon_teardown
}

# oncpu_samples: that were taken so far
oncpu_samples() {
	status_json | jq '.counters[] | select(.name == "samples-oncpu").value'
}

@test "tables that make any word of the stack a return address" {
	run "$BUILD/tools/forge_tables" "$PIN_DIR" "$CHILD" 4 $SECRET
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ ^rounds\ [0-9]+,\ words\ found\ 0,\ walks\ stopped\ ([0-9]+)$ ]]
	# they went by the forged tables: a word that is no address of code stopped them
	[ "${BASH_REMATCH[1]}" -gt 50 ]
}

@test "tables of random bytes" {
	local before
	before=$(oncpu_samples)
	run "$BUILD/tools/forge_tables" --garbage "$PIN_DIR" "$CHILD" 5 $SECRET
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"words found 0,"* ]]
	# the programs went on, and so does the daemon
	[ "$(oncpu_samples)" -gt $((before + 1000 / PATIENCE)) ]
	run "$BUILD/tools/spin_rings" "$PIN_DIR/oncpu" 1
	[ "$status" -eq 0 ]
	[ "$(status_json | jq '.daemon[0].targets')" -eq 1 ]
}
