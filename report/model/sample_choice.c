/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/sample_choice.h"

#include "common/system/log.h"
#include "common/system/options.h"

#include <string.h>

struct sample_choice sample_choice_of(const struct sample_words *words)
{
	bool is_on = words->kind && !strncmp(words->kind, "on", 2);

	return (struct sample_choice){ .on_cpu = !words->kind || is_on,
				       .off_cpu = !is_on,
				       .stall = words->stall,
				       .role = words->role && strcmp(words->role, "all") != 0 ? words->role
											      : NULL };
}

int sample_choice_read_one_kind(const struct sample_words *words, struct sample_choice *ret_choice)
{
	const struct sample_words one = { .kind = words->kind    ? words->kind
						  : words->stall ? "offcpu"
								 : "oncpu",
					  .stall = words->stall,
					  .role = words->role ? words->role : "target" };

	*ret_choice = sample_choice_of(&one);
	if (ret_choice->stall && ret_choice->on_cpu)
		log_error("--stall is of waiting: leave out --kind %s", one.kind);
	else if (ret_choice->role && ret_choice->off_cpu && strcmp(ret_choice->role, "target") != 0)
		log_error("--role %s has no waiting: others than targets are recorded on CPU alone",
			  ret_choice->role);
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
		      const struct sample_choice *choice)
{
	if (!(choice->on_cpu && sample->kind == profile->on_cpu) &&
	    !(choice->off_cpu && sample->kind == profile->off_cpu))
		return false;
	if (choice->stall && !has_stall(profile_text(profile, sample->stall), choice->stall))
		return false;
	return !choice->role || !strcmp(profile_text(profile, sample->role), choice->role);
}
