/* SPDX-License-Identifier: GPL-2.0-only */
/* has_tables tells whether each executable mapping of a process has its unwind table in the kernel's maps. */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int open_pin(const char *directory, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		log_error("cannot open pin %s: %s", path, strerror(errno));
	return fd;
}

static bool has_table(int processes, int mappings, uint32_t tgid, uint64_t address)
{
	struct unwind_process process;
	struct unwind_mapping mapping;

	if (bpf_map_lookup_elem(processes, &tgid, &process))
		return false;
	for (uint32_t i = 0; i < process.count; i++) {
		uint32_t key = process.first + i;

		if (!bpf_map_lookup_elem(mappings, &key, &mapping) && mapping.begins <= address &&
		    address < mapping.ends)
			return mapping.pages > 0;
	}
	return false;
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"has_tables",
		"PIN_DIR PID",
		"Exits 1 and names the mapping where an executable mapping of the process has no unwind table.",
		"has_tables /sys/fs/bpf/bourdon 4711",
		NULL,
		0
	};
	_cleanup_close_ int processes = -EBADF, mappings = -EBADF;
	_cleanup_file_ FILE *file = NULL;
	int words, parsed, result = EXIT_DONE;
	unsigned long long tgid;
	char line[4096];

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 2 || options_number(argv[2], 1, INT32_MAX, &tgid)) {
		log_error("takes a directory of pins and a pid: see --help");
		return EXIT_USAGE;
	}
	processes = open_pin(argv[1], "unwind_procs");
	mappings = open_pin(argv[1], "unwind_maps");
	snprintf(line, sizeof(line), "/proc/%llu/maps", tgid);
	file = fopen(line, "re");
	if (!file)
		log_error("cannot read %s: %s", line, strerror(errno));
	if (processes < 0 || mappings < 0 || !file)
		return EXIT_FAILED;
	while (fgets(line, sizeof(line), file)) {
		uint64_t begins;
		char access[5];

		/* of vsyscall, which is no code of the process, nobody makes a table */
		if (sscanf(line, "%" SCNx64 "-%*x %4s", &begins, access) != 2 || access[2] != 'x' ||
		    strstr(line, "[vsyscall]"))
			continue;
		if (!has_table(processes, mappings, (uint32_t)tgid, begins)) {
			printf("no table: %s", line);
			result = EXIT_FAILED;
		}
	}
	return result;
}
