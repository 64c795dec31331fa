# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A screen of bourdon's in a terminal that tmux plays. A test sets TMUX_SOCKET, the socket of its own tmux server,
# SCREEN_SECONDS, within which the screen shows what it is to show, and SCREEN_OF, the command.

in_tmux() {
	tmux -S "$TMUX_SOCKET" -f /dev/null "$@"
}

keys() {
	in_tmux send-keys "$@"
}

seen() {
	in_tmux capture-pane -p
}

has_line() {
	seen | grep -qE -- "$1"
}

# shows PATTERN: waits until a line of the screen matches
shows() {
	await "$SCREEN_SECONDS" has_line "$1" || { echo "no '$1' on:"; seen; return 1; }
}

has_size() {
	seen > "$WORK/seen"
	[ "$(LC_ALL=C.UTF-8 wc -L < "$WORK/seen")" -le "$1" ] && [ "$(wc -l < "$WORK/seen")" -eq "$2" ] &&
		[[ $(tail -n 1 "$WORK/seen") == '? help'* ]]
}

# fits WIDTH HEIGHT: nothing is wider or higher than the screen, and its last line is that of the keys
fits() {
	await "$SCREEN_SECONDS" has_size "$1" "$2" || {
		cat "$WORK/seen"
		echo "tmux has a pane of $(in_tmux display-message -p '#{pane_width} by #{pane_height}'), its terminal $(stty size < "$(in_tmux display-message -p '#{pane_tty}')")"
		return 1
	}
}

# screen WIDTH HEIGHT [VARIABLE=VALUE...]: begins it, of the last workload alone. Its errors go to $WORK/errors.
screen() {
	# tmux does not always say with which status it ended
	# shellcheck disable=SC2016 # the shell in the terminal expands it
	in_tmux new-session -d -x "$1" -y "$2" env LC_ALL=C.UTF-8 "${@:3}" sh -c '"$@" 2> "$0/errors"; echo $? > "$0/status"' "$WORK" \
		"$BUILD/bourdon" "${SCREEN_OF[@]}" --match "tgid=$CHILD"
	in_tmux set-option -w remain-on-exit on
	shows '^>'
}

# has_ended STATUS: whether the screen has ended with that status
has_ended() {
	[ "$(cat "$WORK/status" 2> /dev/null)" = "$1" ]
}
