# SPDX-License-Identifier: LGPL-2.1-or-later
# report --migrations: by distance, as the exported migrations and the topology say; sums are the report's.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

# two nodes; pCPUs 0 and 1 are threads of a core, 2 shares their cache, 3 is far
printf '# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n%s\n' '0,0,0,0,,0,0,0,0
1,0,0,0,,0,0,0,0
2,1,0,0,,1,1,1,0
3,2,1,1,,2,2,2,1' > topology
cat > oracle.py << 'END'
import csv
import json
import sys

FAR = {frozenset((0, 1)): "smt", frozenset((0, 2)): "core", frozenset((1, 2)): "core"}
migrations, report, rows, text = json.load(open("migrations.json")), json.load(open("report.json")), \
    list(csv.DictReader(open("migrations.csv"))), open("migrations.text").read()
moves = {}
names = {row["id"]: row["name"] for row in csv.DictReader(open("tables/vcpu.csv"))}
for row in csv.DictReader(open("tables/migration.csv")):
    pcpus = [int(row["from_pcpu"]), int(row["to_pcpu"])]
    far = "unknown" if max(pcpus) > 3 else "node" if 3 in pcpus else FAR[frozenset(pcpus)]
    key = names[row["vcpu"]], far
    moves[key] = moves.get(key, 0) + 1
got = {(vcpu["vcpu"], one["distance"]): one for vcpu in migrations["vcpus"] for one in vcpu["migrations"]}
assert {key: one["count"] for key, one in got.items()} == moves, (got, moves)
COST = ("count", "total_ns", "max_ns")
assert {(row["vcpu"], row["distance"]): [row["count"]] + [row["cost_" + key] for key in COST]
        for row in rows} == {key: [str(one["count"])] + [str(one["cost"].get(k, "")) for k in COST]
                             for key, one in got.items()}
n = 0
for vcpu in [vcpu for machine in report["machines"] for vcpu in machine["vcpus"]]:
    own = [one for (name, _), one in got.items() if name == vcpu["vcpu"]]
    assert sum(one["count"] for one in own) == vcpu["migrations"], vcpu["vcpu"]
    cost = vcpu["migration_cost"]
    assert sum(one["cost"]["count"] for one in own) == cost["count"]
    assert sum(one["cost"]["total_ns"] for one in own) == cost["total_ns"]
    n += len(own)
assert text.count("\n  another ") + text.count("unknown distance") == n
print(n)
END
distances=0
for sample in credit2-basic.xen migration.xen sched-credit.xen lost-records.xen kvm-migration.dat kvm-host.dat; do
	for format in json csv text; do
		run report --quiet --migrations --topology topology --format "$format" "$SAMPLES/$sample"
		status 0
		cp "$OUT" "migrations.$format"
	done
	run report --quiet --format json "$SAMPLES/$sample"
	cp "$OUT" report.json
	rm -rf tables
	run export --quiet --format csv-tables --output tables "$SAMPLES/$sample"
	status 0
	check "$sample: as exported, and as the report has it" python3 oracle.py > n
	distances=$((distances + $(cat n)))
done
check "there were some: $distances" test "$distances" -gt 40

run report --quiet --migrations --topology topology --vcpu d1v0 "$SAMPLES/credit2-basic.xen"
golden t136_migrations "$OUT"
# from the sidecar; unknown; a file that is none; an option that says nothing
cp "$SAMPLES/credit2-basic.xen" trace.xen
printf '{ "pcpus": [ %s ] }' '{"id":0,"core":0,"socket":0,"node":0}, {"id":1,"core":1,"socket":0,"node":0}' \
	> trace.xen.meta.json
run report --quiet --migrations --cpu-hz 2300M --vcpu d1v0 trace.xen
status 0
check "by the topology of the sidecar" grep -q 'another core of the node' "$OUT"
run report --quiet --migrations "$SAMPLES/kvm-host.dat"
check "the note names the option" grep -q 'the topology is unknown: give --topology$' "$OUT"
run report --quiet --migrations --topology "$SAMPLES/credit2-basic.xen" "$SAMPLES/credit2-basic.xen"
status 3
run report --quiet --topology topology "$SAMPLES/credit2-basic.xen"
status 2
finish
