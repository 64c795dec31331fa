/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/runtime_sign.h"

#include <gelf.h>
#include <string.h>

const struct runtime_mark runtime_marks[RUNTIME_MARKS] = {
	{ "go", ".go.buildinfo", ".go.buildinfo", false },
	{ "go", ".gopclntab", ".gopclntab", false },
	{ "python", "Py_BytesMain", "Py_BytesMain", true },
	{ "jvm", "JNI_CreateJavaVM", "JNI_CreateJavaVM", false },
	{ "jvm", "JLI_Launch", "JLI_Launch", true },
	{ "node", "_ZN4node5StartEiPPc", "node::Start", true },
	{ "php", "php_request_startup", "php_request_startup", false },
	{ "ruby", "ruby_run_node", "ruby_run_node", true },
	{ "perl", "perl_run", "perl_run", false },
};

const struct runtime_mark *runtime_mark_of(uint32_t sign)
{
	uint32_t position = (sign & ~RUNTIME_IMPORTED) - RUNTIME_SIGNS_FIRST;

	return position < RUNTIME_MARKS ? &runtime_marks[position] : NULL;
}

bool runtime_sign_is_valid(uint32_t sign)
{
	const struct runtime_mark *mark = runtime_mark_of(sign);

	if (sign & RUNTIME_IMPORTED)
		return mark && mark->import_counts;
	return mark || sign == RUNTIME_NOT_READ || sign == RUNTIME_NO_SIGN;
}

bool runtime_sign_is_jvm(uint32_t sign)
{
	const struct runtime_mark *mark = sign & RUNTIME_IMPORTED ? NULL : runtime_mark_of(sign);

	return mark && !strcmp(mark->runtime, "jvm");
}

/* Returns the sign of a section or a symbol, or RUNTIME_NO_SIGN. */
static uint32_t sign_of(const char *name, bool is_imported)
{
	for (uint32_t i = 0; i < RUNTIME_MARKS; i++)
		if (*name == *runtime_marks[i].name && !strcmp(name, runtime_marks[i].name) &&
		    (!is_imported || runtime_marks[i].import_counts))
			return RUNTIME_SIGNS_FIRST + i + (is_imported ? RUNTIME_IMPORTED : 0);
	return RUNTIME_NO_SIGN;
}

/* A definition says more than an import, which another file answers. */
static uint32_t sign_of_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	uint32_t imported = RUNTIME_NO_SIGN;
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;
		bool is_imported;
		uint32_t sign;

		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
			continue;
		is_imported = symbol.st_shndx == SHN_UNDEF;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		sign = name ? sign_of(name, is_imported) : RUNTIME_NO_SIGN;
		if (sign == RUNTIME_NO_SIGN)
			continue;
		if (!is_imported)
			return sign;
		imported = sign;
	}
	return imported;
}

uint32_t runtime_sign_find(int elf_fd)
{
	uint32_t found = RUNTIME_NO_SIGN;
	Elf_Scn *section = NULL;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(elf_fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names)) {
		elf_end(elf);
		return RUNTIME_NOT_READ;
	}
	/* sections are few and symbols many: all sections come first */
	while (found == RUNTIME_NO_SIGN && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name)
								  : NULL;

		if (name && *name == '.')
			found = sign_of(name, false);
	}
	while (found == RUNTIME_NO_SIGN && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			found = sign_of_symbols(elf, section, &header);
	}
	elf_end(elf);
	return found;
}
