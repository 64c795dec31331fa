/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/store_verdict.h"

#include "common/text/escape_name.h"
#include "common/verdict/line.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

void store_verdict_columns(const struct verdict *verdict,
			   struct sql_column ret_columns[STORE_VERDICT_COLUMNS + 1])
{
	const struct verdict_kill *kill = verdict->kill;
	bool has_wait = verdict->wait < ACCOUNTS;
	const struct sql_column columns[] = {
		SQL_TEXT(verdict, verdict_kind_names[verdict->kind]),
		SQL_NUMBER(verdict_version, VERDICT_VERSION),
		SQL_STORED(victim, verdict->victim ? verdict->victim->text : NULL),
		SQL_TEXT(wait, has_wait ? account_names[verdict->wait] : NULL),
		SQL_NUMBER_IF(waited_ns, has_wait, verdict->waited_ns),
		SQL_REAL_IF(blamed_percent, verdict->blamed_ns, verdict->blamed_percent),
		SQL_STORED(limit_cgroup, verdict->limit_cgroup),
		SQL_TEXT(limit_name, verdict->limit_name),
		SQL_NUMBER_IF(limit_value, verdict->limit_name && verdict->limit_value >= 0,
			      verdict->limit_value),
		SQL_STORED(killed_comm, kill ? kill->who.program : NULL),
		SQL_NUMBER_IF(killed_tgid, kill && kill->who.tgid, kill->who.tgid),
		SQL_TEXT(killed_how, kill ? kill->how : NULL),
		SQL_TEXT(not_examined, *verdict->not_examined ? verdict->not_examined : NULL),
		{ .name = NULL },
	};

	static_assert(sizeof(columns) == (STORE_VERDICT_COLUMNS + 1) * sizeof(*ret_columns),
		      "one list of columns");
	memcpy(ret_columns, columns, sizeof(columns));
}

/* The words are of names as the database has them. The culprit is named first; of a shortage of memory it grew most. */
static void tell(const struct verdict_facts *facts, const struct verdict *verdict,
		 struct stored_verdict *ret_verdict)
{
	const struct verdict_party *first = verdict->blamed_count ? verdict->blamed[0].party : NULL;
	struct line culprit = { 0 };

	*ret_verdict =
		(struct stored_verdict){ .kind = verdict->kind,
					 .blamed_percent = verdict->blamed_ns ? verdict->blamed_percent : 0 };
	verdict_headline_text(facts, verdict, ret_verdict->headline);
	escape_name_undo(ret_verdict->headline);
	if (first && first->who.program)
		verdict_say_party(&culprit, first);
	else if (!first && verdict->grown && verdict->grown->who.program)
		verdict_say_who(&culprit, &verdict->grown->who);
	line_write(&culprit, 0, ret_verdict->culprit, sizeof(ret_verdict->culprit));
	escape_name_undo(ret_verdict->culprit);
}

int store_verdict_write(struct sql *sql, sqlite3_stmt **statement, int64_t capture_id,
			struct stored_verdict *ret_verdict)
{
	struct sql_column columns[STORE_VERDICT_COLUMNS + 1];
	struct verdict_facts facts;
	struct verdict verdict;
	int result = verdict_facts_load(sql->db, capture_id, &facts);

	if (result == -EIO)
		return sql_failed(sql);
	if (result < 0) {
		snprintf(sql->error, sizeof(sql->error), "%s", strerror(-result));
		return result;
	}
	verdict = verdict_judge(&facts);
	store_verdict_columns(&verdict, columns);
	result = sql_update(sql, statement, "capture", "capture_id", capture_id, columns);
	if (!result)
		tell(&facts, &verdict, ret_verdict);
	verdict_facts_free(&facts);
	return result;
}
