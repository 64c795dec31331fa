/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_parts.h compares paths of cgroups below the mount point of cgroup2, and finds in one the names that
 * service managers put there: units of systemd, its slices, and pods of Kubernetes.
 */
#ifndef BOURDON_COMMON_KERNEL_CGROUP_PARTS_H
#define BOURDON_COMMON_KERNEL_CGROUP_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `path` is `above` or lies below it. */
bool cgroup_is_within(const char *path, const char *above);

/*
 * Whether `unit`, the value of a rule's key, is a name or a glob of units that have a cgroup (systemd.unit(5)).
 * Otherwise *ret_why says what is wrong.
 */
bool unit_pattern_is_valid(const char *unit, const char **ret_why);

/*
 * Whether the cgroup is that of a unit whose name the glob matches, or lies below one. systemd puts '_' before a
 * name that could be taken for a file of the kernel, such as memory.service (cg_escape() in its
 * src/basic/cgroup-util.c): it is not part of the name.
 */
bool cgroup_is_of_unit(const char *cgroup, const char *unit);

/*
 * The name of the innermost unit around the cgroup that systemd itself made, without the '_' before it: a service or a
 * scope, else a slice. A scope of a container's runtime counts; units that a systemd within a container made do not:
 * anybody could make cgroups with such names in a cgroup that is delegated to him. Copies it to `into`, of NAME_MAX + 1
 * bytes. Returns false if there is none.
 */
bool cgroup_unit(const char *cgroup, char *into);

/*
 * The id of the container that the cgroup belongs to: at least 12 hexadecimal digits, as Docker, containerd, CRI-O and
 * Podman put them into a component of the path, alone or as docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope or
 * libpod-ID.scope; or NAME, in lxc.payload.NAME or machine-NAME.scope (systemd-nspawn). As above.
 */
bool cgroup_container(const char *cgroup, char *into);

/*
 * The length of the part of the path that names the innermost slice around the cgroup: a slice of systemd, or the
 * cgroup of a pod where kubelet makes no slices (kubepods/burstable/podUID). Without either, the outermost cgroup
 * of the path. A slice is its own slice; so is the root.
 */
size_t cgroup_slice_length(const char *cgroup);

#endif
