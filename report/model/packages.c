/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/packages.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_END ".list"
#define LIST_BYTES_MAX (64U << 20)
/* Debian's directories at the root are links into /usr, but older packages list their files there (UsrMerge). */
#define MERGED "/usr"

struct wanted_file {
	const char *path;
	char **package;
};

struct wanted_files {
	struct wanted_file *files; /* sorted by path */
	uint32_t count;
};

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct wanted_file *)a)->path, ((const struct wanted_file *)b)->path);
}

/* Notes the package of a file, which may be wanted several times. */
static bool note_package(const struct wanted_files *wanted, const char *path, const char *package)
{
	const struct wanted_file key = { .path = path };
	const struct wanted_file *end = wanted->files + wanted->count,
				 *file = bsearch(&key, wanted->files, wanted->count, sizeof(key),
						 compare_files);

	if (!file)
		return false;
	while (file > wanted->files && !compare_files(file - 1, &key))
		file--;
	for (; file < end && !compare_files(file, &key); file++)
		if (!*file->package)
			*file->package = strdup(package);
	return true;
}

/* The name of a list is "PACKAGE.list" or "PACKAGE:ARCHITECTURE.list". */
static char *package_of_list(const char *name)
{
	size_t bytes = strcspn(name, ":"), whole = strlen(name) - strlen(LIST_END);

	return strndup(name, bytes < whole ? bytes : whole);
}

static void read_list(int directory, const char *name, const struct wanted_files *wanted)
{
	_cleanup_free_ char *text = NULL, *package = package_of_list(name);
	char merged[PATH_MAX];
	size_t bytes;

	if (!package || file_read_text(directory, name, LIST_BYTES_MAX, &text, &bytes))
		return;
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (!note_package(wanted, line, package) &&
		    (size_t)snprintf(merged, sizeof(merged), MERGED "%s", line) < sizeof(merged))
			note_package(wanted, merged, package);
	}
}

static void read_lists(const char *lists, const struct wanted_files *wanted)
{
	DIR *directory = opendir(lists);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const char *end = strrchr(entry->d_name, '.');

		if (end && !strcmp(end, LIST_END))
			read_list(dirfd(directory), entry->d_name, wanted);
	}
	if (directory)
		closedir(directory);
}

int packages_find(const char *lists, const char *const *paths, uint32_t count, char **ret_packages)
{
	_cleanup_free_ struct wanted_file *files = calloc(count + 1UL, sizeof(*files));

	if (!files)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		ret_packages[i] = NULL;
		files[i] = (struct wanted_file){ paths[i], &ret_packages[i] };
	}
	qsort(files, count, sizeof(*files), compare_files);
	if (count)
		read_lists(lists, &(struct wanted_files){ files, count });
	return 0;
}

char *packages_symbols(const char *package)
{
	char *symbols;

	/* it has no automatic -dbgsym package */
	if (!strcmp(package, "libc6"))
		return strdup("libc6-dbg");
	return asprintf(&symbols, "%s-dbgsym", package) < 0 ? NULL : symbols;
}
