/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hottest.h finds the function in which the samples on CPU of a program ended most often, for the sentence about a
 * capture's cause.
 */
#ifndef BOURDON_CONSUMER_STORE_HOTTEST_H
#define BOURDON_CONSUMER_STORE_HOTTEST_H

#include "consumer/capture/cause.h"
#include "consumer/symbols/resolved.h"

struct hottest_source {
	const struct capture *capture;
	const struct resolved *resolved;
};

/*
 * A cause_hottest: `user` is a struct hottest_source. Functions without a name are none. Takes time linear in rows and
 * frames.
 */
bool hottest_find(void *user, const struct usage_group *group, char *into, size_t into_bytes);

#endif
