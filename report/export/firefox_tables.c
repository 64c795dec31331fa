/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/export/firefox_tables.h"

#include "common/base/array.h"
#include "report/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_LANE UINT32_MAX

void firefox_tables_free(struct firefox_tables *tables)
{
	export_functions_free(&tables->functions);
	free(tables->libraries);
	free(tables->strings);
	free(tables->stacks);
	free(tables->frames);
	free(tables->of_function);
	free(tables->of_frame);
	free(tables->of_node);
	free(tables->of_stall);
	free(tables->climbed);
}

static struct place *make_places(uint32_t count)
{
	struct place *places = calloc(count + 1UL, sizeof(*places));

	for (uint32_t i = 0; places && i < count; i++)
		places[i].lane = NO_LANE;
	return places;
}

static int prepare_tables(struct firefox_tables *tables)
{
	struct profile *profile = tables->profile;
	int result = export_functions_find(profile, &tables->functions);

	if (result < 0)
		return result;
	tables->libraries = calloc(profile->modules_count + 1UL, sizeof(*tables->libraries));
	tables->of_function = make_places(tables->functions.count);
	tables->of_frame = make_places(profile->frames_count);
	tables->of_node = make_places(profile->nodes_count);
	tables->of_stall = make_places(profile->texts.count);
	tables->climbed = calloc(profile->nodes_count + 1UL, sizeof(*tables->climbed));
	if (!tables->libraries || !tables->of_function || !tables->of_frame || !tables->of_node ||
	    !tables->of_stall || !tables->climbed)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->modules_count; i++) {
		const char *path = profile->modules[i].path, *slash = strrchr(path, '/');

		/* the reader finds the library between the last parentheses */
		tables->libraries[i] = export_keep_safe(profile, slash && slash[1] ? slash + 1 : path, "()");
		if (!tables->libraries[i])
			return -ENOMEM;
	}
	return 0;
}

int firefox_tables_make(struct profile *profile, struct firefox_tables *ret_tables)
{
	struct firefox_tables tables = { .profile = profile, .lane = NO_LANE };
	int result = prepare_tables(&tables);

	if (result < 0)
		firefox_tables_free(&tables);
	else
		*ret_tables = tables;
	return result;
}

int firefox_tables_string(struct firefox_tables *tables, const char *text, const char *library,
			  uint32_t *ret_string)
{
	if (array_make_room(tables->strings, tables->strings_count, tables->strings_room, 1U))
		return -ENOMEM;
	*ret_string = tables->strings_count;
	tables->strings[tables->strings_count++] = (struct firefox_string){ text, library };
	return 0;
}

int firefox_tables_wait_name(struct firefox_tables *tables, uint32_t stall, uint32_t *ret_string)
{
	struct place *place = &tables->of_stall[stall];
	int result = 0;

	if (place->lane != tables->lane) {
		place->lane = tables->lane;
		result = firefox_tables_string(tables, export_wait_name(profile_text(tables->profile, stall)),
					       NULL, &place->position);
	}
	*ret_string = place->position;
	return result;
}

static int add_frame(struct firefox_tables *tables, uint32_t frame, uint32_t *ret_frame)
{
	const struct profile *profile = tables->profile;
	uint32_t function = tables->functions.of_frame[frame];
	struct place *place = &tables->of_frame[frame], *of_function = &tables->of_function[function];
	int result = 0;

	if (of_function->lane != tables->lane) {
		const struct export_function *there = &tables->functions.functions[function];

		of_function->lane = tables->lane;
		result = firefox_tables_string(tables, profile_text(profile, there->name),
					       tables->libraries[there->module], &of_function->position);
	}
	if (place->lane != tables->lane && !result) {
		if (array_make_room(tables->frames, tables->frames_count, tables->frames_room, 1U))
			return -ENOMEM;
		*place = (struct place){ tables->lane, tables->frames_count };
		tables->frames[tables->frames_count++] = frame;
	}
	*ret_frame = place->position;
	return result;
}

/* Adds the frames of a node below those of its parent, which is in the table. */
static int add_node(struct firefox_tables *tables, uint32_t node)
{
	const struct profile *profile = tables->profile;
	const struct profile_node *here = &profile->nodes[node];
	uint32_t prefix = here->parent == PROFILE_NONE ? PROFILE_NONE
						       : tables->of_node[here->parent].position;
	int result = 0;

	for (uint32_t i = here->first; i < here->first + here->count && !result; i++) {
		uint32_t frame;

		result = add_frame(tables, profile->path_frames[i], &frame);
		if (!result)
			result = array_make_room(tables->stacks, tables->stacks_count, tables->stacks_room,
						 1U);
		if (result < 0)
			return result;
		tables->stacks[tables->stacks_count] = (struct stack_row){ prefix, frame };
		prefix = tables->stacks_count++;
	}
	tables->of_node[node] = (struct place){ tables->lane, prefix };
	return result;
}

int firefox_tables_stack(struct firefox_tables *tables, const struct profile_sample *sample,
			 uint32_t *ret_stack)
{
	const struct profile *profile = tables->profile;
	uint32_t leaf = profile->stacks[sample->stack].node, count = 0;
	int result = 0;

	for (uint32_t node = leaf; node != PROFILE_NONE && tables->of_node[node].lane != tables->lane;
	     node = profile->nodes[node].parent)
		tables->climbed[count++] = node;
	while (count-- && !result)
		result = add_node(tables, tables->climbed[count]);
	*ret_stack = leaf == PROFILE_NONE ? PROFILE_NONE : tables->of_node[leaf].position;
	return result;
}

static enum firefox_category category_of(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_module *module = &profile->modules[frame->module];

	return module->is_kernel ? FIREFOX_KERNEL : !strcmp(module->kind, "jit") ? FIREFOX_JIT : FIREFOX_USER;
}

void firefox_tables_write(struct firefox_tables *tables, FILE *out)
{
	const struct profile *profile = tables->profile;

	fputs(",\n\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,\"innerWindowID\":2,\"implementation\":3,"
	      "\"line\":4,\"column\":5,\"category\":6,\"subcategory\":7},\"data\":[",
	      out);
	for (uint32_t i = 0; i < tables->frames_count; i++) {
		const struct profile_frame *frame = &profile->frames[tables->frames[i]];
		uint32_t function = tables->functions.of_frame[tables->frames[i]];

		fprintf(out, "%s[%" PRIu32 ",false,0,null,", i ? "," : "",
			tables->of_function[function].position);
		json_number(out, frame->has_line, frame->line);
		fprintf(out, ",null,%d,0]", category_of(profile, frame));
	}
	fputs("]},\n\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[", out);
	for (uint32_t i = 0; i < tables->stacks_count; i++) {
		fputs(i ? ",[" : "[", out);
		json_number(out, tables->stacks[i].prefix != PROFILE_NONE, tables->stacks[i].prefix);
		fprintf(out, ",%" PRIu32 "]", tables->stacks[i].frame);
	}
	fputs("]},\n\"stringTable\":[", out);
	for (uint32_t i = 0; i < tables->strings_count; i++) {
		fputs(i ? ",\"" : "\"", out);
		json_part(out, tables->strings[i].text);
		if (tables->strings[i].library) {
			fputs(" (in ", out);
			json_part(out, tables->strings[i].library);
			fputc(')', out);
		}
		fputc('"', out);
	}
	fputs("]}", out);
	tables->strings_count = tables->stacks_count = tables->frames_count = 0;
}
