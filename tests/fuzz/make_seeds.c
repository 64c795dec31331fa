/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the seeds of the targets with binary input, from the structures themselves: make_seeds DIRECTORY
 * writes DIRECTORY/TARGET/NUMBER. Seeds that are text are in tests/fuzz/corpus/.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/symbolizer/protocol.h"
#include "common/symbolizer/table_stream.h"
#include "common/system/log.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

/* Appends a part to a seed. */
struct seed {
	unsigned char data[20480];
	size_t bytes;
};

static void put(struct seed *seed, const void *from, size_t bytes)
{
	memcpy(seed->data + seed->bytes, from, bytes);
	seed->bytes += bytes;
}

static void put_byte(struct seed *seed, unsigned char byte)
{
	put(seed, &byte, 1);
}

static int write_file(const struct seed *seed, const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "we");

	return file && fwrite(seed->data, seed->bytes, 1, file) == 1 && !fflush(file) ? 0 : -errno;
}

static int save(const struct seed *seed, const char *directory, const char *target, size_t number)
{
	_cleanup_free_ char *at = NULL, *path = NULL;

	if (asprintf(&at, "%s/%s", directory, target) < 0 || asprintf(&path, "%s/%zu", at, number) < 0)
		return -ENOMEM;
	return mkdir(at, 0777) && errno != EEXIST ? -errno : write_file(seed, path);
}

/* ---- records of the kernel programs ---- */

/* In the format of fuzz_ring.c: fill the ring, write one more, overwrite a slot, read. */
static void put_ring(struct seed *seed)
{
	static const unsigned char overwrite[] = { 1, 3, offsetof(struct sample, seq), 1, 0, 2 };

	for (unsigned char i = 0; i < 12; i++)
		put(seed, (unsigned char[]){ 0, i, 3, 5 }, 4);
	put(seed, overwrite, sizeof(overwrite));
	for (unsigned char i = 0; i < 6; i++)
		put(seed, (unsigned char[]){ 0, i, i, 127 }, 4);
	put_byte(seed, 2);
}

static void put_events(struct seed *seed)
{
	const struct process_event process = { .header = { RECORD_PROCESS, sizeof(process) },
					       .kind = PROCESS_MATCHED,
					       .tgid = 1,
					       .pattern_id = 1,
					       .comm = "nginx" };
	const struct error_event error = { .header = { RECORD_ERROR, sizeof(error) },
					   .code = ERROR_TARGETS_FULL,
					   .comm = "nginx" };

	put_byte(seed, sizeof(process));
	put(seed, &process, sizeof(process));
	put_byte(seed, sizeof(error));
	put(seed, &error, sizeof(error));
}

static void put_tasks(struct seed *seed)
{
	const struct task_record task = { .header = { RECORD_TASK, sizeof(task) },
					  .tgid = 1,
					  .comm = "nginx" };

	const struct cgroup_record cgroup = {
		.header = { RECORD_CGROUP, sizeof(cgroup) }, .cgroup_id = 7, .account = 7, .path_bytes = 4
	};

	for (int i = 0; i < 3; i++) {
		put(seed, &cgroup, sizeof(cgroup));
		put(seed, "/a/b", cgroup.path_bytes);
		put(seed, &task, sizeof(task));
	}
}

/* Two looks of the same length: in the second, the threads are where they were. */
static void put_looks(struct seed *seed)
{
	static const __s32 frames[] = { 1, 2, KERNEL_FRAME_UNKNOWN };

	for (uint32_t look = 0; look < 2; look++)
		for (uint32_t tid = 1; tid <= 3; tid++) {
			const struct look_record record = { .header = { RECORD_LOOK, sizeof(record) },
							    .tid = tid,
							    .tgid = 1,
							    .call = look ? -1 : 202,
							    .fd = -1,
							    .comm = "nginx",
							    .state = THREAD_SLEEPING,
							    .flags = look ? LOOK_SAME : 0,
							    .depth = look || tid == 3 ? 0
										      : ARRAY_SIZE(frames) };

			put(seed, &record, sizeof(record));
			put(seed, frames, record.depth * sizeof(frames[0]));
		}
}

/* Slots of three looks, of which the last bytes are the stream of one. */
static void put_activity(struct seed *seed)
{
	const struct activity_look look = { .header = { RECORD_ACTIVITY, sizeof(look) },
					    .threads = 3,
					    .number = 2 };

	for (uint32_t i = 0; i < 48; i++) {
		const struct activity_slot slot = { .key = { .comm = "nginx",
							     .cgroup_id = i % 2,
							     .uid = 33,
							     .call = i % 3 ? 232 : -1,
							     .function = i % 3 ? 4100 : KERNEL_FRAME_UNKNOWN,
							     .state = (__u16)(i % THREAD_STATES) },
						    .threads = 1 + i % 5,
						    .reserved = 1 };

		put(seed, &slot, sizeof(slot));
	}
	put(seed, &look, sizeof(look));
}

static void put_mappings(struct seed *seed)
{
	static const char *const paths[] = { "/usr/sbin/nginx", "/lib/libc.so.6", "", "/lib/x (deleted)" };

	const struct mapped_record process = { .header = { RECORD_MAPPED, sizeof(process) },
					       .tgid = 1,
					       .uid = 1000,
					       .mappings = 60000,
					       .flags = MAPPED_LISTED,
					       .comm = "nginx" };

	put_byte(seed, 70);
	put(seed, &process, sizeof(process));
	for (uint32_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct mapping_record record = { .header = { RECORD_MAPPING, sizeof(record) },
						       .tgid = 1,
						       .begins = 0x1000 + 0xc00 * i,
						       .ends = 0x2000 + 0xc00 * i,
						       .inode = *paths[i] ? i + 1 : 0,
						       .flags = i ? 0 : MAPPING_IS_EXE,
						       .path_bytes = (uint32_t)strlen(paths[i]) };

		put(seed, &record, sizeof(record));
		put(seed, paths[i], record.path_bytes);
	}
}

/* ---- files and messages of a symbolizer ---- */

struct small_elf {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[5]; /* none, .symtab, .dynsym, names, the build id */
	Elf64_Sym symbols[4], dynamic[2];
	char names[32];
	Elf64_Nhdr note;
	char owner[4];
	unsigned char build_id[8];
	char text[64];
};

#define AT(member) offsetof(struct small_elf, member)
#define SECTION(type, member, entry, info)                                                                   \
	{                                                                                                    \
		.sh_type = (type), .sh_offset = AT(member),                                                  \
		.sh_size = sizeof(((struct small_elf *)0)->member), .sh_link = 3, .sh_entsize = (entry),     \
		.sh_info = (info), .sh_addralign = 4                                                         \
	}
#define SYMBOL(name, at, bytes, bind)                                                                        \
	{                                                                                                    \
		.st_name = (name), .st_info = ELF64_ST_INFO(bind, STT_FUNC), .st_shndx = 1,                  \
		.st_value = 0x1000 + AT(text) + (at), .st_size = (bytes)                                     \
	}

static const struct small_elf small_elf = {
	.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		    .e_type = ET_DYN,
		    .e_machine = EM_X86_64,
		    .e_version = EV_CURRENT,
		    .e_phoff = AT(segments),
		    .e_shoff = AT(sections),
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 2,
		    .e_shentsize = sizeof(Elf64_Shdr),
		    .e_shnum = 5,
		    .e_shstrndx = 3 },
	.segments = { { .p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = 0x1000,
			.p_filesz = sizeof(struct small_elf),
			.p_memsz = sizeof(struct small_elf),
			.p_align = 4096 },
		      { .p_type = PT_NOTE,
			.p_offset = AT(note),
			.p_filesz = AT(text) - AT(note),
			.p_align = 4 } },
	.sections = { { .sh_type = SHT_NULL },
		      SECTION(SHT_SYMTAB, symbols, sizeof(Elf64_Sym), 1),
		      SECTION(SHT_DYNSYM, dynamic, sizeof(Elf64_Sym), 1),
		      SECTION(SHT_STRTAB, names, 0, 0),
		      { .sh_type = SHT_NOTE,
			.sh_offset = AT(note),
			.sh_size = AT(text) - AT(note),
			.sh_addralign = 4 } },
	.symbols = { { 0 },
		     SYMBOL(1, 0, 32, STB_GLOBAL),
		     SYMBOL(7, 8, 8, STB_LOCAL),
		     SYMBOL(13, 8, 8, STB_WEAK) },
	.dynamic = { { 0 }, SYMBOL(18, 40, 16, STB_GLOBAL) },
	.names = "\0outer\0inner\0weak\0exported",
	.note = { sizeof(small_elf.owner), sizeof(small_elf.build_id), NT_GNU_BUILD_ID },
	.owner = "GNU",
	.build_id = { 1, 2, 3, 4, 5, 6, 7, 8 },
};

static void put_elf(struct seed *seed)
{
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t offset = (uint32_t)AT(text) + 7 * i;

		put(seed, &offset, sizeof(offset));
	}
	put(seed, &small_elf, sizeof(small_elf));
}

static void put_reply(struct seed *seed)
{
	static struct symbolize_reply reply = {
		.count = 2,
		.frames_count = 3,
		.depths = { 2, 1 },
		.frames = { { 0, 4, 10, 4, 7, 0, 1 }, { 4, 6, 10, 4, 9, 0, 0 }, { .name = 0 } },
		.text = "mainmemcpya.cc"
	};

	put_byte(seed, (unsigned char)(reply.count - 1));
	put(seed, &reply, offsetof(struct symbolize_reply, text) + 14);
}

static void put_module(struct seed *seed)
{
	static const struct symbolize_module module = { .readable = 1,
							.build_id_bytes = 20,
							.debuglink = "a.debug" };

	put_byte(seed, 0);
	put(seed, &module, sizeof(module));
}

/* Of this program, written by a compiler. */
static void put_call_frames(struct seed *seed)
{
	static const unsigned char cie[] = { 20, 0,    0,  0, 0,    0,  0, 0, 1,    'z', 'R', 0,
					     1,  0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1,   0,   0 };
	/* at 0x1000, 64 bytes: push, a frame of 32 bytes, an expression, undefined */
	static const unsigned char fde[] = { 40,   0,    0, 0,    28,   0,  0,    0,  0xe0, 0x0f, 0xff,
					     0xff, 64,   0, 0,    0,    0,  0x41, 14, 16,   0x86, 2,
					     0x44, 13,   6, 0x48, 14,   32, 0x44, 15, 3,    0x77, 8,
					     6,    0x44, 7, 16,   0x44, 10, 0x44, 11, 0,    0,    0 };
	static const unsigned char end[4];

	put(seed, cie, sizeof(cie));
	put(seed, fde, sizeof(fde));
	put(seed, end, sizeof(end));
}

static void put_table_rules(struct seed *seed)
{
	static const unsigned char numbers[] = { 3, 1, 1, TABLE_RULES - TABLE_HEAD, 0 };
	struct table_message message = { .part = TABLE_RULES, .count = 1 };

	message.rules[0] = (struct unwind_rule){ .kind = UNWIND_CFA, .cfa_register = 7, .cfa_offset = 8 };
	put(seed, numbers, sizeof(numbers));
	put(seed, &message, offsetof(struct table_message, head) + sizeof(message.rules[0]));
}

static void put_table_pages(struct seed *seed)
{
	static const unsigned char numbers[] = { 3, 1, 1, TABLE_PAGES - TABLE_HEAD, 0 };
	struct table_message message = { .part = TABLE_PAGES, .count = 2 };

	message.pages[0] = (struct unwind_page){ 1000, 24, 0 };
	put(seed, numbers, sizeof(numbers));
	put(seed, &message, offsetof(struct table_message, head) + 2 * sizeof(message.pages[0]));
}

static const struct {
	const char *target;
	void (*put)(struct seed *seed);
} targets[] = {
	{ "ring", put_ring },
	{ "events", put_events },
	{ "events", put_tasks },
	{ "looks", put_looks },
	{ "activity", put_activity },
	{ "mappings", put_mappings },
	{ "elf_symbols", put_elf },
	{ "symbolizer_reply", put_reply },
	{ "unwind_table", put_call_frames },
	{ "table_message", put_table_rules },
	{ "table_message", put_table_pages },
	{ "symbolizer_reply", put_module },
};

int main(int count, char **arguments)
{
	log_init("make_seeds");
	if (count != 2) {
		log_error("expected a directory");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct seed seed = { .bytes = 0 };
		int result;

		targets[i].put(&seed);
		result = save(&seed, arguments[1], targets[i].target, i);
		if (result < 0) {
			log_error("cannot write a seed of %s: %s", targets[i].target, strerror(-result));
			return EXIT_FAILED;
		}
	}
	return EXIT_DONE;
}
