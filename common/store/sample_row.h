/* SPDX-License-Identifier: GPL-2.0-only */
/* sample_row.h owns how a row of sample_row keeps its times, and how two of one key become one. */
#ifndef BOURDON_COMMON_STORE_SAMPLE_ROW_H
#define BOURDON_COMMON_STORE_SAMPLE_ROW_H

/* The times of a row of sample_row, as the view sample has them. */
#define SAMPLE_ROW_TIMES "'[[' || replace(times, ' ', '],[') || ']]'"

/*
 * Follows the values of a row for sample_row: if there is such a row, they are added to it. Weights that follow from the
 * number of samples are NULL, and so is their sum.
 */
#define SAMPLE_ROW_SUM                                                                                           \
	"ON CONFLICT DO UPDATE SET samples = samples + excluded.samples, weight_ns = iif(weight_ns IS NULL AND " \
	"excluded.weight_ns IS NULL, NULL, ifnull(weight_ns, samples * " SAMPLE_PERIOD_NS                        \
	") + ifnull(excluded.weight_ns, excluded.samples * " SAMPLE_PERIOD_NS                                    \
	")), times = ifnull(times || ' ' || excluded.times, ifnull(times, excluded.times))"
#define SAMPLE_PERIOD_NS "(SELECT 1000000000 / hz FROM capture c WHERE c.capture_id = excluded.capture_id)"

#endif
