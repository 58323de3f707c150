# SPDX-License-Identifier: LGPL-2.1-or-later
# Tables of all samples: their sums are those of report, in windows and of some vCPUs, too.
. "$(dirname "$0")/lib.sh"

SUMS=$KSV_SOURCE_DIR/tests/golden/export_sums.py

# sums_are_report FILE ARGUMENT...: as CSV, and in turn as SQLite and for Perfetto; arguments are options, or
# traces of guests
turn=0
sums_are_report()
{
	local file=$1
	shift

	set -- "$@" "$file"
	run report --quiet --format json "$@"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/report.json"
	rm -rf "$WORK/tables"
	run export --quiet --format csv-tables -o "$WORK/tables" "$@"
	status 0
	check "CSV of $* is report's" \
		python3 "$SUMS" "$WORK/report.json" csv "$WORK/tables" > "$WORK/compared"
	turn=$((1 - turn))
	if [ $turn = 1 ]; then
		run export --quiet --format sqlite -o "$WORK/db" "$@"
		status 0
		check "SQLite of $* is report's" \
			python3 "$SUMS" "$WORK/report.json" sqlite "$WORK/db" >> "$WORK/compared"
	else
		run export --quiet --format perfetto -o "$WORK/pftrace" "$@"
		status 0
		check "Perfetto's trace of $* is report's" \
			python3 "$SUMS" "$WORK/report.json" perfetto "$WORK/pftrace" >> "$WORK/compared"
	fi
	compared=$((compared + $(awk '{ n += $1 } END { print n }' "$WORK/compared")))
}

if ! command -v protoc > /dev/null; then
	echo "protoc is missing (Debian: apt-get install protobuf-compiler)"
	exit 77
fi

compared=0
found=0
mapfile -t samples < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.xen.gz "$SAMPLES"/*.dat)
for sample in "${samples[@]}"; do
	if sums_are_report "$sample"; then
		found=$((found + 1))
		continue
	fi
	# of guests alone there is nothing
	run export --quiet --format csv-tables -o "$WORK/none" "$sample"
	status 3
	check "nothing is written" test ! -e "$WORK/none"
done
check "there are samples ($found)" test "$found" -ge "$(least 25)"
check "there are numbers ($compared)" test "$compared" -ge "$(least 5000)"
sums_are_report "$SAMPLES/hvm-exits.xen" --from 10ms --to 25ms || fail "no report"
sums_are_report "$SAMPLES/kvm-host.dat" --from 1793.3 --to 1793.7 || fail "no report"
sums_are_report "$SAMPLES/credit2-basic.xen" --from 1 --to 2 --vcpu d1 || fail "no report"
check "only what was asked for" \
	test "$(tail -n +2 "$WORK/tables/interval.csv" | cut -d, -f1 | sort -u | wc -l)" = 2
sums_are_report "$SAMPLES/lost-records.xen" --from 100ms || fail "no report"

# With the traces of guests, what their tasks had; also of Xen's.
tasks_of() # HOST GUEST...
{
	sums_are_report "$@" || fail "no report of $*"
	check "$* has tasks" test "$(wc -l < "$WORK/tables/guest_task.csv")" -ge 20
}
tasks_of "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
tasks_of "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat" --from 1795 --to 1795.5
tasks_of "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat"
cp "$SAMPLES"/domU.xen.{gz,meta.json} "$SAMPLES/domU-ftrace.dat" "$WORK"
run align --write "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
tasks_of "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
check "without them, nothing" test "$(
	"$KSV_BIN" export -q -f csv-tables -o "$WORK/alone" "$SAMPLES/kvm-host.dat"
	wc -l < "$WORK/alone/guest_task.csv")" = 1
# a folder has them
run export -q -f csv-tables -o "$WORK/folder" "$SAMPLES/recording-kvm"
status 0
check "all guests of a folder" test "$(tail -n +2 "$WORK/folder/guest_task.csv" | cut -d, -f1 |
	sort -u | wc -l)" -ge 2
run export -f csv-tables -o "$WORK/none" "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-shared.dat"
status 2
says "$ERR" 'one host at a time'

# What is wrong leaves nothing, or what was there.
run export -f csv-tables -o "$WORK/none" "$SAMPLES/README.md"
status 3
run export -f csv-tables "$SAMPLES/pinned.xen"
status 2
run export -o "$WORK/none" "$SAMPLES/pinned.xen"
status 2
run export -f csv-tables -o "$WORK/none" --from 9000 "$SAMPLES/pinned.xen"
status 2
check "nothing is written" test ! -e "$WORK/none"
echo old > "$WORK/file"
run export -f csv-tables -o "$WORK/file" "$SAMPLES/pinned.xen"
status 3
check "a file is no folder" test "$(cat "$WORK/file")" = old
mkdir "$WORK/kept"
echo old > "$WORK/kept/interval.csv"
(
	ulimit -f 8
	"$KSV_BIN" export -q -f csv-tables -o "$WORK/kept" "$SAMPLES/credit2-basic.xen" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
says "$ERR" 'cannot write'
check "nothing has changed" test "$(ls -A "$WORK/kept")$(cat "$WORK/kept"/*)" = interval.csvold

echo old > "$WORK/db"
(
	ulimit -f 8
	"$KSV_BIN" export -q -f sqlite -o "$WORK/db" "$SAMPLES/credit2-basic.xen" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
says "$ERR" 'cannot write'
check "nothing has changed" test "$(cat "$WORK/db")" = old
(
	ulimit -f 8
	"$KSV_BIN" export -q -f perfetto -o "$WORK/db" "$SAMPLES/credit2-basic.xen" 2> "$ERR"
	echo $? > "$WORK/status"
)
check "no room is an error" test "$(cat "$WORK/status")" = 3
check "nothing has changed" test "$(cat "$WORK/db")" = old
run export -f sqlite -o /dev/null "$SAMPLES/pinned.xen"
status 3
check "a database must be a file" grep -q 'regular file' "$ERR"
# what SQLite keeps beside a database would be played into the new one, also behind a link
ln -s db "$WORK/link"
for ending in wal shm journal; do
	: > "$WORK/db-$ending"
	for name in db link; do
		run export -q -f sqlite -o "$WORK/$name" "$SAMPLES/pinned.xen"
		status 3
		says "$ERR" "db-$ending exists and belongs to the old database"
	done
	check "nothing has changed" test "$(cat "$WORK/db")" = old
	rm "$WORK/db-$ending"
done
run export -f sqlite -o "$WORK/none/db" "$SAMPLES/pinned.xen"
status 3
check "nothing else is left" test -z "$(find "$WORK" -name '.kshark*')"

# Names of others: quotes, commas, line ends, bytes that are no UTF-8.
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ["a,\"b'c\nd", "e\tf;\\g", "=1+1"][i % 3]
json.dump(meta, open(sys.argv[2], "w"))
END
run export -q -f csv-tables -o "$WORK/odd" "$WORK/odd.xen"
status 0
check "schema.sql makes the same tables" python3 - "$WORK/odd" << 'END'
import csv, glob, os, sqlite3, sys
database = sqlite3.connect(":memory:")
database.executescript(open(sys.argv[1] + "/schema.sql").read())
files = glob.glob(sys.argv[1] + "/*.csv")
columns = {os.path.basename(name)[:-4]: next(csv.reader(open(name, newline=""))) for name in files}
made = {name: [row[1] for row in database.execute('PRAGMA table_info("%s")' % name)]
        for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
sys.exit(columns != made or len(made) < 10)
END
check "a name is a field, a record is a line" python3 - "$WORK/odd/machine.csv" << 'END'
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
names = [row[1] for row in rows[1:]]
sys.exit(not (all(len(row) == 3 for row in rows) and any("a,\"b'c\\x0ad" in name for name in names)
              and len(open(sys.argv[1]).readlines()) == len(rows)))
END

run export -q -f sqlite -o "$WORK/odd.db" "$WORK/odd.xen"
status 0
check "the same in the database" python3 - "$WORK/odd.db" << 'END'
import sqlite3, sys
names = [row[0] for row in sqlite3.connect(sys.argv[1]).execute("SELECT name FROM machine")]
sys.exit(not any("a,\"b'c\\x0ad" in name for name in names))
END

run export -q -f perfetto -o "$WORK/odd.pftrace" "$WORK/odd.xen"
status 0
protoc --decode=ksv.Trace -I"$KSV_SOURCE_DIR/tools/export" perfetto.proto \
	< "$WORK/odd.pftrace" > "$WORK/odd.txt"
check "and in Perfetto's trace" grep -qF "a,\\\"b\\'c\\\\x0ad" "$WORK/odd.txt"

finish
