# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages that bourdon needs, each with its reason.
# Each has this name in Debian 12, 13 and sid: no name contains a version. MORE_DEPENDENCIES adds lines of
# this form.

.PHONY: deps

define DEPENDENCIES
gcc              compiles user space
g++              compiles the C++ programs of the tests
make             builds
libc6-dev        the C library, and the kernel's headers
clang            compiles the in-kernel programs
bpftool          links them into one object, and makes its skeleton
libbpf-dev       loads them, and reads their maps
libelf-dev       symbols of ELF files, in the symbolizer
libdw-dev        DWARF, and links from ELF files to their debug files, in the symbolizer
liblzma-dev      unpacks the symbols that some ELF files carry packed (.gnu_debugdata), in the symbolizer
zlib1g-dev       the CRC by which a file names its debug file (.gnu_debuglink), in the symbolizer; compresses what bourdon export writes for pprof
libiberty-dev    demangles names of C++ and Rust functions, in the symbolizer
libcap-ng-dev    gives capabilities up
libseccomp-dev   compiles the system-call policies (at build time)
libsqlite3-dev   the database
libinih-dev      reads INI files
libncurses-dev   the live screen of bourdon threads
libprotobuf-c-dev protocol buffers, which bourdon export writes for pprof
protobuf-c-compiler makes the code that writes them
nettle-dev       SHA-256, of the loaded object and of stacks
check            unit tests
dwz              makes debug files that share an alternate one, in the tests
xz-utils         packs symbols into an ELF file, and is a target with threads, in the tests
binutils         takes symbols out of ELF files, and links them, in the tests; tells what was linked, for make sbom
bats             end-to-end tests
default-jdk-headless a target whose code is compiled while it runs and keeps no frame pointers, in the tests
php-cli          a target whose regular expressions are, the same
golang-go        programs that the tests strip and name; go tool pprof, which reads what bourdon export writes
libdevel-nytprof-perl flamegraph.pl, the same
sqlite3          reads the database, and is a target, in the tests
python3          reads the database, in the tests; with make bench, a target that is partly compiled without frame pointers
openssl          a target without frame pointers, whose loops are assembler code, in the tests
bsdextrautils    column, which reads the threads, in the tests
tmux             a terminal that the tests drive, for the screen of bourdon threads
perl             a target without frame pointers, in the tests; unpacks the seeds of make fuzz; looks for hash tables in make lint
jq               reads JSON, in the tests; writes it, for make sbom
libjq-dev        the same within a program of the tests, which waits for a state of bourdond
systemd          systemd-socket-activate starts bourdon-grant, systemd-analyze judges the units, in the tests and the demo
atop             names who uses the CPUs, beside bourdon in the tests and in make bench
sysstat          pidstat, as atop
libbpf-tools     execsnoop and wakeuptime, compared in the tests; with make bench offcputime, whose cost of a context switch is compared
procps           finds the daemon's children, in the tests
e2fsprogs        file systems that hang, and the virtual machines', in the tests
libclang-rt-dev  libFuzzer, and clang's sanitizers: make fuzz, make sanitize, make tsan
lcov             make coverage
clang-format     make lint
clang-tidy       make lint
cppcheck         make lint
shellcheck       make lint
endef
export DEPENDENCIES

define BENCH_DEPENDENCIES
linux-perf       the profiler whose cost bourdon's is compared with
libc6-dbg        names for perf's stacks of threads, by which complete stacks are recognised
postgresql       a target of processes that are forked and talk through sockets
redis-tools      a target of threads; the package contains the server, and starts none when it is installed
valgrind         counts the instructions of naming a capture
nodejs           a program of JavaScript, whose table is large, which begins beside others in part first-second
ruby             the same of Ruby
endef
export BENCH_DEPENDENCIES

define VM_DEPENDENCIES
qemu-system-x86  the virtual machines
debootstrap      their root file system
fdisk            partitions their disk
endef
export VM_DEPENDENCIES

## make deps       install the Debian packages that are missing
deps:
	@printf '%s\n' "$$DEPENDENCIES" "$${MORE_DEPENDENCIES-}" | { missing=; \
	while read -r package reason; do \
		[ -n "$$package" ] || continue; \
		dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q ' installed$$' && continue; \
		echo "missing: $$package ($$reason)"; missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; }; }
