/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_table measures the time and memory that the unwind table of a file takes, with the compiler of the
 * symbolizer, on a file in the page cache.
 */
#include "common/symbolizer/unwind_table.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#define ROW_BYTES 4U
#define PAGE_BYTES 8U

/* Prints a line. Returns 0 or -errno. */
static int compile(int fd)
{
	uint64_t began_ns = clock_monotonic_ns(), took_ns;
	struct unwind_table table = { 0 };
	int result = unwind_table_compile(fd, &table);

	took_ns = clock_monotonic_ns() - began_ns;
	if (result < 0)
		return result;
	printf("rows=%" PRIu64 " pages=%" PRIu64 " rules=%" PRIu64 " bytes=%" PRIu64 " ns=%" PRIu64 "\n",
	       (uint64_t)table.rows, (uint64_t)table.pages_count, (uint64_t)table.rules_count,
	       (uint64_t)table.rows * ROW_BYTES + (uint64_t)table.pages_count * PAGE_BYTES, took_ns);
	unwind_table_free(&table);
	return 0;
}

int main(int argc, char **argv)
{
	const char *text = "7";
	const struct option_spec options[] = {
		{ "rounds", "N", "times to compile it (7)", &text },
	};
	const struct command_spec command = { "unwind_table",
					      "[--rounds N] FILE",
					      "Compiles a file's unwind table and prints its size and time.",
					      "unwind_table --rounds 7 /usr/lib/x86_64-linux-gnu/libc.so.6",
					      options,
					      ARRAY_SIZE(options) };
	_cleanup_close_ int fd = -EBADF;
	unsigned long long rounds;
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 1 || options_number(text, 1, 10000, &rounds)) {
		log_error("expected a file and 1 to 10000 rounds: see --help");
		return EXIT_USAGE;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	error = fd < 0 ? -errno : 0;
	for (unsigned long long i = 0; i < rounds && !error; i++)
		error = compile(fd);
	if (error)
		log_error("cannot compile the unwind table of %s: %s", argv[1], strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
