#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make fuzz: run.sh BUILD SECONDS runs each BUILD/fuzz_TARGET on its corpus, then for SECONDS on new inputs, and
# prints a line for each target. Inputs that reach new code are kept in BUILD/corpus/ for the next run, inputs
# that fail in BUILD/crash/; BUILD/fuzz_TARGET FILE repeats one of them.
set -euo pipefail
build=$1
seconds=$2
tests=$(dirname "${BASH_SOURCE[0]}")

# for libFuzzer, 0 seconds are no limit
limit=-max_total_time=$seconds
[ "$seconds" -gt 0 ] || limit=-runs=0

run_target() {
	local name=${1##*/fuzz_} log dictionary status=0 directory
	local -a corpora=()
	log=$build/log/$name
	dictionary=$tests/$name.dict
	for directory in "$build/corpus/$name" "$build/seeds/$name" "$tests/corpus/$name"; do
		[ ! -d "$directory" ] || corpora+=("$directory")
	done
	[ ! -f "$dictionary" ] || set -- "$1" "-dict=$dictionary"
	"$@" "$limit" -max_len=32768 -timeout=20 -print_final_stats=1 "-artifact_prefix=$build/crash/$name-" \
		"${corpora[@]}" > "$log" 2>&1 || status=$?
	awk -v name="$name" -v status="$status" '
		{ for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
		/^stat::number_of_executed_units:/ { executions = $2 }
		/Test unit written to / { reproducer = $NF }
		END {
			printf "fuzz: %-16s %8d executions, %4d edges, %s\n", name, executions, edges,
				status == 0 ? "no crash" : "FAILED on " (reproducer ? reproducer : "its corpus")
		}' "$log"
	[ "$status" -eq 0 ] || sed "/^#/d; /NEW_FUNC/d" "$log" | tail -n 40
	return "$status"
}

mkdir -p "$build/log" "$build/crash" "$build/seeds"
"$build/make_seeds" "$build/seeds"
"$tests/make_elf_seeds.sh" "$build/seeds"
"$tests/make_go_seeds.sh" "$build/seeds"
# what minimise.sh kept of earlier runs
for kept in "$tests"/corpus/*.base64; do
	name=${kept##*/}
	mkdir -p "$build/seeds/${name%.base64}"
	# shellcheck disable=SC2016 # variables of perl
	INTO=$build/seeds/${name%.base64} perl -MMIME::Base64 -ne 'open my $file, ">", "$ENV{INTO}/kept-$."; print $file decode_base64($_)' "$kept"
done
for target in "$build"/fuzz_*; do
	mkdir -p "$build/corpus/${target##*/fuzz_}"
done
export -f run_target
export build tests limit
printf '%s\n' "$build"/fuzz_* | xargs -P "$(nproc)" -I '{}' bash -c 'run_target "{}"'
