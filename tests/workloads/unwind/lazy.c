/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lazy runs in the procedure linkage table, and in the resolver of the loader, which the table calls until a
 * function is bound: it removes the binding again and again.
 */
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/workloads/unwind/chain.h"
#include "tests/workloads/unwind/run.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>

#define BOUND_CALLS 200U /* take about as long as one that is not */

void lazy_tick(void);

extern char __ehdr_start[]; /* the first byte of the program; the linker defines it */

/* The slot of the linkage table, and its value before the function is bound. */
static volatile Elf64_Addr *slot;
static Elf64_Addr unbound;

static const Elf64_Dyn *find_tag(Elf64_Sxword tag)
{
	const Elf64_Dyn *entry = _DYNAMIC;

	while (entry->d_tag != tag && entry->d_tag != DT_NULL)
		entry++;
	return entry;
}

/* The loader has relocated it. */
static const void *tag_address(Elf64_Sxword tag)
{
	const void *address;

	memcpy(&address, &find_tag(tag)->d_un.d_ptr, sizeof(address));
	return address;
}

/* Runs before the first call. */
static bool find_slot(const char *function)
{
	const Elf64_Rela *relocations = tag_address(DT_JMPREL);
	const Elf64_Sym *symbols = tag_address(DT_SYMTAB);
	const char *names = tag_address(DT_STRTAB);
	size_t count = find_tag(DT_PLTRELSZ)->d_un.d_val / sizeof(*relocations);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(names + symbols[ELF64_R_SYM(relocations[i].r_info)].st_name, function) != 0)
			continue;
		slot = (void *)(__ehdr_start + relocations[i].r_offset);
		unbound = *slot;
		return true;
	}
	return false;
}

SOLID static void call_lazily(void)
{
	while (!run_over) {
		*slot = unbound;
		for (unsigned int i = 0; i <= BOUND_CALLS; i++)
			lazy_tick();
	}
}

int main(int argc, char **argv)
{
	const char *const kinds[] = { "lazy", NULL };
	const struct chain chain = { { level_small, level_pushes }, 2, call_lazily };
	struct run run;
	int parsed = run_begin("unwind_lazy", kinds, argc, argv, &run);

	if (parsed != OPTIONS_RUN)
		return parsed;
	if (!find_slot("lazy_tick")) {
		log_error("finds no lazily bound lazy_tick() in itself");
		return EXIT_FAILED;
	}
	run_ready(&run);
	chain_descend(&chain, run.depth);
	return EXIT_DONE;
}
