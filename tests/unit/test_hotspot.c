/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the description of HotSpot is found in a file made by hand and in the installed virtual machines, whose tables
 * in memory, once they are loaded, have what the description says; and that of damaged files there is none, or a valid one.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/hotspot.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool is_none(const struct unwind_hotspot *hotspot)
{
	static const struct unwind_hotspot none;

	return !memcmp(hotspot, &none, sizeof(none));
}

static int file_of(const void *bytes, size_t count)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, count), (ssize_t)count);
	return fd;
}

/* ---- a file made by hand: one segment whose addresses are SHIFT above its offsets, as is its text ---- */

#define SHIFT 0x1000U
#define FIELDS 14U

struct field {
	uint64_t type, field, of, is_static, offset, address;
};

struct type {
	uint64_t type, super, flags[2], bytes;
};

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[3];
	Elf64_Rela relocations[2];
	char names[512];
	uint64_t fields_at, types_at;
	struct field fields[FIELDS];
	struct type types[2];
	uint64_t heaps;
};

#define AT(member) (SHIFT + offsetof(struct image, member))

static const struct {
	const char *type, *field, *of;
} made_fields[FIELDS - 1] = {
	{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*" },
	{ "GrowableArrayBase", "_len", "int" },
	{ "GrowableArray<int>", "_data", "int*" },
	{ "CodeHeap", "_memory", "VirtualSpace" },
	{ "CodeHeap", "_segmap", "VirtualSpace" },
	{ "CodeHeap", "_log2_segment_size", "int" },
	{ "VirtualSpace", "_low_boundary", "char*" },
	{ "VirtualSpace", "_high_boundary", "char*" },
	{ "CodeBlob", "_name", "const char*" },
	{ "CodeBlob", "_size", "int" },
	{ "CodeBlob", "_code_offset", "int" },
	{ "CodeBlob", "_frame_complete_offset", "int16_t" },
	{ "CodeBlob", "_frame_size", "int" },
};

static uint64_t put_name(struct image *image, size_t *used, const char *name)
{
	size_t at = *used;

	HOLDS(at + strlen(name) < sizeof(image->names));
	strcpy(image->names + at, name);
	*used += strlen(name) + 1;
	return at;
}

static struct image make_image(void)
{
	struct image image = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
					 EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct image, segment),
			    .e_shoff = offsetof(struct image, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 4,
			    .e_shstrndx = 3 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_vaddr = SHIFT,
			     .p_filesz = sizeof(struct image),
			     .p_memsz = sizeof(struct image) },
		.sections = { { .sh_type = SHT_NULL },
			      { .sh_type = SHT_DYNSYM,
				.sh_offset = offsetof(struct image, symbols),
				.sh_size = sizeof(image.symbols),
				.sh_entsize = sizeof(Elf64_Sym),
				.sh_link = 3 },
			      { .sh_type = SHT_RELA,
				.sh_offset = offsetof(struct image, relocations),
				.sh_size = sizeof(image.relocations),
				.sh_entsize = sizeof(Elf64_Rela) },
			      { .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct image, names),
				.sh_size = sizeof(image.names) } },
		.symbols = { { 0 },
			     { .st_info = STT_OBJECT, .st_shndx = 1, .st_value = AT(fields_at) },
			     { .st_info = STT_OBJECT, .st_shndx = 1, .st_value = AT(types_at) } },
		.relocations = { { .r_offset = AT(fields_at),
				   .r_info = R_X86_64_RELATIVE,
				   .r_addend = AT(fields) },
				 { .r_offset = AT(types_at),
				   .r_info = R_X86_64_RELATIVE,
				   .r_addend = AT(types) } },
	};
	size_t used = 1;

	image.symbols[1].st_name = (Elf64_Word)put_name(&image, &used, "gHotSpotVMStructs");
	image.symbols[2].st_name = (Elf64_Word)put_name(&image, &used, "gHotSpotVMTypes");
	for (size_t i = 0; i < FIELDS - 1; i++)
		image.fields[i] = (struct field){ AT(names) + put_name(&image, &used, made_fields[i].type),
						  AT(names) + put_name(&image, &used, made_fields[i].field),
						  AT(names) + put_name(&image, &used, made_fields[i].of),
						  !i,
						  0,
						  i ? 0 : AT(heaps) };
	image.types[0] =
		(struct type){ .type = AT(names) + put_name(&image, &used, "HeapBlock"), .bytes = 8 };
	return image;
}

static bool find(const struct image *image, size_t bytes, struct unwind_hotspot *ret_hotspot)
{
	_cleanup_close_ int fd = file_of(image, bytes);

	return hotspot_find(fd, ret_hotspot);
}

START_TEST(a_file_that_has_all)
{
	struct image image = make_image();
	struct unwind_hotspot hotspot;

	ck_assert(find(&image, sizeof(image), &hotspot));
	ck_assert(hotspot_is_valid(&hotspot));
	ck_assert_uint_eq(hotspot.heaps, offsetof(struct image, heaps));
	ck_assert_uint_eq(hotspot.block_bytes, 8);
	ck_assert_uint_eq(hotspot.complete_bytes, 2);
	ck_assert_uint_eq(hotspot.code_is_offset, 1);
	for (size_t i = 0; i < HOTSPOT_FIELDS; i++)
		ck_assert_uint_eq(hotspot.offsets[i],
				  offsetof(struct image, fields) + (i + 1) * sizeof(struct field) + 32);
}
END_TEST

/* Without one field, or one of another type, there is nothing. */
START_TEST(a_file_that_lacks_a_field)
{
	struct image image = make_image();
	struct unwind_hotspot hotspot;

	image.fields[_i].field = image.fields[_i].type;
	ck_assert(!find(&image, sizeof(image), &hotspot) && is_none(&hotspot));
	image = make_image();
	image.fields[_i].is_static = _i != 0;
	ck_assert(!find(&image, sizeof(image), &hotspot) && is_none(&hotspot));
}
END_TEST

START_TEST(files_that_say_what_cannot_be)
{
	struct image image = make_image();
	struct unwind_hotspot hotspot;

	switch (_i) {
	case 0:
		image.fields[0].address = SHIFT - 1;
		break;
	case 1:
		image.fields[0].address = UINT64_MAX;
		break;
	case 2:
		image.types[0].bytes = 65;
		break;
	case 3:
		image.types[0].bytes = 0;
		break;
	case 4:
		image.relocations[0].r_addend = INT64_MIN;
		break;
	case 5:
		image.symbols[1].st_value = UINT64_MAX;
		break;
	case 6:
		image.segment.p_filesz = UINT64_MAX;
		break;
	case 7:
		image.header.e_machine = EM_AARCH64;
		break;
	case 8:
		image.segment.p_flags = PF_R;
		break;
	case 9:
		image.sections[2].sh_entsize = 0;
		break;
	default:
		image.fields[3].type = AT(names) + sizeof(image) - 1;
	}
	ck_assert(!find(&image, sizeof(image), &hotspot) && is_none(&hotspot));
}
END_TEST

START_TEST(damaged_files)
{
	uint64_t state = (uint64_t)_i + 1;

	for (size_t bytes = 0; bytes < sizeof(struct image); bytes += 97) {
		struct image image = make_image();
		struct unwind_hotspot hotspot;

		ck_assert(!find(&image, bytes, &hotspot) || hotspot_is_valid(&hotspot));
	}
	for (int round = 0; round < 300; round++) {
		struct image image = make_image();
		struct unwind_hotspot hotspot;

		for (int i = 0; i < 3; i++) {
			state = state * 6364136223846793005U + 1442695040888963407U;
			((uint8_t *)&image)[(state >> 33) % sizeof(image)] = (uint8_t)(state >> 25);
		}
		find(&image, sizeof(image), &hotspot);
		ck_assert(hotspot_is_valid(&hotspot));
	}
}
END_TEST

/* ---- the installed virtual machines ---- */

static uint64_t word_at(const char *address)
{
	uint64_t word;

	memcpy(&word, address, sizeof(word));
	return word;
}

/* In a child, because a loaded virtual machine stays. Its exported tables are read as a debugger does. */
static bool agrees(const char *path, const struct unwind_hotspot *hotspot)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const uint64_t *stride = library ? dlsym(library, "gHotSpotVMStructEntryArrayStride") : NULL,
		       *offset = library ? dlsym(library, "gHotSpotVMStructEntryOffsetOffset") : NULL;
	char **entries = library ? dlsym(library, "gHotSpotVMStructs") : NULL;
	struct link_map *map;
	unsigned int found = 0;

	if (!entries || !stride || !offset || dlinfo(library, RTLD_DI_LINKMAP, &map))
		return false;
	for (char *entry = *entries; word_at(entry); entry += *stride) {
		uint64_t at = (uint64_t)entry + *offset - map->l_addr;
		const char *type = *(char **)entry, *field = *(char **)(entry + 8);

		for (uint32_t i = 0; i < HOTSPOT_FIELDS; i++) {
			static const char *const names[HOTSPOT_FIELDS] = { "_len",
									   "_data",
									   "_memory",
									   "_segmap",
									   "_log2_segment_size",
									   "_low_boundary",
									   "_high_boundary",
									   "_name",
									   "_size",
									   NULL,
									   "_frame_complete_offset",
									   "_frame_size" };

			/* text at the same distance as its file offset: true of the libraries that are known */
			if (hotspot->offsets[i] != at)
				continue;
			found++;
			if (word_at((char *)at + map->l_addr) >= HOTSPOT_OFFSET_MAX ||
			    (names[i] && strcmp(names[i], field)) || !*type)
				return false;
		}
	}
	return found == HOTSPOT_FIELDS;
}

START_TEST(installed_virtual_machines)
{
	glob_t found = { 0 };

	if (glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_cleanup_close_ int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		struct unwind_hotspot hotspot;

		ck_assert_msg(hotspot_find(fd, &hotspot), "%s", found.gl_pathv[i]);
		ck_assert(hotspot_is_valid(&hotspot) && hotspot.heaps);
		/* a sanitizer has no place for it */
		if (!SANITIZED)
			ck_assert_msg(agrees(found.gl_pathv[i], &hotspot), "%s", found.gl_pathv[i]);
	}
	globfree(&found);
}
END_TEST

START_TEST(other_files)
{
	_cleanup_close_ int own = open(OWN_PATH, O_RDONLY | O_CLOEXEC),
			    text = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct unwind_hotspot hotspot;

	ck_assert(!hotspot_find(own, &hotspot) && is_none(&hotspot));
	ck_assert(!hotspot_find(text, &hotspot) && is_none(&hotspot));
	ck_assert(hotspot_is_valid(&hotspot));
}
END_TEST

SUITE(hotspot)
{
	Suite *suite = suite_create("hotspot");
	TCase *tests = tcase_create("files");

	tcase_add_test(tests, a_file_that_has_all);
	tcase_add_loop_test(tests, a_file_that_lacks_a_field, 0, FIELDS - 1);
	tcase_add_loop_test(tests, files_that_say_what_cannot_be, 0, 11);
	tcase_add_loop_test(tests, damaged_files, 0, 4);
	tcase_add_test(tests, installed_virtual_machines);
	tcase_add_test(tests, other_files);
	suite_add_tcase(suite, tests);
	return suite;
}
