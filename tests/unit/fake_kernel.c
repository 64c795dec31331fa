/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/fake_kernel.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "tests/unit/helpers.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

struct record {
	size_t bytes;
	char data[];
};

/* A map: keys and values in the order in which they came. A ring buffer: the records that nobody has consumed. */
struct fake_map {
	const struct pin_map_spec *spec;
	size_t key_bytes;
	size_t value_bytes; /* of all CPUs together */
	char *keys, *values;
	uint32_t count;
	struct record **records;
	uint32_t records_count, records_room;
	int signal; /* of a ring buffer that is read: the eventfd */
};

static struct fake_kernel *there;

/* ---- elements ---- */

static bool is_array(const struct fake_map *map)
{
	return map->spec->type == BPF_MAP_TYPE_ARRAY || map->spec->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static size_t bytes_of_value(size_t which)
{
	enum bpf_map_type type = pin_maps[which].type;
	bool each = type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH;

	return each ? (map_bytes[which].value + 7U) / 8 * 8 * (size_t)libbpf_num_possible_cpus()
		    : map_bytes[which].value;
}

static const char *key_at(const struct fake_map *map, uint32_t position)
{
	return map->keys + position * map->key_bytes;
}

static char *value_at(const struct fake_map *map, uint32_t position)
{
	return map->values + position * map->value_bytes;
}

/* Whether the first bits of both are equal, as many as the key of the trie has. */
static bool is_prefix(const struct pattern_key *pattern, const struct pattern_key *key)
{
	return pattern->prefix_bits <= key->prefix_bits &&
	       !memcmp(pattern->comm, key->comm, pattern->prefix_bits / 8);
}

/* The position of the element, or of none: map->count. */
static uint32_t find(const struct fake_map *map, const void *key)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (!memcmp(key_at(map, i), key, map->key_bytes))
			return i;
	return map->count;
}

static uint32_t find_longest(const struct fake_map *map, const struct pattern_key *key)
{
	uint32_t found = map->count, bits = 0;

	for (uint32_t i = 0; i < map->count; i++) {
		struct pattern_key pattern;

		memcpy(&pattern, key_at(map, i), sizeof(pattern));
		if (is_prefix(&pattern, key) && (found == map->count || pattern.prefix_bits > bits)) {
			found = i;
			bits = pattern.prefix_bits;
		}
	}
	return found;
}

static int get(const struct fake_map *map, const void *key, void *value)
{
	uint32_t at = map->spec->type == BPF_MAP_TYPE_LPM_TRIE ? find_longest(map, key) : find(map, key);

	if (at < map->count)
		memcpy(value, value_at(map, at), map->value_bytes);
	else if (is_array(map))
		memset(value, 0, map->value_bytes);
	else
		return -ENOENT;
	return 0;
}

static void put(struct fake_map *map, const void *key, const void *value)
{
	uint32_t at = find(map, key);

	if (at == map->count) {
		map->keys = reallocarray(map->keys, map->count + 1, map->key_bytes);
		map->values = reallocarray(map->values, map->count + 1, map->value_bytes);
		ck_assert(map->keys && map->values);
		memcpy(map->keys + at * map->key_bytes, key, map->key_bytes);
		map->count++;
	}
	memcpy(value_at(map, at), value, map->value_bytes);
}

static int delete (struct fake_map *map, const void *key)
{
	uint32_t at = find(map, key), after;

	if (at == map->count)
		return -ENOENT;
	after = --map->count - at;
	memmove(map->keys + at * map->key_bytes, key_at(map, at + 1), after * map->key_bytes);
	memmove(value_at(map, at), value_at(map, at + 1), after * map->value_bytes);
	return 0;
}

/* ---- libbpf's functions ---- */

static struct fake_map *map_of(int fd)
{
	for (size_t i = 0; there && i < PIN_MAPS; i++)
		if (there->objects.map_fds[i] == fd)
			return &there->maps[i];
	return NULL;
}

static int result_of(int result)
{
	if (result < 0)
		errno = -result;
	return result;
}

int __real_bpf_map_lookup_elem(int fd, const void *key, void *value);
int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct fake_map *map = map_of(fd);

	return map ? result_of(get(map, key, value)) : __real_bpf_map_lookup_elem(fd, key, value);
}

int __real_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);
int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct fake_map *map = map_of(fd);

	if (!map)
		return __real_bpf_map_update_elem(fd, key, value, flags);
	put(map, key, value);
	return 0;
}

int __real_bpf_map_delete_elem(int fd, const void *key);
int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	struct fake_map *map = map_of(fd);

	return map ? result_of(delete (map, key)) : __real_bpf_map_delete_elem(fd, key);
}

int __real_bpf_map_get_next_key(int fd, const void *key, void *next);
int __wrap_bpf_map_get_next_key(int fd, const void *key, void *next)
{
	const struct fake_map *map = map_of(fd);
	uint32_t at;

	if (!map)
		return __real_bpf_map_get_next_key(fd, key, next);
	at = key ? find(map, key) + 1 : 0;
	if (at >= map->count)
		return result_of(-ENOENT);
	memcpy(next, key_at(map, at), map->key_bytes);
	return 0;
}

/* All maps are as small as where root's policy forbids unwind tables (loader/programs.c). */
int __real_bpf_obj_get_info_by_fd(int fd, void *info, __u32 *bytes);
int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, __u32 *bytes)
{
	const struct fake_map *map = map_of(fd);

	if (!map)
		return __real_bpf_obj_get_info_by_fd(fd, info, bytes);
	*(struct bpf_map_info *)info =
		(struct bpf_map_info){ .type = (__u32)map->spec->type, .max_entries = 1 };
	return 0;
}

/* The position of the first element that is read is in the batch. -ENOENT: these were the last. */
static int look_up(const struct fake_map *map, const void *in, void *out, void *keys, void *values,
		   __u32 *count)
{
	uint32_t from = 0, read = 0;

	if (in)
		memcpy(&from, in, sizeof(from));
	for (; read < *count && from + read < map->count; read++) {
		memcpy((char *)keys + read * map->key_bytes, key_at(map, from + read), map->key_bytes);
		memcpy((char *)values + read * map->value_bytes, value_at(map, from + read),
		       map->value_bytes);
	}
	*count = read;
	from += read;
	memcpy(out, &from, sizeof(from));
	return from < map->count ? 0 : result_of(-ENOENT);
}

/* As the kernel reads an array: behind the key that the batch has, elements that nobody has set, too. */
static int look_up_array(const struct fake_map *map, const void *in, void *out, void *keys, void *values,
			 __u32 *count, uint32_t entries)
{
	uint32_t key = 0, read = 0;

	if (in) {
		memcpy(&key, in, sizeof(key));
		key++;
	}
	for (; read < *count && key < entries; read++, key++) {
		memcpy((char *)keys + read * sizeof(key), &key, sizeof(key));
		get(map, &key, (char *)values + read * map->value_bytes);
	}
	*count = read;
	key--;
	memcpy(out, &key, sizeof(key));
	return key + 1 < entries ? 0 : result_of(-ENOENT);
}

int __real_bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, __u32 *count,
				const struct bpf_map_batch_opts *options);
int __wrap_bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, __u32 *count,
				const struct bpf_map_batch_opts *options)
{
	const struct fake_map *map = map_of(fd);

	if (map && map->spec == &pin_maps[PIN_HISTOGRAMS])
		return look_up_array(map, in, out, keys, values, count, HISTOGRAM_SETS);
	return map ? look_up(map, in, out, keys, values, count)
		   : __real_bpf_map_lookup_batch(fd, in, out, keys, values, count, options);
}

int __real_bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
				const struct bpf_map_batch_opts *options);
int __wrap_bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
				const struct bpf_map_batch_opts *options)
{
	struct fake_map *map = map_of(fd);

	if (!map)
		return __real_bpf_map_update_batch(fd, keys, values, count, options);
	for (uint32_t i = 0; i < *count; i++)
		put(map, (const char *)keys + i * map->key_bytes,
		    (const char *)values + i * map->value_bytes);
	return 0;
}

int __real_bpf_map_lookup_and_delete_batch(int fd, void *in, void *out, void *keys, void *values,
					   __u32 *count, const struct bpf_map_batch_opts *options);
int __wrap_bpf_map_lookup_and_delete_batch(int fd, void *in, void *out, void *keys, void *values,
					   __u32 *count, const struct bpf_map_batch_opts *options)
{
	struct fake_map *map = map_of(fd);
	int result;

	if (!map)
		return __real_bpf_map_lookup_and_delete_batch(fd, in, out, keys, values, count, options);
	result = look_up(map, NULL, out, keys, values, count);
	for (uint32_t i = 0; i < *count; i++)
		HOLDS(!delete (map, (char *)keys + i * map->key_bytes));
	return result;
}

/* ---- ring buffers ---- */

/* Of the fake kernel, or libbpf's own. */
struct reader {
	struct ring_buffer *own;
	struct {
		struct fake_map *map;
		ring_buffer_sample_fn take;
		void *user;
	} rings[2];
	size_t count;
	int signal;
};

static int add_ring(struct reader *reader, int fd, ring_buffer_sample_fn take, void *user)
{
	struct fake_map *map = map_of(fd);

	HOLDS(map && reader->count < ARRAY_SIZE(reader->rings));
	reader->rings[reader->count].map = map;
	reader->rings[reader->count].take = take;
	reader->rings[reader->count++].user = user;
	map->signal = reader->signal;
	return 0;
}

struct ring_buffer *__real_ring_buffer__new(int fd, ring_buffer_sample_fn take, void *user,
					    const struct ring_buffer_opts *options);
struct ring_buffer *__wrap_ring_buffer__new(int fd, ring_buffer_sample_fn take, void *user,
					    const struct ring_buffer_opts *options)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	ck_assert_ptr_nonnull(reader);
	reader->signal = -EBADF;
	if (!map_of(fd)) {
		reader->own = __real_ring_buffer__new(fd, take, user, options);
		if (!reader->own) {
			free(reader);
			return NULL;
		}
	} else {
		reader->signal = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		add_ring(reader, fd, take, user);
	}
	return (struct ring_buffer *)reader;
}

int __real_ring_buffer__add(struct ring_buffer *rings, int fd, ring_buffer_sample_fn take, void *user);
int __wrap_ring_buffer__add(struct ring_buffer *rings, int fd, ring_buffer_sample_fn take, void *user)
{
	struct reader *reader = (struct reader *)rings;

	return reader->own ? __real_ring_buffer__add(reader->own, fd, take, user)
			   : add_ring(reader, fd, take, user);
}

/* Like libbpf's, ends when `take` returns an error, behind the record. */
static int consume(const struct reader *reader, size_t which)
{
	struct fake_map *map = reader->rings[which].map;
	int taken = 0;

	while (map->records_count) {
		struct record *record = map->records[0];
		int result;

		memmove(map->records, map->records + 1, --map->records_count * sizeof(*map->records));
		result = reader->rings[which].take(reader->rings[which].user, record->data, record->bytes);
		free(record);
		if (result < 0)
			return result;
		taken++;
	}
	return taken;
}

int __real_ring_buffer__consume(struct ring_buffer *rings);
int __wrap_ring_buffer__consume(struct ring_buffer *rings)
{
	const struct reader *reader = (const struct reader *)rings;
	int taken = 0;
	uint64_t signals;
	bool more = false;

	if (reader->own)
		return __real_ring_buffer__consume(reader->own);
	for (size_t i = 0; i < reader->count && taken >= 0; i++) {
		int result = consume(reader, i);

		taken = result < 0 ? result : taken + result;
	}
	for (size_t i = 0; i < reader->count; i++)
		more |= reader->rings[i].map->records_count > 0;
	if (!more && read(reader->signal, &signals, sizeof(signals)) < 0)
		HOLDS(errno == EAGAIN);
	return taken;
}

int __real_ring_buffer__epoll_fd(const struct ring_buffer *rings);
int __wrap_ring_buffer__epoll_fd(const struct ring_buffer *rings)
{
	const struct reader *reader = (const struct reader *)rings;

	return reader->own ? __real_ring_buffer__epoll_fd(reader->own) : reader->signal;
}

void __real_ring_buffer__free(struct ring_buffer *rings);
void __wrap_ring_buffer__free(struct ring_buffer *rings)
{
	struct reader *reader = (struct reader *)rings;

	if (!reader)
		return;
	if (reader->own)
		__real_ring_buffer__free(reader->own);
	for (size_t i = 0; i < reader->count; i++)
		reader->rings[i].map->signal = -EBADF;
	cleanup_close(&reader->signal);
	free(reader);
}

/* ---- iterators ---- */

int __real_kernel_objects_open_iterator(const struct kernel_objects *kernel, enum pin_iterator iterator);
int __wrap_kernel_objects_open_iterator(const struct kernel_objects *kernel, enum pin_iterator iterator)
{
	FILE *out;
	int fd;

	if (!there || kernel != &there->objects)
		return __real_kernel_objects_open_iterator(kernel, iterator);
	fd = memfd_create("iterator", MFD_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(dup(fd), "w");
	if (!out)
		return -errno;
	there->iterate(there->user, iterator, out);
	fclose(out);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* ---- the test's side ---- */

static void *map_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

void fake_kernel_make(struct fake_kernel *kernel, uint32_t cpus, uint32_t slots_per_cpu)
{
	static const char symbols[] = "100 schedule\n";
	struct kernel_objects *objects = &kernel->objects;

	*kernel = (struct fake_kernel){ .maps = calloc(PIN_MAPS, sizeof(*kernel->maps)) };
	ck_assert_ptr_nonnull(kernel->maps);
	*objects = (struct kernel_objects){
		.directory_fd = -EBADF,
		.lock_fd = -EBADF,
		.symbols_fd = memfd_create("symbols", MFD_CLOEXEC),
		.manifest = { .abi = BOURDON_ABI,
			      .hz = 47,
			      .cpus = cpus,
			      .slots_per_cpu = slots_per_cpu,
			      .slot_bytes = sizeof(struct sample),
			      .targets = TARGETS_DEFAULT,
			      .quiet_after_ns = 5000000000U },
	};
	ck_assert_int_eq((int)write(objects->symbols_fd, symbols, strlen(symbols)), (int)strlen(symbols));
	for (size_t i = 0; i < PIN_MAPS; i++) {
		kernel->maps[i].spec = &pin_maps[i];
		kernel->maps[i].key_bytes = map_bytes[i].key;
		kernel->maps[i].value_bytes = bytes_of_value(i);
		kernel->maps[i].signal = -EBADF;
		objects->map_fds[i] = memfd_create(pin_maps[i].name, MFD_CLOEXEC);
		ck_assert_int_ge(objects->map_fds[i], 0);
	}
	objects->slots_bytes = sizeof(struct sample) * slots_per_cpu * cpus;
	objects->control = map_memory((size_t)sysconf(_SC_PAGESIZE));
	objects->control->abi = BOURDON_ABI;
	objects->slots = map_memory(objects->slots_bytes);
	objects->offcpu_slots = map_memory(objects->slots_bytes);
	objects->activity = map_memory(ACTIVITY_SLOTS * sizeof(struct activity_slot));
	ck_assert_ptr_null(there);
	there = kernel;
}

void fake_kernel_free(struct fake_kernel *kernel)
{
	for (size_t i = 0; i < PIN_MAPS; i++) {
		for (uint32_t j = 0; j < kernel->maps[i].records_count; j++)
			free(kernel->maps[i].records[j]);
		free(kernel->maps[i].records);
		free(kernel->maps[i].keys);
		free(kernel->maps[i].values);
	}
	kernel_objects_close(&kernel->objects);
	free(kernel->maps);
	there = NULL;
}

void fake_kernel_put(struct fake_kernel *kernel, enum pin_map map, const void *key, const void *value)
{
	put(&kernel->maps[map], key, value);
}

bool fake_kernel_get(struct fake_kernel *kernel, enum pin_map map, const void *key, void *ret_value)
{
	return !get(&kernel->maps[map], key, ret_value);
}

uint32_t fake_kernel_count(const struct fake_kernel *kernel, enum pin_map map)
{
	return kernel->maps[map].count;
}

void fake_kernel_add_count(struct fake_kernel *kernel, uint32_t counter, uint64_t more)
{
	struct fake_map *map = &kernel->maps[PIN_COUNTERS];
	_cleanup_free_ uint64_t *each = calloc(1, map->value_bytes);

	ck_assert_ptr_nonnull(each);
	ck_assert_int_eq(get(map, &counter, each), 0);
	each[0] += more;
	put(map, &counter, each);
}

void fake_kernel_tell(struct fake_kernel *kernel, enum pin_map ring, const void *record, size_t bytes,
		      const char *rest)
{
	struct fake_map *map = &kernel->maps[ring];
	size_t rest_bytes = rest ? strlen(rest) : 0;
	struct record *copy = malloc(sizeof(*copy) + bytes + rest_bytes);

	ck_assert_ptr_nonnull(copy);
	copy->bytes = bytes + rest_bytes;
	memcpy(copy->data, record, bytes);
	if (rest)
		memcpy(copy->data + bytes, rest, rest_bytes);
	ck_assert_int_eq(array_make_room(map->records, map->records_count, map->records_room, 1U), 0);
	map->records[map->records_count++] = copy;
	/* as the programs do: paths of cgroups do not wake the daemon (bpf/cgroup_path.h) */
	if (map->signal >= 0 && ring != PIN_CGROUP_PATHS)
		ck_assert_int_eq(eventfd_write(map->signal, 1), 0);
}

void fake_kernel_add_tally(struct fake_kernel *kernel, uint32_t metric, const struct histogram_tally *more)
{
	const uint32_t index = metric * TALLY_EPOCHS + (uint32_t)(more->epoch % TALLY_EPOCHS);
	_cleanup_free_ struct histogram_tally *of_cpus =
		calloc((size_t)libbpf_num_possible_cpus(), sizeof(*of_cpus));

	ck_assert_ptr_nonnull(of_cpus);
	fake_kernel_get(kernel, PIN_HISTOGRAM_TALLIES, &index, of_cpus);
	if (of_cpus->epoch != more->epoch)
		*of_cpus = (struct histogram_tally){ .epoch = more->epoch };
	of_cpus->events += more->events;
	of_cpus->overflow += more->overflow;
	of_cpus->unpaired += more->unpaired;
	of_cpus->absurd += more->absurd;
	fake_kernel_put(kernel, PIN_HISTOGRAM_TALLIES, &index, of_cpus);
}

void fake_kernel_measure(struct fake_kernel *kernel, uint64_t now_ns, uint32_t metric, uint64_t owner,
			 uint64_t ns, uint64_t count)
{
	static uint32_t next; /* each time a set of its own */
	const struct histogram_tally tally = { .epoch = now_ns / HISTOGRAM_EPOCH_NS, .events = count };
	const struct histogram_set set = { .slots[0] = { .id = tally.epoch << 32 | 1,
							 .key = { .owner = owner,
								  .metric = (uint8_t)metric,
								  .bucket = (uint16_t)bucket_of(ns) },
							 .count = count,
							 .sum = count * ns } };
	uint32_t group = latency_metric_group(metric),
		 at = group * HISTOGRAM_SETS_A_GROUP + next++ % HISTOGRAM_SETS_A_GROUP;

	if (!(kernel->objects.control->latency >> group & 1))
		return;
	fake_kernel_put(kernel, PIN_HISTOGRAMS, &at, &set);
	fake_kernel_add_tally(kernel, metric, &tally);
}
