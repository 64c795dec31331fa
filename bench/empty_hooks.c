/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * empty_hooks keeps empty programs attached until it is killed, so that the scripts of bench/parts/ can measure what the
 * kernel's calls of them cost.
 */
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <empty_hooks.skel.h>

/* The links end with this process. Returns 0 or -errno. */
static int attach(const struct empty_hooks_bpf *bpf, const char *hook)
{
	const struct bpf_program *program;
	char name[32];

	snprintf(name, sizeof(name), "empty_%s", hook);
	program = bpf_object__find_program_by_name(bpf->obj, name);
	if (!program)
		return -ENOENT;
	return bpf_program__attach(program) ? 0 : -errno;
}

static int attach_all(char **hooks, int count)
{
	const struct empty_hooks_bpf *bpf = empty_hooks_bpf__open_and_load();
	int result = bpf ? 0 : -errno;

	if (result)
		log_error("cannot load the empty programs: %s", strerror(-result));
	for (int i = 0; i < count && !result; i++) {
		result = attach(bpf, hooks[i]);
		if (result)
			log_error("cannot attach the empty program '%s': %s", hooks[i], strerror(-result));
	}
	return result;
}

int main(int count, char **words)
{
	const struct command_spec command = {
		"empty_hooks",
		"HOOK...",
		"Keeps an empty program at each HOOK: switch, waking, wakeup, rss, request.",
		"empty_hooks switch wakeup",
		NULL,
		0
	};
	int hooks, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &hooks);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (!hooks) {
		log_error("expected switch, waking, wakeup, rss or request: see --help");
		return EXIT_USAGE;
	}
	if (attach_all(words + 1, hooks))
		return EXIT_FAILED;
	puts("attached");
	fflush(stdout);
	pause();
	return EXIT_DONE;
}
