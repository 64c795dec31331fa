/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbolize: names frames that had no name when they were captured, on any machine, later. The database keeps
 * each frame's build ID and offset; the names come from a directory of programs and debug files. A confined
 * child process reads these files, as in the daemon (common/symbolizer/).
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/debug_files.h"
#include "common/symbolizer/spawner.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "common/text/escape.h"
#include "common/text/escape_name.h"
#include "common/text/hexadecimal.h"
#include "common/text/plural.h"
#include "report/context/subcommand.h"
#include "report/files/debug_directory.h"
#include "report/files/extend_stacks.h"
#include "report/model/owner.h"
#include "report/model/packages.h"
#include "report/model/query.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define CANDIDATES_MAX 8U

/*
 * Functions that are noted before they are written, in one transaction. It bounds the memory (some 200 bytes each), and
 * how long the daemon waits for it: each transaction reads all stacks once.
 */
#define NOTED_MAX 65536U

#define ANSWER_NS (60 * CLOCK_SECOND_NS)

struct module_row {
	int64_t module_id, bias;
	bool has_bias;
	char *path, *build_id;
	char *package; /* of the file on this machine; NULL: none */
};

struct place {
	int64_t frame_id, offset;
};

struct symbolizing {
	struct report *report;
	struct debug_directory directory;
	int spawner, symbolizer; /* negative: none is open */
	struct module_row *modules;
	uint32_t modules_count, modules_room;
	/* counts for the current module */
	struct place *places;
	uint32_t places_count, places_room;
	uint32_t named;
	sqlite3_stmt *note;
	uint32_t noted;
	uint64_t damaged;    /* nodes of stacks that could not be read */
	bool packages_known; /* each module's package was looked for */
	/* counts for all modules */
	uint32_t frames, frames_named, modules_absent;
	struct symbolize_reply reply;
};

/* ---- the symbolizer ---- */

static void end_symbolizer(struct symbolizing *work)
{
	if (work->symbolizer >= 0)
		close(TAKE_FD(work->symbolizer));
}

static uint64_t deadline(void)
{
	return clock_monotonic_ns() + ANSWER_NS;
}

/* Root remains root for a database that only root could have written. The symbolizer never runs as root. */
static int start_spawner_as_nobody(int *ret_spawner)
{
	int pair[2], result;
	char byte;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		log_error("cannot make a socket: %s", strerror(errno));
		return -errno;
	}
	child = fork();
	if (!child)
		_exit(owner_become(OWNER_NOBODY, OWNER_NOBODY) || spawner_start(ret_spawner) ||
				      pass_fd_send(pair[1], "s", 1, *ret_spawner)
			      ? EXIT_FAILED
			      : EXIT_DONE);
	close(pair[1]);
	result = child < 0 ? -errno : 0;
	if (result < 0)
		log_error("cannot fork: %s", strerror(-result));
	else if (pass_fd_receive(pair[0], &byte, 1, ret_spawner) != 1 || *ret_spawner < 0)
		result = -ECHILD; /* the child has logged why */
	close(pair[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return result;
}

/*
 * Forks the symbolizer before the database is opened: the process that reads hostile files inherits nothing
 * of the database, not even the mapping of its -shm file. Returns 0; or -errno, and the reason was logged.
 */
static int start_spawner(struct symbolizing *work)
{
	return geteuid() ? spawner_start(&work->spawner) : start_spawner_as_nobody(&work->spawner);
}

/* Starts a symbolizer. Returns 0; or -errno, and the reason was logged. */
static int need_symbolizer(struct symbolizing *work)
{
	if (work->symbolizer < 0)
		work->symbolizer = spawner_request(work->spawner, SYMBOLIZER_SOON, deadline());
	if (work->symbolizer >= 0)
		return 0;
	log_error("cannot start the symbolizer: %s", strerror(-work->symbolizer));
	return work->symbolizer;
}

/* Returns false if the file cannot be read, or the symbolizer died reading it. */
static bool open_module(struct symbolizing *work, int fd, struct symbolize_module *ret_module)
{
	if (need_symbolizer(work) < 0)
		return false;
	if (symbolizer_open_module(work->symbolizer, fd, deadline(), ret_module) < 0) {
		end_symbolizer(work);
		return false;
	}
	return ret_module->readable;
}

/*
 * A build_id_of. A symbolizer has one CPU time limit for all files that it reads, so a file on which it dies
 * is read once more by a new one.
 */
static bool ask_build_id(void *user, int fd, char build_id[BUILD_ID_TEXT_BYTES])
{
	struct symbolizing *work = user;
	bool is_fresh = work->symbolizer < 0;
	struct symbolize_module module = { 0 };
	bool opened = open_module(work, fd, &module);

	if (!opened && work->symbolizer < 0 && !is_fresh)
		opened = open_module(work, fd, &module);
	if (!opened || !module.build_id_bytes)
		return false;
	hexadecimal_write(module.build_id, module.build_id_bytes, build_id);
	return true;
}

/* ---- the database ---- */

static sqlite3_stmt *prepare(struct database *database, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
		database_fail(database);
	return statement;
}

/* There is no frame that a file below --debug-dir could name. */
static void report_nothing(struct report *report)
{
	_cleanup_query_ struct query query = query_begin(
		report->database,
		"SELECT count(*) AS frames, count(DISTINCT module_id) AS files FROM frame JOIN module USING(module_id) "
		"WHERE kind = 'file' AND ifnull(length(build_id), 0) NOT BETWEEN 4 AND 64 AND inlined = 0 "
		"AND function_offset IS NULL",
		0, 0);
	int64_t frames, files;

	fprintf(report->out, "nothing to do: every frame of a file with a build ID has a name\n");
	if (!query_next(&query) || !query_number(&query, "frames"))
		return;
	frames = query_number(&query, "frames");
	files = query_number(&query, "files");
	fprintf(report->out,
		"%" PRId64 " %s of %" PRId64
		" %s cannot be named: the database has no build ID of the %s, because it has none or its process had ended\n",
		frames, plural((uint64_t)frames, "frame", "frames"), files,
		plural((uint64_t)files, "file", "files"), plural((uint64_t)files, "file", "files"));
}

static int read_modules(struct symbolizing *work)
{
	_cleanup_query_ struct query query = query_begin(
		work->report->database,
		"SELECT module_id, path, build_id, bias FROM module m WHERE kind = 'file' "
		"AND length(build_id) BETWEEN 4 AND 64 AND EXISTS (SELECT 1 FROM frame f "
		"WHERE f.module_id = m.module_id AND f.inlined = 0 AND f.function_offset IS NULL) "
		"ORDER BY path, module_id",
		0, 0);

	while (query_next(&query)) {
		struct module_row row = { .module_id = query_number(&query, "module_id"),
					  .has_bias = !query_is_null(&query, "bias"),
					  .bias = query_number(&query, "bias"),
					  .path = strdup(query_text(&query, "path")),
					  .build_id = strdup(query_text(&query, "build_id")) };

		if (!row.path || !row.build_id ||
		    array_make_room(work->modules, work->modules_count, work->modules_room, 1U)) {
			free(row.path);
			free(row.build_id);
			log_error("out of memory");
			return -ENOMEM;
		}
		work->modules[work->modules_count++] = row;
	}
	return work->report->database->failed ? -EIO : 0;
}

static int read_places(struct symbolizing *work, int64_t module_id)
{
	_cleanup_query_ struct query query =
		query_begin(work->report->database,
			    "SELECT frame_id, offset FROM frame WHERE module_id = ?1 AND inlined = 0 "
			    "AND function_offset IS NULL ORDER BY offset",
			    module_id, 0);

	work->places_count = 0;
	while (query_next(&query)) {
		if (array_make_room(work->places, work->places_count, work->places_room, 1U)) {
			log_error("out of memory");
			return -ENOMEM;
		}
		work->places[work->places_count++] =
			(struct place){ query_number(&query, "frame_id"), query_number(&query, "offset") };
	}
	return work->report->database->failed ? -EIO : 0;
}

/* Stores names in the form in which the daemon does. */
static int bind_text(sqlite3_stmt *statement, int position, const struct symbolize_reply *reply, uint32_t at,
		     uint32_t bytes)
{
	_cleanup_free_ char *name = bytes ? strndup(reply->text + at, bytes) : NULL;
	char *form = name ? escape_name(name) : NULL;

	if (bytes && !form) {
		log_error("out of memory");
		return -ENOMEM;
	}
	return sqlite3_bind_text(statement, position, form, -1, free) == SQLITE_OK ? 0 : -ENOMEM;
}

/* The functions at one address: the function itself, and those that are inlined there. */
static int note_chain(struct symbolizing *work, const struct module_row *module, const struct place *place,
		      uint32_t first, uint32_t depth)
{
	sqlite3_stmt *note = work->note;

	if (!work->reply.frames[first].name_bytes)
		return 0;
	for (uint32_t i = 0; i < depth; i++) {
		const struct symbolize_frame *frame = &work->reply.frames[first + i];

		sqlite3_reset(note);
		sqlite3_bind_int64(note, 1, place->frame_id);
		if (bind_text(note, 2, &work->reply, frame->name, frame->name_bytes) ||
		    bind_text(note, 4, &work->reply, frame->file, frame->file_bytes))
			return -ENOMEM;
		sqlite3_bind_int64(note, 3, (int64_t)frame->function_offset);
		if (frame->line)
			sqlite3_bind_int64(note, 5, frame->line);
		else
			sqlite3_bind_null(note, 5);
		sqlite3_bind_int64(note, 6, i);
		sqlite3_bind_int64(note, 7, place->offset);
		sqlite3_bind_text(note, 8, module->build_id, -1, SQLITE_STATIC);
		if (sqlite3_step(note) != SQLITE_DONE) {
			database_fail(work->report->database);
			return -EIO;
		}
	}
	sqlite3_reset(note);
	work->noted += depth;
	work->named++;
	return 0;
}

/* ---- writing the names ---- */

/* Except to frames that the daemon has named or deleted meanwhile. */
static const char write_names[] =
	"DELETE FROM noted WHERE frame_id NOT IN (SELECT n.frame_id FROM noted n JOIN frame f "
	"USING(frame_id) "
	"JOIN module m USING(module_id) WHERE f.offset = n.offset AND m.build_id = n.build_id "
	"AND f.function_offset IS NULL);"
	"UPDATE frame_row SET (function, function_offset, file, line) = (SELECT n.function, n.function_offset, "
	"ifnull(n.file, frame_row.file), ifnull(n.line, frame_row.line) FROM noted n "
	"WHERE n.frame_id = frame_row.frame_id AND n.inlined = 0) "
	"WHERE frame_id IN (SELECT frame_id FROM noted WHERE inlined = 0);"
	"INSERT INTO frame_row(module_id, offset, function, function_offset, file, line, inlined) "
	"SELECT f.module_id, f.offset, n.function, n.function_offset, n.file, n.line, n.inlined "
	"FROM noted n JOIN frame f USING(frame_id) WHERE n.inlined > 0 ON CONFLICT DO NOTHING";

/*
 * What is inlined in the frames that got a name. A frame without that counts only if its file has a version: then its
 * name is a part of the hashes of its stacks (common/store/stack_hash.h).
 */
static const char extensions_sql[] =
	"SELECT frame_id, inner_id FROM ("
	"SELECT n.frame_id, n.inlined, i.frame_id AS inner_id FROM noted n JOIN frame f USING(frame_id) "
	"JOIN frame i ON i.module_id = f.module_id AND i.offset = f.offset AND i.inlined = n.inlined "
	"WHERE n.inlined > 0 "
	"UNION ALL SELECT n.frame_id, 0, 0 FROM noted n JOIN frame f USING(frame_id) "
	"JOIN module m USING(module_id) WHERE n.inlined = 0 AND m.version <> '' AND NOT EXISTS "
	"(SELECT 1 FROM noted i WHERE i.frame_id = n.frame_id AND i.inlined > 0)"
	") ORDER BY frame_id, inlined";

static int read_extensions(struct symbolizing *work, struct frame_extension **ret_extensions,
			   uint32_t *ret_count)
{
	_cleanup_query_ struct query query = query_begin(work->report->database, extensions_sql, 0, 0);
	_cleanup_free_ struct frame_extension *extensions = NULL;
	uint32_t count = 0, room = 0;

	while (query_next(&query)) {
		if (array_make_room(extensions, count, room, 1U)) {
			log_error("out of memory");
			return -ENOMEM;
		}
		extensions[count++] = (struct frame_extension){ query_number(&query, "frame_id"),
								query_number(&query, "inner_id") };
	}
	*ret_extensions = TAKE_PTR(extensions);
	*ret_count = count;
	return work->report->database->failed ? -EIO : 0;
}

static int write_stacks(struct symbolizing *work)
{
	_cleanup_free_ struct frame_extension *extensions = NULL;
	struct database *database = work->report->database;
	uint64_t damaged = 0;
	uint32_t count;
	int result = read_extensions(work, &extensions, &count);

	if (result < 0 || !count)
		return result;
	result = extend_stacks(database->sqlite, extensions, count, &damaged);
	work->damaged += damaged;
	if (result == -ENOMEM)
		log_error("out of memory");
	else if (result < 0)
		database_fail(database);
	return result;
}

/* Writes what was noted, in one transaction: no reader sees a name without the functions inlined there. */
static int write_noted(struct symbolizing *work)
{
	struct database *database = work->report->database;
	int result;

	if (!work->noted)
		return 0;
	result = database_execute(database, "BEGIN IMMEDIATE");
	if (result < 0)
		return result;
	result = database_execute(database, write_names);
	if (!result)
		result = write_stacks(work);
	if (!result)
		result = database_execute(database, "DELETE FROM noted; COMMIT");
	if (result < 0)
		sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
	work->noted = 0;
	return result;
}

/* ---- one module ---- */

static int ask_places(struct symbolizing *work, const struct module_row *module, bool by_address)
{
	uint32_t at = 0;

	while (at < work->places_count) {
		struct symbolize_request request = { .kind = by_address ? SYMBOLIZE_ADDRESSES
									: SYMBOLIZE_NAMES };
		uint32_t frame = 0;

		for (uint32_t i = at; i < work->places_count && request.count < SYMBOLIZE_BATCH; i++)
			request.offsets[request.count++] =
				(uint64_t)(work->places[i].offset + (by_address ? module->bias : 0));
		if (symbolizer_name(work->symbolizer, -1, &request, deadline(), &work->reply) < 0 ||
		    !work->reply.count) {
			log_warning("%s: the symbolizer died reading it; skipped", module->path);
			end_symbolizer(work);
			return 0;
		}
		for (uint32_t i = 0; i < work->reply.count; i++) {
			int result =
				note_chain(work, module, &work->places[at + i], frame, work->reply.depths[i]);

			if (result < 0)
				return result;
			frame += work->reply.depths[i];
		}
		if (work->noted >= NOTED_MAX && write_noted(work) < 0)
			return -EIO;
		at += work->reply.count;
	}
	return 0;
}

/*
 * Opens the module in the symbolizer, with its debug files. Returns false if no file has its build ID, or
 * none can be read.
 */
static bool choose_file(struct symbolizing *work, const struct module_row *module, const int *fds,
			uint32_t count, bool *ret_by_address)
{
	char build_id[BUILD_ID_TEXT_BYTES];
	struct symbolize_module answer;
	uint32_t best = count;

	/* The program itself, if it is there: only its program headers say which address an offset has. */
	for (uint32_t i = 0; i < count; i++) {
		if (!open_module(work, fds[i], &answer))
			continue;
		hexadecimal_write(answer.build_id, answer.build_id_bytes, build_id);
		if (strcmp(build_id, module->build_id) != 0)
			continue;
		if (best == count || answer.has_bias)
			best = i;
		if (answer.has_bias)
			break;
	}
	if (best == count || !open_module(work, fds[best], &answer))
		return false;
	*ret_by_address = !answer.has_bias;
	for (uint32_t i = 0; i < count && answer.lacks & SYMBOLIZE_LACKS_DEBUG; i++)
		if (i != best && symbolizer_add_file(work->symbolizer, fds[i], deadline(), &answer) < 0) {
			end_symbolizer(work);
			return false;
		}
	return true;
}

/* Why frames of the module remain unnamed; "" if none do. */
static const char *explain(const struct symbolizing *work, const struct module_row *module, uint32_t files,
			   bool chosen, bool by_address)
{
	if (work->named == work->places_count)
		return "";
	if (!files)
		return "no file has this build ID";
	if (!chosen)
		return "the file with this build ID in its name has another one inside, or cannot be read";
	if (by_address && !module->has_bias)
		return "only the debug file was found, and the program is needed too: add it";
	return work->named ? "the file has no symbols for the other frames"
			   : "the file is stripped: add its debug file";
}

static void report_all(const struct symbolizing *work)
{
	char root[FORMAT_BYTES];

	fprintf(work->report->out, "named %u of %u %s of %u %s", work->frames_named, work->frames,
		plural(work->frames, "frame", "frames"), work->modules_count,
		plural(work->modules_count, "file", "files"));
	if (work->modules_absent)
		fprintf(work->report->out, "; for %u of them no file below %s has the build ID",
			work->modules_absent, escape_terminal(work->directory.root, root, sizeof(root)));
	if (access(work->directory.root, F_OK))
		fprintf(work->report->out, ", because this directory cannot be opened: %s", strerror(errno));
	else if (work->modules_absent)
		fprintf(work->report->out, " (%u ELF %s read)", work->directory.count,
			plural(work->directory.count, "file was", "files were"));
	fputc('\n', work->report->out);
	if (work->damaged)
		log_warning("'%s' is damaged: %" PRIu64 " %s of stacks cannot be read, and stay as they are",
			    work->report->database->path, work->damaged,
			    plural(work->damaged, "part", "parts"));
}

/* Looks for the package of each module. dpkg's lists are long, so they are read once, and only if a frame stays without a name. */
static int find_packages(struct symbolizing *work)
{
	_cleanup_free_ const char **paths = calloc(work->modules_count + 1UL, sizeof(*paths));
	_cleanup_free_ char **packages = calloc(work->modules_count + 1UL, sizeof(*packages));
	int result = paths && packages ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < work->modules_count && !result; i++)
		paths[i] = work->modules[i].path;
	if (!result)
		result = packages_find(PACKAGES_LISTS, paths, work->modules_count, packages);
	for (uint32_t i = 0; i < work->modules_count && !result; i++)
		work->modules[i].package = packages[i];
	work->packages_known = true;
	if (result)
		log_error("out of memory");
	return result;
}

/* Says which package has the symbols that are missing. */
static int report_package(struct symbolizing *work, const struct module_row *module)
{
	int result = work->packages_known ? 0 : find_packages(work);
	_cleanup_free_ char *symbols = module->package ? packages_symbols(module->package) : NULL;

	if (symbols)
		fprintf(work->report->out, "                Debian's package %s has its symbols\n", symbols);
	return result;
}

static int symbolize_module(struct symbolizing *work, const struct module_row *module)
{
	char path[FORMAT_BYTES], id[FORMAT_BYTES];
	int fds[CANDIDATES_MAX];
	uint32_t count;
	bool by_address = false, chosen;
	int result = read_places(work, module->module_id);

	if (result < 0)
		return result;
	work->named = 0;
	count = debug_directory_open(&work->directory, module->build_id, ask_build_id, work, fds,
				     CANDIDATES_MAX);
	end_symbolizer(work); /* one symbolizer for each module, with its own CPU time limit */
	chosen = choose_file(work, module, fds, count, &by_address);
	if (chosen && (!by_address || module->has_bias))
		result = ask_places(work, module, by_address);
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
	work->frames += work->places_count;
	work->frames_named += work->named;
	work->modules_absent += !count;
	fprintf(work->report->out, "%5u of %5u %s of %s (%s)%s%s\n", work->named, work->places_count,
		plural(work->places_count, "frame", "frames"),
		escape_terminal(module->path, path, sizeof(path)),
		escape_terminal(module->build_id, id, sizeof(id)),
		work->named == work->places_count ? "" : ": ",
		explain(work, module, count, chosen, by_address));
	if (work->named < work->places_count && report_package(work, module) < 0)
		return -ENOMEM;
	return result;
}

/* Reading the files may take long: no transaction is open meanwhile, so the daemon can write. */
static int symbolize_all(struct symbolizing *work)
{
	struct database *database = work->report->database;
	int result = database_execute(
		database, "CREATE TEMP TABLE noted(frame_id INTEGER, function TEXT, function_offset INTEGER, "
			  "file TEXT, line INTEGER, inlined INTEGER, offset INTEGER, build_id TEXT);"
			  "CREATE INDEX temp.noted_frame ON noted(frame_id, inlined)");

	if (result < 0)
		return result;
	work->note = prepare(database, "INSERT INTO noted VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
	for (uint32_t i = 0; i < work->modules_count && !result && work->note; i++)
		result = symbolize_module(work, &work->modules[i]);
	sqlite3_finalize(work->note);
	return result || database->failed ? -EIO : write_noted(work);
}

/* Root reads the files as the database's owner: a file that this user cannot read gets a message. */
static bool may_read(const char *debug_dir)
{
	if (!access(debug_dir, R_OK | X_OK) || (errno != EACCES && errno != EPERM))
		return true;
	log_error("cannot read '%s' as user %u, the owner of the database: let that user read it", debug_dir,
		  geteuid());
	return false;
}

struct symbolize_words {
	struct shared_words shared;
	const char *debug_dir;
};

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "debug-dir", "DIR", "where programs and debug files are (default " DEBUG_ROOT ")",
	  .at = offsetof(struct symbolize_words, debug_dir) },
};

static int symbolize_main(struct report *report, int count, char **arguments)
{
	struct symbolize_words words = { 0 };
	static struct symbolizing work; /* too large for the stack */
	struct database *database = report->database;
	_cleanup_free_ char *real = NULL;
	int status = subcommand_parse(report, &symbolize_subcommand, count, arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	work = (struct symbolizing){ .report = report,
				     .directory = { .root = words.debug_dir ? words.debug_dir : DEBUG_ROOT },
				     .spawner = -EBADF,
				     .symbolizer = -EBADF };
	signal(SIGPIPE, SIG_IGN);
	/* a file that does not exist fails later, when it is opened */
	if (owner_become_of(database->path, &real) == -EPERM || start_spawner(&work) < 0 ||
	    !may_read(work.directory.root) || database_open_to_write(database->path, database) < 0) {
		cleanup_close(&work.spawner);
		return EXIT_FAILED;
	}
	if (read_modules(&work) < 0 || symbolize_all(&work) < 0)
		report->unwell = true;
	else if (!work.modules_count)
		report_nothing(report);
	else
		report_all(&work);
	end_symbolizer(&work);
	cleanup_close(&work.spawner);
	for (uint32_t i = 0; i < work.modules_count; i++) {
		free(work.modules[i].path);
		free(work.modules[i].build_id);
		free(work.modules[i].package);
	}
	free(work.modules);
	free(work.places);
	debug_directory_free(&work.directory);
	return status;
}

SUBCOMMAND(
	symbolize, "symbolize", "", "name frames that have no name, from programs and debug files",
	"Writes names into the database for frames that have none, from programs and debug files with the\n"
	"same build IDs. A confined child process reads these files.",
	"bourdon --db copy.db symbolize --debug-dir /srv/debug");
