/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/machine.h"

#include "common/base/cleanup.h"

#include <fcntl.h>
#include <nettle/hmac.h>
#include <string.h>
#include <unistd.h>

#define MACHINE_ID_DIGITS 32

/* Which application asks: another one gets another hash. */
static const char application[] = "bourdon database";

const char *machine_hash(const char *machine_id_file, char text[MACHINE_TEXT_BYTES])
{
	_cleanup_close_ int fd = open(machine_id_file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char id[MACHINE_ID_DIGITS + 1] = "";
	uint8_t digest[MACHINE_BYTES];
	struct hmac_sha256_ctx context;

	if (fd < 0 || read(fd, id, MACHINE_ID_DIGITS) != MACHINE_ID_DIGITS ||
	    strspn(id, "0123456789abcdef") != MACHINE_ID_DIGITS)
		return NULL;
	hmac_sha256_set_key(&context, MACHINE_ID_DIGITS, (const uint8_t *)id);
	hmac_sha256_update(&context, strlen(application), (const uint8_t *)application);
	hmac_sha256_digest(&context, sizeof(digest), digest);
	return hexadecimal_write(digest, sizeof(digest), text);
}
