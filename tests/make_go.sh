#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make_go.sh SOURCE DIRECTORY: one Go program without symbols and DWARF, linked in all the ways that differ for who reads its table
# of functions, and how Go itself names its code.
#
#   go_whole      with symbols and DWARF
#   go_plain      by Go's linker, at a fixed address
#   go_anywhere   by Go's linker, loaded anywhere: the table is in a section .data.rel.ro.gopclntab
#   go_external   by the C compiler's linker, loaded anywhere: the table is within .data.rel.ro, and addresses are in relocations
#   NAME.runtime  the runtime's view of each
#   NAME.gosym    debug/gosym's view of the first two
set -euo pipefail
source=$(realpath "$1")
mkdir -p "$2"
cd "$2"
export GO111MODULE=off GOPROXY=off GOTOOLCHAIN=local GOFLAGS='' GOCACHE=${GOCACHE:-$PWD/go_cache}

# compile NAME OPTION...
compile() {
	go build -o "$1" "${@:2}" "$source"
}

CGO_ENABLED=0 compile go_whole
CGO_ENABLED=0 compile go_plain -ldflags='-s -w'
CGO_ENABLED=0 compile go_anywhere -buildmode=pie -ldflags='-s -w'
CGO_ENABLED=1 compile go_external -buildmode=pie -ldflags='-s -w -linkmode=external'
for name in go_plain go_anywhere go_external; do
	"./$name" > "$name.runtime"
done
for name in go_plain go_anywhere; do
	./go_plain "$name" > "$name.gosym"
done
