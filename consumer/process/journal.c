/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/journal.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

long journal_encode(const struct journal_field *fields, size_t count, char *into, size_t into_bytes)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		size_t name = strlen(fields[i].name), value = strlen(fields[i].value);
		bool binary = strchr(fields[i].value, '\n');
		uint64_t length = htole64(value);

		/* "NAME=VALUE\n", or "NAME\n", the length and "VALUE\n" */
		if (used + name + value + 2 + (binary ? sizeof(length) : 0) > into_bytes)
			return -EMSGSIZE;
		memcpy(into + used, fields[i].name, name);
		used += name;
		into[used++] = binary ? '\n' : '=';
		if (binary) {
			memcpy(into + used, &length, sizeof(length));
			used += sizeof(length);
		}
		memcpy(into + used, fields[i].value, value);
		used += value;
		into[used++] = '\n';
	}
	return (long)used;
}

int journal_open(struct journal *ret_journal, const char *path, struct own_counters *own_counters)
{
	struct journal journal = { .address = { .sun_family = AF_UNIX }, .own_counters = own_counters };

	journal.fd = -EBADF;
	*ret_journal = journal;
	if (strlen(path) >= sizeof(journal.address.sun_path))
		return -ENAMETOOLONG;
	strcpy(ret_journal->address.sun_path, path);
	ret_journal->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return ret_journal->fd < 0 ? -errno : 0;
}

void journal_close(struct journal *journal)
{
	own_count_many(journal->own_counters, OWN_JOURNAL_LOST, journal->waiting_count);
	while (journal->waiting_count)
		free(journal->waiting[--journal->waiting_count].bytes);
	cleanup_close(&journal->fd);
}

static int send_bytes(struct journal *journal, const char *bytes, size_t length)
{
	if (journal->fd < 0)
		return -EBADF;
	if (sendto(journal->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL,
		   (const struct sockaddr *)&journal->address, sizeof(journal->address)) < 0)
		return -errno;
	own_count(journal->own_counters, OWN_JOURNAL_ENTRIES);
	return 0;
}

/* The kernel says either where the receiver's queue or the sender's memory is full. */
static bool is_full(int result)
{
	return result == -EAGAIN || result == -ENOBUFS || result == -ENOMEM;
}

static int lose(struct journal *journal, int result)
{
	own_count(journal->own_counters, OWN_JOURNAL_LOST);
	return result;
}

static int wait_for_room(struct journal *journal, const char *bytes, size_t length, uint64_t now_ns)
{
	char *copy = journal->waiting_count < JOURNAL_WAITING ? malloc(length) : NULL;

	if (!copy)
		return lose(journal, -ENOBUFS);
	memcpy(copy, bytes, length);
	journal->waiting[journal->waiting_count].bytes = copy;
	journal->waiting[journal->waiting_count].length = length;
	journal->waiting[journal->waiting_count++].until_ns = now_ns + JOURNAL_PATIENCE_NS;
	if (!journal->retry_ns)
		journal->retry_ns = now_ns + CLOCK_SECOND_NS;
	return -EAGAIN;
}

int journal_send(struct journal *journal, const struct journal_field *fields, size_t count, uint64_t now_ns)
{
	char bytes[JOURNAL_ENTRY_BYTES];
	long length = journal_encode(fields, count, bytes, sizeof(bytes));
	int result;

	if (length <= 0)
		return lose(journal, length ? (int)length : -EINVAL);
	/* behind those that wait: entries keep their order */
	result = journal->waiting_count ? -EAGAIN : send_bytes(journal, bytes, (size_t)length);
	return !result           ? 0
	       : is_full(result) ? wait_for_room(journal, bytes, (size_t)length, now_ns)
				 : lose(journal, result);
}

int journal_retry(struct journal *journal, uint64_t now_ns)
{
	int result = 0, lost = 0;

	while (journal->waiting_count) {
		result = send_bytes(journal, journal->waiting[0].bytes, journal->waiting[0].length);
		if (is_full(result) && now_ns < journal->waiting[0].until_ns)
			break;
		if (result < 0)
			lost = lose(journal, result);
		free(journal->waiting[0].bytes);
		journal->waiting_count--;
		memmove(journal->waiting, journal->waiting + 1,
			journal->waiting_count * sizeof(journal->waiting[0]));
	}
	journal->retry_ns = journal->waiting_count ? now_ns + CLOCK_SECOND_NS : 0;
	return lost;
}
