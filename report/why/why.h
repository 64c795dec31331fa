/* SPDX-License-Identifier: GPL-2.0-only */
/* why.h owns the answer about one capture, and the sections with its evidence, as text or JSON. */
#ifndef BOURDON_REPORT_WHY_WHY_H
#define BOURDON_REPORT_WHY_WHY_H

#include "report/context/report.h"

/*
 * Explains report->capture_id: in brief; or by these sections, a comma between two names, which have been checked; NULL: all. A
 * failed query was logged, and has set report->database->failed.
 */
void why_print(struct report *report, const char *sections, bool is_brief);

#endif
