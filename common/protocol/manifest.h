/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manifest.h owns the manifest in the run directory, which describes what was loaded. The loader writes it;
 * the consumer and people read it.
 */
#ifndef BOURDON_COMMON_PROTOCOL_MANIFEST_H
#define BOURDON_COMMON_PROTOCOL_MANIFEST_H

#include "common/system/ini.h"

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
	uint32_t cpus;          /* CPUs that have rings; CPUs from this number on are not sampled */
	char sampled_cpus[256]; /* as in /sys/devices/system/cpu/online */
	uint32_t slots_per_cpu;
	uint32_t slot_bytes;
	uint32_t targets; /* most targets at once */
	uint64_t quiet_after_ns;
	bool mounted_bpffs; /* true if this load mounted bpffs, so that --unload may unmount it */
};

/*
 * Writes the text form; the caller frees *ret_text. Returns 0, -ENOMEM, or -EINVAL if a text would not
 * survive being read again (control characters, surrounding blanks, a comment in it).
 */
int manifest_format(const struct manifest *manifest, char **ret_text);

/*
 * Reads `path` and adds every error to `errors`. Returns 0, -EINVAL if there were errors, or -ENOMEM. A
 * manifest written under another ABI may lack all other fields: check `abi` first.
 */
int manifest_read(const char *path, struct manifest *ret_manifest, struct config_errors *errors);

/* As manifest_read(), from memory, for tests. */
int manifest_parse(const char *name, const char *text, size_t bytes, struct manifest *ret_manifest,
		   struct config_errors *errors);

#endif
