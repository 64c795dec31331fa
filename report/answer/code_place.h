/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_place.h owns where in the code a program was: the function in which most samples of it end, and the hottest stack that
 * ends there.
 */
#ifndef BOURDON_REPORT_ANSWER_CODE_PLACE_H
#define BOURDON_REPORT_ANSWER_CODE_PLACE_H

#include "common/verdict/verdict.h"
#include "report/model/profile.h"

#define CODE_PLACE_STACKS 16U

struct code_place {
	/* The hottest stack, then others with its functions: they differ in where in the functions they were. */
	int64_t stack_ids[CODE_PLACE_STACKS];
	uint32_t stacks_count; /* 0: nothing was found */
	char text[1024];       /* "99 % of 161 samples in burn_cpu < worker_main < start_thread"; "": none */
	char function[96];     /* the first of these */
};

/*
 * Finds it in the profile: where the program ran; or, with a resource, where it waited for that, and with "" where it waited
 * for whatever. Without a place it may be anywhere; NULL is everybody of the profile. Of kernel threads all of that kind are meant:
 * kworker/1:2 is a kworker. Returns 0 or -ENOMEM.
 */
int code_place_find(const struct profile *profile, const struct verdict_who *who, bool is_kernel,
		    const char *resource, struct code_place *ret_place);

#endif
