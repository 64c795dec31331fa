#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What make deps does with missing packages (mk/install_packages.sh), beside a dpkg-query and an apt-get that only say what they
# were asked. apt-config is apt's own: APT_CONFIG moves its locks into the test's directory.

# bats file_tags=no-load,no-root

# shellcheck disable=SC2016 # the stand-ins expand their variables
bats_require_minimum_version 1.5.0

# shellcheck disable=SC2016 # as above
setup() {
	TREE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	command -v apt-config > /dev/null || skip 'there is no apt'
	mkdir "$BATS_TEST_TMPDIR/bin"
	cd "$BATS_TEST_TMPDIR" || return
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH APT_CONFIG=$BATS_TEST_TMPDIR/apt.conf ASKED=$BATS_TEST_TMPDIR/asked
	LISTS=$PWD/lists/lock
	mkdir lists archives dpkg
	touch "$LISTS" archives/lock dpkg/lock dpkg/lock-frontend
	printf '%s "%s";\n' Dir::State::lists "$PWD/lists" Dir::Cache::archives "$PWD/archives" \
		Dir::State::status "$PWD/dpkg/status" > apt.conf
	command_is dpkg-query 'echo "there installed"'
	command_is apt-get 'echo "$*" >> "$ASKED"'
	command_is id 'echo "${USER_ID-0}"'
}

teardown() {
	[[ -z ${HOLDER-} ]] || kill "$HOLDER" 2> /dev/null || true
}

# command_is NAME SCRIPT
command_is() {
	printf '#!/bin/sh\n%s\n' "$2" > "bin/$1"
	chmod +x "bin/$1"
}

install_packages() {
	printf '%s\n' 'there   has a reason' 'missing  has another' | "$TREE/mk/install_packages.sh" ${NEEDED:+"$NEEDED"}
}

# hold FILE: HOLDER takes the lock as apt does, until its standard input, HELD, is closed
# shellcheck disable=SC2016 # the dollars are perl's
hold() {
	mkfifo until held
	perl -MFcntl=:DEFAULT,:seek -e 'my $all = pack "s s x4 q q i x4", F_WRLCK, SEEK_SET, 0, 0, 0;
		open my $file, "+<", $ARGV[0]; fcntl $file, F_SETLK, $all or die;
		open my $held, ">", "held"; close $held; open my $until, "<", "until"; <$until>' "$1" 3>&- &
	HOLDER=$!
	: < held
	exec {HELD}> until
}

@test "only what is missing is installed, with its reason; nothing where nothing is" {
	run -0 install_packages
	[[ $output == *'missing: missing (has another)'* && $output != *'has a reason'* ]]
	[ "$(< "$ASKED")" = $'-q update\n-q install -y --no-install-recommends missing' ]
	rm "$ASKED"
	command_is dpkg-query 'printf "%s installed\n" there missing'
	run -0 install_packages
	[ -z "$output" ]
	[ ! -e "$ASKED" ]
}

@test "a package that is removed, but has its configuration left, is missing" {
	command_is dpkg-query 'printf "%s\n" "there installed" "missing config-files"'
	run -0 install_packages
	[[ $output == *'missing: missing (has another)'* ]]
}

@test "an ordinary user is told what root has to install, and goes on; without what is needed, status 3" {
	USER_ID=1000 run -0 install_packages
	[ "$output" = 'missing: missing (has another), which root has to install' ]
	NEEDED=--needed USER_ID=1000 run -3 install_packages
	[ "${lines[1]}" = 'cannot go on without these packages; as root: apt-get install --no-install-recommends missing' ]
	[ ! -e "$ASKED" ]
}

@test "a system without dpkg is told so" {
	mkdir few
	ln -s "$(type -P bash)" "$(type -P env)" "$(type -P mktemp)" "$(type -P rm)" few/
	PATH=$PWD/few run -0 install_packages
	[[ $output == 'this is no Debian: install what mk/dependencies.mk lists'* ]]
}

@test "each of apt's locks is waited for, and the process that holds it is named" {
	local lock
	for lock in "$LISTS" archives/lock dpkg/lock dpkg/lock-frontend; do
		rm -f until held "$ASKED" said
		hold "$lock"
		install_packages > said 2>&1 {HELD}>&- &
		until grep -s 'waiting up to [23][0-9]* s for apt: process '"$HOLDER"' (perl) holds .*'"$lock" said; do sleep 0.05; done
		[ ! -e "$ASKED" ]
		exec {HELD}>&-
		wait "$!" || { cat said; false; }
		grep -q 'install .* missing' "$ASKED"
	done
}

@test "a lock that another process takes between the wait and apt-get is waited for again; another failure is one" {
	command_is apt-get 'echo "$*" >> "$ASKED"
		[ "$(wc -l < "$ASKED")" -gt 1 ] || { echo "E: Could not get lock $PWD/lists/lock" >&2; exit 100; }'
	run -0 install_packages
	[ "$(< "$ASKED")" = $'-q update\n-q update\n-q install -y --no-install-recommends missing' ]
	command_is apt-get 'echo "E: no network" >&2; exit 100'
	run -1 install_packages
	[[ $output == *'E: no network'* ]]
}
