/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_modules.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/hash_index.h"
#include "common/log.h"
#include "consumer/symbolizer/runtime_sign.h"
#include "consumer/symbolizer/spawner.h"
#include "consumer/unwind/vdso.h"

#include <fcntl.h>
#include <string.h>

/* until a file that failed, or that only bourdon-grant can open, is tried again */
#define RETRY_NS (60 * CLOCK_SECOND_NS)
#define PASSES_KEPT 64U               /* passes that an unused table is kept, unless room is short */
#define DEATHS_MAX 3U                 /* symbolizers that may die in one pass */
#define TIMEOUTS_MAX 8U               /* timeouts of one file before it waits for RETRY_NS */
#define FILE_NS (3 * CLOCK_SECOND_NS) /* longest time for one file in a pass */
/* a file that has to wait for bourdon-grant is opened again after 1, 2, 4, 8 and 8 s */
#define PUT_OFF_NS CLOCK_SECOND_NS
#define PUT_OFF_MAX_NS (8 * CLOCK_SECOND_NS)

/* The result for a file so far. */
enum module_state { MODULE_NEW, MODULE_READY, MODULE_WITHOUT };

struct unwind_module {
	uint64_t inode; /* these three are 0: the vDSO */
	uint32_t device_major, device_minor;
	enum module_state state;
	bool no_room;
	uint64_t retry_ns; /* when to try again; 0: never */
	/* the file is not opened before: opening it takes a call to bourdon-grant, or failed */
	uint64_t next_look_ns;
	struct timespec changed;
	int64_t bytes;
	unsigned int pass;     /* the last pass that needed it */
	unsigned int checked;  /* the last pass that opened the file */
	bool is_suspect;       /* there is a new mapping: its inode number may belong to another file now */
	unsigned int timeouts; /* times that its table was not ready in time */
	/* its request to bourdon-grant was put off: how long, and until when. 0: it was not */
	uint64_t put_off_ns, put_off_until_ns;
	struct unwind_place place;
	uint32_t runtime; /* its sign (runtime_sign.h) */
};

struct unwind_modules {
	struct unwind_space *space;
	int vdso; /* descriptor of the image; negative: there is none */
	struct unwind_module **modules;
	uint32_t modules_count, modules_room;
	struct hash_index index;
	struct log_limit failures;
};

/* ---- removing a table ---- */

static void empty(struct unwind_modules *modules, struct unwind_module *module)
{
	unwind_space_release(modules->space, &module->place);
	module->state = MODULE_NEW;
}

/*
 * Process entries may refer to the table until the next pass has written them again, so its room is kept
 * until then.
 */
static void retire_table(struct unwind_modules *modules, struct unwind_pass *pass,
			 struct unwind_module *module)
{
	pass->more |= unwind_space_retire(modules->space, &module->place, pass->number);
	empty(modules, module);
}

/* Makes room: frees the tables that no process needed in this pass or the one before. */
static void empty_unused(struct unwind_modules *modules, const struct unwind_pass *pass)
{
	for (uint32_t i = 0; i < modules->modules_count; i++)
		if (modules->modules[i]->pass + 1 < pass->number)
			empty(modules, modules->modules[i]);
}

/* ---- building one ---- */

static int open_file(const struct unwind_modules *modules, const struct unwind_pass *pass,
		     struct mapped_file *file, struct stat *ret_at)
{
	int fd;

	if (file)
		return mapped_files_open(pass->files, pass->mappings, file, pass->deadline_ns, ret_at);
	fd = fcntl(modules->vdso, F_DUPFD_CLOEXEC, 0);
	return fd < 0 || fstat(fd, ret_at) ? -errno : fd;
}

static int compile(struct unwind_modules *modules, struct unwind_pass *pass, int fd,
		   struct unwind_module *module)
{
	uint64_t patience_ns = clock_monotonic_ns() + FILE_NS;
	uint32_t runtime;
	bool usable;
	int result;

	if (patience_ns > pass->deadline_ns)
		patience_ns = pass->deadline_ns;
	if (pass->symbolizer < 0 && pass->deaths < DEATHS_MAX)
		pass->symbolizer = spawner_request(pass->spawner_socket, SYMBOLIZER_SOON, pass->deadline_ns);
	if (pass->symbolizer < 0)
		return -EAGAIN;
	result = unwind_space_receive(modules->space, pass->symbolizer, fd, patience_ns, &module->place,
				      &runtime, &usable);
	if (runtime != RUNTIME_NOT_READ)
		module->runtime = runtime;
	if (!usable) {
		close(TAKE_FD(pass->symbolizer));
		pass->deaths += result == -EPIPE || result == -EBADMSG;
	}
	return result;
}

static void note_failure(struct unwind_modules *modules, struct unwind_pass *pass,
			 struct unwind_module *module, const struct mapped_file *file, int error)
{
	const char *path = file ? file->path : "[vdso]";

	empty(modules, module);
	if (error == -EBUSY) {
		module->put_off_ns = !module->put_off_ns                   ? PUT_OFF_NS
				     : module->put_off_ns < PUT_OFF_MAX_NS ? 2 * module->put_off_ns
									   : PUT_OFF_MAX_NS;
		/* the next pass begins a second after this one has ended, or later */
		module->put_off_until_ns = pass->now_ns + module->put_off_ns;
		pass->more = true;
		return;
	}
	/* no fault of this file, perhaps; the next pass retries it, and other files get their turn */
	if (error == -EAGAIN || (error == -ETIMEDOUT && ++module->timeouts < TIMEOUTS_MAX)) {
		pass->more = true;
		return;
	}
	module->state = MODULE_WITHOUT;
	module->no_room = error == -ENOSPC;
	/* a retry helps if access or lack of room was the cause; the content of the file stays the same */
	if (error != -EPIPE && error != -EBADMSG && error != -EFBIG && error != -ENODATA && error != -ENOTSUP)
		module->retry_ns = pass->now_ns + RETRY_NS;
	if (error == -ENODATA || error == -ENOTSUP || !log_allowed(&modules->failures, 5))
		return;
	if (error == -ENOSPC)
		log_warning(
			"no room for the unwind table of %s: its frames are unwound by frame pointers; raise bourdon-load --unwind-memory",
			path);
	else
		log_info("no unwind table for %s: %s; its frames are unwound by frame pointers", path,
			 error == -EPIPE     ? "the symbolizer died reading it"
			 : error == -EBADMSG ? "the symbolizer sent an invalid table"
					     : strerror(-error));
}

/* Whether the table was made from this file: its inode number may have been reused for another one. */
static bool is_same(const struct unwind_module *module, const struct stat *at)
{
	return module->bytes == at->st_size && module->changed.tv_sec == at->st_ctim.tv_sec &&
	       module->changed.tv_nsec == at->st_ctim.tv_nsec;
}

static bool is_in_use(const struct unwind_module *module, const struct unwind_pass *pass)
{
	return module->state == MODULE_READY && module->pass + 1 >= pass->number;
}

/* Whether an unchanged file needs no work: its table is ready, or it failed and its retry is not due. */
static bool is_done(const struct unwind_module *module, const struct unwind_pass *pass)
{
	return module->state == MODULE_READY ||
	       (module->state == MODULE_WITHOUT && (!module->retry_ns || pass->now_ns < module->retry_ns));
}

static void build(struct unwind_modules *modules, struct unwind_pass *pass, struct unwind_module *module,
		  struct mapped_file *file)
{
	struct stat at = { 0 };
	_cleanup_close_ int fd = open_file(modules, pass, file, &at);
	int result = fd;

	module->checked = pass->number;
	if (fd != -EBUSY)
		module->put_off_ns = module->put_off_until_ns = 0;
	/* it cannot be opened: most likely it is still the same file, so keep its table */
	module->is_suspect = fd < 0 && is_in_use(module, pass);
	module->next_look_ns = module->is_suspect || (file && pass->files->asked) ? pass->now_ns + RETRY_NS
										  : 0;
	if (module->is_suspect || (fd >= 0 && is_same(module, &at) && is_done(module, pass)))
		return;
	if (fd >= 0 && !is_same(module, &at)) {
		module->timeouts = 0;
		module->runtime = RUNTIME_NOT_READ;
	}
	retire_table(modules, pass, module);
	module->retry_ns = 0;
	module->no_room = false;
	if (fd >= 0) {
		module->changed = at.st_ctim;
		module->bytes = at.st_size;
		result = compile(modules, pass, fd, module);
	}
	if (result == -ENOSPC) {
		/* for the next pass: kernel programs may still read the freed elements */
		empty_unused(modules, pass);
		pass->more = true;
	}
	if (result < 0)
		note_failure(modules, pass, module, file, result);
	else
		module->state = MODULE_READY;
}

/* ---- all modules ---- */

struct wanted_module {
	struct unwind_module **modules;
	struct unwind_module module;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted_module *wanted = user;
	const struct unwind_module *module = wanted->modules[position];

	return module->inode == wanted->module.inode && module->device_major == wanted->module.device_major &&
	       module->device_minor == wanted->module.device_minor;
}

static uint32_t hash_of(const struct unwind_module *module)
{
	uint64_t identity[2] = { module->inode, (uint64_t)module->device_major << 32 | module->device_minor };

	return hash_bytes(identity, sizeof(identity));
}

static struct unwind_module *add(struct unwind_modules *modules, const struct unwind_module *described)
{
	struct unwind_module *module = malloc(sizeof(*module));

	if (!module || array_make_room(modules->modules, modules->modules_count, modules->modules_room, 1U) ||
	    hash_index_add(&modules->index, hash_of(described), modules->modules_count)) {
		free(module);
		return NULL;
	}
	*module = *described;
	modules->modules[modules->modules_count++] = module;
	return module;
}

/* Returns NULL without memory. */
static struct unwind_module *find(struct unwind_modules *modules, const struct mapped_file *file)
{
	struct wanted_module wanted = { modules->modules, { .state = MODULE_NEW } };
	uint32_t found;

	if (file) {
		wanted.module.inode = file->inode;
		wanted.module.device_major = file->device_major;
		wanted.module.device_minor = file->device_minor;
	}
	found = hash_index_find(&modules->index, hash_of(&wanted.module), is_wanted, &wanted);
	return found != HASH_INDEX_NONE ? modules->modules[found] : add(modules, &wanted.module);
}

/* Whether to open the file: it has no table, or its table may be that of another file. */
static bool needs_build(const struct unwind_module *module, const struct unwind_pass *pass)
{
	return module->state == MODULE_NEW || (module->is_suspect && pass->now_ns >= module->next_look_ns) ||
	       (module->state == MODULE_READY && module->pass + 1 < pass->number) ||
	       (module->retry_ns && pass->now_ns >= module->retry_ns);
}

const struct unwind_place *unwind_modules_need(struct unwind_modules *modules, struct unwind_pass *pass,
					       const struct mapping *mapping)
{
	struct unwind_module *module = find(modules, mapping->file);

	if (!module)
		return NULL;
	if (mapping->since > pass->slice_before && module->checked != pass->number)
		module->is_suspect = true;
	if ((module->pass != pass->number || module->is_suspect) && needs_build(module, pass)) {
		if (pass->now_ns < module->put_off_until_ns) {
			pass->more = true;
		} else if (clock_monotonic_ns() < pass->deadline_ns) {
			build(modules, pass, module, mapping->file);
		} else {
			pass->more = true;
			if (!is_in_use(module, pass))
				return NULL; /* no table until then */
		}
	}
	module->pass = pass->number;
	if (mapping->file)
		mapping->file->runtime = module->runtime;
	return module->state == MODULE_READY ? &module->place : NULL;
}

void unwind_modules_sweep(struct unwind_modules *modules, const struct unwind_pass *pass)
{
	uint32_t kept = 0;

	hash_index_free(&modules->index);
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];

		/* without memory for the index the module is dropped, and built again when it is needed */
		if (pass->number - module->pass > PASSES_KEPT ||
		    hash_index_add(&modules->index, hash_of(module), kept)) {
			empty(modules, module);
			free(module);
			continue;
		}
		modules->modules[kept++] = module;
	}
	modules->modules_count = kept;
	unwind_space_sweep(modules->space, pass->number);
}

void unwind_modules_empty(struct unwind_modules *modules)
{
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		empty(modules, modules->modules[i]);
		modules->modules[i]->retry_ns = 0;
	}
}

struct unwind_modules_counts unwind_modules_count(const struct unwind_modules *modules)
{
	struct unwind_modules_counts counts = { 0 };

	for (uint32_t i = 0; i < modules->modules_count; i++) {
		const struct unwind_module *module = modules->modules[i];

		counts.with += module->state == MODULE_READY;
		counts.without += module->state == MODULE_WITHOUT;
		counts.no_room += module->state == MODULE_WITHOUT && module->no_room;
		counts.rows += module->place.rows;
	}
	return counts;
}

int unwind_modules_new(struct unwind_modules **ret_modules, struct unwind_space *space)
{
	struct unwind_modules *modules = calloc(1, sizeof(*modules));

	if (!modules)
		return -ENOMEM;
	modules->space = space;
	modules->vdso = vdso_open();
	*ret_modules = modules;
	return 0;
}

void unwind_modules_free(struct unwind_modules *modules)
{
	if (!modules)
		return;
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		free(modules->modules[i]->place.chunks);
		free(modules->modules[i]);
	}
	free(modules->modules);
	hash_index_free(&modules->index);
	cleanup_close(&modules->vdso);
	free(modules);
}
