/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/kept/file_cache.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/version.h"
#include "consumer/process/heap.h"
#include "consumer/sql/sql.h"

#include <nettle/sha2.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Raise it with each change of what unwind_table_compile() or the finders of names find in a file, or of how table_cache.c and
 * name_index.c write it.
 */
#define CONTENT_VERSION "2"
#define MADE_BY (BOURDON_VERSION " " CONTENT_VERSION)

/* of what was added, before it is written; one larger table may wait alone */
#define PENDING_BYTES_MAX (128UL << 10)
/* heap_settle() follows if more than this was written */
#define GIVEN_BACK_BYTES (64UL << 10)
#define SETTLED_S 2       /* since a file's last change */
#define USED_AGAIN_S 3600 /* what was used since then is not marked as used again */
#define FAILURES_MAX 3U   /* of writing, in a row: then nothing more is written */

#define KEY_COLUMNS "device, inode, owner, bytes, changed_s, changed_ns"
#define KEY_TYPES "iiiiii"
#define KEY_VALUES(key)                                                                                      \
	(int64_t)(key)->device, (int64_t)(key)->inode, (int64_t)(key)->owner, (int64_t)(key)->bytes,         \
		(key)->changed_s, (key)->changed_ns
#define OF_KEY                                                                                               \
	" WHERE device = ?1 AND inode = ?2 AND owner = ?3 AND bytes = ?4 AND changed_s = ?5 AND changed_ns = ?6"

struct kind {
	const char *noun, *table;
	size_t bytes_max;
	const char *schema, *bytes, *files, *find, *has, *use, *remove, *add, *evict;
};

#define KIND(kind_noun, kind_table, kind_bytes_max)                                                          \
	{                                                                                                    \
		.noun = (kind_noun), .table = (kind_table), .bytes_max = (kind_bytes_max),                   \
		.schema = "CREATE TABLE IF NOT EXISTS " kind_table "(" KEY_COLUMNS ","                       \
			  "	used_at INTEGER NOT NULL, content_bytes INTEGER NOT NULL,"                       \
			  "	hash BLOB NOT NULL, content BLOB NOT NULL,"                                      \
			  "	UNIQUE(" KEY_COLUMNS "));"                                                   \
			  "CREATE INDEX IF NOT EXISTS " kind_table "_by_use ON " kind_table "(used_at)",     \
		.bytes = "SELECT coalesce(sum(content_bytes), 0) FROM " kind_table,                          \
		.files = "SELECT count(*) FROM " kind_table,                                                 \
		.find = "SELECT content, hash, used_at FROM " kind_table OF_KEY,                             \
		.has = "SELECT count(*) FROM " kind_table OF_KEY,                                            \
		.use = "UPDATE " kind_table " SET used_at = unixepoch()" OF_KEY,                             \
		.remove = "DELETE FROM " kind_table OF_KEY,                                                  \
		.add = "REPLACE INTO " kind_table "(" KEY_COLUMNS ", used_at, content_bytes, hash, content)" \
		       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, unixepoch(), length(?8), ?7, ?8)",                   \
		.evict = "DELETE FROM " kind_table " WHERE rowid = (SELECT rowid FROM " kind_table           \
			 " ORDER BY used_at, rowid LIMIT 1) RETURNING content_bytes",                        \
	}

static const struct kind kinds[FILE_CACHE_KINDS] = {
	[FILE_CACHE_TABLES] = KIND("unwind table", "unwind_table", FILE_CACHE_TABLES_BYTES_MAX),
	[FILE_CACHE_NAMES] = KIND("index of names", "name_index", FILE_CACHE_NAMES_BYTES_MAX),
};

struct pending {
	enum file_cache_kind kind;
	struct file_key key;
	struct kept_bytes content;
};

/* What the cache has of one kind. */
struct shelf {
	sqlite3_stmt *find, *has, *use, *remove, *add, *evict;
	struct file_cache_counts counts;
};

struct file_cache {
	struct sql sql;
	char *path;
	struct shelf shelves[FILE_CACHE_KINDS];
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
	sha256_update(&context, strlen(kinds[kind].table), (const uint8_t *)kinds[kind].table);
	sha256_update(&context, sizeof(*key), (const uint8_t *)key);
	sha256_update(&context, count, bytes);
	sha256_digest(&context, SHA256_DIGEST_SIZE, ret_hash);
}

/* ---- opening ---- */

static const char versions[] = "CREATE TABLE IF NOT EXISTS made_by(version TEXT NOT NULL)";

/* What a power failure breaks is made again: nothing is synchronized. */
static const char pragmas[] =
	"PRAGMA synchronous = OFF;"
	"PRAGMA cache_size = -128; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF";

static int prepare(struct file_cache *cache, enum file_cache_kind kind)
{
	struct shelf *shelf = &cache->shelves[kind];
	const struct {
		sqlite3_stmt **statement;
		const char *text;
	} all[] = {
		{ &shelf->find, kinds[kind].find }, { &shelf->has, kinds[kind].has },
		{ &shelf->use, kinds[kind].use },   { &shelf->remove, kinds[kind].remove },
		{ &shelf->add, kinds[kind].add },   { &shelf->evict, kinds[kind].evict },
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all) && !result; i++)
		result = sql_prepare(&cache->sql, all[i].statement, all[i].text);
	return result;
}

static int count_kept(struct file_cache *cache, enum file_cache_kind kind)
{
	struct file_cache_counts *counts = &cache->shelves[kind].counts;
	sqlite3_int64 bytes = 0, files = 0;
	int result = sql_run_once(&cache->sql, &bytes, kinds[kind].bytes);

	if (!result)
		result = sql_run_once(&cache->sql, &files, kinds[kind].files);
	counts->bytes = (uint64_t)bytes;
	counts->files = (uint64_t)files;
	return result;
}

static int open_shelf(struct file_cache *cache, enum file_cache_kind kind)
{
	int result = sql_execute(&cache->sql, kinds[kind].schema);

	if (!result)
		result = prepare(cache, kind);
	return result ? result : count_kept(cache, kind);
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
		result = sql_execute(&cache->sql, versions);
	if (!result)
		result = sql_run_once(&cache->sql, &same,
				      "SELECT count(*) FROM made_by WHERE version = '" BOURDON_VERSION
				      " " CONTENT_VERSION "'");
	if (!result)
		result = sql_run_once(&cache->sql, &others, "SELECT count(*) FROM made_by");
	if (!result && !others)
		result = sql_run_once(&cache->sql, NULL,
				      "INSERT INTO made_by VALUES('" BOURDON_VERSION " " CONTENT_VERSION
				      "')");
	else if (!result && (same != 1 || others != 1))
		return -ESTALE;
	for (enum file_cache_kind kind = 0; kind < FILE_CACHE_KINDS && !result; kind++)
		result = open_shelf(cache, kind);
	return result;
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

static void bind_key(sqlite3_stmt *statement, const struct file_key *key)
{
	const int64_t values[] = { KEY_VALUES(key) };

	sqlite3_reset(statement);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		sqlite3_bind_int64(statement, (int)i + 1, values[i]);
}

/* Removes content that is not what was written. */
static void remove_damaged(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key)
{
	int result;

	cache->shelves[kind].counts.damaged++;
	if (log_allowed(&cache->damaged, 1))
		log_warning("a kept %s in %s is damaged: it is made again", kinds[kind].noun, cache->path);
	result = sql_run(&cache->sql, cache->shelves[kind].remove, NULL, KEY_TYPES, KEY_VALUES(key));
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
	struct shelf *shelf;
	bool is_old;
	int result;

	if (!cache || !cache->sql.db)
		return -ENOENT;
	waiting = find_pending(cache, kind, key);
	if (waiting)
		return take(user, waiting->bytes, waiting->used);
	shelf = &cache->shelves[kind];
	bind_key(shelf->find, key);
	result = sqlite3_step(shelf->find);
	if (result != SQLITE_ROW) {
		result = result == SQLITE_DONE ? 0 : sql_failed(&cache->sql);
		sqlite3_reset(shelf->find);
		if (result < 0)
			mend(cache, result);
		return result == -EBUSY ? -EBUSY : -ENOENT;
	}
	result = is_sound(shelf->find, kind, key) ? take(user, sqlite3_column_blob(shelf->find, 0),
							 (size_t)sqlite3_column_bytes(shelf->find, 0))
						  : -EBADMSG;
	is_old = time(NULL) - sqlite3_column_int64(shelf->find, 2) > USED_AGAIN_S;
	sqlite3_reset(shelf->find);
	if (result == -EBADMSG) {
		remove_damaged(cache, kind, key);
		return -ENOENT;
	}
	shelf->counts.loaded++;
	if (is_old)
		sql_run(&cache->sql, shelf->use, NULL, KEY_TYPES, KEY_VALUES(key));
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
	result = sql_run(&cache->sql, cache->shelves[kind].has, &found, KEY_TYPES, KEY_VALUES(key));
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
static int make_room(struct file_cache *cache, enum file_cache_kind kind, uint64_t bytes)
{
	struct shelf *shelf = &cache->shelves[kind];
	struct file_cache_counts *counts = &shelf->counts;

	while (counts->bytes + bytes > kinds[kind].bytes_max && counts->files) {
		sqlite3_int64 freed = 0;
		int result = sql_run(&cache->sql, shelf->evict, &freed, "");

		if (result < 0)
			return result;
		counts->bytes -= (uint64_t)freed < counts->bytes ? (uint64_t)freed : counts->bytes;
		counts->files--;
	}
	return 0;
}

static int write_one(struct file_cache *cache, const struct pending *one)
{
	uint8_t hash[SHA256_DIGEST_SIZE];
	int result = make_room(cache, one->kind, one->content.used);

	if (result < 0)
		return result;
	hash_content(one->kind, &one->key, one->content.bytes, one->content.used, hash);
	return sql_run(&cache->sql, cache->shelves[one->kind].add, NULL, KEY_TYPES "bb",
		       KEY_VALUES(&one->key), hash, sizeof(hash), one->content.bytes, one->content.used);
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
		cache->shelves[cache->pending[i].kind].counts.added += !result;
		kept_bytes_free(&cache->pending[i].content);
	}
	cache->pending_count = 0;
	cache->pending_bytes = 0;
	if (was_large)
		heap_settle();
	if (!result)
		cache->failures = 0;
	for (enum file_cache_kind kind = 0; kind < FILE_CACHE_KINDS && !result; kind++)
		result = count_kept(cache, kind);
	if (result < 0 && ++cache->failures >= FAILURES_MAX && result != -EBUSY)
		give_up(cache);
	else if (result < 0)
		mend(cache, result);
}

struct file_cache_counts file_cache_count(const struct file_cache *cache, enum file_cache_kind kind)
{
	return cache ? cache->shelves[kind].counts : (struct file_cache_counts){ 0 };
}
