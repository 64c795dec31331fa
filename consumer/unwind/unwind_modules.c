/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_modules.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/runtime_sign.h"
#include "consumer/symbols/vdso.h"
#include "consumer/unwind/unwind_module.h"
#include "consumer/unwind/unwind_room.h"

#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#define KEPT_NS (64 * CLOCK_SECOND_NS) /* time that an unused table stays in the map, unless room is short */
/* a file that has to wait for bourdon-grant is opened again after 1, 2, 4, 8 and 8 s */
#define PUT_OFF_NS CLOCK_SECOND_NS
#define PUT_OFF_MAX_NS (8 * CLOCK_SECOND_NS)
#define WAITING_MAX 64U /* files that are open and wait for a symbolizer */
#define DEATHS_MAX 3U   /* symbolizers that may die in a second */
/* after the first table of several is made, others are waited for so long: then processes get what is there */
#define TOGETHER_NS (CLOCK_SECOND_NS / 20)
/* Whoever had so much more of the symbolizers' time than another user, in this time, waits for that one. */
#define TURN_NS (CLOCK_SECOND_NS / 4)
#define TURNS_NS (10 * CLOCK_SECOND_NS)

/* ---- removing a table ---- */

static void end_waiting(struct unwind_modules *modules, struct unwind_module *module)
{
	if (module->state != MODULE_WAITING)
		return;
	module->state = MODULE_NEW;
	module->is_under_way = false;
	cleanup_close(&module->fd);
	free(TAKE_PTR(module->path));
	modules->waiting--;
}

static void empty(struct unwind_modules *modules, struct unwind_module *module)
{
	if (module->is_under_way)
		table_workers_cancel(modules->workers, module);
	end_waiting(modules, module);
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

/* ---- what became of one ---- */

static const char *shown_path(const struct mapped_file *file)
{
	return file ? file->path : "[vdso]";
}

/* Shows the failure to whoever asks for the status, until the file has a table. */
static void show_failure(const struct unwind_pass *pass, const struct unwind_module *module, const char *path,
			 int error, uint64_t retry_ns)
{
	table_failures_note(pass->failures, path, &module->identity, error, pass->now_ns, retry_ns);
}

static void put_off(struct unwind_module *module, struct unwind_pass *pass, const char *path)
{
	module->put_off_ns = !module->put_off_ns                   ? PUT_OFF_NS
			     : module->put_off_ns < PUT_OFF_MAX_NS ? 2 * module->put_off_ns
								   : PUT_OFF_MAX_NS;
	module->put_off_until_ns = pass->now_ns + module->put_off_ns;
	show_failure(pass, module, path, -EBUSY, module->put_off_until_ns);
	pass->more = true;
}

static void log_failure(struct unwind_modules *modules, const char *path, int error)
{
	const struct table_reason_text *text = &table_reason_texts[table_reason_of(error)];
	char reason[TABLE_REASON_BYTES];

	/* files without unwind information, and files that are no program of this machine */
	if (error == -ENODATA || error == -ENOTSUP || !log_allowed(&modules->failures, 5))
		return;
	table_reason_write(error, reason);
	if (error == -ENOSPC)
		log_warning("no unwind table for %s: %s; its frames are unwound by frame pointers; %s", path,
			    reason, text->remedy);
	else
		log_info("no unwind table for %s: %s; its frames are unwound by frame pointers; %s", path,
			 reason, text->remedy);
}

static void note_failure(struct unwind_modules *modules, struct unwind_pass *pass,
			 struct unwind_module *module, const char *path, int error)
{
	empty(modules, module);
	module->state = MODULE_WITHOUT;
	module->no_room = error == -ENOSPC;
	/* a retry helps if access or lack of room was the cause; the content of the file stays the same */
	if (error == -ETIMEDOUT)
		module->retry_ns = pass->now_ns + RETRY_SLOW_NS;
	else if (error != -EPIPE && error != -EBADMSG && error != -EFBIG && error != -ENODATA &&
		 error != -ENOTSUP)
		module->retry_ns = pass->now_ns + RETRY_NS;
	log_failure(modules, path, error);
}

static void note_result(struct unwind_modules *modules, struct unwind_pass *pass,
			struct unwind_module *module, const char *path, int result)
{
	bool is_made_room = result == -ENOSPC && unwind_room_make(modules, pass, module);

	if (!result) {
		module->state = MODULE_READY;
		module->made_ns = pass->now_ns;
		module->uses = 0;
		table_failures_remove(pass->failures, &module->identity);
		return;
	}
	note_failure(modules, pass, module, path, result);
	if (is_made_room) {
		/* kernel programs may still read the freed elements (unit_map.h) */
		module->retry_ns = pass->now_ns + RETRY_ROOM_NS;
		if (!module->is_of_bystander)
			modules->room_is_for_targets_ns = pass->now_ns + 2 * RETRY_ROOM_NS;
		pass->more = true;
	}
	show_failure(pass, module, path, result, module->retry_ns);
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

/* ---- kept tables ---- */

static int take_kept(void *user, struct table_message *message, size_t bytes)
{
	return unwind_reception_take(user, message, bytes);
}

/* Returns -ENOENT if no table of the file is kept; else as unwind_reception_take(). */
static int load_kept(struct unwind_modules *modules, struct unwind_module *module)
{
	struct unwind_reception *reception;
	int result;

	if (!module->identity.inode)
		return -ENOENT;
	reception = unwind_reception_new(modules->space);
	result = reception ? table_cache_load(modules->cache, &module->file, take_kept, reception) : -ENOENT;
	if (result != -ENOENT)
		module->runtime = unwind_reception_runtime(reception);
	unwind_reception_end(reception, result ? NULL : &module->place);
	return result;
}

/* ---- waiting for a symbolizer ---- */

/* Half of the places that are free is for others. */
static bool may_wait(const struct unwind_modules *modules, uint32_t uid)
{
	uint32_t own = 0;

	for (uint32_t i = 0; i < modules->modules_count; i++)
		own += modules->modules[i]->state == MODULE_WAITING && modules->modules[i]->uid == uid;
	return modules->waiting < WAITING_MAX && own < WAITING_MAX - modules->waiting;
}

static uint64_t turn_of(struct unwind_modules *modules, uint32_t uid)
{
	return user_shares_of(&modules->turns, uid)->used[0] / TURN_NS;
}

static bool goes_first(struct unwind_modules *modules, const struct unwind_module *one,
		       const struct unwind_module *other)
{
	uint64_t turn = turn_of(modules, one->uid), other_turn = turn_of(modules, other->uid);

	if (turn != other_turn)
		return turn < other_turn;
	if (one->is_of_bystander != other->is_of_bystander)
		return other->is_of_bystander;
	return one->file.bytes < other->file.bytes;
}

static struct unwind_module *next_waiting(struct unwind_modules *modules)
{
	struct unwind_module *next = NULL;

	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];

		if (module->state == MODULE_WAITING && !module->is_under_way &&
		    (!next || goes_first(modules, module, next)))
			next = module;
	}
	return next;
}

/* Whether symbolizers die so fast that the next one has to wait. */
static bool is_dying(struct unwind_modules *modules, uint64_t now_ns)
{
	if (now_ns - modules->deaths_since_ns >= CLOCK_SECOND_NS) {
		modules->deaths_since_ns = now_ns;
		modules->deaths = 0;
	}
	return modules->deaths >= DEATHS_MAX;
}

static void end_with(struct unwind_modules *modules, struct unwind_pass *pass, struct unwind_module *module,
		     int result)
{
	_cleanup_free_ char *path = TAKE_PTR(module->path);

	end_waiting(modules, module);
	note_result(modules, pass, module, path ? path : "", result);
}

static void begin_waiting(struct unwind_modules *modules, struct unwind_pass *pass)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct unwind_module *next;

	if (now_ns - modules->turns_since_ns >= TURNS_NS) {
		user_shares_clear(&modules->turns);
		modules->turns_since_ns = now_ns;
	}
	while (table_workers_idle(modules->workers) && !is_dying(modules, now_ns) &&
	       (next = next_waiting(modules))) {
		int result = table_workers_begin(modules->workers, next->fd, false, next);

		if (result == -EAGAIN)
			return; /* no fault of this file */
		next->is_under_way = !result;
		if (result < 0)
			end_with(modules, pass, next, result);
	}
}

static void end_one(struct unwind_modules *modules, struct unwind_pass *pass, struct table_outcome *outcome)
{
	struct unwind_module *module = outcome->of;

	user_shares_of(&modules->turns, module->uid)->used[0] += outcome->spent_ns;
	modules->deaths += outcome->result == -EPIPE || outcome->result == -EBADMSG;
	if (outcome->runtime != RUNTIME_NOT_READ)
		module->runtime = outcome->runtime;
	if (module->identity.inode && outcome->result != -ENOMEM)
		file_cache_keep(modules->cache, FILE_CACHE_TABLES, &module->file, module->fd,
				&outcome->bytes);
	else
		kept_bytes_free(&outcome->bytes);
	module->place = outcome->place;
	end_with(modules, pass, module, outcome->result);
}

bool unwind_modules_work(struct unwind_modules *modules, struct unwind_pass *pass, uint64_t until_ns)
{
	struct table_outcome outcome;
	bool any = false;

	for (;;) {
		begin_waiting(modules, pass);
		if (!table_workers_wait(modules->workers, until_ns, &outcome))
			break;
		end_one(modules, pass, &outcome);
		if (!any && clock_monotonic_ns() + TOGETHER_NS < until_ns)
			until_ns = clock_monotonic_ns() + TOGETHER_NS;
		any = true;
	}
	if (!modules->waiting) {
		table_workers_rest(modules->workers);
		file_cache_flush(modules->cache);
	}
	return any;
}

uint32_t unwind_modules_waiting(const struct unwind_modules *modules)
{
	return modules->waiting;
}

/* Has the file wait for a symbolizer, with the descriptor. */
static void begin_to_wait(struct unwind_modules *modules, const struct unwind_pass *pass,
			  struct unwind_module *module, const struct mapped_file *file, int fd)
{
	module->fd = fd;
	module->path = strdup(shown_path(file));
	module->uid = pass->uid;
	module->state = MODULE_WAITING;
	modules->waiting++;
}

static void build(struct unwind_modules *modules, struct unwind_pass *pass, struct unwind_module *module,
		  struct mapped_file *file)
{
	struct stat at = { 0 };
	_cleanup_close_ int fd = open_file(modules, pass, file, &at);
	int result;

	module->is_of_bystander = pass->is_bystander;
	module->checked = pass->number;
	if (fd != -EBUSY)
		module->put_off_ns = module->put_off_until_ns = 0;
	/* it cannot be opened: most likely it is still the same file, so keep its table */
	module->is_suspect = fd < 0 && is_in_use(module, pass);
	module->next_look_ns = module->is_suspect || (file && pass->files->asked) ? pass->now_ns + RETRY_NS
										  : 0;
	/* the inode number may have been reused for another file */
	if (module->is_suspect || (fd >= 0 && file_key_is_of(&module->file, &at) && is_done(module, pass)))
		return;
	if (fd >= 0 && !file_key_is_of(&module->file, &at))
		module->runtime = RUNTIME_NOT_READ;
	retire_table(modules, pass, module);
	module->retry_ns = 0;
	module->no_room = false;
	if (fd == -EBUSY) {
		put_off(module, pass, shown_path(file));
		return;
	}
	if (fd == -EAGAIN) { /* the deadline: the next pass opens it */
		pass->more = true;
		return;
	}
	result = fd;
	if (fd >= 0) {
		module->file = file_key_of(
			&at, makedev(module->identity.device_major, module->identity.device_minor));
		result = load_kept(modules, module);
	}
	if (result == -ENOENT && fd >= 0)
		begin_to_wait(modules, pass, module, file, TAKE_FD(fd));
	else
		note_result(modules, pass, module, shown_path(file), result);
}

/* ---- all modules ---- */

/* Returns NULL without memory. */
static struct unwind_module *find_module(struct unwind_modules *modules, const struct mapped_file *file)
{
	struct unwind_module described = { .state = MODULE_NEW, .fd = -EBADF }, *module;
	uint32_t found;

	if (file)
		described.identity =
			(struct table_identity){ file->inode, file->device_major, file->device_minor };
	found = hash_index_find_key(&modules->index, HASH_KEYS_OF(modules->modules, identity),
				    &described.identity);
	if (found != HASH_INDEX_NONE)
		return modules->modules[found];
	module = malloc(sizeof(*module));
	if (!module || array_make_room(modules->modules, modules->modules_count, modules->modules_room, 1U))
		goto failed;
	*module = described;
	modules->modules[modules->modules_count] = module;
	if (hash_index_add_key(&modules->index, HASH_KEYS_OF(modules->modules, identity),
			       modules->modules_count))
		goto failed;
	modules->modules_count++;
	return module;
failed:
	free(module);
	return NULL;
}

/*
 * Whether to open the file: it has no table, or its table may be that of another file, or a process is a target now for which
 * bourdon-grant opens it.
 */
static bool needs_build(const struct unwind_module *module, const struct unwind_pass *pass)
{
	if (module->state == MODULE_WAITING)
		return false;
	return module->state == MODULE_NEW || (module->is_of_bystander && !pass->is_bystander) ||
	       (module->is_suspect && pass->now_ns >= module->next_look_ns) ||
	       (module->state == MODULE_READY && module->pass + 1 < pass->number) ||
	       (module->retry_ns && pass->now_ns >= module->retry_ns);
}

static void note_owner(struct unwind_module *module, const struct unwind_pass *pass)
{
	if (module->pass != pass->number) {
		module->was_shared = module->is_shared;
		module->is_shared = false;
		module->owner = pass->uid;
	}
	module->is_shared |= module->owner != pass->uid;
}

const struct unwind_place *unwind_modules_need(struct unwind_modules *modules, struct unwind_pass *pass,
					       const struct mapping *mapping)
{
	struct unwind_module *module = find_module(modules, mapping->file);

	if (!module)
		return NULL;
	if (mapping->since > pass->slice_before && module->checked != pass->number)
		module->is_suspect = true;
	note_owner(module, pass);
	if ((module->pass != pass->number || module->is_suspect) && needs_build(module, pass)) {
		if (pass->now_ns < module->put_off_until_ns ||
		    (pass->is_bystander && pass->now_ns < modules->room_is_for_targets_ns) ||
		    (module->owner == modules->makes_way && pass->now_ns < modules->makes_way_ns)) {
			pass->more = true;
		} else if (clock_monotonic_ns() < pass->deadline_ns && may_wait(modules, pass->uid)) {
			build(modules, pass, module, mapping->file);
		} else {
			pass->more = true;
			if (!is_in_use(module, pass))
				return NULL; /* no table until then */
		}
	}
	if (module->is_evicted)
		show_failure(pass, module, shown_path(mapping->file), -ENOSPC, module->retry_ns);
	module->is_evicted = false;
	module->pass = pass->number;
	if (!pass->is_bystander)
		module->target_pass = pass->number;
	module->needed_ns = pass->now_ns;
	if (mapping->file)
		mapping->file->runtime = module->runtime;
	if (mapping->file && module->state == MODULE_READY)
		mapping->file->text = module->place.text_page + 1;
	return module->state == MODULE_READY ? &module->place : NULL;
}

/* Returns false without memory for the index. */
static bool keep_module(struct unwind_modules *modules, struct unwind_module *module, uint32_t position)
{
	modules->modules[position] = module;
	return !hash_index_add_key(&modules->index, HASH_KEYS_OF(modules->modules, identity), position);
}

void unwind_modules_sweep(struct unwind_modules *modules, const struct unwind_pass *pass)
{
	uint32_t kept = 0;

	hash_index_free(&modules->index);
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];

		/* without memory for the index the module is dropped, and built again when it is needed */
		if ((module->state != MODULE_WAITING && pass->now_ns - module->needed_ns > KEPT_NS) ||
		    !keep_module(modules, module, kept)) {
			empty(modules, module);
			table_failures_remove(pass->failures, &module->identity);
			free(module);
			continue;
		}
		kept++;
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

int unwind_modules_new(struct unwind_modules **ret_modules, struct unwind_space *space,
		       struct table_workers *workers, struct file_cache *cache)
{
	struct unwind_modules *modules = calloc(1, sizeof(*modules));

	if (!modules)
		return -ENOMEM;
	modules->space = space;
	modules->workers = workers;
	modules->cache = cache;
	modules->vdso = vdso_open();
	*ret_modules = modules;
	return 0;
}

void unwind_modules_free(struct unwind_modules *modules)
{
	if (!modules)
		return;
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];

		if (module->is_under_way)
			table_workers_cancel(modules->workers, module);
		end_waiting(modules, module);
		free(module->place.chunks);
		free(module);
	}
	free(modules->modules);
	hash_index_free(&modules->index);
	user_shares_clear(&modules->turns);
	cleanup_close(&modules->vdso);
	free(modules);
}
