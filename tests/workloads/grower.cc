/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grower makes its memory grow by a known number of bytes, in one function that a profile must name; or has as much all the time.
 * grower HOW MIB: how is one of `ways`. It prints "ready", waits for SIGUSR1, grows, prints "grown KIB" with what the kernel says
 * that it grew by, and waits for its end.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#define FUNCTION extern "C" __attribute__((noinline, used))
/* After a call: without it, the compiler would make a jump of the last one. */
#define STAY() __asm__ volatile("" : : : "memory")

static const size_t MIB = 1 << 20;
static const size_t THREADS = 4;

/* ---- many small pieces ---- */

struct node {
	struct node *next;
	char text[1000];
};

FUNCTION void *node_new(struct node *next)
{
	struct node *node = static_cast<struct node *>(malloc(sizeof(*node)));

	memset(node, 1, sizeof(*node));
	node->next = next;
	STAY();
	return node;
}

static void grow_list(size_t bytes)
{
	struct node *list = nullptr;

	for (size_t at = 0; at < bytes; at += sizeof(*list))
		list = static_cast<struct node *>(node_new(list));
}

FUNCTION void keep_copy(const char *text)
{
	char *volatile copy = strdup(text);

	(void)copy;
	STAY();
}

static void grow_copies(size_t bytes)
{
	char text[5000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (size_t at = 0; at < bytes; at += sizeof(text))
		keep_copy(text);
}

/* ---- large ones ---- */

static char *pages_new(size_t bytes, int flags)
{
	return static_cast<char *>(
		mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0));
}

FUNCTION void fill_big(size_t bytes)
{
	memset(pages_new(bytes, MAP_PRIVATE), 1, bytes);
	STAY();
}

/* With small pages, and by the kernel alone: the program does not touch what it reads. */
FUNCTION void read_in(size_t bytes)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *buffer = pages_new(bytes, MAP_PRIVATE);

	madvise(buffer, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += MIB)
		if (read(fd, buffer + at, MIB) < 0)
			abort();
	close(fd);
}

FUNCTION void fill_shared(size_t bytes)
{
	memset(pages_new(bytes, MAP_SHARED), 1, bytes);
	STAY();
}

/* ---- what moves while it grows ---- */

FUNCTION void extend(size_t bytes)
{
	char *buffer = nullptr;

	for (size_t has = 0; has < bytes; has += MIB) {
		buffer = static_cast<char *>(realloc(buffer, has + MIB));
		memset(buffer + has, 1, MIB);
	}
	STAY();
}

FUNCTION void append(std::vector<long> *numbers, long number)
{
	numbers->push_back(number);
	STAY();
}

/* A vector doubles its room, and has half of it twice while it moves. */
static void grow_vector(size_t bytes)
{
	auto *numbers = new std::vector<long>;

	for (size_t i = 0; i < bytes / sizeof(long); i++)
		append(numbers, static_cast<long>(i));
}

/* ---- threads ---- */

FUNCTION void *fill_part(void *bytes)
{
	fill_big(*static_cast<size_t *>(bytes));
	STAY();
	return nullptr;
}

static void grow_threads(size_t bytes)
{
	pthread_t threads[THREADS];
	size_t part = bytes / THREADS;

	for (pthread_t &thread : threads)
		pthread_create(&thread, nullptr, fill_part, &part);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
}

/* ---- no growth ---- */

FUNCTION void fill_again(size_t bytes)
{
	char *pages = pages_new(bytes, MAP_PRIVATE);

	memset(pages, 1, bytes);
	munmap(pages, bytes);
}

/* The first round, before "ready", is its growth. */
static void churn(size_t bytes)
{
	for (int i = 0; i < 50; i++)
		fill_again(bytes);
}

static const struct way {
	const char *name;
	void (*grow)(size_t bytes);
} ways[] = {
	{ "list", grow_list },     { "copies", grow_copies },   { "fill", fill_big },
	{ "read", read_in },       { "shared", fill_shared },   { "extend", extend },
	{ "vector", grow_vector }, { "threads", grow_threads }, { "churn", churn },
};

/* What the kernel says that it has, or has had at the most. */
static long own_kib(const char *format)
{
	char line[128];
	long found = 0, kib;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, format, &kib) == 1)
			found = kib;
	if (status)
		fclose(status);
	return found;
}

int main(int count, char **arguments)
{
	const struct way *chosen = nullptr;
	size_t bytes = count == 3 ? strtoul(arguments[2], nullptr, 10) * MIB : 0;
	sigset_t begin;
	int number;
	long before;

	for (const struct way &way : ways)
		if (count == 3 && !strcmp(way.name, arguments[1]))
			chosen = &way;
	if (!chosen || !bytes) {
		fputs("usage: grower list|copies|fill|read|shared|extend|vector|threads|churn MIB\n", stderr);
		return 2;
	}
	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, nullptr);
	if (chosen->grow == churn)
		fill_again(bytes);
	puts("ready");
	fflush(stdout);
	sigwait(&begin, &number);
	before = own_kib("VmRSS: %ld");
	chosen->grow(bytes);
	printf("grown %ld\n", own_kib("VmHWM: %ld") - before);
	fflush(stdout);
	pause();
}
