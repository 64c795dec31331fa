# SPDX-License-Identifier: GPL-2.0-only
#
# Records the stacks of tests/workloads/chain.c, and prints their hashes. Shared by tests/e2e/rows.bats and tests/vm/hashes.bats.

# record_chains PROGRAM: the daemon records a capture of two such processes, which share a CPU. Nothing fires before both have
# their unwind tables.
record_chains() {
	local name=${1##*/} before first
	before=$(sql "SELECT count(*) FROM capture WHERE state = 'complete'")
	rule "$name" "comm = $name" "cgroup = /$CGROUP" 'memory.full = 99%'
	ON_CPU=0 start_ahead "$1"
	first=$CHILD
	ON_CPU=0 start_ahead "$1"
	await_tables "$first" "$CHILD"
	rule "$name" "comm = $name" "cgroup = /$CGROUP" 'cpu.some = 1%' 'history = 1s' 'capture = 3s' 'cooldown = 1h'
	recording_ends "rule $name fired"
	children_end
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" $((before + 1)) # its functions have names
}

# hash_of COMM KIND FUNCTION: prints the hash and the functions, outermost first, of the whole stack with that function that most
# samples of this kind have in processes of that name.
hash_of() {
	sql "SELECT hex(hash) || ' ' || (SELECT group_concat(function, ';') FROM (
			SELECT function FROM stack_frame JOIN frame USING(frame_id) WHERE stack_id = st.stack_id ORDER BY position DESC))
		FROM sample s JOIN process p USING(process_id) JOIN stack st USING(stack_id)
		WHERE p.comm = '$1' AND s.kind = '$2' AND s.stall = 'none' AND st.truncated = 0 AND st.ended = 'root' AND st.stack_id IN (
			SELECT stack_id FROM stack_frame JOIN frame USING(frame_id) WHERE function = '$3')
		GROUP BY st.stack_id ORDER BY sum(s.samples) DESC LIMIT 1"
}

# hashes COMM: prints two lines: a stack without a kernel part, which loops in one instruction, and one of a sleep.
hashes() {
	echo "user $(hash_of "$1" on-cpu chain_inner)"
	echo "kernel $(hash_of "$1" off-cpu chain_sleep)"
}

# assert_hashes FILE: it has both lines of hashes().
assert_hashes() {
	if ! grep -qE '^user [0-9A-F]{32} [^ ]*main;chain_outer;chain_inner$' "$1" ||
		! grep -qE '^kernel [0-9A-F]{32} [^ ]*sleeper_main;chain_sleep;[^ ]*schedule' "$1"; then
		cat "$1"
		sql 'SELECT state, verdict FROM capture; SELECT kind, samples, stack FROM hot_stack LIMIT 20; SELECT * FROM unwind_quality'
		return 1
	fi
}
