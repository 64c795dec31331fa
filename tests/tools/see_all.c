/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * see_all plays an attacker who controls the consumer and wants to see processes that policy.conf denies.
 * With nothing but the pins it makes every process a target, grants itself unlimited budgets, keeps the
 * kernel programs awake, and looks for the processes in all places: rings, open intervals, iterators, events,
 * maps. With --hoard it opens everything first and looks only when it is told to, so that another load may
 * come in between. It then also holds each pin by an O_PATH descriptor, which any process may open that can
 * search the directory: a link that is held this way keeps its program attached.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROCESSES_MAX 16
#define PATTERN_ID 0x7e57

/* One process, and how often it was seen in each place. */
struct seen {
	uint32_t tgid, tid; /* 0: any of its threads */
	unsigned long long tasks, threads, mappings, lines, events, ends, said, oncpu, offcpu, open, targets,
		totals;
	unsigned int kernel_frames, user_frames; /* of the deepest stack */
	uint8_t unwinders;
};

struct ring {
	const struct sample *slots;
	uint32_t count;
	uint64_t *seqs; /* the number of each slot at the last look */
	unsigned long long samples;
};

struct attack {
	const char *pin_dir;
	struct control *control;
	uint64_t began_ns;
	struct ring oncpu, offcpu;
	struct ring_buffer *events;
	int targets, totals, open;
	bool walks;
	bool only_mappings;
	bool hoards;
	int opened[PIN_ITERATORS]; /* opened before the wait and not read yet; -EBADF afterwards */
	int held[PIN_ITERATORS];   /* O_PATH */
	unsigned long long iterator_bytes;
	struct seen seen[PROCESSES_MAX];
	unsigned int count;
	unsigned int
		wanted; /* the first so many processes end the look once they were seen everywhere; 0: time alone does */
};

static int open_pin(const struct attack *attack, const char *name, bool to_write)
{
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = to_write ? 0 : BPF_F_RDONLY);
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", attack->pin_dir, name);
	fd = bpf_obj_get_opts(path, &options);
	if (fd < 0)
		log_error("cannot open %s: %s", path, strerror(errno));
	return fd;
}

/* Tries what must not work. Returns how much of it worked. */
static int change_policy(const struct attack *attack)
{
	_cleanup_close_ int fd = open_pin(attack, pin_maps[PIN_POLICY].name, false);
	const struct policy policy = { .max_rate = POLICY_RATE_MAX };
	char path[300];
	__u32 zero = 0;
	int writable, worked;
	void *mapped;

	worked = fd < 0 || !bpf_map_update_elem(fd, &zero, &policy, BPF_ANY);
	mapped = mmap(NULL, sizeof(policy), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	worked += mapped != MAP_FAILED;
	snprintf(path, sizeof(path), "%s/%s", attack->pin_dir, pin_maps[PIN_POLICY].name);
	writable = bpf_obj_get(path);
	if (writable >= 0) {
		/* root may open it, but the map is frozen */
		worked += !bpf_map_update_elem(writable, &zero, &policy, BPF_ANY);
		worked += !bpf_map_delete_elem(writable, &zero);
		close(writable);
	}
	return worked;
}

static struct seen *seen_find(struct attack *attack, uint32_t tgid, uint32_t tid, struct seen *after)
{
	for (struct seen *seen = after ? after + 1 : attack->seen; seen < attack->seen + attack->count;
	     seen++)
		if (seen->tgid == tgid && (!seen->tid || seen->tid == tid))
			return seen;
	return NULL;
}

static void note_sample(struct seen *seen, const struct sample *sample)
{
	if (sample->kernel_depth > (int)seen->kernel_frames)
		seen->kernel_frames = (unsigned int)sample->kernel_depth;
	if (sample->user_depth > (int)seen->user_frames)
		seen->user_frames = (unsigned int)sample->user_depth;
	seen->unwinders |= sample->unwinder;
}

static int map_ring(const struct attack *attack, enum pin_map which, struct ring *ret_ring)
{
	_cleanup_close_ int fd = open_pin(attack, pin_maps[which].name, true);
	struct bpf_map_info info = { 0 };
	__u32 info_bytes = sizeof(info);
	struct ring ring = { 0 };
	void *at;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		return -errno;
	ring.count = info.max_entries;
	ring.seqs = calloc(ring.count, sizeof(*ring.seqs));
	at = mmap(NULL, ring.count * sizeof(struct sample), PROT_READ, MAP_SHARED, fd, 0);
	if (!ring.seqs || at == MAP_FAILED)
		return -ENOMEM;
	ring.slots = at;
	for (uint32_t i = 0; i < ring.count; i++)
		ring.seqs[i] = ring.slots[i].seq; /* samples from before the attack do not count */
	*ret_ring = ring;
	return 0;
}

static void look_at_ring(struct attack *attack, struct ring *ring, bool off_cpu)
{
	for (uint32_t i = 0; i < ring->count; i++) {
		uint64_t seq = __atomic_load_n(&ring->slots[i].seq, __ATOMIC_ACQUIRE);
		struct sample sample = ring->slots[i];

		if (!seq || seq == ring->seqs[i])
			continue;
		ring->seqs[i] = seq;
		ring->samples++;
		for (struct seen *seen = NULL; (seen = seen_find(attack, sample.tgid, sample.tid, seen));) {
			*(off_cpu ? &seen->offcpu : &seen->oncpu) += 1;
			note_sample(seen, &sample);
		}
	}
}

static int on_event(void *user, void *data, size_t bytes)
{
	const struct process_event *event = data;

	if (bytes < sizeof(*event))
		return 0;
	for (struct seen *seen = NULL; (seen = seen_find(user, event->tgid, event->tgid, seen));) {
		*(event->kind == PROCESS_MATCHED ? &seen->events : &seen->ends) += 1;
		seen->said += event->uid || event->cgroup_id || event->comm[0];
	}
	return 0;
}

/* The bytes of a record of an iterator, 0 if it is not whole. */
static size_t bytes_of(const char *record, size_t held)
{
	struct mapping_record mapping;
	struct cgroup_record cgroup;
	struct record_header header;
	size_t bytes;

	if (held < sizeof(header))
		return 0;
	memcpy(&header, record, sizeof(header));
	bytes = header.bytes;
	if (bytes > held)
		return 0;
	if (header.type == RECORD_MAPPING) {
		memcpy(&mapping, record, sizeof(mapping));
		bytes += mapping.path_bytes;
	} else if (header.type == RECORD_CGROUP) {
		memcpy(&cgroup, record, sizeof(cgroup));
		bytes += cgroup.path_bytes;
	}
	return bytes <= held ? bytes : 0;
}

/* A hoarder reads what it opened, and then opens what it holds again and again. */
static int open_iterator(struct attack *attack, enum pin_iterator which)
{
	char path[300];

	if (attack->hoards && attack->opened[which] >= 0)
		return TAKE_FD(attack->opened[which]);
	if (attack->hoards)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", attack->held[which]);
	else
		snprintf(path, sizeof(path), "%s/%s", attack->pin_dir, pin_iterators[which]);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Each record of an iterator, except those of cgroups, begins with a header and its tgid. */
static void walk(struct attack *attack, enum pin_iterator which)
{
	_cleanup_close_ int fd = open_iterator(attack, which);
	char buffer[65536];
	size_t held = 0;
	ssize_t got;

	/* a new scan each time: all mappings are listed */
	attack->control->mappings_of = attack->control->mappings_scan % 2;
	attack->control->mappings_scan++;
	while (fd >= 0 && (got = read(fd, buffer + held, sizeof(buffer) - held)) > 0) {
		size_t at = 0;

		held += (size_t)got;
		attack->iterator_bytes += (size_t)got;
		for (size_t bytes; (bytes = bytes_of(buffer + at, held - at));) {
			const struct mapping_record *record = (const void *)(buffer + at);

			for (struct seen *seen = NULL;
			     record->header.type != RECORD_CGROUP &&
			     (seen = seen_find(attack, record->tgid, record->tgid, seen));)
				*(record->header.type == RECORD_MAPPING ||
						  record->header.type == RECORD_MAPPED
					  ? &seen->mappings
				  : record->header.type == RECORD_THREAD ? &seen->threads
									 : &seen->tasks) += 1;
			at += bytes;
		}
		held -= at;
		memmove(buffer, buffer + at, held);
	}
}

/* The lines of the text iterator begin with the thread and its process. */
static void read_lines(struct attack *attack)
{
	_cleanup_close_ int fd = open_iterator(attack, PIN_THREADS);
	_cleanup_file_ FILE *text = fd < 0 ? NULL : fdopen(fd, "r");
	char line[32768];
	uint32_t tid, tgid;

	if (!text)
		return;
	(void)TAKE_FD(fd);
	while (fgets(line, sizeof(line), text)) {
		attack->iterator_bytes += strlen(line);
		if (sscanf(line, "%" SCNu32 "\t%" SCNu32, &tid, &tgid) != 2)
			continue;
		for (struct seen *seen = NULL; (seen = seen_find(attack, tgid, tid, seen));)
			seen->lines++;
	}
}

/* The looks of captures count as lines. */
static void read_looks(struct attack *attack)
{
	_cleanup_close_ int fd = open_iterator(attack, PIN_STATES);
	char buffer[65536];
	size_t held = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, buffer + held, sizeof(buffer) - held)) > 0) {
		const struct look_record *look;
		size_t at = 0, bytes;

		held += (size_t)got;
		attack->iterator_bytes += (size_t)got;
		for (; held - at >= sizeof(*look); at += bytes) {
			look = (const void *)(buffer + at);
			bytes = sizeof(*look) + look->depth * sizeof(__s32);
			if (bytes > held - at)
				break;
			for (struct seen *seen = NULL;
			     (seen = seen_find(attack, look->tgid, look->tid, seen));)
				seen->lines++;
		}
		held -= at;
		memmove(buffer, buffer + at, held);
	}
}

static void look_at_maps(struct attack *attack)
{
	for (unsigned int i = 0; i < attack->count; i++) {
		struct seen *seen = &attack->seen[i];
		struct open_interval interval;
		struct target target;
		struct totals totals;
		__u32 tid = seen->tid ? seen->tid : seen->tgid;

		seen->targets += !bpf_map_lookup_elem(attack->targets, &seen->tgid, &target);
		seen->totals += !bpf_map_lookup_elem(attack->totals, &seen->tgid, &totals);
		/* an interval from before may be left: in some kernels a switch can miss the tracepoint */
		seen->open += !bpf_map_lookup_elem(attack->open, &tid, &interval) &&
			      interval.sample.seq >= attack->began_ns;
	}
}

static int begin(struct attack *attack)
{
	const struct pattern_key key = { .prefix_bits = 0, .comm = { 0 } };
	const __u32 id = PATTERN_ID;
	int control = open_pin(attack, "control", true), events = open_pin(attack, "events", true);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, control, 0);

	attack->began_ns = clock_monotonic_ns();
	attack->targets = open_pin(attack, "targets", false);
	attack->totals = open_pin(attack, "totals", false);
	attack->open = open_pin(attack, "offcpu_open", false);
	attack->events = ring_buffer__new(events, on_event, attack, NULL);
	if (control < 0 || at == MAP_FAILED || attack->targets < 0 || attack->totals < 0 ||
	    attack->open < 0 || !attack->events || map_ring(attack, PIN_ONCPU, &attack->oncpu) ||
	    map_ring(attack, PIN_OFFCPU, &attack->offcpu))
		return -1;
	attack->control = at;
	if (attack->only_mappings)
		return 0;
	for (int i = PIN_PATTERNS_A; i <= PIN_PATTERNS_B; i++) {
		_cleanup_close_ int tries = open_pin(attack, pin_maps[i].name, true);

		if (tries < 0 || bpf_map_update_elem(tries, &key, &id, BPF_ANY))
			return -1;
	}
	attack->control->offcpu_min_ns = 0;
	attack->control->offcpu_stacks_hz = attack->control->offcpu_slots_hz = UINT32_MAX;
	return 0;
}

/* The descriptors stay open until the process ends. */
static int hold_pins(struct attack *attack)
{
	_cleanup_dir_ DIR *pins = opendir(attack->pin_dir);
	struct dirent *entry;
	unsigned int links = 0;

	while (pins && (entry = readdir(pins))) {
		int fd = openat(dirfd(pins), entry->d_name, O_PATH | O_CLOEXEC);

		links += fd >= 0 && !strncmp(entry->d_name, "link_", 5);
		for (size_t i = 0; i < PIN_ITERATORS; i++)
			if (!strcmp(entry->d_name, pin_iterators[i])) {
				attack->held[i] = fd;
				attack->opened[i] = openat(dirfd(pins), entry->d_name, O_RDONLY | O_CLOEXEC);
				if (fd < 0 || attack->opened[i] < 0)
					return -1;
			}
	}
	return links ? 0 : -1;
}

/* What the rings hold by now was recorded before the signal. */
static void pass_over_ring(struct ring *ring)
{
	for (uint32_t i = 0; i < ring->count; i++)
		ring->seqs[i] = ring->slots[i].seq;
}

/* Opens all there is, says so, and waits for SIGUSR1. */
static int hoard(struct attack *attack)
{
	sigset_t signals;
	int number;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) || hold_pins(attack))
		return -1;
	puts("ready");
	fflush(stdout);
	if (sigwait(&signals, &number))
		return -1;
	ring_buffer__consume(attack->events);
	for (unsigned int i = 0; i < attack->count; i++)
		attack->seen[i].events = attack->seen[i].ends = attack->seen[i].said = 0;
	pass_over_ring(&attack->oncpu);
	pass_over_ring(&attack->offcpu);
	attack->began_ns = clock_monotonic_ns();
	return 0;
}

/* With some samples, which the others had time for, too. */
static bool is_enough(const struct attack *attack)
{
	for (unsigned int i = 0; i < attack->wanted; i++) {
		const struct seen *seen = &attack->seen[i];

		if (!seen->tasks || !seen->mappings || !seen->lines || seen->oncpu < 20 || !seen->offcpu ||
		    !seen->targets || !seen->totals)
			return false;
	}
	return attack->wanted;
}

static void run(struct attack *attack, unsigned long long seconds)
{
	uint64_t until_ns = clock_monotonic_ns() + seconds * CLOCK_SECOND_NS;

	while (clock_monotonic_ns() < until_ns && !is_enough(attack)) {
		look_at_maps(attack);
		if (attack->only_mappings) {
			walk(attack, PIN_MAPPINGS);
			continue;
		}
		__atomic_store_n(&attack->control->heartbeat_ns, clock_monotonic_ns(), __ATOMIC_RELEASE);
		if (attack->walks) {
			walk(attack, PIN_TASKS);
			read_lines(attack);
			read_looks(attack);
			walk(attack, PIN_MAPPINGS);
		}
		ring_buffer__poll(attack->events, 20);
		look_at_ring(attack, &attack->oncpu, false);
		look_at_ring(attack, &attack->offcpu, true);
	}
}

static void show(const struct attack *attack)
{
	for (unsigned int i = 0; i < attack->count; i++) {
		const struct seen *seen = &attack->seen[i];

		printf("tgid=%u tid=%u tasks=%llu mappings=%llu lines=%llu events=%llu oncpu=%llu offcpu=%llu "
		       "open=%llu targets=%llu totals=%llu kernel_frames=%u user_frames=%u unwinders=%u "
		       "ends=%llu threads=%llu said=%llu\n",
		       seen->tgid, seen->tid, seen->tasks, seen->mappings, seen->lines, seen->events,
		       seen->oncpu, seen->offcpu, seen->open, seen->targets, seen->totals,
		       seen->kernel_frames, seen->user_frames, seen->unwinders, seen->ends, seen->threads,
		       seen->said);
	}
	printf("iterator_bytes=%llu oncpu=%llu offcpu=%llu\n", attack->iterator_bytes, attack->oncpu.samples,
	       attack->offcpu.samples);
}

int main(int argc, char **argv)
{
	const char *passive = NULL, *only_mappings = NULL, *hoards = NULL, *until = NULL;
	const struct option_spec options[] = {
		{ "no-walks", NULL, "read no iterator, which would decide anew who is a target", &passive },
		{ "only-mappings", NULL,
		  "read the mapping iterator, and write nothing: the programs stay quiet", &only_mappings },
		{ "hoard", NULL, "open everything, print 'ready', and go on at SIGUSR1", &hoards },
		{ "until-seen", "NUMBER", "end sooner, once the first NUMBER processes were seen everywhere",
		  &until },
	};
	const struct command_spec command = {
		"see_all",
		"[--no-walks | --only-mappings] [--hoard | --until-seen NUMBER] PIN_DIR SECONDS TGID[/TID]...",
		"Says what a consumer that is not honest sees of processes. "
		"Exits 1 where policy could be changed.",
		"see_all /sys/fs/bpf/bourdon 3 1234 1240/1242",
		options,
		ARRAY_SIZE(options)
	};
	struct attack attack = { 0 };
	unsigned long long seconds, wanted = 0;
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words < 3 || words > PROCESSES_MAX + 2 || options_number(argv[2], 1, 3600, &seconds) ||
	    (until && options_number(until, 1, (unsigned long long)words - 2, &wanted))) {
		log_error("takes a pin directory, seconds and processes: see --help");
		return EXIT_USAGE;
	}
	attack.pin_dir = argv[1];
	attack.walks = !passive;
	attack.only_mappings = only_mappings;
	attack.hoards = hoards;
	attack.wanted = (unsigned int)wanted;
	for (int i = 3; i <= words; i++) {
		struct seen *seen = &attack.seen[attack.count++];

		if (sscanf(argv[i], "%" SCNu32 "/%" SCNu32, &seen->tgid, &seen->tid) < 1)
			return EXIT_USAGE;
	}
	if (begin(&attack) || (attack.hoards && hoard(&attack)))
		return EXIT_USAGE;
	run(&attack, seconds);
	show(&attack);
	return !attack.hoards && change_policy(&attack) ? EXIT_FAILED : EXIT_DONE;
}
