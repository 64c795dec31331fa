# SPDX-License-Identifier: GPL-2.0-only
#
# The demo and the tests with the compilers and libraries of another Debian release, on the running kernel.

.PHONY: test-distro demo-distro

# bookworm, trixie or sid
DISTRO = trixie

## make test-distro  as root: make demo and make test in a debootstrap root; DISTRO=bookworm, trixie or sid, TESTS=PATHS
test-distro: distro-deps
	$(again) $(B)/distro/$(DISTRO)/root
	$(Q)tests/distro/run.sh $(DISTRO) $(B)/distro/$(DISTRO)/root

## make demo-distro  the demo alone
demo-distro: distro-deps
	$(again) $(B)/distro/$(DISTRO)/root
	$(Q)tests/distro/run.sh $(DISTRO) $(B)/distro/$(DISTRO)/root make demo

# The root is kept, with the packages that make demo and make test add to it; `make clean` removes it.
$(B)/distro/%/root: | tests/distro/make_root.sh
	$(call say,ROOT,$@) tests/distro/make_root.sh $* $@
