/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_fixture.h owns a database for the tests of pictures. Capture 1 has a stack of each kind, of targets and of others. In capture
 * 2 every name is hostile.
 */
#ifndef BOURDON_UNIT_PAGE_FIXTURE_H
#define BOURDON_UNIT_PAGE_FIXTURE_H

void page_fixture_write(const char *path);

#endif
