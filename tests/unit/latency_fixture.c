/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/latency_fixture.h"

#include "common/abi/latency.h"
#include "common/base/cleanup.h"
#include "tests/unit/why_fixture.h"

#include <sqlite3.h>
#include <stddef.h>

#define US 1000ULL
#define MS 1000000ULL

void latency_put(const char *path, const char *metric, const char *label, const char *span, uint64_t value,
		 int64_t count)
{
	char *sql = sqlite3_mprintf(
		"INSERT OR IGNORE INTO histogram_label(metric, label) VALUES(%Q, %Q);"
		"INSERT INTO histogram_row SELECT 7, label_id, %Q, %u, %lld, %lld FROM histogram_label WHERE metric = %Q AND "
		"label = %Q ON CONFLICT DO UPDATE SET count = count + excluded.count, sum = sum + excluded.sum",
		metric, label, span, bucket_of(value), (long long)count, (long long)value * (long long)count,
		metric, label);

	why_sql(path, sql);
	sqlite3_free(sql);
}

void latency_put_measured(const char *path, const char *metric, const char *span, int64_t events,
			  int64_t lost, int64_t unpaired)
{
	char *sql = sqlite3_mprintf(
		"INSERT INTO latency_measured SELECT 7, %Q, %Q, began_at, began_at + 22000000000, 22000000000, %lld, %lld, "
		"%lld, 0 FROM capture WHERE capture_id = 7",
		metric, span, (long long)events, (long long)lost, (long long)unpaired);

	why_sql(path, sql);
	sqlite3_free(sql);
}

static const struct {
	const char *metric, *label, *span;
	uint64_t value;
	int64_t count;
} values[] = {
	{ "runqueue", "nginx.service", "before", 12 * US, 40000 },
	{ "runqueue", "nginx.service", "before", 300 * US, 900 },
	{ "runqueue", "nginx.service", "during", 15 * US, 30000 },
	{ "runqueue", "nginx.service", "during", 2 * MS, 4000 },
	{ "runqueue", "nginx.service", "during", 31 * MS, 600 },
	{ "runqueue", "other", "before", 9 * US, 90000 },
	{ "runqueue", "other", "during", 10 * US, 91000 },
	{ "block", "vda write mysql.service", "before", 1 * MS, 980 },
	{ "block", "vda write mysql.service", "before", 3 * MS, 20 },
	{ "block", "vda write mysql.service", "during", 1 * MS, 300 },
	{ "block", "vda write mysql.service", "during", 90 * MS, 250 },
	{ "block", "vda write mysql.service", "during", 405 * MS, 40 },
	{ "block.queue", "vda write mysql.service", "before", 10 * US, 1000 },
	{ "block.queue", "vda write mysql.service", "during", 375 * MS, 590 },
	{ "block.service", "vda write mysql.service", "before", 1 * MS, 1000 },
	{ "block.service", "vda write mysql.service", "during", 30 * MS, 590 },
	{ "block.size", "vda write mysql.service", "during", 16384, 590 },
	{ "block.size", "vda write mysql.service", "before", 4096, 1000 },
	{ "lock", "mutex ext4_file_write_iter", "during", 40 * MS, 70 },
	{ "lock", "rwsem write mmap_write_lock", "before", 5 * US, 3 },
	{ "offcpu", "sleep nginx.service", "before", 50 * MS, 400 },
	{ "offcpu", "sleep nginx.service", "during", 900 * MS, 400 },
	{ "offcpu", "io nginx.service", "during", 6 * US, 25 },
};

static const struct {
	const char *metric, *span;
	int64_t events, lost, unpaired;
} measured[] = {
	{ "runqueue", "before", 130900, 0, 0 },
	{ "runqueue", "during", 125612, 12, 0 },
	{ "block", "before", 1000, 0, 0 },
	{ "block", "during", 590, 0, 3 },
	{ "block.queue", "before", 1000, 0, 0 },
	{ "block.queue", "during", 590, 0, 0 },
	{ "block.service", "before", 1000, 0, 0 },
	{ "block.service", "during", 590, 0, 0 },
	{ "block.size", "before", 1000, 0, 0 },
	{ "block.size", "during", 590, 0, 0 },
	{ "lock", "before", 3, 0, 0 },
	{ "lock", "during", 70, 0, 0 },
	{ "offcpu", "before", 400, 0, 0 },
	{ "offcpu", "during", 425, 0, 0 },
	{ "softirq", "during", 0, 0, 0 },
};

void latency_put_all(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		latency_put(path, values[i].metric, values[i].label, values[i].span, values[i].value,
			    values[i].count);
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++)
		latency_put_measured(path, measured[i].metric, measured[i].span, measured[i].events,
				     measured[i].lost, measured[i].unpaired);
}

void latency_put_growth(const char *path)
{
	why_sql(path,
		"INSERT INTO module(module_id, path, build_id, version, kind) VALUES(50, '/lib/x86_64-linux-gnu/libc.so.6', 'cc', '', 'file');"
		"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES(50, 50, 1, 'malloc', 0, 0),"
		" (51, 2, 50, 'grow_list', 0, 0), (52, 2, 51, 'grow_list', 0, 0);"
		"INSERT INTO stack_node VALUES(50, NULL, '1,51,50', 1, 3, x'50505050505050505050505050505050'),"
		" (51, NULL, '1,52,50', 1, 3, x'51515151515151515151515151515151'), (52, NULL, '1,2', 1, 2, x'52525252525252525252525252525252'),"
		" (53, NULL, '50', 1, 1, x'53535353535353535353535353535353');"
		"INSERT INTO growth_row VALUES(7, 1, 50, 10, 10485760), (7, 1, 51, 30, 31457280), (7, 2, 52, 2, 2097152), (7, 2, 53, 1, 1048576)");
}
