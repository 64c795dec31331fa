# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel itself counts while a capture is taken, read every tenth of a second: the CPU time of cgroups and of
# processes, or numbers of the test's own. A capture's span begins and ends at walks of the daemon, so the counters are
# interpolated at those moments. Source lib.bash before.

TRUTH_ROUND='all read'
TRUTH_INTERRUPTED=2

# truth_start LABEL=FILE[,WORD]...: begins to read a number of each file: behind that word, at that place of its first
# line, or the first. us of cpu.stat become ns.
truth_start() {
	: > "$WORK/truth"
	mkfifo "$WORK/truth.never"
	truth_read "$@" > "$WORK/truth" 3>&- &
	TRUTH=$!
	await 10 truth_rounds 1
}

truth_read() {
	local pair never
	exec {never}<> "$WORK/truth.never" # nobody writes into it: read(1) waits for its timeout
	while :; do
		for pair; do
			# it may have ended, or not begun; a reading that was interrupted counts as none
			while truth_read_one "${pair%%=*}" "${pair#*=}" 2> /dev/null; (($? == TRUTH_INTERRUPTED)); do :; done
		done
		echo "$TRUTH_ROUND"
		read -r -t 0.1 -u "$never" || true
	done
}

truth_read_one() {
	local word=${2#*,} words began now number=
	[[ $2 == *,* ]] || word=1
	began=${EPOCHREALTIME/[.,]/}
	while read -r -a words; do
		now=${EPOCHREALTIME/[.,]/}000
		if [[ $word =~ ^[0-9]+$ ]]; then
			number=${words[word - 1]}
			break
		elif [[ ${words[0]} == "$word" ]]; then
			number=${words[1]}
			[[ $word != *_usec ]] || number+=000
			break
		fi
	done < "${2%,*}"
	[[ $number =~ ^[0-9]+$ ]] || return 1
	# of a reading that was interrupted nobody knows when it was
	((now - began * 1000 <= 10000000)) || return "$TRUTH_INTERRUPTED"
	echo "$1 $now $number"
}

# truth_rounds NUMBER: whether all files were read so often
truth_rounds() {
	(($(grep -cxF "$TRUTH_ROUND" "$WORK/truth") >= $1))
}

# truth_stop: ends the reading, after all files were read once more: call it while the processes still run
truth_stop() {
	# a round that has begun may have read some of them before
	await 10 truth_rounds $(($(grep -cxF "$TRUTH_ROUND" "$WORK/truth") + 2))
	truth_end
}

truth_end() {
	kill "$TRUTH" 2> /dev/null || true
	wait "$TRUTH" 2> /dev/null || true
	rm -f "$WORK/truth.never"
	TRUTH=
}

# truth_teardown: for a test with TRUTH, V1_CGROUP (a cgroup of version 1, or empty) and processes in our cgroup
truth_teardown() {
	[[ -z $TRUTH ]] || truth_end
	local failed=0
	bourdon_teardown || failed=1
	[[ -z $V1_CGROUP ]] || await 10 rmdir "$V1_CGROUP"
	return "$failed"
}

# truth_of LABEL FROM TO: prints how much the counter has grown between these times (wall clock, ns). It fails if it was
# not read before and after each of them.
truth_of() {
	awk -v label="$1" -v from="$2" -v to="$3" '
		function at(when) { return before + (after - before) * (when - before_at) / (after_at - before_at) }
		$1 == label {
			before_at = after_at; before = after; after_at = $2; after = $3
			if (before_at && before_at <= from && from <= after_at) { first = at(from); began = 1 }
			if (before_at && before_at <= to && to <= after_at) { last = at(to); ended = 1 }
		}
		END { if (!began || !ended) exit 1; printf "%.0f\n", last - first }' "$WORK/truth" ||
		{ echo "$1 was not read from $2 to $3" >&2; return 1; }
}

# span_of CAPTURE: prints the begin and the end of the span of its usage
span_of() {
	sql "SELECT min(from_at) || ' ' || max(to_at) FROM machine_time WHERE capture_id = $1"
}

# machine_share NS FROM TO: prints the part of the machine's time, in %
machine_share() {
	awk -v ns="$1" -v of=$((($3 - $2) * $(nproc))) 'BEGIN { printf "%.2f\n", 100 * ns / of }'
}

# near MOST A B: A differs from B by at most MOST
near() {
	awk -v most="$1" -v a="$2" -v b="$3" 'BEGIN { difference = a > b ? a - b : b - a; exit !(a != "" && b != "" && difference <= most) }' ||
		{ echo "$2 is not within $1 of $3" >&2; return 1; }
}
