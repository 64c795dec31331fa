#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures how fast one core drains full rings: reading, interning and aggregating samples.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

for depth in 5 30; do
	doing "depth $depth"
	rates=$("$BUILD/bench/drain" --depth "$depth" --rounds $((3 * ROUNDS)) |
		awk '{ split($1, samples, "="); split($2, ns, "="); print samples[2] * 1e3 / ns[2] }')
	row_at_least "drain, dispatch and intern, 500 stacks of $depth frames, one core" "$(spread 2 'M/s' <<< "$rates")" \
		"$(median <<< "$rates")" 1 'M/s'
done
