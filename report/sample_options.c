/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/sample_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <string.h>

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

int sample_options_read(const struct sample_words *words, struct sample_options *ret_options)
{
	static const char *const
		on_cpu[] = { "oncpu", "on-cpu" },
		*const off_cpu[] = { "offcpu", "off-cpu" }, *const stalls[] = { "none",      "cpu",
										"memory",    "io",
										"memory+io", "memory+cpu" },
		*const roles[] = { "target", "other", "kernel", "all" };
	bool is_on = words->kind && is_one_of(words->kind, on_cpu, ARRAY_SIZE(on_cpu)),
	     is_off = words->kind && is_one_of(words->kind, off_cpu, ARRAY_SIZE(off_cpu)),
	     is_all = !words->role || !strcmp(words->role, "all");

	if (words->kind && !is_on && !is_off)
		log_error("--kind '%s' is unknown: expected oncpu or offcpu", words->kind);
	else if (words->stall && !is_one_of(words->stall, stalls, ARRAY_SIZE(stalls)))
		log_error("--stall '%s' is unknown: expected cpu, memory, io, memory+io, memory+cpu or none",
			  words->stall);
	else if (words->role && !is_one_of(words->role, roles, ARRAY_SIZE(roles)))
		log_error("--role '%s' is unknown: expected target, other, kernel or all", words->role);
	else {
		*ret_options = (struct sample_options){ .on_cpu = !is_off,
							.off_cpu = !is_on,
							.stall = words->stall,
							.role = is_all ? NULL : words->role };
		return OPTIONS_RUN;
	}
	return EXIT_USAGE;
}

int sample_options_read_one_kind(const struct sample_words *words, struct sample_options *ret_options)
{
	const struct sample_words one = { .kind = words->kind    ? words->kind
						  : words->stall ? "offcpu"
								 : "oncpu",
					  .stall = words->stall,
					  .role = words->role ? words->role : "target" };

	if (sample_options_read(&one, ret_options) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (ret_options->stall && ret_options->on_cpu)
		log_error("--stall is of waiting: leave out --kind %s", one.kind);
	else if (ret_options->role && ret_options->off_cpu && strcmp(ret_options->role, "target") != 0)
		log_error("--role %s has no waiting: others than targets are recorded on CPU alone",
			  ret_options->role);
	else
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

/* Whether `part` is one of the words of a class such as "memory+io", or the class itself. */
static bool has_stall(const char *class, const char *part)
{
	size_t bytes = strlen(part);

	for (const char *at = class; at; at = strchr(at, '+')) {
		at += *at == '+';
		if (!strncmp(at, part, bytes) && (!at[bytes] || at[bytes] == '+'))
			return true;
	}
	return false;
}

bool sample_is_wanted(const struct profile *profile, const struct profile_sample *sample,
		      const struct sample_options *options)
{
	if (!(options->on_cpu && sample->kind == profile->on_cpu) &&
	    !(options->off_cpu && sample->kind == profile->off_cpu))
		return false;
	if (options->stall && !has_stall(profile_text(profile, sample->stall), options->stall))
		return false;
	return !options->role || !strcmp(profile_text(profile, sample->role), options->role);
}
