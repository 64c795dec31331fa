# SPDX-License-Identifier: GPL-2.0-only
#
# The manual pages: build/man/PAGE.SECTION.

MANUAL_SOURCES = mk/manual.sh mk/manual.txt mk/roff.awk mk/help_to_man.awk mk/document_to_man.awk CHANGELOG.md \
	docs/CONFIGURATION.md docs/SCHEMA.md
MANUAL = $(wildcard $(B)/man/*.[1578])

$(B)/man/made: $(BINARIES) $(MANUAL_SOURCES)
	$(call say,MANUAL,$(B)/man)mk/manual.sh $(B)
	$(Q)touch $@
