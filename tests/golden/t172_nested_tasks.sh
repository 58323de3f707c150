# SPDX-License-Identifier: LGPL-2.1-or-later
# Guests in guests: report, plot --tasks and why show the innermost guest's tasks in the place of the threads that are
# its CPUs, and nothing is counted twice or lost.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/why_lib.sh"
cd "$SAMPLES" || exit 1
two=(kvm-nested-linux.dat kvm-nested-linux-g1.dat)
three=("${two[@]}" kvm-nested-linux-n1.dat)

for format in json csv; do
	run report --full -q --format $format "${three[@]}"
	status 0
	cp "$OUT" "$WORK/three.$format"
done
check "tasks add up" python3 "$GOLDEN/guest_tasks.py" <(PYTHONPATH=$GOLDEN python3 - "$WORK/three.json" << 'END'
import json, sys
from json_documents import documents
# the first one: that of the outer host
print(json.dumps(next(documents(sys.argv[1]))))
END
) "$WORK/three.csv" > "$WORK/n"
run report -q --format json "${two[@]}"
status 0
cp "$OUT" "$WORK/two.json"
# The thread's time is that of the tasks and what is left of it; of each, no task has more than it believes itself.
check "divided" env PYTHONPATH="$GOLDEN" python3 - "$WORK/two.json" "$WORK/three.json" << 'END'
import collections, sys
from json_documents import documents
outer, *rest = documents(sys.argv[1])
nested, inner, *rest = documents(sys.argv[2])
before = {t["name"]: t for t in outer["guests"][0]["tasks"]}
after = {t["name"]: t for t in nested["guests"][0]["tasks"]}
alone = {t["pid"]: t for t in inner["guests"][0]["tasks"]}
tasks = [t for t in after.values() if t.get("inside") == "kvm-nested-linux-n1.dat"]
assert len(tasks) > 8, len(tasks)
thread = "CPU 0/KVM-135"
for key in "believed_ns", "executed_ns", "steal_ns":
    assert sum(t[key] for t in tasks) + after[thread][key] == before[thread][key], key
for state, wanted in before[thread]["states_ns"].items():
    summed = collections.Counter()
    # what the trace cannot show is unknown in all of them
    if not isinstance(wanted, int):
        assert all(task["states_ns"][state] == wanted for task in tasks + [after[thread]]), state
        continue
    for task in tasks + [after[thread]]:
        summed[state] += task["states_ns"][state]
    assert summed[state] == wanted, state
for name, task in before.items():
    assert name == thread or after[name] == task, name
for task in tasks:
    assert task["name"].startswith("n1: ") and task["believed_ns"] <= alone[task["pid"]]["believed_ns"], task
# nearly all of what its busiest task believes to have had
busiest = max(tasks, key=lambda t: t["believed_ns"] if t["pid"] else 0)
assert busiest["believed_ns"] > 0.95 * alone[busiest["pid"]]["believed_ns"]
END

# The physical CPU that executed g1's vCPU had them.
run plot -q --tasks --format csv "${three[@]}"
status 0
cp "$OUT" "$WORK/plot.csv"
check "plot shows them" env PYTHONPATH="$GOLDEN" python3 - "$WORK/plot.csv" "$WORK/three.json" << 'END'
import collections, csv, sys
from json_documents import documents
nested = next(documents(sys.argv[2]))
summed = collections.Counter()
for row in csv.DictReader(open(sys.argv[1])):
    if row["task"].startswith("n1: "):
        summed[row["task"]] += int(row["executed_ns"])
wanted = {t["name"]: t["executed_ns"] for t in nested["guests"][0]["tasks"] if "inside" in t}
assert summed and summed == +collections.Counter(wanted), (summed, wanted)
END
run plot -q --tasks -o "$WORK/tasks.svg" "${three[@]}"
status 0
says "$WORK/tasks.svg" "n1: sh-120"
# And why it had no more: what the thread in g1 did, and below that the vCPU of the host.
laws --task n1:sh-120 --worst 10 --kind steal,wake,exit "${three[@]}"
says "$WORK/why.text" "waits for a CPU of its guest, which n1:"
says "$WORK/why.text" "g1v0: code of a nested guest"
run report --full -q "${three[@]}"
says "$OUT" "  n1: sh-120 "
finish
