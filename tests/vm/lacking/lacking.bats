#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages on a machine that was booted without features that bourdon needs: PSI is off, also for cgroups, and
# the kernel is locked down.

# bats file_tags=no-load

source "$BATS_TEST_DIRNAME/../../e2e/lib.bash"

setup() {
	bourdon_setup lacking
}

teardown() {
	bourdon_teardown
}

@test "--check: PSI that is off is what fails, with the remedy" {
	run "$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR"
	[ "$status" -eq 3 ]
	[[ $output == *'PSI '*failed*'remedy: boot with psi=1'* ]]
	[[ $output == *'PSI of cgroups'*warning*'remedy: boot without cgroup_disable=pressure'* ]]
	[[ $output != *canary* ]]
	# every other finding is "ok" or a warning
	[ "$(grep -c ' failed ' <<< "$output")" -eq 1 ]
}

@test "--check: a kernel in confidentiality mode" {
	mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
	run "$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR"
	[[ $output == *'lockdown'*warning*confidentiality*'remedy: boot with lockdown=integrity'* ]]
}

@test "a load: exit 3, one line, with the remedy" {
	run load
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'PSI: '*'remedy: boot with psi=1'* ]]
	[ ! -e "$PIN_DIR" ]
}

@test "doctor: the machine fails, and nothing is loaded" {
	run "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 1 ]
	[[ $output == *'PSI '*failed* ]]
}
