/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verify_programs passes the in-kernel programs through the verifier of this kernel as bourdon-load does, and leaves
 * nothing loaded. Of each program it prints the name, the number of its instructions, how many instructions the verifier
 * looked at, and the time it took, in us of wall-clock time.
 */
#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"
#include "loader/policy_file.h"
#include "loader/programs.h"

#include <bourdon.skel.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BPF_LOG_STATS 4U /* include/linux/bpf_verifier.h */
#define LOG_BYTES 4096

struct verified {
	char log[LOG_BYTES];
	uint64_t us, instructions;
};

/* What the verifier's log ends with: "verification time N usec", other lines, "processed N insns (limit ...". */
static int read_log(struct verified *verified)
{
	const char *time = strstr(verified->log, "verification time "),
		   *processed = strstr(verified->log, "processed ");

	if (!time || sscanf(time, "verification time %" SCNu64, &verified->us) != 1 || !processed ||
	    sscanf(processed, "processed %" SCNu64, &verified->instructions) != 1)
		return -EBADMSG;
	return 0;
}

static int print_all(const struct programs *programs, struct verified *all)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, programs->bpf->obj) {
		if (!bpf_program__autoload(program))
			continue;
		if (read_log(all)) {
			log_error("%s: the verifier's log says neither its time nor its instructions: %s",
				  bpf_program__name(program), all->log);
			return -EBADMSG;
		}
		printf("%s %zu %" PRIu64 " %" PRIu64 "\n", bpf_program__name(program),
		       bpf_program__insn_cnt(program), all->instructions, all->us);
		all++;
	}
	return 0;
}

static int verify(struct programs *programs)
{
	struct bpf_program *program;
	struct verified *all;
	size_t count = 0;
	int result;

	bpf_object__for_each_program (program, programs->bpf->obj)
		count++;
	all = calloc(count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	count = 0;
	bpf_object__for_each_program (program, programs->bpf->obj) {
		if (!bpf_program__autoload(program))
			continue;
		bpf_program__set_log_level(program, BPF_LOG_STATS);
		bpf_program__set_log_buf(program, all[count].log, sizeof(all[count].log));
		count++;
	}
	result = bourdon_bpf__load(programs->bpf);
	if (!result)
		result = print_all(programs, all);
	free(all);
	return result;
}

int main(int argc, char **argv)
{
	struct programs_settings settings = { .hz = 47,
					      .ring_bytes = 1 << 20,
					      .unwind_bytes = 16 << 20,
					      .targets = 16384,
					      .quiet_after_ns = 30000000000ULL };
	const char *policy = NULL;
	const struct option_spec options[] = {
		{ "policy", "F", "root's policy; without it, nobody is denied", &policy },
	};
	const struct command_spec command = {
		"verify_programs",
		"[OPTION...]",
		"Prints what each in-kernel program costs this kernel's verifier.",
		"verify_programs",
		options,
		ARRAY_SIZE(options)
	};
	struct config_errors errors = { 0 };
	struct programs programs;
	int words, parsed, result;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words) {
		log_error("takes no words: see --help");
		return EXIT_USAGE;
	}
	settings.policy = policy_default;
	if (policy && policy_file_read(policy, true, &settings.policy, &errors)) {
		config_errors_log(&errors);
		return EXIT_FAILED;
	}
	result = programs_open(&programs, &settings);
	if (!result)
		result = verify(&programs);
	if (result)
		log_error("cannot verify the programs: %s", strerror(-result));
	programs_close(&programs);
	return result ? EXIT_FAILED : EXIT_DONE;
}
