/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/flame_options.h"

int flame_options_read(const struct flame_words *words, struct flame_options *ret_options)
{
	ret_options->icicle = words->icicle != NULL;
	return sample_options_read_one_kind(&words->samples, &ret_options->samples);
}
