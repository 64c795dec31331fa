#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The manual pages and the completion of command lines: there is a page for each program, subcommand and file, they say what
# --help and the documents say, and each example in them runs.

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	EXAMPLE_DB=$TREE/tests/example.db
	PATH=$BUILD:$PATH
	PIN_DIR=
}

teardown() {
	[[ -z $PIN_DIR ]] || bourdon_teardown
}

# terms PAGE: prints the terms that it explains
terms() {
	sed -n '/^\.TP/ { n; s/\\f[BP]//g; s/\\-/-/g; p }' "$1"
}

# bats test_tags=no-load,no-root
@test "each subcommand has a page, with its options and no mistake" {
	local name page
	for name in $(bourdon --help | awk '/^  [a-z]/ && $1 != "db" { print $1 }') help db-check db-compact db-copy db-merge; do
		page=$BUILD/man/bourdon-$name.1
		[ -e "$page" ] || { echo "no page: $name"; false; }
		# shellcheck disable=SC2086 # db check is two words
		diff <(bourdon help ${name/-/ } | sed -nE 's/^  (-[^ ]+).*/\1/p') <(terms "$page" | grep ^- | sed 's/ .*//')
	done
	(($(find "$BUILD/man" -name '*.[1578]' | wc -l) == 29))
	run mandoc -Tlint "$BUILD"/man/*.[1578]
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

# bats test_tags=no-load,no-root
@test "the pages of files have each key, and each table and view" {
	local word
	# the example of the settings names each key
	# shellcheck disable=SC2013 # keys are words
	for word in $(sed -nE 's/^#([a-z_]+) = .*/\1/p' "$TREE/systemd/bourdon.conf"); do
		grep -q "\] $word\$" <(terms "$BUILD/man/bourdon.conf.5") || { echo "not in bourdon.conf(5): $word"; false; }
	done
	# shellcheck disable=SC2013
	for word in $(sed -nE 's/^#([a-z_]+) = .*/\1/p' "$TREE/policy/policy.conf"); do
		grep -qx "$word" <(terms "$BUILD/man/bourdon-policy.5") || { echo "not in bourdon-policy(5): $word"; false; }
	done
	for word in comm cgroup unit cooldown probes on_kill; do
		grep -qx "$word" <(terms "$BUILD/man/bourdon-rules.5")
	done
	for word in $(sqlite3 "$EXAMPLE_DB" "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"); do
		grep -q "\b$word\b" <(mandoc -T ascii "$BUILD/man/bourdon-schema.7" | col -b) || { echo "not in bourdon-schema(7): $word"; false; }
	done
}

# bats test_tags=no-load,no-root
@test "the version is the change log's and the package's" {
	local version
	version=$(bourdon --version)
	[[ $(grep -m 1 '^## ' "$TREE/CHANGELOG.md") == "## ${version#bourdon }, 20"* ]]
	grep -q "bourdon ${version#bourdon }" "$BUILD/man/bourdon.1"
}

# words WORD...: prints what bash completes the last word to, on one line
words() {
	bash -c 'source "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _bourdon 2> /dev/null; echo "${COMPREPLY[*]}"' \
		"$TREE/report/completion/bourdon.bash" "$@"
}

# bats test_tags=no-load,no-root
@test "bash completes subcommands, options, values, captures and rules" {
	[ "$(words bourdon l)" = 'list latency' ]
	[ "$(words bourdon db '')" = 'check compact copy merge' ]
	[ "$(words bourdon help db '')" = 'check compact copy merge' ]
	[[ $(words bourdon why --) == *--section*--version ]]
	[ "$(words bourdon flame --kind o)" = 'oncpu offcpu on-cpu off-cpu' ]
	[ "$(words bourdon latency --by '')" = 'time growth' ]
	[ "$(words bourdon --db "$EXAMPLE_DB" why '')" = '5 4 3 2 1' ]
	[ "$(words bourdon --db "$EXAMPLE_DB" diff baseline '')" = '5 4 3 2 1' ]
	[ "$(words bourdon --db "$EXAMPLE_DB" list --rule '')" = 'interrupted memory disk locks cpu' ]
	[ "$(words bourdon --db "$TREE/tests/exam")" = "$EXAMPLE_DB" ]
	[ -z "$(words bourdon top --limit '')" ]
	[ -z "$(words bourdon --db /nowhere why '')" ]
}

# bats test_tags=no-load,no-root
@test "zsh completes the same" {
	cat > "$BATS_TEST_TMPDIR/complete" <<- 'END'
		# the completion's own functions, with a _describe and a compadd that print
		zsh_complete() { words=("$@") CURRENT=$#; source $FILE; }
		_describe() { print -l -- ${(P)2%%:*}; }
		compadd() { print -l -- ${(P)2}; }
		_files() { print files; }
		zsh_complete "$@"
	END
	completes() {
		FILE=$TREE/report/completion/_bourdon zsh -f "$BATS_TEST_TMPDIR/complete" "$@" 2>&1 | paste -sd ' '
	}
	[[ $(completes bourdon '') == 'list show why '*' doctor db' ]]
	[ "$(completes bourdon db '')" = 'check compact copy merge' ]
	[[ $(completes bourdon why --) == *'--section'*'--version' ]]
	[ "$(completes bourdon flame --kind '')" = 'oncpu offcpu on-cpu off-cpu' ]
	[ "$(completes bourdon --db "$EXAMPLE_DB" why '')" = '5 4 3 2 1' ]
	[ "$(completes bourdon --db "$EXAMPLE_DB" list --rule '')" = 'interrupted memory disk locks cpu' ]
	[ "$(completes bourdon --db '')" = files ]
}

@test "each example of the pages runs" {
	local page example examples=0
	bourdon_setup manual
	cgroup_make
	rule quiet 'comm = nothing' 'cpu.some = 1s/2s'
	write_settings '[activity]' 'interval = 100ms'
	load
	daemon_start
	start lock_hog # on CPU, and waiting for a lock: for I/O only where the disk is slow
	mkdir "$WORK/bin"
	# what an example calls, found as a user's PATH would find it
	ln -s "$BUILD"/bourdon{,d,-load,-grant} /usr/share/perl5/Devel/NYTProf/flamegraph.pl "$WORK/bin/"
	# bourdon writes as the database's owner
	install -d -o nobody -g nogroup "$WORK/files"
	cd "$WORK/files"
	export PATH=$WORK/bin:$PATH BOURDON_DB=$DB BOURDON_RUN_DIR=$RUN_DIR
	for example in 1 2; do
		bourdon capture --pid "$CHILD" --for 1s
	done
	write_settings # which ends a minute of activity
	await_sql 60 'SELECT count(*) > 0 FROM activity_minute' 1
	bourdon db copy copy.db
	bourdon db copy host-a.db 1
	bourdon db copy host-b.db 2
	for page in "$BUILD"/man/bourdon*.1; do
		example=$(sed -n '/^\.SH "EXAMPLE"/,/^\.fi/p' "$page" | grep bourdon | sed 's/\\-/-/g')
		[ "$example" ] || { echo "no example: $page"; false; }
		# the captures, the process and the place of this test instead of a reader's
		example=$(sed -E "s/\b12\b/2/g; s/\b(7|15)\b/1/g; s/4711/$CHILD/; s/30s/1s/; s|/tmp/|$WORK/files/|; s/nginx.service/*/; s/--stall io/--stall none/" <<< "$example")
		[[ $example != *' --live'* ]] || example+=' --once'
		run timeout 60 bash -o pipefail -c "$example"
		[ "$status" -eq 0 ] || { echo "$example: $status: $output"; false; }
		examples=$((examples + 1))
	done
	((examples == $(find "$BUILD/man" -name '*.1' | wc -l)))
	[[ $(head -c 20 why.svg) == '<?xml '* ]]
	[ -s 2.json ]
	bourdond --check-config --rules-dir "$RULES_DIR"
}
