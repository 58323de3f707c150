// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * duckdb_sums.mjs MODULE FOLDER csv|parquet: what DuckDB makes of the tables of "export", loaded as
 * docs/export-schema.md says: rows of key and value, as JSON, for export_sums.py. MODULE is the path of
 * @duckdb/node-api. "parquet": the sums are those of Parquet files that are made of the tables.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [path, folder, format] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(import.meta.url)(path);
const database = await (await DuckDBInstance.create(':memory:')).connect();
const quoted = name => `'${folder.replaceAll("'", "''")}/${name}'`;
const schema = readFileSync(`${folder}/schema.sql`, 'utf8');
const names = [...schema.matchAll(/^CREATE TABLE "(\w+)"/gm)].map(found => found[1]);

await database.run(schema);
for (const name of names) {
	await database.run(`COPY "${name}" FROM ${quoted(name + '.csv')} (HEADER)`);
	if (format === 'parquet')
		await database.run(`COPY "${name}" TO ${quoted(name + '.parquet')} (FORMAT parquet)`);
}

const table = name => format === 'parquet' ? quoted(name + '.parquet') : `"${name}"`;
const of = name => `FROM ${table(name)} t JOIN ${table('vcpu')} v ON v.id = t.vcpu GROUP BY ALL`;
const select = (keys, value, name) => `SELECT machine, number, ${keys}, ${value} ${of(name)}`;
const states = ['hypervisor', 'polling', 'vmm', 'preempted', 'waking', 'blocked', 'device_model',
		'offline'];
const queries = [
	select("'state', state, ''", 'sum(end_ns - start_ns)', 'interval'),
	select("'exits', reason, ''", 'count(*)', 'exit'),
	select("'exit', reason, 'complete'", 'count(cost_ns)', 'exit'),
	select("'exit', reason, 'ns'", 'sum(cost_ns)', 'exit'),
	...states.map(state => select(`'exit', reason, '${state}'`,
				      `sum(${state}_ns) FILTER (cost_ns IS NOT NULL)`, 'exit')),
	select("'migrations', '', ''", 'count(*)', 'migration'),
	select("'wakes', '', ''", 'count(*)', 'wake'),
	select("'wakes', 'complete', ''", 'count(latency_ns)', 'wake'),
	select("'wakes', 'max', ''", 'max(latency_ns)', 'wake'),
	`SELECT 0, 0, 'losses', '', '', count(*) FROM ${table('loss')}`,
];
const rows = [];
for (const query of queries)
	rows.push(...(await database.runAndReadAll(query)).getRows());
// beyond 2^53 a number of JavaScript is not exact
console.log(JSON.stringify(rows, (key, value) => typeof value === 'bigint' ? String(value) : value));
