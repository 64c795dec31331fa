/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/workloads/unwind/chain.h"

#include "tests/workloads/unwind/run.h"

#define DESCEND(chain, left)                                                                                 \
	((left) ? (chain)->levels[(left) % (chain)->count]((chain), (left)-1) : (chain)->leaf())

/* A value that the compiler has to keep in memory. */
#define TOUCH(memory) __asm__ volatile("" : : "r"(memory) : "memory")

/* Six values that are used behind `what`: in as many registers, which are all that a callee keeps. */
#define WITH_SIX_VALUES(value, what)                                                                         \
	do {                                                                                                 \
		unsigned long a = (value), b = ~a, c = a + 1, d = a + 2, e = a + 3, f = a + 4;               \
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));                 \
		what;                                                                                        \
		__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));                     \
	} while (0)

struct line {
	char bytes[64];
} __attribute__((aligned(64)));

SOLID void chain_descend(const struct chain *chain, unsigned long depth)
{
	DESCEND(chain, depth);
	STAY();
}

SOLID void level_small(const struct chain *chain, unsigned long left)
{
	DESCEND(chain, left);
	STAY();
}

SOLID void level_pushes(const struct chain *chain, unsigned long left)
{
	WITH_SIX_VALUES(left, DESCEND(chain, left));
}

SOLID void level_large(const struct chain *chain, unsigned long left)
{
	char room[888];

	TOUCH(room);
	DESCEND(chain, left);
	TOUCH(room);
}

SOLID void level_alloca(const struct chain *chain, unsigned long left)
{
	char *room = __builtin_alloca(16 + 40 * (left % 7));

	TOUCH(room);
	DESCEND(chain, left);
	TOUCH(room);
}

SOLID void level_realigned(const struct chain *chain, unsigned long left)
{
	struct line line;

	TOUCH(&line);
	DESCEND(chain, left);
	TOUCH(&line);
}

SOLID void level_drap(const struct chain *chain, unsigned long left)
{
	char *room = __builtin_alloca(16 + 40 * (left % 7));
	struct line line;

	TOUCH(room);
	TOUCH(&line);
	DESCEND(chain, left);
	TOUCH(&line);
}

SOLID void leaf_small(void)
{
	STAY();
}

SOLID void leaf_pushes(void)
{
	WITH_SIX_VALUES(1, __asm__ volatile(""
					    :
					    :
					    : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"));
}

SOLID void leaf_large(void)
{
	char room[888];

	TOUCH(room);
}

SOLID void leaf_alloca(unsigned int bytes)
{
	for (unsigned int i = 0; i < 4; i++) {
		char *room = __builtin_alloca(bytes + i);

		TOUCH(room);
	}
}

SOLID void leaf_realigned(void)
{
	struct line line;

	TOUCH(&line);
}

SOLID void leaf_drap(unsigned int bytes)
{
	char *room = __builtin_alloca(bytes);
	struct line line;

	TOUCH(room);
	TOUCH(&line);
}
