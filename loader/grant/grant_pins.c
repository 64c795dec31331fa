/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/grant_pins.h"

#include "common/base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

static int call_bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
	long result = syscall(SYS_bpf, command, attributes, sizeof(*attributes));

	return result < 0 ? -errno : (int)result;
}

static __u64 address_of(const void *bytes)
{
	return (__u64)(uintptr_t)bytes;
}

static int open_pin(const char *path)
{
	union bpf_attr attributes;

	memset(&attributes, 0, sizeof(attributes));
	attributes.pathname = address_of(path);
	attributes.file_flags = BPF_F_RDONLY;
	return call_bpf(BPF_OBJ_GET, &attributes);
}

/* bpf(2) writes as many bytes as the map's value has, whatever room the caller has: check the size first. */
static int check_map(int fd, enum bpf_map_type type, size_t value_bytes)
{
	struct bpf_map_info info = { 0 };
	union bpf_attr attributes;
	int result;

	memset(&attributes, 0, sizeof(attributes));
	attributes.info.bpf_fd = (__u32)fd;
	attributes.info.info_len = sizeof(info);
	attributes.info.info = address_of(&info);
	result = call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attributes);
	if (result < 0)
		return result;
	return info.type == type && info.key_size == sizeof(__u32) && info.value_size == value_bytes
		       ? 0
		       : -EBADMSG;
}

static int look_up(int fd, const __u32 *key, void *ret_value)
{
	union bpf_attr attributes;
	int result;

	memset(&attributes, 0, sizeof(attributes));
	attributes.map_fd = (__u32)fd;
	attributes.key = address_of(key);
	attributes.value = address_of(ret_value);
	result = call_bpf(BPF_MAP_LOOKUP_ELEM, &attributes);
	return result == -ENOENT ? -ESRCH : result;
}

static int make_path(const char *pin_dir, const char *name, char path[PATH_MAX])
{
	return (size_t)snprintf(path, PATH_MAX, "%s/%s", pin_dir, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int grant_pins_walk(const char *pin_dir)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX], records[4096];
	int result = make_path(pin_dir, pin_iterators[PIN_TASKS], path);
	ssize_t got;

	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* EAGAIN: the program skipped many objects in a row; the next read continues there */
	do
		got = read(fd, records, sizeof(records));
	while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
	return got < 0 ? -errno : 0;
}

int grant_pins_look_up(const char *pin_dir, enum pin_map pin, const __u32 *key, void *ret_value,
		       size_t value_bytes)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX];
	int result = make_path(pin_dir, pin_maps[pin].name, path);

	if (result < 0)
		return result;
	fd = open_pin(path);
	if (fd < 0)
		return fd;
	result = check_map(fd, pin_maps[pin].type, value_bytes);
	return result < 0 ? result : look_up(fd, key, ret_value);
}
