/* SPDX-License-Identifier: GPL-2.0-only */
/* status_json.h owns the JSON form of a daemon's status: what `bourdon status --json` prints. */
#ifndef BOURDON_REPORT_DAEMON_STATUS_JSON_H
#define BOURDON_REPORT_DAEMON_STATUS_JSON_H

#include "report/daemon/daemon_status.h"

#include <stdio.h>

/* Writes one object: for each kind of line an array, which is empty where the status has no such line. */
void status_print_json(FILE *out, const struct daemon_status *status);

/* One line as an object. */
void status_print_json_line(FILE *out, const struct status_line *line);

#endif
