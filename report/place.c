/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/place.h"

#include "common/cgroup_path.h"
#include "common/cleanup.h"
#include "report/shell_quote.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
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

size_t place_sibling_length(const char *of, const char *other)
{
	size_t common = 0, i = 0;

	for (; of[i] && of[i] == other[i]; i++)
		if (of[i] == '/')
			common = i;
	/* equal so far, and one goes on */
	if ((!of[i] && (!other[i] || other[i] == '/')) || (!other[i] && of[i] == '/'))
		return 0;
	return of[common] == '/' && of[common + 1] ? common + 1 + strcspn(of + common + 1, "/") : 0;
}

int place_of(const char *cgroup, size_t length, struct place *ret_place)
{
	struct place place = { .path = strndup(cgroup, length) };
	const char *container;

	if (!place.path)
		return -ENOMEM;
	if (length && systemd_length(place.path) == length)
		place.unit = strrchr(place.path, '/') + 1;
	place.is_kubernetes = strstr(place.path, "kubepods") != NULL;
	container = place.path + strlen(DOCKER_PARENT);
	place.is_docker = !strncmp(place.path, DOCKER_PARENT, strlen(DOCKER_PARENT)) &&
			  strspn(container, "0123456789abcdef") == strlen(container);
	*ret_place = place;
	return 0;
}

void place_free(struct place *place)
{
	free(place->path);
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
	return !strcmp(place->path, "/") || !*place->path ||
	       (place->unit && (!strcmp(place->unit, INIT_SCOPE) || !strcmp(place->unit, "system.slice") ||
				is_of_bourdon(place->unit)));
}

size_t place_own_length(const char *of, const char *victim)
{
	size_t length = systemd_length(of);
	_cleanup_place_ struct place place = { 0 };

	if (!length || ends_with(of, length, ".slice"))
		length = strlen(of); /* a cgroup of no unit, or a slice with processes of its own */
	if (place_of(of, length, &place) < 0 || place_is_shared(&place) ||
	    cgroup_is_within(victim, place.path))
		return 0;
	return length;
}

const char *place_name(const struct place *place)
{
	return place->unit ? place->unit : place->path;
}

bool place_is_gone(const struct place *place, const struct host *host)
{
	return host->is_here && host->cgroups && !host_has_cgroup(host, place->path);
}

int place_command(const struct place *place, const struct host *host, const struct place_change *change,
		  char **ret_command)
{
	bool is_unit = place->unit && (!host->is_here || host->has_systemd);
	const char *mount = host->cgroups ? host->cgroups : CGROUP2_MOUNT;
	_cleanup_free_ char *path = NULL, *word = NULL;
	int length;

	*ret_command = NULL;
	if (!is_unit && place->is_docker && change->docker) {
		word = shell_quote(place->path + strlen(DOCKER_PARENT));
		if (!word)
			return -ENOMEM;
		length = asprintf(ret_command, "docker update %s %s", change->docker, word);
	} else if (is_unit) {
		word = shell_quote(place->unit);
		if (!word)
			return -ENOMEM;
		length =
			asprintf(ret_command, SET_PROPERTY "%s %s=%s", word, change->property, change->value);
	} else {
		if (!change->file_value || (host->is_here && !host_has_file(host, place->path, change->file)))
			return 0;
		if (asprintf(&path, "%s%s/%s", mount, place->path, change->file) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		word = shell_quote(path);
		if (!word)
			return -ENOMEM;
		length = asprintf(ret_command, "echo %s > %s", change->file_value, word);
	}
	if (length < 0) {
		*ret_command = NULL;
		return -ENOMEM;
	}
	return 0;
}
