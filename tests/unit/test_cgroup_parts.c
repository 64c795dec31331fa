/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which unit and which slice the path of a cgroup belongs to, as rules see it. */
#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <limits.h>
#include <string.h>

struct unit_case {
	const char *unit, *cgroup;
	bool is_of;
};

#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct unit_case unit_cases[] = {
	{ "nginx.service", "/system.slice/nginx.service", true },
	{ "nginx.service", "/nginx.service", true },
	{ "nginx.service", "/system.slice/nginx.service/worker", true },
	{ "nginx.service", "/system.slice/nginx.service2", false },
	{ "nginx.service", "/system.slice/anginx.service", false },
	{ "nginx.service", "/nginx", false },
	{ "nginx.service", "/system.slice", false },
	{ "nginx.service", "/", false },
	{ "nginx.service", "", false },
	{ "shop-*.service", "/shop.slice/shop-cart.service", true },
	{ "shop-*.service", "/shop.slice/shop-.service", true },
	{ "shop-*.service", "/shop.slice/stock.service", false },
	{ "getty@tty[12].service", "/system.slice/system-getty.slice/getty@tty1.service", true },
	{ "getty@tty[12].service", "/system.slice/system-getty.slice/getty@tty3.service", false },
	{ "user@1000.service", "/user.slice/user-1000.slice/user@1000.service/app.slice/vim.scope", true },
	{ "vim.scope", "/user.slice/user-1000.slice/user@1000.service/app.slice/vim.scope", true },
	{ "app.slice", "/user.slice/user-1000.slice/user@1000.service/app.slice/vim.scope", true },
	{ "docker-*.scope", "/system.slice/docker-" CONTAINER ".scope", true },
	{ "dev-sda\\\\x2d1.swap", "/system.slice/dev-sda\\x2d1.swap", true },
	/* no part of a name: '_' before a name that a file of the kernel could have */
	{ "memory.service", "/system.slice/_memory.service", true },
	{ "_memory.service", "/system.slice/_memory.service", false },
	/* a glob does not reach over a '/' */
	{ "*.service", "/system.slice/a.scope/b", false },
	{ "system*.service", "/system.slice/nginx.service", false },
};

START_TEST(the_unit_of_a_cgroup)
{
	const struct unit_case *one = &unit_cases[_i];

	ck_assert_msg(cgroup_is_of_unit(one->cgroup, one->unit) == one->is_of, "%s in %s", one->unit,
		      one->cgroup);
}
END_TEST

struct name_case {
	const char *cgroup, *unit, *container; /* NULL: none */
};

static const struct name_case name_cases[] = {
	{ "/system.slice/nginx.service", "nginx.service", NULL },
	{ "/system.slice/nginx.service/worker.service", "nginx.service", NULL },
	{ "/system.slice/_memory.service", "memory.service", NULL },
	{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", NULL },
	/* what a user's own systemd makes may have any name */
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/sshd.service", "user@1000.service", NULL },
	{ "/a.slice/a-b.slice", "a-b.slice", NULL },
	{ "/made/by/hand.service", NULL, NULL },
	{ "/init.scope", "init.scope", NULL },
	{ "/.service", NULL, NULL },
	{ "/", NULL, NULL },
	{ "", NULL, NULL },
	{ "/system.slice/docker-" CONTAINER ".scope", "docker-" CONTAINER ".scope", CONTAINER },
	{ "/system.slice/docker-" CONTAINER ".scope/system.slice/a.service", "docker-" CONTAINER ".scope",
	  CONTAINER },
	{ "/docker/" CONTAINER, NULL, CONTAINER },
	{ "/kubepods.slice/kubepods-pod1.slice/cri-containerd-" CONTAINER ".scope",
	  "cri-containerd-" CONTAINER ".scope", CONTAINER },
	{ "/kubepods/burstable/pod1/" CONTAINER, NULL, CONTAINER },
	{ "/machine.slice/libpod-" CONTAINER ".scope", "libpod-" CONTAINER ".scope", CONTAINER },
	{ "/kubepods.slice/crio-" CONTAINER ".scope", "crio-" CONTAINER ".scope", CONTAINER },
	{ "/machine.slice/machine-web.scope", "machine-web.scope", "web" },
	{ "/lxc.payload.web/system.slice", NULL, "web" },
	{ "/docker/abcdef", NULL, NULL },           /* too short for an id */
	{ "/docker/0123456789ABCDEF", NULL, NULL }, /* nor are these its digits */
};

static void expect_name(const char *cgroup, bool (*find)(const char *, char *), const char *expected)
{
	char name[NAME_MAX + 1] = "";
	bool found = find(cgroup, name);

	ck_assert_msg(found == (expected != NULL) && (!found || !strcmp(name, expected)), "%s: %s, not %s",
		      cgroup, found ? name : "none", expected ? expected : "none");
}

START_TEST(names_in_a_path)
{
	const struct name_case *one = &name_cases[_i];

	expect_name(one->cgroup, cgroup_unit, one->unit);
	expect_name(one->cgroup, cgroup_container, one->container);
}
END_TEST

START_TEST(a_name_longer_than_any_files_is_of_no_unit)
{
	char cgroup[4096] = "/";

	memset(cgroup + 1, 'a', 3000);
	strcpy(cgroup + 3001, ".service/inner.service");
	ck_assert(!cgroup_is_of_unit(cgroup, "a*.service"));
	ck_assert(cgroup_is_of_unit(cgroup, "inner.service"));
}
END_TEST

struct slice_case {
	const char *cgroup, *slice;
};

static const struct slice_case slice_cases[] = {
	{ "/system.slice/nginx.service", "/system.slice" },
	{ "/shop.slice/shop-cart.slice/cart.service", "/shop.slice/shop-cart.slice" },
	{ "/shop.slice/cart.service/inner", "/shop.slice" },
	{ "/shop.slice", "/shop.slice" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/vim.scope",
	  "/user.slice/user-1000.slice/user@1000.service/app.slice" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab.slice/cri-containerd-" CONTAINER
	  ".scope",
	  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab.slice" },
	{ "/kubepods/burstable/pod12-ab/" CONTAINER, "/kubepods/burstable/pod12-ab" },
	{ "/kubepods/pod12-ab/" CONTAINER, "/kubepods/pod12-ab" },
	{ "/docker/" CONTAINER, "/docker" },
	{ "/podium/stage", "/podium" },
	{ "/a/pod/x", "/a" },
	{ "/.slice/x", "/.slice" },
	{ "/a/.slice/x", "/a" },
	{ "/alone", "/alone" },
	{ "/", "/" },
	{ "", "" },
};

START_TEST(the_slice_around_a_cgroup)
{
	const struct slice_case *one = &slice_cases[_i];
	size_t length = cgroup_slice_length(one->cgroup);

	ck_assert_msg(length == strlen(one->slice), "%.*s of %s", (int)length, one->cgroup, one->cgroup);
	ck_assert_int_eq(strncmp(one->cgroup, one->slice, length), 0);
}
END_TEST

static const struct {
	const char *unit, *why;
} pattern_cases[] = {
	{ "nginx.service", NULL },
	{ "worker@*.service", NULL },
	{ "*.scope", NULL },
	{ "shop-*.slice", NULL },
	{ "a.socket", NULL },
	{ "dev-sda.swap", NULL },
	{ "srv.mount", NULL },
	{ "", "expected the name of a unit" },
	{ "nginx", "expected the name of a unit" },
	{ "nginx*", "expected the name of a unit" },
	{ ".service", "expected the name of a unit" },
	{ "nginx.timer", "expected the name of a unit" },
	{ "/system.slice/nginx.service", "a unit has a name, not a path" },
};

START_TEST(what_a_rule_may_name)
{
	const char *why = NULL;
	bool valid = unit_pattern_is_valid(pattern_cases[_i].unit, &why);

	ck_assert_int_eq(valid, !pattern_cases[_i].why);
	if (!valid)
		ck_assert_int_eq(strncmp(why, pattern_cases[_i].why, strlen(pattern_cases[_i].why)), 0);
}
END_TEST

SUITE(cgroup_parts)
{
	Suite *suite = suite_create("cgroup_parts");
	TCase *units = tcase_create("units"), *slices = tcase_create("slices");

	tcase_add_loop_test(units, the_unit_of_a_cgroup, 0, ARRAY_SIZE(unit_cases));
	tcase_add_loop_test(units, names_in_a_path, 0, ARRAY_SIZE(name_cases));
	tcase_add_test(units, a_name_longer_than_any_files_is_of_no_unit);
	tcase_add_loop_test(units, what_a_rule_may_name, 0, ARRAY_SIZE(pattern_cases));
	tcase_add_loop_test(slices, the_slice_around_a_cgroup, 0, ARRAY_SIZE(slice_cases));
	suite_add_tcase(suite, units);
	suite_add_tcase(suite, slices);
	return suite;
}
