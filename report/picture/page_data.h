/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_data.h owns what the page of `bourdon report` knows of a capture: one JSON object, which report/picture/page/samples.js reads.
 *
 * Its samples are columns, because 10,000 rows of objects would take a browser longer than a reader waits. Rows of one stack,
 * thread and class stand together as a group, ordered by second.
 */
#ifndef BOURDON_REPORT_PICTURE_PAGE_DATA_H
#define BOURDON_REPORT_PICTURE_PAGE_DATA_H

#include "report/context/report.h"

#include <stdio.h>

/*
 * Writes the object about report->capture_id and, if it is not 0, against_id. Returns 0; or -errno, the reason was
 * logged, and report->database->failed is set.
 */
int page_data_write(struct report *report, int64_t against_id, FILE *out);

#endif
