/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the fields of a capture's entry in the journal, that hostile names cannot add a field or act on a terminal, and the
 * files for the hook: only if there is a directory for them, whole, and not without end.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/confine/landlock.h"
#include "common/confine/seccomp.h"
#include "common/text/escape.h"
#include "consumer/store/announce.h"
#include "consumer/store/metrics.h"
#include "policy/bourdond.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HOSTILE "ng\x1b]0;x\x07inx\nPRIORITY=0\xff\xe2\x80\xae<b>\"'"
#define HOSTILE_SAFE "ng\\x1b]0;x\\x07inx\\x0aPRIORITY=0\\xff\\xe2\\x80\\xae<b>\"'"

static const struct stored_verdict neighbour = {
	.kind = VERDICT_NEIGHBOUR,
	.blamed_percent = 64.25,
	.headline = "neighbour: hog in batch.service took 64 % of the wait",
	.culprit = "hog ×4 in batch.service",
};

/* "NAME=VALUE\n" of all fields. The caller frees. */
static char *fields_of(const struct announced *announced)
{
	struct announcement announcement;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	announce_make(announced, &announcement);
	for (size_t i = 0; i < announcement.count; i++)
		fprintf(out, "%s=%s\n", announcement.fields[i].name, announcement.fields[i].value);
	fclose(out);
	return text;
}

START_TEST(a_capture_of_a_rule)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct announced announced = { capture, 42, &neighbour };
	_cleanup_free_ char *text = NULL;

	/* the innermost unit counts */
	free(capture->trigger.cgroup);
	capture->trigger.cgroup = strdup("/system.slice/web.service/worker");
	text = fields_of(&announced);
	ck_assert_str_eq(
		text,
		"MESSAGE=capture 42, rule web: memory some stalled 8 % of 1.0 s, on /system.slice/web.service/worker; neighbour: hog in batch.service took 64 % of the wait\n"
		"MESSAGE_ID=9f8b8a2aec894c2ba7be965f985b1066\n"
		"PRIORITY=5\n"
		"SYSLOG_IDENTIFIER=bourdond\n"
		"BOURDON_CAPTURE=42\n"
		"BOURDON_STATE=complete\n"
		"BOURDON_TRIGGERED_USEC=1700000000123456\n"
		"BOURDON_SAMPLES=1\n"
		"BOURDON_CAUSE=neighbour\n"
		"BOURDON_CULPRIT=hog ×4 in batch.service\n"
		"BOURDON_BLAMED_PERCENT=64.2\n"
		"BOURDON_RULE=web\n"
		"BOURDON_RESOURCE=memory\n"
		"BOURDON_KIND=some\n"
		"BOURDON_STALLED_USEC=77777\n"
		"BOURDON_STALLED_PERCENT=7.8\n"
		"BOURDON_WINDOW_USEC=1000000\n"
		"BOURDON_THRESHOLD_USEC=50000\n"
		"BOURDON_SCOPE=cgroup\n"
		"BOURDON_UNIT=web.service\n"
		"BOURDON_CGROUP=/system.slice/web.service/worker\n");
}
END_TEST

START_TEST(a_capture_of_a_kill)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct stored_verdict verdict = { .kind = VERDICT_KILL,
						.headline =
							"kill: nginx[7] in /x, 60 MiB, killed by the kernel",
						.culprit = "nginx ×4 in web.service" };
	const struct announced announced = { capture, 42, &verdict };
	_cleanup_free_ char *text = NULL;

	capture->trigger.mode = TRIGGER_KILL;
	capture->trigger.kill = (struct kill_record){ .how = KILL_OOM, .tgid = 7, .comm = "nginx" };
	free(TAKE_PTR(capture->trigger.cgroup));
	text = fields_of(&announced);
	ck_assert_str_eq(text,
			 "MESSAGE=capture 42, rule web; kill: nginx[7] in /x, 60 MiB, killed by the kernel\n"
			 "MESSAGE_ID=f7ad9544b9e14cdf86a888e6b96d4d69\n"
			 "PRIORITY=5\n"
			 "SYSLOG_IDENTIFIER=bourdond\n"
			 "BOURDON_CAPTURE=42\n"
			 "BOURDON_STATE=complete\n"
			 "BOURDON_TRIGGERED_USEC=1700000000123456\n"
			 "BOURDON_SAMPLES=1\n"
			 "BOURDON_CAUSE=kill\n"
			 "BOURDON_CULPRIT=nginx ×4 in web.service\n"
			 "BOURDON_RULE=web\n"
			 "BOURDON_KILLED_COMM=nginx\n"
			 "BOURDON_KILLED_PID=7\n"
			 "BOURDON_KILLED_HOW=oom\n"
			 "BOURDON_SCOPE=system\n");
}
END_TEST

START_TEST(a_capture_of_a_latency)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct stored_verdict verdict = { .kind = VERDICT_NEIGHBOUR, .headline = "neighbour: hog" };
	const struct announced announced = { capture, 42, &verdict };
	_cleanup_free_ char *text = NULL;

	capture->trigger.mode = TRIGGER_LATENCY;
	capture->trigger.latency = (struct latency_trigger){ .metric = METRIC_BLOCK_SERVICE,
							     .quantile = LATENCY_P99,
							     .limit_ns = 200000000,
							     .window_ns = 10000000000 };
	capture->trigger.latency_observed_ns = 410000000;
	free(TAKE_PTR(capture->trigger.cgroup));
	text = fields_of(&announced);
	ck_assert_ptr_nonnull(strstr(
		text,
		"MESSAGE=capture 42, rule web: block.service p99 410 ms > 200 ms in 10 s, on the whole system; neighbour: hog\n"
		"MESSAGE_ID=" ANNOUNCE_LATENCY "\n"
		"PRIORITY=5\n"));
	ck_assert_ptr_nonnull(strstr(text, "BOURDON_RULE=web\n"
					   "BOURDON_LATENCY_METRIC=block.service\n"
					   "BOURDON_LATENCY_QUANTILE=p99\n"
					   "BOURDON_LATENCY_NSEC=410000000\n"
					   "BOURDON_LATENCY_LIMIT_NSEC=200000000\n"
					   "BOURDON_WINDOW_USEC=10000000\n"
					   "BOURDON_SCOPE=system\n"));
	ck_assert_ptr_null(strstr(text, "BOURDON_STALLED"));
}
END_TEST

START_TEST(what_is_not_known_has_no_field)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct stored_verdict verdict = { .kind = VERDICT_NEGLIGIBLE,
						.headline = "negligible: nobody waited" };
	const struct announced announced = { capture, 42, &verdict };
	_cleanup_free_ char *text = NULL;

	free(TAKE_PTR(capture->trigger.cgroup));
	capture->interrupted = true;
	text = fields_of(&announced);
	ck_assert_ptr_nonnull(strstr(text, "on the whole system, interrupted; negligible: nobody waited\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nBOURDON_STATE=interrupted\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nBOURDON_SCOPE=system\n"));
	/* nobody has to act on it */
	ck_assert_ptr_nonnull(strstr(text, "\nPRIORITY=6\n"));
	ck_assert_ptr_null(strstr(text, "BOURDON_UNIT"));
	ck_assert_ptr_null(strstr(text, "BOURDON_CGROUP"));
	ck_assert_ptr_null(strstr(text, "BOURDON_CULPRIT"));
	ck_assert_ptr_null(strstr(text, "BOURDON_BLAMED_PERCENT"));
}
END_TEST

START_TEST(a_capture_on_demand)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct stored_verdict verdict = { .kind = VERDICT_PEER, .headline = "peer: db in db.service" };
	const struct announced announced = { capture, 43, &verdict };
	_cleanup_free_ char *text = NULL;
	struct asking *asking = calloc(1, sizeof(*asking));

	*asking = (struct asking){ .uid = 1000,
				   .user = "alice",
				   .text = strdup("--pid 4711 --for 30s"),
				   .note = strdup("slow\nlogin") };
	capture->trigger.asking = asking;
	text = fields_of(&announced);
	ck_assert_str_eq(
		text, "MESSAGE=capture 43, asked for by alice (uid 1000): 1 sample; peer: db in db.service\n"
		      "MESSAGE_ID=ace7d791a2734c52b1957a08e5e8b344\n"
		      "PRIORITY=6\n"
		      "SYSLOG_IDENTIFIER=bourdond\n"
		      "BOURDON_CAPTURE=43\n"
		      "BOURDON_STATE=complete\n"
		      "BOURDON_TRIGGERED_USEC=1700000000123456\n"
		      "BOURDON_SAMPLES=1\n"
		      "BOURDON_CAUSE=peer\n"
		      "BOURDON_ASKED_BY_UID=1000\n"
		      "BOURDON_ASKED_BY=alice\n"
		      "BOURDON_ASKED_FOR=--pid 4711 --for 30s\n"
		      "BOURDON_NOTE=slow\\x0alogin\n");
}
END_TEST

START_TEST(hostile_names_are_values_that_a_terminal_may_see)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	struct stored_verdict verdict = { .kind = VERDICT_NEIGHBOUR };
	const struct announced announced = { capture, 42, &verdict };
	struct announcement announcement;

	snprintf(verdict.headline, sizeof(verdict.headline), "%s took it", HOSTILE);
	snprintf(verdict.culprit, sizeof(verdict.culprit), "%s", HOSTILE);
	snprintf(capture->trigger.rule, sizeof(capture->trigger.rule), "%s", HOSTILE);
	free(capture->trigger.cgroup);
	capture->trigger.cgroup = strdup("/" HOSTILE ".service");
	announce_make(&announced, &announcement);
	for (size_t i = 0; i < announcement.count; i++) {
		const struct journal_field *field = &announcement.fields[i];
		char shown[2 * ANNOUNCE_BYTES];

		ck_assert_str_eq(escape_terminal(field->value, shown, sizeof(shown)), field->value);
		if (!strcmp(field->name, "BOURDON_RULE") || !strcmp(field->name, "BOURDON_CULPRIT"))
			ck_assert_str_eq(field->value, HOSTILE_SAFE);
		if (!strcmp(field->name, "BOURDON_UNIT"))
			ck_assert_str_eq(field->value, HOSTILE_SAFE ".service");
		if (!strcmp(field->name, "PRIORITY"))
			ck_assert_str_eq(field->value, "5");
	}
}
END_TEST

/* The longest path of a cgroup, of bytes that take four each, is cut; what is more important is there. */
START_TEST(an_entry_has_a_bound)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	struct stored_verdict verdict = { .kind = VERDICT_NEIGHBOUR };
	const struct announced announced = { capture, 42, &verdict };
	struct announcement announcement;
	char bytes[JOURNAL_ENTRY_BYTES];
	char *path = malloc(4096);

	memset(path, '\x01', 4095);
	path[0] = '/';
	path[4095] = '\0';
	free(capture->trigger.cgroup);
	capture->trigger.cgroup = path;
	memset(verdict.headline, '\x02', sizeof(verdict.headline) - 1);
	memset(verdict.culprit, '\x03', sizeof(verdict.culprit) - 1);
	announce_make(&announced, &announcement);
	ck_assert_uint_le(announcement.used, sizeof(announcement.text));
	ck_assert_int_gt(journal_encode(announcement.fields, announcement.count, bytes, sizeof(bytes)), 4096);
	ck_assert_str_eq(announcement.fields[announcement.count - 1].name, "BOURDON_CGROUP");
}
END_TEST

/* ---- the journal and the hook ---- */

struct host {
	char *directory, *socket_path, *hook;
	int journal;
	struct own_counters counters;
	struct announcer announcer;
};

static void host_make(struct host *host)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*host = (struct host){ .directory = directory_make() };
	host->socket_path = path_join(host->directory, "socket");
	host->hook = path_join(host->directory, HOOK_DIRECTORY);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", host->socket_path);
	host->journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(host->journal, (struct sockaddr *)&address, sizeof(address)), 0);
	announce_open(&host->announcer, host->socket_path, host->directory, &host->counters);
}

static void host_free(struct host *host)
{
	announce_close(&host->announcer);
	close(host->journal);
	directory_remove(host->directory);
	free(host->directory);
	free(host->socket_path);
	free(host->hook);
}

static bool tell(struct host *host, int64_t capture_id)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	const struct announced announced = { capture, capture_id, &neighbour };

	return announce(&host->announcer, &announced, clock_monotonic_ns());
}

/* The text of DIRECTORY/NAME, or NULL. The caller frees. */
static char *text_in(const char *directory, const char *name)
{
	_cleanup_free_ char *path = path_join(directory, name);
	_cleanup_file_ FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 16);

	if (file)
		ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
	else
		free(TAKE_PTR(text));
	return text;
}

START_TEST(the_journal_gets_one_entry_and_there_is_no_hook_without_its_directory)
{
	struct host host;
	char got[JOURNAL_ENTRY_BYTES + 1];
	ssize_t bytes;

	host_make(&host);
	HOLDS(tell(&host, 42));
	bytes = recv(host.journal, got, sizeof(got) - 1, 0);
	ck_assert_int_gt(bytes, 0);
	got[bytes] = '\0';
	ck_assert_ptr_nonnull(strstr(got, "\nBOURDON_CAPTURE=42\n"));
	ck_assert_ptr_nonnull(strstr(got, "\nMESSAGE_ID=" ANNOUNCE_CAPTURED "\n"));
	ck_assert_int_lt(recv(host.journal, got, sizeof(got), 0), 0);
	ck_assert_int_ne(access(host.hook, F_OK), 0);
	ck_assert_uint_eq(own_counted(&host.counters, OWN_HOOK_LOST), 0);
	host_free(&host);
}
END_TEST

START_TEST(the_hook_gets_a_file)
{
	_cleanup_free_ char *text = NULL, *left = NULL;
	struct host host;

	host_make(&host);
	ck_assert_int_eq(mkdir(host.hook, 0700), 0);
	HOLDS(tell(&host, 42));
	text = text_in(host.hook, "capture-42");
	ck_assert_ptr_nonnull(text);
	ck_assert_msg(!strncmp(text, "BOURDON_MESSAGE=capture 42, rule web: ", 38), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\nBOURDON_RULE=web\n"));
	ck_assert_ptr_null(strstr(text, "\nPRIORITY="));
	/* nothing else is in the directory */
	left = path_join(host.hook, "capture-42");
	ck_assert_int_eq(unlink(left), 0);
	ck_assert_int_eq(rmdir(host.hook), 0);
	host_free(&host);
}
END_TEST

START_TEST(files_that_nobody_removes_have_a_bound)
{
	_cleanup_free_ char *said = NULL;
	struct host host;
	int saved;

	host_make(&host);
	ck_assert_int_eq(mkdir(host.hook, 0700), 0);
	saved = log_divert(); /* nobody reads this journal either */
	for (int64_t id = 1; id <= HOOK_FILES + 5; id++)
		tell(&host, id);
	said = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(said, "the journal did not take the entry of a capture"));
	for (int64_t id = 1; id <= HOOK_FILES + 5; id++) {
		_cleanup_free_ char *text = NULL;
		char name[32];

		snprintf(name, sizeof(name), "capture-%d", (int)id);
		text = text_in(host.hook, name);
		HOLDS((text != NULL) == (id > 5));
	}
	host_free(&host);
}
END_TEST

START_TEST(a_hook_that_cannot_be_told_and_a_lost_journal_are_counted_and_logged_once)
{
	_cleanup_free_ char *said = NULL;
	struct host host;
	int saved;

	host_make(&host);
	file_put(host.hook, "no directory", 12);
	ck_assert_int_eq(unlink(host.socket_path), 0);
	saved = log_divert();
	for (int64_t id = 1; id <= 3; id++)
		HOLDS(!tell(&host, id));
	said = log_diverted(saved);
	ck_assert_uint_eq(own_counted(&host.counters, OWN_HOOK_LOST), 3);
	ck_assert_uint_eq(own_counted(&host.counters, OWN_JOURNAL_LOST), 3);
	ck_assert_ptr_nonnull(strstr(said, "cannot tell the hook of capture 1: "));
	ck_assert_ptr_nonnull(strstr(said, "there is no journal at "));
	ck_assert_ptr_null(strstr(strstr(said, "there is no journal at ") + 1, "there is no journal at "));
	host_free(&host);
}
END_TEST

/* CHILD: as confine_files() and confine_calls() do, with one directory for all. */
static void confine(const struct host *host, const struct own_usage *usage)
{
	const struct rlimit none = { 0, 0 };
	const struct landlock_place places[] = {
		{ .path = "/proc/pressure", .uses = LANDLOCK_READ | LANDLOCK_WRITE },
		{ .path = usage->cgroup_mount ? usage->cgroup_mount : "/none",
		  .uses = LANDLOCK_READ | LANDLOCK_LIST },
		{ .path = host->directory, .uses = LANDLOCK_WRITE | LANDLOCK_MAKE },
	};

	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    landlock_confine(places, ARRAY_SIZE(places)) < 0 || seccomp_install(&bourdond_policy, true))
		_exit(255);
}

/* CHILD: everything that the worker thread tells others, twice, and another file of metrics. */
static void tell_all(struct host *host, const struct capture *capture)
{
	const struct announced announced = { capture, 42, &neighbour };
	const struct resolved resolved = { 0 };
	struct settings settings = { .metrics_ns = SECOND };
	const struct kernel_objects kernel = { .directory_fd = -EBADF };
	struct own_usage usage;
	struct metrics metrics;

	snprintf(settings.metrics_file, sizeof(settings.metrics_file), "%s/b.prom", host->directory);
	own_usage_open(&usage);
	confine(host, &usage);
	metrics_open(&metrics, host->directory, &kernel, &usage, &host->counters, 0);
	metrics_follow(&metrics, &settings, clock_monotonic_ns());
	for (int i = 0; i < 2; i++) {
		if (!announce(&host->announcer, &announced, clock_monotonic_ns()))
			_exit(1);
		metrics_add(&metrics, capture, &resolved, neighbour.kind);
		metrics_write(&metrics, clock_monotonic_ns());
	}
	if (own_counted(&host->counters, OWN_METRICS_LOST) || own_counted(&host->counters, OWN_HOOK_LOST))
		_exit(2);
	/* what the file says; the end removes it */
	strcpy(strrchr(settings.metrics_file, '/'), "/kept.prom");
	metrics_follow(&metrics, &settings, clock_monotonic_ns());
	metrics_write(&metrics, clock_monotonic_ns());
	announce_retry(&host->announcer, clock_monotonic_ns());
	_exit(0);
}

START_TEST(the_confined_daemon_may_tell_all_of_it)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);
	_cleanup_free_ char *kept = NULL, *told = NULL;
	struct host host;
	int status = -1;
	pid_t child;

	if (SANITIZED)
		return;
	host_make(&host);
	ck_assert_int_eq(mkdir(host.hook, 0700), 0);
	child = fork();
	if (!child)
		tell_all(&host, capture);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(!status, "wait status %#x", (unsigned int)status);
	kept = text_in(host.directory, "kept.prom");
	ck_assert_ptr_nonnull(strstr(kept, "{rule=\"web\",resource=\"memory\",cause=\"neighbour\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(kept, "\nbourdon_resident_memory_bytes "));
	ck_assert_ptr_nonnull(strstr(kept, "\nbourdon_journal_entries_total{result=\"taken\"} 2\n"));
	ck_assert_ptr_null(text_in(host.directory, "b.prom"));
	told = text_in(host.hook, "capture-42");
	ck_assert_ptr_nonnull(told);
	host_free(&host);
}
END_TEST

SUITE(announce)
{
	Suite *suite = suite_create("announce");
	TCase *fields = tcase_create("fields"), *told = tcase_create("told");

	tcase_add_test(fields, a_capture_of_a_rule);
	tcase_add_test(fields, a_capture_of_a_kill);
	tcase_add_test(fields, a_capture_of_a_latency);
	tcase_add_test(fields, what_is_not_known_has_no_field);
	tcase_add_test(fields, a_capture_on_demand);
	tcase_add_test(fields, hostile_names_are_values_that_a_terminal_may_see);
	tcase_add_test(fields, an_entry_has_a_bound);
	tcase_add_test(told, the_journal_gets_one_entry_and_there_is_no_hook_without_its_directory);
	tcase_add_test(told, the_hook_gets_a_file);
	tcase_add_test(told, files_that_nobody_removes_have_a_bound);
	tcase_add_test(told, the_confined_daemon_may_tell_all_of_it);
	tcase_add_test(told, a_hook_that_cannot_be_told_and_a_lost_journal_are_counted_and_logged_once);
	suite_add_tcase(suite, fields);
	suite_add_tcase(suite, told);
	return suite;
}
