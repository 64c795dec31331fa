/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/manifest.h"

#include "common/abi/base.h"
#include "common/base/cleanup.h"
#include "common/system/options.h"

#include <string.h>

enum field_type { FIELD_TEXT, FIELD_U32, FIELD_U64, FIELD_YES_NO };

struct field {
	const char *key;
	enum field_type type;
	size_t offset, bytes;
};

#define FIELD(type, member)                                                                                  \
	{                                                                                                    \
#member, type, offsetof(struct manifest, member), sizeof(((struct manifest *)NULL)->member)  \
	}

static const struct field fields[] = {
	FIELD(FIELD_U32, abi), /* must be first: is_of_other_abi() uses it */
	FIELD(FIELD_TEXT, version),
	FIELD(FIELD_TEXT, kernel),
	FIELD(FIELD_TEXT, kernel_build_id),
	FIELD(FIELD_TEXT, pin_dir),
	FIELD(FIELD_TEXT, object_sha256),
	FIELD(FIELD_TEXT, attached),
	FIELD(FIELD_U64, loaded_at),
	FIELD(FIELD_U32, hz),
	FIELD(FIELD_U32, cpus),
	FIELD(FIELD_TEXT, sampled_cpus),
	FIELD(FIELD_U32, slots_per_cpu),
	FIELD(FIELD_U32, slot_bytes),
	FIELD(FIELD_U32, targets),
	FIELD(FIELD_U64, quiet_after_ns),
	FIELD(FIELD_YES_NO, mounted_bpffs),
};

/* True if the text survives being written and parsed: one line, no surrounding blanks, no comment. */
static bool comes_back(const char *text)
{
	size_t bytes = strlen(text);

	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)text[i] < ' ' || (text[i] == ';' && (!i || text[i - 1] == ' ')))
			return false;
	return !bytes || (text[0] != ' ' && text[bytes - 1] != ' ');
}

int manifest_format(const struct manifest *manifest, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *stream;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].type == FIELD_TEXT && !comes_back((const char *)manifest + fields[i].offset))
			return -EINVAL;
	stream = open_memstream(&text, &bytes);
	if (!stream)
		return -ENOMEM;
	fputs("# What bourdon-load loaded. A new load replaces this file.\n[manifest]\n", stream);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const void *at = (const char *)manifest + fields[i].offset;

		fprintf(stream, "%s = ", fields[i].key);
		switch (fields[i].type) {
		case FIELD_TEXT:
			fprintf(stream, "%s\n", (const char *)at);
			break;
		case FIELD_U32:
			fprintf(stream, "%u\n", *(const uint32_t *)at);
			break;
		case FIELD_U64:
			fprintf(stream, "%llu\n", (unsigned long long)*(const uint64_t *)at);
			break;
		case FIELD_YES_NO:
			fprintf(stream, "%s\n", *(const bool *)at ? "yes" : "no");
			break;
		}
	}
	if (fclose(stream))
		return -ENOMEM;
	*ret_text = TAKE_PTR(text);
	return 0;
}

struct parse {
	struct manifest *manifest;
	struct config_errors *errors;
	unsigned int seen; /* bit i is set if fields[i] was seen */
};

_Static_assert(ARRAY_SIZE(fields) < 32, "parse.seen is too narrow");

/* A manifest of another ABI may have other fields: only its ABI, the first field, is checked. */
static bool is_of_other_abi(const struct parse *parse)
{
	return parse->seen & 1U && parse->manifest->abi != BOURDON_ABI;
}

static int parse_value(const struct field *field, const char *text, void *at)
{
	unsigned long long number;
	int result;

	switch (field->type) {
	case FIELD_TEXT:
		if (strlen(text) >= field->bytes)
			return -ERANGE;
		strcpy(at, text);
		return 0;
	case FIELD_U32:
		result = options_number(text, 0, UINT32_MAX, &number);
		if (!result)
			*(uint32_t *)at = (uint32_t)number;
		return result;
	case FIELD_U64:
		result = options_number(text, 0, UINT64_MAX, &number);
		if (!result)
			*(uint64_t *)at = number;
		return result;
	case FIELD_YES_NO:
		if (strcmp(text, "yes") && strcmp(text, "no"))
			return -EINVAL;
		*(bool *)at = text[0] == 'y';
		return 0;
	}
	return -EINVAL;
}

static void visit_entry(void *user, const struct ini_entry *entry)
{
	struct parse *parse = user;

	if (!entry->key || strcmp(entry->section, "manifest"))
		return; /* newer versions may add fields */
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].key, entry->key))
			continue;
		if (parse_value(&fields[i], entry->value, (char *)parse->manifest + fields[i].offset) &&
		    !is_of_other_abi(parse))
			config_error(parse->errors, entry->file, entry->line, "bad value for '%s'",
				     entry->key);
		parse->seen |= 1U << i;
	}
}

static int finish(struct parse *parse, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!(parse->seen & 1U << i) && !is_of_other_abi(parse))
			config_error(parse->errors, name, 0, "'%s' is missing", fields[i].key);
	return parse->errors->count ? -EINVAL : 0;
}

int manifest_parse(const char *name, const char *text, size_t bytes, struct manifest *ret_manifest,
		   struct config_errors *errors)
{
	struct manifest manifest = { 0 };
	struct parse parse = { &manifest, errors, 0 };
	int result = ini_read_text(name, text, bytes, visit_entry, &parse, errors);

	if (!result)
		result = finish(&parse, name);
	if (!result)
		*ret_manifest = manifest;
	return result;
}

int manifest_read(const char *path, struct manifest *ret_manifest, struct config_errors *errors)
{
	struct manifest manifest = { 0 };
	struct parse parse = { &manifest, errors, 0 };
	int result = ini_read_file(path, visit_entry, &parse, errors);

	if (!result && errors->count)
		result = -EINVAL; /* unreadable: missing fields would only repeat that */
	if (!result)
		result = finish(&parse, path);
	if (!result)
		*ret_manifest = manifest;
	return result;
}
