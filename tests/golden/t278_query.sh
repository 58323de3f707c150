# SPDX-License-Identifier: LGPL-2.1-or-later
# query: the answers of SQLite to the tables of export; a question can read, and nothing else.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/query_oracle.py
hvm=$SAMPLES/hvm-exits.xen

# The documented questions, on a host with its guest, in a window, and on Xen.
run query --examples
status 0
cp "$OUT" "$WORK/examples.sql"
check "docs/queries.md has the questions" \
	python3 "$ORACLE" docs "$WORK/examples.sql" "$KSV_SOURCE_DIR/docs/queries.md"

# answers_are_export SQL DATABASE ARGUMENT...: sets $rows
answers_are_export()
{
	local sql=$1 database=$2
	shift 2

	run query -q -f csv "$@" "$sql"
	status 0
	cp "$OUT" "$WORK/answer.csv"
	run query -q -f json "$@" "$sql"
	status 0
	check "$sql" python3 "$ORACLE" answer "$database" "$sql" "$WORK/answer.csv" "$OUT" > "$WORK/rows"
	rows=$(cat "$WORK/rows")
}

kvm=("$SAMPLES/kvm-nested.dat" "$SAMPLES/kvm-nested-g1.dat")
xen=("$SAMPLES/credit2-basic.xen" --from 1 --to 1.5)
run export -q -f sqlite -o "$WORK/kvm.db" "${kvm[@]}"
run export -q -f sqlite -o "$WORK/xen.db" "${xen[@]}"
# its VM exits have arguments
run export -q -f sqlite -o "$WORK/host.db" "$SAMPLES/kvm-host.dat"
run export -q -f sqlite -o "$WORK/disks.db" "$SAMPLES/host-disks.dat"
for i in 0 1 2 3 4 5 6 7 8 9 10; do
	sql=$(python3 "$ORACLE" examples "$WORK/examples.sql" $i)
	if [ $i = 3 ]; then
		answers_are_export "$sql" "$WORK/host.db" "$SAMPLES/kvm-host.dat"
	elif [ $i = 10 ]; then
		answers_are_export "$sql" "$WORK/disks.db" "$SAMPLES/host-disks.dat"
	else
		answers_are_export "$sql" "$WORK/kvm.db" "${kvm[@]}"
	fi
	check "question $((i + 1)) has an answer" test "$rows" -ge 1
	[ $((i % 4)) -gt 0 ] || answers_are_export "$sql" "$WORK/xen.db" "${xen[@]}"
done
run report -q -f json "$hvm"
cp "$OUT" "$WORK/report.json"
run query -q -f csv "$hvm" "$(python3 "$ORACLE" examples "$WORK/examples.sql" 0)"
check "the first question is report's" python3 "$ORACLE" report "$WORK/report.json" "$OUT" > "$WORK/compared"
check "there are sums" test "$(cat "$WORK/compared")" -ge 4

# Only the tables that a question names are filled: each by a question of its own, and all by one.
all=
for table in host clock machine vcpu interval exit migration wake moment loss power guest_task disk_request lock_wait host_sample counter counter_span; do
	all+="${all:+ UNION ALL }SELECT '$table' AS name, count(*) AS n FROM $table"
done
answers_are_export "$all" "$WORK/kvm.db" "${kvm[@]}"
check "all tables" test "$rows" = 17
answers_are_export 'SELECT count(*) AS n FROM EXIT AS e WHERE EXISTS (SELECT 1 FROM wake)' "$WORK/kvm.db" "${kvm[@]}"
answers_are_export 'SELECT count(*) AS n FROM vcpu JOIN machine USING (id)' "$WORK/kvm.db" "${kvm[@]}"
answers_are_export 'SELECT sum(1) AS n FROM wake NATURAL JOIN (SELECT vcpu FROM "migration")' "$WORK/kvm.db" "${kvm[@]}"
check "a join without columns is not empty" grep -q '^[1-9]' "$WORK/answer.csv"
answers_are_export 'WITH a AS (SELECT cost_ns FROM moment) SELECT max(cost_ns) AS n, avg(cost_ns) AS m FROM a' \
	"$WORK/kvm.db" "${kvm[@]}"

# text: columns, numbers on the right, "-" for NULL; more rows than the sample of the widths
run query -q "$SAMPLES/pinned.xen" "SELECT 'a' AS text, 7 AS n, NULL AS none UNION ALL SELECT 'long text', 12345, 1"
status 0
printf '%s\n' 'text           n  none' 'a              7     -' 'long text  12345     1' > "$WORK/wanted"
same "$OUT" "$WORK/wanted"
run query -q "$SAMPLES/pinned.xen" "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000)
	SELECT x FROM c"
check "all rows" test "$(wc -l < "$OUT") $(tail -n 1 "$OUT" | tr -d ' ')" = "1001 1000"
run query -q "$SAMPLES/pinned.xen" "SELECT name FROM vcpu WHERE 0"
says "$OUT" "no rows"
run query -q -f csv "$SAMPLES/pinned.xen" \
	"SELECT NULL AS a, '' AS b, '=1' AS c, -5 AS d, x'00ff' AS e, 'a' || char(0) AS f, 2.5 AS g, 9e999 AS h"
printf '%s\n' 'a,b,c,d,e,f,g,h' ",\"\",'=1,-5,x'00ff',x'6100',2.5,Inf" > "$WORK/wanted"
same "$OUT" "$WORK/wanted"
run query -q -f json -o "$WORK/answer" "$SAMPLES/pinned.xen" "SELECT 0.1 + 0.2 AS x, 9223372036854775807 AS y, 9e999 AS z"
check "exact numbers" python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))["rows"][0]
sys.exit(row != {"x": 0.1 + 0.2, "y": 9223372036854775807, "z": "Inf"})' "$WORK/answer"

# schema: the columns of schema.sql
run export -q -f csv-tables -o "$WORK/tables" "$SAMPLES/pinned.xen"
run query -f json .schema
status 0
check "all columns" python3 - "$OUT" "$WORK/tables" << 'END'
import csv, glob, json, os, sys
schema = {table["table"]: [column["column"] for column in table["columns"]]
          for table in json.load(open(sys.argv[1]))["tables"]}
made = {os.path.basename(name)[:-4]: next(csv.reader(open(name, newline="")))
        for name in glob.glob(sys.argv[2] + "/*.csv")}
sys.exit(schema != made or len(made) < 10)
END
run query "$SAMPLES/pinned.xen" '.schema vcpu'
status 0
says "$OUT" 'its number within the machine'
cp "$OUT" "$WORK/schema"
run query .schema vcpu
same "$OUT" "$WORK/schema"
run query .tables
says "$OUT" 'wake-up of a vCPU'

# what is no question: a file that exists stays as it is, and none is made
cd "$WORK" || exit 1
echo old > there
find . | sort > before
while IFS='|' read -r sql words; do
	run query -q "$hvm" "$sql"
	status 2
	says "$ERR" "$words"
done << 'END'
DELETE FROM vcpu|can only read the tables
UPDATE vcpu SET name = 'x'|can only read the tables
INSERT INTO vcpu VALUES (1, 2, 3, 4, 5) RETURNING id|can only read the tables
WITH a AS (SELECT 1) DELETE FROM vcpu|can only read the tables
CREATE TABLE a (b)|can only read the tables
CREATE TEMP TABLE a AS SELECT 1|can only read the tables
DROP TABLE vcpu|can only read the tables
ATTACH 'there' AS a|can only read the tables
VACUUM INTO 'made'|can only read the tables
PRAGMA temp_store_directory = '/'|can only read the tables
PRAGMA user_version|can only read the tables
SELECT * FROM pragma_database_list|can only read the tables
SELECT load_extension('there')|can only read the tables
BEGIN|can only read the tables
REINDEX|can only read the tables
SELECT writefile('made', 'x')|no such function: writefile
SELECT readfile('there')|no such function: readfile
SELECT 1; DELETE FROM vcpu|one question at a time
SELECT 1; SELECT 2|one question at a time
; -- nothing|the question is empty
SELECT nme FROM vcpu|line 1, column 8, at 'nme FROM vcpu': no such column: nme; columns of vcpu: id, machine, number, name, tid; did you mean 'name'?
SELECT v.nme FROM vcpu v|did you mean 'name'?
SELECT * FROM vpcu|the tables are host, clock
SELECT * FROM interval WHERE state = "guest"|write a text in single quotes
SELECT id FROM vcpu, machine|ambiguous column name: id; write TABLE.id
SELECT 1 +|incomplete input
SELECT * FROM vcpu WHERE id = ?|write the value
.columns|there are .tables and .schema [TABLE]
.schema vpcu|no table 'vpcu'
END
# before a long trace is loaded, and a missing one is noticed
run query missing.xen 'SELECT nme FROM vcpu'
status 2
run query missing.xen 'SELECT name FROM vcpu'
status 3
run query -q -f json "$hvm" 'SELECT 1 AS a, 2 AS a'
status 2
says "$ERR" "two columns have the name 'a'"
rm -f stdout stderr before.now
find . | sort | grep -v -e stdout -e stderr > now
grep -v -e stdout -e stderr before | sort > before.now
check "no file is made" test "$(comm -13 before.now now | grep -cvx -e ./now -e ./before)" = 0
check "no file is changed" test "$(cat there)" = old
cd - > /dev/null || exit 1

# limits
forever='WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
echo old > "$WORK/kept"
run query -q --timeout 100ms -o "$WORK/kept" "$SAMPLES/pinned.xen" "$forever"
status 3
says "$ERR" "longer than --timeout permits (0.1 s)"
check "the old file stays" test "$(cat "$WORK/kept")" = old
run query -q "$SAMPLES/pinned.xen" "SELECT zeroblob(1000000000)"
status 3
says "$ERR" "more than 16 MiB"
run query --timeout -1s "$SAMPLES/pinned.xen" 'SELECT 1'
status 2

# names of others, in each format
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ["a,\"b'c\nd\x1b[31m", "=1+1"][i % 2]
json.dump(meta, open(sys.argv[2], "w"))
END
for format in text json csv; do
	run query -q -f $format "$WORK/odd.xen" 'SELECT name FROM machine'
	status 0
	check "$format is escaped" test "$(tr -d '\n' < "$OUT" | tr -d ' -~' | wc -c)" = 0
done
says "$OUT" '""b'"'"'c\x0ad\x1b[31m'
finish
