#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Histograms of latencies: programs that wait for known times, beside what they measured themselves and what the kernel counted.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/accounts.bash"

setup() {
	accounts_setup latency

	own_workload known_waits
}

teardown() {
	bourdon_teardown
}

@test "scratch" {
	load
	follow
	victim "$WORK/$OWN" --how lock --time 20 --times 100
	begin
	kill -USR1 "$VICTIM"
	sleep 4
	finish
	sql "SELECT * FROM latency_measured" >&3
	sql "SELECT * FROM latency_percentile" >&3
	false
}
