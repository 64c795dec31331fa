/* SPDX-License-Identifier: GPL-2.0-only */
/* units.h parses quantities as people write them: a number with a mandatory unit. */
#ifndef BOURDON_COMMON_TEXT_UNITS_H
#define BOURDON_COMMON_TEXT_UNITS_H

#include <stdint.h>

/*
 * Parses "50ms", "1.5s", "10us", "250ns", "2min", "1h". Returns 0, -EINVAL for other text (also a number
 * without unit), or -ERANGE if the value does not fit.
 */
int units_duration(const char *text, uint64_t *ret_ns);

/* Parses "64KiB", "256MiB", "1GiB", "4096B": binary units. Returns 0, -EINVAL or -ERANGE. */
int units_size(const char *text, uint64_t *ret_bytes);

/* Parses "5%", "0.5%" into parts per million. Returns 0, -EINVAL, or -ERANGE above 100 %. */
int units_percent(const char *text, uint32_t *ret_ppm);

#endif
