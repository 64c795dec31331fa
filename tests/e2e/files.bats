#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# bourdon-grant opens files of targets: frames of deleted and replaced programs and of those in other
# namespaces get names, and no other file is opened.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup files
	cgroup_make
	BUSY=(--threads $((2 * $(nproc))) --seconds 300)
}

teardown() {
	bourdon_teardown
	rm -f "/tmp/perf-${CHILD-none}.map"
}

# ask REQUEST...: sends each request on a connection of its own, as the daemon's user, and prints the answers.
ask() {
	setpriv --reuid "$TEST_USER" --regid "$TEST_GROUP" --clear-groups "$BUILD/tools/ask_grant" "$GRANT_SOCKET" "$@"
}

# assert_answer REQUEST ANSWER
assert_answer() {
	local answer
	answer=$(ask "$1")
	[ "$answer" = "$2" ] || { echo "'$1' is answered '$answer', not '$2'"; return 1; }
}

# executable_of PID NAME: the first address at which the process maps that file as executable, in decimal.
executable_of() {
	local range
	range=$(awk -v name="/$2" '$2 ~ /x/ && index($0, name) { print $1; exit }' "/proc/$1/maps")
	echo $((0x${range%-*}))
}

# started_ticks PID: its start time in ns, from /proc, which rounds it down to clock ticks.
started_ticks() {
	local stat ticks
	stat=$(< "/proc/$1/stat")
	read -r -a ticks <<< "${stat##*) }"
	echo $((ticks[19] * 1000000000 / $(getconf CLK_TCK)))
}

started_of() {
	bpftool -j map dump pinned "$PIN_DIR/targets" |
		jq -r ".[].formatted | select(.key == $1).value.started_ns"
}

is_target() {
	[[ -n $(started_of "$1") ]]
}

# target_start COMMAND...: starts CHILD, named mapper, waits until it is a target, and sets STARTED.
target_start() {
	start_command "$@"
	await 10 is_target "$CHILD"
	STARTED=$(started_of "$CHILD")
}

# targets_begin: all processes named mapper are targets. The daemon has no bourdon-grant: only the test asks
# it.
targets_begin() {
	load
	rule files 'comm = mapper' "cgroup = /$CGROUP" 'watch = system' 'io.full = 100%'
	daemon_start --grant-socket "$WORK/nobody.sock"
}

pressure() {
	rule "$1" "comm = $2" "cgroup = /$CGROUP" 'cpu.some = 10%' 'history = 4s' 'capture = 1s' 'cooldown = 1h'
}

# functions_of RULE PATH: prints the functions of the file that captures of the rule have named.
functions_of() {
	sql "SELECT DISTINCT function FROM capture JOIN sample USING(capture_id) JOIN stack_frame USING(stack_id)
		JOIN frame USING(frame_id) JOIN module USING(module_id) WHERE rule = '$1' AND path = '$2'"
}

# capture_of RULE COMM [OPTION...]: captures the processes of that name. They are frozen while names are looked up: naming
# yields to processes that run.
capture_of() {
	pressure "$1" "$2"
	daemon_start "${@:3}"
	recording_ends "rule $1 fired"
	echo 1 > "$CGROUP2/$CGROUP/cgroup.freeze"
	await_sql 40 "SELECT count(*) FROM capture WHERE rule = '$1' AND state = 'complete'" 1
	daemon_stop TERM
	echo 0 > "$CGROUP2/$CGROUP/cgroup.freeze"
	rm "$RULES_DIR/$1.conf"
}

@test "a deleted program: names with bourdon-grant, none without" {
	local functions
	cp "$BUILD/workloads/cpu_hog" "$WORK/gone"
	start_command "$WORK/gone" "${BUSY[@]}"
	rm "$WORK/gone"
	load
	capture_of without gone --grant-socket "$WORK/nobody.sock"
	functions=$(functions_of without "$WORK/gone (deleted)")
	[[ $functions == 'gone (deleted)+0x'* && $functions != *burn_cpu* ]]
	grep -q "bourdon-grant at $WORK/nobody.sock gives no files: No such file or directory" "$WORK/daemon.log"
	grant_start
	capture_of with gone
	functions=$(functions_of with "$WORK/gone (deleted)")
	[[ $functions == *burn_cpu* && $functions != *+0x* ]]
	[ "$(sql "SELECT length(build_id) FROM module WHERE path = '$WORK/gone (deleted)' AND build_id IS NOT NULL
		AND build_id != ''")" -eq 40 ]
	[ "$(sql "SELECT max(value) > 0 FROM counter WHERE name = 'files-granted'")" = 1 ]
}

# named ID FILE FUNCTION: whether the file's functions in that capture have names, this one among them, and most stacks are whole
named() {
	local functions whole
	functions=$(sql "SELECT DISTINCT function FROM sample JOIN stack_frame USING(stack_id) JOIN frame USING(frame_id)
		JOIN module USING(module_id) WHERE capture_id = $1 AND path LIKE '%$2%'")
	whole=$(sql "SELECT sum(samples) FILTER (WHERE ended = 'root') * 100 / sum(samples) FROM sample JOIN stack USING(stack_id)
		WHERE capture_id = $1 AND kind = 'on-cpu'")
	[[ $functions == *"$3"* && $functions != *+0x* && $whole -ge 80 ]] || { echo "$2: $functions; whole: $whole %"; return 1; }
}

# captured OPTION...: a capture on demand of two seconds, or what the options say; prints its id
captured() {
	"$BUILD/bourdon" --db "$DB" capture --for 2s "$@" > "$WORK/captured" || { cat "$WORK/captured" >&2; return 1; }
	sql 'SELECT max(capture_id) FROM capture'
}

@test "on demand, without a rule: files that only bourdon-grant can open, also of a process that ends within the capture" {
	local name pid id
	load
	grant_start
	daemon_start
	cp "$BUILD/workloads/cpu_hog" "$WORK/gone"
	start_ahead "$WORK/gone" --seconds 300
	rm "$WORK/gone"
	# it runs for a while first: what is sampled often is looked at, target or not, and bourdon-grant opens nothing for it
	await_cpu "$CHILD" 2000
	id=$(captured --pid "$CHILD")
	named "$id" 'gone (deleted)' burn_cpu
	stop "$CHILD"
	# in memory
	start_ahead python3 -c "
import os
program = os.memfd_create('hog', 0)
os.write(program, open('$BUILD/workloads/cpu_hog', 'rb').read())
os.execve(program, ['hog', '--seconds', '300'], {})"
	id=$(captured --pid "$CHILD")
	named "$id" 'memfd:hog' burn_cpu
	stop "$CHILD"
	# below an overlay that another mount namespace has
	mkdir "$WORK"/{lower,upper,work,merged}
	cp "$BUILD/workloads/cpu_hog" "$WORK/lower/over"
	start_ahead unshare -m bash -c "mount -t tmpfs none '$WORK/upper' && mkdir '$WORK/upper'/{u,w} &&
		mount -t overlay none -o 'lowerdir=$WORK/lower,upperdir=$WORK/upper/u,workdir=$WORK/upper/w' '$WORK/merged' &&
		exec '$WORK/merged/over' --seconds 300"
	id=$(captured --pid "$CHILD")
	named "$id" '/over' burn_cpu
	stop "$CHILD"
	# its file is deleted, and then it ends, while it is captured
	for name in first second; do
		cp "$BUILD/workloads/cpu_hog" "$WORK/$name"
		start_ahead "$WORK/$name" --seconds 300
		[[ $name == first ]] || rm "$WORK/$name"
		pid=$CHILD
		capture_begin --pid "$pid"
		await_cpu "$pid" 1500
		[[ $name == second ]] || rm "$WORK/$name"
		stop "$pid"
		capture_end
		named "$(sql 'SELECT max(capture_id) FROM capture')" "$name" burn_cpu
	done
}

@test "bourdon-grant --files none: no names for a deleted program" {
	local functions
	cp "$BUILD/workloads/cpu_hog" "$WORK/gone"
	start_command "$WORK/gone" "${BUSY[@]}"
	rm "$WORK/gone"
	load
	grant_start --files none
	capture_of none gone
	functions=$(functions_of none "$WORK/gone (deleted)")
	[[ $functions == 'gone (deleted)+0x'* && $functions != *burn_cpu* ]]
	grep -q "bourdon-grant at $GRANT_SOCKET gives no files: root's policy hands out no files" "$WORK/daemon.log"
	grep -q "bourdon-grant: refused process .*: root's policy hands out no files" "$WORK/grant.log"
}

@test "a replaced program never gets names of the new file" {
	local functions
	cp "$BUILD/workloads/cpu_hog" "$WORK/prog"
	start_command "$WORK/prog" "${BUSY[@]}"
	# the same program with another function name, also at the path that the kernel shows for the deleted
	# file
	sed 's/burn_cpu/evil_cpu/g' "$BUILD/workloads/cpu_hog" > "$WORK/new"
	chmod 0755 "$WORK/new"
	grep -q evil_cpu "$WORK/new"
	cp "$WORK/new" "$WORK/prog (deleted)"
	mv "$WORK/new" "$WORK/prog"
	load
	capture_of without prog --grant-socket "$WORK/nobody.sock"
	functions=$(functions_of without "$WORK/prog (deleted)")
	[[ $functions == 'prog (deleted)+0x'* && $functions != *_cpu* ]]
	grant_start
	capture_of with prog
	functions=$(functions_of with "$WORK/prog (deleted)")
	[[ $functions == *burn_cpu* && $functions != *evil_cpu* ]]
	# a process of the new file gets the new names
	children_end
	start_command "$WORK/prog" "${BUSY[@]}"
	GRANT_SOCKET=$WORK/nobody.sock capture_of new prog
	functions=$(functions_of new "$WORK/prog")
	[[ $functions == *evil_cpu* && $functions != *burn_cpu* ]]
}

@test "a program in another mount namespace has its own names, not those of the file at its path here" {
	local functions
	mkdir "$WORK/inner"
	sed 's/burn_cpu/evil_cpu/g' "$BUILD/workloads/cpu_hog" > "$WORK/inner/prog"
	chmod 0755 "$WORK/inner/prog"
	# shellcheck disable=SC2016 # the shell inside expands it
	start_command unshare --mount sh -c 'mount -t tmpfs none "$1" && cp "$2" "$1/prog" && program=$1/prog && shift 2 &&
		exec "$program" "$@"' sh "$WORK/inner" "$BUILD/workloads/cpu_hog" "${BUSY[@]}"
	load
	capture_of without prog --grant-socket "$WORK/nobody.sock"
	functions=$(functions_of without "$WORK/inner/prog")
	[[ $functions == 'prog+0x'* && $functions != *_cpu* ]]
	grant_start
	capture_of with prog
	functions=$(functions_of with "$WORK/inner/prog")
	[[ $functions == *burn_cpu* && $functions != *evil_cpu* ]]
}

@test "two programs with one path and build id, in two mount namespaces: each has its own names" {
	local functions
	mkdir "$WORK/inner"
	cp "$BUILD/workloads/cpu_hog" "$WORK/inner/prog"
	sed 's/burn_cpu/evil_cpu/g' "$BUILD/workloads/cpu_hog" > "$WORK/evil"
	chmod 0755 "$WORK/evil"
	load
	grant_start
	# the same if both belong to root
	# shellcheck disable=SC2016 # the shell inside expands it
	start_command unshare --mount sh -c 'mount -t tmpfs none "$1" && cp "$2" "$1/prog" && program=$1/prog && shift 2 &&
		exec "$program" "$@"' sh "$WORK/inner" "$WORK/evil" "${BUSY[@]}"
	capture_of evil prog
	functions=$(functions_of evil "$WORK/inner/prog")
	[[ $functions == *evil_cpu* ]]
	children_end
	start_command "$WORK/inner/prog" "${BUSY[@]}"
	capture_of honest prog
	functions=$(functions_of honest "$WORK/inner/prog")
	[[ $functions == *burn_cpu* && $functions != *evil_cpu* ]] || { echo "$functions"; false; }
	# two modules with the same path and build id
	[ "$(sql "SELECT count(*), count(DISTINCT build_id), count(DISTINCT version), min(version) FROM module
		WHERE path = '$WORK/inner/prog'")" = '2|1|2|' ]
}

@test "elf request: the file mapped at that address, wherever its path leads" {
	local addresses
	cp /bin/true "$WORK/true"
	grant_start
	targets_begin
	target_start "$BUILD/workloads/mapper" "$WORK/true" /bin/true
	read -r -a addresses <<< "${CHILD_LINE#ready}"
	assert_answer "elf $CHILD $STARTED ${addresses[1]}" "$(readlink -f /bin/true) read-only"
	assert_answer "elf $CHILD $STARTED ${addresses[0]}" "$WORK/true read-only"
	mv "$WORK/true" "$WORK/moved"
	cp /bin/false "$WORK/true"
	assert_answer "elf $CHILD $STARTED ${addresses[0]}" "$WORK/moved read-only"
	rm "$WORK/moved"
	assert_answer "elf $CHILD $STARTED ${addresses[0]}" "$WORK/moved (deleted) read-only"
	assert_answer "elf $CHILD $STARTED $(executable_of "$CHILD" mapper)" "$BUILD/workloads/mapper read-only"
	# a program that only its user can read
	cp "$BUILD/workloads/mapper" "$WORK/mapper"
	chown 1000 "$WORK/mapper"
	chmod 0700 "$WORK/mapper"
	target_start setpriv --reuid 1000 --clear-groups "$WORK/mapper"
	assert_answer "elf $CHILD $STARTED $(executable_of "$CHILD" mapper)" "$WORK/mapper read-only"
	await 5 counted 6 0
}

@test "refused elf requests: no descriptor, and the reason" {
	local addresses begins request refused=0
	echo 'no program' > "$WORK/text"
	truncate -s 8192 "$WORK/text" "$WORK/empty"
	grant_start
	targets_begin
	target_start "$BUILD/workloads/mapper" /bin/true r:/bin/true "$WORK/text" /dev/zero "$WORK/empty"
	read -r -a addresses <<< "${CHILD_LINE#ready}"
	begins=${addresses[0]}
	assert_answer "elf $CHILD $STARTED $begins" "$(readlink -f /bin/true) read-only"
	# a mapping that is not an executable mapping of a regular ELF file
	assert_answer "elf $CHILD $STARTED $((begins + 4096))" 'refused no mapping begins there'
	assert_answer "elf $CHILD $STARTED 4096" 'refused no mapping begins there'
	assert_answer "elf $CHILD $STARTED 18446744073709547520" 'refused no mapping begins there'
	assert_answer "elf $CHILD $STARTED ${addresses[1]}" 'refused its mapping there is not executable'
	assert_answer "elf $CHILD $STARTED ${addresses[2]}" 'refused not an ELF file'
	assert_answer "elf $CHILD $STARTED ${addresses[3]}" 'refused not a regular file'
	assert_answer "elf $CHILD $STARTED ${addresses[4]}" 'refused not an ELF file'
	assert_answer "elf $CHILD $STARTED $((0x$(awk '/\[vdso\]/ { sub("-.*", ""); print }' "/proc/$CHILD/maps")))" \
		'refused no file is mapped there'
	# a process that is not a living target, or a wrong start time
	assert_answer "elf $CHILD $((STARTED + 10000000)) $begins" 'refused another process has that pid now'
	assert_answer "elf $CHILD $((STARTED - 10000000)) $begins" 'refused another process has that pid now'
	assert_answer "elf $CHILD 0 $begins" 'refused another process has that pid now'
	assert_answer "elf $CHILD 18446744073709551615 $begins" 'refused another process has that pid now'
	assert_answer "elf $CHILD $((STARTED / 10000000 * 10000000 + (STARTED + 1) % 10000000)) $begins" \
		'refused not a target'
	assert_answer "elf $$ $(started_ticks $$) $(executable_of $$ bash)" 'refused not a target'
	assert_answer "elf 1 $(started_ticks 1) 4096" 'refused not a target'
	assert_answer "elf 2 $(started_ticks 2) 4096" 'refused it is a kernel thread'
	assert_answer "elf 4194304 $STARTED $begins" 'refused no such process'
	refused=17
	# malformed requests
	for request in "elf $CHILD $STARTED $((begins + 1))" "elf 0 $STARTED $begins" "elf -1 $STARTED $begins" \
		"elf 4194305 $STARTED $begins" "elf $((CHILD + (1 << 32))) $STARTED $begins" "elf self $STARTED $begins" \
		"elf 99999999999999999999 $STARTED $begins" "elf $CHILD -1 $begins" "elf $CHILD $STARTED -4096" \
		"elf $CHILD $STARTED 18446744073709551616" "elf $CHILD $STARTED 0x1000" "elf ../$CHILD $STARTED $begins" \
		"elf $CHILD/../1 $STARTED $begins" "elf $CHILD $STARTED $begins/../../exe" "elf /bin/true" \
		"elf $CHILD $STARTED /bin/true" "elf $CHILD $STARTED $begins " "elf $CHILD $STARTED" "elf" \
		"elf $CHILD $STARTED $begins"$'\n'"elf $CHILD $STARTED $begins"; do
		assert_answer "$request" 'refused not a request'
		refused=$((refused + 1))
	done
	# another user
	chmod 0777 "$GRANT_SOCKET"
	run setpriv --reuid 1 --regid 1 --clear-groups "$BUILD/tools/ask_grant" "$GRANT_SOCKET" "elf $CHILD $STARTED $begins"
	[ "$output" = "refused only the consumer's user and root may ask" ]
	# a process that has ended
	stop "$CHILD"
	assert_answer "elf $CHILD $STARTED $begins" 'refused no such process'
	await 5 counted 1 $((refused + 2))
	[ "$(grep -c 'bourdon-grant: refused process' "$WORK/grant.log")" -eq $((refused + 2)) ]
}

# asked_with CAPABILITIES: prints the answer to REQUEST of a bourdon-grant that has only these capabilities.
asked_with() {
	local socket=$WORK/bounded.sock pid
	systemd-socket-activate --accept -l "$socket" setpriv --inh-caps=-all --bounding-set="-all$1" \
		"$BUILD/bourdon-grant" --user "$TEST_USER" --pin-dir "$PIN_DIR" 2>> "$WORK/grant.log" &
	pid=$!
	until listens "$socket"; do sleep 0.05; done
	"$BUILD/tools/ask_grant" "$socket" "$REQUEST"
	kill "$pid"
	wait "$pid" || true
	rm "$socket"
}

@test "each request needs exactly the documented capabilities" {
	targets_begin
	cp "$BUILD/workloads/mapper" "$WORK/mapper"
	chown 1000 "$WORK/mapper"
	chmod 0700 "$WORK/mapper"
	target_start setpriv --reuid 1000 --clear-groups "$WORK/mapper"
	REQUEST="elf $CHILD $STARTED $(executable_of "$CHILD" mapper)"
	[ "$(asked_with ,+dac_read_search,+sys_ptrace,+checkpoint_restore)" = "$WORK/mapper read-only" ]
	[[ $(asked_with ,+sys_ptrace,+checkpoint_restore) == 'refused '* ]]
	[[ $(asked_with ,+dac_read_search,+checkpoint_restore) == 'refused '* ]]
	[[ $(asked_with ,+dac_read_search,+sys_ptrace) == 'refused '* ]]
	echo '1000 10 jitted' > "/tmp/perf-$CHILD.map"
	chown 1000 "/tmp/perf-$CHILD.map"
	chmod 0600 "/tmp/perf-$CHILD.map"
	REQUEST="perf-map $CHILD $STARTED"
	[ "$(asked_with ,+dac_read_search,+sys_ptrace)" = "/tmp/perf-$CHILD.map read-only" ]
	[[ $(asked_with ,+sys_ptrace) == 'refused '* ]]
	[[ $(asked_with ,+dac_read_search) == 'refused '* ]]
	# a cgroup that belongs to a user
	chown 1000 "$CGROUP2/$CGROUP/cpu.pressure"
	REQUEST="pressure $(stat -c %i "$CGROUP2/$CGROUP") cpu 2000000"
	[ "$(asked_with ,+dac_read_search,+dac_override)" = "$CGROUP2/$CGROUP/cpu.pressure read-write" ]
	[[ $(asked_with ,+dac_read_search) == 'refused '* ]]
	[[ $(asked_with ,+dac_override) == 'refused '* ]]
}

@test "nothing loaded, or another map pinned as targets: requests are refused" {
	grant_start
	start_command "$BUILD/workloads/mapper" /bin/true
	local request
	request="elf $CHILD $(started_ticks "$CHILD") ${CHILD_LINE#ready }"
	assert_answer "$request" 'refused not a target: nothing is loaded'
	load
	assert_answer "$request" 'refused not a target'
	bpftool map create "$PIN_DIR/wide" type hash key 4 value 4096 entries 1 name wide
	mv "$PIN_DIR/targets" "$PIN_DIR/narrow"
	mv "$PIN_DIR/wide" "$PIN_DIR/targets"
	assert_answer "$request" 'refused Bad message'
	mv "$PIN_DIR/narrow" "$PIN_DIR/targets"
}

# nobody_is_sampled: true if the kernel programs have counted ticks of targets that they skipped for lack of a
# heartbeat.
nobody_is_sampled() {
	[ "$(counter 1)" -gt 0 ]
}

@test "a target that took a denied uid or comm while nothing was sampled: requests are refused" {
	local who i changes=() requests=()
	printf '%s\n' '[policy]' 'deny_uids = 1005' 'deny_comms = traitor' > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf" --quiet-after 2s
	rule files 'comm = mapper' "cgroup = /$CGROUP" 'watch = system' 'io.full = 100%'
	daemon_start
	grant_start
	for who in nobody real effective saved name; do
		# shellcheck disable=SC2016
		target_start perl -e '
			my %ids = (real => [1005, 0, 0], effective => [0, 1005, 0], saved => [0, 0, 1005]);
			$SIG{USR2} = sub {
				$ids{$ARGV[0]} and syscall(117, @{$ids{$ARGV[0]}}) and die "setresuid: $!"; # x86-64
				$0 = "traitor" if $ARGV[0] eq "name";
				print "changed\n";
			};
			$| = 1; $0 = "mapper"; print "ready\n"; $ARGV[0] eq "nobody" or sleep 1 while 1' $who
		changes+=("$CHILD_OUTPUT")
		requests+=("elf $CHILD $STARTED $(executable_of "$CHILD" perl)")
		assert_answer "${requests[-1]}" "$(readlink -f "/proc/$CHILD/exe") read-only"
	done
	echo '1000 10 jitted' > "/tmp/perf-$CHILD.map"
	assert_answer "perf-map $CHILD $STARTED" "/tmp/perf-$CHILD.map read-only"
	kill -STOP "$DAEMON"
	await 20 nobody_is_sampled
	for i in "${!requests[@]}"; do
		read -r _ CHILD STARTED _ <<< "${requests[i]}"
		kill -USR2 "$CHILD"
		read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "${changes[i]}"
		is_target "$CHILD"
		((i)) || continue
		assert_answer "${requests[i]}" "refused root's policy denies this process"
	done
	assert_answer "perf-map $CHILD $STARTED" "refused root's policy denies this process"
	assert_answer "${requests[0]}" "$(readlink -f "$(command -v perl)") read-only"
	kill -CONT "$DAEMON"
}

@test "a target that became undumpable while nothing was sampled: requests are refused, also for a process of root" {
	local who i changes=() requests=()
	printf '%s\n' '[policy]' 'deny_uids = 1005' > "$WORK/policy.conf"
	load --policy "$WORK/policy.conf" --quiet-after 2s
	rule files 'comm = mapper' "cgroup = /$CGROUP" 'watch = system' 'io.full = 100%'
	daemon_start
	grant_start
	for who in open 0 1006; do
		# shellcheck disable=SC2016
		target_start perl -e '
			$SIG{USR2} = sub { syscall(157, 4, 0, 0, 0) and die "prctl: $!"; print "changed\n" }; # PR_SET_DUMPABLE
			if ($ARGV[0] == 1006) {
				syscall(117, 1006, 1006, 1006) and die "setresuid: $!";
				syscall(157, 4, 1, 0, 0) and die "prctl: $!";
			}
			$| = 1; $0 = "mapper"; print "ready\n"; $ARGV[0] eq "open" or sleep 1 while 1' "$who"
		changes+=("$CHILD_OUTPUT")
		requests+=("elf $CHILD $STARTED $(executable_of "$CHILD" perl)")
		assert_answer "${requests[-1]}" "$(readlink -f "$(command -v perl)") read-only"
	done
	kill -STOP "$DAEMON"
	await 20 nobody_is_sampled
	for i in 1 2; do
		read -r _ CHILD STARTED _ <<< "${requests[i]}"
		kill -USR2 "$CHILD"
		read -r -t $((LEAST_DEADLINE * PATIENCE)) -u "${changes[i]}"
		is_target "$CHILD"
		assert_answer "${requests[i]}" "refused root's policy denies this process, or no rule names it now"
	done
	assert_answer "${requests[0]}" "$(readlink -f "$(command -v perl)") read-only"
	kill -CONT "$DAEMON"
}

@test "bourdon-grant --files elf: ELF files, but no perf maps" {
	grant_start --files elf
	targets_begin
	target_start "$BUILD/workloads/mapper" /bin/true
	assert_answer "elf $CHILD $STARTED ${CHILD_LINE#ready }" "$(readlink -f /bin/true) read-only"
	echo '1000 10 jitted' > "/tmp/perf-$CHILD.map"
	assert_answer "perf-map $CHILD $STARTED" "refused root's policy hands out no perf maps"
	rm "/tmp/perf-$CHILD.map"
}

# namespace_start: starts a target as user 1000, as the first process of a pid namespace, in a mount namespace
# with its own /tmp, TMP.
namespace_start() {
	# shellcheck disable=SC2016 # the shell inside expands it
	start_command unshare --mount --pid --fork --kill-child --mount-proc sh -c \
		'cd "$1" && mount -t tmpfs -o mode=1777 none /tmp && exec setpriv --reuid 1000 --clear-groups ./mapper' sh "$BUILD/workloads"
	CHILD=$(pgrep -P "$CHILD")
	CHILDREN+=("$CHILD") # does not end with its parent, because it belongs to another user
	await 10 is_target "$CHILD"
	STARTED=$(started_of "$CHILD")
	TMP=/proc/$CHILD/root/tmp
}

@test "perf-map request: only the map of the process, in its own mount and pid namespaces" {
	grant_start
	targets_begin
	namespace_start
	local map=$TMP/perf-1.map request="perf-map $CHILD $STARTED"
	assert_answer "$request" 'refused the process has no perf map'
	# a map named after its pid in its namespace, in this /tmp and in its own
	echo '1000 10 elsewhere' > "/tmp/perf-$CHILD.map"
	echo '1000 10 other' > "$TMP/perf-$CHILD.map"
	chown 1000 "/tmp/perf-$CHILD.map" "$TMP/perf-$CHILD.map"
	assert_answer "$request" 'refused the process has no perf map'
	rm "/tmp/perf-$CHILD.map"
	echo '1000 10 jitted' > "$map"
	assert_answer "$request" '/tmp/perf-1.map read-only' # belongs to root and is readable for all users
	chown 1000 "$map"
	chmod 0600 "$map"
	assert_answer "$request" '/tmp/perf-1.map read-only'
	# a map of another user: one that the process cannot read, and one that it does not own
	chown 0 "$map"
	assert_answer "$request" 'refused the perf map belongs to another user'
	chown 1001 "$map"
	chmod 0644 "$map"
	assert_answer "$request" 'refused the perf map belongs to another user'
	chown 1000 "$map"
	chmod 0664 "$map"
	assert_answer "$request" 'refused others may write the perf map'
	chmod 0646 "$map"
	assert_answer "$request" 'refused others may write the perf map'
	chmod 0644 "$map"
	ln "$map" "$TMP/again"
	assert_answer "$request" 'refused the perf map has more than one link'
	rm "$TMP/again"
	truncate --no-create -s $(((64 << 20) + 1)) "$map" # without O_CREAT: fs.protected_regular forbids it
	assert_answer "$request" 'refused the perf map is larger than 64 MiB'
	truncate --no-create -s $((64 << 20)) "$map"
	assert_answer "$request" '/tmp/perf-1.map read-only'
	# not a regular file
	rm "$map"
	ln -s /etc/passwd "$map"
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	ln -sf "/proc/$CHILD/exe" "$map"
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	rm "$map"
	mkfifo -m 0644 "$map"
	chown 1000 "$map"
	assert_answer "$request" 'refused not a regular file'
	rm "$map"
	mknod -m 0644 "$map" c 1 5
	chown 1000 "$map"
	assert_answer "$request" 'refused not a regular file'
	rm "$map"
	mkdir "$map"
	assert_answer "$request" 'refused not a regular file'
	rmdir "$map"
	# a file of the host mounted over it
	echo '1000 10 mounted' > "$map"
	nsenter --mount="/proc/$CHILD/ns/mnt" mount --bind /etc/passwd /tmp/perf-1.map
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	# a wrong start time, a process that is not a target, no process
	assert_answer "perf-map $CHILD $((STARTED + 10000000))" 'refused another process has that pid now'
	assert_answer "perf-map $$ $(started_ticks $$)" 'refused not a target'
	assert_answer "perf-map 2 $(started_ticks 2)" 'refused it is a kernel thread'
	assert_answer "perf-map 1 $STARTED" 'refused another process has that pid now'
	kill -KILL "$CHILD"
	await 5 test ! -e "/proc/$CHILD"
	assert_answer "$request" 'refused no such process'
}

@test "perf-map request in a chroot: no link leads out of it" {
	local root=$WORK/root
	grant_start
	targets_begin
	mkdir "$root" "$WORK/outside"
	# shellcheck disable=SC2046 # one word for each library
	cp --parents -L $(ldd "$BUILD/workloads/mapper" | grep -o '/[^ ]*') "$root"
	cp "$BUILD/workloads/mapper" "$root/mapper"
	target_start chroot "$root" /mapper
	local request="perf-map $CHILD $STARTED" map=perf-$CHILD.map
	# a map outside of the chroot is ignored
	echo '1000 10 host' > "/tmp/$map"
	cp "/tmp/$map" "$WORK/outside"
	assert_answer "$request" 'refused the process has no perf map'
	ln -s ../outside "$root/tmp"
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	ln -sfn "$WORK/outside" "$root/tmp"
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	rm "$root/tmp"
	mkfifo "$root/tmp"
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	rm "$root/tmp"
	mkdir "$root/tmp"
	ln -s "../../outside/$map" "$root/tmp/$map"
	assert_answer "$request" 'refused the perf map is behind a symbolic link or a mount'
	rm "$root/tmp/$map"
	echo '1000 10 inside' > "$root/tmp/$map"
	assert_answer "$request" "$root/tmp/$map read-only"
	rm "/tmp/$map"
}
