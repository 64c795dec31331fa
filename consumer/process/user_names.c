/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/user_names.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

int user_names_read(struct user_names *ret_names, const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	struct user_names names = { 0 };
	const struct passwd *user;

	if (!file)
		return -errno;
	while (names.count < USER_NAMES_MAX && (user = fgetpwent(file))) {
		struct user_name *name;

		if (strlen(user->pw_name) >= USER_NAME_BYTES)
			continue;
		if (array_make_room(names.names, names.count, names.room, 1UL)) {
			user_names_free(&names);
			return -ENOMEM;
		}
		name = &names.names[names.count++];
		name->uid = user->pw_uid;
		strcpy(name->name, user->pw_name);
	}
	*ret_names = names;
	return 0;
}

void user_names_free(struct user_names *names)
{
	free(names->names);
	*names = (struct user_names){ 0 };
}

const char *user_names_find(const struct user_names *names, uint32_t uid)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->names[i].uid == uid)
			return names->names[i].name;
	return "";
}

const char *user_name_write(const char *name, uint32_t uid, char *into, size_t into_bytes)
{
	if (*name)
		snprintf(into, into_bytes, "%s (uid %u)", name, uid);
	else
		snprintf(into, into_bytes, "uid %u", uid);
	return into;
}
