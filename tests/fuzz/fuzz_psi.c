/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any text as a pressure file: it is refused, or it has a total that, written as the kernel does, is read again. */
#include "common/kernel/psi.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <inttypes.h>

static void check_again(const struct psi_totals *totals)
{
	static const char *const names[PSI_KINDS] = { [PSI_SOME] = "some", [PSI_FULL] = "full" };
	struct psi_totals again;
	char text[256] = "";
	int length = 0;

	for (int kind = 0; kind < PSI_KINDS; kind++)
		if (totals->has[kind])
			length += snprintf(text + length, sizeof(text) - (size_t)length,
					   "%s avg10=0.00 avg60=1.00 avg300=2.00 total=%" PRIu64 "\n",
					   names[kind], totals->us[kind]);
	HOLDS(!psi_parse(text, &again));
	for (int kind = 0; kind < PSI_KINDS; kind++)
		HOLDS(again.has[kind] == totals->has[kind] && again.us[kind] == totals->us[kind]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct psi_totals totals = { .us = { 1, 2 } };
	char *text = copy_text(data, bytes);
	int result = psi_parse(text, &totals);

	if (result) {
		HOLDS(result == -EBADMSG && totals.us[0] == 1 && totals.us[1] == 2 && !totals.has[0] &&
		      !totals.has[1]);
	} else {
		HOLDS(totals.has[PSI_SOME] || totals.has[PSI_FULL]);
		check_again(&totals);
	}
	free(text);
	return 0;
}
