/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay waits, and who ends each wait has one right answer. With --read it waits in await_byte() for bytes on its
 * standard input, until that ends; with --pause it waits for a timer, in await_timer(). With --pulse it is the other end:
 * it writes a byte to its standard output every so often. It measures the waiting, and prints it at the end.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct settings {
	unsigned long long pulse_ms, pause_ms, seconds;
	bool reads;
};

static __attribute__((noinline)) bool await_byte(void)
{
	char byte;
	ssize_t got = read(STDIN_FILENO, &byte, 1);

	__asm__ volatile(""); /* no tail call: the function stays on the stack */
	return got == 1;
}

static __attribute__((noinline)) void await_timer(unsigned long long ms)
{
	const struct timespec pause = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	nanosleep(&pause, NULL);
	__asm__ volatile("");
}

static __attribute__((noinline)) bool write_byte(void)
{
	ssize_t put = write(STDOUT_FILENO, "", 1);

	__asm__ volatile("");
	return put == 1;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *pulse = NULL, *pause = NULL, *seconds = "5", *reads = NULL;
	struct settings settings = { 0 };
	const struct option_spec options[] = {
		{ "read", NULL, "wait for bytes on standard input", &reads },
		{ "pause", "MS", "wait for a timer, so long at a time", &pause },
		{ "pulse", "MS", "write a byte to standard output so often", &pulse },
		{ "seconds", "N", "end by itself (5); --read ends with its input", &seconds },
	};
	const struct command_spec command = { "relay",
					      "--read | --pause MS | --pulse MS [--seconds N]",
					      "Waits, and tells for how long.",
					      "relay --pulse 5 | relay --read",
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	settings.reads = reads != NULL;
	if (words || (pulse && options_number(pulse, 1, 10000, &settings.pulse_ms)) ||
	    (pause && options_number(pause, 1, 10000, &settings.pause_ms)) ||
	    options_number(seconds, 1, 86400, &settings.seconds) ||
	    settings.reads + (pulse != NULL) + (pause != NULL) != 1) {
		log_error("takes one of --read, --pause and --pulse: see --help");
		return EXIT_USAGE;
	}
	*ret_settings = settings;
	return OPTIONS_RUN;
}

int main(int count, char **arguments)
{
	uint64_t began_ns, until_ns, waited_ns = 0;
	struct settings settings;
	int parsed = read_settings(count, arguments, &settings);
	bool goes_on = true;

	if (parsed != OPTIONS_RUN)
		return parsed;
	if (!settings.pulse_ms) {
		puts("ready");
		fflush(stdout);
	}
	until_ns = clock_monotonic_ns() + settings.seconds * CLOCK_SECOND_NS;
	while (goes_on) {
		began_ns = clock_monotonic_ns();
		if (settings.reads)
			goes_on = await_byte();
		else
			await_timer(settings.pause_ms + settings.pulse_ms);
		waited_ns += clock_monotonic_ns() - began_ns;
		if (settings.pulse_ms)
			goes_on = write_byte();
		if (!settings.reads)
			goes_on &= clock_monotonic_ns() < until_ns;
	}
	if (!settings.pulse_ms)
		printf("waited_ns=%llu\n", (unsigned long long)waited_ns);
	return EXIT_DONE;
}
