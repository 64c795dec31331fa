# SPDX-License-Identifier: GPL-2.0-only
#
# The four programs.

# SECCOMP_LOG=1: a build whose policies forbid nothing, and that names each call that they lack
SECCOMP := common/$(if $(SECCOMP_LOG),seccomp_log,seccomp).c
COMMON := $(filter-out common/seccomp.c common/seccomp_log.c,$(wildcard common/*.c)) $(SECCOMP)
LOADER := $(filter-out loader/main.c,$(wildcard loader/*.c))
GRANT := $(filter-out loader/grant/main.c,$(wildcard loader/grant/*.c))
CONSUMER := $(filter-out consumer/main.c,$(wildcard consumer/*.c consumer/*/*.c))
REPORT := $(filter-out report/main.c,$(wildcard report/*.c))

$(B)/object/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(call objects,$(LOADER)): $(B)/skeleton/bourdon.skel.h
$(call objects,consumer/main.c $(CONSUMER) loader/main.c loader/grant/main.c): | $(POLICIES)
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

# `bourdon symbolize` reads debug files as bourdond does: in a process that can do nothing else.
SYMBOLIZER := $(wildcard consumer/symbolizer/*.c) consumer/process/privilege.c consumer/symbols/debug_files.c
$(B)/bourdon: $(call objects,report/main.c $(REPORT) $(SYMBOLIZER) $(COMMON))
	$(link)
