# SPDX-License-Identifier: GPL-2.0-only
#
# The four programs.

# SECCOMP_LOG=1: the policies allow every call, and log each call that they do not list
SECCOMP := common/confine/$(if $(SECCOMP_LOG),seccomp_log,seccomp).c
# Sorted, because the order of the objects is the order of the functions in a program
sources = $(sort $(filter-out $(2),$(wildcard $(1))))
COMMON := $(call sources,common/*/*.c,common/confine/seccomp.c common/confine/seccomp_log.c) $(SECCOMP)
LOADER := $(call sources,loader/*.c,loader/main.c)
GRANT := $(call sources,loader/grant/*.c,loader/grant/main.c)
CONSUMER := $(call sources,consumer/*.c consumer/*/*.c,consumer/main.c)
REPORT := $(call sources,report/*.c report/*/*.c,report/main.c)

# Written only if this build's compiler or flags differ from the last build's: then everything is compiled again.
BUILT_BY = $(CC) $(CLANG) $(OPTIMIZE) $(HARDENING) $(ANYWHERE) DIRECTORY="$(CONFDIR)"
$(B)/flags: always
	@mkdir -p $(@D)
	$(Q)echo '$(BUILT_BY)' | cmp -s - $@ || echo '$(BUILT_BY)' > $@

$(B)/object/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) -ffunction-sections -fdata-sections -MMD -MP -c $< -o $@

# What 'bourdon export' writes in protocol buffers
PROTOS := $(patsubst report/export/%.proto,%.pb-c,$(wildcard report/export/*.proto))
PROTO := $(PROTOS:%=$(B)/object/proto/%.o)
PROTO_HEADERS := $(PROTOS:%=$(B)/proto/%.h)
$(B)/proto/%.pb-c.c $(B)/proto/%.pb-c.h: report/export/%.proto
	@mkdir -p $(@D)
	$(call say,PROTO,$<) protoc-c --c_out=$(@D) --proto_path=$(<D) $(<F)
$(PROTO): $(B)/object/proto/%.o: $(B)/proto/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) -I$(<D) $(CFLAGS) -ffunction-sections -fdata-sections -MMD -MP -c $< -o $@
$(call objects,$(PROTOS:%.pb-c=report/export/export_%.c)): | $(PROTO_HEADERS)

$(call objects,$(LOADER)): $(B)/skeleton/bourdon.skel.h
$(call objects,consumer/main.c $(CONSUMER) $(filter common/symbolizer/%,$(COMMON)) loader/main.c loader/grant/main.c): | $(POLICIES)
$(call objects,report/health/loaded.c): $(B)/skeleton/object_sha256.h
$(B)/object/common/store/schema.o: common/store/schema.sql tests/unit/next_schema.sql
$(B)/object/tests/unit/schema_fixture.o: common/store/schema.sql tests/unit/next_schema.sql tests/example.db
$(B)/object/report/picture/page_parts.o: $(wildcard report/picture/page/*)
$(B)/object/tests/unit/test_why.o: $(wildcard tests/unit/why_*.txt)
$(B)/object/tests/unit/test_table_failures.o: docs/CAPTURES.md
$(call objects,common/text/call_name.c common/confine/seccomp_log.c): $(B)/policy/call_names.h

link = $(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(LIBS) -o $@
# The linker drops functions that the program does not call, and writes down what it takes: mk/sbom.sh reads that.
$(BINARIES): private LDFLAGS += -Wl,--gc-sections -Wl,-Map=$(B)/object/$(@F).map

# The two privileged programs link only what they use: `make lint` checks these lists, and counts their lines.
LOAD_SOURCES := loader/main.c $(LOADER) $(SECCOMP) $(patsubst %,common/%.c,\
	confine/landlock_abi kernel/cgroup kernel/cgroup_walk kernel/cpus kernel/kernel_version kernel/requirements \
	policy/comm_pattern policy/policy protocol/latency_groups protocol/manifest protocol/pins system/file_replace system/files \
	system/findings system/ini system/log system/options text/escape text/hexadecimal text/units)
$(B)/bourdon-load: private LIBS = -lbpf -lcap-ng -linih -lnettle
$(B)/bourdon-load: $(call objects,$(LOAD_SOURCES))
	$(link)

GRANT_SOURCES := loader/grant/main.c $(GRANT) $(SECCOMP) $(patsubst %,common/%.c,\
	kernel/cgroup kernel/psi_resource protocol/grant_counters protocol/grant_request protocol/pins system/files \
	system/log system/options system/pass_fd text/escape)
$(B)/bourdon-grant: private LIBS = -lcap-ng
$(B)/bourdon-grant: $(call objects,$(GRANT_SOURCES))
	$(link)

$(B)/bourdond: $(call objects,consumer/main.c $(CONSUMER) $(COMMON))
	$(link)

$(B)/bourdon $(B)/unit $(B)/fuzz_report: private LIBS += -lncursesw -ltinfo -lprotobuf-c
$(B)/bourdon: $(call objects,report/main.c $(REPORT) $(COMMON)) $(PROTO)
	$(link)

.PHONY: sbom
## make sbom       build/bourdon.spdx.json: what the programs consist of, in SPDX 2.3
sbom: sbom-deps
	$(again) all
	$(Q)CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' mk/sbom.sh $(B)
