/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject_call makes a running thread do one system call, as an attacker who has taken it over could, and
 * prints the result. The tests use it to see how the real processes are confined.
 *
 *	inject_call [--child] TID CALL [ARGUMENT...]
 *
 * With --child, the next child of the process TID makes the call, once it has confined itself by seccomp(2).
 *
 * CALL is a name that libseccomp knows, or a number. An ARGUMENT is a decimal or 0x number, "str:TEXT" for
 * the address of that text, "zero:BYTES" for the address of so many zero bytes, or "words:A,B,..." for the
 * address of 32-bit numbers. They are put below the stack of the thread. Prints "result N", "errno NAME" or
 * "killed SIGNAL".
 *
 * The call is made by a `syscall` instruction that the process already has in its executable mappings, so that
 * only registers and unused stack are changed. A thread within a system call leaves it, and begins it again.
 */
#define _GNU_SOURCE 1

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the registers of system calls are those of x86-64"
#endif

#define ARGUMENTS_MAX 6
/*
 * An area below the used part of the stack, because the kernel does not grow the stack for another process.
 */
#define RED_ZONE_BYTES 256U
#define DATA_BYTES_MAX 512U
#define SYSCALL_TRAP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */
#define SYSCALL_INSTRUCTION 0x050fU   /* 0f 05, little-endian */

struct call {
	long number;
	uint64_t arguments[ARGUMENTS_MAX];
	bool points[ARGUMENTS_MAX]; /* an offset into the data */
	unsigned char data[DATA_BYTES_MAX];
	size_t data_bytes;
};

/* ---- the command line ---- */

static bool add_data(struct call *call, int position, const void *bytes, size_t count)
{
	if (count > sizeof(call->data) - call->data_bytes)
		return false;
	call->points[position] = true;
	call->arguments[position] = call->data_bytes;
	if (bytes)
		memcpy(call->data + call->data_bytes, bytes, count);
	call->data_bytes += (count + 7) / 8 * 8;
	return true;
}

static bool add_words(struct call *call, int position, char *text)
{
	uint32_t words[32];
	size_t count = 0;
	char *word;

	while ((word = strsep(&text, ",")) && count < ARRAY_SIZE(words))
		words[count++] = (uint32_t)strtoll(word, NULL, 0);
	return add_data(call, position, words, count * sizeof(words[0]));
}

static bool parse_argument(struct call *call, int position, char *text)
{
	char *end;

	if (!strncmp(text, "str:", 4))
		return add_data(call, position, text + 4, strlen(text + 4) + 1);
	if (!strncmp(text, "zero:", 5))
		return add_data(call, position, NULL, strtoul(text + 5, NULL, 0));
	if (!strncmp(text, "words:", 6))
		return add_words(call, position, text + 6);
	call->arguments[position] = (uint64_t)strtoll(text, &end, 0);
	return *text && !*end;
}

static bool parse_call(struct call *call, int count, char **words)
{
	char *end;

	call->number = strtol(words[0], &end, 0);
	if (*end)
		call->number = seccomp_syscall_resolve_name(words[0]);
	if (call->number < 0 || count - 1 > ARGUMENTS_MAX)
		return false;
	for (int i = 1; i < count; i++)
		if (!parse_argument(call, i - 1, words[i]))
			return false;
	return true;
}

/* ---- the thread ---- */

static void *pointer_to(uint64_t address)
{
	void *pointer;

	memcpy(&pointer, &address, sizeof(pointer));
	return pointer;
}

/* The address of a `syscall` instruction in the process; 0: none. */
static uint64_t find_instruction(pid_t tid)
{
	unsigned char text[65536] = { 0 };
	_cleanup_file_ FILE *maps = NULL;
	uint64_t begins, ends;
	char path[64], uses[8], line[512];

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begins, &ends, uses) != 3 || uses[2] != 'x')
			continue;
		for (uint64_t at = begins; at < ends; at += sizeof(text) - 1) {
			size_t bytes = ends - at < sizeof(text) ? ends - at : sizeof(text);
			struct iovec here = { text, bytes }, there = { pointer_to(at), bytes };
			ssize_t got = process_vm_readv(tid, &here, 1, &there, 1, 0);

			for (ssize_t i = 0; i + 1 < got; i++)
				if (text[i] == 0x0f && text[i + 1] == 0x05)
					return at + (uint64_t)i;
		}
	}
	return 0;
}

static int await_stop(pid_t tid, int *ret_status)
{
	return waitpid(tid, ret_status, __WALL) == tid ? 0 : -errno;
}

static bool get_registers(pid_t tid, struct user_regs_struct *registers)
{
	struct iovec all = { registers, sizeof(*registers) };

	return !ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &all);
}

static bool set_registers(pid_t tid, const struct user_regs_struct *registers)
{
	struct iovec all = { (void *)registers, sizeof(*registers) };

	return !ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &all);
}

static bool put_data(pid_t tid, const struct call *call, uint64_t at)
{
	struct iovec here = { (void *)call->data, call->data_bytes },
		     there = { pointer_to(at), call->data_bytes };

	return !call->data_bytes ||
	       process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)call->data_bytes;
}

static void prepare(struct user_regs_struct *registers, const struct call *call, uint64_t instruction,
		    uint64_t data)
{
	uint64_t arguments[ARGUMENTS_MAX];

	for (int i = 0; i < ARGUMENTS_MAX; i++)
		arguments[i] = call->arguments[i] + (call->points[i] ? data : 0);
	registers->rip = instruction;
	registers->rax = (uint64_t)call->number;
	registers->orig_rax = (uint64_t)-1; /* no call is restarted */
	registers->rdi = arguments[0];
	registers->rsi = arguments[1];
	registers->rdx = arguments[2];
	registers->r10 = arguments[3];
	registers->r8 = arguments[4];
	registers->r9 = arguments[5];
}

/*
 * PTRACE_SYSCALL: continues until the thread enters or leaves a system call, or ends. PTRACE_SINGLESTEP: for one
 * instruction.
 */
static int step(pid_t tid, enum __ptrace_request until, int *ret_status)
{
	long signal = 0;

	for (;;) {
		int result;

		if (ptrace(until, tid, 0, signal))
			return -errno;
		result = await_stop(tid, ret_status);
		if (result < 0 || !WIFSTOPPED(*ret_status))
			return result;
		signal = *ret_status >> 16 ? 0 : WSTOPSIG(*ret_status);
		if (signal == SYSCALL_TRAP || signal == SIGTRAP)
			return 0;
	}
}

/*
 * A thread that is killed for the call first leaves it, with the call's number as the result; so it is let run until it is
 * in user mode again, or where it would enter a system call, to that call: it may wait there. Not further, because its
 * next call may be the one that ends it.
 */
static int leave_call(pid_t tid, const struct user_regs_struct *registers, int *ret_status)
{
	unsigned short next = 0;
	struct iovec here = { &next, sizeof(next) }, there = { pointer_to(registers->rip), sizeof(next) };

	if (process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof(next))
		return -errno;
	return step(tid, next == SYSCALL_INSTRUCTION ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, ret_status);
}

static int report_end(int status)
{
	if (!WIFSIGNALED(status)) {
		printf("ended, status %d\n", WEXITSTATUS(status));
		return EXIT_FAILED;
	}
	printf("killed SIG%s\n", sigabbrev_np(WTERMSIG(status)));
	return EXIT_DONE;
}

/*
 * The interrupted call begins again. The kernel does that at the end of a signal for these results, which no
 * program ever sees (include/linux/errno.h); here the thread leaves another call.
 */
static void begin_anew(struct user_regs_struct *registers)
{
	static const long restarts[] = { -512, -513, -514, -516 };

	if ((long)registers->orig_rax < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++)
		if ((long)registers->rax == restarts[i]) {
			registers->rax = registers->orig_rax;
			registers->rip -= 2;
			return;
		}
}

/* Between the two stops the thread is in the kernel. Restores its registers if it is alive. */
static int run(pid_t tid, const struct call *call, uint64_t instruction)
{
	struct user_regs_struct before, registers;
	uint64_t data;
	long result;
	int status = 0;

	if (!get_registers(tid, &before))
		return -errno;
	registers = before;
	data = (before.rsp - RED_ZONE_BYTES - sizeof(call->data)) & ~15UL;
	if (!put_data(tid, call, data))
		return -errno;
	prepare(&registers, call, instruction, data);
	if (!set_registers(tid, &registers))
		return -errno;
	begin_anew(&before);
	for (int stops = 0; stops < 2; stops++) {
		if (step(tid, PTRACE_SYSCALL, &status) < 0)
			return -errno;
		if (!WIFSTOPPED(status))
			return report_end(status);
	}
	if (!get_registers(tid, &registers) || !set_registers(tid, &before))
		return -errno;
	if (leave_call(tid, &before, &status) < 0)
		return -errno;
	if (!WIFSTOPPED(status))
		return report_end(status);
	result = (long)registers.rax;
	if (result < 0 && result > -4096)
		printf("errno %s\n", strerrorname_np((int)-result) ? strerrorname_np((int)-result) : "?");
	else
		printf("result %ld\n", result);
	return 0;
}

/* Returns the thread, stopped, or a negative error. */
static pid_t catch_thread(pid_t tid)
{
	int status, result;

	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) || ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return -errno;
	result = await_stop(tid, &status);
	return result < 0 ? result : tid;
}

/* ---- the next child ---- */

/* The kernel attaches the child before its first instruction. Returns the child, or a negative error. */
static pid_t await_fork(pid_t parent)
{
	unsigned long child;
	int status, result;

	if (ptrace(PTRACE_SEIZE, parent, 0,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE))
		return -errno;
	for (;;) {
		result = await_stop(parent, &status);
		if (result < 0 || !WIFSTOPPED(status))
			return result < 0 ? result : -ESRCH;
		if (status >> 16 && status >> 16 != PTRACE_EVENT_STOP)
			break;
		if (ptrace(PTRACE_CONT, parent, 0, status >> 16 ? 0L : (long)WSTOPSIG(status)))
			return -errno;
	}
	if (ptrace(PTRACE_GETEVENTMSG, parent, 0, &child) || ptrace(PTRACE_DETACH, parent, 0, 0))
		return -errno;
	return (pid_t)child;
}

/* Returns the next child, stopped at the end of a seccomp(2) call that succeeded, or a negative error. */
static pid_t catch_child(pid_t parent)
{
	struct __ptrace_syscall_info info = { 0 };
	pid_t child = await_fork(parent);
	bool confines = false;
	int status, result = child < 0 ? child : await_stop(child, &status);

	while (result >= 0) {
		if (!WIFSTOPPED(status))
			return -ESRCH;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) < 0)
			return -errno;
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			confines = info.entry.nr == SYS_seccomp;
		else if (info.op == PTRACE_SYSCALL_INFO_EXIT && confines && info.exit.rval >= 0)
			return child;
		result = step(child, PTRACE_SYSCALL, &status);
	}
	return result;
}

static int inject(pid_t tid, const struct call *call)
{
	uint64_t instruction = find_instruction(tid);
	int result = instruction ? run(tid, call, instruction) : -ENOEXEC;

	ptrace(PTRACE_DETACH, tid, 0, 0);
	return result;
}

int main(int count, char **words)
{
	const struct command_spec command = {
		"inject_call",
		"[--child] TID CALL [ARGUMENT...]",
		"Makes a running thread do one system call, and says what came of it.",
		"inject_call 4711 openat -100 str:/etc/passwd 0",
		NULL,
		0
	};
	struct call call = { 0 };
	unsigned long long tid;
	bool child = count > 1 && !strcmp(words[1], "--child");
	pid_t caught;
	int status;

	log_init(command.program);
	count -= child;
	words += child;
	if (count < 3 || options_number(words[1], 2, INT32_MAX, &tid) ||
	    !parse_call(&call, count - 2, words + 2)) {
		log_error("usage: %s %s", command.program, command.usage);
		return EXIT_USAGE;
	}
	caught = child ? catch_child((pid_t)tid) : catch_thread((pid_t)tid);
	status = caught < 0 ? caught : inject(caught, &call);
	if (status < 0)
		log_error("thread %llu: %s", tid, strerror(-status));
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}
