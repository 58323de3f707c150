# SPDX-License-Identifier: LGPL-2.1-or-later
# The report's numbers are those of the records, computed anew by report_oracle.py, and those of
# Xen's own xenalyze, but for the differences that are explained there. And what is known of the
# samples from how they were recorded is found again.
. "$(dirname "$0")/lib.sh"

command -v xenalyze >/dev/null || {
	echo "xenalyze is missing (Debian: apt-get install xen-utils-common)"
	exit 77
}

# json EXPRESSION FILE: a Python expression over the report r
json()
{
	python3 - "$1" "$2" << 'END'
import json, sys
r = json.load(open(sys.argv[2]))
vcpus = {v["vcpu"]: v for m in r["machines"] for v in m["vcpus"]}
print(eval(sys.argv[1]))
END
}

# is TEXT EXPRESSION VALUE: the last report says so
is()
{
	local value

	value=$(json "$2" "$OUT")
	check "$1: $2 is $value instead of $3" test "$value" = "$3"
}

for trace in "$SAMPLES"/*.xen; do
	name=$(basename "$trace" .xen)
	# xenalyze does not know vCPUs that a sidecar names: t046
	[ ! -e "$trace.meta.json" ] || continue
	# all have the same frequency
	hz=$(known_hz "$trace")
	if sanitized; then
		run report --quiet --format json --cpu-hz "$hz" "$trace"
		status 0
		continue
	fi
	xenalyze_says "$trace" --cpu-hz "$hz" --summary > "$WORK/xenalyze"
	run dump --quiet --format csv --cpu-hz "$hz" "$trace"
	status 0
	cp "$OUT" "$WORK/dump"
	run report --quiet --format json --cpu-hz "$hz" "$trace"
	status 0
	python3 "$GOLDEN/report_oracle.py" "$trace" "$WORK/dump" "$OUT" "$WORK/xenalyze" > "$WORK/said"
	STATUS=$?
	echo "$name:"
	cat "$WORK/said"
	status 0
done

# Two halves of a trace add up to the whole.
run report --quiet --format json --cpu-hz 2300M "$SAMPLES/hvm-exits.xen"
cp "$OUT" "$WORK/whole"
run report --quiet --format json --cpu-hz 2300M --to 1234567890ns "$SAMPLES/hvm-exits.xen"
cp "$OUT" "$WORK/first"
run report --quiet --format json --cpu-hz 2300M --from 1234567890ns "$SAMPLES/hvm-exits.xen"
cp "$OUT" "$WORK/second"
python3 - "$WORK/whole" "$WORK/first" "$WORK/second" << 'END'
import json, sys
whole, first, second = (json.load(open(f)) for f in sys.argv[1:])

def numbers(r):
    n = {"records": r["volume"]["records"]}
    for m in r["machines"]:
        for s, ns in m["states_ns"].items():
            n[m["id"], s] = ns
        for v in m["vcpus"]:
            n[v["vcpu"], "migrations"] = v["migrations"]
            for s, d in v["states"].items():
                n[v["vcpu"], s] = d["total_ns"]
            for e in v["exits"]:
                n[v["vcpu"], "exit", e["reason"]] = e["count"]
                n[v["vcpu"], "cost", e["reason"]] = e["total_ns"]
            for h in v["hypercalls"] + v["traps"]:
                n[v["vcpu"], h["name"]] = h["count"]
    return n

w, a, b = map(numbers, (whole, first, second))
bad = [k for k in w if w[k] != a.get(k, 0) + b.get(k, 0)]
print("halves:", len(w), "numbers,", len(bad), "wrong", bad[:5])
sys.exit(len(bad) > 0 or len(w) < 50)
END
check "two halves add up" test $? = 0

# hvm-exits: 4704 exits, each with its reason
run report --quiet --format json --cpu-hz 2300M "$SAMPLES/hvm-exits.xen"
is hvm-exits 'sum(e["count"] for v in vcpus.values() for e in v["exits"])' 4704
is hvm-exits 'sorted({e["reason"] for v in vcpus.values() for e in v["exits"]})' \
	"['HLT', 'INTR', 'MSR', 'VINTR', 'VMMCALL']"

# pinned: each vCPU on its own pCPU, all the time
run report --quiet --format json --cpu-hz 2300002K "$SAMPLES/pinned.xen"
is pinned '[v["migrations"] for v in vcpus.values()]' '[0, 0, 0, 0]'
is pinned '{n: list(v["pcpus_ns"]) for n, v in sorted(vcpus.items())}' \
	"{'d0v0': ['0'], 'd0v1': ['1'], 'd1v0': ['2'], 'd1v1': ['3']}"

# lost-records: 117 losses of 22338 records; unknown time is there and belongs to no share
run report --quiet --format json --cpu-hz 2300M "$SAMPLES/lost-records.xen"
is lost-records 'len(r["lost"]["windows"]), r["lost"]["records"]' '(117, 22338)'
is lost-records 'sum(w["records"] for w in r["lost"]["windows"])' 22338
is lost-records 'all(v["states"]["unknown"]["total_ns"] > 0 for v in vcpus.values())' True
is lost-records 'all(v["known_ns"] + v["states"]["unknown"]["total_ns"] == r["window_ns"][1] -
	r["window_ns"][0] for v in vcpus.values())' True
is lost-records 'all(p["lost_ns"] <= p["unknown_ns"] for p in r["pcpus"])' True

# migration: "xl vcpu-pin mover V P" began and ended at these TSCs
run report --quiet --format json --cpu-hz 2300001K --absolute "$SAMPLES/migration.xen"
while read -r begin end vcpu pcpu; do
	is "pin of $vcpu to $pcpu" "sum($begin * 10**6 // 2300001 <= m['time_ns'] <= \
$end * 10**6 // 2300001 and m['to_pcpu'] == $pcpu for m in vcpus['$vcpu']['migration_list'])" 1
	is "first run on $pcpu" "[m['to_pcpu'] for m in vcpus['$vcpu']['migration_list'] \
if m['time_ns'] <= $end * 10**6 // 2300001][-1]" "$pcpu"
done << 'END'
70688577162 72118802540 d1v0 3
74207615782 77138607438 d1v1 2
79405058932 81928737236 d1v0 0
83636288708 85911530026 d1v1 1
87692748310 90116581382 d1v0 2
91971878725 94534590405 d1v1 3
96932831573 99660134985 d1v0 1
101216978357 103076954987 d1v1 0
END
is migration 'vcpus["d1v0"]["migrations"], vcpus["d1v1"]["migrations"]' '(4, 4)'
finish
