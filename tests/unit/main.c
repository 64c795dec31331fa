/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs all unit tests. Each test is a process of its own (with CK_FORK=no all are one, for a debugger), and as many suites run
 * at once as there are CPUs. Their files are in one directory, which is removed at the end. The seed is printed when a test
 * failed.
 */
#include "common/cleanup.h"
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

/* clang-format off */
static Suite *(*const suites[])(void) = {
	hottest_suite,
	baseline_suite,
	significance_suite,
	diff_suite,
	list_suite,
	older_schema_suite,
	why_suite,
	incident_suite,
	incidents_suite,
	onset_suite,
	options_suite,
	units_suite,
	usage_suite,
	interrupts_suite,
	kills_suite,
	cgroup_memory_suite,
	heap_suite,
	extend_stacks_suite,
	files_suite,
	escape_suite,
	ini_suite,
	manifest_suite,
	cpus_suite,
	cause_suite,
	cgroup_suite,
	hash_suite,
	cgroup_parts_suite,
	activity_report_suite,
	time_text_suite,
	thread_filter_suite,
	thread_history_suite,
	threads_output_suite,
	threads_text_suite,
	live_text_suite,
	name_cache_suite,
	cgroups_suite,
	hash_index_suite,
	shared_text_suite,
	process_index_suite,
	comm_trie_suite,
	pass_fd_suite,
	landlock_suite,
	seccomp_filter_suite,
	seccomp_suite,
	rules_suite,
	journal_suite,
	announce_suite,
	metrics_suite,
	settings_suite,
	reload_suite,
	patterns_suite,
	psi_suite,
	ring_suite,
	stacks_suite,
	stall_clocks_suite,
	capture_suite,
	wanted_suite,
	capture_request_suite,
	ask_limit_suite,
	control_suite,
	user_names_suite,
	capture_scope_suite,
	targets_suite,
	mappings_suite,
	iterator_stream_suite,
	policy_suite,
	process_events_suite,
	kernel_symbols_suite,
	pieces_suite,
	demangle_suite,
	elf_symbols_suite,
	go_frames_suite,
	go_functions_suite,
	hotspot_suite,
	unwind_table_suite,
	table_stream_suite,
	unit_map_suite,
	unwind_space_suite,
	table_failures_suite,
	unwind_modules_suite,
	cpu_budget_suite,
	file_cache_suite,
	unwind_layouts_suite,
	elf_module_suite,
	perf_map_suite,
	symbolizer_suite,
	known_files_suite,
	debug_files_suite,
	jit_map_suite,
	resolve_suite,
	store_suite,
	store_capture_suite,
	store_frames_suite,
	migrate_suite,
	retention_suite,
	stack_tree_suite,
	stored_json_suite,
	store_limit_suite,
	owner_suite,
	page_suite,
	profile_suite,
	report_suite,
	export_suite,
	export_lanes_suite,
	export_pprof_suite,
	db_check_suite,
	db_copy_suite,
	db_merge_suite,
	findings_suite,
	flame_suite,
	kernel_version_suite,
	requirements_suite,
	confinement_suite,
	grant_request_suite,
	grant_shares_suite,
	grant_client_suite,
	grant_queue_suite,
	mapped_files_suite,
	process_runtime_suite,
	process_text_suite,
	mapping_reader_suite,
	watches_suite,
	recorder_suite,
	command_lines_suite,
	store_thread_suite,
	daemon_suite,
	ondemand_suite,
	tracking_suite,
	looks_suite,
	activity_suite,
	store_activity_suite,
	thread_states_suite,
	wakes_suite,
	status_line_suite,
	hexadecimal_suite,
	log_suite,
	name_index_suite,
	naming_suite,
	notify_suite,
};
/* clang-format on */

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

	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		srunner_add_suite(runner, suites[i]());
	run(runner, tally);
}

/* Takes one suite after the other until there is none. */
static void work(struct tally *tally)
{
	for (;;) {
		unsigned int taken = atomic_fetch_add(&tally->next, 1);

		if (taken >= ARRAY_SIZE(suites))
			return;
		run(srunner_create(suites[taken]()), tally);
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
	struct tally *tally =
		mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	snprintf(directory, sizeof(directory), "%s/bourdon-unit.XXXXXX", parent ? parent : "/tmp");
	if (count > 1 || tally == MAP_FAILED || !mkdtemp(directory) || chmod(directory, 0711) ||
	    setenv("TMPDIR", directory, 1))
		return EXIT_FAILURE;
	find_beside(arguments[0], "compile_seccomp", "COMPILE_SECCOMP");
	find_beside(arguments[0], "symbols", SYMBOLS_VARIABLE);
	choose_seed();
	setenv("COLUMNS", "100", 1); /* whatever the terminal of make is: texts are compared */
	if (is_one_process_wanted())
		run_in_one_process(tally);
	else
		run_in_workers(tally, sysconf(_SC_NPROCESSORS_ONLN));
	directory_remove(directory);
	if (tally->failed)
		printf("the seed was %s: " SEED_VARIABLE "=%s repeats it\n", getenv(SEED_VARIABLE),
		       getenv(SEED_VARIABLE));
	printf("unit: %d checks, %d failed\n", tally->run, tally->failed);
	return tally->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
