# SPDX-License-Identifier: LGPL-2.1-or-later
# A machine that is saved, and restored by another process, is one: its vCPUs go on as other threads, offline in between,
# and its own trace is aligned before and after. What trace-cmd prints of the host judges it.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}
HOST=$SAMPLES/kvm-restored.dat
trace-cmd report -t -i "$HOST" > "$WORK/text" 2> /dev/null

run report -q --format json "$HOST"
status 0
cp "$OUT" "$WORK/report"
check "it is what trace-cmd prints" python3 "$GOLDEN/restored_oracle.py" "$WORK/text" "$WORK/report" 2596089000 175=259 176=260 \
	> "$WORK/offline"
golden t207_restored "$WORK/offline"
# a sidecar that does not say it, or that of no process before: two machines
cp "$HOST" "$WORK/host.dat"
machines() # SED-EXPRESSION: of the sidecar
{
	sed "$1" "$HOST.meta.json" > "$WORK/host.dat.meta.json"
	run report -q --format json "$WORK/host.dat"
	status 0
	python3 -c 'import json, sys
print(*sorted((machine["machine"], len(machine["vcpus"])) for machine in json.load(open(sys.argv[1]))["machines"]))' "$OUT"
}
check "one" test "$(machines 's/x/x/')" = "('g1:web', 2)"
check "two, if nothing shows it" test "$(machines 's/"continues": 164, *//')" = "('g1:web', 2) ('g2:web', 2)"
check "two, if there is no such process" test "$(machines 's/"continues": 164/"continues": 165/')" = \
	"('g1:web', 2) ('g2:web', 2)"
check "two, if it is itself" test "$(machines 's/"continues": 164/"continues": 249/')" = "('g1:web', 2) ('g2:web', 2)"
check "of a vCPU that was not there, there is more" test "$(machines 's/"id": 1, "tid": 260/"id": 7, "tid": 260/')" = \
	"('g1:web', 2) ('g2', 1)"

# its clock: from when it goes on, each CPU's events have the second offset
for source in kvm_write_tsc_offset sidecar; do
	run align -q --format json --source $source "$HOST" "$SAMPLES/kvm-restored-web.dat"
	status 0
	check "$source: before and after" python3 -c 'import json, sys
printed = json.load(open(sys.argv[1]))
assert printed["source"] == sys.argv[2] and printed["explained_percent"] == 100 and not printed["refused"], printed
assert sorted(vcpu["tid"] for vcpu in printed["vcpus"]) == [175, 176], printed["vcpus"]
steps = printed["steps"]
assert sorted(step["guest_cpu"] for step in steps) == [0, 1] and len({step["offset"] for step in steps}) == 1, steps
# where the guest goes on is one moment of its TSC, as far as events show
assert abs(steps[0]["from"] - steps[1]["from"]) < 10**8, steps' "$OUT" $source
done
# what a sample keeps of it is the same
cp "$SAMPLES/kvm-restored-web.dat" "$WORK/web.dat"
cp "$HOST.meta.json" "$WORK/host.dat.meta.json"
run align -q --write "$WORK/host.dat" "$WORK/web.dat"
status 0
sed 's/"host.dat"/"kvm-restored.dat"/' "$WORK/web.dat.meta.json" > "$WORK/written"
same "$WORK/written" "$SAMPLES/kvm-restored-web.dat.meta.json"
# tasks that were executed before, and went on: what they believe is what the machine had, and when it was offline
run report -q --format json "$HOST" "$SAMPLES/kvm-restored-web.dat"
status 0
check "tasks go on" python3 -c 'import json, sys
tasks = {task["name"]: task for task in json.load(open(sys.argv[1]))["guests"][0]["tasks"]}
for name, task in tasks.items():
    assert sum(ns for ns in task["states_ns"].values() if isinstance(ns, int)) == task["believed_ns"], name
for name in "sh-124", "sh-125":
    assert tasks[name]["states_ns"]["guest"] > 10**8, name
# the tasks on the two CPUs then believe to have had them on
assert sum(task["states_ns"]["offline"] for task in tasks.values()) > 3 * 10**9, tasks' "$OUT"
finish
