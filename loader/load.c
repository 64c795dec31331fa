/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/load.h"

#include "common/abi/samples.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/version.h"
#include "common/kernel/cpus.h"
#include "common/protocol/manifest.h"
#include "common/protocol/pins.h"
#include "common/protocol/start_command.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "common/text/hexadecimal.h"
#include "loader/pin_directory.h"
#include "loader/readers_pin.h"
#include "loader/run_files.h"
#include "loader/symbol_snapshot.h"

#include <bourdon.skel.h>
#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/* A load under way. load_close() undoes it, until the pins are in place. */
struct load {
	const struct load_settings *settings;
	struct programs programs;
	char *prepared;  /* the pin directory before it is swapped in */
	int prepared_fd; /* holds it against other loaders */
	char *symbols;
	size_t symbols_bytes;
	struct manifest manifest;
};

static void load_close(struct load *load)
{
	if (load->prepared)
		pin_directory_remove(load->prepared);
	if (load->prepared_fd >= 0)
		close(load->prepared_fd);
	free(load->prepared);
	free(load->symbols);
	if (load->settings->has_readers)
		readers_pins_abandon(load->settings->run_dir);
	programs_close(&load->programs);
}

static int pin_at(const struct load *load, const char *name, mode_t mode, gid_t gid, int fd)
{
	_cleanup_free_ char *path = NULL;
	int result;

	if (asprintf(&path, "%s/%s", load->prepared, name) < 0)
		return -ENOMEM;
	result = bpf_obj_pin(fd, path);
	if (!result && (chown(path, 0, gid) || chmod(path, mode)))
		result = -errno;
	if (result < 0)
		log_error("cannot pin %s: %s", path, strerror(-result));
	return result;
}

/* The policy map is a section of constants, and the skeleton gives it a name of its own. */
static struct bpf_map *map_of(const struct load *load, size_t which)
{
	return which == PIN_POLICY
		       ? load->programs.bpf->maps.rodata_policy
		       : bpf_object__find_map_by_name(load->programs.bpf->obj, pin_maps[which].name);
}

/* `retired` comes first: whoever opens a pin of this load can be stopped from using it. */
static int pin_maps_all(struct load *load)
{
	int retired = pin_at(load, PIN_RETIRED, PIN_PRIVATE_MODE, 0,
			     bpf_map__fd(load->programs.bpf->maps.data_retired));

	if (retired < 0)
		return retired;
	for (size_t i = 0; i < PIN_MAPS; i++) {
		struct bpf_map *map = map_of(load, i);
		int result = map ? pin_at(load, pin_maps[i].name, pin_maps[i].mode, load->settings->gid,
					  bpf_map__fd(map))
				 : -ENOENT;

		if (result < 0)
			return result;
	}
	return 0;
}

/*
 * Pins the link. From then on only the pin keeps it alive. bpf_link__destroy() would detach it first (and
 * disable a perf event), so it is disconnected; its descriptors close with this process.
 */
static int pin_attached(struct load *load, const char *name, mode_t mode, gid_t gid, struct bpf_link *link)
{
	int result = pin_at(load, name, mode, gid, bpf_link__fd(link));

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

/* Implements programs_link_add. */
static int pin_observer(void *user, const char *name, struct bpf_link *link)
{
	struct load *load = user;
	_cleanup_free_ char *pin = NULL;
	int result;

	if (asprintf(&pin, "link_%s", name) < 0) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	result = pin_attached(load, pin, PIN_PRIVATE_MODE, 0, link);
	if (!result && strncmp(name, "oncpu_", 6))
		note_attached(load, pin);
	return result;
}

static int attach(struct load *load)
{
	int result = programs_attach(&load->programs, load->settings->programs.hz, pin_observer, load);
	char name[300];

	cpus_format(load->programs.cpus, load->programs.cpus_count, load->manifest.sampled_cpus,
		    sizeof(load->manifest.sampled_cpus));
	snprintf(name, sizeof(name), "link_oncpu_%s", load->manifest.sampled_cpus);
	note_attached(load, name);
	return result;
}

static int pin_for_readers(const struct load *load, enum pin_iterator iterator, const struct bpf_link *link)
{
	const struct load_settings *settings = load->settings;
	int result;

	if (!settings->has_readers || iterator < PIN_THREADS)
		return 0;
	result = readers_pin_prepare(settings->run_dir, iterator, bpf_link__fd(link), settings->readers);
	if (result < 0)
		log_error("cannot pin %s in %s/" READERS_DIRECTORY ": %s", pin_iterators[iterator],
			  settings->run_dir, strerror(-result));
	return result;
}

static int pin_iterators_all(struct load *load)
{
	struct bpf_program *programs[PIN_ITERATORS] = {
		[PIN_TASKS] = load->programs.bpf->progs.walk_tasks,
		[PIN_MAPPINGS] = programs_mappings(&load->programs),
		[PIN_STATES] = load->programs.bpf->progs.walk_states,
		[PIN_LOOKS] = load->programs.bpf->progs.walk_activity,
		[PIN_AWAY] = load->programs.bpf->progs.walk_away,
		[PIN_PROGRAMS] = load->programs.bpf->progs.walk_programs,
		[PIN_REQUESTS] = load->programs.bpf->progs.walk_requests,
		[PIN_THREADS] = load->programs.bpf->progs.walk_threads,
		[PIN_STACKS] = load->programs.bpf->progs.walk_stacks,
	};

	for (size_t i = 0; i < PIN_ITERATORS; i++) {
		struct bpf_link *link;
		int result;

		if (!bpf_program__autoload(programs[i]))
			continue;
		link = bpf_program__attach_iter(programs[i], NULL);
		if (!link)
			return log_failed(-errno, "cannot make the iterator %s: %s", pin_iterators[i],
					  strerror(errno));
		result = pin_for_readers(load, (enum pin_iterator)i, link);
		if (result < 0) {
			bpf_link__destroy(link);
			return result;
		}
		result = pin_attached(load, pin_iterators[i], PIN_ITERATOR_MODE, load->settings->gid, link);
		if (result < 0)
			return result;
		note_attached(load, pin_iterators[i]);
	}
	return 0;
}

static int pin_programs_all(struct load *load)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, load->programs.bpf->obj) {
		_cleanup_free_ char *name = NULL;
		int result;

		if (program == load->programs.bpf->progs.walk_ksyms || !bpf_program__autoload(program))
			continue; /* it runs once, during the load; or it is for another kernel */
		if (asprintf(&name, "prog_%s", bpf_program__name(program)) < 0)
			return -ENOMEM;
		result = pin_at(load, name, PIN_PRIVATE_MODE, 0, bpf_program__fd(program));
		if (result < 0)
			return result;
	}
	return 0;
}

static int snapshot_symbols(struct load *load)
{
	struct bpf_link *link = bpf_program__attach_iter(load->programs.bpf->progs.walk_ksyms, NULL);
	int result;

	result = link ? kernel_symbols_snapshot(bpf_link__fd(link), &load->programs.bpf->bss->ksyms_emit,
						&load->symbols, &load->symbols_bytes)
		      : -errno;
	bpf_link__destroy(link);
	if (result == -ENOENT)
		log_warning(
			"the kernel shows no symbols to bourdon-load (kptr_restrict, lockdown): samples will have no kernel frames");
	else if (result < 0)
		log_error("cannot read the kernel's symbols: %s", strerror(-result));
	return result == -ENOENT ? 0 : result;
}

/* Comes first: from here on no other loader works at the same pins. */
static int prepare_directory(struct load *load)
{
	const char *pin_dir = load->settings->pin_dir;
	int fd = pin_directory_prepare(pin_dir, load->settings->gid, &load->prepared);

	if (fd == -EBUSY)
		log_error(
			"cannot lock the directory of %s: another loader works there, or somebody holds its lock",
			pin_dir);
	else if (fd < 0)
		log_error("cannot make %s" PIN_LOADING ": %s", pin_dir, strerror(-fd));
	else
		load->prepared_fd = fd;
	return fd < 0 ? fd : 0;
}

static int load_programs(struct load *load)
{
	return programs_load(&load->programs, &load->settings->programs);
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
	hexadecimal_write(digest, sizeof(digest), hex);
}

/*
 * /sys/kernel/notes holds the kernel's ELF notes: a header of three words (name bytes, descriptor bytes,
 * type), the name and the descriptor, each padded to a word (elf(5)).
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
		hexadecimal_write(notes + descriptor, words[1], hex);
		return;
	}
}

/* If the previous load mounted bpffs, this one inherits the duty to unmount it. */
static bool was_mounted_by_us(const struct load_settings *settings)
{
	struct manifest before;

	return run_files_manifest(settings->run_dir, &before) && before.mounted_bpffs &&
	       !strcmp(before.pin_dir, settings->pin_dir);
}

static void fill_manifest(struct load *load)
{
	const struct load_settings *settings = load->settings;
	struct manifest *manifest = &load->manifest;
	struct utsname name;

	uname(&name);
	manifest->abi = BOURDON_ABI;
	manifest->loaded_at = (uint64_t)clock_wall_ns();
	manifest->hz = settings->programs.hz;
	manifest->cpus = load->programs.rings;
	manifest->slots_per_cpu = load->programs.slots_per_cpu;
	manifest->slot_bytes = sizeof(struct sample);
	manifest->targets = settings->programs.targets;
	manifest->quiet_after_ns = settings->programs.quiet_after_ns;
	manifest->mounted_bpffs = settings->mounted_bpffs || was_mounted_by_us(settings);
	snprintf(manifest->version, sizeof(manifest->version), "%s", BOURDON_VERSION);
	snprintf(manifest->kernel, sizeof(manifest->kernel), "%s", name.release);
	snprintf(manifest->pin_dir, sizeof(manifest->pin_dir), "%s", settings->pin_dir);
	read_kernel_build_id(manifest->kernel_build_id);
	hash_object(manifest->object_sha256);
}

static int swap_for_readers(const struct load_settings *settings)
{
	int result = settings->has_readers ? readers_pins_swap(settings->run_dir) : 0;

	if (result < 0)
		log_error("cannot put the readers' pins in place in %s/" READERS_DIRECTORY ": %s",
			  settings->run_dir, strerror(-result));
	return result;
}

/*
 * Everything that can fail comes before the swap. Then some renames follow, and what was swapped is swapped back if one
 * of them fails.
 */
static int put_in_place(struct load *load)
{
	const struct load_settings *settings = load->settings;
	struct run_files files = { settings->run_dir, settings->gid, load->symbols, load->symbols_bytes };
	int result;

	fill_manifest(load);
	result = run_files_prepare(&files, &load->manifest);
	if (result < 0)
		return result;
	result = pin_directory_swap(load->prepared, settings->pin_dir);
	if (result < 0) {
		log_error("cannot put the pins in place at %s: %s", settings->pin_dir, strerror(-result));
	} else {
		result = swap_for_readers(settings);
		if (!result) {
			result = run_files_commit(&files);
			if (result < 0 && settings->has_readers)
				readers_pins_swap(settings->run_dir);
		}
		/* the first load: nothing was there before, so nothing stays */
		if (result < 0 && pin_directory_swap(load->prepared, settings->pin_dir)) {
			pin_directory_remove(settings->pin_dir);
			run_files_remove(settings->run_dir);
		}
	}
	if (result < 0)
		run_files_abandon(&files);
	return result;
}

/* The previous pins are where these were prepared. */
static int retire_previous(const struct load *load)
{
	int result = pin_directory_retire(load->prepared);

	if (result == -ENODATA) {
		log_warning(
			"an older version had loaded what is replaced: an iterator of it that a process still has open goes on delivering; end that process");
		return 0;
	}
	if (result < 0)
		log_error(
			"the new programs are in place, but those before cannot be ended: %s; end every process that has a pin of theirs open",
			strerror(-result));
	return result;
}

/* Puts the pins in place, and ends what was there before. */
static int replace_previous(struct load *load, int *ret_users)
{
	const char *pin_dir = load->settings->pin_dir;
	_cleanup_close_ int lock = pin_directory_lock(pin_dir, load->prepared_fd);
	int result;

	if (lock < 0)
		return log_failed(lock, "cannot lock the directory of %s: %s", pin_dir,
				  lock == -EBUSY ? "somebody holds its lock" : strerror(-lock));
	*ret_users = pin_directory_users(pin_dir);
	/* frees the lock for the daemon, which locks the pins that it uses */
	close(TAKE_FD(load->prepared_fd));
	result = put_in_place(load);
	if (!result)
		result = retire_previous(load);
	/* under the lock: once it is free, another loader may prepare its own pins there */
	pin_directory_remove(load->prepared);
	free(TAKE_PTR(load->prepared));
	return result;
}

int load_run(const struct load_settings *settings)
{
	static int (*const steps[])(struct load * load) = {
		prepare_directory, load_programs, snapshot_symbols, pin_maps_all, pin_programs_all,
		pin_iterators_all, attach
	};
	_cleanup_(load_close) struct load load = { .settings = settings, .prepared_fd = -EBADF };
	int result = 0, users = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && !result; i++)
		result = steps[i](&load);
	if (!result)
		result = replace_previous(&load, &users);
	if (!result && users >= 0)
		log_info("replaced what was loaded at %s", settings->pin_dir);
	if (!result && users > 0) /* it sees that its pins are gone */
		log_warning(
			"the bourdond that runs there ends now, because a confined daemon cannot open new pins; start it again with '%s', unless its unit or a loop does",
			start_command());
	return result < 0 ? EXIT_FAILED : EXIT_DONE;
}
