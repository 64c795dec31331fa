/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/parties.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/plural.h"
#include "consumer/rules/cgroup_parts.h"
#include "report/query.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* bourdond writes some 700 rows of usage and of what ended. */
#define PARTIES_MOST 4096U

/* What a kill is for lack of. */
#define RESOURCE "(SELECT iif(trigger_mode = 'kill', 'memory', resource) FROM capture WHERE capture_id = ?1)"

/* The groups of consumer/capture/usage_groups.c: by unit, and without one by cgroup. total() does not overflow. */
static const char parties_sql[] =
	"SELECT role, program, unit, container, min(cgroup) AS cgroup, CAST(total(processes) AS INTEGER) AS processes, "
	"CAST(total(ended) AS INTEGER) AS ended, max(tgid) AS tgid, CAST(total(cpu_ns) AS INTEGER) AS cpu_ns, "
	"CAST(total(read_bytes) AS INTEGER) AS read_bytes, CAST(total(write_bytes) AS INTEGER) AS write_bytes, "
	"CAST(total(rss_bytes) AS INTEGER) AS rss_bytes, CAST(total(grown_bytes) AS INTEGER) AS grown_bytes, "
	"CAST(total(waited_ns) AS INTEGER) AS waited_ns FROM ("
	"SELECT u.role, CASE WHEN u.role <> 'kernel' THEN p.comm WHEN instr(p.comm, '/') "
	"THEN substr(p.comm, 1, instr(p.comm, '/') - 1) ELSE rtrim(p.comm, '0123456789.') END AS program, p.unit, p.container, "
	"p.cgroup, 1 AS processes, 0 AS ended, p.tgid, u.cpu_ns, u.read_bytes, u.write_bytes, u.rss_bytes, "
	"u.rss_bytes - u.rss_before_bytes AS grown_bytes, CASE " RESOURCE " "
	"WHEN 'io' THEN u.stalled_io_ns WHEN 'memory' THEN u.stalled_memory_ns ELSE u.stalled_cpu_ns END AS waited_ns "
	"FROM usage u JOIN process p USING(process_id) WHERE u.capture_id = ?1 "
	"UNION ALL SELECT e.role, e.comm, e.unit, e.container, e.cgroup, e.processes, e.processes, NULL, e.cpu_ns, e.read_bytes, "
	"e.write_bytes, 0, 0, 0 FROM ended e WHERE e.capture_id = ?1 AND e.comm IS NOT NULL"
	") GROUP BY role, program, unit, container, iif(unit IS NULL, cgroup, NULL) "
	"ORDER BY role = 'target' DESC, iif(role = 'target', total(waited_ns), 0) DESC, "
	"CASE " RESOURCE " WHEN 'io' THEN total(read_bytes) + total(write_bytes) "
	"WHEN 'memory' THEN total(rss_bytes) ELSE total(cpu_ns) END DESC, program, unit, cgroup LIMIT ?2";

void parties_free(struct parties *parties)
{
	free(parties->list);
}

/* NULL stays NULL. Returns 0 or -ENOMEM. */
static int keep_text(struct profile *profile, const struct query *query, const char *column,
		     const char **ret_text)
{
	*ret_text = query_is_null(query, column) ? NULL : profile_keep(profile, query_text(query, column));
	return !*ret_text && !query_is_null(query, column) ? -ENOMEM : 0;
}

static int add_party(struct parties *parties, struct profile *profile, const struct query *query)
{
	struct party party = { .processes = query_number(query, "processes"),
			       .ended = query_number(query, "ended"),
			       .cpu_ns = query_number(query, "cpu_ns"),
			       .read_bytes = query_number(query, "read_bytes"),
			       .write_bytes = query_number(query, "write_bytes"),
			       .rss_bytes = query_number(query, "rss_bytes"),
			       .grown_bytes = query_number(query, "grown_bytes"),
			       .waited_ns = query_number(query, "waited_ns") };

	if (party.processes == 1 && !party.ended)
		party.tgid = query_number(query, "tgid");
	party.role = profile_keep(profile, query_text(query, "role"));
	party.program = profile_keep(profile, query_text(query, "program"));
	if (!party.role || !party.program || keep_text(profile, query, "unit", &party.unit) ||
	    keep_text(profile, query, "cgroup", &party.cgroup) ||
	    keep_text(profile, query, "container", &party.container) ||
	    array_make_room(parties->list, parties->count, parties->room, 1U))
		return -ENOMEM;
	parties->list[parties->count++] = party;
	return 0;
}

int parties_load(struct database *database, int64_t capture_id, struct profile *profile,
		 struct parties *ret_parties)
{
	_cleanup_query_ struct query query = query_begin(database, parties_sql, capture_id, PARTIES_MOST);
	struct parties parties = { 0 };
	int result = 0;

	while (!result && query_next(&query))
		result = add_party(&parties, profile, &query);
	if (!result && database->failed)
		result = -EIO;
	if (result < 0)
		parties_free(&parties);
	else
		*ret_parties = parties;
	return result;
}

const struct party *parties_victim(const struct parties *parties)
{
	const struct party *first = parties->count ? &parties->list[0] : NULL;

	return first && !strcmp(first->role, "target") ? first : NULL;
}

const char *party_place(const struct party *party)
{
	return party->unit ? party->unit : party->cgroup;
}

char *party_text(const struct party *party, char *into, size_t into_bytes)
{
	const char *place = party_place(party);
	char count[32] = "";

	if (party->tgid)
		snprintf(count, sizeof(count), "[%" PRId64 "]", party->tgid);
	else if (party->processes > 1)
		snprintf(count, sizeof(count), " ×%" PRId64, party->processes);
	snprintf(into, into_bytes, "%s%s%s%s%s",
		 strcmp(party->role, "kernel")
			 ? ""
			 : plural((uint64_t)party->processes, "kernel thread ", "kernel threads "),
		 party->program, count, place ? " in " : "", place ? place : "");
	return into;
}

/* ---- whom a sentence names ---- */

static const char *behind(const char *text, const char *begin)
{
	size_t length = strlen(begin);

	return strncmp(text, begin, length) ? NULL : text + length;
}

/* How much of the sentence is this party's name; 0: it is another one's. */
static size_t score(const struct party *party, const char *text)
{
	static const char *const next[] = { " ×",     " in ",   ", begun by ", " took ",
					    " read ", " grew ", " with " };
	const char *place = party_place(party), *rest = text, *at;
	char number[32];
	bool ends = false;

	if (!strcmp(party->role, "kernel")) {
		rest = behind(text, "kernel thread");
		rest = rest ? behind(rest + (*rest == 's'), " ") : NULL;
	}
	rest = rest ? behind(rest, party->program) : NULL;
	if (!rest)
		return 0;
	if (*rest == '[') {
		snprintf(number, sizeof(number), "[%" PRId64 "]", party->tgid);
		if (!behind(rest, number))
			return 0;
		ends = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(next) && !ends; i++)
		ends = behind(rest, next[i]) != NULL;
	if (!ends)
		return 0;
	at = place ? strstr(rest, place) : NULL;
	return (size_t)(rest - text) + (at && at - rest >= 4 && behind(at - 4, " in ") ? strlen(place) : 0);
}

const struct party *parties_named(const struct parties *parties, const char *text)
{
	const struct party *found = NULL;
	size_t most = 0;

	for (uint32_t i = 0; i < parties->count; i++) {
		size_t here = score(&parties->list[i], text);

		if (here > most) {
			most = here;
			found = &parties->list[i];
		}
	}
	return found;
}

const struct party *parties_grown(const struct parties *parties, const char *because)
{
	static const char largest[] = "; the largest is ";
	const char *at = strstr(because, largest);
	const struct party *found = NULL;

	if (at)
		return parties_named(parties, at + strlen(largest));
	/* the name is behind the last one of these before the words */
	for (at = strstr(because, "; "); at && strstr(at, " grew most, by "); at = strstr(at + 1, "; ")) {
		const struct party *named = parties_named(parties, at + 2);

		found = named ? named : found;
	}
	return found;
}

bool party_has(const struct party *party, const struct profile *profile,
	       const struct profile_process *process)
{
	const char *comm, *cgroup = process->cgroup;
	bool is_kernel = !strcmp(party->role, "kernel");
	char unit[NAME_MAX + 1];
	size_t length = strlen(party->program);

	if (!process->is_known)
		return false;
	comm = profile_text(profile, process->comm);
	/* kworker/1:2 is a kworker, and ksoftirqd/0 a ksoftirqd */
	if (is_kernel)
		return !strncmp(comm, party->program, length) &&
		       (comm[length] == '/' || !comm[length + strspn(comm + length, "0123456789.")]);
	if (strcmp(comm, party->program) != 0)
		return false;
	if (!party_place(party) || !cgroup)
		return true;
	return party->unit ? cgroup_unit(cgroup, unit) && !strcmp(unit, party->unit)
			   : !party->cgroup || !strcmp(cgroup, party->cgroup);
}
