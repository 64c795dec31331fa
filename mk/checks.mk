# SPDX-License-Identifier: GPL-2.0-only
#
# Checks of the code. A check that needs a build of its own runs make in a directory below build/.

.PHONY: compilers sanitize tsan fuzz fuzz-corpora fuzzers coverage root-lines messages reproducible lint findings analyze paths format

## make compilers  build with gcc and with clang, with -Werror
compilers: test-deps
	$(again) WERROR=-Werror CC=gcc B=$(B)/gcc all tests benches
	$(again) WERROR=-Werror CC=clang B=$(B)/clang all tests benches
	@echo 'compilers: no warnings'

# clang's sanitizers share one runtime. _FORTIFY_SOURCE is off: sanitizers cannot check its functions.
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# One build serves the unit tests and the fuzzers.
sanitized = $(again) CC=$(CLANG) OPTIMIZE='$(SANITIZE) -fsanitize=fuzzer-no-link' HARDENING=-fPIE B=$(B)/fuzz
FINDINGS = $(abspath $(B))/fuzz/finding
ASAN = detect_leaks=1:detect_stack_use_after_return=1:allow_addr2line=1:quarantine_size_mb=16
sanitize: export ASAN_OPTIONS = $(ASAN)
# libdw allocates as much memory as a file demands. RLIMIT_AS limits the symbolizer, but AddressSanitizer
# cannot run under it.
fuzz: export ASAN_OPTIONS = $(ASAN):max_allocation_size_mb=32:allocator_may_return_null=1
sanitize fuzz: export UBSAN_OPTIONS = print_stacktrace=1
sanitize coverage: export CK_TIMEOUT_MULTIPLIER = 10

## make sanitize   the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
# Each finding is written to a file, because the tests do not check the exit status of every child.
sanitize: sanitize-deps
	$(sanitized) $(B)/fuzz/unit
	$(Q)rm -f $(FINDINGS).*
	$(Q)ASAN_OPTIONS=$$ASAN_OPTIONS:log_path=$(FINDINGS) $(B)/fuzz/unit; status=$$?; ! cat $(FINDINGS).* 2>/dev/null && exit $$status

# What the threads share: captures, reloads, unwind tables, watches. TESTS="PATH..." runs others. Not here:
# - confinement: the filters of this build allow every call
# - attack_cgroups, attack_mappings, attack_watches, hostile_host: they measure memory and CPU time, of which the runtime takes
#   several times as much
# - attack_grants, attack_policy, binaries, doctor, errors, forged, load, newuser, policy, sbom, stock, units, upgrade: they
#   test bourdon-load, bourdon-grant, bourdon, the kernel programs, packages and messages, which have no threads
# - alerts, runbook: what the worker thread tells of a capture is its own; runbook runs the programs of $(B)
# - files, go, hostile, stalls, symbols, unprivileged, unwind: the threads do as in capture.bats; what a capture contains differs
# - attacks, resilience: what holds up one thread for long; with PATIENCE=4 they take several times as long
TSAN_TESTS = $(patsubst %,tests/e2e/%.bats,capture reload tables triggers)

## make tsan       as root: the unit tests, and end-to-end tests of what threads share, under ThreadSanitizer
tsan: sanitize-deps
	$(again) all tests
	$(again) CC=$(CLANG) OPTIMIZE='-O1 -g -fno-omit-frame-pointer -fsanitize=thread' HARDENING=-fPIE \
		SECCOMP=tests/tsan/unconfined.c B=$(B)/tsan $(B)/tsan/bourdond $(B)/tsan/unit
	$(Q)tests/tsan/run.sh $(B) $(or $(TESTS),$(TSAN_TESTS))

FUZZ_SECONDS ?= 20
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))

## make fuzz       every parser on hostile input, FUZZ_SECONDS=20 each
fuzz: sanitize-deps
	$(sanitized) fuzzers
	$(Q)CC=gcc CLANG=$(CLANG) tests/fuzz/run.sh $(B)/fuzz $(FUZZ_SECONDS)

## make fuzz-corpora  keep what `make fuzz` has found, minimised, in tests/fuzz/corpus
fuzz-corpora: export ASAN_OPTIONS = $(ASAN):max_allocation_size_mb=32:allocator_may_return_null=1
fuzz-corpora:
	$(Q)tests/fuzz/minimise.sh $(B)/fuzz

fuzzers: $(FUZZERS) $(B)/make_seeds

# An archive: each fuzzer links only the modules it uses, so its coverage counts only those
# q: members of one name, from several folders, are all kept
$(B)/product.a: $(call objects,$(CONSUMER) $(REPORT) loader/grant/process_text.c $(COMMON)) $(PROTO)
	$(call say,AR,$@) rm -f $@ && ar qcsD $@ $^

$(FUZZERS): $(B)/fuzz_%: $(B)/object/tests/fuzz/fuzz_%.o $(B)/product.a
	$(call say,LINK,$@) $(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ $(LIBS) -o $@

$(B)/make_seeds: $(call objects,tests/fuzz/make_seeds.c) $(BASICS)
	$(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

## make coverage   which lines the unit tests reach
coverage: coverage-deps
	$(again) CC=gcc OPTIMIZE='-O0 -g --coverage -fprofile-update=atomic' HARDENING=-fPIE B=$(B)/coverage \
		$(B)/coverage/unit
	$(Q)tests/coverage.sh $(B)/coverage

SOURCES := $(shell find bpf loader consumer report common policy tests bench -name '*.[ch]' -o -name '*.cc' 2>/dev/null)
SCRIPTS := systemd/bourdon-hook $(wildcard mk/*.sh tests/*.sh tests/fuzz/*.sh tests/tsan/*.sh tests/npm/*.sh tests/prometheus/*.sh tests/verdicts/*.sh tests/vm/*.sh tests/vm/*.bats tests/vm/*/*.bats tests/distro/*.sh \
	tests/e2e/*.sh tests/e2e/*.bash tests/e2e/*.bats bench/*.sh bench/*.bash bench/parts/*.sh \
	tests/lint/*.sh .ci/run)

## make format     format the sources
format:
	$(Q)clang-format -i $(SOURCES)

TIDY = $(filter-out %.bpf.c,$(filter %.c,$(SOURCES)))
# Its checks that follow paths are nearly all of clang-tidy's time: `make analyze` has them.
tidy = $(Q)printf '%s\n' $(1) | xargs -P $(CPUS) -n 4 sh -c \
	'clang-tidy --quiet $(2) "$$@" -- -std=gnu11 $(CPPFLAGS) 2>/dev/null' clang-tidy
# common/confine/seccomp.c, also in a build with SECCOMP_LOG=1
ROOT_PROGRAMS = 'bourdon-load=$(subst _log.c,.c,$(LOAD_SOURCES))' 'bourdon-grant=$(subst _log.c,.c,$(GRANT_SOURCES))'

## make root-lines count the lines that run as root; WRITE=1 into docs/SECURITY.md
root-lines:
	$(Q)tests/lint/root_lines.sh $(if $(WRITE),--write) $(ROOT_PROGRAMS)

## make messages   every message of all programs, with its place, for review
messages:
	$(Q)tests/lint/messages.sh

## make reproducible  build in two directories, and compare every installed file
reproducible:
	+$(Q)tests/lint/reproducible.sh $(B)

GENERATED = $(B)/skeleton/bourdon.skel.h $(B)/skeleton/object_sha256.h $(BENCH_SKELETONS) $(POLICIES) $(ARCHITECTURE_POLICIES) \
	$(B)/policy/call_names.h $(PROTO_HEADERS)

## make lint       includes, documents, hash tables, root's lines, formatting, two equal builds, clang's warnings, clang-tidy, cppcheck, shellcheck
lint: lint-deps
	$(again) WERROR=-Werror findings

## make analyze    clang-tidy's checks that follow paths, on all but the tests, which run under the sanitizers
analyze: lint-deps
	$(again) paths

paths: $(GENERATED)
	$(call tidy,$(filter-out tests/% bench/%,$(TIDY)))
	@echo 'analyze: no finding'

findings: $(GENERATED) $(B)/man/made
	$(Q)tests/lint/includes.sh
	$(Q)tests/lint/test_includes.sh
	$(Q)tests/lint/links.sh
	$(Q)tests/lint/test_links.sh
	$(Q)tests/lint/hashes.sh
	$(Q)tests/lint/test_hashes.sh
	$(Q)tests/lint/root_lines.sh --check $(ROOT_PROGRAMS)
	$(Q)clang-format --dry-run --Werror $(SOURCES)
	@echo 'format: $(words $(SOURCES)) files as .clang-format says'
	$(Q)mandoc -Tlint $(B)/man/*.[1578]
	@echo 'mandoc: the manual pages, no finding'
	$(Q)printf '%s\n' $(SCRIPTS) | xargs -P $(CPUS) -n 4 shellcheck -x
	@echo 'shellcheck: $(words $(SCRIPTS)) scripts, no finding'
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppressions-list=.cppcheck -I. -D_GNU_SOURCE -D__x86_64__ \
		'-DLIBBPF_OPTS(type,name,...)=struct type name' -j $(CPUS) $(TIDY)
	$(call tidy,$(TIDY),--checks=-clang-analyzer-*)
	$(Q)printf '%s\n' $(TIDY) | xargs -P $(CPUS) -n 16 $(CLANG) -fsyntax-only -std=gnu11 $(CPPFLAGS) $(WARNINGS)
	@echo 'cppcheck, clang-tidy, clang: $(words $(TIDY)) files, no finding'
	+$(Q)tests/lint/reproducible.sh $(B)
	@echo 'lint: clean'
