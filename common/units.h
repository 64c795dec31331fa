/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * units.h owns quantities as people write them: a number and its unit, always.
 */
#ifndef BOURDON_UNITS_H
#define BOURDON_UNITS_H

#include <stdint.h>

/*
 * "50ms", "1.5s", "10us", "250ns", "2min", "1h". 0, -EINVAL for anything else (a number without unit is
 * anything else), -ERANGE for what does not fit.
 */
int units_duration(const char *text, uint64_t *ret_ns);

/* "64KiB", "256MiB", "1GiB", "4096B": binary units. 0, -EINVAL, -ERANGE. */
int units_size(const char *text, uint64_t *ret_bytes);

/* "5%", "0.5%": parts per million. 0, -EINVAL, -ERANGE above 100 %. */
int units_percent(const char *text, uint32_t *ret_ppm);

#endif
