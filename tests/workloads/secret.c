/* SPDX-License-Identifier: GPL-2.0-only */
/* secret burns CPU time with a stack full of one word, which no other process knows and nobody may learn. */
#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORDS 512U

static volatile uint64_t spins;

static __attribute__((noinline)) void burn_secret(volatile const uint64_t *words, time_t until)
{
	while (time(NULL) < until)
		for (unsigned int i = 0; i < 1000000; i++)
			spins += words[i % WORDS];
}

int main(int argc, char **argv)
{
	const char *seconds = "10", *word = NULL;
	const struct option_spec options[] = {
		{ "seconds", "N", "how long (10)", &seconds },
		{ "word", "HEX", "what the stack is full of", &word },
	};
	const struct command_spec command = { "secret",
					      "--word HEX [--seconds N]",
					      "Burns CPU time over a secret.",
					      "secret --word 5ec2e75ec2e75ec2",
					      options,
					      ARRAY_SIZE(options) };
	volatile uint64_t words[WORDS];
	int found, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &found);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (found || !word) {
		log_error("takes --word HEX");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < WORDS; i++)
		words[i] = strtoull(word, NULL, 16);
	puts("ready");
	fflush(stdout);
	burn_secret(words, time(NULL) + strtol(seconds, NULL, 10));
	return EXIT_DONE;
}
