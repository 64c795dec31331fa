/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_parts.h has the files of report/picture/page/, from which `bourdon report` makes its page. They are part of the program, as
 * schema.sql is.
 */
#ifndef BOURDON_REPORT_PICTURE_PAGE_PARTS_H
#define BOURDON_REPORT_PICTURE_PAGE_PARTS_H

/* page.html: marks like @SCRIPT@ say where the other parts go. */
extern const char page_html[];

/* page.css */
extern const char page_css[];

/* The scripts, one after the other, as one function that is called at once. */
extern const char page_js[];

#endif
