#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Latencies of requests to block devices, of a loop device on which a known number of reads is made: the kernel's table counts
# each request once, and says of a slow device how slow it is, as the program that reads and biolatency do.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/accounts.bash"

setup() {
	accounts_setup latency_block
	THROTTLE=
	cat > "$WORK/reader.py" <<- 'END'
		# reader.py DEVICE COUNT FILE: reads so many blocks of 4 KiB, each another one, and writes how long each took, in ns.
		# It has a real-time priority: its waits for a CPU are not the device's.
		import mmap, os, sys, time
		os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
		device = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
		block, took = mmap.mmap(-1, 4096), []
		for number in range(int(sys.argv[2])):
		    began = time.monotonic_ns()
		    os.preadv(device, [block], 4096 * number)
		    took.append(time.monotonic_ns() - began)
		with open(sys.argv[3], "w") as file:
		    file.writelines("%d\n" % ns for ns in sorted(took))
	END
	cat > "$WORK/readers.py" <<- 'END'
		# readers.py DEVICE THREADS BYTES NAME CGROUP FILE: each thread reads a block of so many bytes, again and again, and writes from
		# when to when, in ns; all of them begin together, when the last one has its block. The process has that name, and a real-time
		# priority: it waits for the device alone.
		import mmap, os, sys, threading, time
		os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
		open("/proc/self/comm", "w").write(sys.argv[4])
		if sys.argv[5]:
		    open(sys.argv[5] + "/cgroup.procs", "w").write("0")
		device, all_have = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), threading.Barrier(int(sys.argv[2]))
		reads = os.open(sys.argv[6], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
		def read_on(number):
		    block = mmap.mmap(-1, int(sys.argv[3]))
		    while True:
		        began = time.time_ns()
		        os.preadv(device, [block], number * len(block))
		        os.write(reads, b"%d %d\n" % (began, time.time_ns()))
		        all_have.wait()
		for number in range(int(sys.argv[2])):
		    threading.Thread(target=read_on, args=[number]).start()
		print("ready", flush=True)
	END
	cat > "$WORK/divide.py" <<- 'END'
		# divide.py VICTIM HOG FROM UNTIL: how many percent of the time of the victim's reads are the hog's, if each moment is divided among
		# the reads that last then
		import sys
		begins, ends, all_ns, of_hog, reads = int(sys.argv[3]), int(sys.argv[4]), 0, 0, [0, 0]
		changes = sorted((at, who, by) for who, name in enumerate(sys.argv[1:3]) for line in open(name)
		                 for at, by in zip(map(int, line.split()), (1, -1)))
		for (at, who, by), (until, _, _) in zip(changes, changes[1:]):
		    reads[who] += by
		    ns = max(0, min(until, ends) - max(at, begins)) * reads[0]
		    all_ns += ns
		    of_hog += ns * reads[1] / sum(reads) if ns else 0
		print(100 * of_hog / all_ns)
	END
	dd if=/dev/urandom of="$WORK/image" bs=1M count=16 status=none
	sync "$WORK/image"
	DISK=$(losetup --find --show "$WORK/image") || skip 'no loop device'
	STAT=/sys/block/${DISK#/dev/}/stat
	OBJECT=$(awk -F: '{ print $1 * 1048576 + $2 }' "/sys/block/${DISK#/dev/}/dev")
}

teardown() {
	[[ -z ${SCHEDULER-} ]] || echo none > "$SCHEDULER"
	losetup --associated "$WORK/image" --noheadings --output NAME 2> /dev/null | xargs -r losetup --detach
	bourdon_teardown
	if [[ -n $THROTTLE ]]; then
		await 60 remove_cgroups "$THROTTLE"
	fi
}

# measured COMMAND...: has the group measured while the command runs in the test's cgroup, and its lines of the device in
# $WORK/rows; $WORK/requests has what the kernel counted for the device meanwhile: reads, writes and others
measured() {
	local status=0
	# shellcheck disable=SC2016 # of the inner shell
	"$TOOLS/latency_dump" "$PIN_DIR" block -- bash -c 'echo $$ > "$1/cgroup.procs"; awk "{ print -\$1, -\$5, -\$12 - \$16 }" "$2" > "$3"
		"${@:4}"; STATUS=$?; awk "{ print \$1, \$5, \$12 + \$16 }" "$2" >> "$3"; exit $STATUS' \
		bash "$CGROUP2/$CGROUP" "$STAT" "$WORK/stat" "$@" > "$WORK/dump" || status=$?
	awk -v object="$OBJECT" '$1 != "tally" && $3 == object' "$WORK/dump" > "$WORK/rows"
	awk '{ for (i = 1; i <= 3; i++) sum[i] += $i } END { print sum[1], sum[2], sum[3] }' "$WORK/stat" > "$WORK/requests"
	awk '{ $4 = $5 = ""; count[$1 " " $2] += $8 } END { for (kind in count) print kind, count[kind] }' "$WORK/rows"
	grep '^tally block ' "$WORK/dump"
	return "$status"
}

# of METRIC DETAIL [OWNER]: count and sum of its rows
of() {
	awk -v metric="$1" -v detail="$2" -v owner="${3-}" \
		'$1 == metric && $2 == detail && (owner == "" || $4 == owner) { count += $8; sum += $9 } END { printf "%.0f %.0f\n", count, sum }' "$WORK/rows"
}

# bucket METRIC PERCENT: the bounds of the bucket in which this percentile of the reads is
bucket() {
	awk -v metric="$1" -v percent="$2" '$1 == metric && $2 == 0 { at[$5] += $8; least[$5] = $6; most[$5] = $7; all += $8 }
		END { for (i = 0; i < 400; i++) { seen += at[i]; if (at[i] && seen >= all * percent / 100) { printf "%.0f %.0f\n", least[i], most[i]; exit } } }' "$WORK/rows"
}

# all_but_lost NUMBER ALL: whether the number is all but a few whose end no program saw: on some machines none runs in interrupts of
# certain processes. A device that reads the image by itself ends requests in such interrupts; they are counted as lost when the
# kernel uses their memory again, perhaps later than this test
all_but_lost() {
	echo "$1 of $2; tally: $(grep '^tally block ' "$WORK/dump")"
	(($1 <= $2 && $1 * 10 >= $2 * 8))
}

# own_id: the id of the test's cgroup
own_id() {
	stat -c %i "$CGROUP2/$CGROUP"
}

# is_beside METRIC PERCENT: whether the reader's percentile is in that bucket, or in the next one. Each request that was not seen moves
# it by one
is_beside() {
	local least most
	read -r least most <<< "$(bucket "$1" "$2")"
	awk -v percent="$2" -v least="$least" -v most="$most" -v seen="$(of "$1" 0 | cut -d ' ' -f 1)" '{ took[NR] = $1 } END {
		n = int(NR * percent / 100 + 0.999)
		first = n - (NR - seen) < 1 ? 1 : n - (NR - seen)
		last = n + (NR - seen) > NR ? NR : n + (NR - seen)
		printf "%s %%: reader %.0f to %.0f ns, bucket %.0f to %.0f\n", percent, took[first], took[last], least, most
		exit !(took[last] >= least * 0.875 && took[first] < most * 1.125) }' "$WORK/took"
}

@test "each request is counted once, with its size, whoever merges, splits or gives it back" {
	load
	# shellcheck disable=SC2016 # of the inner shell
	measured bash -c 'dd if="$1" of=/dev/null bs=4k count=2000 iflag=direct && dd if=/dev/zero of="$1" bs=64k count=100 oflag=direct' bash "$DISK"
	[ "$(< "$WORK/requests")" = '2000 100 0' ]
	for metric in block block.queue block.service; do
		[ "$(of "$metric" 0 | cut -d ' ' -f 1)" -eq 2000 ]
		[ "$(of "$metric" 1 | cut -d ' ' -f 1)" -eq 100 ]
	done
	[ "$(of block.size 0)" = "2000 $((2000 * 4096))" ]
	[ "$(of block.size 1)" = "100 $((100 * 65536))" ]
	# whole = queue + service, of each request
	[ "$(of block 0 | cut -d ' ' -f 2)" -eq $(($(of block.queue 0 | cut -d ' ' -f 2) + $(of block.service 0 | cut -d ' ' -f 2))) ]
	# with a scheduler requests wait in a queue, and are merged
	if grep -q '\[none\] mq-deadline' "/sys/block/${DISK#/dev/}/queue/scheduler"; then
		SCHEDULER=/sys/block/${DISK#/dev/}/queue/scheduler
		echo mq-deadline > "$SCHEDULER"
		# shellcheck disable=SC2016 # of the inner shell
		measured bash -c 'for i in 1 2 3 4; do dd if=/dev/zero of="$1" bs=4k count=500 seek=$((i * 500)) conv=fsync & done; wait' bash "$DISK"
		cat "$WORK/requests"
		# the kernel counts each of the four fsync(2) as a write of nothing, too
		[ "$(of block 1 | cut -d ' ' -f 1)" -eq $(($(cut -d ' ' -f 2 "$WORK/requests") - 4)) ]
		[ "$(of block 2 | cut -d ' ' -f 1)" -gt 0 ]
		[ "$(of block.size 1 | cut -d ' ' -f 2)" -ge $((2000 * 4096)) ]
		[ "$(of block.queue 1 | cut -d ' ' -f 2)" -gt 0 ]
	fi
	# without the group nothing is measured
	"$TOOLS/latency_dump" "$PIN_DIR" exec -- dd if="$DISK" of=/dev/null bs=4k count=10 iflag=direct > "$WORK/dump"
	! grep '^block' "$WORK/dump" || false
}

@test "a request that fails is told apart; one that ends in parts counts once" {
	load
	# the device is longer than its file from here on
	truncate -s $((1048576 + 32768)) "$WORK/image"
	! measured dd if="$DISK" of=/dev/null bs=64k count=32 iflag=direct || false
	# 16 whole ones, and one of which half was there
	[ "$(of block.size 0)" = "16 1048576" ]
	[ "$(of block.size 128)" = "1 65536" ]
	[ "$(awk '$1 == "tally" && $2 == "block" { print $4, $6 }' "$WORK/dump")" = '0 0' ]
}

@test "requests are of the cgroup that asks, and of nobody where root's policy denies it" {
	local policy
	load
	measured dd if="$DISK" of=/dev/null bs=4k count=100 iflag=direct
	[ "$(of block 0 "$(own_id)")" != '0 0' ]
	[ "$(of block 0 "$(own_id)" | cut -d ' ' -f 1)" -eq 100 ]
	for policy in 'bystanders = no' "deny_uids = $(id -u "$TEST_USER")" 'deny_comms = dd'; do
		printf '%s\n' '[policy]' "$policy" > "$WORK/denied.conf"
		"$BUILD/bourdon-load" --unload --pin-dir "$PIN_DIR" --run-dir "$RUN_DIR"
		load --policy "$WORK/denied.conf"
		# it opens the device as root
		measured setpriv --reuid "$TEST_USER" --clear-groups dd of=/dev/null bs=4k count=100 iflag=direct < "$DISK"
		[ "$(of block 0 0 | cut -d ' ' -f 1)" -eq 100 ]
		[ "$(of block 0 | cut -d ' ' -f 1)" -eq 100 ]
	done
}

# throttle NUMBER: at most so many reads a second of the disk that has the image, for the reader: in cgroup2, or in version 1
throttle() {
	local device
	device=$(findmnt -n -o MAJ:MIN -T "$WORK/image" | tr -d ' ')
	[ -e "/sys/dev/block/$device" ] || skip 'the directory of the tests is on no disk'
	[ ! -e "/sys/dev/block/$device/partition" ] || device=$(< "/sys/dev/block/$device/../dev")
	if [ -e "$CGROUP2/$CGROUP/io.max" ]; then
		echo "$device riops=$1" > "$CGROUP2/$CGROUP/io.max"
	else
		THROTTLE=$(findmnt -n -o TARGET -t cgroup -O blkio | head -n 1)/$CGROUP
		mkdir "$THROTTLE" || { THROTTLE=; skip 'no cgroup limits I/O here'; }
		echo "$device $1" > "$THROTTLE/blkio.throttle.read_iops_device"
	fi
}

@test "a slow device is found: its percentiles are those of the program that reads it, and biolatency's" {
	local biolatency seen
	load
	losetup --direct-io=on "$DISK" # else it reads from the page cache
	throttle 10 # the kernel lets one pass in each tenth of a second
	if [ -x /usr/sbin/biolatency ]; then
		stdbuf -oL /usr/sbin/biolatency -d "${DISK#/dev/}" > "$WORK/biolatency" 2>&1 3>&- &
		biolatency=$!
		CHILDREN+=("$biolatency")
		await 10 grep -q Tracing "$WORK/biolatency"
	fi
	# shellcheck disable=SC2016 # of the inner shell
	measured bash -c '[ -z "$1" ] || echo $$ > "$1/cgroup.procs"; shift; exec "$@"' bash "$THROTTLE" \
		python3 "$WORK/reader.py" "$DISK" 50 "$WORK/took"
	seen=$(of block 0 | cut -d ' ' -f 1)
	all_but_lost "$seen" 50
	is_beside block 50
	is_beside block 90
	is_beside block 99
	# of which the device took nearly all
	[ "$(bucket block.service 50 | cut -d ' ' -f 2)" -gt 50000000 ]
	[ "$(bucket block.queue 99 | cut -d ' ' -f 1)" -lt 10000000 ]
	[ -n "${biolatency-}" ] || return 0

	kill -INT "$biolatency"
	wait "$biolatency" || true
	# its buckets are octaves of us: "16384 -> 32767 : COUNT"
	awk '$2 == "->" { sum += $5; if ($5 > most) { most = $5; least_us = $1; most_us = $3 } } END { print sum, least_us * 1000, (most_us + 1) * 1000 }' \
		"$WORK/biolatency" > "$WORK/mode"
	all_but_lost "$(cut -d ' ' -f 1 "$WORK/mode")" 50
	awk -v mode="$(< "$WORK/mode")" -v seen="$seen" 'BEGIN { split(mode, octave) } $1 == "block" && $2 == 0 && $6 >= octave[2] && $6 < octave[3] { inside += $8 }
		END { print inside " of " seen " are in the fullest octave of biolatency"; exit !(inside >= seen / 2) }' "$WORK/rows"
}

@test "a wait for a disk is charged to those whose requests it had, not to who moves most bytes" {
	local hog dump from until
	own_workload cpu_hog
	losetup --direct-io=on "$DISK"
	mkdir "$CGROUP2/$CGROUP/hog"
	# those that have waited for it end together in each tenth of a second, so that the last one of them ends alone
	throttle 100
	load
	follow
	victim python3 "$WORK/readers.py" "$DISK" 1 65536 "$OWN" "$THROTTLE" "$WORK/victim.reads"
	CGROUP=$CGROUP/hog start_command setsid python3 "$WORK/readers.py" "$DISK" 8 4096 "h$OWN" "$THROTTLE" "$WORK/hog.reads"
	hog=$(stat -c %i "$CGROUP2/$CGROUP/hog")
	"$TOOLS/latency_dump" "$PIN_DIR" block -- sleep 1h > "$WORK/dump" 3>&- &
	dump=$!
	CHILDREN+=("$dump")
	begin
	sleep 4
	finish
	pkill -P "$dump" sleep
	wait "$dump" || true
	[ "$(account io)" -gt 0 ]
	[ "$(sql "SELECT sum(ns) FROM blame WHERE wait = 'io'")" -eq "$(account io)" ]
	awk -v object="$OBJECT" '$1 != "tally" && $3 == object' "$WORK/dump" > "$WORK/rows"
	sql "SELECT sum(ns) * 100.0 / (SELECT sum(ns) FROM blame WHERE wait = 'io') FROM blame WHERE wait = 'io' AND program = 'h$OWN'" > "$WORK/share"
	# 1.5 points at most were seen, beside busy loops and writers
	read -r from until <<< "$(sql "SELECT triggered_at || ' ' || ended_at FROM capture")"
	python3 "$WORK/divide.py" "$WORK/victim.reads" "$WORK/hog.reads" "$from" "$until" > "$WORK/divided"
	paste "$WORK/share" "$WORK/divided" | awk '{ print "of the hog: " $1 " %, as they saw it: " $2 " %"; exit !($1 > $2 - 4 && $1 < $2 + 4 && $2 > 50) }'
	of block.size 0 "$hog"
	of block.size 0 "$(stat -c %i "$CGROUP2/$CGROUP/victim")"
	[ "$(of block.size 0 "$hog" | cut -d ' ' -f 2)" -lt "$(of block.size 0 "$(stat -c %i "$CGROUP2/$CGROUP/victim")" | cut -d ' ' -f 2)" ]
}

# fio_percentile PERCENT: of the time that fio waited for its reads, in ns
fio_percentile() {
	jq ".jobs[0].read.clat_ns.percentile[\"$1.000000\"]" "$WORK/fio"
}

# fio_is_beside PERCENT: whether fio has that percentile in the bucket of the requests, or in the next one
fio_is_beside() {
	local least most
	read -r least most <<< "$(bucket block "$1")"
	echo "$1 %: fio $(fio_percentile "$1") ns, bucket $least to $most"
	(($(fio_percentile "$1") * 8 >= least * 7 && $(fio_percentile "$1") * 8 <= most * 9))
}

@test "fio has the same percentiles" {
	command -v fio > /dev/null || skip 'no fio: package fio'
	load
	losetup --direct-io=on "$DISK" # else it reads from the page cache, in less time than fio's system call takes
	throttle 10 # the kernel lets one pass in each tenth of a second
	# with a real-time priority, as the reader
	# shellcheck disable=SC2016 # of the inner shell
	measured bash -c '[ -z "$1" ] || echo $$ > "$1/cgroup.procs"; shift; exec "$@"' bash "$THROTTLE" \
		chrt --fifo 1 fio --name=beside --filename="$DISK" --rw=randread --bs=4k --direct=1 --ioengine=psync --number_ios=50 \
		--percentile_list=50:90:99 --output-format=json --output="$WORK/fio"
	all_but_lost "$(of block 0 | cut -d ' ' -f 1)" "$(jq '.jobs[0].read.total_ios' "$WORK/fio")"
	fio_is_beside 50
	fio_is_beside 90
	# its p99 has what it waited for a CPU, too
	echo "99 %: fio $(fio_percentile 99) ns, bucket $(bucket block 99)"
}
