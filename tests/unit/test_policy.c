/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows what policy.conf means, how its mistakes are reported, and which files are refused. */
#include "common/base/cleanup.h"
#include "common/policy/policy.h"
#include "loader/policy_file.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct policy parse(const char *text)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct policy policy;
	int result = policy_parse("p", text, strlen(text), &policy, &errors);

	ck_assert_msg(!result, "%s", errors.count ? errors.messages[0] : "no message");
	return policy;
}

START_TEST(an_empty_file_denies_nobody)
{
	char text[POLICY_TEXT_BYTES];
	struct policy policy = parse("");

	ck_assert_mem_eq(&policy, &policy_default, sizeof(policy));
	policy_describe(&policy, text);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(policy.max_rate, 5000);
}
END_TEST

/* Rules on uids include processes that may hold what their own uids do not show, unless the file says no. */
START_TEST(undumpable_processes_are_denied_with_rules_on_uids)
{
	ck_assert_uint_eq(parse("").deny_undumpable, 0);
	ck_assert_uint_eq(parse("[policy]\ndeny_comms = sshd\n").deny_undumpable, 0);
	ck_assert_uint_eq(parse("[policy]\ndeny_uids = 0\n").deny_undumpable, 1);
	ck_assert_uint_eq(parse("[policy]\nallow_uids = 0\n").deny_undumpable, 1);
	ck_assert_uint_eq(parse("[policy]\ndeny_undumpable = no\ndeny_uids = 0\n").deny_undumpable, 0);
	ck_assert_uint_eq(parse("[policy]\ndeny_undumpable = yes\n").deny_undumpable, 1);
}
END_TEST

START_TEST(each_key_limits)
{
	struct policy policy = parse("[policy]\n"
				     "allow_uids = 1000-1999\n"
				     "deny_uids = 0 , 1003\n"
				     "deny_uids = 4294967294\n"
				     "deny_comms = sshd, gpg*\n"
				     "kernel_stacks = no\n"
				     "unwinding = frame-pointer\n"
				     "max_rate = 97\n");

	ck_assert_uint_eq(policy.allowed_count, 1);
	ck_assert_uint_eq(policy.allowed[0].first, 1000);
	ck_assert_uint_eq(policy.allowed[0].last, 1999);
	ck_assert_uint_eq(policy.denied_count, 3);
	ck_assert_uint_eq(policy.denied[0].last, 0);
	ck_assert_uint_eq(policy.denied[1].first, 1003);
	ck_assert_uint_eq(policy.denied[1].last, 1003);
	ck_assert_uint_eq(policy.denied[2].first, 4294967294U);
	ck_assert_uint_eq(policy.comms_count, 2);
	ck_assert_uint_eq(policy.kernel_stacks, 0);
	ck_assert_uint_eq(policy.unwinding, POLICY_UNWIND_FRAME_POINTER);
	ck_assert_uint_eq(policy.max_rate, 97);
}
END_TEST

/* As bpf/policy.h compares. */
static bool is_denied(const struct policy *policy, const char *name)
{
	char comm[ABI_COMM_BYTES] = "";
	__u64 words[2];

	snprintf(comm, sizeof(comm), "%s", name);
	memcpy(words, comm, sizeof(words));
	for (__u32 i = 0; i < policy->comms_count; i++)
		if ((words[0] & policy->comms[i].mask[0]) == policy->comms[i].bits[0] &&
		    (words[1] & policy->comms[i].mask[1]) == policy->comms[i].bits[1])
			return true;
	return false;
}

START_TEST(a_comm_is_exact_or_a_prefix)
{
	struct policy policy = parse("[policy]\ndeny_comms = sshd, gpg*, exactly-fifteen, fourteen-bytes*\n");

	ck_assert(is_denied(&policy, "sshd"));
	ck_assert(!is_denied(&policy, "sshd2"));
	ck_assert(!is_denied(&policy, "ssh"));
	ck_assert(is_denied(&policy, "gpg"));
	ck_assert(is_denied(&policy, "gpg-agent"));
	ck_assert(!is_denied(&policy, "gp"));
	ck_assert(is_denied(&policy, "exactly-fifteen"));
	ck_assert(!is_denied(&policy, "exactly-fiftee"));
	ck_assert(is_denied(&policy, "fourteen-bytesX"));
	ck_assert(!is_denied(&policy, ""));
	policy = parse("[policy]\ndeny_comms = *\n");
	ck_assert(is_denied(&policy, "anything"));
	ck_assert(is_denied(&policy, ""));
}
END_TEST

START_TEST(the_description_parses_to_the_same_policy)
{
	static const char whole[] =
		"allow_uids = 7, 1000-1999; deny_uids = 0; deny_comms = sshd, gpg*, *; "
		"deny_undumpable = no; latency_labels = no; kernel_stacks = no; unwinding = none; max_rate = 1";
	char text[POLICY_TEXT_BYTES], lines[POLICY_TEXT_BYTES + 16];
	struct policy policy, again;

	policy = parse("[policy]\nmax_rate=1\nunwinding=none\nkernel_stacks=no\nallow_uids=7,1000-1999\n"
		       "deny_uids=0\ndeny_comms=sshd,gpg*,*\ndeny_undumpable=no\nlatency_labels=no\n");
	policy_describe(&policy, text);
	ck_assert_str_eq(text, whole);
	for (char *at = text; (at = strstr(at, "; ")); at += 2)
		at[0] = '\n';
	snprintf(lines, sizeof(lines), "[policy]\n%s\n", text);
	again = parse(lines);
	ck_assert_mem_eq(&policy, &again, sizeof(policy));
}
END_TEST

/* Each list has its largest size. */
START_TEST(the_longest_description_fits)
{
	struct policy policy = { .allowed_count = POLICY_UIDS_MAX,
				 .denied_count = POLICY_UIDS_MAX,
				 .comms_count = POLICY_COMMS_MAX,
				 .deny_undumpable = 1,
				 .unwinding = POLICY_UNWIND_FRAME_POINTER,
				 .max_rate = POLICY_RATE_MAX - 1 };
	char text[POLICY_TEXT_BYTES];

	for (__u32 i = 0; i < POLICY_UIDS_MAX; i++)
		policy.allowed[i] = policy.denied[i] = (struct policy_uids){ 4000000000U, 4294967294U };
	for (__u32 i = 0; i < POLICY_COMMS_MAX; i++) {
		memset(policy.comms[i].bits, 'c', ABI_COMM_BYTES - 1);
		memset(policy.comms[i].mask, 0xff, ABI_COMM_BYTES - 1);
	}
	policy_describe(&policy, text);
	ck_assert(strstr(text, "; max_rate = 19999"));
}
END_TEST

static const struct {
	const char *text, *message;
} mistakes[] = {
	{ "deny_uids = 0\n", "p:1: 'deny_uids' comes before '[policy]'" },
	{ "[other]\n", "p:1: unknown section '[other]'" },
	{ "[policy]\ncolour = red\n", "p:2: unknown key 'colour'" },
	{ "[policy]\ndeny_uids = root\n", "p:2: deny_uids: 'root' is neither a uid" },
	{ "[policy]\ndeny_uids = 4294967295\n", "p:2: deny_uids: '4294967295' is neither a uid" },
	{ "[policy]\nallow_uids = 5-4\n", "p:2: allow_uids: '5-4' is neither a uid" },
	{ "[policy]\nallow_uids = -5\n", "p:2: allow_uids: '-5' is neither a uid" },
	{ "[policy]\nallow_uids = 5-\n", "p:2: allow_uids: '5-' is neither a uid" },
	{ "[policy]\nallow_uids = 1-2-3\n", "p:2: allow_uids: '1-2-3' is neither a uid" },
	{ "[policy]\nallow_uids = 000000000000000000000000000000001\n", "p:2: allow_uids: '0000" },
	{ "[policy]\nallow_uids =\n", "p:2: allow_uids: empty item in the list" },
	{ "[policy]\nallow_uids = 1,,2\n", "p:2: allow_uids: empty item in the list" },
	{ "[policy]\nallow_uids = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n",
	  "p:2: allow_uids: more than 16 ranges" },
	{ "[policy]\ndeny_comms = a-comm-that-is-too-long\n",
	  "p:2: deny_comms: 'a-comm-that-is-too-long': " },
	{ "[policy]\ndeny_comms = a*b\n",
	  "p:2: deny_comms: 'a*b': '*' is allowed only at the end of a comm" },
	{ "[policy]\nkernel_stacks = maybe\n", "p:2: kernel_stacks = maybe: expected yes or no" },
	{ "[policy]\ndeny_undumpable = 1\n", "p:2: deny_undumpable = 1: expected yes or no" },
	{ "[policy]\ndeny_undumpable = no\ndeny_undumpable = no\n", "p:3: deny_undumpable is given twice" },
	{ "[policy]\nkernel_stacks = no\nkernel_stacks = yes\n", "p:3: kernel_stacks is given twice" },
	{ "[policy]\nunwinding = orc\n", "p:2: unwinding = orc: expected none, frame-pointer or dwarf" },
	{ "[policy]\nunwinding = none\n[policy]\nunwinding = none\n", "p:4: unwinding is given twice" },
	{ "[policy]\nmax_rate = 0\n", "p:2: max_rate = 0: expected 1 to 20000 samples" },
	{ "[policy]\nmax_rate = 20001\n", "p:2: max_rate = 20001: expected 1 to 20000 samples" },
};

START_TEST(mistakes_are_named_with_their_line)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct policy policy;

	ck_assert_int_eq(policy_parse("p", mistakes[_i].text, strlen(mistakes[_i].text), &policy, &errors),
			 -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	ck_assert_msg(!strncmp(errors.messages[0], mistakes[_i].message, strlen(mistakes[_i].message)), "%s",
		      errors.messages[0]);
}
END_TEST

/* ---- the file ---- */

struct file {
	char directory[64], path[128];
};

static struct file make_file(mode_t mode)
{
	static const char text[] = "[policy]\nmax_rate = 9\n";
	struct file file = { .directory = "/tmp/bdtest-policy-XXXXXX" };
	int fd;

	HOLDS(mkdtemp(file.directory));
	snprintf(file.path, sizeof(file.path), "%s/policy.conf", file.directory);
	fd = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	HOLDS(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !fchmod(fd, mode));
	close(fd);
	return file;
}

static void remove_file(const struct file *file)
{
	unlink(file->path);
	rmdir(file->path);
	rmdir(file->directory);
}

static void expect_refused(const struct file *file, const char *message)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct policy policy;

	ck_assert_int_eq(policy_file_read(file->path, true, &policy, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	ck_assert_msg(strstr(errors.messages[0], message), "%s", errors.messages[0]);
	ck_assert(strstr(errors.messages[0], file->path));
}

START_TEST(a_file_of_root_is_read)
{
	SKIP_IF(no_root());
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct file file = make_file(0644);
	struct policy policy;

	ck_assert_int_eq(policy_file_read(file.path, true, &policy, &errors), 0);
	ck_assert_uint_eq(policy.max_rate, 9);
	remove_file(&file);
}
END_TEST

START_TEST(a_file_of_another_user_is_refused)
{
	SKIP_IF(no_root());
	struct file file = make_file(0644);

	HOLDS(!chown(file.path, 65534, 0));
	expect_refused(&file, "must belong to root");
	remove_file(&file);
}
END_TEST

START_TEST(a_file_that_others_may_write_is_refused)
{
	static const mode_t modes[] = { 0664, 0646, 0622 };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct file file = make_file(modes[i]);

		expect_refused(&file, "nobody else may write");
		remove_file(&file);
	}
}
END_TEST

START_TEST(a_file_in_a_directory_that_others_may_write_is_refused)
{
	SKIP_IF(no_root());
	struct file file = make_file(0644);

	HOLDS(!chmod(file.directory, 0777));
	expect_refused(&file, "its directory must belong to root");
	HOLDS(!chmod(file.directory, 0755) && !chown(file.directory, 65534, 0));
	expect_refused(&file, "its directory must belong to root");
	remove_file(&file);
}
END_TEST

START_TEST(other_kinds_of_files_are_refused)
{
	struct file file = make_file(0644);

	HOLDS(!unlink(file.path) && !mkfifo(file.path, 0644));
	expect_refused(&file, "not a regular file");
	HOLDS(!unlink(file.path) && !mkdir(file.path, 0755));
	expect_refused(&file, "not a regular file");
	remove_file(&file);
}
END_TEST

START_TEST(a_missing_file_limits_nothing_unless_it_was_named)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct file file = make_file(0644);
	struct policy policy;

	HOLDS(!unlink(file.path));
	ck_assert_int_eq(policy_file_read(file.path, false, &policy, &errors), 0);
	ck_assert_mem_eq(&policy, &policy_default, sizeof(policy));
	expect_refused(&file, "No such file");
	remove_file(&file);
}
END_TEST

SUITE(policy)
{
	Suite *suite = suite_create("policy");
	TCase *text = tcase_create("text"), *file = tcase_create("file");

	tcase_add_test(text, an_empty_file_denies_nobody);
	tcase_add_test(text, undumpable_processes_are_denied_with_rules_on_uids);
	tcase_add_test(text, each_key_limits);
	tcase_add_test(text, a_comm_is_exact_or_a_prefix);
	tcase_add_test(text, the_description_parses_to_the_same_policy);
	tcase_add_test(text, the_longest_description_fits);
	tcase_add_loop_test(text, mistakes_are_named_with_their_line, 0, (int)ARRAY_SIZE(mistakes));
	suite_add_tcase(suite, text);
	tcase_add_test(file, a_file_of_root_is_read);
	tcase_add_test(file, a_file_of_another_user_is_refused);
	tcase_add_test(file, a_file_that_others_may_write_is_refused);
	tcase_add_test(file, a_file_in_a_directory_that_others_may_write_is_refused);
	tcase_add_test(file, other_kinds_of_files_are_refused);
	tcase_add_test(file, a_missing_file_limits_nothing_unless_it_was_named);
	suite_add_tcase(suite, file);
	return suite;
}
