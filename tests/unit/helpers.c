/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/helpers.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup.h"

#include <bpf/bpf.h>
#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t patience(void)
{
	const char *times = getenv("CK_TIMEOUT_MULTIPLIER");

	return times ? strtoull(times, NULL, 10) : 1;
}

/* ---- tests that this machine cannot run ---- */

const char *no_root(void)
{
	return geteuid() ? "only root can run it" : NULL;
}

void connect_as(uid_t uid)
{
	/* the system call, because libc's function changes all threads */
	ck_assert_int_eq((int)syscall(SYS_setresuid, -1, uid, -1), 0);
	setfsuid(0);
}

const char *no_bpf(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unit_probe", 4, 4, 1, NULL);

	if (fd < 0)
		return "the kernel refuses this process a BPF map";
	close(fd);
	return NULL;
}

const char *no_pressure(void)
{
	_cleanup_close_ int fd = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
	char first;

	return fd < 0 || read(fd, &first, 1) != 1 ? "the kernel has no pressure (PSI), or it is hidden"
						  : NULL;
}

const char *no_cgroup2(void)
{
	_cleanup_free_ char *mount = NULL;
	char path[PATH_MAX];

	if (cgroup_mount(&mount) < 0)
		return "cgroup2 is not mounted";
	snprintf(path, sizeof(path), "%s/cgroup.procs", mount);
	return access(path, F_OK) ? "cgroup2 is hidden" : NULL;
}

/* In main()'s directory: a line for each. Also called outside of tests, where check knows no assertions. */
static FILE *skips_open(const char *mode)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/skipped", getenv("TMPDIR"));
	return fopen(path, mode);
}

void skip_note(const char *file, const char *function, const char *why)
{
	_cleanup_file_ FILE *skips = skips_open("ae");

	ck_assert_ptr_nonnull(skips);
	/* check adds _fn to the name of a test; the line is written at once */
	fprintf(skips, "%s: %.*s: %s\n", file, (int)(strlen(function) - strlen("_fn")), function, why);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

unsigned int skips_print(void)
{
	_cleanup_file_ FILE *skips = skips_open("re");
	char *lines[1000] = { NULL }, *line = NULL;
	unsigned int count = 0, same = 1;
	size_t room = 0;

	while (skips && count < ARRAY_SIZE(lines) && getline(&line, &room, skips) > 0) {
		lines[count++] = line;
		line = NULL;
		room = 0;
	}
	free(line);
	qsort(lines, count, sizeof(lines[0]), compare_lines);
	for (unsigned int i = 0; i < count; i++) {
		if (i + 1 < count && !strcmp(lines[i], lines[i + 1])) {
			same++;
			continue;
		}
		printf("skipped, %u x %s", same, lines[i]);
		same = 1;
	}
	for (unsigned int i = 0; i < count; i++)
		free(lines[i]);
	return count;
}

/* ---- random numbers ---- */

struct dice dice_new(uint64_t salt)
{
	const char *seed = getenv(SEED_VARIABLE);

	ck_assert_msg(seed != NULL, "main() sets " SEED_VARIABLE);
	return (struct dice){ strtoull(seed, NULL, 10) + salt * 0xd1342543de82ef95U };
}

/* splitmix64 */
uint64_t dice_roll(struct dice *dice)
{
	uint64_t value = dice->state += 0x9e3779b97f4a7c15U;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
	value = (value ^ value >> 27) * 0x94d049bb133111ebU;
	return value ^ value >> 31;
}

uint32_t dice_below(struct dice *dice, uint32_t below)
{
	return (uint32_t)(dice_roll(dice) >> 32) % below;
}

double dice_uniform(struct dice *dice)
{
	return ((double)(dice_roll(dice) >> 11) + 0.5) / 9007199254740992.0;
}

/* Knuth, The Art of Computer Programming, 3.4.1. */
uint32_t dice_poisson(struct dice *dice, double mean)
{
	double least = exp(-mean), product = dice_uniform(dice);
	uint32_t count = 0;

	while (product > least) {
		product *= dice_uniform(dice);
		count++;
	}
	return count;
}

/* ---- files ---- */

char *directory_make(void)
{
	const char *above = getenv("TMPDIR");
	char *path;

	ck_assert_msg(above != NULL, "main() sets TMPDIR");
	path = path_join(above, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static int remove_one(const char *path, const struct stat *at, int type, struct FTW *where)
{
	(void)at;
	(void)type;
	(void)where;
	return remove(path);
}

/*
 * Instead of the C library's, for SQLite too: no database of a test outlives the machine's next crash, so none waits for a disk.
 */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

void directory_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *path_join(const char *directory, const char *name)
{
	char *path;

	ck_assert_int_gt(asprintf(&path, "%s/%s", directory, name), 0);
	return path;
}

void file_put(const char *path, const void *bytes, size_t length)
{
	_cleanup_file_ FILE *file = fopen(path, "we");

	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
}

void file_put_below(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *whole = path_join(root, path);

	for (char *at = strchr(whole + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		ck_assert(!mkdir(whole, 0755) || errno == EEXIST);
		*at = '/';
	}
	file_put(whole, text, strlen(text));
}

char *symbols_path(const char *name)
{
	const char *directory = getenv(SYMBOLS_VARIABLE);

	ck_assert_msg(directory != NULL, "main() sets " SYMBOLS_VARIABLE);
	return path_join(directory, name);
}

int symbols_open(const char *name)
{
	_cleanup_free_ char *path = symbols_path(name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s; make build/symbols/made", path, strerror(errno));
	return fd;
}

static bool find_symbol(Elf *elf, const char *symbol, uint64_t *ret_address)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Shdr header;
		GElf_Sym found;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 1; gelf_getsym(data, i, &found); i++)
			if (!strcmp(elf_strptr(elf, header.sh_link, found.st_name), symbol)) {
				*ret_address = found.st_value;
				return true;
			}
	}
	return false;
}

uint64_t symbols_offset(const char *name, const char *symbol)
{
	_cleanup_close_ int fd = symbols_open(name);
	uint64_t address = 0, offset = UINT64_MAX;
	size_t headers = 0;
	GElf_Phdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_msg(find_symbol(elf, symbol, &address), "%s has no %s", name, symbol);
	elf_getphdrnum(elf, &headers);
	for (size_t i = 0; i < headers; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    address - header.p_vaddr < header.p_filesz)
			offset = address - header.p_vaddr + header.p_offset;
	elf_end(elf);
	ck_assert_uint_ne(offset, UINT64_MAX);
	return offset;
}

const struct finding *finding_find(const struct findings *findings, const char *name)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->items[i].name, name))
			return &findings->items[i];
	ck_abort_msg("no finding %s", name);
	return NULL;
}

uint64_t own_offset(const void *address)
{
	_cleanup_file_ FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t at = (uint64_t)(uintptr_t)address, begins, ends, offset;
	char line[4096 + 128];

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begins, &ends, &offset) == 3 &&
		    begins <= at && at < ends)
			return at - begins + offset;
	ck_abort_msg("%p is not mapped", address);
}

size_t descriptors_open(void)
{
	_cleanup_dir_ DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	ck_assert_ptr_nonnull(directory);
	while (readdir(directory))
		count++;
	return count;
}

/* ---- standard error ---- */

int log_divert(void)
{
	_cleanup_file_ FILE *file = tmpfile();
	int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	ck_assert(file && saved >= 0);
	ck_assert_int_eq(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
	return saved;
}

char *log_diverted(int saved)
{
	char *text = calloc(1, 65536);
	ssize_t bytes = text ? pread(STDERR_FILENO, text, 65535, 0) : -1;

	dup2(saved, STDERR_FILENO);
	close(saved);
	ck_assert_int_ge(bytes, 0);
	return text;
}

/* ---- rings ---- */

void fake_ring_make(struct fake_ring *ring, uint32_t slots_count)
{
	*ring = (struct fake_ring){ calloc(slots_count, sizeof(struct sample)), slots_count, 0 };
	ck_assert_ptr_nonnull(ring->slots);
}

void fake_ring_free(struct fake_ring *ring)
{
	free(ring->slots);
	*ring = (struct fake_ring){ 0 };
}

/* As publish() in the kernel program: a full barrier on both sides. */
static void publish(__u64 *seq, uint64_t value)
{
	__atomic_exchange_n(seq, value, __ATOMIC_SEQ_CST);
}

struct sample *fake_ring_begin(struct fake_ring *ring)
{
	struct sample *slot = &ring->slots[ring->written % ring->slots_count];

	publish(&slot->seq, 0);
	slot->header = (struct record_header){ RECORD_SAMPLE, sizeof(*slot) };
	return slot;
}

void fake_ring_publish(struct fake_ring *ring)
{
	struct sample *slot = &ring->slots[ring->written % ring->slots_count];

	publish(&slot->seq, ++ring->written);
}

void fake_ring_write(struct fake_ring *ring, const struct sample *sample)
{
	struct sample *slot = fake_ring_begin(ring);

	slot->header = sample->header;
	memcpy(&slot->time_ns, &sample->time_ns, sizeof(*sample) - offsetof(struct sample, time_ns));
	fake_ring_publish(ring);
}

struct sample sample_make(uint32_t tgid, uint64_t time_ns, int kernel_depth, int user_depth, uint64_t frames)
{
	struct sample sample = {
		.header = { RECORD_SAMPLE, sizeof(sample) },
		.time_ns = time_ns,
		.weight_ns = 1,
		.started_ns = 1000 + tgid,
		.cgroup_id = 7,
		.tgid = tgid,
		.tid = tgid,
		.pattern_id = 1,
		.kind = SAMPLE_ON_CPU,
		.unwinder = UNWINDER_FRAME_POINTER,
		.user_ended = user_depth == (int)SAMPLE_USER_FRAMES ? UNWIND_ENDED_DEPTH : UNWIND_ENDED_ROOT,
		.kernel_depth = (int16_t)kernel_depth,
		.user_depth = (int16_t)user_depth,
		.comm = "thread",
	};

	for (int i = 0; i < kernel_depth && i < (int)SAMPLE_KERNEL_FRAMES; i++)
		sample.kernel_frames[i] = (int32_t)frames + i;
	for (int i = 0; i < user_depth && i < (int)SAMPLE_USER_FRAMES; i++)
		sample.user_frames[i] = frames + (uint64_t)i;
	return sample;
}
