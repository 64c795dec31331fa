#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Forged unwind tables: whatever the consumer writes, stacks contain only addresses of code, never another
# word of a process's memory, and no program crashes or hangs.

source "$BATS_TEST_DIRNAME/lib.bash"

SECRET=5ec2e75ec2e75ec2

setup() {
	bourdon_setup forged
	cgroup_make
	load --hz 997 --ring-size 256KiB
	rule secret 'comm = secret' "cgroup = /$CGROUP" 'io.full = 100%' 'watch = system'
	daemon_start
	start_ahead "$BUILD/workloads/secret" --word $SECRET --seconds 60 --hotspot
	await_tables
}

teardown() {
	bourdon_teardown
}

# oncpu_samples: prints the number of on-CPU samples so far
oncpu_samples() {
	status_json | jq '.counters[] | select(.name == "samples-oncpu").value'
}

# forge [OPTION]: forges tables, which are used and bring no word of data out
forge() {
	run "$BUILD/tools/forge_tables" "$@" "$PIN_DIR" "$CHILD" 4 $SECRET
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ ^rounds\ [0-9]+,\ words\ found\ 0,\ walks\ stopped\ ([0-9]+)$ ]]
	# the forged tables were used: unwinding ended at words that are no address of code
	[ "${BASH_REMATCH[1]}" -gt 50 ]
}

@test "tables that make any stack word a return address: no word of data comes out" {
	forge
}

@test "code that is said to be HotSpot's, with structures that lead to data: no word of data comes out" {
	forge --hotspot
}

@test "tables of random bytes: no word of data comes out, and sampling goes on" {
	local before ran
	before=$(oncpu_samples)
	ran=$(cpu_ms "$CHILD")
	run "$BUILD/tools/forge_tables" --garbage "$PIN_DIR" "$CHILD" 5 $SECRET
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"words found 0,"* ]]
	# sampling continued for the CPU time that the target received; an emulated CPU skips ticks
	ran=$(($(cpu_ms "$CHILD") - ran))
	[ "$(oncpu_samples)" -gt $((before + ran * 8 / 10 / PATIENCE)) ]
	run "$BUILD/tools/spin_rings" "$PIN_DIR/oncpu" 1
	[ "$status" -eq 0 ]
	[ "$(status_json | jq '.daemon[0].targets')" -eq 1 ]
}
