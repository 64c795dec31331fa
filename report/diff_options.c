/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <stdio.h>
#include <string.h>

#define BASELINE "baseline"

/* The position of the word in the list, or -1. */
static int find_word(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], word))
			return (int)i;
	return -1;
}

/* ID, or ID:before, ID:after, ID:all. */
static int read_operand(const char *word, struct diff_operand *ret_operand)
{
	static const char *const parts[] = {
		[DIFF_ALL] = ":all", [DIFF_BEFORE] = ":before", [DIFF_AFTER] = ":after"
	};
	const char *colon = strchr(word, ':');
	int part = colon ? find_word(parts, ARRAY_SIZE(parts), colon) : DIFF_ALL;
	unsigned long long number;
	char id[24];

	snprintf(id, sizeof(id), "%.*s", (int)(colon ? colon - word : (long)strlen(word)), word);
	if (part < 0 || options_number(id, 0, INT64_MAX, &number) < 0) {
		log_error(
			"'%s' is no capture's ID: 'bourdon list' shows them; ID:before and ID:after are its parts before and after its trigger",
			word);
		return EXIT_USAGE;
	}
	*ret_operand = (struct diff_operand){ .capture_id = (int64_t)number, .part = (enum diff_part)part };
	return OPTIONS_RUN;
}

/* A capture is compared with baselines by what followed its trigger: before it, it may have been as calm. */
static int read_operands(char **operands, int count, struct diff_options *options)
{
	bool is_baseline = count && !strcmp(operands[0], BASELINE);

	if (count < (is_baseline ? 1 : 2)) {
		log_error(
			"'diff' needs two captures, or 'baseline' and a capture: see 'bourdon diff --help'");
		return EXIT_USAGE;
	}
	options->a = (struct diff_operand){ .is_baseline = is_baseline };
	options->b = (struct diff_operand){ .capture_id = -1, .part = DIFF_AFTER };
	if (!is_baseline && read_operand(operands[0], &options->a) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (count < 2)
		return OPTIONS_RUN;
	if (!strcmp(operands[1], BASELINE)) {
		log_error(
			"'baseline' is what a capture is compared with, so it comes first: 'bourdon diff baseline ID'");
		return EXIT_USAGE;
	}
	if (read_operand(operands[1], &options->b) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (is_baseline && !strchr(operands[1], ':'))
		options->b.part = DIFF_AFTER;
	return OPTIONS_RUN;
}

static int read_samples(const struct sample_words *words, struct diff_options *options)
{
	struct sample_options samples;

	if (sample_options_read_one_kind(words, &samples) != OPTIONS_RUN)
		return EXIT_USAGE;
	options->off_cpu = samples.off_cpu;
	options->stall = samples.stall;
	options->roles = !samples.role                     ? DIFF_TARGETS | DIFF_OTHERS | DIFF_KERNEL
			 : !strcmp(samples.role, "target") ? DIFF_TARGETS
			 : !strcmp(samples.role, "other")  ? DIFF_OTHERS
							   : DIFF_KERNEL;
	if (options->off_cpu)
		options->roles = DIFF_TARGETS;
	return OPTIONS_RUN;
}

int diff_options_by(const char *by, bool *ret_by_total)
{
	static const char *const names[] = { "self", "total" };
	int found = by ? find_word(names, ARRAY_SIZE(names), by) : 0;

	if (found < 0) {
		log_error("--by '%s': expected self or total", by);
		return EXIT_USAGE;
	}
	*ret_by_total = found;
	return OPTIONS_RUN;
}

int diff_options_read(const struct diff_words *words, char **operands, int operands_count,
		      struct diff_options *ret_options)
{
	struct diff_options options = { .base = words->base, .all = words->all != NULL };
	int status = read_operands(operands, operands_count, &options);

	if (status == OPTIONS_RUN)
		status = read_samples(&words->samples, &options);
	if (status == OPTIONS_RUN)
		status = diff_options_by(words->by, &options.by_total);
	if (status == OPTIONS_RUN)
		*ret_options = options;
	return status;
}
