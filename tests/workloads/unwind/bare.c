/* SPDX-License-Identifier: GPL-2.0-only */
/* bare begins with a function of its own, which has no unwind information: other C libraries than glibc do that, too. */
#include "tests/workloads/unwind/run.h"

#include <sys/syscall.h>

__asm__(".pushsection .text\n.globl bare_start\n.type bare_start, @function\n"
	"bare_start: mov %rsp, %rdi\nand $-16, %rsp\ncall bare_main\n.size bare_start, . - bare_start\n.popsection\n");

void bare_main(void);

SOLID static void bare_burn(void)
{
	run_spin(RUN_MOMENT);
	STAY();
}

SOLID void bare_main(void)
{
	static const char ready[] = "ready\n";
	long result = SYS_write;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(1L), "S"(ready), "d"(sizeof(ready) - 1)
			 : "rcx", "r11", "memory");
	for (;;)
		bare_burn();
}

/* of the C library, which never runs */
int main(void)
{
	return 1;
}
