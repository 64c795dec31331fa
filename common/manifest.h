/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manifest.h owns the file in the run directory that says what was loaded: written by the loader, read by
 * the consumer and by people.
 */
#ifndef BOURDON_MANIFEST_H
#define BOURDON_MANIFEST_H

#include "common/ini.h"

#include <stdbool.h>
#include <stdint.h>

struct manifest {
	uint32_t abi;
	char version[32];
	char kernel[128];         /* uname -r */
	char kernel_build_id[65]; /* lower-case hexadecimal; may be empty */
	char pin_dir[256];
	char object_sha256[65];
	char attached[960];     /* link names, separated by blanks */
	uint64_t loaded_at;     /* Unix ns */
	uint32_t hz;            /* on-CPU samples a second and CPU */
	uint32_t cpus;          /* rings: CPUs from this number on are not sampled */
	char sampled_cpus[256]; /* as in /sys/devices/system/cpu/online */
	uint32_t slots_per_cpu;
	uint32_t slot_bytes;
	uint32_t targets; /* at most so many */
	uint64_t quiet_after_ns;
	bool mounted_bpffs; /* by this loader, so that an unload may unmount it */
};

/*
 * Writes the text form; the caller frees *ret_text. 0, -EINVAL for a text that would not be the same when it
 * is read again (control characters, blanks around it, a comment in it), or -ENOMEM.
 */
int manifest_format(const struct manifest *manifest, char **ret_text);

/*
 * Reads `path`; every mistake goes to `errors`. 0, -EINVAL when there were any, -ENOMEM. What another version
 * wrote, which is one of another ABI, may lack anything else: look at that first.
 */
int manifest_read(const char *path, struct manifest *ret_manifest, struct config_errors *errors);

/* The same from memory, for tests. */
int manifest_parse(const char *name, const char *text, size_t bytes, struct manifest *ret_manifest,
		   struct config_errors *errors);

#endif
