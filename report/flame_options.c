/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/flame_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#include <string.h>

/* The number of the word in the list, which has `count`; -1: it is not there. */
static int find_word(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], word))
			return (int)i;
	return -1;
}

int flame_options_read(const struct flame_words *words, struct flame_options *ret_options)
{
	static const char *const roles[] = {
		[FLAME_TARGETS] = "targets", [FLAME_OTHERS] = "others", [FLAME_ALL] = "all"
	};
	static const char *const kinds[] = { "oncpu", "offcpu" };
	static const char *const stalls[] = { "none", "cpu", "memory", "io" };
	int role = words->role ? find_word(roles, ARRAY_SIZE(roles), words->role) : FLAME_TARGETS;
	int kind = words->kind ? find_word(kinds, ARRAY_SIZE(kinds), words->kind) : words->stall != NULL;

	if (role < 0)
		log_error("--role '%s' is unknown: expected targets, others or all", words->role);
	else if (kind < 0)
		log_error("--kind '%s' is unknown: expected oncpu or offcpu", words->kind);
	else if (words->stall && find_word(stalls, ARRAY_SIZE(stalls), words->stall) < 0)
		log_error("--stall '%s' is unknown: expected none, cpu, memory or io", words->stall);
	else if (words->stall && !kind)
		log_error("--stall is of waiting: leave out --kind oncpu");
	else if (role == FLAME_OTHERS && kind)
		log_error("--role others has no waiting: others than targets are recorded on CPU alone");
	else {
		*ret_options = (struct flame_options){ .role = (enum flame_role)role,
						       .off_cpu = kind,
						       .stall = words->stall,
						       .icicle = words->icicle != NULL };
		return OPTIONS_RUN;
	}
	return EXIT_USAGE;
}
