/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/held_files.h"

#include "common/base/cleanup.h"

#include <fcntl.h>

static int duplicate(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : copy;
}

static void let_go(struct held_file *held)
{
	close(held->fd);
	mapping_drop_file(held->file);
	*held = (struct held_file){ 0 };
}

static const struct held_file *find(const struct held_files *files, const struct mapped_file *file)
{
	for (uint32_t i = 0; i < HELD_MAX; i++)
		if (files->held[i].file == file)
			return &files->held[i];
	return NULL;
}

int held_files_open(const struct held_files *files, const struct mapped_file *file)
{
	const struct held_file *held = find(files, file);

	return held ? duplicate(held->fd) : -ENOENT;
}

/*
 * The place for one more file of this user: that of its first one, if it has half of all and is not root; or a free one; or that of
 * the first of all.
 */
static struct held_file *find_place(struct held_file *held, uint32_t count, uint32_t uid)
{
	struct held_file *first = NULL, *free_place = NULL, *own = NULL;
	uint32_t owned = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!held[i].file) {
			free_place = &held[i];
			continue;
		}
		if (!first || held[i].turn < first->turn)
			first = &held[i];
		if (held[i].file->uid != uid)
			continue;
		owned++;
		if (!own || held[i].turn < own->turn)
			own = &held[i];
	}
	if (uid && owned >= count / 2)
		return own;
	return free_place ? free_place : first;
}

void held_files_add(struct held_files *files, struct mapped_file *file, int fd, bool is_granted)
{
	struct held_file *held = is_granted ? files->held : files->held + HELD_GRANTED, *place;
	uint32_t count = is_granted ? HELD_GRANTED : HELD_OPENED;
	int copy;

	if (find(files, file))
		return;
	place = find_place(held, count, file->uid);
	copy = duplicate(fd);
	if (copy < 0)
		return;
	if (place->file)
		let_go(place);
	mapping_hold_file(file);
	*place = (struct held_file){ file, copy, ++files->turns };
}

void held_files_sweep(struct held_files *files)
{
	for (uint32_t i = 0; i < HELD_MAX; i++)
		if (files->held[i].file && files->held[i].file->users == 1)
			let_go(&files->held[i]);
}

void held_files_close(struct held_files *files)
{
	for (uint32_t i = 0; i < HELD_MAX; i++)
		if (files->held[i].file)
			let_go(&files->held[i]);
}
