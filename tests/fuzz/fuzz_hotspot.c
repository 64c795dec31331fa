/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any bytes as libjvm.so: nothing, or a description of HotSpot that the consumer accepts. */
#include "common/base/cleanup.h"
#include "common/symbolizer/hotspot.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	struct unwind_hotspot hotspot;
	bool found;

	HOLDS(write(fd, data, bytes) == (ssize_t)bytes);
	found = hotspot_find(fd, &hotspot);
	HOLDS(hotspot_is_valid(&hotspot));
	HOLDS(found == (hotspot.heaps != 0));
	return 0;
}
