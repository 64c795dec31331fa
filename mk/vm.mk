# SPDX-License-Identifier: GPL-2.0-only
#
# Tests in virtual machines.

.PHONY: test-vm

# One machine for each word. A version is a kernel of Debian 12, run on Debian 12 with the binaries of this
# build. trixie is Debian 13 with its own kernel and systemd, and binaries from the root of `make
# test-distro`. Downloads stay in build/vm.
KERNEL = 6.1 6.12 trixie
VM_RELEASES = $(filter trixie,$(KERNEL))
VM_IMAGES = $(if $(filter-out trixie,$(KERNEL)),$(B)/vm/root.img) $(VM_RELEASES:%=$(B)/vm/%/root.img) $(KERNEL:%=$(B)/vm/%/vmlinuz)
in_release = tests/distro/run.sh $(1) $(B)/distro/$(1)/root

## make test-vm    the same tests in virtual machines, under Linux 6.1, 6.12 and Debian 13; KERNEL=trixie only that one
test-vm: vm-deps
	$(again) all tests next logging $(VM_IMAGES)
	$(foreach release,$(VM_RELEASES),$(Q)$(call in_release,$(release)) make test-deps)
	$(foreach release,$(VM_RELEASES),$(Q)$(call in_release,$(release)) make -j$(CPUS) all tests next logging)
	$(Q)tests/vm/run.sh $(KERNEL)

$(B)/vm/root.img: tests/vm/make_root.sh
	$(call say,ROOT,$@) $< $@ bookworm

$(B)/vm/%/root.img: tests/vm/make_root.sh
	$(call say,ROOT,$@) $< $@ $*

# Downloaded by that release's own apt, in its root
$(B)/vm/trixie/vmlinuz: tests/vm/get_kernel.sh | $(B)/distro/trixie/root
	$(call say,KERNEL,$@) $(call in_release,trixie) tests/vm/get_kernel.sh 6.12 $@ && \
		mkdir -p $(@D) && cp -a $(B)/distro/trixie/root/bourdon/$(@D)/. $(@D)/

$(B)/vm/%/vmlinuz: tests/vm/get_kernel.sh
	$(call say,KERNEL,$@) $< $* $@
