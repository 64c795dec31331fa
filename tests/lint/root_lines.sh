#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# root_lines.sh [--check | --write] PROGRAM=SOURCE... PROGRAM=SOURCE...: counts the lines of this tree that
# run as root.
#
# Each argument is a program, an equals sign, and the .c files that are linked into it, separated by blanks. A
# program's lines are those of these files and of every header that they include, directly or not, with
# comments and blank lines; generated headers and libraries are not counted. Prints one row of the table in
# docs/SECURITY.md for each program. --check fails if a row there differs, if a linked module's header is
# included by no other linked file, or if the module of an included header is not linked. --write writes the
# rows there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

DOCUMENT=docs/SECURITY.md

# thousands NUMBER: prints it with a comma
thousands() {
	sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<< "$1"
}

# with_headers FILE...: prints the files and all headers of the tree that they include
with_headers() {
	local -A seen=()
	local queue=("$@") file
	while ((${#queue[@]})); do
		file=${queue[0]}
		queue=("${queue[@]:1}")
		[[ -z ${seen[$file]-} && -f $file ]] || continue
		seen[$file]=1
		mapfile -t -O ${#queue[@]} queue < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$file")
	done
	printf '%s\n' "${!seen[@]}" | sort
}

# lines FILE...: prints the sum of their lines
lines() {
	cat -- "$@" | wc -l
}

# check_list PROGRAM SOURCES HEADERS: fails if a linked module is not included, or an included one is not
# linked
check_list() {
	local program=$1 sources=$2 headers=$3 module failed=0
	for module in $sources; do
		[[ $module == */main.c || $module == common/confine/seccomp_log.c ]] && continue
		# shellcheck disable=SC2046,SC2086
		grep -qsF "#include \"${module%.c}.h\"" $(printf '%s\n' $sources $headers | grep -vFx "$module") || {
			echo "mk/programs.mk: $program links $module, and includes its header nowhere" >&2
			failed=1
		}
	done
	for module in $headers; do
		module=${module%.h}.c
		[[ ! -f $module || " $sources " == *" $module "* || $module == common/confine/seccomp.c ]] || {
			echo "mk/programs.mk: $program includes ${module%.c}.h, and does not link $module" >&2
			failed=1
		}
	done
	return $failed
}

mode=print
case ${1-} in
--check | --write)
	mode=${1#--}
	shift
	;;
esac
status=0 rows=()
for argument; do
	program=${argument%%=*} sources=$(tr -s ' ' <<< "${argument#*=}")
	# shellcheck disable=SC2086  # file names, which have no blanks
	files=$(with_headers $sources)
	headers=$(grep '\.h$' <<< "$files" | tr '\n' ' ')
	# shellcheck disable=SC2046
	row=$(printf "| \`%s\` | %s | %s |" "$program" \
		"$(thousands "$(lines $(grep -v '^common/' <<< "$files"))")" \
		"$(thousands "$(lines $(grep '^common/' <<< "$files"))")")
	rows+=("$row")
	case $mode in
	print) echo "$row" ;;
	write) sed -i "s/^| \`$program\` | [0-9,]* | [0-9,]* |\$/$row/" "$DOCUMENT" ;;
	check)
		check_list "$program" "$sources" "$headers" || status=1
		grep -qFx "$row" "$DOCUMENT" || {
			echo "$DOCUMENT: the lines that run as root are now: $row (make root-lines WRITE=1 writes it)" >&2
			status=1
		}
		;;
	esac
done
[[ $mode != check || $status -ne 0 ]] ||
	printf 'root-lines: %d programs link what they include, and %s has their counts\n' ${#rows[@]} "$DOCUMENT"
exit $status
