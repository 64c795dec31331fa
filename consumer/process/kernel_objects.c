/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/kernel_objects.h"

#include "common/base/cleanup.h"
#include "common/base/version.h"
#include "common/system/files.h"
#include "common/system/log.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

const struct map_bytes map_bytes[PIN_MAPS] = {
	[PIN_POLICY] = { sizeof(__u32), sizeof(struct policy) },
	[PIN_PATTERNS_A] = { sizeof(struct pattern_key), sizeof(__u32) },
	[PIN_PATTERNS_B] = { sizeof(struct pattern_key), sizeof(__u32) },
	[PIN_TARGETS] = { sizeof(__u32), sizeof(struct target) },
	[PIN_BYSTANDERS] = { sizeof(__u32), sizeof(struct bystander) },
	[PIN_ONCPU] = { sizeof(__u32), sizeof(struct sample) },
	[PIN_OFFCPU] = { sizeof(__u32), sizeof(struct sample) },
	[PIN_OFFCPU_OPEN] = { sizeof(__u32), sizeof(struct open_interval) },
	[PIN_TOTALS] = { sizeof(__u32), sizeof(struct totals) },
	[PIN_VICTIMS] = { sizeof(__u32), sizeof(struct victim_sums) },
	[PIN_BLAME] = { sizeof(struct blame_key), sizeof(struct blame_sums) },
	[PIN_ENDED] = { sizeof(struct ended_key), sizeof(struct ended_sums) },
	[PIN_INTERRUPTS] = { sizeof(struct interrupt_key), sizeof(struct interrupt_sums) },
	[PIN_IRQ_NAMES] = { sizeof(__u32), sizeof(struct irq_name) },
	[PIN_CLOCKS] = { sizeof(__u32), sizeof(struct stall_clock) },
	[PIN_ACTIVITY] = { sizeof(__u32), sizeof(struct activity_slot) },
	[PIN_UNWIND_PROCS] = { sizeof(__u32), sizeof(struct unwind_process) },
	[PIN_UNWIND_MAPS] = { sizeof(__u32), sizeof(struct unwind_mapping) },
	[PIN_UNWIND_PAGES] = { sizeof(__u32), sizeof(struct unwind_page) },
	[PIN_UNWIND_ROWS] = { sizeof(__u32), sizeof(struct unwind_chunk) },
	[PIN_UNWIND_RULES] = { sizeof(__u32), sizeof(struct unwind_rule) },
	[PIN_UNWIND_HOTSPOT] = { sizeof(__u32), sizeof(struct unwind_hotspot) },
	[PIN_WANTED] = { sizeof(struct wanted_key), sizeof(struct wanted_until) },
	[PIN_CONTROL] = { sizeof(__u32), sizeof(struct control) },
	[PIN_CGROUPS_KNOWN] = { sizeof(__u64), sizeof(__u32) },
	[PIN_CGROUP_PATHS] = { 0, 0 },
	[PIN_EVENTS] = { 0, 0 },
	[PIN_ERRORS] = { 0, 0 },
	[PIN_COUNTERS] = { sizeof(__u32), sizeof(__u64) },
	[PIN_HISTOGRAMS] = { sizeof(__u32), sizeof(struct histogram_set) },
	[PIN_HISTOGRAM_TALLIES] = { sizeof(__u32), sizeof(struct histogram_tally) },
};

#define ACTIVITY_BYTES (ACTIVITY_SLOTS * sizeof(struct activity_slot))

static int open_map(struct kernel_objects *kernel, enum pin_map which, const char *pin_dir)
{
	const struct pin_map_spec *spec = &pin_maps[which];
	const struct map_bytes *bytes = &map_bytes[which];
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = spec->mode & 0200 ? 0 : BPF_F_RDONLY);
	struct bpf_map_info info = { 0 };
	__u32 info_bytes = sizeof(info);
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", pin_dir, spec->name);
	fd = bpf_obj_get_opts(path, &options);
	if (fd < 0)
		return log_failed(
			fd, "cannot open the pin %s: %s; %s", path, strerror(-fd),
			fd == -ENOENT ? "run bourdon-load first"
			: fd == -EACCES
				? "run bourdond as a member of the pin's group, with CAP_DAC_READ_SEARCH"
				: "is it a bourdon pin?");
	kernel->map_fds[which] = fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		return log_failed(-errno, "cannot inspect the pin %s: %s", path, strerror(errno));
	if (info.type != (__u32)spec->type || info.key_size != bytes->key || info.value_size != bytes->value)
		return log_failed(
			-EPROTO,
			"the pin %s is a map of type %u with %u-byte keys and %u-byte values, not %u, %u, %u: run the bourdon-load of this version",
			path, info.type, info.key_size, info.value_size, spec->type, bytes->key,
			bytes->value);
	if ((which == PIN_ONCPU || which == PIN_OFFCPU) &&
	    info.max_entries != (uint64_t)kernel->manifest.slots_per_cpu * kernel->manifest.cpus)
		return log_failed(
			-EPROTO,
			"the pin %s has %u slots, but the manifest says %u CPUs with %u slots each: run bourdon-load again",
			path, info.max_entries, kernel->manifest.cpus, kernel->manifest.slots_per_cpu);
	return 0;
}

static int map_shared(struct kernel_objects *kernel)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, kernel->map_fds[PIN_CONTROL], 0);
	if (at == MAP_FAILED)
		return -errno;
	kernel->control = at;
	kernel->slots_bytes = sizeof(struct sample) * kernel->manifest.slots_per_cpu * kernel->manifest.cpus;
	at = mmap(NULL, kernel->slots_bytes, PROT_READ, MAP_SHARED, kernel->map_fds[PIN_ONCPU], 0);
	if (at == MAP_FAILED)
		return -errno;
	kernel->slots = at;
	at = mmap(NULL, kernel->slots_bytes, PROT_READ, MAP_SHARED, kernel->map_fds[PIN_OFFCPU], 0);
	if (at == MAP_FAILED)
		return -errno;
	kernel->offcpu_slots = at;
	at = mmap(NULL, ACTIVITY_BYTES, PROT_READ, MAP_SHARED, kernel->map_fds[PIN_ACTIVITY], 0);
	if (at == MAP_FAILED)
		return -errno;
	kernel->activity = at;
	return 0;
}

static int check_abi(const struct kernel_objects *kernel, const char *pin_dir)
{
	struct control control;
	__u32 zero = 0;
	int result = bpf_map_lookup_elem(kernel->map_fds[PIN_CONTROL], &zero, &control);

	if (result < 0)
		return log_failed(result, "cannot read the pin %s/control: %s", pin_dir, strerror(-result));
	if (control.abi == BOURDON_ABI)
		return 0;
	return log_failed(
		-EPROTO,
		"the pins in %s have ABI %u, but this bourdond has ABI %u: run the bourdon-load of its version",
		pin_dir, control.abi, BOURDON_ABI);
}

static int read_policy(struct kernel_objects *kernel)
{
	__u32 zero = 0;
	int result = bpf_map_lookup_elem(kernel->map_fds[PIN_POLICY], &zero, &kernel->policy);

	if (result < 0)
		log_error("cannot read root's policy from its pin: %s", strerror(-result));
	return result;
}

static int read_run_files(struct kernel_objects *kernel, const char *run_dir)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	char path[PATH_MAX];
	int result;

	snprintf(path, sizeof(path), "%s/" MANIFEST_FILE, run_dir);
	/* the unit makes the mount point of the pins even when nothing is loaded */
	if (access(path, F_OK) && errno == ENOENT)
		return log_failed(-ENOENT, "nothing is loaded: there is no %s; run bourdon-load first", path);
	result = manifest_read(path, &kernel->manifest, &errors);
	if (result < 0) {
		config_errors_log(&errors);
		return result;
	}
	if (kernel->manifest.abi != BOURDON_ABI || kernel->manifest.slot_bytes != sizeof(struct sample))
		return log_failed(
			-EPROTO,
			"%s: the loaded programs have ABI %u, but this bourdond has ABI %u: run the bourdon-load of version %s",
			path, kernel->manifest.abi, BOURDON_ABI, BOURDON_VERSION);
	if (!kernel->manifest.hz || !kernel->manifest.cpus || !kernel->manifest.slots_per_cpu)
		return log_failed(-EPROTO,
				  "%s: the rate, the CPUs or the slots are 0: run bourdon-load again", path);
	snprintf(path, sizeof(path), "%s/" KERNEL_SYMBOLS_FILE, run_dir);
	kernel->symbols_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (kernel->symbols_fd < 0)
		return log_failed(-errno, "cannot open %s: %s", path, strerror(errno));
	return 0;
}

/* Two consumers of one set of pins would each see half of the events. */
static int lock_pins(struct kernel_objects *kernel, const char *pin_dir)
{
	kernel->lock_fd = open(pin_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (kernel->lock_fd >= 0 && !flock(kernel->lock_fd, LOCK_EX | LOCK_NB))
		return 0;
	return log_failed(-errno, "cannot lock the pin directory %s: %s", pin_dir,
			  errno == EWOULDBLOCK ? "another bourdond uses it" : strerror(errno));
}

/* Where everybody may write to bpffs, anybody could have made maps with these names. */
static int check_owner(int directory_fd, const char *pin_dir)
{
	struct stat at;

	if (fstat(directory_fd, &at))
		return -errno;
	if (file_is_roots_alone(&at))
		return 0;
	return log_failed(
		-EPERM,
		"the pin directory %s must belong to root, and nobody else may write to it: run bourdon-load again",
		pin_dir);
}

int kernel_objects_open(struct kernel_objects *ret_kernel, const char *pin_dir, const char *run_dir)
{
	struct kernel_objects kernel = { .directory_fd = -EBADF, .lock_fd = -EBADF, .symbols_fd = -EBADF };
	int result = 0;

	for (size_t i = 0; i < PIN_MAPS; i++)
		kernel.map_fds[i] = -EBADF;
	kernel.directory_fd = open(pin_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (kernel.directory_fd < 0) {
		result = -errno;
		log_error("cannot open the pin directory %s: %s; %s", pin_dir, strerror(-result),
			  result == -ENOENT ? "run bourdon-load first"
					    : "run bourdond with CAP_DAC_READ_SEARCH");
	}
	if (!result)
		result = check_owner(kernel.directory_fd, pin_dir);
	if (!result)
		result = lock_pins(&kernel, pin_dir);
	if (!result)
		result = read_run_files(&kernel, run_dir);
	for (size_t i = 0; i < PIN_MAPS && !result; i++)
		result = open_map(&kernel, (enum pin_map)i, pin_dir);
	if (!result)
		result = check_abi(&kernel, pin_dir);
	if (!result)
		result = read_policy(&kernel);
	if (result < 0)
		kernel_objects_close(&kernel);
	else
		*ret_kernel = kernel;
	return result;
}

int kernel_objects_map(struct kernel_objects *kernel)
{
	int result = map_shared(kernel);

	if (result < 0)
		log_error("cannot map the rings and counts: %s", strerror(-result));
	return result;
}

void kernel_objects_close(struct kernel_objects *kernel)
{
	if (kernel->control)
		munmap(kernel->control, (size_t)sysconf(_SC_PAGESIZE));
	if (kernel->slots)
		munmap((void *)kernel->slots, kernel->slots_bytes);
	if (kernel->offcpu_slots)
		munmap((void *)kernel->offcpu_slots, kernel->slots_bytes);
	if (kernel->activity)
		munmap((void *)kernel->activity, ACTIVITY_BYTES);
	for (size_t i = 0; i < PIN_MAPS; i++)
		cleanup_close(&kernel->map_fds[i]);
	cleanup_close(&kernel->symbols_fd);
	cleanup_close(&kernel->lock_fd);
	cleanup_close(&kernel->directory_fd);
}

int kernel_objects_open_iterator(const struct kernel_objects *kernel, enum pin_iterator iterator)
{
	int fd = openat(kernel->directory_fd, pin_iterators[iterator], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}
