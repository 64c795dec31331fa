/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_names.h owns the names of the host's own users (/etc/passwd), as they were when the daemon started: the confined
 * daemon cannot open the file.
 */
#ifndef BOURDON_CONSUMER_PROCESS_USER_NAMES_H
#define BOURDON_CONSUMER_PROCESS_USER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define USER_NAME_BYTES 33 /* as useradd(8) allows */
#define USER_NAMES_MAX 4096

struct user_name {
	uint32_t uid;
	char name[USER_NAME_BYTES];
};

struct user_names {
	struct user_name *names;
	size_t count, room;
};

/* Reads the file at `path`, its first USER_NAMES_MAX users with names of usual length. 0 or -errno: no name is known. */
int user_names_read(struct user_names *ret_names, const char *path);
void user_names_free(struct user_names *names);

/* "" where it is not known. */
const char *user_names_find(const struct user_names *names, uint32_t uid);

/* "NAME (uid 1000)", or "uid 1000" where the name is "". Returns `into`. */
const char *user_name_write(const char *name, uint32_t uid, char *into, size_t into_bytes);

#endif
