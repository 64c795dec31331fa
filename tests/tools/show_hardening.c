/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * show_hardening shows what the flags do that every program is compiled with, where no linked program shows it:
 *
 *	show_hardening variables	prints how many bytes of a fresh variable are not zero
 *	show_hardening overflow		writes one byte behind memory whose size only running tells; prints "written"
 *	show_hardening registers	prints what a function leaves in a register that it used
 */
#include "common/system/log.h"
#include "common/system/options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 512

/* The compiler knows nothing of what is at the result. */
static unsigned char *unknown(void *at)
{
	unsigned char *result = at;

	__asm__ volatile("" : "+r"(result) : : "memory");
	return result;
}

static __attribute__((noinline)) void dirty_stack(void)
{
	unsigned char bytes[2 * BYTES];

	memset(unknown(bytes), 0xaa, sizeof(bytes));
	unknown(bytes);
}

static __attribute__((noinline)) unsigned int count_dirt(void)
{
	unsigned char bytes[BYTES];
	const unsigned char *at = unknown(bytes);
	unsigned int dirty = 0;

	for (size_t i = 0; i < BYTES; i++)
		dirty += at[i] != 0;
	return dirty;
}

static __attribute__((noinline)) void use_register(void)
{
#ifdef __x86_64__
	__asm__ volatile("mov $0x5ec2e7, %%ecx" : : : "rcx");
#else
	__asm__ volatile("mov x9, #0x5ec" : : : "x9");
#endif
}

static uint64_t left_behind(void)
{
	uint64_t value;

	use_register();
#ifdef __x86_64__
	__asm__ volatile("mov %%rcx, %0" : "=r"(value));
#else
	__asm__ volatile("mov %0, x9" : "=r"(value));
#endif
	return value;
}

static void overflow(void)
{
	volatile size_t size = 40;
	size_t bytes = size;
	char *memory = malloc(bytes);

	if (!memory)
		return;
	memset(memory, 'x', size + 1);
	unknown(memory);
	free(memory);
	puts("written");
}

int main(int argc, char **argv)
{
	const struct command_spec command = { "show_hardening",
					      "variables | overflow | registers",
					      "Shows what the flags do that this program is compiled with.",
					      "show_hardening variables",
					      NULL,
					      0 };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words == 1 && !strcmp(argv[1], "variables")) {
		dirty_stack();
		printf("%u\n", count_dirt());
	} else if (words == 1 && !strcmp(argv[1], "overflow")) {
		overflow();
	} else if (words == 1 && !strcmp(argv[1], "registers")) {
		printf("%#llx\n", (unsigned long long)left_behind());
	} else {
		log_error("expected variables, overflow or registers: see --help");
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}
