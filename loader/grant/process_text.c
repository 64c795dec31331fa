/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/process_text.h"

#include <errno.h>
#include <string.h>

/*
 * Accepts digits only, where strtoull(3) accepts blanks and signs. Returns the position behind them, or NULL
 * where there are none.
 */
static const char *parse_number(const char *at, uint64_t base, uint64_t most, uint64_t *ret_number)
{
	static const char digits[] = "0123456789abcdef";
	const char *first = at;
	uint64_t number = 0;

	for (const char *digit; *at && (digit = memchr(digits, *at, base)); at++) {
		uint64_t value = (uint64_t)(digit - digits);

		if (number > (most - value) / base)
			return NULL;
		number = number * base + value;
	}
	*ret_number = number;
	return at == first ? NULL : at;
}

/* The position behind the next `count` blanks, or NULL. */
static const char *skip_fields(const char *at, int count)
{
	while (at && count-- > 0) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at;
}

/* Reads fields 3, 9 and 22. Field 2, the comm, may hold any byte: it ends at the last bracket. */
int process_text_stat(const char *text, struct process_stat *ret_stat)
{
	const char *name_end = strrchr(text, ')'),
		   *state = name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
	const char *flags_at = skip_fields(state, 6), *ticks_at = skip_fields(flags_at, 13);
	uint64_t flags = 0, ticks = 0;

	if (!ticks_at || state[1] != ' ')
		return -EBADMSG;
	flags_at = parse_number(flags_at, 10, UINT32_MAX, &flags);
	ticks_at = parse_number(ticks_at, 10, UINT64_MAX, &ticks);
	if (!flags_at || *flags_at != ' ' || !ticks_at || *ticks_at != ' ')
		return -EBADMSG;
	*ret_stat = (struct process_stat){ *state, (uint32_t)flags, ticks };
	return 0;
}

/*
 * Finds the line with this beginning. The comm comes first in the file, and the kernel escapes newlines in
 * it.
 */
static const char *find_line(const char *text, const char *beginning)
{
	const char *at = strstr(text, beginning);

	return at ? at + strlen(beginning) : NULL;
}

int process_text_status(const char *text, struct process_status *ret_status)
{
	const char *uids = find_line(text, "\nUid:"), *ids = find_line(text, "\nNSpid:");
	struct process_status status;
	uint64_t number = 0;

	for (size_t i = 0; i < PROCESS_UIDS; i++) {
		uids = uids && *uids == '\t' ? parse_number(uids + 1, 10, UINT32_MAX, &number) : NULL;
		status.uids[i] = (uid_t)number;
	}
	if (!uids || *uids != '\n')
		return -EBADMSG;
	number = 0;
	while (ids && *ids == '\t')
		ids = parse_number(ids + 1, 10, UINT32_MAX, &number);
	if (!ids || *ids != '\n' || !number)
		return -EBADMSG;
	status.innermost_id = (uint32_t)number;
	*ret_status = status;
	return 0;
}

int process_text_mapping(const char *line, struct process_mapping *ret_mapping)
{
	struct process_mapping mapping;
	const char *at = parse_number(line, 16, UINT64_MAX, &mapping.begins);

	if (!at || *at != '-' || !(at = parse_number(at + 1, 16, UINT64_MAX, &mapping.ends)) || *at != ' ' ||
	    strlen(at) < 6 || at[5] != ' ' || mapping.begins >= mapping.ends)
		return -EBADMSG;
	mapping.executable = at[3] == 'x';
	*ret_mapping = mapping;
	return 0;
}
