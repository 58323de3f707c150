# SPDX-License-Identifier: LGPL-2.1-or-later
# Xen on Arm: times by the frequency of its timer, from the trace, an option or the sidecar; no VM exits, which it never
# records. No trace of a real host is there: xen_arm.py writes traces as Xen's sources do, and the truth.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

# made HZ [runstates]
made()
{
	rm -f arm.xen.meta.json
	check "xen_arm.py $*" python3 "$GOLDEN/xen_arm.py" 41 "$1" arm.xen truth ${2:+"$2"}
}

# true_times HZ OPTION...: each run is as long as in truth, but for a tick at each end
true_times()
{
	run report -q --format json "${@:2}" arm.xen
	status 0
	check "$*" python3 - "$OUT" "$1" << 'END'
import json, sys
report, truth, hz = json.load(open(sys.argv[1])), json.load(open("truth")), int(sys.argv[2])
found = {v["vcpu"]: v for m in report["machines"] for v in m["vcpus"]}
assert found.keys() == truth["ns"].keys()
tick = 1e9 / hz + 1
for name, vcpu in found.items():
    runs = truth["ran"][name]
    guest = vcpu["states"]["guest"]
    # the first one begins with the trace
    assert guest["count"] + guest.get("before", 0) == len(runs), (name, guest, len(runs))
    assert abs(guest["total_ns"] - truth["ns"][name]) <= 2 * tick * len(runs) ** .5 + 20 * tick, name
    assert abs(guest["max_ns"] - max(e - b for b, e in runs)) <= tick, name
    assert vcpu["states"]["hypervisor"]["total_ns"] is None and not vcpu["exits"], name
END
}

note="records no VM exits, whatever is traced"
for hz in 19200000 24000000 62500000 1000000000; do
	made "$hz"
	true_times "$hz"
	run report arm.xen
	if [ "$hz" = 1000000000 ]; then
		check "1 GHz: may be a TSC" test -z "$(grep -F "$note" "$OUT")"
	else
		says "$OUT" "like the timer of an Arm host"
	fi
done
made 54000000 runstates
run report arm.xen
says "$OUT" "2400.000000 MHz is an assumption"
true_times 54000000 --cpu-hz 54M
echo '{"cpu_khz": 54000}' > arm.xen.meta.json
true_times 54000000
made 24000000
run report --cpu-hz 25M arm.xen
status 3
says "$ERR" "the trace knows that its TSC has 24.000000 MHz"
run dump arm.xen
status 0
check "its records have names" test "$(grep -c page_grant_map "$OUT")" -gt 10
finish
