/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/time_text.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/text/units.h"
#include "report/text/format.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define SECOND_NS ((int64_t)CLOCK_SECOND_NS)

char *time_text_write(int64_t ns, char into[TIME_TEXT_BYTES])
{
	time_t seconds = (time_t)(ns / SECOND_NS);
	struct tm when;

	gmtime_r(&seconds, &when);
	strftime(into, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &when);
	return into;
}

char *time_text_write_duration(int64_t ns, char into[TIME_TEXT_BYTES])
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = { { "d", 86400 }, { "h", 3600 }, { "min", 60 }, { "s", 1 } };
	int64_t seconds = ns / SECOND_NS;
	size_t i = 0;
	int used;

	if (seconds < 1)
		return format_duration((double)ns, " ", into, TIME_TEXT_BYTES);
	while (seconds < units[i].seconds)
		i++;
	used = snprintf(into, TIME_TEXT_BYTES, "%lld %s", (long long)(seconds / units[i].seconds),
			units[i].name);
	seconds %= units[i].seconds;
	if (++i < ARRAY_SIZE(units) && seconds >= units[i].seconds)
		snprintf(into + used, TIME_TEXT_BYTES - (size_t)used, " %lld %s",
			 (long long)(seconds / units[i].seconds), units[i].name);
	return into;
}

/* Reads exactly so many digits. */
static bool read_digits(const char **at, int digits, int *ret_number)
{
	int number = 0;

	for (; digits; digits--, ++*at) {
		if (!isdigit((unsigned char)**at))
			return false;
		number = number * 10 + **at - '0';
	}
	*ret_number = number;
	return true;
}

static bool read_character(const char **at, const char *one_of)
{
	for (; *one_of; one_of++)
		if (**at == *one_of) {
			++*at;
			return true;
		}
	return false;
}

/* Reads what may follow the seconds: a point and digits, of which nine count. */
static bool read_fraction(const char **at, int64_t *ret_ns)
{
	int64_t ns = 0, unit = SECOND_NS / 10;

	*ret_ns = 0;
	if (!read_character(at, "."))
		return true;
	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at, unit /= 10)
		ns += (**at - '0') * unit;
	*ret_ns = ns;
	return true;
}

/* Reads the zone: how far its clocks are ahead of UTC. */
static bool read_zone(const char **at, int64_t *ret_seconds)
{
	bool is_behind = **at == '-';
	int hours, minutes;

	*ret_seconds = 0;
	if (read_character(at, "Zz"))
		return true;
	if (!read_character(at, "+-") || !read_digits(at, 2, &hours) || !read_character(at, ":") ||
	    !read_digits(at, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_seconds = (hours * 60 + minutes) * (is_behind ? -60 : 60);
	return true;
}

static int read_time(const char *at, int64_t *ret_ns)
{
	int64_t fraction_ns, ahead, ns;
	struct tm when = { 0 };
	int day;
	time_t seconds;

	if (!read_digits(&at, 4, &when.tm_year) || !read_character(&at, "-") ||
	    !read_digits(&at, 2, &when.tm_mon) || !read_character(&at, "-") || !read_digits(&at, 2, &day) ||
	    !read_character(&at, "Tt ") || !read_digits(&at, 2, &when.tm_hour) || !read_character(&at, ":") ||
	    !read_digits(&at, 2, &when.tm_min) || !read_character(&at, ":") ||
	    !read_digits(&at, 2, &when.tm_sec) || !read_fraction(&at, &fraction_ns) ||
	    !read_zone(&at, &ahead) || *at)
		return -EINVAL;
	if (when.tm_mon < 1 || when.tm_mon > 12 || when.tm_hour > 23 || when.tm_min > 59 || when.tm_sec > 60)
		return -EINVAL;
	/* of a leap second the clock of the kernel has the second before it twice */
	if (when.tm_sec == 60)
		when.tm_sec = 59;
	when.tm_year -= 1900;
	when.tm_mon--;
	when.tm_mday = day;
	/* a day that its month does not have becomes one of the next month */
	seconds = timegm(&when);
	if (when.tm_mday != day)
		return -EINVAL;
	if (__builtin_mul_overflow((int64_t)seconds - ahead, SECOND_NS, &ns) ||
	    __builtin_add_overflow(ns, fraction_ns, &ns))
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

int time_text_read(const char *text, int64_t now_ns, int64_t *ret_ns)
{
	uint64_t ago_ns;
	int result = units_duration(text, &ago_ns);

	if (result == -EINVAL)
		return read_time(text, ret_ns);
	if (result < 0 || ago_ns > INT64_MAX)
		return -ERANGE;
	return __builtin_sub_overflow(now_ns, (int64_t)ago_ns, ret_ns) ? -ERANGE : 0;
}
