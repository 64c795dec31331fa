/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/findings.h"

#include "common/text/escape.h"

#include <stdarg.h>
#include <string.h>

#define NAME_COLUMNS 24
#define GRADE_COLUMNS 8

const char *const grade_names[GRADES] = {
	[GRADE_OK] = "ok",
	[GRADE_UNKNOWN] = "unknown",
	[GRADE_WARNING] = "warning",
	[GRADE_FAILED] = "failed",
};

static void __attribute__((format(printf, 5, 0)))
add(struct findings *findings, enum grade grade, const char *name, const char *remedy, const char *format,
    va_list arguments)
{
	struct finding *finding;

	if (findings->count == FINDINGS_MAX)
		return;
	finding = &findings->items[findings->count++];
	*finding = (struct finding){ .name = name, .grade = grade };
	vsnprintf(finding->found, sizeof(finding->found), format, arguments);
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy);
}

void findings_ok(struct findings *findings, const char *name, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(findings, GRADE_OK, name, "", format, arguments);
	va_end(arguments);
}

void findings_add(struct findings *findings, enum grade grade, const char *name, const char *remedy,
		  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(findings, grade, name, remedy, format, arguments);
	va_end(arguments);
}

enum grade findings_worst(const struct findings *findings)
{
	enum grade worst = GRADE_OK;

	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].grade > worst)
			worst = findings->items[i].grade;
	return worst;
}

void findings_print(const struct findings *findings, FILE *out)
{
	char text[1024];

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		fprintf(out, "%-*s%-*s%s\n", NAME_COLUMNS, finding->name, GRADE_COLUMNS,
			grade_names[finding->grade], escape_terminal(finding->found, text, sizeof(text)));
		if (finding->remedy[0])
			fprintf(out, "%*s%s\n", NAME_COLUMNS + GRADE_COLUMNS,
				"remedy: ", escape_terminal(finding->remedy, text, sizeof(text)));
	}
}

void findings_print_json(const struct findings *findings, FILE *out)
{
	char text[2048];

	fprintf(out, "{\"verdict\": \"%s\",\n\"findings\": [", grade_names[findings_worst(findings)]);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		fprintf(out, "%s{\"name\": \"%s\", \"verdict\": \"%s\"", i ? ",\n" : "\n", finding->name,
			grade_names[finding->grade]);
		fprintf(out, ", \"found\": \"%s\"", escape_json(finding->found, text, sizeof(text)));
		if (finding->remedy[0])
			fprintf(out, ", \"remedy\": \"%s\"}",
				escape_json(finding->remedy, text, sizeof(text)));
		else
			fputs(", \"remedy\": null}", out);
	}
	fputs("]}\n", out);
}
