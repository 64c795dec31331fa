/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/ini.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"
#include "common/system/log.h"

#include <ini.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FILE_BYTES_MAX (1024 * 1024)
#define SECTION_BYTES_MAX 49 /* inih silently truncates longer names */

void config_error(struct config_errors *errors, const char *file, unsigned int line, const char *format, ...)
{
	char what[512], *message;
	va_list arguments;
	int length;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	if (line)
		length = asprintf(&message, "%s:%u: %s", file, line, what);
	else
		length = asprintf(&message, "%s: %s", file, what);
	if (length >= 0 && errors->count < CONFIG_ERRORS_KEPT)
		errors->messages[errors->count] = message;
	else if (length >= 0)
		free(message);
	errors->count++;
}

void config_errors_log(const struct config_errors *errors)
{
	for (size_t i = 0; i < errors->count && i < CONFIG_ERRORS_KEPT; i++)
		log_error("%s", errors->messages[i] ? errors->messages[i] : "out of memory");
	if (errors->count > CONFIG_ERRORS_KEPT)
		log_error("%zu more errors are not shown", errors->count - CONFIG_ERRORS_KEPT);
}

void config_errors_free(struct config_errors *errors)
{
	for (size_t i = 0; i < errors->count && i < CONFIG_ERRORS_KEPT; i++)
		free(errors->messages[i]);
	*errors = (struct config_errors){ 0 };
}

struct reader {
	struct ini_entry entry; /* file and number of the current line */
	const char *next, *end;
	bool expects_key; /* the line looks like a key; inih has not called back for it yet */
	bool skips_keys;  /* the section line was invalid: skip its keys */
	char section[SECTION_BYTES_MAX + 1];
	ini_visit visit;
	void *user;
	struct config_errors *errors;
};

static void finish_line(struct reader *reader)
{
	if (reader->expects_key)
		config_error(reader->errors, reader->entry.file, reader->entry.line,
			     "expected 'key = value' or '[section]'");
	reader->expects_key = false;
}

/*
 * Checks a section line that inih would parse only in part, then opens the section. An invalid line becomes
 * "[ ]".
 */
static void begin_section(struct reader *reader, char *line)
{
	char *end = strchr(line, ']');
	size_t bytes = end ? (size_t)(end - line - 1) : 0;

	if (!end || !bytes || bytes > SECTION_BYTES_MAX || end[1 + strspn(end + 1, " \t")]) {
		config_error(reader->errors, reader->entry.file, reader->entry.line,
			     !end || !bytes              ? "expected '[section]'"
			     : bytes > SECTION_BYTES_MAX ? "section name is longer than 49 bytes"
							 : "unexpected text after the section's ']'");
		strcpy(line, "[ ]");
		reader->skips_keys = true;
		return;
	}
	reader->skips_keys = false;
	memcpy(reader->section, line + 1, bytes);
	reader->section[bytes] = '\0';
	reader->entry.section = reader->section;
	reader->entry.key = reader->entry.value = NULL;
	reader->visit(reader->user, &reader->entry);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Copies the next line into `line` without surrounding blanks; an unusable line becomes empty. */
static void copy_line(struct reader *reader, char *line, const char *text, size_t bytes)
{
	while (bytes && is_blank(*text)) {
		text++;
		bytes--;
	}
	while (bytes && (is_blank(text[bytes - 1]) || text[bytes - 1] == '\r'))
		bytes--;
	line[0] = '\0';
	if (bytes > INI_LINE_BYTES) {
		config_error(reader->errors, reader->entry.file, reader->entry.line,
			     "line is longer than %d bytes", INI_LINE_BYTES);
		return;
	}
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)text[i] < 0x20 && text[i] != '\t') {
			config_error(reader->errors, reader->entry.file, reader->entry.line,
				     "control character 0x%02x", (unsigned char)text[i]);
			return;
		}
	}
	memcpy(line, text, bytes);
	line[bytes] = '\0';
}

/* inih's reader: like fgets() on the text, one whole line a call. `size` is ini_initial_alloc. */
static char *next_line(char *line, int size, void *stream)
{
	struct reader *reader = stream;
	const char *end;

	(void)size;
	finish_line(reader);
	if (reader->next == reader->end)
		return NULL;
	reader->entry.line++;
	end = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
	copy_line(reader, line, reader->next, (size_t)((end ? end : reader->end) - reader->next));
	reader->next = end ? end + 1 : reader->end;
	if (line[0] == '[')
		begin_section(reader, line);
	else
		reader->expects_key = line[0] && !strchr(";#", line[0]);
	strcat(line, "\n");
	return line;
}

static int on_key(void *user, const char *section, const char *key, const char *value)
{
	struct reader *reader = user;

	(void)section; /* inih's copy; begin_section() keeps its own */
	reader->expects_key = false;
	if (!*key || !value) {
		config_error(reader->errors, reader->entry.file, reader->entry.line,
			     "missing key before '='");
		return 1;
	}
	if (reader->skips_keys)
		return 1;
	reader->entry.section = reader->section;
	reader->entry.key = key;
	reader->entry.value = value;
	reader->visit(reader->user, &reader->entry);
	return 1;
}

int ini_read_text(const char *file, const char *text, size_t bytes, ini_visit visit, void *user,
		  struct config_errors *errors)
{
	struct reader reader = { .entry = { .file = file },
				 .next = text,
				 .end = text + bytes,
				 .visit = visit,
				 .user = user,
				 .errors = errors };

	/* a byte order mark would turn the first section into a key */
	if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		reader.next += 3;
	/* inih by default limits a line to 200 bytes and joins an indented line to the value above */
	ini_use_stack = false;
	ini_allow_multiline = false;
	ini_initial_alloc = INI_LINE_BYTES + 2;
	/* -2: out of memory. A line number: a syntax error that finish_line() has recorded */
	if (ini_parse_stream(next_line, &reader, on_key, &reader) == -2)
		return -ENOMEM;
	return 0;
}

/*
 * Refuses FIFOs and terminals, which could block the reader forever. Allows /dev/null, which masks a file.
 * Returns the descriptor, -EISDIR, -EINVAL for other kinds of files, or -errno.
 */
static int open_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat at;

	if (fd < 0 || fstat(fd, &at))
		return -errno;
	if (!S_ISREG(at.st_mode) && !(S_ISCHR(at.st_mode) && at.st_rdev == makedev(1, 3)))
		return S_ISDIR(at.st_mode) ? -EISDIR : -EINVAL;
	return TAKE_FD(fd);
}

int ini_read_file(const char *path, ini_visit visit, void *user, struct config_errors *errors)
{
	_cleanup_close_ int fd = open_file(path);
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result;

	result = fd < 0 ? fd : file_read_all(fd, FILE_BYTES_MAX, &text, &bytes);
	if (result == -ENOMEM)
		return result;
	if (result < 0) {
		config_error(errors, path, 0, "cannot read the file: %s",
			     result == -EFBIG    ? "larger than 1 MiB"
			     : result == -EINVAL ? "not a regular file"
						 : strerror(-result));
		return 0;
	}
	return ini_read_text(path, text, bytes, visit, user, errors);
}
