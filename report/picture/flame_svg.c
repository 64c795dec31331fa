/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/picture/flame_svg.h"

#include "common/base/cleanup.h"
#include "report/model/rows.h"
#include "report/text/format.h"
#include "report/text/xml.h"

#include <errno.h>
#include <string.h>

/* Of the picture, in user units, which a viewer shows as pixels. */
#define WIDTH 1200
#define MARGIN 16
#define INNER (WIDTH - 2 * MARGIN)
#define HEAD 92
#define FOOT 40
#define ROW 18
#define LETTER 6.63      /* the width of a letter of the font, at its size */
#define NARROWEST 0.25   /* frames are not drawn that are narrower */
#define DEPTH_DRAWN 512U /* of a stack: a deeper one is cut */

/*
 * Fills are after Okabe and Ito, "Color Universal Design" (2008), lightened so that black text can be read on each. Kinds also
 * differ in form: kernel has a bar at its left, inlined a dashed border, jit dots, and unknown and missing frames stripes.
 */
static const char style[] =
	"<style>\n"
	"svg{background:#fff;color:#1b1f24}\n"
	"text{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#15181c}\n"
	".head{font:600 17px system-ui,'DejaVu Sans',sans-serif;fill:currentColor}\n"
	".note{font:12px system-ui,'DejaVu Sans',sans-serif;fill:currentColor;opacity:.78}\n"
	".f rect{stroke:#fff;stroke-width:.7}\n"
	".f:hover rect{stroke:#000;stroke-width:1.2}\n"
	".program{fill:#dfe3e8}.user{fill:#f3b65c}.inlined{fill:#fadfa6}.kernel{fill:#8cc4ea}.jit{fill:#7fd1b3}\n"
	".unknown,.missing{fill:#cfcfcf}\n"
	".user.b{fill:#efa84a}.user.c{fill:#f6c479}.kernel.b{fill:#7ab8e3}.kernel.c{fill:#9dcef0}\n"
	".f rect.inlined{stroke:#8a5a00;stroke-dasharray:3 2}\n"
	".bar{fill:#0b5b94;pointer-events:none}.dots{fill:url(#dots);pointer-events:none}.stripes{fill:url(#stripes);pointer-events:none}\n"
	"@media (prefers-color-scheme:dark){svg{background:#14171b;color:#e8eaed}.f rect{stroke:#14171b}.f:hover rect{stroke:#fff}}\n"
	"</style>\n"
	"<defs><pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
	"<circle cx=\"1.5\" cy=\"1.5\" r=\".9\" fill=\"#0b6b4f\" opacity=\".55\"/></pattern>"
	"<pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
	"<rect width=\"2\" height=\"6\" fill=\"#8d8d8d\" opacity=\".5\"/></pattern></defs>\n";

struct drawing {
	FILE *out;
	const struct flame_picture *picture;
	uint32_t *children; /* of all nodes: those of a parent stand together, the largest first */
	uint32_t *first;    /* of children; first[i + 1] is the end */
	int64_t *begins;    /* where a node begins, in the unit of totals */
	uint32_t *depths;   /* the root has 0 */
	uint32_t deepest;   /* that is drawn */
	uint32_t narrow;
	bool is_cut;
	bool has_kind[FLAME_KINDS];
};

static void drawing_free(struct drawing *drawing)
{
	free(drawing->children);
	free(drawing->first);
	free(drawing->begins);
	free(drawing->depths);
}

#define _cleanup_drawing_ _cleanup_(drawing_free)

static double share_of(const struct drawing *drawing, int64_t total)
{
	return (double)total / (double)drawing->picture->totals[0];
}

static double width_of(const struct drawing *drawing, uint32_t node)
{
	return share_of(drawing, drawing->picture->totals[node]) * INNER;
}

/* ---- layout ---- */

static int by_total(const void *a, const void *b, void *user)
{
	const struct flame_picture *picture = user;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = compare_numbers(picture->totals[right], picture->totals[left]);

	if (order)
		return order;
	order = strcmp(picture->tree->frames[picture->tree->nodes[left].frame].function,
		       picture->tree->frames[picture->tree->nodes[right].frame].function);
	return order ? order : compare_numbers(left, right);
}

static void find_children(struct drawing *drawing)
{
	const struct flame_tree *tree = drawing->picture->tree;
	uint32_t *first = drawing->first;

	for (uint32_t i = 1; i < tree->nodes_count; i++)
		first[tree->nodes[i].parent + 1]++;
	for (uint32_t i = 0; i < tree->nodes_count; i++)
		first[i + 1] += first[i];
	/* `begins` is not needed yet: it counts the children that have their place */
	for (uint32_t i = 1; i < tree->nodes_count; i++) {
		uint32_t parent = tree->nodes[i].parent;

		drawing->children[first[parent] + drawing->begins[parent]++] = i;
	}
	memset(drawing->begins, 0, tree->nodes_count * sizeof(*drawing->begins));
	for (uint32_t i = 0; i < tree->nodes_count; i++)
		qsort_r(drawing->children + first[i], first[i + 1] - first[i], sizeof(*drawing->children),
			by_total, (void *)drawing->picture);
}

/* A parent stands before its children, so each node knows its own begin when its children are placed. */
static void place_nodes(struct drawing *drawing)
{
	const struct flame_picture *picture = drawing->picture;
	const struct flame_tree *tree = picture->tree;

	for (uint32_t i = 0; i < tree->nodes_count; i++) {
		int64_t begin = drawing->begins[i];

		for (uint32_t k = drawing->first[i]; k < drawing->first[i + 1]; k++) {
			uint32_t child = drawing->children[k];

			drawing->begins[child] = begin;
			drawing->depths[child] = drawing->depths[i] + 1;
			begin += picture->totals[child];
		}
		if (!i || !picture->totals[i])
			continue;
		if (width_of(drawing, i) < NARROWEST) {
			drawing->narrow++;
		} else if (drawing->depths[i] > DEPTH_DRAWN) {
			drawing->is_cut = true;
		} else {
			drawing->has_kind[tree->frames[tree->nodes[i].frame].kind] = true;
			if (drawing->depths[i] > drawing->deepest)
				drawing->deepest = drawing->depths[i];
		}
	}
}

static int lay_out(struct drawing *drawing)
{
	size_t count = drawing->picture->tree->nodes_count;

	drawing->children = calloc(count + 1, sizeof(*drawing->children));
	drawing->first = calloc(count + 2, sizeof(*drawing->first));
	drawing->begins = calloc(count + 1, sizeof(*drawing->begins));
	drawing->depths = calloc(count + 1, sizeof(*drawing->depths));
	if (!drawing->children || !drawing->first || !drawing->begins || !drawing->depths)
		return -ENOMEM;
	find_children(drawing);
	place_nodes(drawing);
	return 0;
}

/* ---- frames ---- */

static const char *quantity(const struct drawing *drawing, int64_t total, char *into, size_t into_bytes)
{
	if (drawing->picture->is_time)
		return format_duration((double)total, " ", into, into_bytes);
	snprintf(into, into_bytes, "%lld %s", (long long)total, total == 1 ? "sample" : "samples");
	return into;
}

static void print_title(const struct drawing *drawing, uint32_t node)
{
	const struct flame_tree *tree = drawing->picture->tree;
	const struct flame_frame *frame = &tree->frames[tree->nodes[node].frame];
	int64_t total = drawing->picture->totals[node];
	char text[64], percent[32];
	FILE *out = drawing->out;

	fputs("<title>", out);
	xml_text(out, frame->function);
	if (*frame->module) {
		fputs(" (", out);
		xml_text(out, frame->module);
		fputc(')', out);
	}
	fprintf(out, " — %s, ", quantity(drawing, total, text, sizeof(text)));
	/* "<0.1 %" */
	xml_text(out, format_percent(100 * share_of(drawing, total), percent, sizeof(percent)));
	fprintf(out, ", %s", flame_kind_name(frame->kind));
	if (frame->file) {
		fputs(", ", out);
		xml_text(out, frame->file);
	}
	fputs("</title>", out);
}

static void print_rect(FILE *out, const char *class, double x, double y, double width)
{
	fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"/>", class, x, y,
		width, ROW - 1);
}

/* What tells kinds apart without their colour. */
static void print_mark(FILE *out, enum flame_kind kind, double x, double y, double width)
{
	if (kind == FLAME_KERNEL && width >= 4)
		print_rect(out, "bar", x, y, 3);
	else if (kind == FLAME_JIT)
		print_rect(out, "dots", x, y, width);
	else if (kind == FLAME_UNKNOWN || kind == FLAME_MISSING)
		print_rect(out, "stripes", x, y, width);
}

/* Neighbours of one kind get one of three shades by their function, the same one in each picture. */
static const char *shade_of(const struct flame_frame *frame)
{
	static const char *const shades[] = { "", " b", " c" };
	unsigned int sum = 0;

	for (const char *at = frame->function; *at; at++)
		sum = sum * 31 + (unsigned char)*at;
	return shades[sum % ARRAY_SIZE(shades)];
}

static void print_frame(const struct drawing *drawing, uint32_t node)
{
	const struct flame_picture *picture = drawing->picture;
	const struct flame_frame *frame = &picture->tree->frames[picture->tree->nodes[node].frame];
	uint32_t row = picture->icicle ? drawing->depths[node] - 1 : drawing->deepest - drawing->depths[node];
	double x = MARGIN + share_of(drawing, drawing->begins[node]) * INNER, y = HEAD + (double)row * ROW,
	       width = width_of(drawing, node), left = frame->kind == FLAME_KERNEL ? 7 : 4;
	char class[32];

	snprintf(class, sizeof(class), "%s%s", flame_kind_name(frame->kind), shade_of(frame));
	fputs("<g class=\"f\">", drawing->out);
	print_title(drawing, node);
	print_rect(drawing->out, class, x, y, width);
	print_mark(drawing->out, frame->kind, x, y, width);
	if (width - left >= 3 * LETTER) {
		fprintf(drawing->out, "<text x=\"%.2f\" y=\"%.0f\">", x + left, y + 12.5);
		xml_text_cut(drawing->out, frame->function, (size_t)((width - left) / LETTER));
		fputs("</text>", drawing->out);
	}
	fputs("</g>\n", drawing->out);
}

/* ---- head and foot ---- */

static void print_legend(const struct drawing *drawing, double y)
{
	static const char *const texts[FLAME_KINDS] = { "program",  "function",     "inlined",       "kernel",
							"JIT code", "unknown code", "frames missing" };
	double x = MARGIN;

	for (enum flame_kind kind = 0; kind < FLAME_KINDS; kind++) {
		if (!drawing->has_kind[kind])
			continue;
		fputs("<g class=\"f\">", drawing->out);
		print_rect(drawing->out, flame_kind_name(kind), x, y, 22);
		print_mark(drawing->out, kind, x, y, 22);
		fprintf(drawing->out, "<text class=\"note\" x=\"%.0f\" y=\"%.0f\">%s</text></g>\n", x + 28,
			y + 13, texts[kind]);
		x += 28 + 7.2 * (double)strlen(texts[kind]) + 20;
	}
}

static void print_note(FILE *out, const char *class, double y, const char *text, size_t characters)
{
	fprintf(out, "<text class=\"%s\" x=\"%d\" y=\"%.0f\">", class, MARGIN, y);
	xml_text_cut(out, text, characters);
	fputs("</text>\n", out);
}

static void print_foot(const struct drawing *drawing, double y)
{
	char text[256], narrow[96] = "", cut[64] = "";

	if (drawing->narrow)
		snprintf(narrow, sizeof(narrow), " %u %s too narrow to be drawn.", drawing->narrow,
			 drawing->narrow == 1 ? "frame is" : "frames are");
	if (drawing->is_cut)
		snprintf(cut, sizeof(cut), " Stacks are cut at %u frames.", DEPTH_DRAWN);
	snprintf(text, sizeof(text),
		 "Width is %s; callees stand %s their caller, the largest at the left.%s%s",
		 drawing->picture->is_time ? "time off CPU, of all threads added up" : "samples on CPU",
		 drawing->picture->icicle ? "below" : "above", narrow, cut);
	print_note(drawing->out, "note", y, text, sizeof(text));
}

int flame_svg_write(FILE *out, const struct flame_picture *picture)
{
	_cleanup_drawing_ struct drawing drawing = { .out = out, .picture = picture };
	int result = lay_out(&drawing);
	double bottom;

	if (result < 0)
		return result;
	bottom = HEAD + (double)drawing.deepest * ROW;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\" aria-labelledby=\"title subtitle\">\n<title id=\"title\">",
		WIDTH, bottom + FOOT, WIDTH, bottom + FOOT);
	xml_text(out, picture->title);
	fputs("</title>\n<desc id=\"subtitle\">", out);
	xml_text(out, picture->subtitle);
	fprintf(out, "</desc>\n%s", style);
	print_note(out, "head", 28, picture->title, 110);
	print_note(out, "note", 48, picture->subtitle, 170);
	print_legend(&drawing, 60);
	for (uint32_t i = 1; i < picture->tree->nodes_count; i++)
		if (picture->totals[i] && width_of(&drawing, i) >= NARROWEST &&
		    drawing.depths[i] <= DEPTH_DRAWN)
			print_frame(&drawing, i);
	print_foot(&drawing, bottom + 24);
	fputs("</svg>\n", out);
	return 0;
}
