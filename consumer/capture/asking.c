/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/asking.h"

#include <stdlib.h>
#include <string.h>

struct asking *asking_new(const struct capture_request *request)
{
	struct asking *asking = calloc(1, sizeof(*asking));

	if (!asking)
		return NULL;
	asking->kinds = request->kinds;
	asking->for_ns = request->for_ns;
	asking->before_ns = request->before_ns;
	asking->rule.has_probes = request->has_probes;
	asking->rule.probes = request->has_probes ? request->probes : LATENCY_ALL;
	if (request->has_comm)
		asking->rule.comm = request->comm;
	else
		asking->rule.comm.prefix = true; /* of nothing: every comm */
	asking->rule.unit = request->unit[0] ? strdup(request->unit) : NULL;
	asking->text = capture_request_text(request);
	asking->note = request->note[0] ? strdup(request->note) : NULL;
	if ((request->unit[0] && !asking->rule.unit) || !asking->text ||
	    (request->note[0] && !asking->note)) {
		asking_free(asking);
		return NULL;
	}
	return asking;
}

void asking_free(struct asking *asking)
{
	if (!asking)
		return;
	free(asking->rule.unit);
	free(asking->text);
	free(asking->note);
	free(asking);
}

bool asking_names(const struct asking *asking, uint32_t tgid, uint64_t started_ns)
{
	for (uint32_t i = 0; i < asking->processes_count; i++)
		if (asking->processes[i].tgid == tgid && asking->processes[i].started_ns == started_ns)
			return true;
	return !asking->processes_count;
}
