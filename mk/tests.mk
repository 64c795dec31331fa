# SPDX-License-Identifier: GPL-2.0-only
#
# The programs that the tests run: the unit tests, workloads, tools, and builds of other versions.

.PHONY: next logging npm prometheus verdicts

UNIT := $(wildcard tests/unit/*.c)
UNWIND = pie no_pie static static_pie far_text stripped frame_pointers no_tables no_tables_fp debug_frame debug_frame_gz plugin lazy lazy_ibt early bare jit objects honest
WORKLOADS := $(patsubst tests/workloads/%.c,$(B)/workloads/%,$(wildcard tests/workloads/*.c)) \
	$(B)/workloads/hostile_stripped $(B)/workloads/chain_longer $(UNWIND:%=$(B)/workloads/unwind_%) \
	$(patsubst tests/workloads/%.cc,$(B)/workloads/%,$(wildcard tests/workloads/*.cc))
TOOLS := $(patsubst tests/tools/%.c,$(B)/tools/%,$(wildcard tests/tools/*.c))

$(call objects,$(UNIT)): | $(POLICIES) $(ARCHITECTURE_POLICIES)
$(call objects,$(PROTOS:%.pb-c=tests/unit/test_export_%.c)): | $(PROTO_HEADERS)
$(B)/unit: LIBS += -lcheck -lsubunit -lexpat -lrt -lm
# tests/unit/fake_kernel.c stands between the tests and the kernel
FAKED = $(addprefix bpf_map_,lookup_elem update_elem delete_elem get_next_key lookup_batch lookup_and_delete_batch update_batch) \
	$(addprefix ring_buffer__,new add consume epoll_fd free) bpf_obj_get_info_by_fd kernel_objects_open_iterator
$(B)/unit: private LDFLAGS += $(FAKED:%=-Wl,--wrap=%)
$(B)/unit: $(call objects,$(UNIT) $(LOADER) $(GRANT) $(CONSUMER) $(REPORT) $(COMMON)) $(PROTO) | $(B)/compile_seccomp $(B)/symbols/made $(B)/symbols/go_made
	$(link)

# tests/unit/test_verdicts.c contains all captures of known truth.
VERDICTS_SQL := $(B)/verdicts.sql
$(VERDICTS_SQL): $(sort $(wildcard tests/verdicts/captures/*.sql))
	@mkdir -p $(@D)
	$(call say,CAT,$@) cat $^ > $@
$(call objects,tests/unit/test_verdicts.c): private CPPFLAGS += -DVERDICTS_SQL='"$(VERDICTS_SQL)"'
$(call objects,tests/unit/test_verdicts.c): $(VERDICTS_SQL)

## make verdicts   what the captures of known truth are judged as (tests/verdicts/README.md)
verdicts: $(B)/unit
	$(Q)BOURDON_VERDICTS=table CK_RUN_SUITE=verdicts $(B)/unit

# Profiles must show the workloads' functions under their own names, and need frame pointers.
FRAME_POINTERS = -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
WORKLOAD_FLAGS = $(FRAME_POINTERS) -fno-optimize-sibling-calls
$(B)/workloads/%: tests/workloads/%.c $(BASICS)
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) $(WORKLOAD_FLAGS) $(LDFLAGS) -MMD -MP -MF $@.d $< $(BASICS) -o $@

# A program whose build id contains bytes that a terminal, SQL or a browser would interpret; and a copy
# without symbols
$(B)/workloads/hostile: WORKLOAD_FLAGS += -Wl,--build-id=0x1b5d303b78073c7363726970743e27220affc29b
$(B)/workloads/hostile_stripped: $(B)/workloads/hostile
	$(call say,STRIP,$@) strip -o $@ $<

# Two builds of one program, which differ by one instruction. Compilers may be configured to leave build ids out.
$(B)/workloads/chain: WORKLOAD_FLAGS += -Wl,--build-id=sha1
$(B)/workloads/chain_longer: tests/workloads/chain.c $(BASICS)
	$(call say,CC,$@) $(CC) $(CPPFLAGS) $(CFLAGS) $(WORKLOAD_FLAGS) -Wl,--build-id=sha1 -DONE_MORE $(LDFLAGS) $< $(BASICS) -o $@

# Programs with known stacks, from tests/workloads/unwind/: frames.c in many builds, then other sources. They
# are built without frame pointers and DWARF, as Debian builds, and without gaps between functions: the byte
# behind the end of a function belongs to the next function.
UNWIND_CFLAGS = $(filter-out -std=gnu11 -Wstrict-prototypes $(UNLIKE_DEBIAN),$(CFLAGS)) -g0 -fPIE -fno-align-functions
UNLIKE_DEBIAN = -fzero-call-used-regs=% -ftrivial-auto-var-init=% -enable-trivial-auto-var-init-%
UNWIND_no_pie = -fno-pie -no-pie
UNWIND_static = -fno-pie -static
UNWIND_static_pie = -static-pie
# the distance from the program's first byte to its text differs between memory and file
UNWIND_far_text = -fno-pie -no-pie -Wl,--section-start=.text=0x10000000
UNWIND_frame_pointers = $(FRAME_POINTERS)
UNWIND_no_tables = -fno-asynchronous-unwind-tables -fno-unwind-tables -g0
UNWIND_debug_frame = -fno-asynchronous-unwind-tables -fno-unwind-tables -g
UNWIND_debug_frame_gz = $(UNWIND_debug_frame) -gz
UNWIND_no_tables_fp = $(UNWIND_no_tables) $(FRAME_POINTERS)
UNWIND_plugin_b = -DPLUGIN_ROOM=3000
UNWIND_turn_first = -DPLUGIN_LEAF=first_burn
UNWIND_turn_other = -DPLUGIN_LEAF=other_burn
UNWIND_lazy = -fcf-protection=none -Wl,-z,lazy -Wl,-rpath,'$$ORIGIN'
UNWIND_lazy_ibt = -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibtplt -Wl,-rpath,'$$ORIGIN'
UNWIND_early = -Wl,-rpath,'$$ORIGIN'
UNWIND_bare = -fno-pie -no-pie -static -Wl,-e,bare_start
UNWIND_objects = -lstdc++
UNWIND_honest = -Wl,-rpath,'$$ORIGIN'
UNWIND_SOURCE_plugin = plugin.c
UNWIND_SOURCE_plugin_a = plugin_library.c
UNWIND_SOURCE_plugin_b = plugin_library.c
UNWIND_SOURCE_turn_first = plugin_library.c
UNWIND_SOURCE_turn_other = plugin_library.c
UNWIND_SOURCE_lazy = lazy.c
UNWIND_SOURCE_lazy_ibt = lazy.c
UNWIND_SOURCE_early = early.c
UNWIND_SOURCE_bare = bare.c
UNWIND_SOURCE_jit = jit.c
UNWIND_SOURCE_objects = objects.cc
UNWIND_SOURCE_honest = honest.c
UNWIND_PATH = tests/workloads/unwind

$(UNWIND:%=$(B)/workloads/unwind_%): $(B)/workloads/unwind_%: $(wildcard $(UNWIND_PATH)/*) $(BASICS)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(CC) $(CPPFLAGS) $(UNWIND_CFLAGS) $(UNWIND_PATH)/$(or $(UNWIND_SOURCE_$*),frames.c) \
		$(UNWIND_PATH)/run.c $(UNWIND_PATH)/chain.c $(filter %.o %.so,$^) \
		$(filter-out $(if $(findstring -static,$(UNWIND_$*)),-pie),$(LDFLAGS)) $(UNWIND_$*) -o $@
	$(if $(filter stripped,$*),$(Q)cd $(@D) && objcopy --only-keep-debug $(@F) $(@F).debug && \
		objcopy --strip-all --add-gnu-debuglink=$(@F).debug $(@F))

$(B)/workloads/unwind_lazy $(B)/workloads/unwind_lazy_ibt: $(B)/workloads/unwind_lazy_library.so
$(B)/workloads/unwind_honest: $(B)/workloads/unwind_honest_library.so
$(B)/workloads/unwind_early: $(B)/workloads/unwind_early_library.so
$(B)/workloads/unwind_plugin: | $(addprefix $(B)/workloads/unwind_,plugin_a.so plugin_b.so turn_first.so turn_other.so)
UNWIND_LIBRARIES = $(addprefix $(B)/workloads/unwind_,lazy_library.so honest_library.so early_library.so plugin_a.so plugin_b.so turn_first.so turn_other.so)
$(UNWIND_LIBRARIES): $(B)/workloads/unwind_%.so: $(wildcard $(UNWIND_PATH)/*)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(CC) $(CPPFLAGS) $(UNWIND_CFLAGS) -fPIC $(UNWIND_$*) -shared -Wl,-soname,$(@F) \
		$(UNWIND_PATH)/$(or $(UNWIND_SOURCE_$*),$*.c) -o $@

$(B)/workloads/%: tests/workloads/%.cc
	@mkdir -p $(@D)
	$(call say,CXX,$<) $(CXX) -std=c++17 $(OPTIMIZE) -Wall -Wextra $(WERROR) -fPIE $(WORKLOAD_FLAGS) -pie -MMD -MP -MF $@.d $< -o $@

# inlines.cc again, with its symbols in every form. The compilers are fixed, because tests contain the
# addresses.
$(B)/symbols/made: tests/make_symbols.sh tests/cyclic.s tests/workloads/inlines.cc
	$(call say,SYMBOLS,$(@D)) CXX=g++ CLANG=$(CLANG) $< tests/workloads/inlines.cc $(@D) && touch $@

# A Go program without symbols, linked in every form, and what Go says of its code
$(B)/symbols/go_made: tests/make_go.sh tests/workloads/views.go
	$(call say,GO,$(@D)) $< tests/workloads/views.go $(@D) && touch $@

TOOL_OBJECTS := $(BASICS) $(call objects,common/protocol/pins.c common/protocol/latency_groups.c)
$(B)/tools/%: tests/tools/%.c $(TOOL_OBJECTS)
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d $< $(filter %.o,$^) $(LIBS) -lseccomp -o $@

# Loads as the loader does
$(B)/tools/verify_programs: $(call objects,$(filter-out loader/main.c,$(LOAD_SOURCES)))

# Compiles tables as the symbolizer does.
$(B)/tools/survey_rules: $(call objects,tests/tools/survey_rules.c) $(B)/product.a
	$(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# It asks as `bourdon status` does.
$(B)/tools/await_status: $(call objects,tests/tools/await_status.c) $(B)/product.a
	$(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -ljq -o $@

# A build with another ABI and a newer schema: to it, this version is an older one.
OTHER_VERSION = -DBOURDON_ABI=1000U -DSCHEMA_VERSION=1000 -DSCHEMA_ADDED=tests/unit/next_schema.sql
next: | $(BINARIES)
	$(Q)CPPFLAGS='$(OTHER_VERSION)' $(MAKE) --no-print-directory B=$(B)/next all

# a build whose filters log calls instead of forbidding them
logging: | $(BINARIES)
	$(again) B=$(B)/logging SECCOMP_LOG=1 all

# What tests/npm/package-lock.json pins. Another supplier of npm than Debian will do. Without a network the tests that need
# it are skipped.
npm:
	$(Q)command -v npm > /dev/null || { $(call packages,NPM) || :; }
	$(Q)command -v chromium > /dev/null || { $(call packages,PAGE) || :; }
	$(again) $(B)/npm/installed

$(B)/npm/installed: $(wildcard tests/npm/*)
	$(call say,NPM,$(@D)) tests/npm/install.sh $(abspath $(@D))

# Debian's Prometheus and containerd, unpacked and not installed: the packages would start services. Without a network the tests that need it
# are skipped.
prometheus:
	$(again) $(B)/prometheus/installed

$(B)/prometheus/installed: tests/prometheus/install.sh
	$(call say,UNPACK,$(@D)) tests/prometheus/install.sh $(abspath $(@D))
