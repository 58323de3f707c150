# SPDX-License-Identifier: LGPL-2.1-or-later
# Every event that Xen's own files know is in the table, with its symbol and name; xen_event_ids.txt
# lists them, see the script xen_event_ids.
. "$(dirname "$0")/lib.sh"

run dump --list-events --format csv
status 0
cp "$OUT" "$WORK/list.csv"
check "the table has what Xen has" python3 - "$WORK/list.csv" "$GOLDEN/xen_event_ids.txt" << 'END'
import collections, csv, sys

# Where tools/xentrace/formats has another name, apart from upper case and from names that are there
# twice, which we distinguish by "64" and "_pae".
RENAMED = {
    0x2220f: "misspelt there",
    # Xen skips 18, formats does not: its names from there on belong to the number before.
    0x22212: "shifted", 0x22213: "shifted", 0x22214: "shifted", 0x22215: "shifted",
    0x22216: "shifted",
    0x81401: "nVMENTRY", 0x81402: "nVMEXIT", 0x81502: "nVMEXIT",
    0x82023: "TRAP, like that of a PV guest",
    0x8400d: "__vpic_intack",
    0x201001: "hypercall, like the newer event", 0x201101: "the same",
    0x20200e: "hypercall with subcall after the arguments",
}
rows = {int(row["event_id"], 16): row for row in csv.DictReader(open(sys.argv[1], newline=""))}
symbols, names = collections.defaultdict(dict), {}
for line in open(sys.argv[2]):
    if line.startswith("#"):
        continue
    number, symbol, first, last, where = line.split()
    if where == "formats":
        names[int(number, 16)] = symbol.lower()
    else:
        symbols[int(number, 16)][symbol] = last

wrong = ["%#x %s %s: not in the table" % (n, symbols.get(n), names.get(n))
         for n in sorted({*symbols, *names} - set(rows))]
for number, found in symbols.items():
    # the newest name; old ones stay in headers for a while
    newest = [s for s, last in found.items() if last == "master"] or list(found)
    if number in rows and rows[number]["symbol"] not in newest:
        wrong.append("%#x: %s, Xen says %s" % (number, rows[number]["symbol"], found))
for number, name in names.items():
    event = rows[number]["event"] if number in rows else name
    is_same = event in (name, name + "64", name + "_pae")
    if is_same == (number in RENAMED):
        wrong.append("%#x: %s, formats says %s" % (number, event, name))
# What is only in the table must be the 64-bit, nested or paging-level variant of something (bits 8
# to 10), another change of runstates (bits 4 and 5, too) or the guests' own class.
for number in sorted(set(rows) - {*symbols, *names} - {0x800f000}):
    if not {number & ~0x700, number & ~0x730} & {*symbols, *names}:
        wrong.append("%#x %s: not known to Xen" % (number, rows[number]["event"]))
print(*wrong, sep="\n")
assert len(symbols) >= 150 and len(names) >= 180, (len(symbols), len(names))
sys.exit(bool(wrong))
END
finish
