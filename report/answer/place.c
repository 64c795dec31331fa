/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/place.h"

#include "common/kernel/cgroup_parts.h"
#include "report/text/shell_quote.h"

#include <string.h>

#define CGROUP2_MOUNT "/sys/fs/cgroup"
#define DOCKER_PARENT "/docker/" /* with its driver cgroupfs; with systemd its containers are scopes */
#define INIT_SCOPE "init.scope"

/* systemd keeps the change until the next boot; without --runtime for good. */
#define SET_PROPERTY "systemctl set-property --runtime "

static bool ends_with(const char *text, size_t length, const char *end)
{
	return length >= strlen(end) && !strncmp(text + length - strlen(end), end, strlen(end));
}

/*
 * How much of a path are units of systemd, from its begin on. What is below a service or a scope is its own: anybody could make
 * cgroups with such names in a cgroup that is delegated to him.
 */
static size_t systemd_length(const char *cgroup)
{
	size_t length = 0;

	for (const char *at = cgroup; *at == '/';) {
		char name[NAME_MAX + 1];
		size_t bytes = strcspn(at + 1, "/");

		if (bytes >= sizeof(name))
			break;
		memcpy(name, at + 1, bytes);
		name[bytes] = '\0';
		if (!shell_is_unit(name))
			break;
		at += 1 + bytes;
		length = (size_t)(at - cgroup);
		if (!ends_with(name, bytes, ".slice"))
			break;
	}
	return length;
}

/* The cgroup with the first `length` bytes of this path. */
static struct place place_within(const char *cgroup, size_t length)
{
	struct place place = { 0 };
	const char *container = place.path + strlen(DOCKER_PARENT);

	if (length < sizeof(place.path))
		memcpy(place.path, cgroup, length);
	place.is_unit = *place.path && systemd_length(place.path) == length;
	place.is_kubernetes = strstr(place.path, "kubepods") != NULL;
	place.is_docker = !strncmp(place.path, DOCKER_PARENT, strlen(DOCKER_PARENT)) &&
			  strspn(container, "0123456789abcdef") == strlen(container);
	return place;
}

struct place place_of(const char *cgroup)
{
	return place_within(cgroup, strlen(cgroup));
}

bool place_sibling(const char *of, const char *other, struct place *ret_place)
{
	size_t common = 0, i = 0;

	for (; of[i] && of[i] == other[i]; i++)
		if (of[i] == '/')
			common = i;
	/* equal so far, and one goes on; or no path at all */
	if ((!of[i] && (!other[i] || other[i] == '/')) || (!other[i] && of[i] == '/') || of[common] != '/' ||
	    !of[common + 1])
		return false;
	*ret_place = place_within(of, common + 1 + strcspn(of + common + 1, "/"));
	return true;
}

/* The units that systemd/ has, and the slice that systemd makes for the instances of one. */
static bool is_of_bourdon(const char *unit)
{
	static const char *const begins[] = { "bourdond.", "bourdon-load.", "bourdon-grant", "bourdon-hook.",
					      "system-bourdon" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(unit, begins[i], strlen(begins[i])))
			return true;
	return false;
}

bool place_is_shared(const struct place *place)
{
	const char *name = place_name(place);

	return !strcmp(place->path, "/") || !*place->path ||
	       (place->is_unit &&
		(!strcmp(name, INIT_SCOPE) || !strcmp(name, "system.slice") || is_of_bourdon(name)));
}

bool place_own(const char *of, const char *victim, struct place *ret_place)
{
	size_t length = systemd_length(of);

	if (!length || ends_with(of, length, ".slice"))
		length = strlen(of); /* a cgroup of no unit, or a slice with processes of its own */
	*ret_place = place_within(of, length);
	return !place_is_shared(ret_place) && !cgroup_is_within(victim, ret_place->path);
}

const char *place_name(const struct place *place)
{
	return place->is_unit ? strrchr(place->path, '/') + 1 : place->path;
}

bool place_is_gone(const struct place *place, const struct host *host)
{
	return host->is_here && host->cgroups && !host_has_cgroup(host, place->path);
}

const char *place_command(struct answer *answer, const struct place *place, const struct host *host,
			  const struct place_change *change)
{
	const char *file;

	if (!change->value || !*place->path)
		return NULL;
	if (place->is_unit && (!host->is_here || host->has_systemd))
		return answer_say_word(answer, place_name(place), SET_PROPERTY ANSWER_NAME " %s=%s",
				       change->property, change->value);
	if (place->is_docker && change->docker)
		return answer_say_word(answer, place->path + strlen(DOCKER_PARENT),
				       "docker update %s " ANSWER_NAME, change->docker);
	if (!change->file_value || (host->is_here && !host_has_file(host, place->path, change->file)))
		return "";
	file = answer_say(answer, "%s%s/%s", host->cgroups ? host->cgroups : CGROUP2_MOUNT, place->path,
			  change->file);
	return file ? answer_say_word(answer, file, "echo %s > " ANSWER_NAME, change->file_value) : NULL;
}
