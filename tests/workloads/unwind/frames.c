/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames has stacks of each shape that compiled code gives them, in each of its builds (mk/tests.mk). Above the
 * leaf is a chain of functions with different frames; the order of their calls, and where they use CPU time,
 * is known here and in tests/e2e/unwind.bats.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/workloads/unwind/chain.h"
#include "tests/workloads/unwind/run.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- leaves ---- */

/*
 * A function with a frame, and with a frame pointer in builds that have them: GCC makes none for a leaf that
 * needs none.
 */
SOLID static void burn(void)
{
	volatile unsigned int moment = RUN_MOMENT;

	while (!run_over)
		run_spin(moment);
}

SOLID static void call_often(void)
{
	for (unsigned int i = 0; !run_over; i++) {
		leaf_small();
		leaf_pushes();
		leaf_large();
		leaf_alloca(i % 100);
		leaf_realigned();
		leaf_drap(i % 100);
	}
}

/* Its frame is gone when the callee runs: no profile can show it. */
SOLID static void jump_to_burn(void)
{
	burn();
}

SOLID static void call_who_jumps(void)
{
	jump_to_burn();
	STAY();
}

__attribute__((noreturn)) SOLID static void burn_to_the_end(void)
{
	while (!run_over)
		run_spin(RUN_MOMENT);
	_exit(EXIT_DONE);
}

/* The last instruction of these two is a call: the return address behind it is in another function. */
SOLID static void end_with_noreturn(void)
{
	burn_to_the_end();
}

SOLID static void end_with_call(void)
{
	end_with_noreturn();
	__builtin_unreachable();
}

SOLID static void call_who_ends(void)
{
	end_with_call();
	STAY();
}

SOLID static void burn_clock(void)
{
	struct timespec now;

	while (!run_over)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

SOLID static void sleep_often(void)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	while (!run_over)
		nanosleep(&moment, NULL);
}

/* ---- signals ---- */

SOLID static void burn_in_handler(void)
{
	run_spin(RUN_LONGER);
}

SOLID static void on_timer(int number)
{
	(void)number;
	burn_in_handler();
	STAY();
}

SOLID static void burn_interrupted(void)
{
	while (!run_over)
		run_spin(RUN_MOMENT);
}

/* `flags` of sigaction(2). The timer counts CPU time, so that the program runs between two signals. */
static void handle_signals(int flags)
{
	const struct sigaction action = { .sa_handler = on_timer, .sa_flags = flags };
	const struct itimerval often = { { .tv_usec = 40000 }, { .tv_usec = 40000 } };

	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
}

SOLID static void meet_signals(void)
{
	handle_signals(0);
	burn_interrupted();
	STAY();
}

SOLID static void meet_signals_elsewhere(void)
{
	static char room[1 << 16];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };

	sigaltstack(&stack, NULL);
	handle_signals(SA_ONSTACK);
	burn_interrupted();
	STAY();
}

#if defined(__x86_64__)
/*
 * The signal interrupts the first instruction of trap(). An unwinder that looks up the byte before it, as is
 * right for a return address, finds another function, which has another frame.
 */
__asm__(".pushsection .text\n"
	".type before_trap, @function\n"
	"before_trap:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 64\n"
	"ud2\n"
	".cfi_endproc\n"
	".size before_trap, . - before_trap\n"
	".type trap, @function\n"
	"trap:\n"
	".cfi_startproc\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n"
	".size trap, . - trap\n"
	".popsection\n");
void trap(void);

#define TRAP_BYTES 2

SOLID static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	burn_in_handler();
	interrupted->uc_mcontext.gregs[REG_RIP] += TRAP_BYTES;
}

SOLID static void meet_traps(void)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGILL, &action, NULL);
	while (!run_over)
		trap();
}
#endif

#if defined(__x86_64__)
/*
 * The return address is in a register while it spins, as in glibc's vfork(), where it waits. The second one goes on with a
 * function that never returns, on a stack that ends as the ABI says (AMD64, 3.4.1): as coroutines in assembler do.
 */
__asm__(".pushsection .text\n"
	".type spin_in_register, @function\n"
	"spin_in_register:\n"
	".cfi_startproc\n"
	"popq %r9\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_register 16, 9\n"
	"movl $100000, %eax\n"
	"1: decl %eax\n"
	"jnz 1b\n"
	"pushq %r9\n"
	".cfi_def_cfa_offset 8\n"
	".cfi_offset 16, -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size spin_in_register, . - spin_in_register\n"
	".type go_on_at, @function\n"
	"go_on_at:\n"
	".cfi_startproc\n"
	"xorl %ebp, %ebp\n"
	"movq %rdi, %rsp\n"
	"pushq $0\n"
	"jmp *%rsi\n"
	".cfi_endproc\n"
	".size go_on_at, . - go_on_at\n"
	".popsection\n");
void spin_in_register(void);
__attribute__((noreturn)) void go_on_at(void *stack_ends, void (*function)(void));

SOLID static void call_in_register(void)
{
	while (!run_over)
		spin_in_register();
}
#endif

SOLID static void rest_in_child(void)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	nanosleep(&moment, NULL);
	_exit(EXIT_DONE);
}

/* The parent waits within vfork() until the child ends. */
SOLID static void fork_often(void)
{
	while (!run_over) {
		pid_t child = vfork();

		if (!child)
			rest_in_child();
		waitpid(child, NULL, 0);
	}
}

/* ---- the kinds of stacks ---- */

struct shape {
	const char *kind;
	int (*begin)(const struct shape *shape, const struct run *run); /* Returns 0 or -errno. */
	struct chain chain;
};

SOLID static int in_main(const struct shape *shape, const struct run *run)
{
	chain_descend(&shape->chain, run->depth);
	return 0;
}

struct thread {
	const struct shape *shape;
	const struct run *run;
};

SOLID static void *thread_main(void *argument)
{
	const struct thread *thread = argument;

	chain_descend(&thread->shape->chain, thread->run->depth);
	return NULL;
}

static int in_thread(const struct shape *shape, const struct run *run)
{
	struct thread thread = { shape, run };
	pthread_t id;
	int error = pthread_create(&id, NULL, thread_main, &thread);

	return -(error ? error : pthread_join(id, NULL));
}

SOLID static int in_child(const struct shape *shape, const struct run *run)
{
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		return -errno;
	if (child) {
		waitpid(child, NULL, 0); /* until a signal, which ends the child as well */
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* the parent may have died before that call */
		_exit(EXIT_FAILED);
	run_ready(run); /* the timer is not inherited */
	chain_descend(&shape->chain, run->depth);
	_exit(EXIT_DONE);
}

/* The first thread leaves, when the process is stopped and continued; the others go on. */
SOLID static void *thread_that_stays(void *argument)
{
	const struct thread *thread = argument;

	chain_descend(&thread->shape->chain, thread->run->depth);
	_exit(EXIT_DONE);
}

static int in_left_thread(const struct shape *shape, const struct run *run)
{
	static struct thread thread;
	sigset_t mask;
	pthread_t id;
	int error;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &mask, NULL); /* for this thread alone to wait for */
	thread = (struct thread){ shape, run };
	error = pthread_create(&id, NULL, thread_that_stays, &thread);
	if (error)
		return -error;
	if (strcmp(shape->kind, "left") != 0)
		sigwaitinfo(&mask, NULL);
	pthread_exit(NULL);
}

/* Moves a copy of its own code, from page `from` on, to where the code was, as programs do that want huge pages for it. */
SOLID static int in_moved_text(const struct shape *shape, const struct run *run)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = strcmp(shape->kind, "moved") ? page : 0, bytes;
	uintptr_t own = (uintptr_t)in_moved_text, begins = 0, ends = 0;
	_cleanup_file_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	char *code, *copy;

	while (maps && own >= ends && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begins, &ends) != 2)
			return -EBADMSG;
	if (!begins)
		return -ESRCH;
	code = (char *)(begins + from); /* NOLINT(performance-no-int-to-ptr) */
	bytes = ends - begins - from;
	copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, code, bytes);
	if (mprotect(copy, bytes, PROT_READ | PROT_EXEC) ||
	    mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, code) == MAP_FAILED)
		return -errno;
	return in_main(shape, run);
}

#define STACK_BYTES (1 << 16)

static struct thread made; /* of a stack that is not the thread's own */

SOLID static void on_made_stack(void)
{
	chain_descend(&made.shape->chain, made.run->depth);
	_exit(EXIT_DONE);
}

static int in_coroutine(const struct shape *shape, const struct run *run)
{
	static char room[STACK_BYTES];
	static ucontext_t here, there;

	made = (struct thread){ shape, run };
	getcontext(&there);
	there.uc_stack.ss_sp = room;
	there.uc_stack.ss_size = sizeof(room);
	there.uc_link = &here;
	makecontext(&there, on_made_stack, 0);
	swapcontext(&here, &there);
	return 0;
}

#if defined(__x86_64__)
static int in_made_stack(const struct shape *shape, const struct run *run)
{
	static char room[STACK_BYTES] __attribute__((aligned(16)));

	made = (struct thread){ shape, run };
	go_on_at(room + sizeof(room), on_made_stack);
}
#endif

#define PLAIN { level_small, level_pushes, level_large }, 3
#define BY_FRAME_POINTER { level_alloca, level_pushes, level_realigned, level_drap }, 4

static const struct shape shapes[] = {
	{ "plain", in_main, { PLAIN, burn } },
	{ "by-frame-pointer", in_main, { BY_FRAME_POINTER, burn } },
	{ "often", in_main, { BY_FRAME_POINTER, call_often } },
	{ "thread", in_thread, { PLAIN, burn } },
	{ "forked", in_child, { PLAIN, burn } },
	{ "jump", in_main, { PLAIN, call_who_jumps } },
	{ "end", in_main, { PLAIN, call_who_ends } },
	{ "clock", in_main, { PLAIN, burn_clock } },
	{ "sleep", in_main, { PLAIN, sleep_often } },
	{ "signal", in_main, { PLAIN, meet_signals } },
	{ "signal-stack", in_main, { PLAIN, meet_signals_elsewhere } },
	{ "vfork", in_main, { BY_FRAME_POINTER, fork_often } },
	{ "left", in_left_thread, { PLAIN, burn } },
	{ "leaves", in_left_thread, { PLAIN, burn } },
	{ "moved", in_moved_text, { PLAIN, burn } },
	{ "moved-in-part", in_moved_text, { PLAIN, burn } },
	{ "coroutine", in_coroutine, { PLAIN, burn } },
#if defined(__x86_64__)
	{ "trap", in_main, { BY_FRAME_POINTER, meet_traps } },
	{ "register", in_main, { PLAIN, call_in_register } },
	{ "made-stack", in_made_stack, { PLAIN, burn } },
#endif
};

int main(int argc, char **argv)
{
	const char *kinds[ARRAY_SIZE(shapes) + 1] = { NULL };
	const struct shape *shape = shapes;
	struct run run;
	int parsed, error;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		kinds[i] = shapes[i].kind;
	parsed = run_begin("unwind_*", kinds, argc, argv, &run);
	if (parsed != OPTIONS_RUN)
		return parsed;
	while (strcmp(shape->kind, run.kind) != 0)
		shape++;
	if (shape->begin != in_child) /* there the child says so, once there is one */
		run_ready(&run);
	error = shape->begin(shape, &run);
	if (error)
		log_error("cannot burn CPU time in a stack of kind %s: %s", run.kind, strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}
