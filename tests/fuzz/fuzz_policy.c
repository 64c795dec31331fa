/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as policy.conf: a policy that is accepted is within the bounds that the kernel programs rely
 * on.
 */
#include "common/policy/policy.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_bytes(data, bytes), description[POLICY_TEXT_BYTES];
	struct policy policy = policy_default;
	struct config_errors errors = { 0 };
	int result = policy_parse("f", text, bytes, &policy, &errors);

	HOLDS(result == (errors.count ? -EINVAL : 0));
	HOLDS(!result || !memcmp(&policy, &policy_default, sizeof(policy)));
	HOLDS(policy.max_rate >= 1 && policy.max_rate <= POLICY_RATE_MAX);
	HOLDS(policy.unwinding <= POLICY_UNWIND_DWARF && policy.kernel_stacks <= 1);
	HOLDS(policy.deny_undumpable <= 1);
	HOLDS(policy.allowed_count <= POLICY_UIDS_MAX && policy.denied_count <= POLICY_UIDS_MAX);
	HOLDS(policy.comms_count <= POLICY_COMMS_MAX);
	for (__u32 i = 0; i < policy.allowed_count; i++)
		HOLDS(policy.allowed[i].first <= policy.allowed[i].last);
	policy_describe(&policy, description);
	HOLDS(strlen(description) < POLICY_TEXT_BYTES - 1);
	config_errors_free(&errors);
	free(text);
	return 0;
}
