# SPDX-License-Identifier: GPL-2.0-only
#
# The system-call policies: text in policy/, compiled to BPF at build time, so that no binary needs
# libseccomp.

POLICIES := $(patsubst policy/%.seccomp,$(B)/policy/%.h,$(wildcard policy/*.seccomp))

# The modules that the small tools share with the binaries
BASICS := $(call objects,common/system/options.c common/system/log.c common/text/escape.c common/text/units.c)

$(B)/compile_seccomp: $(call objects,policy/compile_seccomp.c) $(BASICS)
	$(call say,LINK,$@) $(CC) $(CFLAGS) $(LDFLAGS) $^ -lseccomp -o $@

SECCOMP_FLAGS = $(if $(SECCOMP_LOG),--log)
$(B)/policy/%.h: policy/%.seccomp $(B)/compile_seccomp $(B)/policy/mode
	@mkdir -p $(@D)
	$(call say,POLICY,$<) $(B)/compile_seccomp $(SECCOMP_FLAGS) $* < $< > $@

# The filters of both architectures, for the unit tests on either
ARCHITECTURES := x86_64 aarch64
ARCHITECTURE_POLICIES := $(foreach arch,$(ARCHITECTURES),$(POLICIES:%.h=%-$(arch).h))
define architecture_policy
$$(B)/policy/%-$(1).h: policy/%.seccomp $$(B)/compile_seccomp
	@mkdir -p $$(@D)
	$$(call say,POLICY,$$< for $(1)) $$(B)/compile_seccomp --arch $(1) $$*-$(1) < $$< > $$@
endef
$(foreach arch,$(ARCHITECTURES),$(eval $(call architecture_policy,$(arch))))

# Written only if this build's option differs from the last build's.
$(B)/policy/mode: always
	@mkdir -p $(@D)
	$(Q)echo '$(SECCOMP_FLAGS)' | cmp -s - $@ || echo '$(SECCOMP_FLAGS)' > $@

$(B)/policy/call_names.h: $(B)/compile_seccomp
	@mkdir -p $(@D)
	$(call say,NAMES,$@) $< --names > $@
