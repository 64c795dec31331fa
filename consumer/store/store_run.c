/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_run.h"

#include "common/base/cleanup.h"
#include "common/base/version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the thresholds as a JSON array, which the caller frees; NULL without memory. */
static char *triggers_text(const struct rule *rule)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	const char *separator = "";
	bool complete;

	if (!stream)
		return NULL;
	fputc('[', stream);
	for (size_t i = 0; i < rule->triggers_count; i++) {
		const struct trigger *trigger = &rule->triggers[i];

		fprintf(stream,
			"%s{\"resource\":\"%s\",\"kind\":\"%s\",\"stall_us\":%" PRIu64
			",\"window_us\":%" PRIu64 "}",
			separator, psi_resource_names[trigger->resource], psi_kind_names[trigger->kind],
			trigger->stall_us, trigger->window_us);
		separator = ",";
	}
	for (size_t i = 0; i < rule->latencies_count; i++) {
		const struct latency_trigger *latency = &rule->latencies[i];

		fprintf(stream,
			"%s{\"metric\":\"%s\",\"quantile\":\"%s\",\"limit_ns\":%" PRIu64
			",\"window_ns\":%" PRIu64 "}",
			separator, latency_metric_names[latency->metric],
			latency_quantile_names[latency->quantile], latency->limit_ns, latency->window_ns);
		separator = ",";
	}
	if (rule->on_kill)
		fprintf(stream, "%s{\"on_kill\":true}", separator);
	fputc(']', stream);
	complete = !ferror(stream);
	if (!fclose(stream) && complete)
		return text;
	free(text);
	return NULL;
}

static int write_rule(struct sql *sql, int64_t run_id, sqlite3_stmt **statement, const struct rule *rule)
{
	_cleanup_free_ char *triggers = triggers_text(rule);
	char comm[ABI_COMM_BYTES + 1];

	if (!triggers)
		return -ENOMEM;
	snprintf(comm, sizeof(comm), "%s%s", rule->comm.text, rule->comm.prefix ? "*" : "");
	return sql_insert(
		sql, statement, "rule", NULL, NULL,
		SQL_COLUMNS(
			SQL_NUMBER(rule_id, rule->id), SQL_NUMBER(run_id, run_id), SQL_TEXT(rule, rule->name),
			SQL_TEXT(source, rule->source), SQL_TEXT(comm, comm), SQL_TEXT(cgroup, rule->cgroup),
			SQL_TEXT(unit, rule->unit), SQL_TEXT(watch, rule_watch_names[rule->watch]),
			SQL_NUMBER(pattern_id, rule->pattern_id), SQL_NUMBER(history_ns, rule->history_ns),
			SQL_NUMBER(capture_ns, rule->capture_ns), SQL_NUMBER(cooldown_ns, rule->cooldown_ns),
			SQL_TEXT(triggers, triggers)));
}

int store_rules_write(struct sql *sql, int64_t run_id, const struct rule_set *rules, uint32_t first_id)
{
	sqlite3_stmt *statement = NULL;
	int result = 0;

	for (size_t i = 0; i < rules->count && !result; i++)
		if (rules->rules[i].id >= first_id)
			result = write_rule(sql, run_id, &statement, &rules->rules[i]);
	sqlite3_finalize(statement);
	return result;
}

/* Returns the names of the links as a JSON array, which the caller frees; NULL without memory. */
static char *attachments_text(const struct manifest *manifest)
{
	/* a name of at least one byte and a blank become at most a name, two quotes and a comma */
	char *text = malloc(2 * strlen(manifest->attached) + 4), *to = text;

	if (!text)
		return NULL;
	*to++ = '[';
	for (const char *at = manifest->attached; *at;) {
		size_t bytes = strcspn(at, " ");

		if (bytes)
			to += sprintf(to, "%s\"%.*s\"", to[-1] == '[' ? "" : ",", (int)bytes, at);
		at += bytes + (at[bytes] == ' ');
	}
	strcpy(to, "]");
	return text;
}

/*
 * Finds or adds the row of this database. One that another machine began gets another row: it may be a copy. The
 * machine of a database that was migrated is not known yet.
 */
static int find_database(struct sql *sql, const char *machine, sqlite3_int64 *ret_database_id)
{
	int result = sql_run_once(
		sql, NULL,
		"UPDATE database SET machine = ? WHERE machine IS NULL AND (SELECT count(*) FROM database) = 1",
		"t", machine);

	*ret_database_id = 0;
	if (!result)
		result = sql_run_once(
			sql, ret_database_id,
			"SELECT database_id FROM database WHERE machine IS ? ORDER BY database_id LIMIT 1",
			"t", machine);
	if (!result && !*ret_database_id)
		result = sql_run_once(
			sql, ret_database_id,
			"INSERT INTO database(id, machine) VALUES(lower(hex(randomblob(16))), ?) RETURNING database_id",
			"t", machine);
	return result;
}

int store_run_write(struct sql *sql, const struct stored_run *run, sqlite3_int64 *ret_run_id)
{
	const struct manifest *manifest = run->manifest;
	_cleanup_free_ char *attachments = attachments_text(manifest);
	char allowed[POLICY_TEXT_BYTES];
	sqlite3_int64 database_id;
	sqlite3_stmt *statement = NULL;
	int result = find_database(sql, run->machine, &database_id);

	policy_describe(run->policy, allowed);
	if (!result)
		result = sql_insert(
			sql, &statement, "run", NULL, ret_run_id,
			SQL_COLUMNS(SQL_NUMBER(started_at, run->started_at),
				    SQL_TEXT(version, BOURDON_VERSION), SQL_NUMBER(abi, manifest->abi),
				    SQL_TEXT(kernel, manifest->kernel), SQL_TEXT(hostname, run->host),
				    SQL_NUMBER(cpus, manifest->cpus), SQL_NUMBER(hz, manifest->hz),
				    SQL_TEXT(policy, *allowed ? allowed : NULL),
				    SQL_TEXT(object_sha256,
					     *manifest->object_sha256 ? manifest->object_sha256 : NULL),
				    SQL_TEXT(attachments, attachments),
				    SQL_NUMBER(ring_bytes,
					       (int64_t)manifest->slots_per_cpu * manifest->slot_bytes),
				    SQL_NUMBER(database_id, database_id)));
	sqlite3_finalize(statement);
	return result;
}
