#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests includes.sh: plants each kind of mistake in a copy of the tree; includes.sh must report it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

copy=$(mktemp -d)
found=0
trap 'rm -rf "$copy"' EXIT

# plant FILE TEXT...: writes a file of these lines into the copy
plant() {
	printf '%s\n' "${@:2}" > "$copy/$1"
}

# expect PATTERN: includes.sh must fail, and print one line that matches
expect() {
	local output
	if output=$(tests/lint/includes.sh "$copy"); then
		echo "test_includes.sh: not found: $1" >&2
		exit 1
	fi
	grep -qE "$1" <<< "$output" || {
		printf 'test_includes.sh: expected %s, but it printed:\n%s\n' "$1" "$output" >&2
		exit 1
	}
	find "$copy" -name 'planted*' -delete
	found=$((found + 1))
}

cp -r bpf common consumer loader report policy "$copy"
tests/lint/includes.sh "$copy" > /dev/null

# circles of two modules, and of three through a .c file
plant consumer/rules/planted_a.h '' '#include "consumer/rules/planted_b.h"'
plant consumer/rules/planted_b.h '#include "consumer/rules/planted_a.h"'
expect '^consumer/rules/planted_[ab]\.h:[12]: circle: .*planted_a .*planted_b'
plant report/live/planted_a.c '#include "report/live/planted_b.h"'
plant report/live/planted_b.h '#include "report/live/planted_c.h"'
plant report/live/planted_c.h '#include "report/live/planted_a.h"'
plant report/live/planted_a.h ''
expect '^report/live/planted_[abc]\.[ch]:1: circle: (.*planted_[abc]){4}$'

# includes of a higher room, and of an unrelated one
plant common/base/planted.c '' '' '#include "consumer/rules/rules.h"'
expect '^common/base/planted\.c:3: common/base must not include consumer/rules/rules\.h$'
plant consumer/watch/planted.h '#include "consumer/capture/capture.h"'
expect '^consumer/watch/planted\.h:1: consumer/watch must not include consumer/capture/capture\.h$'
plant consumer/capture/planted.c '#include "consumer/symbols/naming.h"'
expect '^consumer/capture/planted\.c:1: consumer/capture must not include consumer/symbols/naming\.h$'
plant loader/planted.c '#include "loader/grant/server.h"'
expect '^loader/planted\.c:1: loader must not include loader/grant/server\.h$'
plant report/model/planted.c '  #  include "consumer/store/store.h"'
expect '^report/model/planted\.c:1: report/model must not include consumer/store/store\.h$'
plant bpf/planted.h '#include "common/system/log.h"'
expect '^bpf/planted\.h:1: bpf must not include common/system/log\.h$'
mkdir "$copy/consumer/cellar"
plant consumer/cellar/planted.c ''
expect '^consumer/cellar/planted\.c:1: consumer/cellar is not in the table of rooms'

# what a room is
plant report/model/planted.h '/* Room: another one */'
expect '^report/model/[a-z]*\.h:[0-9]+: another header says what the room report/model is$'
sed -i 's/ Room: / /' "$copy/report/model/profile.h"
expect '^report/model: no header says in its first comment what this room is'
cp report/model/profile.h "$copy/report/model/profile.h"

# calls and headers that can block
plant consumer/host/planted.c '#include <sqlite3.h>'
expect '^consumer/host/planted\.c:1: <sqlite3\.h> can block'
plant consumer/process/planted.h '#include <elfutils/libdw.h>'
expect '^consumer/process/planted\.h:1: <elfutils/libdw\.h> can block'
plant consumer/watch/planted.c 'static int save(int fd)' '{' '	/* fsync(fd) */' '	return !fd || fsync(fd);' '}'
expect '^consumer/watch/planted\.c:4: fsync\(\) can block'
plant consumer/capture/planted.c '' '	result = rules_read_directory(where, &set, &errors);'
expect '^consumer/capture/planted\.c:2: rules_read_directory\(\) can block'

echo "test_includes: includes.sh finds $found planted mistakes"
