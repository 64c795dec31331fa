# SPDX-License-Identifier: GPL-2.0-only
#
#   make            build everything into build/
#   make demo       as root: install what is missing, then one real capture from load to unload
#   make test       as root: install what is missing, then every test that this machine can run
#   make install    as root: binaries, units and a configuration; PREFIX=/usr, DESTDIR=DIR, PRIVATE_BPFFS=yes
#   make help       the other targets

.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)';)

CC ?= gcc
ifeq ($(origin CC),default)
CC = gcc
endif
CLANG = clang
BPFTOOL = $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)
B = build

ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wformat=2 -Werror
HARDENING = -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fcf-protection
OPTIMIZE = -O2 -g
CPPFLAGS += -D_GNU_SOURCE -I. -I$(B) -isystem $(B)/skeleton
CFLAGS += -std=gnu11 $(OPTIMIZE) $(WARNINGS) $(HARDENING) -pthread
LDFLAGS += -pie -Wl,-z,relro,-z,now -Wl,--as-needed -pthread
LIBS = -lbpf -lelf -ldw -llzma -lz -liberty -lcap-ng -lsqlite3 -linih -lnettle

BPF_FLAGS = -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror \
	-Wno-unused-parameter -I. $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))

# SECCOMP_LOG=1: a build whose policies forbid nothing, and that names each call which they lack
SECCOMP := common/$(if $(SECCOMP_LOG),seccomp_log,seccomp).c
COMMON := $(filter-out common/seccomp.c common/seccomp_log.c,$(wildcard common/*.c)) $(SECCOMP)
LOADER := $(filter-out loader/main.c,$(wildcard loader/*.c))
GRANT := $(filter-out loader/grant/main.c,$(wildcard loader/grant/*.c))
CONSUMER := $(filter-out consumer/main.c,$(wildcard consumer/*.c consumer/*/*.c))
REPORT := $(filter-out report/main.c,$(wildcard report/*.c))
UNIT := $(wildcard tests/unit/*.c)
UNWIND = pie no_pie static static_pie far_text stripped frame_pointers no_tables no_tables_fp plugin lazy lazy_ibt jit objects
WORKLOADS := $(patsubst tests/workloads/%.c,$(B)/workloads/%,$(wildcard tests/workloads/*.c)) \
	$(B)/workloads/hostile_stripped $(UNWIND:%=$(B)/workloads/unwind_%) \
	$(patsubst tests/workloads/%.cc,$(B)/workloads/%,$(wildcard tests/workloads/*.cc))
TOOLS := $(patsubst tests/tools/%.c,$(B)/tools/%,$(wildcard tests/tools/*.c))
BENCHES := $(addprefix $(B)/bench/,reference bpf_cost timed drain commit walks exec_load exec_latency crossing \
	unwind_table)
POLICIES := $(patsubst policy/%.seccomp,$(B)/policy/%.h,$(wildcard policy/*.seccomp))
BINARIES = $(B)/bourdon-load $(B)/bourdon-grant $(B)/bourdond $(B)/bourdon

objects = $(patsubst %.c,$(B)/object/%.o,$(1))

.PHONY: all workloads tests benches deps demo test test-vm install uninstall next logging bench compilers sanitize fuzz fuzzers coverage lint format clean help always
all: $(BINARIES)
workloads: $(WORKLOADS)
tests: workloads $(TOOLS) $(B)/unit
benches: workloads $(BENCHES) $(B)/bench/exec_child

help:
	@sed -n 's/^# \{0,1\}//; 3,7p' Makefile
	@echo '  make test-vm    the same tests in virtual machines, under Linux 6.1 and 6.12; KERNEL=6.12 that one'
	@echo '  make SECCOMP_LOG=1  a build that forbids no system call, and names those which the policies lack'
	@echo '  make uninstall  what was installed; configuration and database stay'
	@echo '  make deps       install the Debian packages that are missing'
	@echo '  make bench      as root: measure beside the budgets; PART=NAME one part, WRITE=1 into bench/README.md'
	@echo '  make lint       formatting, clang-tidy, cppcheck, shellcheck'
	@echo '  make compilers  build with gcc and with clang, neither of which may warn'
	@echo '  make sanitize   the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo '  make fuzz       every parser on hostile input, FUZZ_SECONDS=20 each'
	@echo '  make coverage   which lines the unit tests reach'
	@echo '  make format     write the formatting'
	@echo '  make clean      remove build/'

# ---- Debian packages, each with its reason ----

define DEPENDENCIES
gcc              compiles user space
g++              compiles programs in C++ whose stacks are known, in the tests
make             builds
libc6-dev        the C library, and the kernel's headers
clang            compiles the in-kernel programs
bpftool          links them into one object, and makes its skeleton
libbpf-dev       loads them, and reads their maps
libelf-dev       symbols of ELF files, in the symbolizer
libdw-dev        DWARF, and what ELF files say of each other, in the symbolizer
liblzma-dev      unpacks the symbols that some ELF files carry packed (.gnu_debugdata), in the symbolizer
zlib1g-dev       the CRC by which a file names its debug file (.gnu_debuglink), in the symbolizer
libiberty-dev    names of C++ and Rust functions as they were written, in the symbolizer
libcap-ng-dev    gives capabilities up
libseccomp-dev   compiles the system-call policies (at build time)
libsqlite3-dev   the database
libinih-dev      reads INI files
nettle-dev       SHA-256, of the loaded object and of stacks
check            unit tests
g++              a program with inlined functions and templates, which the tests look for
dwz              makes debug files that share an alternate one, in the tests
xz-utils         packs symbols into an ELF file, in the tests
binutils         takes symbols out of ELF files, and links them, in the tests
bats             end-to-end tests
sqlite3          reads the database, in the tests; and is a target of theirs
openssl          a target without frame pointers, whose loops are assembler code, in the tests
perl             a target without frame pointers, in the tests
xz-utils         another, with threads
jq               reads JSON, in the tests
systemd          systemd-socket-activate starts bourdon-grant, systemd-analyze judges the units, in the tests and the demo
procps           finds the daemon's children, in the tests
e2fsprogs        file systems that hang, and the virtual machines', in the tests
libclang-rt-dev  libFuzzer, and clang's sanitizers: make fuzz, make sanitize
lcov             make coverage
clang-format     make lint
clang-tidy       make lint
cppcheck         make lint
shellcheck       make lint
endef
export DEPENDENCIES

# And what only make bench needs.
define BENCH_DEPENDENCIES
linux-perf       what bourdon's cost is held against
libbpf-tools     offcputime, which its cost of a context switch is held against
libc6-dbg        the names by which perf's stacks of threads are known to be whole
libllvm14        a large file to make an unwind table of
python3          a target without frame pointers, in part stock
postgresql       another, whose processes are forked and talk through sockets
redis-tools      another, whose threads do; it has the server, too, and starts none when it is installed
endef
export BENCH_DEPENDENCIES

# And what only make test-vm needs.
define VM_DEPENDENCIES
qemu-system-x86  the virtual machines
debootstrap      their root file system
fdisk            partitions their disk
endef
export VM_DEPENDENCIES

deps:
	@printf '%s\n' "$$DEPENDENCIES" "$${MORE_DEPENDENCIES-}" | { missing=; \
	while read -r package reason; do \
		[ -n "$$package" ] || continue; \
		dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q ' installed$$' && continue; \
		echo "missing: $$package ($$reason)"; missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; }; }

# Built by a make of its own: what deps installs is not there yet when this one reads its variables.
demo: deps
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)tests/e2e/demo.sh

test: deps
	$(Q)$(MAKE) --no-print-directory all tests next logging
	$(Q)tests/run.sh

# Debian's own kernels; what is downloaded stays under build/vm
KERNEL = 6.1 6.12
VM_IMAGES = $(B)/vm/root.img $(KERNEL:%=$(B)/vm/%/vmlinuz)

test-vm:
	$(Q)MORE_DEPENDENCIES="$$VM_DEPENDENCIES" $(MAKE) --no-print-directory deps
	$(Q)$(MAKE) --no-print-directory all tests next logging $(VM_IMAGES)
	$(Q)tests/vm/run.sh $(KERNEL)

$(B)/vm/root.img: tests/vm/make_root.sh
	$(call say,ROOT,$@) $< $@

$(B)/vm/%/vmlinuz: tests/vm/get_kernel.sh
	$(call say,KERNEL,$@) $< $* $@

# ---- installation: of what is built, as it is; nothing is compiled by root ----

PREFIX = /usr/local
DESTDIR =
# yes: pins on a BPF file system of their own, /run/bourdon/bpf
PRIVATE_BPFFS =

BINDIR = $(PREFIX)/bin
SBINDIR = $(PREFIX)/sbin
LIBEXECDIR = $(PREFIX)/libexec/bourdon
DOCDIR = $(PREFIX)/share/doc/bourdon
UNITDIR = $(PREFIX)/lib/systemd/system
CONFDIR = /etc/bourdon

UNITS = bourdon-load.service bourdond.service bourdon-grant.socket bourdon-grant@.service
PRIVATE_MOUNT = run-bourdon-bpf.mount
PRIVATE_UNITS = bourdon-load.service bourdond.service bourdon-grant@.service
private_drop_in = $(UNITDIR)/$(1).d/private-bpffs.conf

# SOURCE:PATH:MODE
INSTALLED = \
	$(B)/bourdon:$(BINDIR)/bourdon:755 \
	$(B)/bourdond:$(SBINDIR)/bourdond:755 \
	$(B)/bourdon-load:$(SBINDIR)/bourdon-load:755 \
	$(B)/bourdon-grant:$(LIBEXECDIR)/bourdon-grant:755 \
	systemd/sysusers.conf:$(PREFIX)/lib/sysusers.d/bourdon.conf:644 \
	systemd/tmpfiles.conf:$(PREFIX)/lib/tmpfiles.d/bourdon.conf:644 \
	systemd/sysctl.conf:$(PREFIX)/lib/sysctl.d/10-bourdon.conf:644 \
	$(foreach unit,$(UNITS),$(wildcard systemd/$(unit) systemd/$(unit).in):$(UNITDIR)/$(unit):644) \
	$(foreach file,$(DOCUMENTS),$(file):$(DOCDIR)/$(file):644) \
	$(foreach file,$(EXAMPLES),$(file):$(DOCDIR)/examples/$(notdir $(file)):644)
# as they lie here, so that their links lead somewhere
DOCUMENTS = README.md LICENSE $(wildcard docs/*.md) policy/policy.conf
EXAMPLES = $(wildcard systemd/examples/* systemd/bourdon.conf)
PRIVATE_INSTALLED = \
	systemd/private-bpffs/$(PRIVATE_MOUNT).in:$(UNITDIR)/$(PRIVATE_MOUNT):644 \
	$(foreach unit,$(PRIVATE_UNITS),systemd/private-bpffs/$(unit).in:$(call private_drop_in,$(unit)):644)
# never over what is there
CONFIGURATION = systemd/bourdon.conf:$(CONFDIR)/bourdon.conf:644 \
	$(foreach file,$(wildcard policy/policy.conf),$(file):$(CONFDIR)/$(notdir $(file)):644)

# $(call put,SOURCE:PATH:MODE): what is named *.in says where others lie.
put = $(call put_file,$(word 1,$(subst :, ,$(1))),$(DESTDIR)$(word 2,$(subst :, ,$(1))),$(word 3,$(subst :, ,$(1))))
define put_file
	$(Q)install -D -m $(3) $(1) $(2)
	$(if $(filter %.in,$(1)),$(Q)sed -i 's|@SBINDIR@|$(SBINDIR)|; s|@LIBEXECDIR@|$(LIBEXECDIR)|; s|@DOCDIR@|$(DOCDIR)|g' $(2))

endef
put_new = $(if $(wildcard $(DESTDIR)$(word 2,$(subst :, ,$(1)))),,$(call put,$(1)))
remove = $(Q)rm -f $(foreach file,$(1),$(DESTDIR)$(word 2,$(subst :, ,$(file))))
# only where these files are the running system's
on_this_system = $(Q)[ -n '$(DESTDIR)' ] || ! [ -d /run/systemd/system ] || { $(1); }

install:
	$(Q)ls $(BINARIES) > /dev/null || { echo 'make install: run make first, as yourself' >&2; exit 1; }
	$(Q)! grep -q log $(B)/policy/mode || { echo 'make install: this build confines nothing: SECCOMP_LOG=1' >&2; exit 1; }
	$(foreach file,$(INSTALLED) $(if $(PRIVATE_BPFFS),$(PRIVATE_INSTALLED)),$(call put,$(file)))
	$(if $(PRIVATE_BPFFS),,$(call remove,$(PRIVATE_INSTALLED)))
	$(Q)install -d -m 755 $(DESTDIR)$(CONFDIR)/rules.d
	$(foreach file,$(CONFIGURATION),$(call put_new,$(file)))
	$(call on_this_system,systemd-sysusers $(PREFIX)/lib/sysusers.d/bourdon.conf && \
		systemd-tmpfiles --create $(PREFIX)/lib/tmpfiles.d/bourdon.conf && systemctl daemon-reload)

# Configuration, database, users and what they own stay: an administrator's, all of it.
LOADED = /sys/fs/bpf/bourdon /run/bourdon/bpf/bourdon
uninstall:
	$(call on_this_system,systemctl disable --quiet --now bourdond.service bourdon-grant.socket bourdon-load.service || true)
	$(call on_this_system,! ls -d $(LOADED) 2> /dev/null | grep -q . || { echo 'make uninstall: still loaded; see journalctl -u bourdon-load' >&2; exit 1; })
	$(call on_this_system,systemctl --quiet stop $(PRIVATE_MOUNT) 2> /dev/null || true)
	$(call on_this_system,rm -rf /run/bourdon-grant /run/bourdon-grant.sock; rmdir --ignore-fail-on-non-empty /run/bourdon/pins /run/bourdon/bpf /run/bourdon 2> /dev/null || true)
	$(call remove,$(INSTALLED) $(PRIVATE_INSTALLED))
	$(Q)rmdir --ignore-fail-on-non-empty $(wildcard $(addprefix $(DESTDIR),$(LIBEXECDIR) $(addprefix $(DOCDIR)/,docs examples policy) $(DOCDIR) \
		$(dir $(foreach unit,$(PRIVATE_UNITS),$(call private_drop_in,$(unit)))))) 2> /dev/null || true
	$(call on_this_system,systemctl daemon-reload)

bench:
	$(Q)MORE_DEPENDENCIES="$$BENCH_DEPENDENCIES" $(MAKE) --no-print-directory deps
	$(Q)$(MAKE) --no-print-directory all benches
	$(Q)bench/run.sh $(if $(WRITE),--write) $(PART)

# ---- in-kernel programs: one object of all of them, and its skeleton ----

BPF := $(wildcard bpf/*.bpf.c)
# maps.bpf.o comes first: libbpf 1.1's linker drops a map whose first mention is extern
BPF_OBJECTS := $(patsubst bpf/%.c,$(B)/bpf/%.o,bpf/maps.bpf.c $(filter-out bpf/maps.bpf.c,$(BPF)))

$(B)/bpf/%.o: bpf/%.c
	@mkdir -p $(@D)
	$(call say,BPF,$<) $(CLANG) $(BPF_FLAGS) -MMD -MP -c $< -o $@

$(B)/bourdon.bpf.o: $(BPF_OBJECTS)
	$(call say,LINK,$@) $(BPFTOOL) gen object $@ $^

$(B)/skeleton/bourdon.skel.h: $(B)/bourdon.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@) $(BPFTOOL) gen skeleton $< name bourdon_bpf > $@

# What the doctor compares a load with.
$(B)/skeleton/object_sha256.h: $(B)/bourdon.bpf.o
	@mkdir -p $(@D)
	$(call say,SHA256,$@) sha256sum < $< | sed 's/\([0-9a-f]*\).*/#define OBJECT_SHA256 "\1"/' > $@

# ---- system-call policies: text in policy/, compiled to BPF here, so that no binary needs libseccomp ----

# What the small tools share with the binaries.
BASICS := $(call objects,common/options.c common/log.c common/escape.c common/units.c)

$(B)/compile_seccomp: $(call objects,policy/compile_seccomp.c) $(BASICS)
	$(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $^ -lseccomp -o $@

SECCOMP_FLAGS = $(if $(SECCOMP_LOG),--log)
$(B)/policy/%.h: policy/%.seccomp $(B)/compile_seccomp $(B)/policy/mode
	@mkdir -p $(@D)
	$(call say,POLICY,$<) $(B)/compile_seccomp $(SECCOMP_FLAGS) $* < $< > $@

# The option may be another one than that of the last build.
$(B)/policy/mode: always
	@mkdir -p $(@D)
	$(Q)echo '$(SECCOMP_FLAGS)' | cmp -s - $@ || echo '$(SECCOMP_FLAGS)' > $@

$(B)/policy/call_names.h: $(B)/compile_seccomp
	@mkdir -p $(@D)
	$(call say,NAMES,$@) $< --names > $@

# ---- user space ----

$(B)/object/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(call objects,$(LOADER)): $(B)/skeleton/bourdon.skel.h
$(call objects,consumer/main.c $(CONSUMER) loader/main.c loader/grant/main.c $(UNIT)): | $(POLICIES)
$(call objects,report/loaded.c): $(B)/skeleton/object_sha256.h
$(B)/object/common/schema.o: common/schema.sql
$(B)/object/common/seccomp_log.o: $(B)/policy/call_names.h

link = $(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(LIBS) -o $@

$(B)/bourdon-load: $(call objects,loader/main.c $(LOADER) $(COMMON))
	$(link)
# Privileged, and started by what others send: no more is linked into it than it uses.
GRANT_COMMON := common/grant_request.c common/grant_counters.c common/cgroup.c \
	common/files.c common/pass_fd.c common/pins.c common/psi.c $(SECCOMP)
$(B)/bourdon-grant: LIBS = -lcap-ng
$(B)/bourdon-grant: $(call objects,loader/grant/main.c $(GRANT) $(GRANT_COMMON)) $(BASICS)
	$(link)
$(B)/bourdond: $(call objects,consumer/main.c $(CONSUMER) $(COMMON))
	$(link)
# it reads debug files as bourdond does: in a process that can do nothing else
SYMBOLIZER := $(wildcard consumer/symbolizer/*.c) consumer/process/privilege.c consumer/symbols/debug_files.c
$(B)/bourdon: $(call objects,report/main.c $(REPORT) $(SYMBOLIZER) $(COMMON))
	$(link)

# ---- tests ----

$(B)/unit: LIBS += -lcheck -lsubunit -lrt -lm
$(B)/unit: $(call objects,$(UNIT) $(LOADER) $(GRANT) $(CONSUMER) $(REPORT) $(COMMON)) | $(B)/compile_seccomp $(B)/symbols/made
	$(link)

# A profile must find the workloads' functions under their own names, with frame pointers.
FRAME_POINTERS = -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
WORKLOAD_FLAGS = $(FRAME_POINTERS) -fno-optimize-sibling-calls
$(B)/workloads/%: tests/workloads/%.c $(BASICS)
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) $(WORKLOAD_FLAGS) $(LDFLAGS) -MMD -MP -MF $@.d $< $(BASICS) -o $@

# A build id of bytes that a terminal would obey, or SQL, or a browser; and a program that has its symbols elsewhere.
$(B)/workloads/hostile: WORKLOAD_FLAGS += -Wl,--build-id=0x1b5d303b78073c7363726970743e27220affc29b
$(B)/workloads/hostile_stripped: $(B)/workloads/hostile
	$(call say,STRIP,$@) strip -o $@ $<

# Programs whose every stack is known, from tests/workloads/unwind/: one main source in many builds, then others.
# Without frame pointers or DWARF, as Debian ships, and without gaps between functions: behind the end of one is another.
UNWIND_CFLAGS = $(filter-out -std=gnu11 -Wstrict-prototypes,$(CFLAGS)) -g0 -fPIE -fno-align-functions
UNWIND_no_pie = -fno-pie -no-pie
UNWIND_static = -fno-pie -static
UNWIND_static_pie = -static-pie
# its text lies elsewhere, relative to its first byte, than in the file
UNWIND_far_text = -fno-pie -no-pie -Wl,--section-start=.text=0x10000000
UNWIND_frame_pointers = $(FRAME_POINTERS)
UNWIND_no_tables = -fno-asynchronous-unwind-tables -fno-unwind-tables -g0
UNWIND_no_tables_fp = $(UNWIND_no_tables) $(FRAME_POINTERS)
UNWIND_plugin_b = -DPLUGIN_ROOM=3000
UNWIND_lazy = -fcf-protection=none -Wl,-z,lazy -Wl,-rpath,'$$ORIGIN'
UNWIND_lazy_ibt = -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt -Wl,-rpath,'$$ORIGIN'
UNWIND_objects = -lstdc++
UNWIND_SOURCE_plugin = plugin.c
UNWIND_SOURCE_plugin_a = plugin_library.c
UNWIND_SOURCE_plugin_b = plugin_library.c
UNWIND_SOURCE_lazy = lazy.c
UNWIND_SOURCE_lazy_ibt = lazy.c
UNWIND_SOURCE_jit = jit.c
UNWIND_SOURCE_objects = objects.cc
UNWIND_PATH = tests/workloads/unwind

$(UNWIND:%=$(B)/workloads/unwind_%): $(B)/workloads/unwind_%: $(wildcard $(UNWIND_PATH)/*) $(BASICS)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(CC) $(CPPFLAGS) $(UNWIND_CFLAGS) $(UNWIND_PATH)/$(or $(UNWIND_SOURCE_$*),frames.c) \
		$(UNWIND_PATH)/run.c $(UNWIND_PATH)/chain.c $(filter %.o %.so,$^) \
		$(filter-out $(if $(findstring static,$*),-pie),$(LDFLAGS)) $(UNWIND_$*) -o $@
	$(if $(filter stripped,$*),$(Q)cd $(@D) && objcopy --only-keep-debug $(@F) $(@F).debug && \
		objcopy --strip-all --add-gnu-debuglink=$(@F).debug $(@F))

$(B)/workloads/unwind_lazy $(B)/workloads/unwind_lazy_ibt: $(B)/workloads/unwind_lazy_library.so
$(B)/workloads/unwind_plugin: | $(B)/workloads/unwind_plugin_a.so $(B)/workloads/unwind_plugin_b.so
UNWIND_LIBRARIES = $(addprefix $(B)/workloads/unwind_,lazy_library.so plugin_a.so plugin_b.so)
$(UNWIND_LIBRARIES): $(B)/workloads/unwind_%.so: $(wildcard $(UNWIND_PATH)/*)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(CC) $(CPPFLAGS) $(UNWIND_CFLAGS) -fPIC $(UNWIND_$*) -shared -Wl,-soname,$(@F) \
		$(UNWIND_PATH)/$(or $(UNWIND_SOURCE_$*),$*.c) -o $@

$(B)/workloads/%: tests/workloads/%.cc
	@mkdir -p $(@D)
	$(call say,CXX,$<) $(CXX) -std=c++17 $(OPTIMIZE) -Wall -Wextra -Werror -fPIE $(WORKLOAD_FLAGS) -pie -MMD -MP -MF $@.d $< -o $@

# That program once more, in every way in which symbols come. Not by the compilers of this build: its answers are known.
$(B)/symbols/made: tests/make_symbols.sh tests/cyclic.s tests/workloads/inlines.cc
	$(call say,SYMBOLS,$(@D)) CXX=g++ CLANG=$(CLANG) $< tests/workloads/inlines.cc $(@D) && touch $@

TOOL_OBJECTS := $(BASICS) $(call objects,common/pins.c)
$(B)/tools/%: tests/tools/%.c $(TOOL_OBJECTS)
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d $< $(TOOL_OBJECTS) -lbpf -lseccomp -o $@

# The version after this one, or before it, as far as one can tell the other: another ABI, another schema.
OTHER_VERSION = -DBOURDON_ABI=1000U -DSCHEMA_VERSION=1000
next: | $(BINARIES)
	$(Q)CPPFLAGS='$(OTHER_VERSION)' $(MAKE) --no-print-directory B=$(B)/next all

# And one that forbids nothing, but says so.
logging: | $(BINARIES)
	$(Q)$(MAKE) --no-print-directory B=$(B)/logging SECCOMP_LOG=1 all

# ---- benchmarks ----

$(B)/bench/%.bpf.o: bench/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<) $(CLANG) $(BPF_FLAGS) -MMD -MP -c $< -o $@

$(B)/skeleton/reference.skel.h: $(B)/bench/reference.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@) $(BPFTOOL) gen skeleton $< name reference_bpf > $@

$(B)/object/bench/reference.o: $(B)/skeleton/reference.skel.h
BENCH_SHARED := $(call objects,bench/program_stats.c bench/made_samples.c $(CONSUMER) $(COMMON))
$(BENCHES): LIBS += -lm
.SECONDARY: $(BENCHES:$(B)/bench/%=$(B)/object/bench/%.o) $(BENCH_SHARED)
$(B)/bench/%: $(B)/object/bench/%.o $(BENCH_SHARED)
	@mkdir -p $(@D)
	$(link)

# An exec should cost little beside what it is measured for: no loader, no libraries.
$(B)/bench/exec_child: bench/exec_child.c common/clock.h
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) -static $< -o $@

# ---- builds that catch: each a make of its own, in a directory of its own below build/ ----

elsewhere = $(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

compilers:
	$(elsewhere) CC=gcc B=$(B)/gcc all tests benches
	$(elsewhere) CC=clang B=$(B)/clang all tests benches
	@echo 'compilers: no warnings'

# By clang, whose sanitizers are one runtime; without _FORTIFY_SOURCE, whose functions they do not see into.
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FINDINGS = $(abspath $(B))/sanitize/finding
ASAN = detect_leaks=1:detect_stack_use_after_return=1:allow_addr2line=1
sanitize: export ASAN_OPTIONS = $(ASAN)
# libdw takes as much memory as a file says; the symbolizer has a limit, which AddressSanitizer cannot live with
fuzz: export ASAN_OPTIONS = $(ASAN):max_allocation_size_mb=32:allocator_may_return_null=1
sanitize fuzz: export UBSAN_OPTIONS = print_stacktrace=1
sanitize coverage: export CK_TIMEOUT_MULTIPLIER = 10

# A finding is a file: the tests do not see how every child of theirs ends.
sanitize:
	$(elsewhere) CC=$(CLANG) OPTIMIZE='$(SANITIZE)' HARDENING=-fPIE B=$(B)/sanitize $(B)/sanitize/unit
	$(Q)rm -f $(FINDINGS).*
	$(Q)ASAN_OPTIONS=$$ASAN_OPTIONS:log_path=$(FINDINGS) $(B)/sanitize/unit; status=$$?; ! cat $(FINDINGS).* 2>/dev/null && exit $$status

FUZZ_SECONDS ?= 20
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))

fuzz:
	$(elsewhere) CC=$(CLANG) OPTIMIZE='$(SANITIZE) -fsanitize=fuzzer-no-link' HARDENING=-fPIE B=$(B)/fuzz fuzzers
	$(Q)CC=gcc CLANG=$(CLANG) tests/fuzz/run.sh $(B)/fuzz $(FUZZ_SECONDS)

fuzzers: $(FUZZERS) $(B)/make_seeds

# An archive, so that a target has what it needs and no more: its coverage says something then.
$(B)/product.a: $(call objects,$(CONSUMER) $(COMMON))
	$(call say,AR,$@) rm -f $@ && ar crs $@ $^

$(FUZZERS): $(B)/fuzz_%: $(B)/object/tests/fuzz/fuzz_%.o $(B)/product.a
	$(call say,LINK,$@) $(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ $(LIBS) -o $@

$(B)/make_seeds: $(call objects,tests/fuzz/make_seeds.c) $(BASICS)
	$(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

coverage:
	$(elsewhere) CC=gcc OPTIMIZE='-O0 -g --coverage -fprofile-update=atomic' HARDENING=-fPIE B=$(B)/coverage \
		$(B)/coverage/unit
	$(Q)tests/coverage.sh $(B)/coverage

# ---- tools ----

SOURCES := $(shell find bpf loader consumer report common policy tests bench -name '*.[ch]' -o -name '*.cc' 2>/dev/null)
SCRIPTS := $(wildcard tests/*.sh tests/fuzz/*.sh tests/vm/*.sh tests/vm/*.bats tests/e2e/*.sh tests/e2e/*.bash \
	tests/e2e/*.bats bench/*.sh bench/*.bash bench/parts/*.sh .ci/run)

format:
	$(Q)clang-format -i $(SOURCES)

TIDY = $(filter-out %.bpf.c,$(filter %.c,$(SOURCES)))
lint: $(B)/skeleton/bourdon.skel.h $(B)/skeleton/object_sha256.h $(B)/skeleton/reference.skel.h $(POLICIES) $(B)/policy/call_names.h
	$(Q)clang-format --dry-run --Werror $(SOURCES)
	$(Q)shellcheck -x $(SCRIPTS)
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppressions-list=.cppcheck -I. -D_GNU_SOURCE -D__x86_64__ \
		'-DLIBBPF_OPTS(type,name,...)=struct type name' $(TIDY)
	$(Q)printf '%s\n' $(TIDY) | xargs -P 4 -n 8 sh -c \
		'clang-tidy --quiet "$$@" -- -std=gnu11 $(CPPFLAGS) 2>/dev/null' clang-tidy
	@echo 'lint: clean'

clean:
	$(Q)rm -rf $(B)

-include $(shell find $(B) -path $(B)/vm -prune -o -name '*.d' -print 2>/dev/null)
