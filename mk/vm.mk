# SPDX-License-Identifier: GPL-2.0-only
#
# Tests in virtual machines.

.PHONY: test-vm

# Debian's own kernels; the downloads stay in build/vm
KERNEL = 6.1 6.12
VM_IMAGES = $(B)/vm/root.img $(KERNEL:%=$(B)/vm/%/vmlinuz)

## make test-vm    the same tests in virtual machines, under Linux 6.1 and 6.12; KERNEL=6.12 only that one
test-vm:
	$(Q)MORE_DEPENDENCIES="$$VM_DEPENDENCIES" $(MAKE) --no-print-directory deps
	$(again) all tests next logging $(VM_IMAGES)
	$(Q)tests/vm/run.sh $(KERNEL)

$(B)/vm/root.img: tests/vm/make_root.sh
	$(call say,ROOT,$@) $< $@

$(B)/vm/%/vmlinuz: tests/vm/get_kernel.sh
	$(call say,KERNEL,$@) $< $* $@
