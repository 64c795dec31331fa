/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/vdso.h"

#include "common/base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define IMAGE_BYTES_MAX (256UL << 10)

int vdso_open(void)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) * header;
	_cleanup_close_ int fd = -EBADF;
	size_t bytes;

	memcpy(&header, &address, sizeof(header)); /* the kernel passes the address as a number */
	if (!header)
		return -ENOENT;
	/* the section headers are the end of the image */
	bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (bytes > IMAGE_BYTES_MAX)
		return -EFBIG;
	fd = memfd_create("vdso", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (write(fd, header, bytes) != (ssize_t)bytes)
		return -EIO;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return TAKE_FD(fd);
}
