/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/files_read.h"

#include "common/system/files.h"

void files_read_note(struct files_read *read, const struct stat *file)
{
	if (file_is_roots_alone(file))
		return;
	/* whoever may write it is somebody else */
	read->has_several = read->has_several || file->st_mode & (S_IWGRP | S_IWOTH) ||
			    (read->has_others && read->owner != file->st_uid);
	read->has_others = true;
	read->owner = file->st_uid;
}

bool files_read_is_credible(const struct files_read *read, const struct stat *file)
{
	struct files_read with_it = *read;

	files_read_note(&with_it, file);
	return file_is_roots_alone(file) ? !with_it.has_others : !with_it.has_several;
}

bool files_read_is_unfit(const struct files_read *read, const struct stat *file)
{
	return read->has_others && !files_read_is_credible(read, file);
}
