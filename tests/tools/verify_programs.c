/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verify_programs passes the in-kernel programs through the verifier of this kernel as bourdon-load does, and leaves
 * nothing loaded. Of each program it prints the name, the number of its instructions, how many instructions the verifier
 * looked at, and the CPU time of its load, in us.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/latency_groups.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "loader/policy_file.h"
#include "loader/programs.h"

#include <bourdon.skel.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BPF_LOG_STATS 4U /* include/linux/bpf_verifier.h */

/* libbpf's callback has no argument of its own. */
static struct {
	const struct bpf_object *object;
	uint64_t told_ns;      /* CPU time when libbpf said something last */
	unsigned int programs; /* printed */
} verified;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * CLOCK_SECOND_NS + (uint64_t)now.tv_nsec;
}

/*
 * libbpf shows the verifier's log of each program behind its load, and says something before it loads the first one. The log
 * of statistics has "processed N insns".
 */
static int __attribute__((format(printf, 2, 0)))
print_program(enum libbpf_print_level level, const char *format, va_list arguments)
{
	uint64_t took_ns = cpu_ns() - verified.told_ns;
	unsigned long long looked_at;
	char text[4096], name[64];
	const char *processed;

	vsnprintf(text, sizeof(text), format, arguments);
	processed = strstr(text, "processed ");
	if (level == LIBBPF_WARN)
		fputs(text, stderr);
	else if (processed && sscanf(text, "libbpf: prog '%63[^']': -- BEGIN PROG LOAD LOG --", name) == 1 &&
		 sscanf(processed, "processed %llu insns", &looked_at) == 1) {
		printf("%s %zu %llu %" PRIu64 "\n", name,
		       bpf_program__insn_cnt(bpf_object__find_program_by_name(verified.object, name)),
		       looked_at, took_ns / 1000);
		verified.programs++;
	}
	verified.told_ns = cpu_ns();
	return 0;
}

static int verify(struct programs *programs)
{
	struct bpf_program *program;
	unsigned int loaded = 0;
	int result;

	bpf_object__for_each_program (program, programs->bpf->obj) {
		bpf_program__set_log_level(program, BPF_LOG_STATS);
		loaded += bpf_program__autoload(program);
	}
	libbpf_set_print(print_program);
	verified.object = programs->bpf->obj;
	verified.told_ns = cpu_ns();
	result = bourdon_bpf__load(programs->bpf);
	return result || verified.programs == loaded ? result : -EBADMSG;
}

/* Prints what the programs cost under that policy; NULL: nobody is denied. Returns an exit status. */
static int run(const char *policy)
{
	/* as bourdon-load has them without options */
	struct programs_settings settings = { .hz = 47,
					      .ring_bytes = 1 << 20,
					      .unwind_bytes = 16 << 20,
					      .targets = 16384,
					      .quiet_after_ns = 30000000000ULL,
					      .probes = LATENCY_ALL,
					      .policy = policy_default };
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct programs programs;
	int result;

	if (policy && policy_file_read(policy, true, &settings.policy, &errors)) {
		config_errors_log(&errors);
		return EXIT_FAILED;
	}
	result = programs_open(&programs, &settings);
	if (!result)
		result = verify(&programs);
	programs_close(&programs);
	if (!result)
		return EXIT_DONE;
	log_error("cannot verify the programs: %s; bourdon-load --check shows where the verifier stopped",
		  strerror(-result));
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	const char *policy = NULL;
	const struct option_spec options[] = {
		{ "policy", "F", "root's policy; without it, nobody is denied", &policy },
	};
	const struct command_spec command = {
		"verify_programs",
		"[--policy F]",
		"Prints what each in-kernel program costs this kernel's verifier.",
		"verify_programs",
		options,
		ARRAY_SIZE(options)
	};
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words) {
		log_error("takes no words: see --help");
		return EXIT_USAGE;
	}
	return run(policy);
}
