# SPDX-License-Identifier: LGPL-2.1-or-later
# The table of events, in all formats.
. "$(dirname "$0")/lib.sh"

run dump --list-events
status 0
n=$(grep -c '^0x' "$OUT")
check "there are many events ($n)" test "$n" -ge 200

run dump --list-events --format csv
status 0
cp "$OUT" "$WORK/list.csv"
# a line per event layout: all facts but the help
cut -d, -f1-7 "$OUT" > "$WORK/events"
golden t003_list_events "$WORK/events"
check "header" test "$(head -1 "$OUT")" = \
	"event_id,symbol,event,class,words,versions,fields,help"
run dump --list-events --format json
status 0
cp "$OUT" "$WORK/list.json"

check "csv and json agree" python3 - "$WORK/list.csv" "$WORK/list.json" "$n" << 'END'
import csv, json, sys

rows = list(csv.DictReader(open(sys.argv[1], newline="")))
events = [json.loads(line) for line in open(sys.argv[2])]
assert len(events) == int(sys.argv[3]), len(events)
flat = []
for event in events:
    key = [event[name] for name in ("event_id", "symbol", "event", "class")]
    for layout in event["layouts"]:
        fields = " ".join(f["name"] + ":" + f["kind"] for f in layout["fields"])
        flat.append(key + [str(layout["words"]), layout["versions"], fields, event["help"]])
    if not event["layouts"]:
        flat.append(key + ["", "", "", event["help"]])
assert [list(row.values()) for row in rows] == flat
for name in ("event_id", "symbol", "event"):
    assert len({event[name] for event in events}) == len(events), name
# Texts with commas are there, so that quoting is really tried.
assert any("," in row["help"] for row in rows)
END

run dump --list-events --event 'running_to_*' --format csv
status 0
check "--event filters the list" test "$(tail -n +2 "$OUT" | cut -d, -f3 | grep -vc '^running_to_')" = 0
check "and leaves some" test "$(wc -l < "$OUT")" = 5
run dump --list-events --event 0x0001f001
says "$OUT" lost_records
check "one event" test "$(grep -c '^0x' "$OUT")" = 1

finish
