# SPDX-License-Identifier: LGPL-2.1-or-later
# Pauses and TSCs that are set are moments of their own: the pauses of a vCPU are what it was offline, and TSCs
# are set when, and to what, trace-cmd says.
. "$(dirname "$0")/lib.sh"

# pauses TRACE...: of each vCPU, is what its pauses last together all of its time offline?
pauses()
{
	run report -q --format json "$@"
	status 0
	cp "$OUT" "$WORK/report"
	run report -q --format json --worst 1000 --kind offline "$@"
	status 0
	python3 - "$WORK/report" "$OUT" << 'END'
import json, sys
report, worst = (json.load(open(path)) for path in sys.argv[1:])
pauses = {}
for moment in worst["worst"]:
    assert moment["kind"] == "offline" and moment["begun"], moment
    known = {state: ns for state, ns in moment["states_ns"].items() if ns and not state.endswith("_includes")}
    assert known == {"offline": moment["cost_ns"]}, moment
    assert moment["cost_ns"] == moment["end_ns"] - moment["start_ns"] > 0, moment
    pauses[moment["vcpu"]] = pauses.get(moment["vcpu"], 0) + moment["cost_ns"]
for machine in report["machines"]:
    for vcpu in machine["vcpus"]:
        ns = vcpu["states"]["offline"]["total_ns"]
        assert pauses.get(vcpu["vcpu"], 0) <= ns, vcpu["vcpu"]
        if ns:
            print(vcpu["vcpu"], "all" if pauses.get(vcpu["vcpu"], 0) == ns else "not all")
END
}
check "KVM: nothing else was offline" test "$(pauses "$SAMPLES/kvm-paused.dat")" = "g1v0 all
g1v1 all"
# machines that are saved, and one that is restored, which was not there before
check "Xen: nor who was there from the beginning" test "$(pauses "$SAMPLES/saved.xen")" = "d1v0 all
d1v1 all
d2v0 all
d2v1 all
d3v0 not all
d3v1 not all"

# why's worst pauses are those of the report, with the same text
run report -q --format json --worst 6 --kind offline "$SAMPLES/kvm-paused.dat"
status 0
cp "$OUT" "$WORK/report"
run why -q --format json --worst 6 --kind offline "$SAMPLES/kvm-paused.dat"
status 0
check "why shows the same" python3 - "$WORK/report" "$OUT" << 'END'
import json, sys
worst = json.load(open(sys.argv[1]))["worst"]
answers = json.load(open(sys.argv[2]))["answers"]
assert len(answers) == len(worst) == 6, answers
for answer, moment in zip(answers, worst):
    segment, = answer["segments"]
    assert answer["moment"] == segment["kind"] == "offline" and segment["segments"] == [], answer
    assert answer["subject"] == segment["subject"] == moment["vcpu"], answer
    assert answer["window_ns"] == [moment["start_ns"], moment["end_ns"]], answer
    assert segment["whole_machine"] == moment["whole_machine"], answer
    assert answer["unexplained_ns"] == 0 and len(segment["evidence"]) == 2, answer
assert {moment["whole_machine"] for moment in worst} == {True, False}
END

# tsc TRACE: the same lines by trace-cmd and by us, of the threads that are vCPUs
tsc()
{
	trace-cmd report -t -N -F kvm_write_tsc_offset "$1" 2> /dev/null |
		sed -nE 's/.*-([0-9]+) .* ([0-9]+)\.([0-9]{9}): +kvm_write_tsc_offset: +vcpu=([0-9]+) prev=([0-9]+) next=([0-9]+)/\1 \2\3 \4 \5 \6/p' > "$WORK/theirs"
	run report -q --format json "$1"
	status 0
	cp "$OUT" "$WORK/report"
	run report -q --format json --worst 1000 --kind tsc "$1"
	status 0
	python3 - "$WORK/theirs" "$OUT" "$WORK/report" << 'END'
import json, sys
vcpus = [vcpu["tid"] for machine in json.load(open(sys.argv[3]))["machines"] for vcpu in machine["vcpus"]]
theirs = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
theirs = [line[1:] for line in theirs if line[0] in vcpus]
ours = []
for moment in json.load(open(sys.argv[2]))["worst"]:
    offset = int(moment["tsc_offset"], 16)
    assert moment["cost_ns"] == 0 and moment["kind"] == "tsc", moment
    ours.append((moment["time_ns"], int(moment["vcpu"].split("v")[-1]),
                 (offset - moment["tsc_jump"]) % 2 ** 64, offset))
assert theirs and ours == theirs, sorted(set(ours) ^ set(theirs))[:4]
print(len(ours))
END
}
for sample in kvm-nested-g1 kvm-nested-linux-g1 kvm-nested-shift-g1; do
	check "$sample: TSCs are set when trace-cmd says" test -n "$(tsc "$SAMPLES/$sample.dat")"
done
run report -q --format json --worst 9 "$SAMPLES/saved.xen"
check "on Xen, it is unknown" python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["not_visible"] == ["exit", "irq", "tsc"]' "$OUT"

finish
