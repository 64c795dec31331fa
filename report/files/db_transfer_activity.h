/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db_transfer_activity.h owns what db_transfer.h does with the history of activity: minutes that the output does not have,
 * with their keys.
 */
#ifndef BOURDON_REPORT_FILES_DB_TRANSFER_ACTIVITY_H
#define BOURDON_REPORT_FILES_DB_TRANSFER_ACTIVITY_H

#include "report/files/db_rows.h"

/* The table run_map is complete. Returns 0 or -errno, as db_rows_transfer(). */
int activity_transfer(struct row_transfer *transfer);

#endif
