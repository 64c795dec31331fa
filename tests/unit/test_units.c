/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a quantity with a unit is exact, that one without a unit is refused, and that one that does not
 * fit, or would have to be rounded, is refused.
 */
#include "common/base/cleanup.h"
#include "common/text/units.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <inttypes.h>

struct unit_case {
	const char *text;
	int result;
	uint64_t value;
};

static const struct unit_case durations[] = {
	{ "250ns", 0, 250 },
	{ "10us", 0, 10000 },
	{ "50ms", 0, 50000000 },
	{ "1s", 0, 1000000000 },
	{ "2min", 0, 120000000000 },
	{ "1h", 0, 3600000000000 },
	{ "0s", 0, 0 },
	{ "0.0s", 0, 0 },
	{ "007s", 0, 7000000000 },
	{ "50 ms", 0, 50000000 },
	{ "1.5s", 0, 1500000000 },
	{ "0.000000001s", 0, 1 },
	{ "0.999999999s", 0, 999999999 },
	{ "0.25us", 0, 250 },
	{ "0.1ms", 0, 100000 },
	{ "0.5h", 0, 1800000000000 },
	{ "1.75min", 0, 105000000000 },
	{ "0.123456789min", 0, 7407407340 },
	{ "0.999999999min", 0, 59999999940 },
	{ "0.999999999h", 0, 3599999996400 },
	{ "1.123456789h", 0, 4044444440400 },
	{ "18446744073709551615ns", 0, UINT64_MAX },
	{ "18446744073.709551615s", 0, UINT64_MAX },
	{ "5124095h", 0, 5124095 * 3600000000000UL },
	/* finer than the resolution */
	{ "0.3ns", -EINVAL, 0 },
	{ "1.5ns", -EINVAL, 0 },
	{ "0.0005us", -EINVAL, 0 },
	{ "0.0000000001s", -EINVAL, 0 },
	/* too large */
	{ "18446744073709551616ns", -ERANGE, 0 },
	{ "18446744073.709551616s", -ERANGE, 0 },
	{ "18446744074s", -ERANGE, 0 },
	{ "5124096h", -ERANGE, 0 },
	{ "99999999999999999999999999h", -ERANGE, 0 },
	/* not a duration */
	{ "", -EINVAL, 0 },
	{ "5", -EINVAL, 0 },
	{ "5.5", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "-1s", -EINVAL, 0 },
	{ "+1s", -EINVAL, 0 },
	{ " 1s", -EINVAL, 0 },
	{ "1s ", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
	{ "1.s", -EINVAL, 0 },
	{ ".5s", -EINVAL, 0 },
	{ "1,5s", -EINVAL, 0 },
	{ "1..5s", -EINVAL, 0 },
	{ "1.5.5s", -EINVAL, 0 },
	{ "1e3s", -EINVAL, 0 },
	{ "0x10s", -EINVAL, 0 },
	{ "1S", -EINVAL, 0 },
	{ "1m", -EINVAL, 0 },
	{ "1sec", -EINVAL, 0 },
	{ "1d", 0, 86400000000000 },
	{ "1w", -EINVAL, 0 },
	{ "1s2s", -EINVAL, 0 },
	{ "1\xc2\xb5s", -EINVAL, 0 },
};

START_TEST(a_duration)
{
	const struct unit_case *one = &durations[_i];
	uint64_t ns = 4711;
	int result = units_duration(one->text, &ns);

	ck_assert_msg(result == one->result, "'%s': %d, expected %d", one->text, result, one->result);
	ck_assert_msg(ns == (result ? 4711 : one->value), "'%s': %" PRIu64, one->text, ns);
}
END_TEST

static const struct unit_case sizes[] = {
	{ "4096B", 0, 4096 },
	{ "64KiB", 0, 65536 },
	{ "256MiB", 0, 268435456 },
	{ "1GiB", 0, 1073741824 },
	{ "0B", 0, 0 },
	{ "1.5KiB", 0, 1536 },
	{ "0.5MiB", 0, 524288 },
	{ "0.001953125KiB", 0, 2 },
	{ "17179869183GiB", 0, 17179869183UL << 30 },
	{ "18446744073709551615B", 0, UINT64_MAX },
	{ "0.1KiB", -EINVAL, 0 },
	{ "0.5B", -EINVAL, 0 },
	{ "17179869184GiB", -ERANGE, 0 },
	{ "18446744073709551616B", -ERANGE, 0 },
	{ "64", -EINVAL, 0 },
	{ "64K", -EINVAL, 0 },
	{ "64KB", -EINVAL, 0 },
	{ "64kib", -EINVAL, 0 },
	{ "64b", -EINVAL, 0 },
	{ "1TiB", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
	{ "MiB", -EINVAL, 0 },
};

START_TEST(a_size)
{
	const struct unit_case *one = &sizes[_i];
	uint64_t bytes = 4711;
	int result = units_size(one->text, &bytes);

	ck_assert_msg(result == one->result, "'%s': %d, expected %d", one->text, result, one->result);
	ck_assert_msg(bytes == (result ? 4711 : one->value), "'%s': %" PRIu64, one->text, bytes);
}
END_TEST

static const struct unit_case percentages[] = {
	{ "5%", 0, 50000 },
	{ "0.5%", 0, 5000 },
	{ "0.0001%", 0, 1 },
	{ "99.9999%", 0, 999999 },
	{ "100%", 0, 1000000 },
	{ "100.0%", 0, 1000000 },
	{ "0%", 0, 0 },
	{ "5 %", 0, 50000 },
	{ "100.0001%", -ERANGE, 0 },
	{ "101%", -ERANGE, 0 },
	{ "4294967296%", -ERANGE, 0 },
	{ "99999999999999999999%", -ERANGE, 0 },
	{ "0.00001%", -EINVAL, 0 },
	{ "5", -EINVAL, 0 },
	{ "%", -EINVAL, 0 },
	{ "-5%", -EINVAL, 0 },
	{ "5%%", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
};

START_TEST(a_percentage)
{
	const struct unit_case *one = &percentages[_i];
	uint32_t ppm = 4711;
	int result = units_percent(one->text, &ppm);

	ck_assert_msg(result == one->result, "'%s': %d, expected %d", one->text, result, one->result);
	ck_assert_msg(ppm == (result ? 4711 : one->value), "'%s': %u", one->text, ppm);
}
END_TEST

/* Nine digits behind the point are exact. */
START_TEST(fractions_are_exact)
{
	struct dice dice = dice_new(110);

	for (int i = 0; i < 20000; i++) {
		uint64_t ns = dice_roll(&dice) >> dice_below(&dice, 60), back = 0;
		char text[64];

		snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64 "s", ns / 1000000000, ns % 1000000000);
		HOLDS(units_duration(text, &back) == 0 && back == ns);
		snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64 "us", ns / 1000, ns % 1000);
		HOLDS(units_duration(text, &back) == 0 && back == ns);
	}
}
END_TEST

SUITE(units)
{
	Suite *suite = suite_create("units");
	TCase *units = tcase_create("units");

	tcase_add_loop_test(units, a_duration, 0, ARRAY_SIZE(durations));
	tcase_add_loop_test(units, a_size, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(units, a_percentage, 0, ARRAY_SIZE(percentages));
	tcase_add_test(units, fractions_are_exact);
	suite_add_tcase(suite, units);
	return suite;
}
