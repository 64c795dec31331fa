/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report: a page about one capture, one HTML file that loads nothing. Its policy allows the one script and the one style
 * that are in it, by their hashes, and nothing else; what the database says is data, which no browser runs.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/context/output.h"
#include "report/context/subcommand.h"
#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/picture/page_data.h"
#include "report/picture/page_parts.h"
#include "report/text/xml.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

/* Writes 'sha256-…', by which a content security policy allows a script or style of this text. */
static void write_hash(FILE *out, const char *text)
{
	char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx context;

	sha256_init(&context);
	sha256_update(&context, strlen(text), (const uint8_t *)text);
	sha256_digest(&context, sizeof(digest), digest);
	base64_encode_raw(encoded, sizeof(digest), digest);
	fprintf(out, "'sha256-%s'", encoded);
}

static void write_policy(FILE *out)
{
	fputs("default-src 'none'; script-src ", out);
	write_hash(out, page_js);
	fputs("; style-src ", out);
	write_hash(out, page_css);
	fputs("; base-uri 'none'; form-action 'none'", out);
}

/* Writes a character as names have it in the reports: "\xHH" for each byte of its UTF-8, whose backslash JSON doubles. */
static void write_escaped(FILE *out, unsigned int code)
{
	static const unsigned int first[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	fprintf(out, "\\\\x%02x", first[more] | code >> 6 * more);
	while (more--)
		fprintf(out, "\\\\x%02x", 0x80 | (code >> 6 * more & 0x3f));
}

/* The character that hides or turns text, and that an escape of JSON stands for; 0: none. */
static unsigned int deceptive_of(const char *escape, unsigned int *ret_length)
{
	static const char letters[] = "bfnrt", codes[] = "\b\f\n\r\t";
	const char *letter = escape[1] ? strchr(letters, escape[1]) : NULL;
	unsigned int code = 0, low = 0;

	*ret_length = escape[1] == 'u' ? 6 : 2;
	if (letter)
		return (unsigned char)codes[letter - letters];
	if (escape[1] != 'u' || sscanf(escape + 2, "%4x", &code) != 1)
		return 0;
	if (code >= 0xd800 && code < 0xdc00 && sscanf(escape + 6, "\\u%4x", &low) == 1) {
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
		*ret_length = 12;
	}
	return escape_is_deceptive(code) ? code : 0;
}

/*
 * Writes JSON as data of a page. A `<` is within a string; without it the text ends no script, and begins no comment of HTML.
 * Characters that hide or turn text, which are escapes of JSON, are as in the reports: a script would show what they stand for.
 */
static void write_data(FILE *out, const char *json)
{
	unsigned int length, code;

	for (const char *at = json; *at; at += length) {
		length = 1;
		code = *at == '\\' ? deceptive_of(at, &length) : 0;
		if (code)
			write_escaped(out, code);
		else if (*at == '<')
			fputs("\\u003c", out);
		else
			fwrite(at, 1, length, out);
	}
}

static void write_title(struct report *report, FILE *out)
{
	_cleanup_query_ struct query query = query_begin(
		report->database,
		"SELECT c.trigger_mode, c.resource, r.hostname FROM capture c JOIN run r USING(run_id) WHERE "
		"c.capture_id = ?1",
		report->capture_id, 0);

	query_next(&query);
	fprintf(out, "Capture %lld", (long long)report->capture_id);
	if (!query_is_null(&query, "resource")) {
		fputs(": ", out);
		xml_text_cut(out, query_text(&query, "resource"), 16);
		fputs(" pressure", out);
	} else if (!strcmp(query_text(&query, "trigger_mode"), "kill")) {
		fputs(": a kill", out);
	} else if (!strcmp(query_text(&query, "trigger_mode"), "latency")) {
		fputs(": a latency", out);
	}
	fputs(" on ", out);
	xml_text_cut(out, query_text(&query, "hostname"), 64);
	fputs(" · bourdon", out);
}

/* Writes the page from page.html: each @MARK@ is replaced by what it names. */
static void write_page(struct report *report, FILE *out, const char *data)
{
	for (const char *at = page_html; *at;) {
		size_t bytes = strcspn(at, "@");

		fwrite(at, 1, bytes, out);
		at += bytes;
		if (!strncmp(at, "@POLICY@", 8)) {
			write_policy(out);
			at += 8;
		} else if (!strncmp(at, "@TITLE@", 7)) {
			write_title(report, out);
			at += 7;
		} else if (!strncmp(at, "@STYLE@", 7)) {
			fputs(page_css, out);
			at += 7;
		} else if (!strncmp(at, "@SCRIPT@", 8)) {
			fputs(page_js, out);
			at += 8;
		} else if (!strncmp(at, "@DATA@", 6)) {
			write_data(out, data);
			at += 6;
		} else if (*at) {
			fputc(*at++, out);
		}
	}
}

/* Returns 0, or -errno; a reason that the database is damaged was logged. */
static int make_data(struct report *report, int64_t against_id, char **ret_data)
{
	_cleanup_free_ char *data = NULL;
	size_t bytes;
	FILE *out = open_memstream(&data, &bytes);
	int result = out ? page_data_write(report, against_id, out) : -ENOMEM;

	if (out && fclose(out) && !result)
		result = -ENOMEM;
	if (!result)
		*ret_data = TAKE_PTR(data);
	return result;
}

/* ---- the subcommand ---- */

struct page_words {
	struct shared_words shared;
	const char *against;
};

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "o", "FILE", OUTPUT_HELP, SHARED(output) },
	{ "against", "ID", "compare with this capture", .at = offsetof(struct page_words, against) },
};

static int page_main(struct report *report, int count, char **arguments)
{
	struct page_words words = { 0 };
	_cleanup_free_ char *data = NULL;
	int64_t against_id = 0;
	int status = subcommand_parse(report, &page_subcommand, count, arguments, &words), result;

	if (status == OPTIONS_RUN && words.against)
		status = subcommand_read_id(words.against, &against_id);
	if (status == OPTIONS_RUN)
		status = output_open_capture(report, words.shared.output);
	if (status == OPTIONS_RUN && words.against)
		status = subcommand_choose(report, against_id, &against_id);
	if (status == OPTIONS_RUN && !output_has_place(report))
		status = EXIT_FAILED;
	if (status != OPTIONS_RUN)
		return status;
	result = make_data(report, against_id, &data);
	if (result < 0)
		profile_fail(report->database, result);
	else
		write_page(report, report->out, data);
	return status;
}

SUBCOMMAND(
	page, "report", "[ID]", "write a page to look at a capture in a browser, one HTML file",
	"Writes a page about capture ID: one HTML file that loads nothing, to open in a browser or to attach to\n"
	"a ticket. It has what why says, pressure and samples over time, flame graphs, and tables. Select a span\n"
	"of time, and all of it is about that span. Without ID: the newest complete capture.",
	"bourdon report 12 --against 7 -o capture-12.html", .takes_id = true);
