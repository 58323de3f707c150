# SPDX-License-Identifier: LGPL-2.1-or-later
# Traces in which records are missing, all of a kind or some, and traces with more records than others.
. "$(dirname "$0")/lib.sh"

CASES=$SAMPLES/cases

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is not installed"
	exit 77
fi

# VMX of Linux 5.8 to 5.11 records no entry after some exits.
trace-cmd report -t "$CASES/fastpath.dat" > "$WORK/fastpath.txt" 2> "$WORK/said"
run report --format json "$CASES/fastpath.dat"
status 0
says "$ERR" "a VM exit without an entry before it (40 times)"
check "the time of a fast path is unknown" python3 "$GOLDEN/missing_oracle.py" \
	"$OUT" "$WORK/fastpath.txt" hypervisor=210000 unknown=1600000 guest=600000

# One load on an arm64 host, recorded with few events and with all of KVM's.
for events in a b; do
	run report --format json "$CASES/arm-vhe-$events.dat"
	status 0
	check "nothing contradicts ($events)" test ! -s "$ERR"
	check "half of the time is preempted ($events)" python3 - "$OUT" << 'END'
import json, sys
for machine in json.load(open(sys.argv[1]))["machines"]:
    for vcpu in machine["vcpus"]:
        ns = {name: state["total_ns"] or 0 for name, state in vcpu["states"].items()}
        share = ns["preempted"] / (sum(ns.values()) - ns["unknown"])
        assert 0.45 < share < 0.60, (vcpu["vcpu"], share)
END
done

# Of one trace, entries or exits become events like any other ones.
trace-cmd convert --file-version 6 -i "$SAMPLES/kvm-host.dat" -o "$WORK/whole.dat" > "$WORK/said" 2>&1
sed 's/name: kvm_entry$/name: kvm_eXtry/' "$WORK/whole.dat" > "$WORK/no-entry.dat"
sed 's/name: kvm_exit$/name: kvm_eXit/' "$WORK/whole.dat" > "$WORK/no-exit.dat"
for less in entry exit; do
	check "it is altered ($less)" test "$(cmp -l "$WORK/whole.dat" "$WORK/no-$less.dat" | wc -l)" = 1
	for trace in whole no-$less; do
		run report --format json "$WORK/$trace.dat"
		status 0
		check "nothing contradicts ($trace)" sh -c "! grep -q contradict '$ERR'"
		cp "$OUT" "$WORK/$trace.json"
	done
	check "what is known is the same without a VM $less" python3 - \
		"$WORK/whole.json" "$WORK/no-$less.json" << 'END'
import json, sys
whole, less = (json.load(open(path)) for path in sys.argv[1:])
hidden = unknown = 0
for a, b in zip(whole["machines"], less["machines"]):
    for x, y in zip(a["vcpus"], b["vcpus"]):
        assert x["vcpu"] == y["vcpu"]
        # what is unknown is null; what includes another state is the sum of both
        x, y = ({name: state["total_ns"] or 0 for name, state in v["states"].items()} for v in (x, y))
        for state in "preempted", "waking", "blocked", "offline":
            assert x[state] == y[state], (state, x[state], y[state])
        for state in "guest", "hypervisor", "polling", "vmm":
            assert x[state] >= y[state], (state, x[state], y[state])
            hidden += x[state] - y[state]
        assert y["guest"] in (0, x["guest"])
        unknown += y["unknown"] - x["unknown"]
# a state that is unknown as a whole hides also what is known of it
assert 0 < unknown <= hidden, (unknown, hidden)
END
done
finish
