// SPDX-License-Identifier: GPL-2.0-only
//
// duckdb.cjs STATEMENT: prints the rows of the last statement, fields separated by |, as the sqlite3 shell does.
// NODE_PATH names the directory of DuckDB's package.
'use strict';

const { DuckDBInstance } = require('@duckdb/node-api');

async function main() {
	const instance = await DuckDBInstance.create(':memory:');
	const connection = await instance.connect();
	const reader = await connection.runAndReadAll(process.argv[2]);

	for (const row of reader.getRowsJson())
		console.log(row.map((value) => value ?? '').join('|'));
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
});
