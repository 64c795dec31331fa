/* SPDX-License-Identifier: GPL-2.0-only */
/* xml.h owns writing any text into XML and HTML: as the text of an element, or within an attribute's quotes. */
#ifndef BOURDON_REPORT_TEXT_XML_H
#define BOURDON_REPORT_TEXT_XML_H

#include <stdio.h>

/*
 * Writes it so that it is text and nothing else: what could act on a terminal or hide is \xHH, as in the reports, and so is
 * what XML does not allow.
 */
void xml_text(FILE *out, const char *text);

/* The same of its first `characters` at most; a longer one ends with an ellipsis, which is among them. */
void xml_text_cut(FILE *out, const char *text, size_t characters);

#endif
