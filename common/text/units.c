/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text/units.h"

#include "common/base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/*
 * A decimal number times its unit, in integers: a double would round exact values. Digits finer than the base
 * unit (ns, byte) are refused, because they would be lost.
 */
static int scaled(const char *text, const struct unit *units, size_t count, uint64_t *ret_value)
{
	uint64_t whole = 0, fraction = 0, scale = 1, value;
	unsigned __int128 part;
	const char *at = text;
	const struct unit *unit = NULL;

	if (!isdigit((unsigned char)*at))
		return -EINVAL;
	for (; isdigit((unsigned char)*at); at++)
		if (__builtin_mul_overflow(whole, 10U, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return -ERANGE;
	if (*at == '.') {
		if (!isdigit((unsigned char)*++at))
			return -EINVAL;
		for (; isdigit((unsigned char)*at); at++) {
			if (scale >= 1000000000)
				return -EINVAL;
			scale *= 10;
			fraction = fraction * 10 + (uint64_t)(*at - '0');
		}
	}
	while (*at == ' ')
		at++;
	for (size_t i = 0; i < count && !unit; i++)
		if (!strcmp(at, units[i].name))
			unit = &units[i];
	if (!unit)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit->factor, &value))
		return -ERANGE;
	part = (unsigned __int128)fraction * unit->factor; /* nine digits of hours need more than 64 bits */
	if (part % scale)
		return -EINVAL;
	if (__builtin_add_overflow(value, (uint64_t)(part / scale), &value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int units_duration(const char *text, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "min", 60000000000 },
		{ "h", 3600000000000 },
		{ "d", 86400000000000 },
	};

	return scaled(text, units, ARRAY_SIZE(units), ret_ns);
}

int units_size(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{ "B", 1 }, { "KiB", 1UL << 10 }, { "MiB", 1UL << 20 }, { "GiB", 1UL << 30 }
	};

	return scaled(text, units, ARRAY_SIZE(units), ret_bytes);
}

int units_percent(const char *text, uint32_t *ret_ppm)
{
	static const struct unit units[] = { { "%", 10000 } };
	uint64_t ppm;
	int result = scaled(text, units, ARRAY_SIZE(units), &ppm);

	if (result < 0)
		return result;
	if (ppm > 1000000)
		return -ERANGE;
	*ret_ppm = (uint32_t)ppm;
	return 0;
}
