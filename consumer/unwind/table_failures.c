/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/table_failures.h"

#include "common/base/numbers.h"
#include "common/system/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table_failures {
	pthread_mutex_t lock;
	uint32_t count;
	struct table_failure list[TABLE_FAILURES_MOST];
};

/* ---- in words ---- */

const struct table_reason_text table_reason_texts[TABLE_REASONS] = {
	[TABLE_NO_ROOM] = { "no-room", "no room in the kernel's maps", "raise bourdon-load --unwind-memory" },
	[TABLE_REFUSED] = { "refused", "bourdond cannot open the file, and bourdon-grant did not give it",
			    "start bourdon-grant.socket, without --files none; or make the file readable" },
	[TABLE_SYMBOLIZER_DIED] = { "symbolizer-died", "the symbolizer died reading it",
				    "replace the file if it is damaged; otherwise report it" },
	[TABLE_INVALID] = { "invalid",
			    "no rule of its .eh_frame can be used, or the symbolizer sent an invalid table",
			    "replace the file if it is damaged; otherwise report it" },
	[TABLE_TOO_LARGE] = { "too-large", "it has more rows or rules than a table can have",
			      "build it with -fno-omit-frame-pointer" },
	[TABLE_TOO_SLOW] = { "too-slow", "reading it took too long",
			     "nothing, if the machine was busy: it is tried again" },
	[TABLE_NO_MEMORY] = { "no-memory", "no memory", "nothing: it is tried again" },
	[TABLE_FAILED] = { "failed", "it failed", "nothing: it is tried again" },
	[TABLE_WAITS] = { "waits", "its request to bourdon-grant waits for its turn",
			  "nothing: it is asked for within seconds" },
	[TABLE_NO_EH_FRAME] = { "no-eh-frame", "it has neither .eh_frame nor .debug_frame",
				"nothing, if it keeps frame pointers, as Go does; otherwise build it with "
				"-fasynchronous-unwind-tables" },
	[TABLE_NOT_ELF] = { "not-elf", "it is no ELF file of this machine", "nothing" },
};

enum table_reason table_reason_of(int error)
{
	static const struct {
		int error;
		enum table_reason reason;
	} reasons[] = {
		/* mapped_files_open(): refused; another file is at the path; bourdon-grant hands out none, or is absent */
		{ EACCES, TABLE_REFUSED },        { ESTALE, TABLE_REFUSED },       { EPERM, TABLE_REFUSED },
		{ ENOENT, TABLE_REFUSED },        { ECONNREFUSED, TABLE_REFUSED }, { ENOSPC, TABLE_NO_ROOM },
		{ EPIPE, TABLE_SYMBOLIZER_DIED }, { EBADMSG, TABLE_INVALID },      { EFBIG, TABLE_TOO_LARGE },
		{ ETIMEDOUT, TABLE_TOO_SLOW },    { ENOMEM, TABLE_NO_MEMORY },     { EBUSY, TABLE_WAITS },
		{ ENODATA, TABLE_NO_EH_FRAME },   { ENOTSUP, TABLE_NOT_ELF },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (error == -reasons[i].error)
			return reasons[i].reason;
	return TABLE_FAILED;
}

const char *table_reason_write(int error, char into[TABLE_REASON_BYTES])
{
	enum table_reason reason = table_reason_of(error);

	snprintf(into, TABLE_REASON_BYTES, "%s%s%s", table_reason_texts[reason].reason,
		 reason == TABLE_FAILED ? ": " : "", reason == TABLE_FAILED ? strerror(-error) : "");
	return into;
}

/* ---- the list ---- */

int table_failures_new(struct table_failures **ret_failures)
{
	struct table_failures *failures = calloc(1, sizeof(*failures));

	if (!failures)
		return -ENOMEM;
	pthread_mutex_init(&failures->lock, NULL);
	*ret_failures = failures;
	return 0;
}

void table_failures_free(struct table_failures *failures)
{
	if (!failures)
		return;
	pthread_mutex_destroy(&failures->lock);
	free(failures);
}

static struct table_failure *find(struct table_failures *failures, const struct table_identity *file)
{
	for (uint32_t i = 0; i < failures->count; i++)
		if (!memcmp(&failures->list[i].file, file, sizeof(*file)))
			return &failures->list[i];
	return NULL;
}

/* A place for another file, perhaps that of one with a lesser reason; NULL: there is none. */
static struct table_failure *make_place(struct table_failures *failures, enum table_reason reason)
{
	struct table_failure *last = &failures->list[0];

	if (failures->count < TABLE_FAILURES_MOST)
		return &failures->list[failures->count++];
	for (uint32_t i = 1; i < failures->count; i++)
		if (table_reason_of(failures->list[i].error) > table_reason_of(last->error))
			last = &failures->list[i];
	return table_reason_of(last->error) > reason ? last : NULL;
}

static void copy_path(const char *path, char into[TABLE_PATH_BYTES])
{
	static const char ellipsis[] = "…";
	size_t bytes = strlen(path), most = TABLE_PATH_BYTES - sizeof(ellipsis);

	if (bytes < TABLE_PATH_BYTES)
		memcpy(into, path, bytes + 1);
	else
		snprintf(into, TABLE_PATH_BYTES, "%s%s", ellipsis, path + bytes - most);
}

void table_failures_note(struct table_failures *failures, const char *path, const struct table_identity *file,
			 int error, uint64_t now_ns, uint64_t retry_ns)
{
	struct table_failure *failure;
	uint64_t since_ns = now_ns;

	if (!failures)
		return;
	HOLD_LOCK(&failures->lock);
	failure = find(failures, file);
	if (failure)
		since_ns = failure->since_ns;
	else
		failure = make_place(failures, table_reason_of(error));
	if (failure) {
		*failure = (struct table_failure){
			.file = *file, .error = error, .since_ns = since_ns, .retry_ns = retry_ns
		};
		copy_path(path, failure->path);
	}
}

void table_failures_remove(struct table_failures *failures, const struct table_identity *file)
{
	struct table_failure *failure;

	if (!failures)
		return;
	HOLD_LOCK(&failures->lock);
	failure = find(failures, file);
	if (failure)
		*failure = failures->list[--failures->count];
}

void table_failures_clear(struct table_failures *failures)
{
	if (!failures)
		return;
	HOLD_LOCK(&failures->lock);
	failures->count = 0;
}

static int compare(const void *a, const void *b)
{
	const struct table_failure *left = a, *right = b;
	return (int)table_reason_of(left->error) - (int)table_reason_of(right->error)
		       ?: COMPARE(left->since_ns, right->since_ns);
}

uint32_t table_failures_copy(struct table_failures *failures, struct table_failure into[TABLE_FAILURES_MOST])
{
	if (!failures)
		return 0;
	HOLD_LOCK(&failures->lock);
	memcpy(into, failures->list, failures->count * sizeof(*into));
	qsort(into, failures->count, sizeof(*into), compare);
	return failures->count;
}
