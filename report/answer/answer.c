/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/answer.h"

#include "common/base/cleanup.h"
#include "common/verdict/line.h"
#include "report/text/shell_quote.h"

#include <stdarg.h>
#include <string.h>

const char *answer_say(struct answer *answer, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		text = NULL;
	return text ? profile_keep(answer->profile, text) : NULL;
}

size_t answer_columns(const struct answer *answer)
{
	return answer->report->json ? 0 : (size_t)answer->report->layout.columns - LAYOUT_LABEL_COLUMNS;
}

const char *answer_say_line(struct answer *answer, const struct line *line)
{
	char text[VERDICT_TEXT_BYTES];

	return profile_keep(answer->profile, line_write(line, answer_columns(answer), text, sizeof(text)));
}

const char *answer_put_name(struct answer *answer, const char *name, const char *text)
{
	const char *at = text ? strstr(text, ANSWER_NAME) : NULL;
	struct line line = { 0 };

	if (!at)
		return text;
	line_words(&line, "%.*s", (int)(at - text), text);
	line_name(&line, name);
	line_words(&line, "%s", at + strlen(ANSWER_NAME));
	return answer_say_line(answer, &line);
}

const char *answer_put_word(struct answer *answer, const char *name, const char *text)
{
	const char *at = text ? strstr(text, ANSWER_NAME) : NULL;
	_cleanup_free_ char *word = at ? shell_quote(name) : NULL;

	return word ? answer_say(answer, "%.*s%s%s", (int)(at - text), text, word, at + strlen(ANSWER_NAME))
		    : NULL;
}

const char *answer_unit_of(const char *cgroup)
{
	const char *slash = strrchr(cgroup, '/');

	return slash && shell_is_unit(slash + 1) ? slash + 1 : cgroup;
}

void answer_free(struct answer *answer)
{
	judged_free(&answer->judged);
	profile_free(&answer->others);
}
