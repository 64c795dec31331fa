#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Memory on a machine whose memory controller is that of cgroup v2: which cgroup's limit was met, and what each held,
# evicted and read again.

source "$BATS_TEST_DIRNAME/../e2e/lib.bash"

setup() {
	bourdon_setup memory
	cgroup_make
	[ -e "$CGROUP2/$CGROUP/memory.max" ]
	echo +io > "$CGROUP2/cgroup.subtree_control"
	echo '+memory +io' > "$CGROUP2/$CGROUP/cgroup.subtree_control"
	mkdir "$CGROUP2/$CGROUP/victim" "$CGROUP2/$CGROUP/full" "$CGROUP2/$CGROUP/thrashes"
	own_workload cpu_hog
	rule victim "comm = $OWN" "cgroup = /$CGROUP/victim" 'cpu.some = 10%' 'history = 1s' 'capture = 15s' 'cooldown = 1h'
	load
	daemon_start
}

teardown() {
	bourdon_teardown
}

# capture_begins: asks for a capture, which lasts until capture_ends. The daemon begins it and reads what each cgroup holds in
# one go, so once its status shows the capture, these readings are done.
capture_begins() {
	"$BUILD/bourdon" --db "$DB" capture --cgroup "/$CGROUP" --for 1h > "$WORK/asked" &
	ASKED=$!
	CHILDREN+=("$ASKED")
	await_status 60 '.captures | length == 1'
}

capture_ends() {
	kill -INT "$ASKED"
	wait "$ASKED"
	children_end
	[ "$(sql 'SELECT state FROM capture')" = complete ]
}

@test "an OOM kill has the path of the cgroup whose memory.max was met, which is above the victim's" {
	echo +memory > "$CGROUP2/$CGROUP/full/cgroup.subtree_control"
	mkdir "$CGROUP2/$CGROUP/full/inner"
	echo 48M > "$CGROUP2/$CGROUP/full/memory.max"
	# shellcheck disable=SC2016 # perl's variables
	CGROUP=$CGROUP/full/inner start_command perl -e '
		$SIG{USR1} = sub { push @held, "x" x (1 << 20) while 1 }; $| = 1; print "ready\n"; sleep 1 while 1'
	local eater=$CHILD
	capture_begins
	kill -USR1 "$eater"
	wait "$eater" || [ $? -eq 137 ]
	capture_ends
	sql 'SELECT * FROM killed' >&2
	[ "$(sql "SELECT how, comm, tgid, cgroup, by_tgid, limit_cgroup, limit_bytes FROM killed WHERE how = 'oom'")" = \
		"oom|perl|$eater|/$CGROUP/full/inner|$eater|/$CGROUP/full|$((48 << 20))" ]
	# the kernel's own count of kills by that limit
	[ "$(awk '$1 == "oom_kill" { print $2 }' "$CGROUP2/$CGROUP/full/memory.events")" -eq 1 ]
}

@test "each cgroup has its memory, its page cache and what it read again, as its memory.stat counts" {
	refaulted() { awk '/^workingset_refault_/ { sum += $2 } END { print sum }' "$CGROUP2/$CGROUP/thrashes/memory.stat"; }
	has_refaulted() { (($(refaulted) > $1)); }
	echo 48M > "$CGROUP2/$CGROUP/thrashes/memory.max"
	CGROUP=$CGROUP/thrashes start mem_hog --size 96MiB
	# shellcheck disable=SC2016 # perl's variables
	CGROUP=$CGROUP/full start_command perl -e '
		$SIG{USR1} = sub { $held = "x" x (64 << 20); print "grown\n" }; $| = 1; print "ready\n"; sleep 1 while 1'
	local grower=$CHILD output=$CHILD_OUTPUT refaults
	refaults=$(refaulted)
	capture_begins
	kill -USR1 "$grower"
	IFS= read -r -t $((60 * PATIENCE)) -u "$output" CHILD_LINE
	[ "$CHILD_LINE" = grown ]
	await 60 has_refaulted "$(refaulted)"
	capture_ends
	refaults=$(($(refaulted) - refaults))
	sql 'SELECT * FROM cgroup_memory' >&2
	echo "the kernel counts $refaults refaults" >&2
	((refaults > 0))
	# the capture's span is within that of the two readings
	[ "$(sql "SELECT refaulted_bytes > 0 AND refaulted_bytes <= 4096 * $refaults FROM cgroup_memory WHERE cgroup = '/$CGROUP/thrashes'")" -eq 1 ]
	[ "$(sql "SELECT reclaimed_bytes > 0 AND scanned_bytes >= reclaimed_bytes AND file_bytes <= 48 << 20 FROM cgroup_memory WHERE cgroup = '/$CGROUP/thrashes'")" -eq 1 ]
	# 64 MiB; memory.stat may be two seconds old for what each CPU has charged
	[ "$(sql "SELECT anon_bytes - anon_before_bytes BETWEEN 56 << 20 AND 72 << 20 FROM cgroup_memory WHERE cgroup = '/$CGROUP/full'")" -eq 1 ]
	# the whole host, and a limit on how many
	[ "$(sql "SELECT anon_bytes >= (SELECT sum(anon_bytes) FROM cgroup_memory WHERE cgroup GLOB '/$CGROUP/*') FROM cgroup_memory WHERE cgroup = '/'")" -eq 1 ]
	(($(sql 'SELECT count(*) FROM cgroup_memory') <= 65))
	run "$BUILD/bourdon" --db "$DB" why --full 1
	[[ $output == *$'\nmemory of cgroups over '* ]] || { echo "$output"; false; }
	"$BUILD/bourdon" --db "$DB" why 1 --json | jq -e --arg cgroup "/$CGROUP/thrashes" '.cgroups | any(.cgroup == $cgroup and .refaulted_bytes > 0)'
}

@test "pages that are written back count for the cgroup that dirtied them, as its io.stat counts" {
	local written file=/var/tmp/bourdon-dirty-$BASHPID # /tmp may be no disk
	written_back() { sed 's/ /\n/g' "$CGROUP2/$CGROUP/full/io.stat" | awk -F = '$1 == "wbytes" { sum += $2 } END { print sum + 0 }'; }
	# shellcheck disable=SC2016 # perl's variables
	CGROUP=$CGROUP/full start_command perl -e '
		$SIG{USR1} = sub { syswrite STDOUT, "written\n" if syswrite $file, "x" x (32 << 20) };
		open $file, ">", $ARGV[0] or die; $| = 1; print "ready\n"; sleep 1 while 1' "$file"
	local writer=$CHILD output=$CHILD_OUTPUT
	CGROUP=$CGROUP/victim start_command perl -e '$| = 1; print "ready\n"; sleep 1 while 1' # writes nothing
	written=$(written_back)
	capture_begins
	kill -USR1 "$writer"
	IFS= read -r -t $((60 * PATIENCE)) -u "$output" CHILD_LINE
	sync -f "$file" # by a process of another cgroup
	rm "$file"
	capture_ends
	written=$(($(written_back) - written))
	sql 'SELECT cgroup, device_read_bytes, device_written_bytes FROM cgroup_memory' >&2
	echo "the kernel counts $written bytes" >&2
	((written >= 32 << 20))
	# the capture's span is within that of the two readings, and has the call of sync
	[ "$(sql "SELECT device_written_bytes BETWEEN 32 << 20 AND $written FROM cgroup_memory WHERE cgroup = '/$CGROUP/full'")" -eq 1 ]
	[ "$(sql "SELECT device_written_bytes < 1 << 20 FROM cgroup_memory WHERE cgroup = '/$CGROUP/victim'")" -eq 1 ]
}

@test "soft interrupts of this kernel are counted as it counts them" {
	local first second third fourth before programs
	of_kernel() { awk '$1 == "TIMER:" || $1 == "SCHED:" || $1 == "RCU:" { for (i = 2; i <= NF; i++) sum += $i } END { print sum }' /proc/softirqs; }
	of_programs() {
		bpftool --json map dump pinned "$PIN_DIR/interrupts" |
			jq '[.[].formatted | select(.key.kind == 1 and (.key.number | IN(1, 7, 9))).values[].value.count] | add // 0'
	}
	# a reading of the programs' counts takes long here: it is between two of the kernel's
	first=$(of_kernel)
	before=$(of_programs)
	second=$(of_kernel)
	CGROUP=$CGROUP/victim ON_CPU=0 start_command "$WORK/$OWN"
	CGROUP=$CGROUP/victim ON_CPU=0 start_command "$WORK/$OWN"
	recorded
	third=$(of_kernel)
	programs=$(($(of_programs) - before))
	fourth=$(of_kernel)
	echo "the kernel counts $((third - second)) to $((fourth - first)), the programs $programs" >&2
	((third - second > 100 && programs * 100 >= (third - second) * 99 && programs <= fourth - first))
}
