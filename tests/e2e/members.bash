# SPDX-License-Identifier: GPL-2.0-only
#
# Users who are members of the daemon's group, and what they may do: ask for captures and answers, and too often. Source
# lib.bash before.

# members_setup: members can execute $WORK/bourdon
members_setup() {
	install -m 0755 "$BUILD/bourdon" "$WORK/bourdon"
}

# as UID COMMAND...: a member of the daemon's group
as() {
	setpriv --reuid "$1" --regid "$1" --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all "${@:2}"
}

# behind UID COMMAND...: the same, to be put into the background: the command has the pid of that job
behind() {
	exec setpriv --reuid "$1" --regid "$1" --groups "$TEST_GROUP" --bounding-set=-all --inh-caps=-all "${@:2}"
}

# asks UID OPTION...: bourdon capture by that user, in the background; ASKED is its pid
asks() {
	behind "$1" "$WORK/bourdon" --db "$DB" capture "${@:2}" > "$WORK/asked.$1.out" 2> "$WORK/asked.$1.err" &
	ASKED=$!
	CHILDREN+=("$ASKED")
}

# loop_captures UID OPTION...: asks for captures of a second again and again
loop_captures() {
	# refused, it asks again as fast as it can: a second later its budget has grown
	while :; do
		as "$1" "$WORK/bourdon" --db "$DB" capture "${@:2}" --before 600s --for 1s > /dev/null 2>&1 || true
	done
}

# flood UID PROGRAM: a program of that user, who connects to the control socket
flood() {
	behind "$1" /usr/bin/python3 -c "$2" "$STATE_DIR/bourdond.sock" > "$WORK/flood.$1" &
	FLOOD=$!
	CHILDREN+=("$FLOOD")
}

IDLE='import socket, sys, time
held = []
while True:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1])
        held.append(s)
    except OSError:
        pass
    if len(held) == 40: print("held", flush=True)
    if len(held) >= 40: time.sleep(1)'

ENDLESS='import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"capture\tfor_ns=3600000000000\tkinds=3\tall=1\n")
s.recv(100)
sent = 0
try:
    while sent < 64 << 20: sent += s.send(b"a" * 65536)
except OSError:
    pass
print(sent)'

NONSENSE='import socket, sys
count = 0
while True:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(sys.argv[1])
        s.send(b"nonsense\n")
    except OSError:
        pass
    s.close()
    count += 1
    if count == 2000: print("many", flush=True)'
