/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbolize: names frames that had no name when they were captured, on any machine, later. The database keeps
 * each frame's build ID and offset; the names come from a directory of programs and debug files. A confined
 * child process reads these files, as in the daemon (common/symbolizer/).
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/symbolizer/debug_files.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/context/subcommand.h"
#include "report/files/debug_directory.h"
#include "report/files/file_reader.h"
#include "report/files/found_names.h"
#include "report/model/owner.h"
#include "report/model/packages.h"
#include "report/model/query.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#define CANDIDATES_MAX 8U

struct module_row {
	int64_t module_id, bias;
	bool has_bias;
	char *path, *build_id;
	char *package; /* of the file on this machine; NULL: none */
};

struct symbolizing {
	struct report *report;
	struct debug_directory directory;
	struct file_reader reader;
	struct found_names names;
	struct module_row *modules;
	uint32_t modules_count, modules_room;
	/* counts for the current module */
	struct found_place *places;
	uint32_t places_count, places_room;
	uint32_t named;
	bool packages_known; /* each module's package was looked for */
	/* counts for all modules */
	uint32_t frames, frames_named, modules_absent;
	struct symbolize_reply reply;
};

/* ---- the database ---- */

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
			return log_failed(-ENOMEM, "out of memory");
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
		if (array_make_room(work->places, work->places_count, work->places_room, 1U))
			return log_failed(-ENOMEM, "out of memory");
		work->places[work->places_count++] = (struct found_place){ query_number(&query, "frame_id"),
									   query_number(&query, "offset") };
	}
	return work->report->database->failed ? -EIO : 0;
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
		if (file_reader_name(&work->reader, &request, &work->reply) < 0) {
			log_warning("%s: the symbolizer died reading it; skipped", module->path);
			return 0;
		}
		for (uint32_t i = 0; i < work->reply.count; i++) {
			int result = found_names_add(&work->names, module->build_id, &work->places[at + i],
						     &work->reply, frame, work->reply.depths[i]);

			if (result < 0)
				return result;
			work->named += work->reply.frames[frame].name_bytes > 0;
			frame += work->reply.depths[i];
		}
		at += work->reply.count;
	}
	return 0;
}

/* Why frames of the module remain unnamed; "" if none do. */
static const char *why_unnamed(const struct symbolizing *work, const struct module_row *module,
			       uint32_t files, bool chosen, bool by_address)
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
	if (work->names.damaged)
		log_warning("'%s' is damaged: %" PRIu64 " %s of stacks cannot be read, and stay as they are",
			    work->report->database->path, work->names.damaged,
			    plural(work->names.damaged, "part", "parts"));
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
	count = debug_directory_open(&work->directory, module->build_id, file_reader_build_id, &work->reader,
				     fds, CANDIDATES_MAX);
	file_reader_end(&work->reader); /* one symbolizer for each module, with its own CPU time limit */
	chosen = file_reader_choose(&work->reader, module->build_id, fds, count, &by_address);
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
		why_unnamed(work, module, count, chosen, by_address));
	if (work->named < work->places_count && report_package(work, module) < 0)
		return -ENOMEM;
	return result;
}

/* Reading the files may take long: no transaction is open meanwhile, so the daemon can write. */
static int symbolize_all(struct symbolizing *work)
{
	int result = found_names_begin(&work->names);

	for (uint32_t i = 0; i < work->modules_count && !result; i++)
		result = symbolize_module(work, &work->modules[i]);
	found_names_end(&work->names);
	return result || work->report->database->failed ? -EIO : found_names_write(&work->names);
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
				     .reader = { .spawner = -EBADF, .symbolizer = -EBADF },
				     .names = { .database = database } };
	signal(SIGPIPE, SIG_IGN);
	/* a file that does not exist fails later, when it is opened */
	if (owner_become_of(database->path, &real) == -EPERM || file_reader_start(&work.reader) < 0 ||
	    !may_read(work.directory.root) || database_open_to_write(database->path, database) < 0) {
		file_reader_close(&work.reader);
		return EXIT_FAILED;
	}
	if (read_modules(&work) < 0 || symbolize_all(&work) < 0)
		report->unwell = true;
	else if (!work.modules_count)
		report_nothing(report);
	else
		report_all(&work);
	file_reader_close(&work.reader);
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
