#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel's verifier looks at in each program may not grow unseen: a load takes as long as that. verified.txt has
# the numbers, a column for each series of kernels.
#
# verified.sh RELEASE [FILE]: compares the output of build/tools/verify_programs on that release, from standard input, with
# the table. Fails if a program takes half as much again, is not in the table, or is in it and was not loaded.
# Programs of fewer than 1,000 instructions may grow up to half as much again as that. On a kernel of another series it
# compares with the most of any kernel, and says so.
#
# verified.sh --write RELEASE [FILE]: makes the output the column of that release's series:
#     build/tools/verify_programs | tests/e2e/verified.sh --write "$(uname -r)"
set -euo pipefail

write=no
if [[ ${1-} == --write ]]; then
	write=yes
	shift
fi
[[ ${1-} =~ ^([0-9]+\.[0-9]+) && $# -le 2 ]] || {
	echo 'Usage: verified.sh [--write] RELEASE [FILE] < OUTPUT' >&2
	exit 2
}
series=${BASH_REMATCH[1]}
table=${2-$(dirname "${BASH_SOURCE[0]}")/verified.txt}

compare() {
	awk -v series="$series" -v least=1000 '
		FNR == 1 && NR == 1 { for (i = 2; i <= NF; i++) if ($i == series) column = i; next }
		NR == FNR {
			for (i = 2; i <= NF; i++) if ($i != "-" && $i > most[$1]) most[$1] = $i
			if (column) most[$1] = $column
			next
		}
		{ seen[$1] = 1; programs++; sum += $3 }
		!($1 in most) || most[$1] == "-" {
			print $1 ": the verifier looks at " $3 " instructions; the table has no number"
			failed = 1
			next
		}
		$3 > 1.5 * (most[$1] > least ? most[$1] : least) {
			print $1 ": the verifier looks at " $3 " instructions, half as much again as the table has: " most[$1]
			failed = 1
		}
		END {
			if (!programs) { print "no program was verified"; exit 1 }
			if (column)
				for (name in most) if (most[name] != "-" && !(name in seen)) {
					print name ": it is in the table, and was not loaded"
					failed = 1
				}
			print sum " instructions of " programs " programs, Linux " series \
				(column ? "" : ", which the table does not have: compared with the most of any kernel")
			if (failed) print "if that is meant: build/tools/verify_programs | tests/e2e/verified.sh --write \"$(uname -r)\""
			exit failed
		}' "$table" -
}

# The columns in order of their versions; a program that a kernel does not load has a dash there.
renew() {
	awk -v series="$series" '
		FNR == 1 && NR == 1 { for (i = 2; i <= NF; i++) { name[i] = $i; is_there[$i] = 1 } next }
		NR == FNR { for (i = 2; i <= NF; i++) if (name[i] != series) number[$1, name[i]] = $i; next }
		{ number[$1, series] = $3; is_there[series] = 1 }
		END {
			for (one in is_there) columns[++count] = one
			for (i = 1; i < count; i++) for (j = i + 1; j <= count; j++) {
				split(columns[i], left, "."); split(columns[j], right, ".")
				if (left[1] + 0 > right[1] + 0 || (left[1] == right[1] && left[2] + 0 > right[2] + 0)) {
					swap = columns[i]; columns[i] = columns[j]; columns[j] = swap
				}
			}
			printf "%-30s", "program"
			for (i = 1; i <= count; i++) printf " %8s", columns[i]
			print ""
			for (key in number) { split(key, part, SUBSEP); if (number[key] != "-") programs[part[1]] = 1 }
			for (program in programs) {
				line = sprintf("%-30s", program)
				for (i = 1; i <= count; i++)
					line = line sprintf(" %8s", (program, columns[i]) in number ? number[program, columns[i]] : "-")
				print line | "LC_ALL=C sort"
			}
		}' "$table" - > "$table.new"
	mv "$table.new" "$table"
}

if [[ $write == yes ]]; then
	renew
else
	compare
fi
