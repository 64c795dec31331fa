/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/output.h"

#include "common/log.h"
#include "report/output_file.h"

#include <unistd.h>

bool output_has_place(const struct report *report)
{
	if (report->output || !isatty(fileno(report->out)))
		return true;
	log_error("this is no text for a terminal: name a file with -o FILE");
	return false;
}

int output_write(struct report *report, const char *bytes, size_t length)
{
	_cleanup_output_file_ struct output_file output = { 0 };
	int result;

	if (!report->output) {
		fwrite(bytes, 1, length, report->out);
		return 0;
	}
	result = output_file_make(&output, report->output);
	if (result < 0)
		return result;
	fwrite(bytes, 1, length, output.file);
	return output_file_finish(&output);
}
