/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_module.h describes the state of a file's unwind table, and of all of them together: for unwind_modules.c, which owns it,
 * and unwind_room.c.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_MODULE_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_MODULE_H

#include "common/base/hash_index.h"
#include "common/system/log.h"
#include "consumer/symbols/user_shares.h"
#include "consumer/unwind/table_cache.h"
#include "consumer/unwind/table_failures.h"
#include "consumer/unwind/table_workers.h"
#include "consumer/unwind/unwind_space.h"

#include <stdbool.h>
#include <stdint.h>

/* until a file that failed, or that only bourdon-grant can open, is tried again */
#define RETRY_NS (60 * CLOCK_SECOND_NS)
#define RETRY_SLOW_NS (600 * CLOCK_SECOND_NS) /* the same of one whose table took too long */
#define RETRY_ROOM_NS (2 * CLOCK_SECOND_NS)   /* the same of one for which room was made */

/* The result for a file so far. */
enum module_state { MODULE_NEW, MODULE_WAITING, MODULE_READY, MODULE_WITHOUT };

struct unwind_module {
	struct table_identity identity; /* zeros: the vDSO */
	enum module_state state;
	bool no_room;
	uint64_t retry_ns; /* when to try again; 0: never */
	/* the file is not opened before: opening it takes a call to bourdon-grant, or failed */
	uint64_t next_look_ns;
	struct file_key file;     /* its state when it was opened last; zeros: never */
	unsigned int pass;        /* the last pass that needed it */
	unsigned int target_pass; /* the last pass in which a target did */
	uint64_t needed_ns;       /* when that was */
	/* the user whose processes needed it in that pass, and whether those of others did, too, then or in the pass before */
	uint32_t owner;
	bool is_shared, was_shared;
	unsigned int checked; /* the last pass that opened the file */
	bool is_suspect;      /* there is a new mapping: its inode number may belong to another file now */
	/* its request to bourdon-grant was put off: how long, and until when. 0: it was not */
	uint64_t put_off_ns, put_off_until_ns;
	struct unwind_place place;
	uint64_t made_ns; /* when its table was written */
	uint64_t uses;    /* of the table, older ones less (unwind_room.c) */
	/* how often it made room for others, and whether it has since the list of failures was told */
	unsigned int evictions;
	bool is_evicted;
	uint32_t runtime; /* its sign (runtime_sign.h) */
	/* while it waits */
	int fd;
	bool is_under_way, is_of_bystander;
	uint32_t uid; /* of a process that needs it */
	char *path;
};

struct unwind_modules {
	struct unwind_space *space;
	struct table_workers *workers;
	struct file_cache *cache;
	int vdso; /* descriptor of the image; negative: there is none */
	struct unwind_module **modules;
	uint32_t modules_count, modules_room;
	struct hash_index index;
	uint32_t waiting;
	uint64_t
		room_is_for_targets_ns; /* until then, room was made for a target, which has yet to take it */
	/* until then, this user makes way: its files get no new tables */
	uint64_t makes_way_ns;
	uint32_t makes_way;
	uint64_t counted_ns; /* when uses were counted */
	unsigned int deaths; /* of symbolizers, since: */
	uint64_t deaths_since_ns;
	struct user_shares turns; /* time that symbolizers spent for each user, since: */
	uint64_t turns_since_ns;
	struct log_limit failures;
};

#endif
