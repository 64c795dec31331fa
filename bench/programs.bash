# SPDX-License-Identifier: GPL-2.0-only
#
# Eight of Debian's programs that begin at once, as with a deploy or a restart, and take every CPU. Source bench/lib.bash before.
# shellcheck shell=bash

# command_of NAME: sets COMMAND. They need nothing but a CPU.
# shellcheck disable=SC2016 # perl and PHP expand it
command_of() {
	local programs
	case $1 in
	perl) COMMAND=(/usr/bin/perl -e 'for (;;) { my %seen; $seen{$_ % 100} .= sprintf("%d;", $_) for 1 .. 2000; }') ;;
	python3) COMMAND=(/usr/bin/python3 -c $'import json\nwhile True: json.loads(json.dumps([{str(i): i} for i in range(1000)]))') ;;
	ruby) COMMAND=(/usr/bin/ruby -e 'loop { (1..1000).map { |i| i.to_s * 3 }.sort.join.gsub(/1+/, "one") }') ;;
	php) COMMAND=(/usr/bin/php -n -r 'for (;;) { $a = []; for ($i = 0; $i < 1000; $i++) $a[] = md5((string)$i); sort($a); preg_match_all("/a+/", join($a)); }') ;;
	node) COMMAND=(/usr/bin/node -e 'for (;;) JSON.parse(JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ i, text: "x".repeat(i % 50) }))))') ;;
	java) COMMAND=(/usr/bin/java "$WORK/Busy.java") ;;
	xz) COMMAND=(/usr/bin/xz -T1 -c "$WORK/large") ;;
	postgres)
		programs=(/usr/lib/postgresql/*/bin/postgres)
		COMMAND=(/usr/bin/setpriv --reuid postgres --regid postgres --init-groups "${programs[-1]}" --single -D "$WORK/postgres/data" postgres)
		;;
	esac
}

PROGRAMS=(perl python3 ruby php node java xz postgres)

write_java() {
	printf '%s\n' 'import java.util.*;' 'class Busy { public static void main(String[] a) { for (long n = 0;; n++) {' \
		'Map<String, Long> m = new TreeMap<>(); for (long i = 0; i < 1000; i++) m.merge("k" + i * n % 97, i, Long::sum); } } }' > "$WORK/Busy.java"
}

programs_prepare() {
	local programs=(/usr/lib/postgresql/*/bin)
	write_java
	# more than any round can compress
	head -c 300M /dev/urandom > "$WORK/large"
	echo "SELECT count(*) FROM generate_series(1, 1000000000) g WHERE md5(g::text) LIKE 'a%';" > "$WORK/postgres.sql"
	chmod o+x "$WORK"
	install -d -o postgres -g postgres -m 0700 "$WORK/postgres"
	(cd / && setpriv --reuid postgres --regid postgres --init-groups "${programs[-1]}/initdb" -D "$WORK/postgres/data" -A trust) \
		> "$WORK/initdb.log"
}

# programs_begin: starts all of them that are installed; each waits to execute its program until all are there.
programs_begin() {
	local name gate
	mkfifo "$WORK/gate"
	for name in "${PROGRAMS[@]}"; do
		command_of "$name"
		[[ -x ${COMMAND[0]} ]] || { doing "$name is not installed"; continue; }
		(
			echo "$BASHPID" > "$CGROUP2/$CGROUP/cgroup.procs"
			read -r _ < "$WORK/gate" || true
			exec "${COMMAND[@]}"
		) > /dev/null 2> "$WORK/first-$name.log" 3>&- < "$([[ $name == postgres ]] && echo "$WORK/postgres.sql" || echo /dev/null)" &
		CHILDREN+=($!)
	done
	sleep 0.5 # all of them wait
	exec {gate}> "$WORK/gate"
	BEGAN=$(date +%s%N)
	exec {gate}>&-
	rm "$WORK/gate"
}
