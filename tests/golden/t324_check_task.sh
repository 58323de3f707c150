# SPDX-License-Identifier: LGPL-2.1-or-later
# Limits of the host's tasks: values are those of report --tasks, which t290_host_tasks judges.
. "$(dirname "$0")/lib.sh"

host=$SAMPLES/kvm-host.dat
limits='--max wake.p99=0us --max wake.max=0us --max wake=0% --max steal=0% --max wake.count=0
	--max migration.count=0 --max migration.rate=0/s'

# compare WINDOW-OPTIONS...: all values of all tasks with the report of that window
compare() {
	run report --quiet --tasks --format csv "$@" "$host"
	status 0
	cp "$OUT" "$WORK/report.csv"
	run check --quiet --task '*' --format csv $limits "$@" "$host"
	status 1
	check "values are those of the report: $*" python3 - "$WORK/report.csv" "$OUT" <<'END'
import csv, sys
tasks = {r["name"]: r for r in csv.DictReader(open(sys.argv[1])) if r["section"] == "task"}
rows = list(csv.DictReader(open(sys.argv[2])))
seen = set()
for row in rows:
    task = tasks[row["of"]]
    ns = {key: int(task[key] or 0) for key in task if key.endswith("_ns")}
    window = int(row["to_ns"]) - int(row["from_ns"])
    known = window - ns["absent_ns"] - ns["unknown_ns"]
    n = int(task["wake_latency_count"])
    want = {"wake.p99": ns["wake_latency_p99_ns"] if n else None,
            "wake.max": ns["wake_latency_max_ns"] if n else None,
            "wake.count": n, "migration.count": int(task["migrations"])}
    if known > 0:
        want.update({"wake": 100 * ns["waking_ns"] / known, "steal": 100 * ns["preempted_ns"] / known,
                     "migration.rate": 1e9 * int(task["migrations"]) / known})
    want = want.get(row["limit_of"]) if known > 0 else None
    assert (row["value"] == "") == (want is None), (row, want)
    if want is not None:
        assert abs(float(row["value"]) - want) <= 1e-3 + 1e-4 * want, (row, want)
        assert row["result"] == ("exceeded" if want > 0 else "within"), row
    seen.add(row["of"])
assert len(seen) > 20 and seen == {t for t in tasks if tasks[t]["pid"] != "0"}, seen ^ set(tasks)
END
}
compare
compare --from 1794s --to 1795s

# the limit itself is within
run check --task vhost-3402-3417 --max migration.count=7 "$host"
status 0
says "$OUT" '0 of 1 limits exceeded'
run check --task vhost-3402-3417 --max migration.count=6 "$host"
status 1
says "$OUT" 'vhost-3402-3417 migration.count=6: 7 is more than 6 (7 migrations)'
# name, pattern and PID
run check --task 3417 --max steal=1% --format tap "$host"
status 0
run check --task 'vhost-*' --max steal=1% "$host"
status 0
says "$OUT" '0 of 1 limits exceeded'
run check --task nosuch --max steal=1% "$host"
status 4
says "$ERR" '--task nosuch: the trace shows no such task of the host'
run check --task '*' --max steal=1% "$SAMPLES/credit2-basic.xen"
status 4
says "$ERR" 'only those of KVM do'
run check --task '*' --max exit=1% "$host"
status 2
says "$ERR" '--max exit=1%: limits of tasks are'
run check --task '*' --max wake.p99.9=1ms "$host"
status 2
run check --task '*' --max steal=1% --vcpu g1 "$host"
status 2
run check --task '*' --affinity g1=2 "$host"
status 2
says "$ERR" 'require --max'
# without wake-ups, wake-ups are unknown
run check --quiet --task '*' --max wake.max=1us --max steal=100% --format csv "$SAMPLES/host-samples.dat.gz"
status 4
check "waking is unknown, steal is not" python3 - "$OUT" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
steal = [r for r in rows if r["limit_of"] == "steal"]
assert all(r["result"] == "unknown" and not r["value"] for r in rows if r["limit_of"] == "wake.max")
# a task that the trace shows at no time is unknown, too
assert len([r for r in steal if r["result"] == "within"]) > 200
assert all((r["result"] == "unknown") == (not r["value"]) for r in steal)
END
finish
