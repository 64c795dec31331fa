/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/export_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <string.h>

#define SEE "see 'bourdon export --help'"

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

/* The database's words have a hyphen. */
static int read_kind(const char *word, struct export_options *options)
{
	bool is_on = word && (!strcmp(word, "oncpu") || !strcmp(word, "on-cpu"));
	bool is_off = word && (!strcmp(word, "offcpu") || !strcmp(word, "off-cpu"));

	if (word && !is_on && !is_off) {
		log_error("--kind '%s' is unknown: expected oncpu or offcpu", word);
		return EXIT_USAGE;
	}
	options->on_cpu = !is_off;
	options->off_cpu = is_off || (!is_on && !options->format->counts_alike);
	return OPTIONS_RUN;
}

static int read_stall(const char *word, struct export_options *options)
{
	static const char *const stalls[] = { "none", "cpu", "memory", "io", "memory+io", "memory+cpu" };

	if (word && !is_one_of(word, stalls, ARRAY_SIZE(stalls))) {
		log_error("--stall '%s' is unknown: expected cpu, memory, io, memory+io, memory+cpu or none",
			  word);
		return EXIT_USAGE;
	}
	options->stall = word;
	return OPTIONS_RUN;
}

static int read_role(const char *word, struct export_options *options)
{
	static const char *const roles[] = { "target", "other", "kernel" };

	if (word && !is_one_of(word, roles, ARRAY_SIZE(roles))) {
		log_error("--role '%s' is unknown: expected target, other or kernel", word);
		return EXIT_USAGE;
	}
	options->role = word;
	return OPTIONS_RUN;
}

int export_options_read(const struct export_words *words, struct export_options *ret_options)
{
	struct export_options options = { .out = words->out };
	char formats[128];

	export_format_list(formats, sizeof(formats));
	if (!words->format) {
		log_error("'export' needs --format, one of %s: " SEE, formats);
		return EXIT_USAGE;
	}
	options.format = export_format_find(words->format);
	if (!options.format) {
		log_error("--format '%s' is unknown: expected one of %s", words->format, formats);
		return EXIT_USAGE;
	}
	if (read_kind(words->kind, &options) != OPTIONS_RUN ||
	    read_stall(words->stall, &options) != OPTIONS_RUN ||
	    read_role(words->role, &options) != OPTIONS_RUN)
		return EXIT_USAGE;
	*ret_options = options;
	return OPTIONS_RUN;
}
