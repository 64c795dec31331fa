/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/unnamed.h"

#include "common/base/cleanup.h"
#include "common/text/plural.h"
#include "report/model/packages.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <stdlib.h>
#include <string.h>

#define PERCENT_IGNORED 1.0

struct unnamed_file {
	const char *path; /* NULL: none of its functions lacks a name */
	int64_t samples;
};

/* The innermost frame in user space; NULL: there is none. */
static const struct profile_frame *find_innermost(const struct profile *profile,
						  const struct profile_sample *sample)
{
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[sample->stack]);
	const struct profile_frame *frame = profile_walk_next(&walk);

	while (frame && profile->modules[frame->module].is_kernel)
		frame = profile_walk_next(&walk);
	return frame;
}

/* Adds up samples by module, in an array of as many elements. Returns the number of all that have a frame in user space. */
static int64_t add_up_modules(const struct profile *profile, struct unnamed_file *ret_files)
{
	int64_t all = 0;

	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const struct profile_frame *frame = find_innermost(profile, sample);
		const struct profile_module *module = frame ? &profile->modules[frame->module] : NULL;

		if (!module || sample->samples <= 0)
			continue;
		all = add_saturated(all, sample->samples);
		if (frame->is_resolved || strcmp(module->kind, "file") != 0)
			continue;
		ret_files[frame->module].path = module->path;
		ret_files[frame->module].samples =
			add_saturated(ret_files[frame->module].samples, sample->samples);
	}
	return all;
}

/* Files without a path are last. */
static int compare_paths(const void *a, const void *b)
{
	const struct unnamed_file *left = a, *right = b;

	if (!left->path || !right->path)
		return !left->path - !right->path;
	return strcmp(left->path, right->path);
}

static int most_samples_first(const void *a, const void *b)
{
	const struct unnamed_file *left = a, *right = b;
	return compare_numbers(right->samples, left->samples) ?: strcmp(left->path, right->path);
}

/* Adds up the modules of one path, in place: a file may have been replaced. Returns the number of paths. */
static uint32_t add_up_paths(struct unnamed_file *files, uint32_t count)
{
	uint32_t paths = 0;

	qsort(files, count, sizeof(*files), compare_paths);
	for (uint32_t i = 0; i < count && files[i].path; i++) {
		if (paths && !strcmp(files[paths - 1].path, files[i].path))
			files[paths - 1].samples = add_saturated(files[paths - 1].samples, files[i].samples);
		else
			files[paths++] = files[i];
	}
	return paths;
}

/* Keeps a text with the profile, and frees it. Returns NULL for NULL, and without memory. */
static const char *keep(struct profile *profile, char *text)
{
	const char *kept = text ? profile_keep(profile, text) : NULL;

	free(text);
	return kept;
}

/* What to do; NULL without memory. */
static const char *remedy_of(struct profile *profile, const char *symbols)
{
	char *remedy;

	if (!symbols)
		return "no Debian package of this machine has the file: give its debugging information to 'bourdon symbolize', or "
		       "strip it with --strip-debug alone";
	return asprintf(
		       &remedy,
		       "install %s; if apt does not find it, add the archive debian-debug. Later captures have names then, and "
		       "'bourdon symbolize --debug-dir /usr/lib/debug' gives them to earlier ones",
		       symbols) < 0
		       ? NULL
		       : keep(profile, remedy);
}

struct unnamed_sums {
	int64_t samples, unnamed, files;
};

static int add_row(struct rows *rows, struct profile *profile, const struct unnamed_file *file, char *package,
		   const struct unnamed_sums *sums)
{
	const char *symbols = package ? keep(profile, packages_symbols(package)) : NULL,
		   *remedy = remedy_of(profile, symbols);

	if (!remedy || (package && !symbols))
		return -ENOMEM;
	return rows_add(rows,
			(struct value[]){ value_text(file->path), value_number(file->samples),
					  value_percent(file->samples, sums->samples), value_text(symbols),
					  value_text(remedy), value_number(sums->samples),
					  value_percent(sums->unnamed, sums->samples),
					  value_number(sums->files) });
}

static int add_rows(struct rows *rows, struct profile *profile, const struct unnamed_file *files,
		    uint32_t count, const struct unnamed_sums *sums)
{
	_cleanup_free_ const char **paths = calloc(count + 1UL, sizeof(*paths));
	_cleanup_free_ char **packages = calloc(count + 1UL, sizeof(*packages));
	int result = paths && packages ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !result; i++)
		paths[i] = files[i].path;
	if (!result)
		result = packages_find(PACKAGES_LISTS, paths, count, packages);
	for (uint32_t i = 0; i < count && !result; i++)
		result = add_row(rows, profile, &files[i], packages[i], sums);
	for (uint32_t i = 0; i < count && packages; i++)
		free(packages[i]);
	return result;
}

int unnamed_rows(struct profile *profile, uint32_t limit, struct rows *ret_rows)
{
	static const char *const names[] = { "module", "samples",      "percent",         "symbols",
					     "remedy", "user_samples", "unnamed_percent", "files" };
	_cleanup_free_ struct unnamed_file *files = calloc(profile->modules_count + 1UL, sizeof(*files));
	struct rows rows = rows_of(names);
	struct unnamed_sums sums = { 0 };
	uint32_t paths;
	int result;

	*ret_rows = rows;
	if (!files)
		return -ENOMEM;
	sums.samples = add_up_modules(profile, files);
	paths = add_up_paths(files, profile->modules_count);
	for (uint32_t i = 0; i < paths; i++)
		sums.unnamed = add_saturated(sums.unnamed, files[i].samples);
	sums.files = paths;
	if (100.0 * (double)sums.unnamed <= PERCENT_IGNORED * (double)sums.samples)
		return 0;
	qsort(files, paths, sizeof(*files), most_samples_first);
	result = add_rows(&rows, profile, files, paths < limit ? paths : limit, &sums);
	return rows_finish(result, &rows, ret_rows);
}

/* ---- text ---- */

void unnamed_print(const struct layout *layout, struct query *query)
{
	char share[FORMAT_BYTES], head[2 * FORMAT_BYTES], place[FORMAT_BYTES];
	int64_t files = query_number(query, "files"), shown = 0;

	snprintf(head, sizeof(head), "functions without a name: innermost in %s of %lld samples; by file",
		 format_percent(query_real(query, "unnamed_percent"), share, sizeof(share)),
		 (long long)query_number(query, "user_samples"));
	print_lines_on(layout, head, 0);
	do {
		long long samples = query_number(query, "samples");
		int used = fprintf(layout->out, "  %s, %lld %s, ",
				   format_percent(query_real(query, "percent"), share, sizeof(share)),
				   samples, plural((uint64_t)samples, "sample", "samples"));

		fprintf(layout->out, "%s\n",
			format_place(query_text(query, "module"), layout->columns - used, place));
		print_labelled_on(layout, "do", query_text(query, "remedy"));
		shown++;
	} while (query_next(query));
	if (shown < files)
		fprintf(layout->out, "  … %lld more\n", (long long)(files - shown));
}
