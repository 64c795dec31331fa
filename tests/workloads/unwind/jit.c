/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jit makes code while it runs, which no table describes: the code keeps a frame pointer, loops, and calls
 * back into C. Its name is in /tmp/perf-PID.map, in the format of perf.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/workloads/unwind/chain.h"
#include "tests/workloads/unwind/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "jit lacks this architecture's instructions"
#endif

/*
 * The code of a function (void (*callback)(void), unsigned long calls). Its loops are long, so that a sample
 * seldom hits its first instructions.
 */
static const unsigned char instructions[] = {
	0x55,                         /* push %rbp */
	0x48, 0x89, 0xe5,             /* mov %rsp, %rbp */
	0x53,                         /* push %rbx */
	0x41, 0x54,                   /* push %r12 */
	0x48, 0x89, 0xfb,             /* mov %rdi, %rbx */
	0x49, 0x89, 0xf4,             /* mov %rsi, %r12 */
	0xb9, 0x00, 0x04, 0x00, 0x00, /* 1: mov $1024, %ecx */
	0xff, 0xc9,                   /* 2: dec %ecx */
	0x75, 0xfc,                   /* jnz 2b */
	0xff, 0xd3,                   /* call *%rbx */
	0x49, 0xff, 0xcc,             /* dec %r12 */
	0x75, 0xf0,                   /* jnz 1b */
	0x41, 0x5c,                   /* pop %r12 */
	0x5b,                         /* pop %rbx */
	0x5d,                         /* pop %rbp */
	0xc3,                         /* ret */
};

typedef void jit_function(void (*callback)(void), unsigned long calls);

static jit_function *function;

/* Returns 0 or -errno. */
static int make_function(void)
{
	void *at =
		mmap(NULL, sizeof(instructions), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	memcpy(at, instructions, sizeof(instructions));
	if (mprotect(at, sizeof(instructions), PROT_READ | PROT_EXEC))
		return -errno;
	*(void **)&function = at;
	return 0;
}

/* Returns 0 or -errno. */
static int write_map(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644), result;
	_cleanup_file_ FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		return -errno;
	result = fchmod(fd, 0644) ? -errno : 0;
	if (fprintf(file, "%" PRIxPTR " %zx jit_function\n", (uintptr_t)function, sizeof(instructions)) < 0 ||
	    fflush(file))
		result = -errno;
	return result;
}

SOLID static void jit_callback(void)
{
	run_spin(RUN_MOMENT);
}

SOLID static void call_jit(void)
{
	while (!run_over)
		function(jit_callback, 10000);
}

int main(int argc, char **argv)
{
	const char *const kinds[] = { "jit", NULL };
	const struct chain chain = { { level_small, level_pushes }, 2, call_jit };
	char map[64];
	struct run run;
	int parsed = run_begin("unwind_jit", kinds, argc, argv, &run), error;

	if (parsed != OPTIONS_RUN)
		return parsed;
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	error = make_function();
	if (!error)
		error = write_map(map);
	if (error) {
		log_error("cannot make code, or cannot write %s: %s", map, strerror(-error));
		return EXIT_FAILED;
	}
	run_ready(&run);
	chain_descend(&chain, run.depth);
	unlink(map);
	return EXIT_DONE;
}
