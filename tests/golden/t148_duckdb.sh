# SPDX-License-Identifier: LGPL-2.1-or-later
# Tables of every third sample in DuckDB, loaded as docs/export-schema.md says, and as Parquet files that it makes of them:
# sums are those of report. DuckDB is from npm's registry; as it is 70 MB, only CI and users with KSV_DUCKDB=1 load
# it unasked, into the build tree, where it stays.
. "$(dirname "$0")/lib.sh"

DUCKDB=$KSV_BUILD_DIR/duckdb
MODULE=$DUCKDB/node_modules/@duckdb/node-api

skip() { echo "skipped: $*"; exit 77; }

# works: DuckDB is there, and starts
works()
{
	node -e "require(process.argv[1]).DuckDBInstance.create(':memory:')" "$MODULE" > "$WORK/node" 2>&1
}

command -v node > /dev/null || skip 'node is missing (Debian: apt-get install nodejs npm)'
if ! works; then
	[ -n "${CI:-}${KSV_DUCKDB:-}" ] ||
		skip "DuckDB is not in $DUCKDB: with KSV_DUCKDB=1 in the environment, npm loads it (70 MB)"
	command -v npm > /dev/null || skip 'npm is missing (Debian: apt-get install npm)'
	mkdir -p "$DUCKDB"
	# What npm has once loaded, it takes without asking. Where its registry does not answer, it would try again for
	# 70 s for each of eleven packages.
	npm install --prefer-offline --fetch-retries 1 --fetch-retry-maxtimeout 1000 --fetch-retry-mintimeout 1000 \
		--no-audit --no-fund --no-save --prefix "$DUCKDB" @duckdb/node-api@1.5.6-r.1 > "$WORK/npm" 2>&1 || skip "npm cannot load DuckDB: $(tail -n 1 "$WORK/npm")"
	works || skip "DuckDB does not start here: $(tail -n 1 "$WORK/node")"
fi

# sums_are_report FILE ARGUMENT...: or there is no report
sums_are_report()
{
	local format

	run report --quiet --format json "$@"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/report.json"
	rm -rf "$WORK/it's a folder"
	run export --quiet --format csv-tables -o "$WORK/it's a folder" "$@"
	status 0
	for format in csv parquet; do
		check "DuckDB reads $format of $*" node "$GOLDEN/duckdb_sums.mjs" "$MODULE" \
			"$WORK/it's a folder" $format > "$WORK/rows.json"
		check "DuckDB's sums of $format of $* are report's" python3 "$GOLDEN/export_sums.py" \
			"$WORK/report.json" duckdb "$WORK/rows.json" > "$WORK/compared"
		read -r n < "$WORK/compared"
		[[ ! $n =~ ^[0-9]+$ ]] || compared=$((compared + n))
	done
}

compared=0
found=0
# t130_export_tables judges the tables of all samples
mapfile -t samples < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.xen.gz "$SAMPLES"/*.dat | sed -n '1~3p')
for sample in "${samples[@]}"; do
	! sums_are_report "$sample" || found=$((found + 1))
done
check "there are samples ($found)" test "$found" -ge "$(least 10)"
check "there are numbers ($compared)" test "$compared" -ge "$(least 1000)"
sums_are_report "$SAMPLES/kvm-host.dat" --from 1793.3 --to 1793.7 || fail "no report"
finish
