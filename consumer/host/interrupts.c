/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/interrupts.h"

#include "common/base/array.h"
#include "consumer/process/map_elements.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

void interrupts_free(struct interrupts *interrupts)
{
	free(interrupts->each);
	*interrupts = (struct interrupts){ 0 };
}

struct interrupt *interrupts_find(const struct interrupts *interrupts, const struct interrupt_key *key)
{
	for (uint32_t i = 0; i < interrupts->count; i++)
		if (!memcmp(&interrupts->each[i].key, key, sizeof(*key)))
			return &interrupts->each[i];
	return NULL;
}

int interrupts_add(struct interrupts *interrupts, const struct interrupt_key *key,
		   const struct interrupt_sums *of_cpus, unsigned int cpus)
{
	struct interrupt *interrupt;

	if (array_make_room(interrupts->each, interrupts->count, interrupts->room, 1U))
		return -ENOMEM;
	interrupt = &interrupts->each[interrupts->count++];
	*interrupt = (struct interrupt){ .key = *key };
	for (unsigned int i = 0; i < cpus; i++) {
		interrupt->sums.count += of_cpus[i].count;
		interrupt->sums.ns += of_cpus[i].ns;
	}
	return 0;
}

struct reading {
	struct interrupts *interrupts;
	unsigned int cpus;
};

static int read_sums(void *user, const void *key, const void *value)
{
	const struct reading *reading = user;

	return interrupts_add(reading->interrupts, key, value, reading->cpus);
}

static void read_names(struct interrupts *interrupts, int map_fd)
{
	for (uint32_t i = 0; i < interrupts->count; i++) {
		struct interrupt *interrupt = &interrupts->each[i];
		struct irq_name name;

		if (interrupt->key.kind != INTERRUPT_HARD ||
		    bpf_map_lookup_elem(map_fd, &interrupt->key.number, &name))
			continue;
		memcpy(interrupt->name, name.name, sizeof(interrupt->name));
		interrupt->name[IRQ_NAME_BYTES - 1] = '\0';
	}
}

int interrupts_read(struct interrupts *interrupts, int sums_fd, int names_fd)
{
	int cpus = libbpf_num_possible_cpus(), result = cpus;
	struct reading reading = { interrupts, (unsigned int)cpus };

	interrupts_free(interrupts);
	if (cpus > 0)
		result = map_elements_read(sums_fd, sizeof(struct interrupt_key),
					   reading.cpus * sizeof(struct interrupt_sums), read_sums, &reading);
	if (result < 0) {
		interrupts_free(interrupts);
		return result;
	}
	interrupts->are_known = true;
	read_names(interrupts, names_fd);
	return 0;
}

int interrupts_copy(const struct interrupts *interrupts, struct interrupts *ret_copy)
{
	*ret_copy = (struct interrupts){ .are_known = interrupts->are_known };
	if (!interrupts->count)
		return 0;
	ret_copy->each = reallocarray(NULL, interrupts->count, sizeof(*interrupts->each));
	if (!ret_copy->each)
		return -ENOMEM;
	memcpy(ret_copy->each, interrupts->each, interrupts->count * sizeof(*interrupts->each));
	ret_copy->count = ret_copy->room = interrupts->count;
	return 0;
}
