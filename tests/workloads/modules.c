/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * modules makes small ELF files, each with a function, a symbol and a build id of its own, maps them all, and
 * runs through them: each of its stacks has one frame in each of many files, and soon its samples name all of
 * them. With a mode such as 0400 nobody but their owner can read them.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 4096U /* a page: what is mapped of it */
#define COUNT_MAX 60000U /* below vm.max_map_count, with the program's own mappings */
#define DEPTH_MAX 120U   /* frames that a sample holds */
#define BURN_ROUNDS 1000000U

/*
 * Calls the next function of the list that it is passed: push %rbp; mov %rsp,%rbp; add $8,%rdi; call *(%rdi);
 * pop %rbp; ret
 */
static const unsigned char code[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xc7, 0x08, 0xff, 0x17, 0x5d, 0xc3
};

typedef void step(void *const *list);

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMBOLS, SECTION_STRINGS, SECTIONS };

static const char section_names[] = "\0.text\0.symtab\0.strtab";
static const uint32_t section_name_at[SECTIONS] = { 0, 1, 7, 15 };

struct note {
	Elf64_Nhdr header;
	char name[4];
	char id[20];
};

/* One file; strings[] begins with the names of the sections. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct note note;
	unsigned char code[sizeof(code)];
	Elf64_Sym symbols[2];
	char strings[64];
	Elf64_Shdr sections[SECTIONS];
};

static void fill_file(struct file *file, unsigned int number)
{
	uint32_t name_at = sizeof(section_names);

	memset(file, 0, sizeof(*file));
	memcpy(file->header.e_ident, ELFMAG, SELFMAG);
	file->header.e_ident[EI_CLASS] = ELFCLASS64;
	file->header.e_ident[EI_DATA] = ELFDATA2LSB;
	file->header.e_ident[EI_VERSION] = EV_CURRENT;
	file->header.e_type = ET_DYN;
	file->header.e_machine = EM_X86_64;
	file->header.e_version = EV_CURRENT;
	file->header.e_phoff = offsetof(struct file, segments);
	file->header.e_shoff = offsetof(struct file, sections);
	file->header.e_ehsize = sizeof(Elf64_Ehdr);
	file->header.e_phentsize = sizeof(Elf64_Phdr);
	file->header.e_phnum = 2;
	file->header.e_shentsize = sizeof(Elf64_Shdr);
	file->header.e_shnum = SECTIONS;
	file->header.e_shstrndx = SECTION_STRINGS;
	file->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					  .p_flags = PF_R | PF_X,
					  .p_filesz = sizeof(*file),
					  .p_memsz = sizeof(*file),
					  .p_align = FILE_BYTES };
	file->segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					  .p_flags = PF_R,
					  .p_offset = offsetof(struct file, note),
					  .p_vaddr = offsetof(struct file, note),
					  .p_filesz = sizeof(file->note),
					  .p_memsz = sizeof(file->note),
					  .p_align = 4 };
	file->note.header = (Elf64_Nhdr){ sizeof(file->note.name), sizeof(file->note.id), NT_GNU_BUILD_ID };
	memcpy(file->note.name, "GNU", 4);
	memcpy(file->note.id, &number, sizeof(number));
	memcpy(file->code, code, sizeof(code));
	memcpy(file->strings, section_names, sizeof(section_names));
	snprintf(file->strings + name_at, sizeof(file->strings) - name_at, "module_%u", number);
	file->symbols[1] = (Elf64_Sym){ .st_name = name_at,
					.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					.st_shndx = SECTION_TEXT,
					.st_value = offsetof(struct file, code),
					.st_size = sizeof(code) };
	file->sections[SECTION_TEXT] = (Elf64_Shdr){ .sh_name = section_name_at[SECTION_TEXT],
						     .sh_type = SHT_PROGBITS,
						     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						     .sh_addr = offsetof(struct file, code),
						     .sh_offset = offsetof(struct file, code),
						     .sh_size = sizeof(code),
						     .sh_addralign = 1 };
	file->sections[SECTION_SYMBOLS] = (Elf64_Shdr){ .sh_name = section_name_at[SECTION_SYMBOLS],
							.sh_type = SHT_SYMTAB,
							.sh_offset = offsetof(struct file, symbols),
							.sh_size = sizeof(file->symbols),
							.sh_link = SECTION_STRINGS,
							.sh_info = 1,
							.sh_addralign = 4,
							.sh_entsize = sizeof(Elf64_Sym) };
	file->sections[SECTION_STRINGS] = (Elf64_Shdr){ .sh_name = section_name_at[SECTION_STRINGS],
							.sh_type = SHT_STRTAB,
							.sh_offset = offsetof(struct file, strings),
							.sh_size = sizeof(file->strings),
							.sh_addralign = 1 };
}

/* Returns its function in *ret_function. Returns 0 or -errno. */
static int make_module(const char *directory, unsigned int number, mode_t mode, void **ret_function)
{
	_cleanup_close_ int fd = -EBADF;
	char path[4096];
	struct file file;
	char *at;

	fill_file(&file, number);
	snprintf(path, sizeof(path), "%s/module-%u.so", directory, number);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0 || write(fd, &file, sizeof(file)) != (ssize_t)sizeof(file) || fchmod(fd, mode))
		return -errno;
	at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*ret_function = at + offsetof(struct file, code);
	return 0;
}

/* The end of each list. */
__attribute__((noinline, used)) static void burn_in_modules(void *const *list)
{
	(void)list;
	for (unsigned int i = 0; i < BURN_ROUNDS; i++)
		__asm__ volatile("");
}

/* Each list begins one function further. */
__attribute__((noreturn)) static void run_through(void *const *functions, unsigned int count,
						  unsigned int depth)
{
	void *list[DEPTH_MAX + 1];

	for (unsigned int first = 0;; first = (first + depth) % count) {
		step *enter;

		for (unsigned int i = 0; i < depth; i++)
			list[i] = functions[(first + i) % count];
		*(step **)&list[depth] = burn_in_modules;
		*(void **)&enter = list[0];
		enter(list);
	}
}

int main(int argc, char **argv)
{
	const char *count_text = "1000", *depth_text = "100", *mode_text = "0644";
	const struct option_spec options[] = {
		{ "count", "N", "files (1000)", &count_text },
		{ "depth", "N", "files on each stack (100)", &depth_text },
		{ "mode", "M", "of the files, in octal (0644)", &mode_text },
	};
	const struct command_spec command = {
		"modules",
		"[--count N] [--depth N] [--mode M] DIRECTORY",
		"Runs through many small ELF files that it makes in the directory.",
		"modules --count 5000 --mode 0400 /tmp/modules",
		options,
		ARRAY_SIZE(options)
	};
	_cleanup_free_ void **functions = NULL;
	unsigned long long count, depth;
	int words, parsed, error = 0;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 1 || options_number(count_text, 1, COUNT_MAX, &count) ||
	    options_number(depth_text, 1, DEPTH_MAX, &depth)) {
		log_error("takes a directory, 1 to %u files and 1 to %u on each stack: see --help", COUNT_MAX,
			  DEPTH_MAX);
		return EXIT_USAGE;
	}
	functions = calloc(count, sizeof(*functions));
	for (unsigned int i = 0; functions && i < count && !error; i++)
		error = make_module(argv[1], i, (mode_t)strtoul(mode_text, NULL, 8), &functions[i]);
	if (!functions || error) {
		log_error("cannot make its files in %s: %s", argv[1], strerror(error ? -error : ENOMEM));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	run_through(functions, (unsigned int)count, (unsigned int)depth);
}
