# SPDX-License-Identifier: LGPL-2.1-or-later
# What a guest reported in calls that its host recorded as one event with their exits and entries, and the reports of a
# guest's guest, are what their own ftrace recorded: one switch with one, one entry of a function with one.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "$TEST: no trace-cmd here"
	exit 77
fi
compare=$KSV_SOURCE_DIR/samples/record/kvm/hypertrace.py
check "aggregated" python3 "$compare" "$SAMPLES/hypertrace-aggregated.dat" "$SAMPLES/hypertrace-aggregated-g1.dat" > "$WORK/said"
says "$WORK/said" "the same: 68 switches, 3 entries of functions one to one"
check "nested" python3 "$compare" "$SAMPLES/hypertrace-nested-g1.dat" "$SAMPLES/hypertrace-nested-n1.dat" 1 > "$WORK/said"
says "$WORK/said" "the same: 92 switches one to one"
# comparisons that cannot fail would be none
! python3 "$compare" "$SAMPLES/hypertrace-aggregated.dat" "$SAMPLES/hypertrace-plain-g1.dat" > "$WORK/said" ||
	fail "the switches of another guest are taken for the same"
says "$WORK/said" "different: 0 switches"

# Decoded by us, it is the same as by that script.
for file in hypertrace-aggregated.dat hypertrace-nested-g1.dat; do
	run dump --quiet --hypertrace --format json "$SAMPLES/$file"
	status 0
	check "$file: as decoded by hypertrace.py" python3 "$GOLDEN/hypertrace_decoded.py" "$OUT" "$compare" \
		"$SAMPLES/$file"
done

# Of the vCPUs, the aggregated calls alone are known.
run report --format json "$SAMPLES/hypertrace-aggregated.dat"
status 0
says "$ERR" "has neither kvm_entry nor kvm_exit: only hypercalls of vCPUs are known"
check "no time in the guest, no steal" python3 - "$OUT" <<'END'
import json
import sys
report = json.load(open(sys.argv[1]))
vcpus = [v for m in report["machines"] for v in m["vcpus"]]
assert len(vcpus) == 2
for vcpu in vcpus:
    assert {name for name, s in vcpu["states"].items() if s["total_ns"]} == {"hypervisor", "unknown"}, vcpu["states"]
    (exits,) = vcpu["exits"]
    assert exits["reason"] == "HYPERCALL" and exits["complete"] == exits["count"] > 250, exits
    assert exits["total_ns"] == vcpu["states"]["hypervisor"]["total_ns"]
END

# The host below sees a nested guest's calls as its exits, each of them, and no call.
run dump --hypertrace "$SAMPLES/hypertrace-nested.dat"
status 0
check "no calls" test ! -s "$OUT"
says "$ERR" 'has no hypercalls'
run report --quiet --format json "$SAMPLES/hypertrace-nested.dat"
cp "$OUT" "$WORK/host"
run report --quiet --format json --hypertrace "$SAMPLES/hypertrace-nested-g1.dat"
check "each call is an exit of L2" python3 - "$WORK/host" "$OUT" <<'END'
import json
import sys
host, guest = (json.load(open(path)) for path in sys.argv[1:3])
(machine,) = host["machines"]
(exits,) = [e["count"] for e in machine["exits"] if e["reason"] == "L2:VMMCALL"]
(reported,) = guest["hypertrace"]
assert exits == reported["calls"]["decoded"] == 135, (exits, reported["calls"])
assert reported["calls"]["outside"] == reported["calls"]["senseless"] == reported["calls"]["unknown"] == 0
END
finish
