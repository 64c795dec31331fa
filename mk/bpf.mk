# SPDX-License-Identifier: GPL-2.0-only
#
# The in-kernel programs, linked to one object, and its skeleton.

ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
# Debian's directory of <asm/types.h>; clang 19 cannot print its name
MULTIARCH := $(wildcard /usr/include/$(shell uname -m)-linux-gnu)
BPF_FLAGS = -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra $(WERROR) $(ANYWHERE) \
	-Wno-unused-parameter -I. -I$(B) $(if $(MULTIARCH),-idirafter $(MULTIARCH))

BPF := $(sort $(wildcard bpf/*.bpf.c))
# maps.bpf.o comes first: libbpf 1.1's linker drops a map whose first mention is extern
BPF_OBJECTS := $(patsubst bpf/%.c,$(B)/bpf/%.o,bpf/maps.bpf.c $(filter-out bpf/maps.bpf.c,$(BPF)))

$(B)/bpf/%.o: bpf/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,BPF,$<) $(CLANG) $(BPF_FLAGS) -MMD -MP -c $< -o $@

$(B)/bpf/threads.bpf.o: $(B)/policy/call_names.h

$(B)/bourdon.bpf.o: $(BPF_OBJECTS)
	$(call say,LINK,$@) $(BPFTOOL) gen object $@ $^

$(B)/skeleton/bourdon.skel.h: $(B)/bourdon.bpf.o
	@mkdir -p $(@D)
	$(call say,SKEL,$@) $(BPFTOOL) gen skeleton $< name bourdon_bpf > $@

# bourdon doctor compares a load with this checksum.
$(B)/skeleton/object_sha256.h: $(B)/bourdon.bpf.o
	@mkdir -p $(@D)
	$(call say,SHA256,$@) sha256sum < $< | sed 's/\([0-9a-f]*\).*/#define OBJECT_SHA256 "\1"/' > $@
