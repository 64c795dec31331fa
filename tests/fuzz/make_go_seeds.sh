#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make_go_seeds.sh DIRECTORY: the table of the functions of a Go program, cut to its first ones, as seeds of fuzz_go_functions:
# alone, and in programs at a fixed address and anywhere, which CC links.
set -euo pipefail
mkdir -p "$1/go_functions"
directory=$(realpath "$1/go_functions")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GO111MODULE=off GOPROXY=off GOTOOLCHAIN=local GOFLAGS='' GOCACHE=${GOCACHE:-$work/go_cache} CGO_ENABLED=0

echo 'package main; func main() {}' > small.go
go build -ldflags='-s -w' -o small small.go
objcopy -O binary --only-section=.gopclntab small whole

# Writes the files table, trees, ends and image.s. The first functions use the first bytes of all other parts. What is inlined into
# them gets a tree of its own.
cat > cut.pl <<'CODE'
use strict;
use warnings;

my ($functions, $nodes) = (24, 16);
my @bytes_most = (4096, 512, 1024, 4096); # of names, units, files, values
my $whole = do { local (@ARGV, $/) = ('whole'); <> };
my $is_old = unpack('V', $whole) == 0xfffffff0;
my @starts = unpack('x32 Q<5', $whole);
my @parts = map { substr($whole, $starts[$_], $starts[$_ + 1] - $starts[$_]) } 0 .. 3;
my $rest = substr($whole, $starts[4]);
my @entries = unpack('V' . (2 * $functions + 2), $rest);
my $first = $entries[1];
my $records = substr($rest, $first, $entries[2 * $functions + 1] - $first);

for my $i (0 .. $functions - 1) {
	my $at = $entries[2 * $i + 1] - $first;
	my $behind = $at + ($is_old ? 40 : 44);
	my $tree = $behind + 4 * unpack('V', substr($records, $at + 28, 4)) + 12;
	substr($records, $tree, 4) = pack('V', 0)
		if unpack('C', substr($records, $behind - 1, 1)) > 3 && unpack('V', substr($records, $tree, 4)) != 0xffffffff;
	$entries[2 * $i + 1] = 4 * (2 * $functions + 1) + $at;
}
$parts[$_] = substr($parts[$_], 0, $bytes_most[$_]) for 0 .. 3;
$parts[0] .= "\0";
$parts[2] .= "\0";
push @parts, pack('V' . (2 * $functions + 1), @entries) . $records;

my ($at, @places) = (72);
for (@parts) {
	push @places, $at;
	$at += length;
}
my $end = $entries[2 * $functions];
my $node = $is_old ? pack('V5', 0xffff, 0, 0, 0, 1) : pack('V4', 1, 0, 1, 0);
my %files = (
	table => substr($whole, 0, 8) . pack('Q<8', $functions, 1, 0, @places) . join('', @parts),
	trees => $node x $nodes,
	ends => pack('V4', map { $end * $_ / 4 - 1 } 1 .. 4),
);
my @slices = map { ("table + $places[$_]", (length $parts[$_]) x 2) } 0 .. 4;
$files{'image.s'} = join "\n", '.text', '.globl _start', "_start: text: .skip $end, 0x90",
	'.section .gopclntab, "a"', '.balign 32', 'table: .incbin "table"', '.section .rodata', 'trees: .incbin "trees"',
	'.section .noptrdata, "aw"', '.balign 32',
	(map { ".quad $_" } 'table', @slices, "table + $places[4]", ($functions + 1) x 2, 0, 'text', "text + $end", 'text',
		"text + $end", (0) x 8, ('trees') x 16), '';
for my $name (keys %files) {
	open my $file, '>', $name or die "$name: $!";
	print $file $files{$name};
}
CODE
perl cut.pl

# seed NAME KIND FILE...: the kind is 1 for a program
seed() {
	# shellcheck disable=SC2059 # the format is the bytes
	{ printf "\\$2"; cat ends; printf "$(printf '\\x%02x' $((trees & 255)) $((trees >> 8)))"; cat "${@:3}"; } > "$directory/$1"
}

trees=$(wc -c < trees)
seed table 000 trees table
"$CC" -nostdlib -static -no-pie -Wl,--build-id=none,-z,noseparate-code -o fixed image.s
"$CC" -nostdlib -shared -Wl,--build-id=none,-z,noseparate-code -o anywhere image.s
strip --strip-all fixed anywhere
seed fixed 001 fixed
seed anywhere 001 anywhere
# found by its first bytes
objcopy --rename-section .gopclntab=.table --rename-section .rodata=.go.buildinfo fixed unnamed
seed unnamed 001 unnamed
