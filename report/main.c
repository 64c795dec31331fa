/* SPDX-License-Identifier: GPL-2.0-only */
/* bourdon reads the captures. It needs no privilege except reading the database, and trusts nothing in it. */
#include "common/log.h"
#include "common/options.h"
#include "report/command.h"

#include <stdio.h>

int main(int count, char **arguments)
{
	struct request request;
	int status;

	log_init("bourdon");
	status = command_parse(count, arguments, &request);
	if (status != OPTIONS_RUN)
		return status;
	return command_run(&request, stdout);
}
