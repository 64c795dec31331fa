#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# reproducible.sh BUILD: builds this tree twice, and compares each file that is installed, the BPF object, its
# skeleton and the policies byte by byte. The builds differ in directory, order of the directories' entries, time, time
# zone, locale, umask and number of jobs. Prints each difference as one line, and then exits with status 1. The trees
# are in BUILD/reproducible; they are removed unless they differ. Some 25 s of CPU time each.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1/reproducible"
place=$(cd "$1/reproducible" && pwd)
one=$place/one
other=$place/other-with-a-longer-name/tree

# copy_tree DIRECTORY SORT-OPTION...: the tree without what was built
copy_tree() {
	rm -rf "$1"
	mkdir -p "$1"
	(cd "$root" && find . \( -path ./.git -o -path ./build -o -path "./${place#"$root"/}" \) -prune -o ! -type d -print0 |
		LC_ALL=C sort -z "${@:2}" | tar -c --null -T -) | tar -x -C "$1"
}

# make_in DIRECTORY ARGUMENT...: of the variables of the make that runs this, only the compiler goes on
make_in() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$1" ${CC:+"CC=$CC"} "${@:2}"
}

# build DIRECTORY JOBS: the programs, and what is installed of them; prints the end of its log if it fails
build() {
	local log=$place/log-$2
	if ! { make_in "$1" "-j$2" all && make_in "$1" install DESTDIR="$1/installed"; } > "$log" 2>&1; then
		tail -n 30 "$log" >&2
		return 1
	fi
}

# files DIRECTORY: what has to be equal, and the modes of what is installed
files() {
	(cd "$1" && find build/bourdon.bpf.o build/skeleton build/policy -type f && find installed -type f -printf '%p %m\n') |
		LC_ALL=C sort
}

copy_tree "$one"
copy_tree "$other" -r
(umask 022 && export TZ=UTC0 LC_ALL=C && build "$one" 1) &
(umask 077 && export TZ=Pacific/Chatham LC_ALL=C.UTF-8 && build "$other" 2)
wait $!

different=0
diff <(files "$one") <(files "$other") || different=1
compared=0
while read -r file _; do
	cmp "$one/$file" "$other/$file" || different=1
	compared=$((compared + 1))
done < <(files "$one")
[ "$different" -eq 0 ] || { echo "reproducible: the builds in $one and $other differ" >&2; exit 1; }
rm -rf "$place"
echo "reproducible: $compared files are the same in two directories"
