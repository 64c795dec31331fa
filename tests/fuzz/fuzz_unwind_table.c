/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as the .eh_frame of an otherwise valid file: an error, or a table that the consumer accepts
 * and the kernel programs can use.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/table_stream.h"
#include "tests/fuzz/fuzz.h"

#include <elf.h>
#include <sys/mman.h>

#define TEXT_ADDRESS 0x1000U
#define TEXT_BYTES 0x8000U
#define CALL_FRAMES_ADDRESS 0x10000U

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[3];
	char names[32];
};

static const struct file file = {
	.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		    .e_type = ET_DYN,
		    .e_machine = EM_X86_64,
		    .e_version = EV_CURRENT,
		    .e_phoff = offsetof(struct file, segments),
		    .e_shoff = offsetof(struct file, sections),
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 2,
		    .e_shentsize = sizeof(Elf64_Shdr),
		    .e_shnum = 3,
		    .e_shstrndx = 2 },
	.segments = { { .p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = TEXT_ADDRESS,
			.p_filesz = TEXT_BYTES,
			.p_memsz = TEXT_BYTES,
			.p_align = 4096 },
		      { .p_type = PT_LOAD,
			.p_flags = PF_R,
			.p_offset = sizeof(struct file),
			.p_vaddr = CALL_FRAMES_ADDRESS,
			.p_align = 1 } },
	.sections = { { .sh_type = SHT_NULL },
		      { .sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = CALL_FRAMES_ADDRESS,
			.sh_offset = sizeof(struct file),
			.sh_addralign = 1 },
		      { .sh_name = 11,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct file, names),
			.sh_size = sizeof(((struct file *)0)->names),
			.sh_addralign = 1 } },
	.names = "\0.eh_frame\0.shstrtab",
};

static void write_file(int fd, const uint8_t *call_frames, size_t bytes)
{
	struct file whole = file;

	whole.segments[1].p_filesz = whole.segments[1].p_memsz = bytes;
	whole.sections[1].sh_size = bytes;
	HOLDS(write(fd, &whole, sizeof(whole)) == sizeof(whole));
	HOLDS(write(fd, call_frames, bytes) == (ssize_t)bytes);
}

/* The whole table in one message, as far as it fits. */
static void expect_valid(uint32_t part, const struct table_head *head, const void *elements, size_t each,
			 uint32_t count)
{
	static struct table_message message;
	uint32_t most = (uint32_t)(TABLE_PART_BYTES / each);

	for (uint32_t done = 0; done < count; done += message.count) {
		message.part = part;
		message.count = count - done < most ? count - done : most;
		memcpy(message.rules, (const char *)elements + done * each, message.count * each);
		HOLDS(table_message_is_valid(&message,
					     offsetof(struct table_message, head) + message.count * each,
					     head, part, done));
	}
}

/* The first row of a page begins with the page, and each row is behind the one before. */
static void expect_ascending(const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->pages_count; i++)
		for (uint32_t row = 0; row < table->pages[i].rows; row++) {
			uint32_t at = table->pages[i].first_row + row;
			const struct unwind_row *rows = table->chunks[at / UNWIND_CHUNK_ROWS].rows;

			HOLDS(row ? rows[at % UNWIND_CHUNK_ROWS].at > rows[at % UNWIND_CHUNK_ROWS - 1].at
				  : !rows[at % UNWIND_CHUNK_ROWS].at);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	struct unwind_table table;
	struct table_head head = { 0 };

	write_file(fd, data, bytes);
	if (unwind_table_compile(fd, &table))
		return 0;
	head.rules = table.rules_count;
	head.chunks = table.chunks_count;
	head.pages = table.pages_count;
	head.first_page = table.first_page;
	expect_valid(TABLE_HEAD, &head, &head, sizeof(head), 1);
	expect_valid(TABLE_RULES, &head, table.rules, sizeof(*table.rules), table.rules_count);
	expect_valid(TABLE_CHUNKS, &head, table.chunks, sizeof(*table.chunks), table.chunks_count);
	expect_valid(TABLE_PAGES, &head, table.pages, sizeof(*table.pages), table.pages_count);
	expect_ascending(&table);
	unwind_table_free(&table);
	return 0;
}
