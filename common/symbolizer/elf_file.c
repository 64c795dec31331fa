/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/elf_file.h"

#include "common/base/cleanup.h"

#include <elfutils/libdwelf.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>

#define PACKED_BYTES_MAX (64UL << 20)  /* anything larger after unpacking is no symbol table */
#define UNPACK_BYTES_MAX (128UL << 20) /* memory for unpacking itself; xz -9 needs 65 MiB */
#define UNPACK_FIRST_ROOM 65536U
#define CRC_CHUNK_BYTES 65536U

int elf_file_open(struct elf_file *ret_file, int fd)
{
	struct elf_file file = { .fd = fd };

	elf_version(EV_CURRENT);
	file.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!file.elf || elf_kind(file.elf) != ELF_K_ELF) {
		elf_file_close(&file);
		return -ENOEXEC;
	}
	*ret_file = file;
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	free(file->image);
	cleanup_close(&file->fd);
	*file = ELF_FILE_NONE;
}

struct build_id elf_file_build_id(const struct elf_file *file)
{
	struct build_id id = { .count = 0 };
	const void *bytes;
	ssize_t count = dwelf_elf_gnu_build_id(file->elf, &bytes);

	if (count > 0 && count <= (ssize_t)sizeof(id.bytes)) {
		memcpy(id.bytes, bytes, (size_t)count);
		id.count = (uint32_t)count;
	}
	return id;
}

bool build_id_is(const struct build_id *one, const struct build_id *other)
{
	return one->count && one->count == other->count && !memcmp(one->bytes, other->bytes, one->count);
}

Elf_Data *elf_file_section(const struct elf_file *file, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!file->elf || elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		const char *found;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS || !header.sh_size)
			continue;
		found = elf_strptr(file->elf, names, header.sh_name);
		if (found && !strcmp(found, name))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

bool elf_file_debuglink(const struct elf_file *file, char name[SYMBOLIZE_LINK_BYTES], uint32_t *ret_crc)
{
	GElf_Word crc;
	const char *found = dwelf_elf_gnu_debuglink(file->elf, &crc);

	if (!found || !*found || strlen(found) >= SYMBOLIZE_LINK_BYTES || strchr(found, '/'))
		return false;
	strcpy(name, found);
	*ret_crc = crc;
	return true;
}

bool elf_file_has_crc(const struct elf_file *file, uint32_t crc)
{
	_cleanup_free_ unsigned char *chunk = malloc(CRC_CHUNK_BYTES);
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	if (!chunk)
		return false;
	while ((got = pread(file->fd, chunk, CRC_CHUNK_BYTES, at)) > 0) {
		sum = crc32(sum, chunk, (uInt)got);
		at += got;
	}
	return !got && sum == crc;
}

uint64_t elf_file_begins(const struct elf_file *file)
{
	size_t headers;

	if (elf_getphdrnum(file->elf, &headers))
		return 0;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(file->elf, (int)i, &header) && header.p_type == PT_LOAD)
			return header.p_vaddr;
	}
	return 0;
}

/* Unpacks into a growing buffer: the size that the packed data claims is not trusted. */
static int unpack(const Elf_Data *packed, unsigned char **ret_image, size_t *ret_bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	_cleanup_free_ unsigned char *image = NULL;
	size_t room = 0;
	lzma_ret result = lzma_stream_decoder(&stream, UNPACK_BYTES_MAX, 0);

	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	while (result == LZMA_OK) {
		if (!stream.avail_out) {
			unsigned char *grown;

			room = room ? 2 * room : UNPACK_FIRST_ROOM;
			grown = room <= PACKED_BYTES_MAX ? realloc(image, room) : NULL;
			if (!grown)
				break;
			image = grown;
			stream.next_out = image + stream.total_out;
			stream.avail_out = room - stream.total_out;
		}
		result = lzma_code(&stream, LZMA_FINISH);
	}
	*ret_bytes = stream.total_out;
	lzma_end(&stream);
	if (result != LZMA_STREAM_END)
		return -EBADMSG;
	*ret_image = TAKE_PTR(image);
	return 0;
}

int elf_file_open_packed(struct elf_file *ret_file, const struct elf_file *file)
{
	Elf_Data *packed = elf_file_section(file, ".gnu_debugdata");
	struct elf_file inner = ELF_FILE_NONE;
	unsigned char *image;
	size_t bytes;
	int result;

	if (!packed || !packed->d_buf || !packed->d_size || packed->d_size > PACKED_BYTES_MAX)
		return -ENOENT;
	result = unpack(packed, &image, &bytes);
	if (result < 0)
		return result;
	inner.image = image;
	inner.elf = elf_memory((char *)image, bytes);
	if (!inner.elf || elf_kind(inner.elf) != ELF_K_ELF) {
		elf_file_close(&inner);
		return -EBADMSG;
	}
	*ret_file = inner;
	return 0;
}
