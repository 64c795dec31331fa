/* SPDX-License-Identifier: GPL-2.0-only */
/* csv: a line for each row of samples, with its stack as in 'folded', for spreadsheets and data frames. */
#include "common/array.h"
#include "common/cleanup.h"
#include "report/csv.h"
#include "report/export.h"
#include "report/folded.h"

#include <inttypes.h>
#include <string.h>

struct csv {
	const struct export *export;
	struct folded_names names;
	const char **path; /* of the stack at hand, leaf first */
	uint32_t path_room;
};

static void csv_free(struct csv *csv)
{
	folded_names_free(&csv->names);
	free(csv->path);
}

#define _cleanup_csv_ _cleanup_(csv_free)

static int write_stack(struct csv *csv, const struct profile_sample *sample)
{
	const struct profile *profile = csv->export->profile;
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[sample->stack]);
	const struct profile_frame *frame;
	FILE *out = csv->export->out;
	uint32_t depth = 0;

	while ((frame = profile_walk_next(&walk))) {
		if (array_make_room(csv->path, depth, csv->path_room, 1U))
			return -ENOMEM;
		csv->path[depth++] = csv->names.functions[frame - profile->frames];
	}
	fputs(",\"", out);
	while (depth--) {
		csv_part(out, csv->path[depth]);
		if (depth)
			fputc(';', out);
	}
	fputc('"', out);
	return 0;
}

static void write_times(const struct csv *csv, const struct profile_sample *sample)
{
	fputs(sample->times_count ? ",\"" : ",", csv->export->out);
	export_times(csv->export, sample);
	if (sample->times_count)
		fputc('"', csv->export->out);
}

static void write_text(FILE *out, const char *text)
{
	fputc(',', out);
	csv_text(out, text);
}

static void write_known(FILE *out, const char *text)
{
	if (text)
		write_text(out, text);
	else
		fputc(',', out);
}

static int write_row(struct csv *csv, const struct profile_sample *sample)
{
	const struct profile *profile = csv->export->profile;
	const struct profile_thread *thread = &profile->threads[sample->thread];
	const struct profile_process *process = &profile->processes[thread->process];
	FILE *out = csv->export->out;
	int result;

	fprintf(out, "%" PRId64, csv->export->capture.capture_id);
	write_text(out, profile_text(profile, sample->role));
	fprintf(out, ",%" PRId64, process->tgid);
	write_text(out, export_comm(profile, thread->process));
	fprintf(out, ",%" PRId64, thread->tid);
	write_text(out, profile_text(profile, thread->name));
	write_known(out, process->unit);
	write_known(out, process->cgroup);
	write_text(out, profile_text(profile, sample->kind));
	write_text(out, profile_text(profile, sample->stall));
	fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, sample->second, sample->samples, sample->weight_ns);
	result = write_stack(csv, sample);
	write_times(csv, sample);
	fputs("\r\n", out);
	return result;
}

int export_csv(struct export *export)
{
	_cleanup_csv_ struct csv csv = { .export = export };
	int result = folded_names_make(export->profile, &csv.names);

	fputs("capture_id,role,tgid,comm,tid,thread,unit,cgroup,kind,stall,second,samples,weight_ns,stack,times\r\n",
	      export->out);
	for (uint32_t i = 0; i < export->profile->samples_count && !result; i++)
		result = write_row(&csv, &export->profile->samples[i]);
	return result;
}
