/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/load.h"

#include "common/abi.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/cpus.h"
#include "common/files.h"
#include "common/log.h"
#include "common/manifest.h"
#include "common/pins.h"
#include "common/version.h"
#include "loader/kernel_symbols.h"
#include "loader/pin_directory.h"

#include <bourdon.skel.h>
#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

/* A load under way. What it made is undone by load_close() until the pins are in place. */
struct load {
	const struct load_settings *settings;
	struct bourdon_bpf *bpf;
	unsigned int *cpus; /* online */
	size_t cpus_count;
	char *prepared; /* the pin directory, before the swap */
	char *symbols;
	size_t symbols_bytes;
	struct manifest manifest;
};

static int __attribute__((format(printf, 2, 0)))
print_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	/* the verifier's log comes this way, in many lines: as it is, for whoever has to read it */
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

static void load_close(struct load *load)
{
	if (load->prepared)
		pin_directory_remove(load->prepared);
	free(load->prepared);
	free(load->symbols);
	free(load->cpus);
	bourdon_bpf__destroy(load->bpf);
}

static int load_programs(struct load *load)
{
	const struct load_settings *settings = load->settings;
	unsigned int rings = load->cpus[load->cpus_count - 1] + 1;
	uint64_t slots = settings->ring_bytes / sizeof(struct sample);
	int result;

	load->bpf = bourdon_bpf__open();
	if (!load->bpf)
		return -errno;
	load->bpf->rodata->oncpu_slots_per_cpu = (__u32)slots;
	load->bpf->rodata->oncpu_cpus = rings;
	load->bpf->rodata->oncpu_period_ns = 1000000000U / settings->hz;
	load->bpf->rodata->quiet_after_ns = settings->quiet_after_ns;
	result = bpf_map__set_max_entries(load->bpf->maps.oncpu, (__u32)slots * rings);
	if (!result)
		result = bpf_map__set_max_entries(load->bpf->maps.targets, settings->targets);
	if (!result)
		result = bourdon_bpf__load(load->bpf);
	load->manifest.slots_per_cpu = (uint32_t)slots;
	load->manifest.cpus = rings;
	return result;
}

/* A consumer that was built for another ABI must find that out from the maps themselves. */
static int stamp_abi(struct load *load)
{
	struct control control = { .abi = BOURDON_ABI };
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(load->bpf->maps.control), &zero, &control, BPF_ANY);
}

static int pin_at(const struct load *load, const char *name, mode_t mode, gid_t gid,
		  int (*pin)(void *object, const char *path), void *object)
{
	_cleanup_free_ char *path = NULL;
	int result;

	if (asprintf(&path, "%s/%s", load->prepared, name) < 0)
		return -ENOMEM;
	result = pin(object, path);
	if (!result && (chown(path, 0, gid) || chmod(path, mode)))
		result = -errno;
	if (result < 0)
		log_error("cannot pin %s: %s", path, strerror(-result));
	return result;
}

static int pin_map(void *object, const char *path)
{
	return bpf_map__pin(object, path);
}

static int pin_program(void *object, const char *path)
{
	return bpf_program__pin(object, path);
}

static int pin_link(void *object, const char *path)
{
	return bpf_link__pin(object, path);
}

static int pin_maps_all(const struct load *load)
{
	for (size_t i = 0; i < PIN_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(load->bpf->obj, pin_maps[i].name);
		int result = map ? pin_at(load, pin_maps[i].name, pin_maps[i].mode, load->settings->gid,
					  pin_map, map)
				 : -ENOENT;

		if (result < 0)
			return result;
	}
	return 0;
}

/*
 * Pins the link, which lives on through its pin alone. libbpf's destroy would detach it first (and disable a
 * perf event); its descriptors close with this process.
 */
static int pin_attached(struct load *load, const char *name, mode_t mode, gid_t gid, struct bpf_link *link)
{
	int result = pin_at(load, name, mode, gid, pin_link, link);

	if (!result)
		bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return result;
}

static void note_attached(struct load *load, const char *name)
{
	size_t used = strlen(load->manifest.attached);

	snprintf(load->manifest.attached + used, sizeof(load->manifest.attached) - used, "%s%s",
		 used ? " " : "", name);
}

static int attach_tracepoints(struct load *load)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, load->bpf->obj) {
		_cleanup_free_ char *name = NULL;
		struct bpf_link *link;
		int result;

		if (bpf_program__type(program) != BPF_PROG_TYPE_TRACING ||
		    bpf_program__expected_attach_type(program) == BPF_TRACE_ITER)
			continue;
		link = bpf_program__attach(program);
		if (!link) {
			log_error("cannot attach %s: %s", bpf_program__name(program), strerror(errno));
			return -errno;
		}
		if (asprintf(&name, "link_%s", bpf_program__name(program)) < 0)
			return -ENOMEM;
		result = pin_attached(load, name, PIN_PRIVATE_MODE, 0, link);
		if (result < 0)
			return result;
		note_attached(load, name);
	}
	return 0;
}

/* Ascending numbers as "0-3,5". */
static void format_cpus(const unsigned int *cpus, size_t count, char *into, size_t bytes)
{
	size_t used = 0;

	for (size_t i = 0; i < count && used < bytes;) {
		size_t last = i;

		while (last + 1 < count && cpus[last + 1] == cpus[last] + 1)
			last++;
		used += (size_t)snprintf(into + used, bytes - used, last > i ? "%s%u-%u" : "%s%u",
					 i ? "," : "", cpus[i], cpus[last]);
		i = last + 1;
	}
}

static int attach_clock(struct load *load)
{
	/* the clock fires by CPU time of the CPU, not of a task; an idle CPU has nothing to sample */
	struct perf_event_attr attributes = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(attributes),
					      .config = PERF_COUNT_SW_CPU_CLOCK,
					      .sample_period = 1000000000U / load->settings->hz,
					      .exclude_idle = 1 };

	char name[300];

	for (size_t i = 0; i < load->cpus_count; i++) {
		long event = syscall(SYS_perf_event_open, &attributes, -1, load->cpus[i], -1,
				     PERF_FLAG_FD_CLOEXEC);
		struct bpf_link *link;
		int result;

		if (event < 0) {
			log_error("cannot open the perf clock of CPU %u: %s", load->cpus[i], strerror(errno));
			return -errno;
		}
		link = bpf_program__attach_perf_event(load->bpf->progs.oncpu_tick, (int)event);
		if (!link) {
			result = -errno;
			close((int)event);
			log_error("cannot attach to the perf clock of CPU %u: %s", load->cpus[i],
				  strerror(-result));
			return result;
		}
		snprintf(name, sizeof(name), "link_oncpu_%u", load->cpus[i]);
		result = pin_attached(load, name, PIN_PRIVATE_MODE, 0, link);
		if (result < 0)
			return result;
	}
	format_cpus(load->cpus, load->cpus_count, load->manifest.sampled_cpus,
		    sizeof(load->manifest.sampled_cpus));
	snprintf(name, sizeof(name), "link_oncpu_%s", load->manifest.sampled_cpus);
	note_attached(load, name);
	return 0;
}

static int pin_iterators_all(struct load *load)
{
	struct bpf_program *programs[PIN_ITERATORS] = {
		[PIN_TASKS] = load->bpf->progs.walk_tasks,
		[PIN_MAPPINGS] = load->bpf->progs.walk_mappings,
	};

	for (size_t i = 0; i < PIN_ITERATORS; i++) {
		struct bpf_link *link = bpf_program__attach_iter(programs[i], NULL);
		int result;

		if (!link) {
			log_error("cannot make the iterator %s: %s", pin_iterators[i], strerror(errno));
			return -errno;
		}
		result = pin_attached(load, pin_iterators[i], PIN_ITERATOR_MODE, load->settings->gid, link);
		if (result < 0)
			return result;
		note_attached(load, pin_iterators[i]);
	}
	return 0;
}

static int pin_programs_all(const struct load *load)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, load->bpf->obj) {
		_cleanup_free_ char *name = NULL;
		int result;

		if (program == load->bpf->progs.walk_ksyms)
			continue; /* needed once, now */
		if (asprintf(&name, "prog_%s", bpf_program__name(program)) < 0)
			return -ENOMEM;
		result = pin_at(load, name, PIN_PRIVATE_MODE, 0, pin_program, program);
		if (result < 0)
			return result;
	}
	return 0;
}

static int snapshot_symbols(struct load *load)
{
	struct bpf_link *link = bpf_program__attach_iter(load->bpf->progs.walk_ksyms, NULL);
	int result;

	if (!link)
		return -errno;
	result = kernel_symbols_snapshot(bpf_link__fd(link), &load->bpf->bss->ksyms_emit, &load->symbols,
					 &load->symbols_bytes);
	bpf_link__destroy(link);
	if (result == -ENOENT) {
		log_warning("the kernel does not show its symbols: samples will have no kernel frames");
		return 0;
	}
	return result;
}

static void hash_object(char hex[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx context;
	const void *object;
	size_t bytes;

	object = bourdon_bpf__elf_bytes(&bytes);
	sha256_init(&context);
	sha256_update(&context, bytes, object);
	sha256_digest(&context, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/*
 * The kernel shows its ELF notes in sysfs: a header of three words (name bytes, descriptor bytes, type), the
 * name, the descriptor, each padded to a word (elf(5)).
 */
static void read_kernel_build_id(char hex[65])
{
	_cleanup_free_ char *notes = NULL;
	size_t bytes, at = 0;

	if (file_read_text(AT_FDCWD, "/sys/kernel/notes", 65536, &notes, &bytes))
		return;
	while (bytes - at >= 3 * sizeof(uint32_t)) {
		uint32_t words[3];
		size_t name, descriptor;

		memcpy(words, notes + at, sizeof(words));
		if (words[0] > 65536 || words[1] > 65536)
			return;
		name = at + sizeof(words);
		descriptor = name + (words[0] + 3U) / 4 * 4;
		at = descriptor + (words[1] + 3U) / 4 * 4;
		if (at > bytes)
			return;
		if (words[2] != NT_GNU_BUILD_ID || words[0] != 4 || memcmp(notes + name, "GNU", 4) ||
		    words[1] > 32)
			continue;
		for (size_t i = 0; i < words[1]; i++)
			snprintf(hex + 2 * i, 3, "%02x", (uint8_t)notes[descriptor + i]);
		return;
	}
}

/* Whoever mounted bpffs for the load that this one replaces mounted it for this one. */
static bool was_mounted_by_us(const char *manifest_path, const char *pin_dir)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	struct manifest before;

	return !manifest_read(manifest_path, &before, &errors) && before.mounted_bpffs &&
	       !strcmp(before.pin_dir, pin_dir);
}

static int write_run_files(struct load *load, const char *manifest_path, const char *symbols_path)
{
	const struct load_settings *settings = load->settings;
	struct manifest *manifest = &load->manifest;
	_cleanup_free_ char *text = NULL;
	struct utsname name;
	int result;

	uname(&name);
	manifest->abi = BOURDON_ABI;
	manifest->loaded_at = (uint64_t)clock_wall_ns();
	manifest->hz = settings->hz;
	manifest->slot_bytes = sizeof(struct sample);
	manifest->targets = settings->targets;
	manifest->quiet_after_ns = settings->quiet_after_ns;
	manifest->mounted_bpffs = settings->mounted_bpffs ||
				  was_mounted_by_us(manifest_path, settings->pin_dir);
	snprintf(manifest->version, sizeof(manifest->version), "%s", BOURDON_VERSION);
	snprintf(manifest->kernel, sizeof(manifest->kernel), "%s", name.release);
	snprintf(manifest->pin_dir, sizeof(manifest->pin_dir), "%s", settings->pin_dir);
	read_kernel_build_id(manifest->kernel_build_id);
	hash_object(manifest->object_sha256);
	result = manifest_format(manifest, &text);
	if (!result)
		result = file_prepare(manifest_path, text, strlen(text), 0640, 0, settings->gid);
	if (!result)
		result = file_prepare(symbols_path, load->symbols, load->symbols_bytes, 0640, 0,
				      settings->gid);
	return result;
}

/*
 * Made and owned by us, or somebody else's (systemd's RuntimeDirectory=) and then left as it is. One that
 * others may write to is refused: they could put files in place of ours.
 */
static int make_run_directory(const struct load_settings *settings)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat at;
	bool ours = !mkdir(settings->run_dir, 0750);

	if (!ours && errno != EEXIST)
		return -errno;
	fd = open(settings->run_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &at))
		return -errno;
	if (at.st_uid != 0 || at.st_mode & (S_IWGRP | S_IWOTH))
		return -EPERM;
	if (!ours && !faccessat(fd, MANIFEST_FILE, F_OK, 0))
		ours = true;
	if (ours && (fchown(fd, 0, settings->gid) || fchmod(fd, 0750)))
		return -errno;
	return 0;
}

/*
 * Everything that can fail is done before the swap: from there on it is three renames, and the swap is taken
 * back if the files cannot follow.
 */
static int put_in_place(struct load *load)
{
	_cleanup_free_ char *manifest = NULL, *symbols = NULL;
	const struct load_settings *settings = load->settings;
	int result;

	if (asprintf(&manifest, "%s/" MANIFEST_FILE, settings->run_dir) < 0 ||
	    asprintf(&symbols, "%s/" KERNEL_SYMBOLS_FILE, settings->run_dir) < 0)
		return -ENOMEM;
	result = make_run_directory(settings);
	if (!result)
		result = write_run_files(load, manifest, symbols);
	if (result < 0) {
		log_error("cannot write to the run directory %s: %s", settings->run_dir,
			  result == -EPERM ? "it must be root's, and writable for nobody else"
					   : strerror(-result));
	} else {
		result = pin_directory_swap(load->prepared, settings->pin_dir);
		if (result < 0)
			log_error("cannot put the pins in place at %s: %s", settings->pin_dir,
				  strerror(-result));
	}
	if (!result) {
		result = file_commit(symbols);
		if (!result)
			result = file_commit(manifest);
		if (result < 0) {
			log_error("cannot replace %s: %s", manifest, strerror(-result));
			pin_directory_swap(load->prepared, settings->pin_dir);
		}
	}
	if (result < 0) {
		file_abandon(manifest);
		file_abandon(symbols);
	}
	return result;
}

int load_run(const struct load_settings *settings)
{
	_cleanup_(load_close) struct load load = { .settings = settings };
	_cleanup_close_ int lock = pin_directory_lock(settings->pin_dir);
	int result = lock < 0 ? lock : 0;

	libbpf_set_print(print_libbpf);
	if (result < 0) {
		log_error("cannot lock the directory of %s: %s", settings->pin_dir,
			  result == -EBUSY ? "another loader works there, or somebody holds its lock"
					   : strerror(-result));
		return EXIT_FAILED;
	}
	result = cpus_online(&load.cpus, &load.cpus_count);
	if (result < 0) {
		log_error("cannot tell which CPUs are online: %s", strerror(-result));
		return EXIT_FAILED;
	}
	result = load_programs(&load);
	if (!result)
		result = stamp_abi(&load);
	if (!result)
		result = snapshot_symbols(&load);
	if (result < 0) {
		log_error("cannot load the programs: %s; the lines above say where the verifier stopped",
			  strerror(-result));
		return EXIT_FAILED;
	}
	result = pin_directory_prepare(settings->pin_dir, settings->gid, &load.prepared);
	if (result < 0) {
		log_error("cannot make %s_loading: %s", settings->pin_dir, strerror(-result));
		return EXIT_FAILED;
	}
	result = pin_maps_all(&load);
	if (!result)
		result = pin_programs_all(&load);
	if (!result)
		result = pin_iterators_all(&load);
	if (!result)
		result = attach_tracepoints(&load);
	if (!result)
		result = attach_clock(&load);
	if (!result)
		result = put_in_place(&load);
	return result < 0 ? EXIT_FAILED : EXIT_DONE;
}
