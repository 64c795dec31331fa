/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/cpus.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <ctype.h>
#include <stdio.h>

static int parse_cpu(const char **at, unsigned int *ret_cpu)
{
	unsigned int cpu = 0;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (; isdigit((unsigned char)**at); (*at)++) {
		cpu = cpu * 10 + (unsigned int)(**at - '0');
		if (cpu >= CPUS_MAX)
			return -ERANGE;
	}
	*ret_cpu = cpu;
	return 0;
}

int cpus_parse(const char *text, unsigned int **ret_cpus, size_t *ret_count)
{
	_cleanup_free_ unsigned int *cpus = malloc(CPUS_MAX * sizeof(*cpus));
	size_t count = 0;
	const char *at = text;

	if (!cpus)
		return -ENOMEM;
	for (;;) {
		unsigned int first, last;
		int result = parse_cpu(&at, &first);

		if (result < 0)
			return result;
		last = first;
		if (*at == '-') {
			at++;
			result = parse_cpu(&at, &last);
			if (result < 0)
				return result;
		}
		if (last < first || (count && first <= cpus[count - 1]))
			return -EINVAL;
		for (; first <= last; first++)
			cpus[count++] = first;
		if (*at != ',')
			break;
		at++;
	}
	if (*at == '\n')
		at++;
	if (*at)
		return -EINVAL;
	*ret_cpus = TAKE_PTR(cpus);
	*ret_count = count;
	return 0;
}

void cpus_format(const unsigned int *cpus, size_t count, char *into, size_t bytes)
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

int cpus_online(unsigned int **ret_cpus, size_t *ret_count)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, CPUS_ONLINE_FILE, 65536, &text, &bytes);

	return result < 0 ? result : cpus_parse(text, ret_cpus, ret_count);
}
