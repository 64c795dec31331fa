/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json: all that the database has of a capture. What concerns samples refers to other elements by their position; the other
 * members are rows of tables and views, with the columns of docs/SCHEMA.md.
 */
#include "common/base/cleanup.h"
#include "report/export/export.h"
#include "report/text/json.h"

#include <inttypes.h>
#include <string.h>

/* Members that are rows. ?1 is the capture. */
static const struct {
	const char *name, *sql;
} sections[] = {
	{ "capture", "SELECT * FROM capture WHERE capture_id = ?1" },
	{ "run", "SELECT * FROM run WHERE run_id = (SELECT run_id FROM capture WHERE capture_id = ?1)" },
	{ "rule", "SELECT * FROM rule WHERE rule_id = (SELECT rule_id FROM capture WHERE capture_id = ?1)" },
	{ "incident",
	  "SELECT * FROM incident WHERE incident_id = (SELECT incident_id FROM capture WHERE capture_id = ?1)" },
	{ "losses", "SELECT * FROM data_quality WHERE capture_id = ?1" },
	{ "pressure", "SELECT * FROM pressure WHERE capture_id = ?1 ORDER BY scope, resource, at" },
	{ "reconciliation", "SELECT * FROM reconciliation WHERE capture_id = ?1" },
	{ "machine_time", "SELECT * FROM machine_time WHERE capture_id = ?1" },
	{ "accounts", "SELECT * FROM account WHERE capture_id = ?1" },
	{ "blame", "SELECT * FROM blame WHERE capture_id = ?1" },
	{ "machine_bytes", "SELECT * FROM machine_bytes WHERE capture_id = ?1" },
	{ "interrupts", "SELECT * FROM interrupt WHERE capture_id = ?1" },
	{ "usage", "SELECT u.*, p.tgid, p.comm, p.exe, p.cgroup, p.unit, p.container, p.runtime FROM usage u "
		   "LEFT JOIN process p USING(process_id) WHERE u.capture_id = ?1" },
	{ "ended", "SELECT * FROM ended WHERE capture_id = ?1" },
	{ "killed", "SELECT * FROM killed WHERE capture_id = ?1 ORDER BY at" },
	{ "cgroup_memory", "SELECT * FROM cgroup_memory WHERE capture_id = ?1" },
	{ "statistics", "SELECT * FROM statistic WHERE capture_id = ?1" },
	{ "histograms",
	  "SELECT * FROM histogram WHERE capture_id = ?1 ORDER BY metric, label, span, lower_ns" },
	{ "latency_measured", "SELECT * FROM latency_measured WHERE capture_id = ?1" },
	{ "growth", "SELECT g.*, p.tgid, p.comm FROM growth_stack g LEFT JOIN process p USING(process_id) "
		    "WHERE g.capture_id = ?1" },
	{ "wakers", "SELECT * FROM waker WHERE capture_id = ?1" },
	{ "thread_looks", "SELECT * FROM thread_look WHERE capture_id = ?1 ORDER BY second" },
	{ "thread_states",
	  "SELECT t.*, p.tgid, p.comm FROM thread_state t LEFT JOIN process p USING(process_id) "
	  "WHERE t.capture_id = ?1" },
};

static void write_sections(struct export *export)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		_cleanup_query_ struct query rows =
			query_begin(export->database, sections[i].sql, export->capture.capture_id, 0);

		fprintf(export->out, "\"%s\": ", sections[i].name);
		json_rows(export->out, &rows, NULL);
		fputs(",\n", export->out);
	}
}

static void write_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	json_string(out, text);
}

static void write_number(FILE *out, const char *name, bool is_known, int64_t number)
{
	fprintf(out, ", \"%s\": ", name);
	json_number(out, is_known, number);
}

static void write_processes(const struct export *export)
{
	const struct profile *profile = export->profile;
	FILE *out = export->out;

	fputs("\"processes\": [", out);
	for (uint32_t i = 0; i < profile->processes_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		fprintf(out, "%s{\"process_id\": %" PRId64 ", \"tgid\": %" PRId64, i ? ",\n" : "\n",
			process->process_id, process->tgid);
		write_text(out, "comm", process->is_known ? profile_text(profile, process->comm) : NULL);
		write_text(out, "exe", process->exe);
		write_text(out, "cgroup", process->cgroup);
		write_text(out, "unit", process->unit);
		write_number(out, "uid", process->has_uid, process->uid);
		fputc('}', out);
	}
	fputs("],\n\"threads\": [", out);
	for (uint32_t i = 0; i < profile->threads_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		fprintf(out, "%s{\"process\": %" PRIu32 ", \"tid\": %" PRId64, i ? ",\n" : "\n",
			thread->process, thread->tid);
		write_text(out, "thread", profile_text(profile, thread->name));
		fputc('}', out);
	}
	fputs("],\n", out);
}

static void write_frames(const struct export *export)
{
	const struct profile *profile = export->profile;
	FILE *out = export->out;

	fputs("\"modules\": [", out);
	for (uint32_t i = 0; i < profile->modules_count; i++) {
		fprintf(out, "%s{\"module_id\": %" PRId64, i ? ",\n" : "\n", profile->modules[i].module_id);
		write_text(out, "path", profile->modules[i].path);
		write_text(out, "kind", profile->modules[i].kind);
		write_text(out, "build_id", profile->modules[i].build_id);
		fputc('}', out);
	}
	fputs("],\n\"frames\": [", out);
	for (uint32_t i = 0; i < profile->frames_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		fputs(i ? ",\n" : "\n", out);
		if (frame->module == PROFILE_NONE) { /* in no stack: it keeps the positions of the others */
			fputs("null", out);
			continue;
		}
		fprintf(out, "{\"module\": %" PRIu32 ", \"offset\": %" PRId64, frame->module, frame->offset);
		write_text(out, "function", profile_text(profile, frame->function));
		write_number(out, "function_offset", frame->is_resolved, frame->function_offset);
		write_text(out, "file", frame->file);
		write_number(out, "line", frame->has_line, frame->line);
		fprintf(out, ", \"inlined\": %" PRId64 "}", frame->inlined);
	}
	fputs("],\n", out);
}

/* Each with its frames, leaf first. */
static void write_stacks(const struct export *export)
{
	const struct profile *profile = export->profile;
	FILE *out = export->out;

	fputs("\"stacks\": [", out);
	for (uint32_t i = 0; i < profile->stacks_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct profile_walk walk = profile_walk_of(profile, stack);
		const struct profile_frame *frame;
		const char *separator = "";

		fprintf(out, "%s{\"stack_id\": %" PRId64 ", \"truncated\": %s", i ? ",\n" : "\n",
			stack->stack_id, stack->truncated ? "true" : "false");
		write_text(out, "unwinder", stack->is_known ? profile_text(profile, stack->unwinder) : NULL);
		fputs(", \"frames\": [", out);
		for (; (frame = profile_walk_next(&walk)); separator = ",")
			fprintf(out, "%s%td", separator, frame - profile->frames);
		fputs("]}", out);
	}
	fputs("],\n", out);
}

static void write_samples(const struct export *export)
{
	const struct profile *profile = export->profile;
	FILE *out = export->out;

	fputs("\"samples\": [", out);
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		fprintf(out, "%s{\"thread\": %" PRIu32 ", \"stack\": %" PRIu32, i ? ",\n" : "\n",
			sample->thread, sample->stack);
		write_text(out, "kind", profile_text(profile, sample->kind));
		write_text(out, "stall", profile_text(profile, sample->stall));
		write_text(out, "role", profile_text(profile, sample->role));
		fprintf(out, ", \"second\": %" PRId64 ", \"samples\": %" PRId64 ", \"weight_ns\": %" PRId64,
			sample->second, sample->samples, sample->weight_ns);
		fputs(sample->times_count ? ", \"times\": " : ", \"times\": null", out);
		export_times(export, sample);
		fputc('}', out);
	}
	fputs("]}\n", out);
}

int export_json(struct export *export)
{
	fputs("{\"format\": \"bourdon export 1\", \"title\": ", export->out);
	json_string(export->out, export->capture.title);
	fputs(",\n", export->out);
	write_sections(export);
	write_processes(export);
	write_frames(export);
	write_stacks(export);
	write_samples(export);
	return export->database->failed ? -EIO : 0;
}
