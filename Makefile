# SPDX-License-Identifier: GPL-2.0-only
#
# The main targets and every variable that several parts share. Each part is a file in mk/.
# Lines that begin with two number signs are the text of `make help`.
#
## make            build everything into build/
## make demo       as root: install the missing packages, build, and explain one real capture, from load to unload
## make test       as root: install the missing packages, then run the tests that this machine can run
## make test-repeat N=3  as root: the tests N times beside other load and a second run of themselves, and what failed how often
## make test-all   as root: everything there is, some hours; docs/HACKING.md has a table of it
## make install    as root: binaries, units and a configuration; PREFIX=/usr, SYSCONFDIR=/etc, DESTDIR=DIR, PRIVATE_BPFFS=yes
## make uninstall  remove what was installed; configuration and database stay
## make SECCOMP_LOG=1  a build that forbids no system call, and names those that the policies lack

.DELETE_ON_ERROR:
.PHONY: all workloads tests benches help demo test test-repeat test-all prepared clean always
MAKEFLAGS += --no-builtin-rules

B = build
ifeq ($(origin CC),default)
CC = gcc
endif
CLANG = clang
BPFTOOL = $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)

# A warning does not stop a user's build: another compiler version may warn of more. WERROR=-Werror makes it an error.
WERROR =
WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wformat=2 $(WERROR)
# $(call supported,FLAG...) is these flags if the compiler knows them. Asked once for each compiler and make.
supported = $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2> /dev/null && echo '$(1)')
# clang up to 15 demands a second flag with the first
ZERO_VARIABLES = -ftrivial-auto-var-init=zero
ZERO_VARIABLES_CLANG = $(ZERO_VARIABLES) -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang
# -fcf-protection: x86; -mbranch-protection: the same on arm64; clang knows -fzero-call-used-regs from 15 on
HARDENING := -fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fno-strict-aliasing -fstack-protector-strong \
	$(or $(call supported,$(ZERO_VARIABLES)),$(call supported,$(ZERO_VARIABLES_CLANG))) \
	$(foreach flag,-fzero-call-used-regs=used-gpr -fstack-clash-protection \
	-fcf-protection -mbranch-protection=standard,$(call supported,$(flag)))
OPTIMIZE = -O2 -g
# The same sources make the same bytes in every directory: make reproducible
ANYWHERE = -ffile-prefix-map=$(CURDIR)=.
# the programs look for their configuration here
SYSCONFDIR = /etc
CONFDIR = $(SYSCONFDIR)/bourdon
CPPFLAGS += -D_GNU_SOURCE $(if $(filter-out /etc,$(SYSCONFDIR)),-DCONFIGURATION_DIRECTORY='"$(CONFDIR)"') -I. -I$(B) -isystem $(B)/skeleton -isystem $(B)/proto
CFLAGS += -std=gnu11 $(OPTIMIZE) $(WARNINGS) $(HARDENING) $(ANYWHERE) -pthread
LDFLAGS += -pie -Wl,-z,relro,-z,now -Wl,--as-needed -pthread
LIBS = -lbpf -lelf -ldw -llzma -lz -liberty -lcap-ng -lsqlite3 -linih -lnettle -llz4

# V=1 prints each command; otherwise $(call say,VERB,OBJECT) prints one short line.
Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)';)
objects = $(patsubst %.c,$(B)/object/%.o,$(1))
# A target that installs packages runs a second make: the first one read its variables before they were there.
# The plus sign lets it share the first one's jobs (make -j); without any, it has one for each CPU.
CPUS = $(shell nproc)
again = +$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(CPUS))

BINARIES = $(B)/bourdon-load $(B)/bourdon-grant $(B)/bourdond $(B)/bourdon

all: $(BINARIES) $(B)/man/made

include mk/dependencies.mk
include mk/bpf.mk
include mk/policies.mk
include mk/programs.mk
include mk/manual.mk
include mk/install.mk
include mk/tests.mk
include mk/vm.mk
include mk/distro.mk
include mk/bench.mk
include mk/checks.mk
## make clean      remove build/

workloads: $(WORKLOADS)
tests: workloads $(TOOLS) $(B)/unit
benches: workloads $(BENCHES) $(B)/bench/exec_child $(B)/tools/verify_programs

help:
	@sed -n 's/^## /  /p' $(HELP)
HELP := $(MAKEFILE_LIST)

demo:
	$(Q)tests/e2e/demo.sh --can
	$(Q)$(MAKE) --no-print-directory deps
	$(again) all $(B)/workloads/cpu_hog
	$(Q)tests/e2e/demo.sh

test: prepared
	$(Q)tests/run.sh

test-repeat: prepared
	$(Q)tests/repeat.sh $(or $(N),3)

test-all:
	$(Q)$(MAKE) lint analyze compilers sanitize tsan
	$(Q)$(MAKE) fuzz FUZZ_SECONDS=60
	$(Q)CK_EXCLUDE_TAGS= $(MAKE) test
	$(Q)$(MAKE) test-vm
	$(Q)$(MAKE) test-distro DISTRO=trixie
	$(Q)$(MAKE) test-distro DISTRO=sid

prepared: test-deps
	$(again) all tests next logging $(if $(TESTS),$(if $(strip $(foreach name,readers export page,$(findstring $(name),$(TESTS)))),npm),npm) \
		$(if $(TESTS),$(if $(strip $(foreach name,alerts go.bats,$(findstring $(name),$(TESTS)))),prometheus),prometheus)

clean:
	$(Q)rm -rf $(B)

-include $(shell find $(B) \( -path $(B)/vm -o -path $(B)/distro -o -path $(B)/prometheus \) -prune -o -type f -name '*.d' -print 2>/dev/null)
