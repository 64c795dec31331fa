/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer_facts.h"

#include "common/cleanup.h"
#include "report/format.h"

#include <stdarg.h>
#include <string.h>

/* As consumer/capture/cause_facts.h has them: tests/unit/test_why.c compares. */
const char *const verdict_words[CAUSE_IS_OTHER + 1] = {
	[CAUSE_IS_THROTTLED] = "throttled by its own quota",
	[CAUSE_IS_COMPETING] = "competing processes",
	[CAUSE_IS_OWN_THREADS] = "its own threads",
	[CAUSE_IS_OWN_LIMIT] = "reclaim at its own limit",
	[CAUSE_IS_SHORTAGE] = "global memory shortage",
	[CAUSE_IS_DEVICE] = "slow or busy device",
	[CAUSE_IS_OWN_IO] = "its own I/O",
	[CAUSE_IS_INTERRUPTS] = "interrupts",
	[CAUSE_IS_STEAL] = "the hypervisor took it",
	[CAUSE_IS_KILL] = "kill",
	[CAUSE_IS_NEGLIGIBLE] = "negligible",
	[CAUSE_IS_UNDETERMINED] = "undetermined",
};

static __attribute__((format(printf, 2, 0))) const char *keep_formatted(struct answer *answer,
									const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL;
		return NULL;
	}
	return profile_keep(answer->profile, text);
}

const char *answer_say(struct answer *answer, const char *format, ...)
{
	va_list arguments;
	const char *text;

	va_start(arguments, format);
	text = keep_formatted(answer, format, arguments);
	va_end(arguments);
	return text;
}

/* ---- names ---- */

/* At least so much of a name is left, although the line is then too long. */
#define NAME_COLUMNS_LEAST 12U

const char *answer_say_name(struct answer *answer, const char *name, const char *format, ...)
{
	size_t room = answer->report->json ? SIZE_MAX
					   : (size_t)answer->report->layout.columns - LAYOUT_LABEL_COLUMNS;
	size_t name_bytes = strlen(name) + sizeof("…"), rest;
	_cleanup_free_ char *cut = malloc(name_bytes);
	const char *text, *at;
	va_list arguments;

	va_start(arguments, format);
	text = keep_formatted(answer, format, arguments);
	va_end(arguments);
	at = text ? strstr(text, ANSWER_NAME) : NULL;
	if (!at || !cut)
		return cut ? text : NULL;
	rest = format_columns(text) - strlen(ANSWER_NAME);
	room = room > rest + NAME_COLUMNS_LEAST ? room - rest : NAME_COLUMNS_LEAST;
	format_cut_name(name, room, cut, name_bytes);
	return answer_say(answer, "%.*s%s%s", (int)(at - text), text, cut, at + strlen(ANSWER_NAME));
}
