/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs all unit tests. Each test is a process of its own (with CK_FORK=no all are one, for a debugger), and as many suites run
 * at once as there are CPUs. Their files are in one directory, which is removed at the end. The seed is printed when a test
 * failed.
 */
#include "common/base/cleanup.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The Makefile puts the policy compiler and programs with symbols beside this program. */
static void find_beside(const char *program, const char *name, const char *variable)
{
	_cleanup_free_ char *copy = strdup(program), *path = NULL;

	if (copy && asprintf(&path, "%s/%s", dirname(copy), name) > 0)
		setenv(variable, path, 0);
}

static void choose_seed(void)
{
	uint64_t seed = 0;
	char text[24];

	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = (uint64_t)getpid();
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	setenv(SEED_VARIABLE, text, 0);
}

/* What the workers share. */
struct tally {
	atomic_uint next; /* the suite that nobody has taken yet */
	atomic_int run, failed;
};

static void run(SRunner *runner, struct tally *tally)
{
	srunner_run_all(runner, CK_NORMAL);
	atomic_fetch_add(&tally->run, srunner_ntests_run(runner));
	atomic_fetch_add(&tally->failed, srunner_ntests_failed(runner));
	srunner_free(runner);
	fflush(stdout);
}

static void run_in_one_process(struct tally *tally)
{
	SRunner *runner = srunner_create(NULL);

	for (suite_make *const *make = __start_suites; make < __stop_suites; make++)
		srunner_add_suite(runner, (*make)());
	run(runner, tally);
}

/* Takes one suite after the other until there is none. */
static void work(struct tally *tally)
{
	for (;;) {
		unsigned int taken = atomic_fetch_add(&tally->next, 1);

		if (taken >= (size_t)(__stop_suites - __start_suites))
			return;
		run(srunner_create(__start_suites[taken]()), tally);
	}
}

/* A worker that ends otherwise than it should is a failed test. */
static void run_in_workers(struct tally *tally, long workers)
{
	int status;

	for (long i = 0; i < workers; i++) {
		pid_t child = fork();

		if (!child) {
			work(tally);
			exit(EXIT_SUCCESS);
		}
		if (child < 0)
			atomic_fetch_add(&tally->failed, 1);
	}
	while (wait(&status) > 0)
		if (status)
			atomic_fetch_add(&tally->failed, 1);
}

static bool is_one_process_wanted(void)
{
	const char *fork_mode = getenv("CK_FORK");

	return (fork_mode && !strcmp(fork_mode, "no")) || getenv("CK_RUN_SUITE") || getenv("CK_RUN_CASE");
}

int main(int count, char **arguments)
{
	const char *parent = getenv("TMPDIR");
	char directory[PATH_MAX];
	unsigned int skipped;
	struct tally *tally =
		mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	snprintf(directory, sizeof(directory), "%s/bourdon-unit.XXXXXX", parent ? parent : "/tmp");
	if (count > 1 || tally == MAP_FAILED || !mkdtemp(directory) || chmod(directory, 0711) ||
	    setenv("TMPDIR", directory, 1))
		return EXIT_FAILURE;
	find_beside(arguments[0], "compile_seccomp", "COMPILE_SECCOMP");
	find_beside(arguments[0], "symbols", SYMBOLS_VARIABLE);
	choose_seed();
	/* Seconds, for tests that hang: 10 s of CPU time took five minutes at a load of 35. Check's own limit is 4. */
	setenv("CK_DEFAULT_TIMEOUT", "900", 0);
	setenv("COLUMNS", "100", 1); /* whatever the terminal of make is: texts are compared */
	if (is_one_process_wanted())
		run_in_one_process(tally);
	else
		run_in_workers(tally, sysconf(_SC_NPROCESSORS_ONLN));
	skipped = skips_print();
	directory_remove(directory);
	if (tally->failed)
		printf("the seed was %s: " SEED_VARIABLE "=%s repeats it\n", getenv(SEED_VARIABLE),
		       getenv(SEED_VARIABLE));
	printf("unit: %u checks, %d failed", (unsigned int)tally->run - skipped, tally->failed);
	printf(skipped ? ", %u skipped\n" : "\n", skipped);
	return tally->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
