# SPDX-License-Identifier: GPL-2.0-only
#
# Installs the binaries as they were built: root compiles nothing.

.PHONY: install uninstall

PREFIX = /usr/local
DESTDIR =
# PRIVATE_BPFFS=yes: all pins are on a BPF file system of their own, /run/bourdon/bpf
PRIVATE_BPFFS =

BINDIR = $(PREFIX)/bin
SBINDIR = $(PREFIX)/sbin
LIBEXECDIR = $(PREFIX)/libexec/bourdon
DOCDIR = $(PREFIX)/share/doc/bourdon
MANDIR = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/vendor-completions
UNITDIR = $(PREFIX)/lib/systemd/system
CATALOGDIR = $(PREFIX)/lib/systemd/catalog

UNITS = bourdon-load.service bourdond.service bourdon-grant.socket bourdon-grant@.service
MOUNT = run-bourdon-bpf.mount
PRIVATE_UNITS = bourdon-load.service bourdond.service bourdon-grant@.service
private_drop_in = $(UNITDIR)/$(1).d/private-bpffs.conf

# SOURCE:PATH:MODE
INSTALLED = \
	$(B)/bourdon:$(BINDIR)/bourdon:755 \
	$(B)/bourdond:$(SBINDIR)/bourdond:755 \
	$(B)/bourdon-load:$(SBINDIR)/bourdon-load:755 \
	$(B)/bourdon-grant:$(LIBEXECDIR)/bourdon-grant:755 \
	systemd/bourdon-hook:$(LIBEXECDIR)/bourdon-hook:755 \
	systemd/bourdon.catalog.in:$(CATALOGDIR)/bourdon.catalog:644 \
	systemd/sysusers.conf:$(PREFIX)/lib/sysusers.d/bourdon.conf:644 \
	systemd/tmpfiles.conf:$(PREFIX)/lib/tmpfiles.d/bourdon.conf:644 \
	$(foreach unit,$(UNITS),$(wildcard systemd/$(unit) systemd/$(unit).in):$(UNITDIR)/$(unit):644) \
	systemd/$(MOUNT).in:$(UNITDIR)/$(MOUNT):644 \
	report/completion/bourdon.bash:$(BASHDIR)/bourdon:644 \
	report/completion/_bourdon:$(ZSHDIR)/_bourdon:644 \
	$(foreach page,$(MANUAL),$(page):$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)):644) \
	$(foreach file,$(DOCUMENTS),$(file):$(DOCDIR)/$(file):644) \
	$(foreach file,$(EXAMPLES),$(file):$(DOCDIR)/examples/$(patsubst %.in,%,$(notdir $(file))):644)
# in the same folders as here, so that links between them work
DOCUMENTS = README.md CHANGELOG.md SECURITY.md LICENSE $(wildcard docs/*.md) policy/policy.conf
EXAMPLES = $(wildcard systemd/examples/* systemd/bourdon.conf)
PRIVATE_INSTALLED = \
	$(foreach unit,$(PRIVATE_UNITS),systemd/private-bpffs/$(unit).in:$(call private_drop_in,$(unit)):644)
# installed by earlier versions: it lowered kernel.perf_event_paranoid for all users
OBSOLETE = none:$(PREFIX)/lib/sysctl.d/10-bourdon.conf
# an existing file is never overwritten
CONFIGURATION = systemd/bourdon.conf:$(CONFDIR)/bourdon.conf:644 \
	$(foreach file,$(wildcard policy/policy.conf),$(file):$(CONFDIR)/$(notdir $(file)):644)

# $(call put,SOURCE:PATH:MODE) installs one file; in a file named *.in it fills in the installation's folders.
put = $(call put_file,$(word 1,$(subst :, ,$(1))),$(DESTDIR)$(word 2,$(subst :, ,$(1))),$(word 3,$(subst :, ,$(1))))
define put_file
	$(Q)install -D -m $(3) $(1) $(2)
	$(if $(filter %.in,$(1)),$(Q)sed -i 's|@SBINDIR@|$(SBINDIR)|; s|@LIBEXECDIR@|$(LIBEXECDIR)|; s|@DOCDIR@|$(DOCDIR)|g; s|@CONFDIR@|$(CONFDIR)|g' $(2))

endef
put_new = $(if $(wildcard $(DESTDIR)$(word 2,$(subst :, ,$(1)))),,$(call put,$(1)))
remove = $(Q)rm -f $(foreach file,$(1),$(DESTDIR)$(word 2,$(subst :, ,$(file))))
# runs a command for the running system only: not with DESTDIR, nor in a root that systemd does not run
on_this_system = $(Q)[ -n '$(DESTDIR)' ] || ! [ -d /run/systemd/system ] || { $(1); }

install:
	$(Q)ls $(BINARIES) > /dev/null || { echo 'make install: run make first, as yourself' >&2; exit 1; }
	$(Q)! grep -q log $(B)/policy/mode || { echo 'make install: this build confines nothing: SECCOMP_LOG=1' >&2; exit 1; }
	$(Q)grep -qF 'DIRECTORY="$(CONFDIR)"' $(B)/flags || { echo 'make install: run make SYSCONFDIR=$(SYSCONFDIR) first, as yourself' >&2; exit 1; }
	$(foreach file,$(INSTALLED) $(if $(PRIVATE_BPFFS),$(PRIVATE_INSTALLED)),$(call put,$(file)))
	$(if $(PRIVATE_BPFFS),,$(call remove,$(PRIVATE_INSTALLED)))
	$(call remove,$(OBSOLETE))
	$(Q)install -d -m 755 $(DESTDIR)$(CONFDIR)/rules.d
	$(foreach file,$(CONFIGURATION),$(call put_new,$(file)))
	$(call on_this_system,systemd-sysusers $(PREFIX)/lib/sysusers.d/bourdon.conf && \
		systemd-tmpfiles --create $(PREFIX)/lib/tmpfiles.d/bourdon.conf && systemctl daemon-reload && \
		journalctl --quiet --update-catalog)
	@[ -n '$(DESTDIR)' ] || echo 'installed; next: bourdon-load --check, then the steps of $(DOCDIR)/README.md'

# Configuration, database and users stay, because they belong to the administrator.
LOADED = /sys/fs/bpf/bourdon /run/bourdon/bpf/bourdon
uninstall:
	$(call on_this_system,systemctl disable --quiet --now bourdond.service bourdon-grant.socket bourdon-load.service || true)
	$(call on_this_system,! ls -d $(LOADED) 2> /dev/null | grep -q . || { echo 'make uninstall: still loaded; see journalctl -u bourdon-load' >&2; exit 1; })
	$(call on_this_system,systemctl --quiet stop $(MOUNT) 2> /dev/null || true)
	$(call on_this_system,rm -rf /run/bourdon-grant /run/bourdon-grant.sock; rmdir --ignore-fail-on-non-empty /run/bourdon/pins /run/bourdon/bpf /run/bourdon 2> /dev/null || true)
	$(call remove,$(INSTALLED) $(PRIVATE_INSTALLED) $(OBSOLETE))
	$(Q)rmdir --ignore-fail-on-non-empty $(wildcard $(addprefix $(DESTDIR),$(LIBEXECDIR) $(addprefix $(DOCDIR)/,docs examples policy) $(DOCDIR) \
		$(dir $(foreach unit,$(PRIVATE_UNITS),$(call private_drop_in,$(unit)))))) 2> /dev/null || true
	$(call on_this_system,systemctl daemon-reload && journalctl --quiet --update-catalog)
