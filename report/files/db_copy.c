/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db copy: a consistent copy of a database that the daemon may write to meanwhile, or of single captures. The copy is one
 * file without a log, so it can be moved, and read where nothing can be written.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/context/subcommand.h"
#include "report/files/db_older.h"
#include "report/files/db_transfer.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static int copy_captures(const struct report *report, struct db_output *output, int64_t *ret_count)
{
	int count = report->operands_count - 1, result;
	_cleanup_free_ int64_t *ids = calloc((size_t)count, sizeof(*ids));
	_cleanup_db_output_ struct db_output converted = { 0 };
	struct transferred transferred = { 0 };

	if (!ids)
		return log_failed(-ENOMEM, "out of memory");
	for (int i = 0; i < count; i++) /* db_copy_main() has checked them */
		ids[i] = strtoll(report->operands[1 + i], NULL, 10);
	result = db_output_make_tables(output);
	if (!result && report->database->version != SCHEMA_VERSION)
		result = db_older_convert(&converted, report->database, output->path);
	if (!result)
		result = db_transfer(output, report->database->path, converted.unfinished, ids, count,
				     &transferred);
	if (!result)
		*ret_count = transferred.added;
	return result;
}

static void report_copy(const struct report *report, int64_t captures)
{
	const char *path = report->operands[0];
	char bytes[32], name[FORMAT_BYTES];
	struct stat at;

	fprintf(report->out, "copied ");
	if (captures)
		fprintf(report->out, "%" PRId64 " %s ", captures,
			plural((uint64_t)captures, "capture", "captures"));
	fprintf(report->out, "to %s: %s\n", escape_terminal(path, name, sizeof(name)),
		format_size(stat(path, &at) ? 0 : (double)at.st_size, bytes, sizeof(bytes)));
}

static const struct command_option options[] = { { "db", "FILE", DB_HELP, SHARED(db) } };

static int db_copy_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	struct database *database = report->database;
	_cleanup_db_output_ struct db_output output = { 0 };
	int64_t captures = 0, id;
	int result;
	int status = subcommand_parse(report, &db_copy_subcommand, count, arguments, &words);

	for (int i = 1; i < report->operands_count && status == OPTIONS_RUN; i++)
		status = subcommand_read_id(report->operands[i], &id);
	if (status != OPTIONS_RUN)
		return status;
	if (database_open(database->path, database) < 0 || db_output_make(&output, report->operands[0]) < 0)
		return EXIT_FAILED;
	if (report->operands_count == 1)
		result = db_output_copy(&output, database);
	else
		result = copy_captures(report, &output, &captures);
	if (result < 0 || db_output_finish(&output) < 0)
		return EXIT_FAILED;
	report_copy(report, captures);
	return status;
}

SUBCOMMAND(db_copy, "db copy", "OUT [ID...]", "copy the database, or single captures, to a new file",
	   "Writes a consistent copy of the database to OUT, one file, while the daemon runs; with IDs a\n"
	   "database of these captures alone. OUT must not exist. A copy by cp lacks what is in the log.",
	   "bourdon db copy /tmp/for-support.db 12 15", .operands_least = 1, .operands_most = INT_MAX);
