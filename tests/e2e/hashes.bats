#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# stack.hash is the same for the same functions of the same build: under another path, in another run, in another database.

source "$BATS_TEST_DIRNAME/lib.bash"
source "$BATS_TEST_DIRNAME/hashes.bash"

setup() {
	bourdon_setup hashes
	cgroup_make
	load
	own_workload chain
}

teardown() {
	bourdon_teardown
}

# another_database NAME: keeps the database under that name; the next daemon makes a new one
another_database() {
	sqlite3 -readonly "$DB" "VACUUM INTO '$WORK/$1.db'"
	rm -f "$DB" "$DB"-*
}

# stack_id HASH [DATABASE]
stack_id() {
	sql "SELECT stack_id FROM stack WHERE hash = x'$1'" "${2-$DB}"
}

@test "one program under two paths, in two runs with a database each: its stacks have equal hashes" {
	local hash
	record_chains "$WORK/$OWN"
	hashes | tee "$WORK/here"
	assert_hashes "$WORK/here"

	# the other database has stacks of another program first, and so other ids
	another_database here
	cp "$BUILD/workloads/cpu_hog" "$WORK/hog$OWN"
	record_chains "$WORK/hog$OWN"
	mkdir "$WORK/elsewhere"
	mv "$WORK/$OWN" "$WORK/elsewhere/$OWN"
	record_chains "$WORK/elsewhere/$OWN"
	hashes | diff "$WORK/here" -
	[ "$(sql "SELECT count(*) FROM module WHERE path LIKE '$WORK/%/$OWN'")" -eq 1 ]
	hash=$(cut -d ' ' -f 2 "$WORK/here" | head -n 1)
	[ "$(stack_id "$hash")" -ne "$(stack_id "$hash" "$WORK/here.db")" ]
}

@test "another build, with one more instruction: its stacks have the same functions and other hashes" {
	record_chains "$WORK/$OWN"
	hashes | tee "$WORK/one"
	another_database one
	cp "$BUILD/workloads/chain_longer" "$WORK/$OWN"
	record_chains "$WORK/$OWN"
	hashes | tee "$WORK/other"
	diff <(cut -d ' ' -f 1,3 "$WORK/one") <(cut -d ' ' -f 1,3 "$WORK/other")
	[ "$(cut -d ' ' -f 2 "$WORK/one" "$WORK/other" | sort -u | wc -l)" -eq 4 ]
}
