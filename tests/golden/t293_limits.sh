# SPDX-License-Identifier: LGPL-2.1-or-later
# The CPU quotas of machines in report, by the sidecar: what is known, what is not, and what there is not.
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/r"
cp "$SAMPLES"/recording-kvm/* "$WORK/r"
sidecar=$WORK/r/host.dat.meta.json
[ -e "$sidecar" ] || fail "the recording has a sidecar"
cp "$sidecar" "$WORK/plain.json"

# quota PYTHON: change the sidecar j, whose guests are web and db; then report as JSON, CSV and text
quota()
{
	python3 - "$WORK/plain.json" "$sidecar" "$1" << 'END'
import json, sys
j = json.load(open(sys.argv[1]))
web, db = ({v["id"]: v for v in g["vcpus"]} for g in j["guests"])
def at(quota, *numbers):
    made = dict(zip(("period_us", "periods", "throttled", "throttled_us"), numbers))
    return {"quota_us": quota, **made} if quota else made
def cgroup(path, above, begin, end):
    return {"path": path, "above": above, "begin": begin, "end": end}
exec(sys.argv[3])
json.dump(j, open(sys.argv[2], "w"))
END
	for format in csv text json; do
		run report -q --full --format $format "$WORK/r"
		[ $format = text ] || run report -q --format $format "$WORK/r"
		status 0
		cp "$OUT" "$WORK/$format"
	done
}

# limits EXPRESSION TEXT: of the array l of JSON
limits()
{
	check "$1" test "$(python3 -c 'import json, sys
l = json.load(open(sys.argv[1]))["steal"]["limits"]
print(eval(sys.argv[2]))' "$WORK/json" "$1")" = "$2"
}

# nothing is known
quota ''
limits 'l' None
check "no text" test "$(grep -c 'CPU quota' "$WORK/text")" = 0
check "no row" test "$(grep -c ',limit,' "$WORK/csv")" = 0

# web has a quota, and so has the slice; db has the slice's alone
quota 'j["cgroups"] = [{"path": "/"}, cgroup("/s", 0, at(90000, 50000, 5, 1, 400), at(90000, 50000, 95, 4, 1900)),
	cgroup("/s/web", 1, at(20000, 100000, 31, 30, 2413020), at(20000, 100000, 111, 103, 4413020)),
	cgroup("/s/db", 1, at(None, 100000, 0, 0, 0), at(None, 100000, 0, 0, 0))]
for v in web: web[v]["cgroup"] = 2
for v in db: db[v]["cgroup"] = 3'
limits '[(m["machine"], m["is_known"], [q["cgroup"] for q in m["quotas"]]) for m in l]' \
	"[('g1:web', True, ['/s', '/s/web']), ('g2:db', True, ['/s'])]"
limits '[(q["periods"], q["throttled"], q["throttled_ns"]) for q in l[0]["quotas"]]' \
	'[(90, 3, 1500000), (80, 73, 2000000000)]'
limits 'l[0]["quotas"][1]["begin"] == l[0]["quotas"][1]["end"] == {"quota_us": 20000, "period_us": 100000}' True
says "$WORK/text" '  g1:web                    20.0 %     2.000 s         73 of 80  /s/web'
says "$WORK/text" '  g2:db                    180.0 %    1.500 ms          3 of 90  /s'
check "rows" test "$(grep ',limit,' "$WORK/csv" | grep -v 'in the window' | cut -d , -f 3-7 | tr '\n' ' ')" = \
	'g1:web,,/s,,1500000 g1:web,,/s/web,,2000000000 g2:db,,/s,,1500000 '

# what the quota held in the window is known, too: see t325_quota
check "rows of the window" test "$(grep ',limit,' "$WORK/csv" | grep -c 'in the window')" = 4
check "and a note" python3 -c '
import json, sys
notes = [n for n in json.load(open(sys.argv[1]))["warnings"] if n["kind"] == "limit"]
assert len(notes) == 1, notes
assert "the cgroup /s/web held threads for 2000000 us, in 73 of 80 periods" in notes[0]["text"], notes' "$WORK/json"
held='the CPU quota of the cgroup /s/web held threads for 2000000 us, in 73 of 80 periods: steal may be due to it'
run why --worst 1 --kind steal "$WORK/r"
says "$ERR" "host.dat: in the whole recording, $held"
# the numbers are not of a window, nor of a part
run report --format csv --from 75 --to 76 "$WORK/r/host.dat"
says "$ERR" "host.dat: in the whole recording, $held"
run split -q --from 75 --to 76 -o "$WORK/part.dat" "$WORK/r/host.dat"
status 0
run report --format csv "$WORK/part.dat"
says "$ERR" "part.dat: in the whole recording, of which this trace is a part, $held"

# web has none; db's is known at the beginning alone, and its thread was moved
quota 'j["cgroups"] = [{"path": "/"}, cgroup("/web", 0, at(None, 100000, 0, 0, 0), at(None, 100000, 0, 0, 0)),
	{"path": "/db", "above": 0, "begin": at(50000, 100000, 3, 2, 1)}]
for v in web: web[v]["cgroup"] = 1
db[0]["cgroup"] = 2'
limits '[(m["machine"], m["is_known"]) for m in l]' "[('g1:web', True), ('g2:db', False)]"
check "no note" test "$(grep -c '"limit"' "$WORK/json")" = 0
limits '[(q["end"], q["throttled"], q["throttled_ns"]) for q in l[1]["quotas"]]' '[(None, None, None)]'
says "$WORK/text" '  g1:web                      none'
says "$WORK/text" '  g2:db                     50.0 %           -                -  /db'
check "an unknown row" grep -q ',limit,g2:db,,/db,,,' "$WORK/csv"

# a new quota; counters that went back; a cgroup whose parents are unknown
quota 'j["cgroups"] = [{"path": "/"}, cgroup("/web", 0, at(20000, 100000, 9, 2, 5), at(50000, 100000, 10, 3, 7)),
	cgroup("/a/db", None, at(50000, 100000, 9, 2, 5), at(50000, 100000, 1, 0, 0))]
for v in web: web[v]["cgroup"] = 1
for v in db: db[v]["cgroup"] = 2'
limits '[m["is_known"] for m in l], l[0]["quotas"][0]["throttled_ns"]' '([True, False], 2000)'
says "$WORK/text" '  g1:web                   changed    2.000 us           1 of 1  /web'
says "$WORK/text" '  g2:db                     50.0 %           -                -  /a/db'

# unknown, without any quota
quota 'j["cgroups"] = [{"path": "/"}]'
says "$WORK/text" '  g2:db                          -'
limits '[(m["is_known"], m["quotas"]) for m in l]' '[(False, []), (False, [])]'

finish
