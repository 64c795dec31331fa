/* SPDX-License-Identifier: GPL-2.0-only */
/* bourdon reads the captures. It needs no privilege except reading the database, and trusts nothing in it. */
#include "common/sql/sql_files.h"
#include "common/system/log.h"
#include "report/command.h"

#include <stdio.h>

int main(int count, char **arguments)
{
	log_init("bourdon");
	sql_files_never_wait();
	return command_main(count, arguments, stdout);
}
