#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves that links.sh finds what it should: each mistake is planted in the README of a small tree, and must be named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tree=$(mktemp -d)
found=0
trap 'rm -rf "$tree"' EXIT

# accepts TEXT: links.sh must print nothing but its last line for a README of this text
accepts() {
	printf '# Title of it\n\n%s\n' "$1" > "$tree/README.md"
	tests/lint/links.sh "$tree" > /dev/null || {
		echo "test_links.sh: refused: $1" >&2
		exit 1
	}
}

# refuses TEXT MISTAKE
refuses() {
	local output
	printf '# Title of it\n\n%s\n' "$1" > "$tree/README.md"
	if output=$(tests/lint/links.sh "$tree" 2>&1) || [ "$output" != "README.md:3: $2" ]; then
		printf 'test_links.sh: expected "%s" for "%s", but it printed:\n%s\n' "$2" "$1" "$output" >&2
		exit 1
	fi
	found=$((found + 1))
}

# refuses_promise ROW LAST-CELL: a row of the table of attackers
refuses_promise() {
	local output
	printf '# Title\n## Attackers\n%s\n' "$1" > "$tree/README.md"
	if output=$(tests/lint/links.sh "$tree" 2>&1) || [ "$output" != "README.md:3: this promise names no test: $2" ]; then
		printf 'test_links.sh: expected a promise without a test for "%s", but it printed:\n%s\n' "$1" "$output" >&2
		exit 1
	fi
	found=$((found + 1))
}

mkdir -p "$tree"/{common/abi,docs,mk,consumer,loader/grant,report,tests/{e2e,fuzz,unit,vm}}
echo '.PHONY: lint all' > "$tree/Makefile"
echo 'run_it: all' > "$tree/mk/tests.mk"
echo '{ "known", "FILE", "help", &value },' > "$tree/report/command.c"
touch "$tree"/{common/abi/abi.h,docs/A.md,tests/fuzz/fuzz_ini.c}
echo '@test "a load: it is whole" {' > "$tree/tests/e2e/load.bats"
# shellcheck disable=SC2016 # a text
printf '%s\n' 'START_TEST(lines_are_read)' 'Suite *suite = suite_create("ini");' > "$tree/tests/unit/test_ini.c"

# shellcheck disable=SC2016 # backticks are code in the documents
{
	accepts '[a](docs/A.md) [b](#title-of-it) [c](https://example.org/none) `[d](none)`'
	refuses '[a](none.md)' "'none.md': there is no ./none.md"
	refuses '[a](#title)' "'#title': README.md has no such heading"
	accepts 'See `common/abi/abi.h`, common/abi/*.h, common/abi/NAME.h, build/none, /common/none and ~/common/none.'
	refuses 'See `common/none.h`.' 'there is no path common/none.h'
	refuses 'See tests/e2e/none.bats, please' 'there is no path tests/e2e/none.bats'
	accepts 'Shown by e2e/load, fuzz/ini, unit/ini and e2e/NAME.'
	refuses 'Shown by e2e/none' 'there is no test e2e/none'
	refuses 'Shown by fuzz/none' 'there is no test fuzz/none'
	refuses 'Shown by vm/none' 'there is no test vm/none'
	refuses 'Shown by unit/none' 'there is no test unit/none'
	accepts 'Shown by e2e/load "it is whole", unit/ini "lines are", fuzz/ini and e2e/load.'
	refuses 'Shown by e2e/load "it is not"' 'there is no title e2e/load it is not'
	refuses 'Shown by e2e/load "@test"' 'there is no title e2e/load @test'
	refuses 'Shown by unit/ini "lines are written"' 'there is no title unit/ini lines are written'
	accepts '## Attackers
| attacker | what must hold | shown by |
|---|---|---|
| one | nothing | e2e/load |
## Others
| one | nothing | |'
	refuses_promise '| one | that e2e/load says so | nobody |' 'nobody'
	accepts '`make lint` and `make V=1 all`; make believe'
	refuses 'Run `make everything`' 'there is no target everything'
	refuses 'Run `make V=1 lint everything`' 'there is no target everything'
	accepts '| `--known` | yes |'
	refuses '| `--none` | yes |' 'there is no option none'
}
echo "test_links: links.sh finds $found planted mistakes"
