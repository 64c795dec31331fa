/* SPDX-License-Identifier: GPL-2.0-only */
/* csv: a line for each row of samples, with its stack as in 'folded', for spreadsheets and data frames. */
#include "report/export/export.h"
#include "report/export/folded.h"
#include "report/text/csv.h"

#include <inttypes.h>
#include <string.h>

static void write_times(const struct export *export, const struct profile_sample *sample)
{
	fputs(sample->times_count ? ",\"" : ",", export->out);
	export_times(export, sample);
	if (sample->times_count)
		fputc('"', export->out);
}

static void write_text(FILE *out, const char *text)
{
	fputc(',', out);
	csv_text(out, text);
}

static int write_row(const struct export *export, struct folded_names *names,
		     const struct profile_sample *sample)
{
	const struct profile *profile = export->profile;
	const struct profile_thread *thread = &profile->threads[sample->thread];
	const struct profile_process *process = &profile->processes[thread->process];
	FILE *out = export->out;
	int result;

	fprintf(out, "%" PRId64, export->capture.capture_id);
	write_text(out, profile_text(profile, sample->role));
	fprintf(out, ",%" PRId64, process->tgid);
	write_text(out, export_comm(profile, thread->process));
	fprintf(out, ",%" PRId64, thread->tid);
	write_text(out, profile_text(profile, thread->name));
	write_text(out, process->unit);
	write_text(out, process->cgroup);
	write_text(out, profile_text(profile, sample->kind));
	write_text(out, profile_text(profile, sample->stall));
	fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, sample->second, sample->samples, sample->weight_ns);
	fputs(",\"", out);
	result =
		folded_names_write(names, profile, &profile->stacks[sample->stack], csv_begin, csv_part, out);
	fputc('"', out);
	write_times(export, sample);
	fputs("\r\n", out);
	return result;
}

int export_csv(struct export *export)
{
	_cleanup_folded_names_ struct folded_names names = { 0 };
	int result = folded_names_make(export->profile, &names);

	fputs("capture_id,role,tgid,comm,tid,thread,unit,cgroup,kind,stall,second,samples,weight_ns,stack,times\r\n",
	      export->out);
	for (uint32_t i = 0; i < export->profile->samples_count && !result; i++)
		result = write_row(export, &names, &export->profile->samples[i]);
	return result;
}
