#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the virtual machine: the loader's and the consumer's tests, as far as they do not race against an
# emulated CPU's clock.
cd /bourdon || exit 1
uname -r
results=/run/results
timeout 900 bats --tap tests/e2e/load.bats tests/e2e/errors.bats > "$results" 2>&1
timeout 300 bats --tap -f 'CPU pressure of the system|exec, fork' tests/e2e/capture.bats >> "$results" 2>&1
cat "$results"
echo "$(grep -c '^ok ' "$results") passed, $(grep -c '^not ok ' "$results") failed"
