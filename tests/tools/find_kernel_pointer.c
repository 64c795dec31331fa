/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * find_kernel_pointer searches the output of the profiler (databases, exports, logs, ring dumps) for absolute
 * kernel addresses: one of them is enough to undo the kernel's address randomisation. It knows the address
 * ranges of the running kernel, and looks at every byte offset, in both byte orders and in hexadecimal text.
 *
 * It does not print the addresses, because the output of tests is kept.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define KERNEL_HALF 0xffff800000000000ULL
#define ERRNO_BEGINS 0xfffffffffffff000ULL /* MAX_ERRNO: from here on it is a small negative number */
#define PAGE_BYTES 4096ULL
#define HEX_DIGITS 16U

struct range {
	uint64_t begins, ends; /* `ends` is the first address behind the range */
};

struct search {
	struct range kernel;  /* _text to _end */
	struct range modules; /* with BPF programs and trampolines; empty if there are no modules */
	bool strict_words;
	unsigned long long found;
};

static bool in_range(const struct range *range, uint64_t value)
{
	return value >= range->begins && value < range->ends;
}

static bool is_kernel_address(const struct search *search, uint64_t value)
{
	return in_range(&search->kernel, value) || in_range(&search->modules, value);
}

/*
 * The size of the kernel image, from /proc/iomem: a kernel that lists functions only (no CONFIG_KALLSYMS_ALL)
 * has no _end. Returns 0 or -errno.
 */
static int image_bytes(uint64_t *ret_bytes)
{
	_cleanup_file_ FILE *iomem = fopen("/proc/iomem", "re");
	unsigned long long begins, ends, first = UINT64_MAX, last = 0;
	char line[256], name[16];

	if (!iomem)
		return -errno;
	while (fgets(line, sizeof(line), iomem)) {
		if (sscanf(line, " %llx-%llx : Kernel %15s", &begins, &ends, name) != 3 || !ends)
			continue;
		first = begins < first ? begins : first;
		last = ends > last ? ends : last;
	}
	if (last <= first)
		return -ENODATA;
	*ret_bytes = last + 1 - first;
	return 0;
}

/* Returns 0; -EPERM where the kernel hides addresses from this process; -errno. */
static int read_ranges(struct search *search)
{
	_cleanup_file_ FILE *symbols = fopen("/proc/kallsyms", "re");
	struct range *kernel = &search->kernel, *modules = &search->modules;
	char line[1024], name[512], module[64];
	uint64_t bytes = 0;
	int error;

	if (!symbols)
		return -errno;
	while (fgets(line, sizeof(line), symbols)) {
		unsigned long long address;
		int fields = sscanf(line, "%llx %*c %511s [%63s", &address, name, module);

		if (fields == 2 && !strcmp(name, "_text"))
			kernel->begins = address;
		else if (fields == 2 && !strcmp(name, "_end"))
			kernel->ends = address;
		if (fields < 3 || address < KERNEL_HALF) /* a module's per-CPU symbols are offsets */
			continue;
		if (!modules->ends || address < modules->begins)
			modules->begins = address;
		if (address >= modules->ends) /* the length of the last symbol is unknown */
			modules->ends = (address / PAGE_BYTES + 1) * PAGE_BYTES;
	}
	if (kernel->begins < KERNEL_HALF)
		return -EPERM;
	if (kernel->ends > kernel->begins)
		return 0;
	error = image_bytes(&bytes);
	kernel->ends = kernel->begins + bytes;
	return error;
}

static void report(struct search *search, const char *path, size_t offset, const char *form)
{
	printf("%s:%zu: %s\n", path, offset, form);
	search->found++;
}

static void scan_words(struct search *search, const char *path, const unsigned char *bytes, size_t length)
{
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= length; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		word = le64toh(word);
		if (word >= KERNEL_HALF && word < ERRNO_BEGINS)
			report(search, path, at, "aligned word in the kernel's half");
	}
}

static void scan_binary(struct search *search, const char *path, const unsigned char *bytes, size_t length)
{
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= length; at++) {
		memcpy(&word, bytes + at, sizeof(word));
		if (is_kernel_address(search, le64toh(word)))
			report(search, path, at, "little-endian address");
		if (is_kernel_address(search, be64toh(word)))
			report(search, path, at, "big-endian address");
	}
}

static int hex_digit(unsigned char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20; /* lower case */
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Sixteen digits in a row, whatever is around them. */
static void scan_text(struct search *search, const char *path, const unsigned char *bytes, size_t length)
{
	unsigned int digits = 0;
	uint64_t value = 0;

	for (size_t at = 0; at < length; at++) {
		int digit = hex_digit(bytes[at]);

		if (digit < 0) {
			digits = 0;
			continue;
		}
		value = value << 4 | (uint64_t)digit;
		if (++digits >= HEX_DIGITS && is_kernel_address(search, value))
			report(search, path, at + 1 - HEX_DIGITS, "hexadecimal address");
	}
}

/*
 * Returns 0 or -errno. A file that is truncated meanwhile kills this program with SIGBUS and never counts as
 * clean.
 */
static int scan_file(struct search *search, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t length;
	void *bytes;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	length = (size_t)status.st_size;
	if (!length)
		return 0;
	bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	if (search->strict_words) {
		scan_words(search, path, bytes, length);
	} else {
		scan_binary(search, path, bytes, length);
		scan_text(search, path, bytes, length);
	}
	munmap(bytes, length);
	return 0;
}

/* Searches the named files, and the regular files below named directories. Returns 0 or -errno. */
static int scan_all(struct search *search, char **paths)
{
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	int result = 0;
	FTSENT *entry;

	if (!tree)
		return -errno;
	while (errno = 0, (entry = fts_read(tree))) {
		int error = 0;

		if (entry->fts_info == FTS_F || (entry->fts_level == 0 && entry->fts_info == FTS_DEFAULT))
			error = scan_file(search, entry->fts_accpath);
		else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR ||
			 entry->fts_info == FTS_ERR || entry->fts_info == FTS_SLNONE)
			error = -(entry->fts_errno ? entry->fts_errno : ENOENT);
		if (!error)
			continue;
		log_error("cannot search '%s': %s", entry->fts_path, strerror(-error));
		result = error;
	}
	if (errno)
		result = -errno;
	fts_close(tree);
	return result;
}

int main(int argc, char **argv)
{
	const char *strict = NULL;
	const struct option_spec options[] = {
		{ "strict-words", NULL, "aligned words in the kernel's half only: mapped rings", &strict },
	};
	const struct command_spec command = { "find_kernel_pointer",
					      "[--strict-words] FILE|DIRECTORY...",
					      "Exits 1 where a file holds an absolute kernel address.",
					      "find_kernel_pointer build/demo",
					      options,
					      ARRAY_SIZE(options) };
	struct search search = { .found = 0 };
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (!words) {
		log_error("nothing to search: see --help");
		return EXIT_USAGE;
	}
	search.strict_words = strict != NULL;
	error = strict ? 0 : read_ranges(&search);
	if (error) {
		log_error("cannot read the kernel's addresses from /proc/kallsyms: %s: run as root",
			  strerror(-error));
		return EXIT_FAILED;
	}
	argv[words + 1] = NULL;
	error = scan_all(&search, argv + 1);
	if (fflush(stdout) || ferror(stdout))
		error = -EIO;
	return error || search.found ? EXIT_FAILED : EXIT_DONE;
}
