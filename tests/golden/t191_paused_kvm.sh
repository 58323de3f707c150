# SPDX-License-Identifier: LGPL-2.1-or-later
# A machine of KVM that is paused by its monitor is offline until it is resumed, and at no other time. Compared with
# when the monitor was asked, and had answered, by marks in the trace.
. "$(dirname "$0")/lib.sh"
trace=$SAMPLES/kvm-paused.dat

check "trace-cmd reads it" trace-cmd report -t -i "$trace" > "$WORK/text" 2> /dev/null
# mark N: when the Nth "monitor: ..." was written
mark()
{
	sed -nE 's/.* ([0-9]+\.[0-9]{9}): print: .*: monitor: .*/\1/p' "$WORK/text" | sed -n "$1p"
}
stop=$(mark 1) stopped=$(mark 2) cont=$(mark 3) going=$(mark 4)
check "the marks are there" test -n "$going"

# offline FROM TO: per cent of this time that each vCPU was offline, or awake for its monitor
offline()
{
	run report -q --format json --from "$1" --to "$2" "$trace"
	status 0
	python3 - "$OUT" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
begin, end = report["window_ns"]
for vcpu in report["machines"][0]["vcpus"]:
    states = vcpu["states"]
    awake = sum(states[state]["total_ns"] for state in ("waking", "vmm", "preempted"))
    print(vcpu["vcpu"], "offline" if states["offline"]["total_ns"] else "never offline",
          "and nothing else" if states["offline"]["total_ns"] + awake == end - begin and
          awake * 1000 < end - begin else "")
END
}
offline "$stopped" "$cont" > "$WORK/paused"
{ offline 42.9 "$stop"; offline "$going" 44.9; } > "$WORK/around"
check "all of it is offline while it is paused" diff - "$WORK/paused" << 'END'
g1v0 offline and nothing else
g1v1 offline and nothing else
END
check "and at no other time" test "$(sort -u "$WORK/around")" = \
	"$(printf '%s never offline \n' g1v0 g1v1)"

finish
