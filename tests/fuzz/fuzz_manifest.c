/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as a manifest: one that parses is the same after it was written and parsed again. A manifest
 * whose texts come from the input reads back, or is not written.
 */
#include "common/protocol/manifest.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

static void expect_back(const struct manifest *manifest)
{
	struct config_errors errors = { 0 };
	struct manifest back;
	char *text, *again;
	int result = manifest_format(manifest, &text);

	HOLDS(!result || result == -EINVAL);
	if (result)
		return;
	HOLDS(!manifest_parse("f", text, strlen(text), &back, &errors));
	HOLDS(!manifest_format(&back, &again));
	HOLDS(!strcmp(text, again));
	HOLDS(!strcmp(manifest->pin_dir, back.pin_dir) && !strcmp(manifest->attached, back.attached));
	HOLDS(manifest->loaded_at == back.loaded_at && manifest->hz == back.hz);
	HOLDS(manifest->mounted_bpffs == back.mounted_bpffs);
	free(text);
	free(again);
}

static void any_manifest(struct input input)
{
	struct manifest manifest = { .hz = 47 };
	size_t half = input.left / 2;

	input_read(&input, manifest.pin_dir,
		   half < sizeof(manifest.pin_dir) ? half : sizeof(manifest.pin_dir) - 1);
	input_read(&input, manifest.attached,
		   input.left < sizeof(manifest.attached) ? input.left : sizeof(manifest.attached) - 1);
	expect_back(&manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_bytes(data, bytes);
	struct config_errors errors = { 0 };
	struct manifest manifest;
	int result = manifest_parse("f", text, bytes, &manifest, &errors);

	HOLDS(result == (errors.count ? -EINVAL : 0));
	if (!result)
		expect_back(&manifest);
	config_errors_free(&errors);
	free(text);
	any_manifest((struct input){ data, bytes });
	return 0;
}
