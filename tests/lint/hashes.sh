#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# hashes.sh [DIRECTORY]: checks that each hash table of the programs in DIRECTORY uses the key of its process (common/base/hash.h), so
# that nobody can choose entries that collide:
#   1. what is passed to hash_index_find(), hash_index_add() and hash_index_remove() as a hash comes from hash_bytes() or
#      hash_number_and_bytes(): directly, by a function of the same file that returns nothing else, or by a variable
#      or member that the same file sets to nothing else;
#   2. there is no other hash table: no function of a library, no constant of a hash without a key, no slot that is chosen by a
#      mask, and no BPF map whose seed is switched off (the kernel draws one for each map).
# Prints each mistake as one line, FILE:LINE: MESSAGE, and then exits with status 1. Without a mistake it prints one line of
# counts.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"

# shellcheck disable=SC2016  # the dollars are perl's
find bpf common consumer loader policy report -name '*.[ch]' -print0 | sort -z | xargs -0 perl -e '
use strict;
use warnings;

my ($mistakes, $passed, $files) = (0, 0, 0);
my $parens = qr/(\((?:[^()]++|(?-1))*+\))/;
my $braces = qr/(\{(?:[^{}]++|(?-1))*+\})/;
my $keyed = qr/hash_(?:bytes|number_and_bytes)/;
# what hashes without a key are made of: FNV-1a, Bernstein, the golden ratio, Murmur
my $constant = qr/\b(?:0x811c9dc5|2166136261|0x01000193|16777619|0xcbf29ce484222325|14695981039346656037|0x100000001b3|1099511628211|5381|0x9e3779b9(?:7f4a7c15)?|2654435761|0x61c88647|0xcc9e2d51|0x5bd1e995)[uUlL]*\b/i;

sub mistake {
	my ($file, $text, $at, $message) = @_;
	my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);
	print "$file:$line: $message\n";
	$mistakes++;
}

# The text without comments, and with empty strings; each newline stays.
sub strip {
	my ($text) = @_;
	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\x27(?:[^\x27\\\n]|\\.)*\x27)}
		{ my $gone = $1; my $rest = $gone =~ /^"/ ? "\"\"" : ""; $rest . "\n" x ($gone =~ tr/\n//) }gse;
	return $text;
}

# The arguments of a call, from its parentheses.
sub arguments {
	my ($list) = @_;
	my @all = ("");
	my $depth = 0;
	$list =~ s/^\(|\)$//g;
	for my $char (split //, $list) {
		$depth++ if $char =~ /[(\[{]/;
		$depth-- if $char =~ /[)\]}]/;
		if ($char eq "," && !$depth) { push @all, "" } else { $all[-1] .= $char }
	}
	s/^\s+|\s+$//g for @all;
	return @all;
}

for my $file (@ARGV) {
	open(my $handle, "<", $file) or die "$file: $!\n";
	my $text = strip(join("", <$handle>));
	$files++;

	while ($text =~ /\b(hcreate|hcreate_r|hsearch|hsearch_r|g_hash_table_\w+|HASH_(?:ADD|FIND)\w*|BPF_F_ZERO_SEED)\b/g) {
		mistake($file, $text, $-[0], "$1: tables are those of common/base/hash_index.h, and maps have a seed");
	}
	mistake($file, $text, $-[0], "$&: a constant of a hash without a key") while $text =~ /$constant/g;
	next if $file =~ m{^common/base/hash(_index)?\.[ch]$};
	mistake($file, $text, $-[0], "hash_with_key() is for comparison with published results")
		while $text =~ /\bhash_with_key\s*\(/g;
	mistake($file, $text, $-[0], "a slot chosen by a mask: use common/base/hash_index.h")
		while $text =~ /\[[^\[\];]*[^&]&\s*[\w.>-]*(?:mask|MASK)\b[^\[\];]*\]/g;

	my %returns; # functions that return keyed hashes
	while ($text =~ /\buint32_t\s+(\w+)\s*$parens\s*$braces/g) {
		my ($name, $body) = ($1, $3);
		my $all = () = $body =~ /\breturn\b/g;
		my $good = () = $body =~ /\breturn\s+$keyed\s*$parens\s*;/g;
		$returns{$name} = 1 if $all && $all == $good;
	}
	my $call = join("|", "hash_bytes", "hash_number_and_bytes", map { quotemeta } keys %returns);

	my $whole = $text; # a search for all in $text would begin the loop anew
	while ($text =~ /\b(hash_index_(?:find|add|remove))\s*$parens/g) {
		my ($function, $list, $at) = ($1, $2, $-[0]);
		my $hash = (arguments($list))[1] // "";
		$passed++;
		next if $hash =~ /^(?:$call)\s*$parens$/;
		if ($hash =~ /^(?:\w+(?:\.|->))*(\w+)$/ && $hash !~ /^\d/) {
			my $name = $1;
			my $all = () = $whole =~ /\b$name\s*(?:=(?!=)|[-+*\/%&|^]=|<<=|>>=|\+\+|--)/g;
			my $good = () = $whole =~ /\b$name\s*=\s*(?:$call)\s*$parens\s*[,;}]/g;
			my $addresses = () = $whole =~ /(?<!&)&\s*(?:\w+(?:\.|->))*$name\b/g;
			my $before = () = $whole =~ /(?:\+\+|--)\s*(?:\w+(?:\.|->))*$name\b/g;
			next if $all && $all == $good && !$addresses && !$before;
		}
		mistake($file, $text, $at, "$function() gets \x27$hash\x27, which is not only what common/base/hash.h returned");
	}
}
exit 1 if $mistakes;
print "hashes: $passed uses of hash tables in $files files, all with the key of the process\n";
'
