/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compile_seccomp compiles a system-call policy, which people can review, into the filter that the kernel
 * runs. It runs at build time: the daemons contain the finished instructions and do not link libseccomp.
 *
 * A line has one statement: words separated by blanks; # begins a comment.
 *
 *	group WORD...			why the calls below are needed; must come before the first call
 *	allow NAME...			allowed with any arguments
 *	allow NAME if CONDITION [and CONDITION]...
 *					several lines for one call are alternatives
 *	errno ENOSYS NAME...		fails with that error instead of killing; with "if" as above
 *	on ARCHITECTURE allow ...	as above, on that architecture alone: x86_64 or aarch64
 *
 *	CONDITION			argN == CONST, argN != CONST, argN & CONST == CONST; N is 0 to 5
 *	CONST				a decimal or 0x number, a name from constants[], or several joined by |
 *
 * A call that is not listed kills the process. NAME? is left out if the architecture does not have it. All 64
 * bits of an argument are compared. An int argument with garbage in its upper half therefore fails ==, which
 * errs on the side of killing. It passes !=, so use != only for arguments that the kernel reads in full.
 *
 * --arch makes the filter of another architecture, for the tests.
 */
#define _GNU_SOURCE 1 /* memfd_create() */

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MOST 128U
#define CONDITIONS_MOST 6U /* one for each argument */
#define CALLS_MOST 1023    /* more than any architecture has */
#define FILTER_OPTIMIZE 2U /* binary tree over call numbers; libseccomp 2.5 or newer */

/* clang-format off */
static const struct constant {
	const char *name;
	uint64_t value;
} constants[] = {
#define CONSTANT(name) { #name, (uint64_t)(name) }
	CONSTANT(EACCES), CONSTANT(ENOENT), CONSTANT(ENOSYS), CONSTANT(ENOTTY), CONSTANT(EPERM),
	CONSTANT(ESPIPE), CONSTANT(STDERR_FILENO),
	CONSTANT(AF_UNIX), CONSTANT(SOCK_CLOEXEC), CONSTANT(SOCK_DGRAM), CONSTANT(SOCK_NONBLOCK),
	CONSTANT(SOL_SOCKET), CONSTANT(SO_PEERCRED), CONSTANT(SO_PEERGROUPS),
	CONSTANT(SOCK_SEQPACKET), CONSTANT(SOCK_STREAM),
	CONSTANT(PROT_EXEC), CONSTANT(PROT_READ), CONSTANT(PROT_WRITE),
	CONSTANT(BPF_BTF_GET_FD_BY_ID), CONSTANT(BPF_BTF_GET_NEXT_ID), CONSTANT(BPF_BTF_LOAD),
	CONSTANT(BPF_ITER_CREATE), CONSTANT(BPF_LINK_CREATE), CONSTANT(BPF_MAP_CREATE),
	CONSTANT(BPF_MAP_DELETE_ELEM), CONSTANT(BPF_MAP_FREEZE),
	CONSTANT(BPF_MAP_GET_NEXT_KEY),
	CONSTANT(BPF_MAP_LOOKUP_AND_DELETE_BATCH), CONSTANT(BPF_MAP_LOOKUP_BATCH), CONSTANT(BPF_MAP_LOOKUP_ELEM), CONSTANT(BPF_MAP_UPDATE_BATCH),
	CONSTANT(BPF_MAP_UPDATE_ELEM), CONSTANT(BPF_OBJ_GET), CONSTANT(BPF_OBJ_GET_INFO_BY_FD),
	CONSTANT(BPF_OBJ_PIN), CONSTANT(BPF_PROG_BIND_MAP), CONSTANT(BPF_PROG_LOAD),
	CONSTANT(BPF_RAW_TRACEPOINT_OPEN),
	{ "BPF_TOKEN_CREATE", 36 }, /* Linux 6.9: not in the headers of Debian 12 */
	CONSTANT(PERF_EVENT_IOC_DISABLE), CONSTANT(PERF_EVENT_IOC_ENABLE), CONSTANT(PERF_EVENT_IOC_SET_BPF),
	CONSTANT(TCGETS), CONSTANT(LOCK_EX), CONSTANT(LOCK_NB), CONSTANT(SIGKILL),
	CONSTANT(F_DUPFD_CLOEXEC), CONSTANT(F_GETFD), CONSTANT(F_GETFL), CONSTANT(F_GETLK), CONSTANT(F_SETFD),
	CONSTANT(F_SETFL), CONSTANT(F_SETLK), CONSTANT(MFD_CLOEXEC), CONSTANT(S_ISGID), CONSTANT(S_ISUID),
	CONSTANT(O_CLOEXEC), CONSTANT(O_CREAT), CONSTANT(O_DIRECTORY), CONSTANT(O_NOCTTY), CONSTANT(O_NOFOLLOW), CONSTANT(O_NONBLOCK), CONSTANT(O_PATH),
	CONSTANT(O_RDONLY), CONSTANT(O_RDWR), CONSTANT(AT_EMPTY_PATH), CONSTANT(STATX_MNT_ID),
	{ "MFD_NOEXEC_SEAL", 8 }, /* Linux 6.3: not in the headers of Debian 12 */
	CONSTANT(MNT_DETACH), CONSTANT(MS_NODEV), CONSTANT(MS_NOEXEC), CONSTANT(MS_NOSUID),
	{ "__O_TMPFILE", 020000000 }, /* asm-generic/fcntl.h: libc's has O_DIRECTORY, too */
	CONSTANT(CLOCK_PROCESS_CPUTIME_ID), CONSTANT(CLONE_CHILD_CLEARTID), CONSTANT(CLONE_CHILD_SETTID),
	CONSTANT(PRIO_PROCESS), CONSTANT(SIG_BLOCK), CONSTANT(SIG_SETMASK), CONSTANT(SIGABRT), CONSTANT(SIGCHLD),
	CONSTANT(PR_CAP_AMBIENT), CONSTANT(PR_CAP_AMBIENT_IS_SET), CONSTANT(PR_CAPBSET_READ), CONSTANT(PR_GET_NO_NEW_PRIVS),
	CONSTANT(PR_GET_SECUREBITS), CONSTANT(PR_SET_NAME), CONSTANT(PR_SET_NO_NEW_PRIVS),
	CONSTANT(PR_SET_PDEATHSIG), CONSTANT(SECCOMP_SET_MODE_FILTER),
#undef CONSTANT
};
/* clang-format on */

static const struct architecture {
	const char *name;
	uint32_t token;
} architectures[] = {
	{ "x86_64", SCMP_ARCH_X86_64 },
	{ "aarch64", SCMP_ARCH_AARCH64 },
};

/* The constants that differ: arch/arm64/include/uapi/asm/fcntl.h. All others are the same on both. */
static const struct own_constant {
	uint32_t architecture;
	struct constant constant;
} own_constants[] = {
	{ SCMP_ARCH_X86_64, { "O_DIRECTORY", 0200000 } },
	{ SCMP_ARCH_X86_64, { "O_NOFOLLOW", 0400000 } },
	{ SCMP_ARCH_AARCH64, { "O_DIRECTORY", 040000 } },
	{ SCMP_ARCH_AARCH64, { "O_NOFOLLOW", 0100000 } },
};

/* One call of one line: `allow read write` makes two rules. */
struct rule {
	char *name;
	int number; /* negative: not on the policy's architecture, marked optional */
	unsigned int line;
	uint32_t action;
	unsigned int conditions_count;
	struct scmp_arg_cmp conditions[CONDITIONS_MOST];
};

struct policy {
	const char *name;
	uint32_t architecture;
	bool elsewhere;    /* the line is for another architecture */
	unsigned int line; /* line being parsed */
	unsigned int mistakes;
	bool grouped;
	struct rule *rules;
	size_t rules_count;
};

__attribute__((format(printf, 2, 3))) static void mistake(struct policy *policy, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s.seccomp:%u: ", policy->name, policy->line);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	policy->mistakes++;
}

static bool parse_number(const char *text, uint64_t *ret_value)
{
	bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)text[0]) || (hexadecimal && !isxdigit((unsigned char)text[2])))
		return false;
	errno = 0;
	*ret_value = strtoull(text, &end, hexadecimal ? 16 : 10);
	return !*end && !errno;
}

static bool find_constant(const struct policy *policy, const char *name, uint64_t *ret_value)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_constants); i++)
		if (own_constants[i].architecture == policy->architecture &&
		    !strcmp(own_constants[i].constant.name, name)) {
			*ret_value = own_constants[i].constant.value;
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (!strcmp(constants[i].name, name)) {
			*ret_value = constants[i].value;
			return true;
		}
	return false;
}

/* Parses "A|B"; modifies the word. */
static bool parse_constant(struct policy *policy, char *word, uint64_t *ret_value)
{
	uint64_t value = 0, part;
	const char *name;

	while ((name = strsep(&word, "|"))) {
		if (!parse_number(name, &part) && !find_constant(policy, name, &part)) {
			mistake(policy, "'%s' is neither a number nor a known constant", name);
			return false;
		}
		value |= part;
	}
	*ret_value = value;
	return true;
}

static bool parse_argument(struct policy *policy, const char *word, unsigned int *ret_argument)
{
	if (strncmp(word, "arg", 3) || word[3] < '0' || word[3] > '5' || word[4]) {
		mistake(policy, "a condition begins with arg0 to arg5, not with '%s'", word);
		return false;
	}
	*ret_argument = (unsigned int)(word[3] - '0');
	return true;
}

/* Parses one condition at the front of `words`. Returns the number of words used, 0 after an error. */
static size_t parse_condition(struct policy *policy, char **words, size_t count, struct scmp_arg_cmp *ret_one)
{
	struct scmp_arg_cmp one = { .op = SCMP_CMP_EQ };
	bool masked = count > 1 && !strcmp(words[1], "&");
	size_t taken = masked ? 5 : 3;

	if (count < taken) {
		mistake(policy, "a condition is 'argN == CONST', 'argN != CONST' or 'argN & MASK == CONST'");
		return 0;
	}
	if (!parse_argument(policy, words[0], &one.arg))
		return 0;
	if (masked) {
		one.op = SCMP_CMP_MASKED_EQ;
		if (!parse_constant(policy, words[2], &one.datum_a) ||
		    !parse_constant(policy, words[4], &one.datum_b))
			return 0;
		if (one.datum_b & ~one.datum_a) {
			mistake(policy, "never true: the value has bits that the mask clears");
			return 0;
		}
	} else if (!parse_constant(policy, words[2], &one.datum_a)) {
		return 0;
	}
	if (!masked && !strcmp(words[1], "!=")) {
		one.op = SCMP_CMP_NE;
	} else if (strcmp(words[taken - 2], "==")) {
		mistake(policy, "unknown operator '%s'", words[taken - 2]);
		return 0;
	}
	*ret_one = one;
	return taken;
}

static bool parse_conditions(struct policy *policy, char **words, size_t count, struct rule *rule)
{
	unsigned int compared = 0;

	for (;;) {
		struct scmp_arg_cmp one;
		size_t taken = parse_condition(policy, words, count, &one);

		if (!taken)
			return false;
		if (compared & 1U << one.arg) { /* libseccomp accepts one comparison for each argument */
			mistake(policy, "arg%u is compared twice in one rule", one.arg);
			return false;
		}
		compared |= 1U << one.arg;
		rule->conditions[rule->conditions_count++] = one;
		words += taken;
		count -= taken;
		if (!count)
			return true;
		if (strcmp(words[0], "and")) {
			mistake(policy, "expected 'and', not '%s'", words[0]);
			return false;
		}
		words++;
		count--;
	}
}

/*
 * Alternatives for a call must all have conditions, and different ones. Anything else states the call twice.
 */
static bool contradicts(const struct rule *earlier, const struct rule *rule)
{
	if (earlier->number != rule->number || rule->number < 0)
		return false;
	if (!earlier->conditions_count || !rule->conditions_count)
		return true;
	return earlier->conditions_count == rule->conditions_count &&
	       !memcmp(earlier->conditions, rule->conditions, sizeof(rule->conditions));
}

/*
 * Adds a copy of `rule` for the call named by `word`. Returns -ENOMEM or 0; errors in the policy are counted,
 * not returned.
 */
static int add_rule(struct policy *policy, const struct rule *rule, char *word)
{
	struct rule added = *rule, *grown;
	size_t length = strlen(word);
	bool optional = length > 1 && word[length - 1] == '?';

	if (optional)
		word[length - 1] = '\0';
	/* calls of other architectures have negative pseudo numbers, too */
	added.number = seccomp_syscall_resolve_name_arch(policy->architecture, word);
	added.line = policy->line;
	if (policy->elsewhere && added.number != __NR_SCMP_ERROR)
		return 0;
	if (added.number < 0 && !optional) {
		mistake(policy, "no system call '%s' on this architecture (write '%s?' to leave it out)",
			word, word);
		return 0;
	}
	for (size_t i = 0; i < policy->rules_count; i++)
		if (contradicts(&policy->rules[i], &added)) {
			mistake(policy, "'%s' is stated on line %u already", word, policy->rules[i].line);
			return 0;
		}
	grown = reallocarray(policy->rules, policy->rules_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	policy->rules = grown;
	added.name = strdup(word);
	if (!added.name)
		return -ENOMEM;
	policy->rules[policy->rules_count++] = added;
	return 0;
}

static int add_rules(struct policy *policy, const struct rule *rule, char **words, size_t count)
{
	int error = 0;

	if (!policy->grouped)
		mistake(policy, "a 'group' line with the reason must come first");
	if (!count)
		mistake(policy, "a system call's name is missing");
	for (size_t i = 0; i < count && !error; i++)
		error = add_rule(policy, rule, words[i]);
	return error;
}

/* Parses NAME... or NAME if CONDITION... */
static int parse_calls(struct policy *policy, uint32_t action, char **words, size_t count)
{
	struct rule rule = { .action = action };
	size_t names = 0;

	while (names < count && strcmp(words[names], "if"))
		names++;
	if (names < count) {
		if (names > 1) { /* the same argument of two calls is rarely the same thing */
			mistake(policy, "a condition belongs to one system call");
			return 0;
		}
		if (!parse_conditions(policy, words + names + 1, count - names - 1, &rule))
			return 0;
	}
	return add_rules(policy, &rule, words, names);
}

static int parse_errno(struct policy *policy, char **words, size_t count)
{
	uint64_t number;

	if (!count || words[0][0] != 'E' || !find_constant(policy, words[0], &number)) {
		mistake(policy,
			"'errno' takes the name of an error: ENOSYS, ENOENT, ENOTTY, ESPIPE, EPERM or EACCES");
		return 0;
	}
	return parse_calls(policy, SCMP_ACT_ERRNO((uint32_t)number), words + 1, count - 1);
}

static const struct architecture *find_architecture(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(architectures); i++)
		if (!strcmp(architectures[i].name, name))
			return &architectures[i];
	return NULL;
}

/* Parses "on ARCHITECTURE". Returns the number of words used. */
static size_t parse_architecture(struct policy *policy, char **words, size_t count)
{
	const struct architecture *only = count > 2 ? find_architecture(words[1]) : NULL;

	policy->elsewhere = false;
	if (strcmp(words[0], "on"))
		return 0;
	if (!only) {
		mistake(policy, "'on' needs x86_64 or aarch64, and then 'allow' or 'errno'");
		return count;
	}
	policy->elsewhere = only->token != policy->architecture;
	return 2;
}

/* Returns 0 or -ENOMEM; errors in the policy are counted, not returned. */
static int parse_statement(struct policy *policy, char **words, size_t count)
{
	size_t taken = parse_architecture(policy, words, count);

	words += taken;
	count -= taken;
	if (!count)
		return 0;
	if (!strcmp(words[0], "allow"))
		return parse_calls(policy, SCMP_ACT_ALLOW, words + 1, count - 1);
	if (!strcmp(words[0], "errno"))
		return parse_errno(policy, words + 1, count - 1);
	if (strcmp(words[0], "group") || taken)
		mistake(policy, "expected 'group', 'allow' or 'errno', not '%s'", words[0]);
	else if (count < 2)
		mistake(policy, "'group' needs words: the reason for the calls below it");
	else
		policy->grouped = true;
	return 0;
}

/* Returns 0 or -ENOMEM; errors in the policy are counted, not returned. */
static int parse_line(struct policy *policy, char *line)
{
	char *words[WORDS_MOST], *word;
	size_t count = 0;

	line[strcspn(line, "#\n")] = '\0';
	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (count == WORDS_MOST) {
			mistake(policy, "more than %u words on a line", WORDS_MOST);
			return 0;
		}
		words[count++] = word;
	}
	return count ? parse_statement(policy, words, count) : 0;
}

/* Returns 0, -EBADMSG if the policy has errors (already printed), or -errno. */
static int policy_parse(struct policy *policy, FILE *from)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int error = 0;

	while (!error && (length = getline(&line, &room, from)) >= 0) {
		policy->line++;
		if (memchr(line, '\0', (size_t)length))
			mistake(policy, "the line contains a NUL byte");
		else
			error = parse_line(policy, line);
	}
	if (error)
		return error;
	if (ferror(from))
		return -EIO;
	if (!policy->rules_count && !policy->mistakes)
		mistake(policy, "no system call is allowed");
	return policy->mistakes ? -EBADMSG : 0;
}

static void policy_free(struct policy *policy)
{
	for (size_t i = 0; i < policy->rules_count; i++)
		free(policy->rules[i].name);
	free(policy->rules);
}

/* Makes the filter that of the policy's architecture alone. Returns 0 or -errno. */
static int choose_architecture(const struct policy *policy, scmp_filter_ctx filter)
{
	int error;

	if (policy->architecture == seccomp_arch_native())
		return 0;
	error = seccomp_arch_add(filter, policy->architecture);
	return error ? error : seccomp_arch_remove(filter, SCMP_ARCH_NATIVE);
}

/* Passes each rule to libseccomp exactly as written. Returns 0 or -errno. */
static int policy_build(struct policy *policy, scmp_filter_ctx filter)
{
	/* the default kills one thread only, and leaves the daemon half alive */
	int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (!error)
		error = choose_architecture(policy, filter);
	if (error)
		return error;
	/* not supported before libseccomp 2.5 */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, FILTER_OPTIMIZE);
	for (size_t i = 0; i < policy->rules_count; i++) {
		const struct rule *rule = &policy->rules[i];

		if (rule->number < 0)
			continue;
		/* libseccomp takes the number of the architecture that it runs on, and translates it */
		error = seccomp_rule_add_exact_array(filter, rule->action,
						     seccomp_syscall_resolve_name(rule->name),
						     rule->conditions_count, rule->conditions);
		if (!error)
			continue;
		policy->line = rule->line;
		mistake(policy, "libseccomp refuses the rule for '%s': %s", rule->name, strerror(-error));
	}
	return policy->mistakes ? -EBADMSG : 0;
}

/* Exports the finished instructions, which the caller frees. Returns 0 or -errno. */
static int filter_export(scmp_filter_ctx filter, struct sock_filter **ret_code, size_t *ret_count)
{
	_cleanup_close_ int fd = memfd_create("filter", MFD_CLOEXEC);
	_cleanup_free_ struct sock_filter *code = NULL;
	struct stat status;
	int error;

	if (fd < 0)
		return -errno;
	error = seccomp_export_bpf(filter, fd);
	if (error)
		return error;
	if (fstat(fd, &status))
		return -errno;
	code = malloc((size_t)status.st_size);
	if (!code)
		return -ENOMEM;
	if (pread(fd, code, (size_t)status.st_size, 0) != status.st_size)
		return -EIO;
	*ret_code = TAKE_PTR(code);
	*ret_count = (size_t)status.st_size / sizeof(*code);
	return 0;
}

/* Prints the name as part of a C identifier, which has no dash. */
static void print_name(const struct policy *policy, bool upper)
{
	for (const char *at = policy->name; *at; at++)
		putchar(*at == '-' ? '_' : upper ? toupper((unsigned char)*at) : *at);
}

static int print_header(const struct policy *policy, const struct sock_filter *code, size_t count,
			const char *otherwise)
{
	printf("/* Made from %s.seccomp by compile_seccomp. */\n", policy->name);
	for (size_t i = 0; i < policy->rules_count; i++)
		if (policy->rules[i].number < 0)
			printf("/* line %u: this architecture has no %s */\n", policy->rules[i].line,
			       policy->rules[i].name);
	fputs("#ifndef BOURDON_POLICY_", stdout);
	print_name(policy, true);
	fputs("_H\n#define BOURDON_POLICY_", stdout);
	print_name(policy, true);
	fputs("_H\n\n#include \"common/confine/seccomp.h\"\n\nstatic const struct sock_filter ", stdout);
	print_name(policy, false);
	fputs("_code[] = {\n", stdout);
	for (size_t i = 0; i < count; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", code[i].code, code[i].jt, code[i].jf, code[i].k);
	fputs("};\n\nstatic const struct seccomp_policy ", stdout);
	print_name(policy, false);
	printf("_policy = { \"%s\", \"%s\", ", policy->name, otherwise);
	print_name(policy, false);
	printf("_code, %zuU };\n\n#endif\n", count);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

/* Calls that Linux has had since libseccomp 2.5 (Debian 12), of one number on all architectures. */
static const char *const newer_calls[] = {
	[450] = "set_mempolicy_home_node",
	[451] = "cachestat",
	[452] = "fchmodat2",
	[453] = "map_shadow_stack",
	[454] = "futex_wake",
	[455] = "futex_wait",
	[456] = "futex_requeue",
	[457] = "statmount",
	[458] = "listmount",
	[459] = "lsm_get_self_attr",
	[460] = "lsm_set_self_attr",
	[461] = "lsm_list_modules",
	[462] = "mseal",
	[463] = "setxattrat",
	[464] = "getxattrat",
	[465] = "listxattrat",
	[466] = "removexattrat",
	[467] = "open_tree_attr",
	[468] = "file_getattr",
	[469] = "file_setattr",
};

/* For seccomp_log.c, which names the calls that a policy lacks, and for the kernel program of `threads`. */
static int print_call_names(void)
{
	fputs("/* Made by compile_seccomp: the initialisers of an array of names, by number. */\n#define CALL_NAMES",
	      stdout);
	for (size_t number = 0; number <= CALLS_MOST; number++) {
		_cleanup_free_ char *known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
		const char *name = known                              ? known
				   : number < ARRAY_SIZE(newer_calls) ? newer_calls[number]
								      : NULL;

		if (name)
			printf(" \\\n\t[%zu] = \"%s\",", number, name);
	}
	fputs("\n", stdout);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

static int compile(struct policy *policy, FILE *from, bool log_only)
{
	_cleanup_free_ struct sock_filter *code = NULL;
	size_t count = 0;
	scmp_filter_ctx filter;
	int error = policy_parse(policy, from);

	if (error)
		return error;
	filter = seccomp_init(log_only ? SCMP_ACT_NOTIFY : SCMP_ACT_KILL_PROCESS);
	if (!filter)
		return -ENOMEM;
	error = policy_build(policy, filter);
	if (!error)
		error = filter_export(filter, &code, &count);
	seccomp_release(filter);
	return error ? error : print_header(policy, code, count, log_only ? "log" : "kill");
}

/* The name becomes part of C identifiers and of messages. */
static bool valid_name(const char *name)
{
	return islower((unsigned char)*name) && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")];
}

int main(int argc, char **argv)
{
	const char *log_only = NULL, *names = NULL, *arch = NULL;
	const struct option_spec options[] = {
		{ "arch", "NAME", "x86_64 or aarch64 (default: the one that it runs on)", &arch },
		{ "log", NULL, "allow calls that the policy does not list, after logging them", &log_only },
		{ "names", NULL, "print the names of all system calls, as C", &names },
	};
	const struct command_spec command = {
		"compile_seccomp",
		"[--arch NAME] [--log] NAME < NAME.seccomp > NAME.h",
		"Compiles a system-call policy into C: NAME_policy, of common/confine/seccomp.h.",
		"compile_seccomp bourdond < policy/bourdond.seccomp > build/policy/bourdond.h",
		options,
		ARRAY_SIZE(options)
	};
	struct policy policy = { .architecture = seccomp_arch_native() };
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (names)
		return print_call_names() ? EXIT_FAILED : EXIT_DONE;
	if (words != 1 || !valid_name(argv[1])) {
		log_error("expected one name of a-z, 0-9, _ and -: see --help");
		return EXIT_USAGE;
	}
	if (arch && !find_architecture(arch)) {
		log_error("--arch %s: expected x86_64 or aarch64", arch);
		return EXIT_USAGE;
	}
	if (arch)
		policy.architecture = find_architecture(arch)->token;
	policy.name = argv[1];
	error = compile(&policy, stdin, log_only);
	policy_free(&policy);
	if (error && error != -EBADMSG)
		log_error("cannot compile %s.seccomp: %s", argv[1], strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
