/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/process_access.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/files.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_BYTES_MAX 65536U
#define PF_KTHREAD 0x00200000U /* linux/sched.h */

static const char *explain(int error)
{
	return error == -ENOENT || error == -ESRCH ? "no such process" : strerror(-error);
}

static int read_text(const struct process_access *process, const char *name, char **ret_text)
{
	size_t bytes;

	return file_read_text(process->directory_fd, name, TEXT_BYTES_MAX, ret_text, &bytes);
}

const char *process_access_check(const struct process_access *process)
{
	uint64_t tick_ns = CLOCK_SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
	_cleanup_free_ char *text = NULL;
	struct process_stat stat = { 0 };
	int result = read_text(process, "stat", &text);

	if (!result)
		result = process_text_stat(text, &stat);
	if (result < 0)
		return explain(result);
	if (stat.flags & PF_KTHREAD)
		return "it is a kernel thread";
	if (stat.state == 'Z' || stat.state == 'X')
		return "no such process";
	return stat.start_ticks == process->started_ns / tick_ns ? NULL : "another process has that pid now";
}

const char *process_access_open(uint32_t tgid, uint64_t started_ns, struct process_access *ret_process)
{
	char path[32];

	*ret_process = (struct process_access){ -EBADF, started_ns };
	snprintf(path, sizeof(path), "/proc/%" PRIu32, tgid);
	ret_process->directory_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret_process->directory_fd < 0 ? explain(-errno) : process_access_check(ret_process);
}

void process_access_close(struct process_access *process)
{
	cleanup_close(&process->directory_fd);
}

/* The lines are in ascending order of address. */
static const char *find_mapping(FILE *maps, uint64_t begins, struct process_mapping *ret_mapping)
{
	struct process_mapping mapping = { 0 };
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (mapping.begins < begins || !mapping.ends) {
		if (getline(&line, &room, maps) < 0)
			return ferror(maps) ? explain(-errno) : "no mapping begins there";
		if (process_text_mapping(line, &mapping))
			return strerror(EBADMSG);
	}
	if (mapping.begins != begins)
		return "no mapping begins there";
	if (!mapping.executable)
		return "its mapping there is not executable";
	*ret_mapping = mapping;
	return NULL;
}

const char *process_access_find_mapping(const struct process_access *process, uint64_t begins,
					struct process_mapping *ret_mapping)
{
	int fd = openat(process->directory_fd, "maps", O_RDONLY | O_CLOEXEC);
	_cleanup_file_ FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");

	if (!maps)
		return explain(-errno);
	return find_mapping(maps, begins, ret_mapping);
}

const char *process_access_comm(const struct process_access *process, char ret_comm[ABI_COMM_BYTES])
{
	_cleanup_free_ char *text = NULL;
	int result = read_text(process, "comm", &text);
	size_t length;

	if (result < 0)
		return explain(result);
	length = strlen(text);
	if (!length || length > ABI_COMM_BYTES || text[length - 1] != '\n')
		return strerror(EBADMSG);
	memset(ret_comm, 0, ABI_COMM_BYTES);
	memcpy(ret_comm, text, length - 1);
	return NULL;
}

const char *process_access_status(const struct process_access *process, struct process_status *ret_status)
{
	_cleanup_free_ char *text = NULL;
	int result = read_text(process, "status", &text);

	if (!result)
		result = process_text_status(text, ret_status);
	return result < 0 ? explain(result) : NULL;
}
