/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as bourdon.conf: whatever its mistakes, the database is allowed at least its smallest size.
 */
#include "consumer/rules/settings.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_bytes(data, bytes);
	struct settings settings = { .database_bytes_max = DATABASE_BYTES_MIN };
	struct config_errors errors = { 0 };
	int result = settings_read_text("f", text, bytes, &settings, &errors);

	HOLDS(result == (errors.count ? -EINVAL : 0));
	HOLDS(settings.database_bytes_max >= DATABASE_BYTES_MIN);
	HOLDS(!settings.baseline_ns || settings.baseline_ns >= BASELINE_NS_MIN);
	/* a directory that the daemon may then write to is never the root, and never one relative to where it started */
	HOLDS(!settings.metrics_file[0] ||
	      (settings.metrics_file[0] == '/' && strchr(settings.metrics_file + 1, '/') &&
	       strlen(settings.metrics_file) > strlen("/x/.prom")));
	config_errors_free(&errors);
	free(text);
	return 0;
}
