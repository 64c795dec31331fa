#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make_symbols.sh SOURCE DIRECTORY: one program in all the ways in which symbols and debugging information come.
# CXX and CLANG are the compilers.
#
#   dwarf4, dwarf5, clang   within the file; clang's without .debug_aranges
#   compressed              likewise, its sections deflated
#   stripped                nothing; stripped.debug has it, and the same build id, which is in stripped.id
#   linked                  nothing, and no build id; linked.debug has it, which the link names
#   packed                  nothing but the symbols, in .gnu_debugdata
#   shared                  what it has in common with another program is in shared.alternate, made by dwz
#   symbols                 only the symbols
#   lazy, ibt               the two kinds of procedure linkage table; lazy.plt and ibt.plt have what objdump says of its entries
#   cyclic                  a function whose debugging information leads in circles
#   bomb                    dwarf5 with debugging information that is 256 MiB of memory when it is inflated
set -euo pipefail
source=$(realpath "$1")
cyclic=$(realpath "$(dirname "${BASH_SOURCE[0]}")/cyclic.s")
mkdir -p "$2"
cd "$2"

# compile COMPILER NAME OPTION...
compile() {
	"$1" -x c++ -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -pie -fPIE "${@:3}" -o "$2" "$source"
}

compile "$CXX" dwarf5 -gdwarf-5 -Wl,--build-id=sha1
compile "$CXX" dwarf4 -gdwarf-4 -Wl,--build-id=sha1
compile "$CLANG" clang -g -Wl,--build-id=sha1
compile "$CXX" compressed -g -gz=zlib -Wl,--build-id=sha1
compile "$CXX" unlinked -g -Wl,--build-id=none
compile "$CXX" other -gdwarf-4 -DOTHER

compile "$CXX" lazy -fcf-protection=none -Wl,-z,lazy
compile "$CXX" ibt -fcf-protection=full -Wl,-z,lazy,-z,ibtplt
for name in lazy ibt; do
	objdump -d -C "$name" | sed -n 's/^0*\([0-9a-f]*\) <\([^*].*@plt\)>:$/\1 \2/p' > "$name.plt"
done

readelf --notes dwarf5 | sed -n 's/.*Build ID: //p' > stripped.id
objcopy --only-keep-debug dwarf5 stripped.debug
strip --strip-all -o stripped dwarf5

objcopy --only-keep-debug unlinked linked.debug
strip --strip-all -o linked unlinked
objcopy --add-gnu-debuglink=linked.debug linked

objcopy --strip-debug dwarf5 symbols
xz --format=xz -c symbols > symbols.xz
cp stripped packed
objcopy --add-section .gnu_debugdata=symbols.xz packed

"$CXX" -x assembler -shared -nostdlib -Wl,--build-id=sha1 -o cyclic "$cyclic"

objcopy --dump-section .debug_info=large dwarf5
truncate -s 256M large
objcopy --update-section .debug_info=large dwarf5 bomb
objcopy --compress-debug-sections=zlib bomb
readelf -S -W bomb | grep ' \.debug_info .* C ' > /dev/null # SHF_COMPRESSED
rm large

cp dwarf4 shared
rm -f shared.alternate
dwz --multifile=shared.alternate --multifile-name="$PWD/shared.alternate" shared other
