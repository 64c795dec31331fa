#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make_elf_seeds.sh DIRECTORY: compiles small files with DWARF, by CC and by CLANG, as seeds of fuzz_elf_symbols.
# A seed is eight offsets in a function with others inlined into it, then the file.
set -euo pipefail
directory=$1/elf_symbols
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$directory"

cat > "$work/small.c" <<'CODE'
static inline __attribute__((always_inline)) int inner(int x) { __asm__ volatile("nop"); return x * 3; }
static inline __attribute__((always_inline)) int middle(int x) { return inner(x + 1); }
int outer(int x) { return middle(x) + 1; }
CODE

# seed NAME: writes the offsets, then $work/file.
seed() {
	local begins offset i
	begins=$((16#$(nm "$work/whole" | awk '$3 == "outer" { print $1 }')))
	for i in {0..7}; do
		offset=$((begins + i))
		# shellcheck disable=SC2059 # the format is the bytes
		printf "$(printf '\\x%02x\\x%02x\\0\\0' $((offset & 255)) $((offset >> 8)))"
	done > "$directory/$1"
	cat "$work/file" >> "$directory/$1"
}

for compiler in "$CC" "$CLANG"; do
	for version in 4 5; do
		# one segment, so that an address is a file offset
		"$compiler" -gdwarf-$version -O2 -nostdlib -shared -fPIC -fno-asynchronous-unwind-tables \
			-Wl,--build-id=sha1,-z,noseparate-code,-z,norelro -o "$work/whole" "$work/small.c"
		objcopy -R .comment "$work/whole" "$work/file"
		seed "${compiler##*/}-$version"
	done
done
strip --strip-all -o "$work/stripped" "$work/whole"
objcopy --strip-debug "$work/whole" "$work/symbols"
xz -c "$work/symbols" > "$work/symbols.xz"
objcopy --add-section .gnu_debugdata="$work/symbols.xz" "$work/stripped" "$work/file"
seed packed
