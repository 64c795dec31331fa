/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows by which evidence a process counts as Python, as a Java virtual machine or as a native program: the content of
 * its files, real ones of Debian among them, goes before their names.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/runtime_sign.h"
#include "consumer/symbols/process_runtime.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define FILES 3

/* The sign of the mark of that name. */
static uint32_t sign(const char *name, uint32_t flags)
{
	for (uint32_t i = 0; i < RUNTIME_MARKS; i++)
		if (!strcmp(runtime_marks[i].name, name))
			return (RUNTIME_SIGNS_FIRST + i) | flags;
	ck_abort_msg("no mark is named %s", name);
}

/* A process that maps these files, its executable first. */
struct example {
	struct {
		const char *path, *mark; /* mark: "-" has none, NULL was not read */
		uint32_t flags;
	} files[FILES];
	const char *runtime, *evidence; /* NULL: not known */
};

static void expect(const struct example *example)
{
	struct mapped_file files[FILES] = { 0 };
	struct mapping mappings[FILES] = { 0 };
	struct mapped_process process = { .mappings = mappings };
	struct process_runtime runtime;

	for (uint32_t i = 0; i < FILES && example->files[i].path; i++) {
		const char *mark = example->files[i].mark;

		files[i].path = (char *)(uintptr_t)example->files[i].path;
		files[i].runtime = !mark                ? RUNTIME_NOT_READ
				   : !strcmp(mark, "-") ? RUNTIME_NO_SIGN
							: sign(mark, example->files[i].flags);
		mappings[i].file = &files[i];
		mappings[i].flags = (uint8_t)(i ? 0 : MAPPING_IS_EXE);
		process.count++;
	}
	process_runtime_find(&process, &runtime);
	ck_assert_pstr_eq(runtime.name, example->runtime);
	ck_assert_str_eq(runtime.evidence, example->evidence ? example->evidence : "");
}

static const struct example examples[] = {
	/* the executable's content */
	{ { { "/usr/bin/python3.11", "Py_BytesMain", 0 }, { "/lib/libc.so.6", "-", 0 } },
	  "python",
	  "python3.11 defines Py_BytesMain" },
	{ { { "/usr/bin/python3.13", "Py_BytesMain", RUNTIME_IMPORTED } },
	  "python",
	  "python3.13 imports Py_BytesMain" },
	{ { { "/opt/server", ".go.buildinfo", 0 } }, "go", "server has section .go.buildinfo" },
	{ { { "/usr/bin/node", "_ZN4node5StartEiPPc", 0 } }, "node", "node defines node::Start" },
	/* whatever its name says */
	{ { { "/home/eve/python3", "-", 0 }, { "/lib/libc.so.6", "-", 0 } },
	  "native",
	  "no sign of a runtime in 2 files that it maps" },
	{ { { "/home/eve/java", "perl_run", 0 } }, "perl", "java defines perl_run" },
	/* a library of a runtime: of a Java virtual machine, or of what the executable is named after */
	{ { { "/opt/launcher", "-", 0 }, { "/opt/jdk/libjvm.so", "JNI_CreateJavaVM", 0 } },
	  "jvm",
	  "maps libjvm.so, which defines JNI_CreateJavaVM" },
	{ { { "/usr/bin/perl", "-", 0 }, { "/usr/lib/libperl.so.5.36", "perl_run", 0 } },
	  "perl",
	  "maps libperl.so.5.36, which defines perl_run" },
	{ { { "/usr/bin/gdb", "-", 0 }, { "/usr/lib/libpython3.11.so.1.0", "Py_BytesMain", 0 } },
	  "native",
	  "no sign of a runtime in 2 files that it maps" },
	/* names, where nothing was read */
	{ { { "/usr/bin/python3.11", NULL, 0 } }, "python", "executes python3.11, which was not read" },
	{ { { "/opt/launcher", "-", 0 }, { "/opt/jdk/libjvm.so", NULL, 0 } },
	  "jvm",
	  "maps libjvm.so, which was not read" },
	{ { { "/usr/bin/node", NULL, 0 }, { "/lib/libc.so.6", "-", 0 } },
	  "node",
	  "executes node, which was not read" },
	{ { { "/usr/bin/nodename", NULL, 0 } }, NULL, NULL },
	{ { { "/usr/bin/pythonista", NULL, 0 } }, NULL, NULL },
	{ { { "", NULL, 0 } }, NULL, NULL },
};

START_TEST(evidence_has_an_order)
{
	expect(&examples[_i]);
}
END_TEST

START_TEST(of_nothing_nothing_is_known)
{
	const struct mapped_process process = { .count = 0 };
	struct process_runtime runtime;

	process_runtime_find(NULL, &runtime);
	ck_assert_ptr_null(runtime.name);
	process_runtime_find(&process, &runtime);
	ck_assert_ptr_null(runtime.name);
	ck_assert_str_eq(runtime.evidence, "");
}
END_TEST

/* A process has any name for its files. */
START_TEST(a_long_name_is_cut)
{
	char path[4096];
	struct mapped_file file = { .path = path, .runtime = sign("perl_run", 0) };
	struct mapping mapping = { .file = &file, .flags = MAPPING_IS_EXE };
	const struct mapped_process process = { .mappings = &mapping, .count = 1 };
	struct process_runtime runtime;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	process_runtime_find(&process, &runtime);
	ck_assert_str_eq(runtime.name, "perl");
	ck_assert_uint_eq(strspn(runtime.evidence, "x"), 128);
	ck_assert_str_eq(runtime.evidence + 128, " defines perl_run");
}
END_TEST

START_TEST(what_executables_of_debian_are)
{
	static const struct {
		const char *path, *mark; /* NULL: none */
	} real[] = { { "/usr/bin/python3", "Py_BytesMain" },
		     { "/usr/bin/perl", "perl_run" },
		     { "/bin/sh", NULL } };
	_cleanup_close_ int fd = open(real[_i].path, O_RDONLY | O_CLOEXEC);
	uint32_t found;

	ck_assert_int_ge(fd, 0);
	found = runtime_sign_find(fd);
	/* defined, or imported from a library */
	ck_assert_uint_eq(found & ~RUNTIME_IMPORTED,
			  real[_i].mark ? sign(real[_i].mark, 0) : RUNTIME_NO_SIGN);
}
END_TEST

START_TEST(no_elf_file_is_not_read)
{
	static const char texts[][8] = { "", "\177ELF", "#!/bin" };
	_cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);

	ck_assert_int_eq(write(fd, texts[_i], strlen(texts[_i])), (ssize_t)strlen(texts[_i]));
	ck_assert_uint_eq(runtime_sign_find(fd), RUNTIME_NOT_READ);
}
END_TEST

START_TEST(a_sign_is_checked)
{
	ck_assert(runtime_sign_is_valid(RUNTIME_NOT_READ));
	ck_assert(runtime_sign_is_valid(RUNTIME_NO_SIGN));
	ck_assert(runtime_sign_is_valid(sign("perl_run", 0)));
	ck_assert(runtime_sign_is_valid(sign("JLI_Launch", RUNTIME_IMPORTED)));
	/* programs that embed it import it, too */
	ck_assert(!runtime_sign_is_valid(sign("perl_run", RUNTIME_IMPORTED)));
	ck_assert(!runtime_sign_is_valid(RUNTIME_NO_SIGN | RUNTIME_IMPORTED));
	ck_assert(!runtime_sign_is_valid(RUNTIME_SIGNS_FIRST + RUNTIME_MARKS));
	ck_assert(!runtime_sign_is_valid(UINT32_MAX));
}
END_TEST

SUITE(process_runtime)
{
	Suite *suite = suite_create("process_runtime");
	TCase *tests = tcase_create("process_runtime");

	tcase_add_loop_test(tests, evidence_has_an_order, 0, ARRAY_SIZE(examples));
	tcase_add_test(tests, of_nothing_nothing_is_known);
	tcase_add_test(tests, a_long_name_is_cut);
	tcase_add_loop_test(tests, what_executables_of_debian_are, 0, 3);
	tcase_add_loop_test(tests, no_elf_file_is_not_read, 0, 3);
	tcase_add_test(tests, a_sign_is_checked);
	suite_add_tcase(suite, tests);
	return suite;
}
