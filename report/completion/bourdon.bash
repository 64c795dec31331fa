# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of bourdon's command lines for bash: subcommands, options and their values as --help has them, the captures'
# IDs and the rules that made them as the database has them.

# _bourdon_captures MEMBER [--db FILE]: prints this member of the JSON of the newest captures, each value once
_bourdon_captures() {
	bourdon list --json --limit 100 "${@:2}" 2> /dev/null |
		sed -nE "s/.*\"$1\": \"?([^\",]*)\"?[,}].*/\1/p" | awk '!seen[$0]++'
}

# _bourdon_options SUBCOMMAND...: prints the options of the subcommand that these words name, or of bourdon
_bourdon_options() {
	bourdon help "$@" 2> /dev/null | sed -nE 's/^  (-[^ ]+).*/\1/p'
}

# _bourdon_values OPTION SUBCOMMAND...: prints what can follow the option: "FILES", or words
_bourdon_values() {
	local option=$1 line
	shift
	line=$(bourdon help "$@" 2> /dev/null | grep -E -m 1 -- "^  $option [A-Z]")
	case $line in
	*" $option FILE "* | *" $option DIR "*) echo FILES ;;
	*" $option RULE "*) _bourdon_captures rule "${database[@]}" ;;
	*" $option ID "*) _bourdon_captures capture_id "${database[@]}" ;;
	*) grep -oE '([a-z+-]+, )*[a-z+-]+ or [a-z+-]+$' <<< "$line" | sed 's/,//g; s/ or / /' ;;
	esac
}

_bourdon() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i values subcommand=() database=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--db) database=(--db "${COMP_WORDS[++i]-}") ;;
		-*) ;;
		*)
			# the word behind an option may be its argument, but no subcommand is
			if [[ ${subcommand[*]} =~ ^(help )?(db)?$|^help$ ]]; then
				subcommand+=("${COMP_WORDS[i]}")
			fi
			;;
		esac
	done
	COMPREPLY=()
	if [[ $previous = -* && $current != -* ]]; then
		values=$(_bourdon_values "$previous" "${subcommand[@]}")
		if [[ $values = FILES ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
		fi
		if [[ $values ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
			return
		fi
	fi
	if [[ $current = -* ]]; then
		values=$(_bourdon_options "${subcommand[@]}")
	elif [[ ${#subcommand[@]} = 0 || ${subcommand[*]} = help ]]; then
		values=$(bourdon --help | sed -nE 's/^  ([a-z]+) .*/\1/p')' help'
	elif [[ ${subcommand[*]} = db || ${subcommand[*]} = 'help db' ]]; then
		values=$(bourdon db --help | sed -nE 's/^  db ([a-z]+) .*/\1/p')
	elif bourdon help "${subcommand[@]}" 2> /dev/null | grep -q -m 1 -E '^Usage: .*(ID|A)\b'; then
		values=$(_bourdon_captures capture_id "${database[@]}")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
}

complete -F _bourdon bourdon
