# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages that bourdon needs, each with its reason, by what needs them.
# Each has this name in Debian 12, 13 and sid: no name contains a version.

.PHONY: deps test-deps lint-deps sanitize-deps coverage-deps sbom-deps bench-deps incident-deps vm-deps distro-deps

define BUILD_PACKAGES
gcc              compiles user space
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
libprotobuf-c-dev protocol buffers, which bourdon export writes for pprof and Perfetto
protobuf-c-compiler makes the code that writes them
nettle-dev       SHA-256, of the loaded object and of stacks
liblz4-dev       compresses the intervals off CPU that bourdond keeps for captures to come
systemd          systemd-socket-activate starts bourdon-grant, in the demo and the tests; systemd-analyze judges the units, in the tests
procps           finds the daemon's children, in the demo and the tests
endef

define TEST_PACKAGES
g++              compiles C++ programs whose names and stacks are known
check            unit tests
libexpat1-dev    parses the pictures of bourdon flame, in the unit tests
dwz              makes debug files that share an alternate one
xz-utils         packs symbols into an ELF file, and is a target with threads
binutils         takes symbols out of ELF files, and links them
bats             end-to-end tests
default-jdk-headless a target whose code is compiled while it runs and keeps no frame pointers; one that waits for locks
php-cli          a target whose regular expressions are, the same
golang-go        programs that the tests strip and name, and one that waits for locks; go tool pprof, which reads what bourdon export writes
rustc            a program that waits for locks
postgresql       a server whose sessions wait for each other; for the bench, processes that are forked and talk through sockets
libdevel-nytprof-perl flamegraph.pl, the same
sqlite3          reads the database, and is a target
python3          reads the database
openssl          a target without frame pointers, whose loops are assembler code
bsdextrautils    column, which reads the threads
mandoc           shows the manual pages
zsh              completes command lines, in the tests
tmux             a terminal that the tests drive, for the screen of bourdon threads
perl             a target without frame pointers
jq               reads JSON
libjq-dev        the same within a program of the tests, which waits for a state of bourdond
atop             names who uses the CPUs, beside bourdon
sysstat          pidstat, as atop
libbpf-tools     execsnoop and wakeuptime, which are compared
fio              the same: what it waits for requests to a disk
e2fsprogs        file systems that hang, and the virtual machines'
endef

define NPM_PACKAGES
npm              installs what reads databases, exports and pages in the tests, such as DuckDB and playwright-core; Debian has no packages of them
endef

define PAGE_PACKAGES
chromium         opens the page of bourdon report, in the tests
endef

define LINT_PACKAGES
check            headers of the unit tests
libexpat1-dev    the same
libjq-dev        headers of a program of the tests
clang-format     compares the formatting
clang-tidy       finds mistakes in C
cppcheck         finds others
shellcheck       finds mistakes in scripts
mandoc           finds mistakes in the manual pages
perl             looks for hash tables
endef

define SANITIZE_PACKAGES
libclang-rt-dev  libFuzzer, and clang's sanitizers
perl             unpacks the seeds of make fuzz
endef

define COVERAGE_PACKAGES
lcov             counts the lines
endef

define SBOM_PACKAGES
jq               writes JSON
binutils         tells what was linked
endef

define BENCH_PACKAGES
linux-perf       the profiler whose cost bourdon's is compared with
libc6-dbg        names for perf's stacks of threads, by which complete stacks are recognised
redis-tools      a target of threads; the package contains the server, and starts none when it is installed
valgrind         counts the instructions of naming a capture
gdb              names addresses, beside bourdon
git              packs a repository, as one of the programs of a busy host
nodejs           a program of JavaScript, whose table is large, which begins beside others in part first-second
ruby             the same of Ruby
endef

define INCIDENT_PACKAGES
postgresql       a server, in tests/verdicts/
redis-tools      a server and its clients; the package contains the server
nginx-light      a server; its package starts it where services are started
wrk              clients of servers of HTTP
curl             asks whether these have begun
nodejs           a server, and a hog
stress-ng        a hog
bzip2            a hog
iproute2         a network of two
endef

define VM_PACKAGES
qemu-system-x86  the virtual machines
debootstrap      their root file system
fdisk            partitions their disk
endef

define DISTRO_PACKAGES
debootstrap      the root file system of the other release
endef

LISTS = $(foreach list,BUILD TEST NPM PAGE LINT SANITIZE COVERAGE SBOM BENCH INCIDENT VM DISTRO,$(list)_PACKAGES)
export $(LISTS)
# $(call packages,LIST): names the packages of the list that are missing, and as root installs them
packages = printf '%s\n' "$$$(1)_PACKAGES" | mk/install_packages.sh

## make deps       install the Debian packages that are missing for the build and the demo
deps:
	$(Q)$(call packages,BUILD) --needed

## make test-deps  those for the tests; lint-deps, sanitize-deps, coverage-deps, sbom-deps, bench-deps, incident-deps, vm-deps, distro-deps likewise
test-deps: deps
	$(Q)$(call packages,TEST)

lint-deps: deps
	$(Q)$(call packages,LINT)

sanitize-deps: test-deps
	$(Q)$(call packages,SANITIZE)

coverage-deps: test-deps
	$(Q)$(call packages,COVERAGE)

sbom-deps: deps
	$(Q)$(call packages,SBOM)

bench-deps: test-deps
	$(Q)$(call packages,BENCH)

incident-deps: test-deps
	$(Q)$(call packages,INCIDENT)

vm-deps: test-deps
	$(Q)$(call packages,VM)

distro-deps:
	$(Q)$(call packages,DISTRO)
