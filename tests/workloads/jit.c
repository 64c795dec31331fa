/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jit makes CPU pressure in code that it writes itself, as a runtime does, and names the code Jit::spin in
 * /tmp/perf-PID.map. On request, lines about code that does not exist precede that line.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 10000000U
#define CODE_BYTES 4096U

/* Makes a frame, then counts the first argument down. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0xff, 0xcf,       /* dec %edi */
	0x75, 0xfc,       /* jnz to the dec */
	0x5d,             /* pop %rbp */
	0xc3,             /* ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, -16]! */
	0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
	0x00, 0x04, 0x00, 0x71, /* subs w0, w0, 1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne to the subs */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], 16 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static volatile sig_atomic_t stop; /* set by the signal handler */

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int make_code(void **ret_code)
{
	void *memory = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	if (mprotect(memory, CODE_BYTES, PROT_READ | PROT_EXEC))
		return -errno;
	*ret_code = memory;
	return 0;
}

static int write_map(const char *path, unsigned long long lines, const void *at)
{
	_cleanup_file_ FILE *map = fopen(path, "wxe");

	if (!map)
		return -errno;
	for (unsigned long long i = 0; i < lines; i++)
		fprintf(map, "%llx 10 Jit::elsewhere_%llu\n", 0x1000 + 16 * i, i);
	fprintf(map, "%" PRIxPTR " %zx Jit::before\n%" PRIxPTR " %zx Jit::spin\n", (uintptr_t)at,
		sizeof(code), (uintptr_t)at, sizeof(code));
	return fflush(map) ? -errno : 0;
}

/*
 * Not at the end of main(): a call from the middle of a function is one that an unwinder by frame pointers
 * shows.
 */
static __attribute__((noinline)) void burn(void (*spin)(uint32_t rounds))
{
	while (!stop)
		spin(ROUNDS);
}

int main(int count, char **arguments)
{
	const char *seconds_text = NULL, *lines_text = NULL;
	const struct option_spec options[] = {
		{ "seconds", "N", "end by itself (600)", &seconds_text },
		{ "lines", "N", "more lines in the map (0)", &lines_text },
	};
	const struct command_spec command = { "jit",
					      "[--seconds N] [--lines N]",
					      "Burns CPU time in code that it wrote itself.",
					      "jit --seconds 5",
					      options,
					      ARRAY_SIZE(options) };
	const struct sigaction action = { .sa_handler = on_signal };
	unsigned long long seconds = 600, lines = 0;
	int words, parsed, result;
	void (*spin)(uint32_t rounds);
	void *at = NULL;
	char path[64];

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if ((seconds_text && options_number(seconds_text, 1, 86400, &seconds)) ||
	    (lines_text && options_number(lines_text, 0, 10000000, &lines)) || words) {
		log_error("takes --seconds and --lines, and numbers: see --help");
		return EXIT_USAGE;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	result = make_code(&at);
	if (!result)
		result = write_map(path, lines, at);
	if (result < 0) {
		log_error("cannot make code, or write %s: %s", path, strerror(-result));
		unlink(path);
		return EXIT_FAILED;
	}
	alarm((unsigned int)seconds);
	puts("ready");
	fflush(stdout);
	memcpy(&spin, &at, sizeof(spin));
	burn(spin);
	unlink(path);
	return EXIT_DONE;
}
