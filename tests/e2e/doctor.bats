#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# bourdon-load --check (can this machine run bourdon?) and bourdon doctor (does the installation work?): the
# findings that a test can cause on a running kernel. tests/unit has the others.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	bourdon_setup doctor
}

teardown() {
	bourdon_teardown
}

check() {
	"$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR" "$@"
}

# shellcheck disable=SC2120 # run passes options
doctor() {
	"$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor "$@"
}

# has_finding NAME VERDICT [PART]: $output has a line with this finding, verdict and text.
has_finding() {
	local line
	for line in "${lines[@]}"; do
		[[ $line == "$1 "*" $2"* && $line == *"${3-}"* ]] && return
	done
	printf 'no "%s" with verdict %s and "%s" in:\n%s\n' "$1" "$2" "${3-}" "$output"
	return 1
}

# canaries: prints the pids of the canary processes that this test has started.
canaries() {
	local pid
	for pid in $(pgrep -x bourdon-canary); do
		! grep -qsF "$BATS_TEST_TMPDIR" "/proc/$pid/environ" || echo "$pid"
	done
}

@test "--check: every requirement, and a canary that is matched and sampled" {
	# in a mount namespace of its own, where only the check could change a mount
	# shellcheck disable=SC2016 # the shell inside expands it
	run unshare --mount --propagation private bash -c 'before=$(findmnt -n -o TARGET,FSTYPE); "$@"; status=$?
		[ "$(findmnt -n -o TARGET,FSTYPE)" = "$before" ] || echo "mounts changed"; exit $status' \
		bash "$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR"
	[[ $output != *'mounts changed'* ]]
	[ "$status" -eq 0 ]
	has_finding capabilities ok
	has_finding kernel ok "$(uname -r)"
	has_finding 'kernel BTF' ok
	has_finding cgroup2 ok "$CGROUP2"
	has_finding PSI ok cpu
	has_finding seccomp ok
	has_finding 'canary: load' ok
	has_finding 'canary: attach' ok "the clocks of $(nproc) CPUs"
	has_finding 'canary: event' ok
	has_finding 'canary: sample' ok
	# the check leaves nothing behind
	[ -z "$(canaries)" ]
	[ ! -e "$PIN_DIR" ]
}

# All on one CPU: the loader as fast as the hog, the process that it starts for the canary a hundredth as fast. A shell as fast
# as they ends the hog at once.
# bats test_tags=alone
@test "--check beside a program that has its CPU: what it has no time for is unknown, and no failure" {
	# shellcheck disable=SC2016 # the shell inside expands it
	run nice -n -20 taskset -c 0 bash -uc '"$1" --seconds 60 > /dev/null & hog=$!
		chrt --other --reset-on-fork 0 "$2" --check --pin-dir "$3"; status=$?
		kill "$hog"; exit "$status"' bash "$BUILD/workloads/cpu_hog" "$BUILD/bourdon-load" "$PIN_DIR"
	[ "$status" -eq 0 ]
	[[ $output =~ canary:\ (event|sample)\ +unknown.*ran\ for\ only ]] || has_finding 'canary: sample' ok
	[[ $output != *' failed '* ]]
	[ -z "$(canaries)" ]
}

@test "doctor: whoever beside the daemon is in the group of the pins is named" {
	local group member
	load
	group=$(stat -c %G "$PIN_DIR")
	for member in bourdon bourdon,somebody; do
		sed "s/^\($group:[^:]*:[^:]*:\).*/\1$member/" /etc/group > "$WORK/group.$member"
		# shellcheck disable=SC2016 # the shell inside expands it
		run unshare --mount --propagation private bash -c 'mount --bind "$1" /etc/group; shift; exec "$@"' \
			bash "$WORK/group.$member" "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
		case $member in
		bourdon) has_finding pins ok ;;
		*) has_finding pins warning "user somebody is in the group $group" ;;
		esac
	done
}

@test "--check --json" {
	check --json | jq -e '.verdict != "failed" and (.findings | length) > 15 and
		(.findings[] | select(.name == "canary: sample").verdict) == "ok"'
}

@test "--check without privilege: exit 1, and the findings that need none" {
	run setpriv --reuid 1 --regid 1 --clear-groups "$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR"
	[ "$status" -eq 1 ] || [ "$status" -eq 3 ] # 3 if bpffs is not mounted
	has_finding capabilities failed cap_bpf
	[[ $output == *'run it as root'* ]]
	has_finding 'kernel BTF' ok
	[[ $output != *canary* ]]
}

# As root of a user namespace a process has all capabilities there, and none outside.
@test "--check and a load where the kernel refuses bpf(): exit 3, with the remedy" {
	unshare --user --map-root-user true || skip 'no user namespace can be made'
	run unshare --user --map-root-user "$BUILD/bourdon-load" --check --pin-dir "$PIN_DIR"
	[ "$status" -eq 3 ]
	has_finding capabilities ok
	has_finding 'bpf()' failed 'Operation not permitted'
	[[ $output == *'remedy: run it on the host, outside of containers'* ]]
	[[ $output != *canary* ]]
	run unshare --user --map-root-user "$BUILD/bourdon-load" --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR" --group root
	[ "$status" -eq 3 ]
	[[ $output == *'bpf(): refused, despite the capabilities: Operation not permitted; remedy: '* ]]
}

@test "--check without BTF and PSI: exit 3, with the remedies" {
	run unshare --mount --propagation private bash -euc "
		mount -t tmpfs tmpfs /sys/kernel/btf
		mount -t tmpfs tmpfs /proc/pressure
		'$BUILD/bourdon-load' --check --pin-dir '$PIN_DIR'"
	[ "$status" -eq 3 ]
	has_finding 'kernel BTF' failed
	has_finding PSI failed
	[[ $output == *'remedy: use a kernel with CONFIG_DEBUG_INFO_BTF=y'*'remedy: boot with psi=1, on a kernel with CONFIG_PSI=y'* ]]
	[[ $output != *canary* ]]
}

# names_cgroup: whether the output names the cgroup of this test, or of this file in another test run
names_cgroup() {
	[[ $output == *"remedy: echo 1 > $CGROUP2/bourdon-doctor-"*/cgroup.pressure* ]]
}

@test "--check names cgroups whose pressure accounting is off" {
	mkdir "$CGROUP2/$CGROUP"
	[ -e "$CGROUP2/$CGROUP/cgroup.pressure" ] || skip 'this kernel has no cgroup.pressure'
	echo 0 > "$CGROUP2/$CGROUP/cgroup.pressure"
	run check
	[ "$status" -eq 0 ]
	has_finding 'PSI of cgroups' warning "off in "
	names_cgroup
}

# The first of a level are those of the root's children, of which the cgroup of this test is one.
@test "more cgroups than a check looks at: doctor and --check say so, and find what is near the root" {
	local most=10000 program
	mkdir "$CGROUP2/$CGROUP"
	[ -e "$CGROUP2/$CGROUP/cgroup.pressure" ] || skip 'this kernel has no cgroup.pressure'
	echo 0 > "$CGROUP2/$CGROUP/cgroup.pressure"
	seq "$most" | (cd "$CGROUP2/$CGROUP" && xargs mkdir)
	for program in check doctor; do
		run "$program"
		has_finding 'PSI of cgroups' warning "of the first "
		[[ $output =~ of\ the\ first\ ([0-9]+)\ cgroups,\ of\ more ]]
		((BASH_REMATCH[1] <= most))
		names_cgroup
	done
}

@test "doctor: nothing loaded, no daemon, no database" {
	run doctor
	[ "$status" -eq 1 ]
	has_finding manifest failed 'nothing is loaded'
	has_finding daemon failed
	has_finding database failed
}

@test "doctor: all is well, for root and the group; other users see unknown" {
	private_bpffs 0700 # as systemd mounts it
	load
	rule quiet 'comm = nothing' 'io.full = 100%' 'watch = system'
	daemon_start
	run doctor
	[ "$status" -eq 0 ]
	has_finding manifest ok 'BPF programs of this build'
	has_finding 'sampled CPUs' ok
	has_finding pins ok "$PIN_DIR"
	has_finding heartbeat ok
	has_finding 'losses since load' ok
	has_finding daemon ok "process $DAEMON"
	has_finding confinement ok 'uid '
	has_finding database ok
	has_finding 'last capture' ok none
	run doctor --json
	[ "$status" -eq 0 ]
	jq -e '.verdict != "failed" and (.findings[] | select(.name == "heartbeat").verdict) == "ok"' <<< "$output"
	run setpriv --reuid 1 --regid "$TEST_GROUP" --clear-groups \
		"$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 0 ]
	has_finding confinement ok
	has_finding pins unknown
	# another user: nothing can be read, so no finding is "failed"
	run setpriv --reuid 1 --regid 1 --clear-groups "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	[ "$status" -eq 0 ]
	has_finding manifest unknown
	has_finding daemon unknown
	has_finding database unknown
}

@test "doctor: a stopped daemon has an old heartbeat" {
	load --quiet-after 1s
	daemon_start
	kill -STOP "$DAEMON"
	says_that_it_is_old() {
		[[ $(doctor) == *'sampling has stopped'* ]]
	}
	await 10 says_that_it_is_old
	run doctor
	[ "$status" -eq 1 ]
	has_finding heartbeat failed
	kill -CONT "$DAEMON"
	await 10 doctor
}

@test "doctor: a pin with a wrong mode or missing, a manifest of another build, kernel or ABI" {
	load
	daemon_start
	chmod 0666 "$PIN_DIR/control"
	run doctor
	[ "$status" -eq 1 ]
	has_finding pins failed 'control: mode 0666'
	chmod 0660 "$PIN_DIR/control"
	chmod 0640 "$PIN_DIR/link_cpu_step"
	run doctor
	has_finding pins failed 'link_cpu_step: mode 0640'
	chmod 0600 "$PIN_DIR/link_cpu_step"
	sed -i 's/^object_sha256 = ..../object_sha256 = 0000/' "$RUN_DIR/manifest"
	run doctor
	[ "$status" -eq 0 ]
	has_finding manifest warning 'from another build'
	cp "$RUN_DIR/manifest" "$WORK/"
	sed -i 's/^kernel = .*/kernel = 6.1.0-before/' "$RUN_DIR/manifest"
	run doctor
	[ "$status" -eq 1 ]
	has_finding manifest failed 'not loaded since this boot'
	sed -i 's/^abi = .*/abi = 1/' "$RUN_DIR/manifest"
	run doctor
	[ "$status" -eq 1 ]
	has_finding manifest failed 'with ABI 1'
	# the pins are checked only if the ABI is the same
	cat "$WORK/manifest" > "$RUN_DIR/manifest"
	rm "$PIN_DIR/tasks"
	run doctor
	has_finding pins failed 'tasks: No such file'
}

@test "doctor: a daemon that is not confined" {
	# another program of that name holds the lock as root
	cp "$(command -v flock)" "$WORK/bourdond"
	"$WORK/bourdond" "$STATE_DIR/bourdond.lock" sleep 60 & CHILDREN+=($!)
	until pgrep -P "${CHILDREN[0]}" -x sleep; do sleep 0.05; done
	CHILDREN+=("$(pgrep -P "${CHILDREN[0]}")")
	run doctor
	[ "$status" -eq 1 ]
	has_finding daemon ok "process ${CHILDREN[0]}"
	has_finding confinement failed "process ${CHILDREN[0]} is root"
	has_finding 'locked memory' warning
}

# The reader needs a CPU of its own: while it waits for one, the kernel ticks.
# bats test_tags=alone
@test "doctor: whoever silences the kernel's pressure is noticed" {
	[ "$(nproc)" -ge 2 ] || skip 'needs two CPUs'
	run doctor
	has_finding pressure ok 'two threads waited'
	# shellcheck disable=SC2016 # perl's
	nice -n -15 taskset -c 1 setpriv --reuid 65533 --regid 65533 --clear-groups perl -e '
		open my $file, "<", "/proc/pressure/cpu" or die "$!";
		while (1) { sysseek $file, 0, 0; sysread $file, my $text, 256 }' & CHILDREN+=($!)
	run taskset -c 0 "$BUILD/bourdon" --db "$DB" --run-dir "$RUN_DIR" doctor
	has_finding pressure warning 'a program reads a pressure file'
}
