/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff_samples.h owns the samples of the captures that `diff` compares, of one database or of two, with their stacks in a
 * common form. A function is its name and its file's name, so that it is the same in another build. Two stacks with the
 * same portable hash are one, with the names of the database that has more of them; else stacks are one if their functions
 * are the same.
 */
#ifndef BOURDON_REPORT_DIFF_DIFF_SAMPLES_H
#define BOURDON_REPORT_DIFF_DIFF_SAMPLES_H

#include "report/model/profile.h"

#define DIFF_HASH_BYTES 16

enum diff_part { DIFF_ALL, DIFF_BEFORE, DIFF_AFTER }; /* of its trigger */

/* A side of the comparison. */
struct diff_operand {
	bool is_baseline;   /* the baselines of the other side's rule, before it; no capture is named */
	int64_t capture_id; /* negative: the newest complete capture */
	enum diff_part part;
};

/* Whose samples: bits. */
#define DIFF_TARGETS 1U
#define DIFF_OTHERS 2U
#define DIFF_KERNEL 4U

/* What is compared. */
struct diff_choice {
	struct diff_operand a, b;
	unsigned int roles;
	bool off_cpu;
	const char *stall; /* off CPU: of this resource, or none; NULL: of every stall class */
	bool by_total;     /* functions with their callees; else themselves */
	bool all;          /* text: also what may be chance */
};

enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };

/* A capture of one side. Times are ns from its trigger on; negative: before. */
struct diff_capture {
	enum diff_side side;
	int64_t capture_id, triggered_at;
	int64_t from_ns, to_ns; /* the part of it that is compared */
	int64_t hz;
	bool is_baseline, is_interrupted;
	double lost_percent;              /* the largest of its losses */
	const char *rule, *cgroup, *host; /* rule and cgroup: NULL: none */
};

struct diff_function {
	uint32_t name, module; /* texts, the key; the module's without its directory */
	bool is_kernel, is_resolved;
};

struct diff_stack {
	uint8_t hash[DIFF_HASH_BYTES];
	bool has_hash;
	uint32_t first, count; /* of `path`: functions, the leaf first */
	uint32_t unresolved;
};

/* What one thread did in one second. */
struct diff_sample {
	uint32_t stack, comm; /* comm: text */
	uint32_t capture;
	int64_t second, samples, weight_ns;
};

struct diff_samples {
	struct profile texts; /* its texts alone */
	struct diff_capture *captures;
	struct diff_function *functions;
	struct diff_stack *stacks;
	uint32_t *path;
	struct diff_sample *samples;
	uint32_t captures_count, captures_room, functions_count, functions_room, stacks_count, stacks_room,
		path_count, path_room, samples_count, samples_room;
	struct hash_index functions_index, hashes_index;
};

/* Accepts a zeroed structure. */
void diff_samples_free(struct diff_samples *samples);
#define _cleanup_diff_samples_ _cleanup_(diff_samples_free)

/*
 * Reads what `choice` names. `base` is the database of A. Returns 0; or -errno, and the reason was logged: -ENOENT: there is
 * no such capture or baseline, -ENODATA: nothing of it is in the part that is compared.
 */
int diff_samples_load(struct database *base, struct database *database, const struct diff_choice *choice,
		      struct diff_samples *samples);

/* The text. */
static inline const char *diff_text(const struct diff_samples *samples, uint32_t text)
{
	return profile_text(&samples->texts, text);
}

#endif
