#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Which processes a rule is about where comm alone does not tell them apart: services by their unit, and the
# services of a slice together.
load lib

setup() {
	bourdon_setup rules
	cgroup_make
	own_workload cpu_hog
	mkdir -p "$CGROUP2/$CGROUP"/shop.slice/{cart,stock}-$$.service "$CGROUP2/$CGROUP/other.slice/cart2-$$.service"
}

teardown() {
	bourdon_teardown
}

# hog SLICE/UNIT: two threads of the same program on CPU 0, in that cgroup; sets HOG
hog() {
	CGROUP=$CGROUP/$1 ON_CPU=0 start_command "$WORK/$OWN" --threads 2
	HOG=$CHILD
}

# services: hogs in all three; sets `cart` and `stock`, the process ids of those in the slice
services() {
	hog "shop.slice/cart-$$.service"
	cart=$HOG
	hog "shop.slice/stock-$$.service"
	stock=$HOG
	hog "other.slice/cart2-$$.service"
}

@test "services that run the same program are told apart by unit" {
	local cart stock
	load
	rule cart "comm = $OWN" "unit = cart-$$.service" 'cpu.some = 10%' 'history = 1s' 'capture = 2s' 'cooldown = 1h'
	rule stock "unit = stock-$$.*ervice" "cgroup = /$CGROUP/*" 'cpu.some = 10%' 'history = 1s' 'capture = 2s' 'cooldown = 1h'
	run "$BUILD/bourdond" --check-config --rules-dir "$RULES_DIR" --config "$WORK/bourdon.conf"
	[ "$status" -eq 1 ]
	[[ $output == *"stock.conf:2: unit = stock-$$.*ervice: expected the name of a unit with its type"* ]]
	rule stock "unit = stock-[0-9]*.service" "cgroup = /$CGROUP/*" 'cpu.some = 10%' 'history = 1s' 'capture = 2s' 'cooldown = 1h'
	daemon_start
	services
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 2
	[ "$(sql "SELECT DISTINCT c.rule, c.cgroup, p.tgid FROM capture c JOIN sample s USING(capture_id)
		JOIN process p USING(process_id) ORDER BY c.rule")" = \
"cart|/$CGROUP/shop.slice/cart-$$.service|$cart
stock|/$CGROUP/shop.slice/stock-$$.service|$stock" ]
	[ "$(sql "SELECT rule, comm, unit, watch FROM rule ORDER BY rule")" = \
"cart|$OWN|cart-$$.service|cgroup
stock|*|stock-[0-9]*.service|cgroup" ]
	status_json | jq -e '[.rules[] | .unit] | sort == ["cart-'$$'.service", "stock-[0-9]*.service"]'
	"$BUILD/bourdon" --db "$DB" status | grep -F " of cart-$$.service"
}

@test "watch = slice: one watch and one capture for the services of a slice, without those of another" {
	local cart stock
	load
	rule shop "comm = $OWN" "cgroup = /$CGROUP/shop.slice/*" 'watch = slice' 'cpu.some = 20%' 'history = 1s' 'capture = 3s' 'cooldown = 1h'
	daemon_start
	services
	await_sql 60 "SELECT count(*) FROM capture WHERE state = 'complete'" 1
	status_json | jq -e --arg slice "/$CGROUP/shop.slice" '[.watches[].cgroup] == [$slice]'
	[ "$(sql "SELECT c.cgroup, p.cgroup, p.tgid FROM capture c JOIN sample s USING(capture_id)
		JOIN process p USING(process_id) GROUP BY p.tgid ORDER BY p.cgroup")" = \
"/$CGROUP/shop.slice|/$CGROUP/shop.slice/cart-$$.service|$cart
/$CGROUP/shop.slice|/$CGROUP/shop.slice/stock-$$.service|$stock" ]
	# the pressure is the slice's own: its file's total grew by what the capture has
	[ "$(sql "SELECT count(*) > 1, max(some_us) > min(some_us) FROM pressure WHERE scope = '/$CGROUP/shop.slice' AND resource = 'cpu'")" = '1|1' ]
	[ "$(sql 'SELECT watch FROM rule')" = slice ]
}

@test "a slice that begins later, or again, is watched; a service without a slice counts as its outermost cgroup's" {
	load
	rule shop "comm = $OWN" 'watch = slice' 'cpu.some = 20%' 'history = 1s' 'capture = 1s' 'cooldown = 0s'
	daemon_start
	mkdir -p "$CGROUP2/$CGROUP/late.slice/a.service"
	hog late.slice/a.service
	await_sql 60 "SELECT min(count(*), 1) FROM capture WHERE state = 'complete' AND cgroup = '/$CGROUP/late.slice'" 1
	stop "$HOG"
	await 10 rmdir "$CGROUP2/$CGROUP/late.slice/a.service" "$CGROUP2/$CGROUP/late.slice"
	mkdir -p "$CGROUP2/$CGROUP/late.slice/a.service"
	local before
	before=$(sql 'SELECT count(*) FROM capture')
	hog late.slice/a.service
	await_sql 60 "SELECT count(*) > $before FROM capture WHERE state = 'complete' AND cgroup = '/$CGROUP/late.slice'" 1
	stop "$HOG"
	hog ''
	await_sql 60 "SELECT min(count(*), 1) FROM capture WHERE state = 'complete' AND cgroup = '/$CGROUP'" 1
}
