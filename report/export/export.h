/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export.h owns what all formats of 'bourdon export' get: a capture, the samples of it that were asked for, and names that
 * are safe to write. Each format is a file of its own, export_FORMAT.c; export.c has the table of them.
 *
 * Room: `export`: captures for other programs, one format a file. It reads the model and writes a stream; no
 * format is kept in memory whole.
 */
#ifndef BOURDON_REPORT_EXPORT_EXPORT_H
#define BOURDON_REPORT_EXPORT_EXPORT_H

#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/model/sample_choice.h"

#include <stdio.h>

/* The capture's row and its run's. Times are Unix ns. */
struct export_capture {
	int64_t capture_id, triggered_at, began_at, ended_at, hz, cpus;
	int64_t from_ms, to_ms; /* its begin and its end, from the trigger; whole ms */
	int64_t period_ns;      /* CPU time that a sample stands for */
	/* texts of the profile, "" if not known. fired: a resource, or "kill"; verdict: its headline */
	const char *state, *rule, *fired, *kind, *cgroup, *verdict, *note, *hostname, *kernel, *version;
	const char *title; /* one line: which capture, of what, when */
};

struct export
{
	struct database *database;
	const struct sample_choice *samples;
	/* Its samples are those that were asked for. Its texts have the form that a terminal may see. */
	struct profile *profile;
	struct export_capture capture;
	FILE *out;
};

struct export_format {
	const char *name;
	int (*write)(struct export *export); /* as those below */
	bool counts_alike; /* its readers add up samples and intervals alike: it has one kind, on CPU unless --kind says else */
	bool is_sums; /* of the samples of each stack: it has no times, and nothing of the capture's row */
};

/* For --format. */
#define EXPORT_FORMATS "firefox, pprof, perf-script, speedscope, perfetto, folded, csv or json"

/* The format of that name, or NULL. */
const struct export_format *export_format_find(const char *name);

/* These write the capture. Each returns 0; or -errno: -E2BIG for a capture far larger than bourdond writes. */
int export_csv(struct export *export);
int export_firefox(struct export *export);
int export_folded(struct export *export);
int export_json(struct export *export);
int export_perf_script(struct export *export);
int export_perfetto(struct export *export);
int export_pprof(struct export *export);
int export_speedscope(struct export *export);

/* ---- what several formats need ---- */

/*
 * The whole ms from the trigger to that moment, downwards. Of a damaged row it is 0, or at most three years: as ns, sums and
 * differences of such times fit.
 */
#define EXPORT_MS_MOST 100000000000LL
int64_t export_ms(const struct export_capture *capture, int64_t at);

/* The name of a process, "?" if it is not known. */
const char *export_comm(const struct profile *profile, uint32_t process);

/* The function at the leaf of a sample's stack; "no stack" without one. */
const char *export_leaf(const struct profile *profile, const struct profile_sample *sample);

/*
 * The text with \xHH, as in the database, for each of the `unsafe` characters: they would lead a reader astray. Returns a text
 * of the profile; NULL without memory.
 */
const char *export_keep_safe(struct profile *profile, const char *text, const char *unsafe);

/* The text of a column, in the form that a terminal may see, as a text of the profile; NULL without memory. */
const char *export_keep_column(struct profile *profile, const struct query *query, const char *column);

/* Writes the times of a row as the database has them, a JSON array; nothing without times. */
void export_times(const struct export *export, const struct profile_sample *sample);

/* A function in a module, which frames at several places share. */
struct export_function {
	uint32_t name; /* text */
	uint32_t module;
	const char *file; /* of the source; NULL: not known */
};

/* Those of all frames, each once. */
struct export_functions {
	struct export_function *functions;
	uint32_t count, room;
	uint32_t *of_frame; /* PROFILE_NONE: the frame is in no stack */
};

/* Returns 0 or -ENOMEM. */
int export_functions_find(const struct profile *profile, struct export_functions *ret_functions);
void export_functions_free(struct export_functions *functions);

/* What a thread did when it was off CPU, for people: "io stall", or "waiting" for none of PSI's resources. */
const char *export_wait_name(const char *stall);

/* Gives a message of protobuf-c a list of one element. */
#define HAVE_ONE(message, list, element) ((message).n_##list = 1, (message).list = &(element))

#endif
