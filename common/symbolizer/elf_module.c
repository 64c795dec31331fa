/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/elf_module.h"

#include "common/base/cleanup.h"
#include "common/symbolizer/dwarf_frames.h"
#include "common/symbolizer/elf_file.h"
#include "common/symbolizer/elf_plt.h"
#include "common/symbolizer/elf_symbols.h"
#include "common/symbolizer/go_program.h"
#include "common/symbolizer/reply.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>

struct elf_module {
	struct elf_file file, packed, debug, alternate;
	struct build_id build_id, alternate_id;
	char debuglink[SYMBOLIZE_LINK_BYTES], alternate_path[SYMBOLIZE_LINK_BYTES];
	uint32_t debuglink_crc;
	uint32_t lacks;
	Dwarf *dwarf, *alternate_dwarf; /* of the file or its debug file */
	struct dwarf_frames *frames;
	struct go_functions go;
	bool has_go;
};

static bool has_dwarf(const struct elf_file *file)
{
	return elf_file_section(file, ".debug_info") || elf_file_section(file, ".zdebug_info");
}

static void open_dwarf(struct elf_module *module, const struct elf_file *file)
{
	const char *path;
	const void *id;
	ssize_t bytes;

	module->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!module->dwarf)
		return;
	module->frames = dwarf_frames_new(module->dwarf);
	bytes = dwelf_dwarf_gnu_debugaltlink(module->dwarf, &path, &id);
	if (bytes <= 0 || bytes > SYMBOLIZE_BUILD_ID_BYTES)
		return;
	memcpy(module->alternate_id.bytes, id, (size_t)bytes);
	module->alternate_id.count = (uint32_t)bytes;
	if (strlen(path) < sizeof(module->alternate_path))
		strcpy(module->alternate_path, path);
	module->lacks |= SYMBOLIZE_LACKS_ALTERNATE;
}

struct elf_module *elf_module_open(int fd)
{
	struct elf_module *module = calloc(1, sizeof(*module));

	if (!module) {
		close(fd);
		return NULL;
	}
	module->packed = module->debug = module->alternate = ELF_FILE_NONE;
	if (elf_file_open(&module->file, fd)) {
		free(module);
		return NULL;
	}
	module->build_id = elf_file_build_id(&module->file);
	elf_file_open_packed(&module->packed, &module->file);
	module->has_go = !go_program_open(&module->go, module->file.elf);
	if (has_dwarf(&module->file)) {
		open_dwarf(module, &module->file);
	} else {
		if (!elf_file_debuglink(&module->file, module->debuglink, &module->debuglink_crc))
			module->debuglink[0] = '\0';
		if (module->build_id.count || module->debuglink[0])
			module->lacks = SYMBOLIZE_LACKS_DEBUG;
	}
	return module;
}

void elf_module_close(struct elf_module *module)
{
	if (!module)
		return;
	dwarf_frames_free(module->frames);
	dwarf_end(module->dwarf);
	dwarf_end(module->alternate_dwarf);
	elf_file_close(&module->alternate);
	elf_file_close(&module->debug);
	elf_file_close(&module->packed);
	elf_file_close(&module->file);
	free(module);
}

static bool is_debug_file(const struct elf_module *module, const struct elf_file *file)
{
	struct build_id id = elf_file_build_id(file);

	if (!(module->lacks & SYMBOLIZE_LACKS_DEBUG) ||
	    elf_file_begins(file) != elf_file_begins(&module->file))
		return false;
	if (id.count && module->build_id.count)
		return build_id_is(&id, &module->build_id);
	return module->debuglink[0] && elf_file_has_crc(file, module->debuglink_crc);
}

static bool is_alternate(const struct elf_module *module, const struct elf_file *file)
{
	struct build_id id = elf_file_build_id(file);

	return module->lacks & SYMBOLIZE_LACKS_ALTERNATE && build_id_is(&id, &module->alternate_id);
}

void elf_module_add_file(struct elf_module *module, int fd)
{
	struct elf_file file;

	if (elf_file_open(&file, fd))
		return;
	if (is_debug_file(module, &file)) {
		module->debug = file;
		module->lacks &= ~SYMBOLIZE_LACKS_DEBUG;
		open_dwarf(module, &module->debug);
	} else if (is_alternate(module, &file)) {
		module->alternate = file;
		module->lacks &= ~SYMBOLIZE_LACKS_ALTERNATE;
		module->alternate_dwarf = dwarf_begin_elf(file.elf, DWARF_C_READ, NULL);
		if (module->alternate_dwarf)
			dwarf_setalt(module->dwarf, module->alternate_dwarf);
	} else {
		elf_file_close(&file);
	}
}

static bool find_bias(Elf *elf, int64_t *ret_bias)
{
	bool found = false;
	size_t segments;

	if (elf_getphdrnum(elf, &segments))
		return false;
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;
		int64_t bias;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		bias = (int64_t)(segment.p_vaddr - segment.p_offset);
		if (!segment.p_filesz || (found && bias != *ret_bias))
			return false; /* no code bytes, as in a debug file: its offsets mean nothing */
		*ret_bias = bias;
		found = true;
	}
	return found;
}

void elf_module_describe(const struct elf_module *module, struct symbolize_module *ret_reply)
{
	*ret_reply = (struct symbolize_module){ .readable = module != NULL };
	if (!module)
		return;
	ret_reply->lacks = module->lacks;
	ret_reply->has_bias = find_bias(module->file.elf, &ret_reply->bias);
	ret_reply->build_id_bytes = module->build_id.count;
	ret_reply->alternate_id_bytes = module->alternate_id.count;
	memcpy(ret_reply->build_id, module->build_id.bytes, sizeof(ret_reply->build_id));
	memcpy(ret_reply->alternate_id, module->alternate_id.bytes, sizeof(ret_reply->alternate_id));
	strcpy(ret_reply->debuglink, module->debuglink);
	strcpy(ret_reply->alternate, module->alternate_path);
}

/* Complete symbol tables first; .dynsym fills in the rest, or is all that a stripped file has. */
static void find_symbols(const struct elf_module *module, struct elf_place *places, uint32_t count)
{
	elf_symbols_find(module->file.elf, SHT_SYMTAB, places, count);
	if (module->debug.elf)
		elf_symbols_find(module->debug.elf, SHT_SYMTAB, places, count);
	if (module->packed.elf)
		elf_symbols_find(module->packed.elf, SHT_SYMTAB, places, count);
	elf_symbols_find(module->file.elf, SHT_DYNSYM, places, count);
	elf_symbols_find_labels(module->file.elf, places, count);
	if (module->debug.elf)
		elf_symbols_find_labels(module->debug.elf, places, count);
}

/*
 * Asks DWARF, and the table of a Go program, which is complete where DWARF was stripped: the one that finds more of what is
 * inlined counts. Returns the number of frames.
 */
static uint32_t find_source_frames(struct elf_module *module, struct elf_place *place,
				   struct source_frame frames[SYMBOLIZE_DEPTH], bool *ret_is_go)
{
	struct source_frame of_go[SYMBOLIZE_DEPTH];
	uint32_t count = 0, count_of_go = 0;

	if (place->mapped && module->frames)
		count = dwarf_frames_find(module->frames, place->address, frames, &place->span);
	if (place->mapped && module->has_go)
		count_of_go = go_functions_find(&module->go, place->address, of_go, &place->span);
	*ret_is_go = count_of_go > count;
	if (!*ret_is_go)
		return count;
	memcpy(frames, of_go, count_of_go * sizeof(*frames));
	return count_of_go;
}

/*
 * If the symbol tables and DWARF disagree about the real function, the one that begins nearer to the address
 * wins: the other encloses it or has an invented size. If both begin at one address, the symbol's name wins,
 * because it shows what the linker made of the function (a clone, the cold part, one of several folded
 * functions), and DWARF adds what is inlined into it. A label counts where neither knows a function. If the winner is not DWARF's innermost function, DWARF
 * supplies the source place only. The table of a Go program stands for DWARF; its names win, because they are Go's own.
 */
static uint32_t find_frames(struct elf_module *module, struct elf_place *place,
			    struct found_frame found[SYMBOLIZE_DEPTH])
{
	struct source_frame frames[SYMBOLIZE_DEPTH] = { { .name = NULL } };
	bool is_go;
	uint32_t count = find_source_frames(module, place, frames, &is_go);
	bool symbol_begins_later;

	if (!count && !place->name && place->label) {
		place->name = place->label;
		place->begins = place->label_begins;
	}
	symbol_begins_later = place->name && (!count || place->begins > frames[0].begins);
	if (symbol_begins_later && count > 1) {
		frames[0] = (struct source_frame){ .file = frames[count - 1].file,
						   .line = frames[count - 1].line };
		count = 1;
	}
	for (uint32_t i = 0; i < count || !i; i++)
		found[i] =
			(struct found_frame){ .name = frames[i].name,
					      .is_written = is_go,
					      .function_offset =
						      frames[i].name ? place->address - frames[i].begins : 0,
					      .file = frames[i].file,
					      .line = frames[i].line };
	if (place->name &&
	    (symbol_begins_later || !frames[0].name || (place->begins == frames[0].begins && !is_go))) {
		found[0].name = place->name;
		found[0].is_written = false;
		found[0].function_offset = place->address - place->begins;
	}
	/* an inlined function without an outer one is not credible */
	return found[0].name && count ? count : 1;
}

static uint32_t span_bytes(uint64_t bytes)
{
	return (uint32_t)(bytes < SYMBOLIZE_SPAN_MAX ? bytes : SYMBOLIZE_SPAN_MAX);
}

/* An address that no segment contains has no other one like it. No function begins within the span. */
static struct reply_span span_of(const struct elf_place *place, const struct found_frame *found,
				 uint32_t count)
{
	uint64_t before = place->address - place->span.begins;

	if (!place->mapped || place->address < place->span.begins || place->address >= place->span.ends)
		return (struct reply_span){ 0, 0 };
	for (uint32_t i = 0; i < count; i++)
		if (found[i].name && found[i].function_offset < before)
			before = found[i].function_offset;
	return (struct reply_span){ span_bytes(before), span_bytes(place->span.ends - place->address) };
}

size_t elf_module_name(struct elf_module *module, const struct symbolize_request *request,
		       struct symbolize_reply *ret_reply)
{
	struct elf_place places[SYMBOLIZE_BATCH];
	struct found_frame found[SYMBOLIZE_DEPTH];
	struct reply reply = reply_begin(ret_reply);

	if (request->kind == SYMBOLIZE_ADDRESSES)
		elf_symbols_place(request->offsets, places, request->count);
	else
		elf_symbols_map(module->file.elf, request->offsets, places, request->count);
	find_symbols(module, places, request->count);
	for (uint32_t i = 0; i < request->count; i++) {
		uint32_t count = find_frames(module, &places[i], found);
		struct plt_entry entry;

		if (!found[0].name && places[i].mapped &&
		    elf_plt_find(module->file.elf, places[i].address, &entry, &places[i].span))
			found[0] =
				(struct found_frame){ .name = entry.name,
						      .is_written = true,
						      .function_offset = places[i].address - entry.begins };
		if (!reply_add(&reply, found, count, span_of(&places[i], found, count)))
			break;
	}
	return reply_bytes(&reply);
}
