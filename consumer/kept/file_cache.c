/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/kept/file_cache.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/version.h"
#include "common/sql/sql.h"
#include "common/system/log.h"
#include "consumer/process/heap.h"

#include <nettle/sha2.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Raise it with each change of what unwind_table_compile() or the finders of names find in a file, or of how table_cache.c and
 * name_index.c write it.
 */
#define CONTENT_VERSION "6"
#define MADE_BY (BOURDON_VERSION " " CONTENT_VERSION)

/* of what was added, before it is written; one larger table may wait alone */
#define PENDING_BYTES_MAX (128UL << 10)
/* heap_settle() follows if more than this was written */
#define GIVEN_BACK_BYTES (64UL << 10)
#define SETTLED_S 2       /* since a file's last change */
#define USED_AGAIN_S 3600 /* what was used since then is not marked as used again */
#define FAILURES_MAX 3U   /* of writing, in a row: then nothing more is written */

#define PAGE_BYTES 4096UL
#define PAGE_BYTES_TEXT "4096"
#define ROW_PAGES 8U /* that a row may need beside its content: in the table and its indexes */

#define KEY_COLUMNS "kind, device, inode, owner, bytes, changed_s, changed_ns"
#define KEY_TYPES "tiiiiii"
#define KEY_VALUES(kind, key)                                                                                \
	nouns[kind], (int64_t)(key)->device, (int64_t)(key)->inode, (int64_t)(key)->owner,                   \
		(int64_t)(key)->bytes, (key)->changed_s, (key)->changed_ns
#define OF_KEY                                                                                               \
	" WHERE kind = ?1 AND device = ?2 AND inode = ?3 AND owner = ?4 AND bytes = ?5 AND changed_s = ?6 "  \
	"AND changed_ns = ?7"

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS made_by(version TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS kept(kind TEXT NOT NULL, device, inode, owner, bytes, changed_s, changed_ns,"
	"	used_at INTEGER NOT NULL, content_bytes INTEGER NOT NULL,"
	"	hash BLOB NOT NULL, content BLOB NOT NULL,"
	"	UNIQUE(" KEY_COLUMNS "));"
	"CREATE INDEX IF NOT EXISTS kept_by_use ON kept(used_at)";

/* In the column kind, and for people. */
static const char *const nouns[FILE_CACHE_KINDS] = {
	[FILE_CACHE_TABLES] = "unwind table",
	[FILE_CACHE_NAMES] = "index of names",
};

struct pending {
	enum file_cache_kind kind;
	struct file_key key;
	struct kept_bytes content;
};

struct file_cache {
	struct sql sql;
	char *path;
	sqlite3_stmt *find, *has, *use, *remove, *add, *evict, *pages, *bytes, *files;
	struct file_cache_counts counts[FILE_CACHE_KINDS];
	struct pending *pending;
	uint32_t pending_count, pending_room;
	size_t pending_bytes;
	unsigned int failures;
	struct log_limit damaged;
};

struct file_key file_key_of(const struct stat *at, dev_t device)
{
	return (struct file_key){
		device, at->st_ino, at->st_uid, (uint64_t)at->st_size, at->st_ctim.tv_sec, at->st_ctim.tv_nsec
	};
}

bool file_key_is_of(const struct file_key *key, const struct stat *at)
{
	struct file_key now = file_key_of(at, key->device);

	return !memcmp(key, &now, sizeof(now));
}

bool file_key_is_settled(const struct file_key *key)
{
	return key->changed_ns && time(NULL) - key->changed_s > SETTLED_S;
}

/* ---- bytes ---- */

int kept_bytes_reserve(struct kept_bytes *kept, size_t bytes)
{
	char *reserved;

	if (bytes <= kept->room)
		return 0;
	reserved = realloc(kept->bytes, bytes);
	if (!reserved)
		return -ENOMEM;
	kept->bytes = reserved;
	kept->room = bytes;
	return 0;
}

int kept_bytes_add(struct kept_bytes *kept, const void *data, size_t bytes)
{
	if (!bytes)
		return 0;
	if (array_make_room(kept->bytes, kept->used, kept->room, bytes))
		return -ENOMEM;
	memcpy(kept->bytes + kept->used, data, bytes);
	kept->used += bytes;
	return 0;
}

void kept_bytes_free(struct kept_bytes *kept)
{
	free(kept->bytes);
	*kept = (struct kept_bytes){ 0 };
}

/* Of what the content is made from and of what it is: neither a bit that flips nor a row that is moved goes unseen. */
static void hash_content(enum file_cache_kind kind, const struct file_key *key, const void *bytes,
			 size_t count, uint8_t ret_hash[SHA256_DIGEST_SIZE])
{
	struct sha256_ctx context;

	sha256_init(&context);
	sha256_update(&context, sizeof(MADE_BY), (const uint8_t *)MADE_BY);
	sha256_update(&context, strlen(nouns[kind]), (const uint8_t *)nouns[kind]);
	sha256_update(&context, sizeof(*key), (const uint8_t *)key);
	sha256_update(&context, count, bytes);
	sha256_digest(&context, SHA256_DIGEST_SIZE, ret_hash);
}

/* ---- opening ---- */

/* What a power failure breaks is made again: nothing is synchronized. */
static const char pragmas[] =
	"PRAGMA page_size = " PAGE_BYTES_TEXT "; PRAGMA synchronous = OFF;"
	"PRAGMA cache_size = -128; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF";

static int prepare(struct file_cache *cache)
{
	const struct sql_prepared all[] = {
		{ &cache->find, "SELECT content, hash, used_at FROM kept" OF_KEY },
		{ &cache->has, "SELECT count(*) FROM kept" OF_KEY },
		{ &cache->use, "UPDATE kept SET used_at = unixepoch()" OF_KEY },
		{ &cache->remove, "DELETE FROM kept" OF_KEY },
		{ &cache->add, "REPLACE INTO kept(" KEY_COLUMNS ", used_at, content_bytes, hash, content)"
			       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, unixepoch(), length(?9), ?8, ?9)" },
		{ &cache->evict, "DELETE FROM kept WHERE rowid = (SELECT rowid FROM kept"
				 " ORDER BY used_at, rowid LIMIT 1) RETURNING 1" },
		/* in use: the file keeps those that are free, and fills them first */
		{ &cache->pages,
		  "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count" },
		{ &cache->bytes, "SELECT coalesce(sum(content_bytes), 0) FROM kept WHERE kind = ?1" },
		{ &cache->files, "SELECT count(*) FROM kept WHERE kind = ?1" },
	};

	return sql_prepare_all(&cache->sql, all, ARRAY_SIZE(all));
}

static int count_kept(struct file_cache *cache, enum file_cache_kind kind)
{
	struct file_cache_counts *counts = &cache->counts[kind];
	sqlite3_int64 bytes = 0, files = 0;
	int result = sql_run(&cache->sql, cache->bytes, &bytes, "t", nouns[kind]);

	if (!result)
		result = sql_run(&cache->sql, cache->files, &files, "t", nouns[kind]);
	counts->bytes = (uint64_t)bytes;
	counts->files = (uint64_t)files;
	return result;
}

static int count_all_kept(struct file_cache *cache)
{
	int result = 0;

	for (enum file_cache_kind kind = 0; kind < FILE_CACHE_KINDS && !result; kind++)
		result = count_kept(cache, kind);
	return result;
}

/* Returns 0; -ESTALE if another version wrote it; or another error of SQLite. */
static int read_file(struct file_cache *cache)
{
	sqlite3_int64 same = 0, others = 0;
	int result = sql_open(&cache->sql, cache->path);

	if (!result)
		sql_wait_for_locks(&cache->sql, false);
	if (!result)
		result = sql_execute(&cache->sql, pragmas);
	if (!result)
		result = sql_execute(&cache->sql, schema);
	if (!result)
		result = sql_run_once(&cache->sql, &same,
				      "SELECT count(*) FROM made_by WHERE version = '" BOURDON_VERSION
				      " " CONTENT_VERSION "'",
				      "");
	if (!result)
		result = sql_run_once(&cache->sql, &others, "SELECT count(*) FROM made_by", "");
	if (!result && !others)
		result = sql_run_once(&cache->sql, NULL,
				      "INSERT INTO made_by VALUES('" BOURDON_VERSION " " CONTENT_VERSION "')",
				      "");
	else if (!result && (same != 1 || others != 1))
		return -ESTALE;
	if (!result)
		result = prepare(cache);
	return result ? result : count_all_kept(cache);
}

static void remove_file(struct file_cache *cache)
{
	char journal[512];

	sql_close(&cache->sql);
	snprintf(journal, sizeof(journal), "%s-journal", cache->path);
	unlink(journal);
	unlink(cache->path);
}

static bool is_beyond_repair(int result)
{
	return result == -ESTALE || result == -EUCLEAN || result == -EIO || result == -ENOSPC;
}

/* Begins the file anew after an error of SQLite. Returns false without a cache. */
static bool begin_anew(struct file_cache *cache, int result)
{
	if (is_beyond_repair(result)) {
		if (result != -ESTALE && log_allowed(&cache->damaged, 1))
			log_warning("what was kept of files in %s is lost (%s): it is made again",
				    cache->path, *cache->sql.error ? cache->sql.error : strerror(-result));
		remove_file(cache);
		result = read_file(cache);
	}
	if (!result)
		return true;
	log_warning("cannot keep unwind tables and names in %s: %s; they are made again at each start",
		    cache->path, *cache->sql.error ? cache->sql.error : strerror(-result));
	return false;
}

static void give_up(struct file_cache *cache)
{
	sql_close(&cache->sql);
	for (uint32_t i = 0; i < cache->pending_count; i++)
		kept_bytes_free(&cache->pending[i].content);
	cache->pending_count = 0;
	cache->pending_bytes = 0;
}

/* After an error of SQLite. Somebody who looks at the file costs what was added at that moment, and no more. */
static void mend(struct file_cache *cache, int result)
{
	if (result != -EBUSY && !begin_anew(cache, result))
		give_up(cache);
}

struct file_cache *file_cache_open(const char *directory, const atomic_uint_fast64_t *give_up_ns)
{
	struct file_cache *cache = calloc(1, sizeof(*cache));
	int result;

	if (!cache)
		return NULL;
	if (asprintf(&cache->path, "%s/" FILE_CACHE_FILE, directory) < 0)
		cache->path = NULL;
	cache->sql.give_up_ns = give_up_ns;
	result = cache->path ? read_file(cache) : -ENOMEM;
	if (!result || (cache->path && begin_anew(cache, result)))
		return cache;
	file_cache_close(cache);
	return NULL;
}

void file_cache_close(struct file_cache *cache)
{
	if (!cache)
		return;
	file_cache_flush(cache);
	give_up(cache);
	free(cache->pending);
	free(cache->path);
	free(cache);
}

/* ---- reading ---- */

static void bind_key(sqlite3_stmt *statement, enum file_cache_kind kind, const struct file_key *key)
{
	const int64_t values[] = { (int64_t)key->device, (int64_t)key->inode, (int64_t)key->owner,
				   (int64_t)key->bytes,  key->changed_s,      key->changed_ns };

	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, nouns[kind], -1, SQLITE_STATIC);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		sqlite3_bind_int64(statement, (int)i + 2, values[i]);
}

/* Removes content that is not what was written. */
static void remove_damaged(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key)
{
	int result;

	cache->counts[kind].damaged++;
	if (log_allowed(&cache->damaged, 1))
		log_warning("a kept %s in %s is damaged: it is made again", nouns[kind], cache->path);
	result = sql_run(&cache->sql, cache->remove, NULL, KEY_TYPES, KEY_VALUES(kind, key));
	if (result < 0)
		mend(cache, result);
}

/* Whether the row that the statement is at has the content that was written for this key. */
static bool is_sound(sqlite3_stmt *row, enum file_cache_kind kind, const struct file_key *key)
{
	uint8_t hash[SHA256_DIGEST_SIZE];
	const void *content = sqlite3_column_blob(row, 0), *kept = sqlite3_column_blob(row, 1);

	if (!content || !kept || sqlite3_column_bytes(row, 1) != SHA256_DIGEST_SIZE)
		return false;
	hash_content(kind, key, content, (size_t)sqlite3_column_bytes(row, 0), hash);
	return !memcmp(hash, kept, sizeof(hash));
}

/* What was added and not written yet: the last one counts. */
static const struct kept_bytes *find_pending(const struct file_cache *cache, enum file_cache_kind kind,
					     const struct file_key *key)
{
	for (uint32_t i = cache->pending_count; i; i--)
		if (cache->pending[i - 1].kind == kind &&
		    !memcmp(&cache->pending[i - 1].key, key, sizeof(*key)))
			return &cache->pending[i - 1].content;
	return NULL;
}

int file_cache_load(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key,
		    int (*take)(void *user, const char *content, size_t bytes), void *user)
{
	const struct kept_bytes *waiting;
	bool is_old;
	int result;

	if (!cache || !cache->sql.db)
		return -ENOENT;
	waiting = find_pending(cache, kind, key);
	if (waiting)
		return take(user, waiting->bytes, waiting->used);
	bind_key(cache->find, kind, key);
	result = sqlite3_step(cache->find);
	if (result != SQLITE_ROW) {
		result = result == SQLITE_DONE ? 0 : sql_failed(&cache->sql);
		sqlite3_reset(cache->find);
		if (result < 0)
			mend(cache, result);
		return result == -EBUSY ? -EBUSY : -ENOENT;
	}
	result = is_sound(cache->find, kind, key) ? take(user, sqlite3_column_blob(cache->find, 0),
							 (size_t)sqlite3_column_bytes(cache->find, 0))
						  : -EBADMSG;
	is_old = time(NULL) - sqlite3_column_int64(cache->find, 2) > USED_AGAIN_S;
	sqlite3_reset(cache->find);
	if (result == -EBADMSG) {
		remove_damaged(cache, kind, key);
		return -ENOENT;
	}
	cache->counts[kind].loaded++;
	if (is_old)
		sql_run(&cache->sql, cache->use, NULL, KEY_TYPES, KEY_VALUES(kind, key));
	return result;
}

bool file_cache_has(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key)
{
	sqlite3_int64 found = 0;
	int result;

	if (!cache || !cache->sql.db)
		return true;
	if (find_pending(cache, kind, key))
		return true;
	result = sql_run(&cache->sql, cache->has, &found, KEY_TYPES, KEY_VALUES(kind, key));
	if (result < 0)
		mend(cache, result);
	return found > 0;
}

/* ---- writing ---- */

void file_cache_add(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key,
		    struct kept_bytes *content)
{
	if (cache && cache->pending_bytes + content->used > PENDING_BYTES_MAX)
		file_cache_flush(cache);
	if (!cache || !cache->sql.db ||
	    array_make_room(cache->pending, cache->pending_count, cache->pending_room, 1U)) {
		kept_bytes_free(content);
		return;
	}
	cache->pending_bytes += content->used;
	cache->pending[cache->pending_count++] = (struct pending){ kind, *key, *content };
	*content = (struct kept_bytes){ 0 };
}

bool file_cache_keep(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key, int fd,
		     struct kept_bytes *content)
{
	struct stat at;

	if (!cache || !content->used || fstat(fd, &at) || !file_key_is_of(key, &at) ||
	    !file_key_is_settled(key)) {
		kept_bytes_free(content);
		return false;
	}
	file_cache_add(cache, kind, key, content);
	return true;
}

/* Removes what was not used for longest, until there is room. */
static int make_room(struct file_cache *cache, uint64_t bytes)
{
	const uint64_t needed = bytes / PAGE_BYTES + ROW_PAGES;
	sqlite3_int64 pages = 0, removed = 1;
	int result = sql_run(&cache->sql, cache->pages, &pages, "");

	while (!result && removed && (uint64_t)pages + needed > FILE_CACHE_BYTES_MAX / PAGE_BYTES) {
		removed = 0;
		result = sql_run(&cache->sql, cache->evict, &removed, "");
		if (!result)
			result = sql_run(&cache->sql, cache->pages, &pages, "");
	}
	return result;
}

static int write_one(struct file_cache *cache, const struct pending *one)
{
	uint8_t hash[SHA256_DIGEST_SIZE];
	int result;

	if (one->content.used > FILE_CACHE_BYTES_MAX / 2)
		return 0;
	result = make_room(cache, one->content.used);
	if (result < 0)
		return result;
	hash_content(one->kind, &one->key, one->content.bytes, one->content.used, hash);
	return sql_run(&cache->sql, cache->add, NULL, KEY_TYPES "bb", KEY_VALUES(one->kind, &one->key), hash,
		       sizeof(hash), one->content.bytes, one->content.used);
}

void file_cache_flush(struct file_cache *cache)
{
	uint32_t count = cache ? cache->pending_count : 0;
	bool was_large = cache && cache->pending_bytes > GIVEN_BACK_BYTES;
	int result;

	if (!count || !cache->sql.db)
		return;
	result = sql_execute(&cache->sql, "BEGIN IMMEDIATE");
	for (uint32_t i = 0; i < count && !result; i++)
		result = write_one(cache, &cache->pending[i]);
	result = sql_finish(&cache->sql, result);
	for (uint32_t i = 0; i < count; i++) {
		cache->counts[cache->pending[i].kind].added += !result;
		kept_bytes_free(&cache->pending[i].content);
	}
	cache->pending_count = 0;
	cache->pending_bytes = 0;
	if (was_large)
		heap_settle();
	if (!result)
		cache->failures = 0;
	if (!result)
		result = count_all_kept(cache);
	if (result < 0 && ++cache->failures >= FAILURES_MAX && result != -EBUSY)
		give_up(cache);
	else if (result < 0)
		mend(cache, result);
}

struct file_cache_counts file_cache_count(const struct file_cache *cache, enum file_cache_kind kind)
{
	return cache ? cache->counts[kind] : (struct file_cache_counts){ 0 };
}
