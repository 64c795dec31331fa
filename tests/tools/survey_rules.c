/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * survey_rules compiles the unwind table of each ELF file below some directories, and tells which rows say that unwinding ends
 * there because the rule has no form, and which files have no table.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/unwind_table.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 64

static uint64_t files, files_without, rows, rows_in_table, rows_without_form;

/* A row, or each of its steps. */
static void count_steps(const struct unwind_table *table, const struct unwind_rule *rule,
			uint64_t *without_form)
{
	uint32_t steps = 1;

	if (rule->kind == UNWIND_EXPRESSION)
		++*without_form;
	for (uint32_t i = 0; rule->kind == UNWIND_STEPS && i < UNWIND_STEPS_MAX; i++) {
		bool is_step = !i || rule->steps.at[i] > rule->steps.at[i - 1];

		steps += i && is_step;
		*without_form += is_step && table->rules[rule->steps.rules[i]].kind == UNWIND_EXPRESSION;
	}
	rows += steps;
}

static void count_rows(const char *path, const struct unwind_table *table)
{
	uint64_t here = 0;

	for (uint32_t i = 0; i < table->pages_count; i++)
		for (uint32_t j = 0; j < table->pages[i].rows; j++) {
			uint32_t row = table->pages[i].first_row + j;
			const struct unwind_chunk *chunk = &table->chunks[row / UNWIND_CHUNK_ROWS];

			count_steps(table, &table->rules[chunk->rows[row % UNWIND_CHUNK_ROWS].rule], &here);
		}
	files++;
	rows_in_table += table->rows;
	rows_without_form += here;
	if (here)
		printf("%s: %" PRIu64 " rows have no form\n", path, here);
}

static bool is_elf(int fd)
{
	char begin[SELFMAG];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) && !memcmp(begin, ELFMAG, SELFMAG);
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *place)
{
	_cleanup_close_ int fd = -EBADF;
	struct unwind_table table = { 0 };
	int result;

	(void)place;
	if (type != FTW_F || !S_ISREG(status->st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !is_elf(fd))
		return 0;
	result = unwind_table_compile(fd, &table);
	/* of another machine, or data alone, as files of symbols and objects of locales are */
	if (result == -ENOTSUP || result == -ENODATA)
		return 0;
	if (result < 0) {
		files_without++;
		printf("%s: no table: %s\n", path, strerror(-result));
		return 0;
	}
	count_rows(path, &table);
	unwind_table_free(&table);
	return 0;
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"survey_rules",
		"DIRECTORY...",
		"Prints which rows of unwind tables have no form, and how many do.",
		"survey_rules /usr/bin /usr/lib",
		NULL,
		0
	};
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	for (int i = 1; i <= words; i++)
		if (nftw(argv[i], visit, DESCRIPTORS_MAX, FTW_PHYS)) {
			log_error("cannot walk %s: %s", argv[i], strerror(errno));
			return EXIT_FAILED;
		}
	printf("%" PRIu64 " files with tables, %" PRIu64 " without; %" PRIu64 " rows, %" PRIu64
	       " of them without a form; %" PRIu64 " in the tables\n",
	       files, files_without, rows, rows_without_form, rows_in_table);
	return EXIT_DONE;
}
