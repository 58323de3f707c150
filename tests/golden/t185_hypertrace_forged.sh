# SPDX-License-Identifier: LGPL-2.1-or-later
# Hypercalls of a guest's programs: KVM records them as it records those of the guest's kernel. Where the
# exit says that the guest was in the lower half of the addresses, the call is left out and counted.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "$TEST: no trace-cmd here"
	exit 77
fi
sample=$SAMPLES/hypertrace-plain.dat
trace-cmd convert --file-version 6 --compression none -i "$sample" -o "$WORK/plain.dat" > /dev/null 2>&1 ||
	fail "trace-cmd cannot convert"
# every third VM exit with the address of the module's hypercall now has that of a program, the first, too
python3 - "$WORK/plain.dat" "$WORK/forged.dat" << 'END'
import struct
import sys
data = bytearray(open(sys.argv[1], "rb").read())
kernel, program = struct.pack("<Q", 0xffffffffc02024fc), struct.pack("<Q", 0x401136)
at = n = 0
while (at := data.find(kernel, at)) >= 0:
    # kvm_exit has reason, rip; kvm_entry vcpu, rip: only the reason of a hypercall
    if struct.unpack_from("<I", data, at - 8)[0] == 0x81:
        if n % 3 == 0:
            data[at:at + 8] = program
        n += 1
    at += 8
open(sys.argv[2], "wb").write(data)
END
trace-cmd report -t "$WORK/forged.dat" > "$WORK/all" 2> /dev/null || fail "trace-cmd cannot report"
run report --hypertrace -q -f json "$WORK/plain.dat"
status 0
cp "$OUT" "$WORK/before"
run dump --hypertrace -q -f json "$WORK/forged.dat"
status 0
cp "$OUT" "$WORK/calls"
run report --hypertrace -q -f json "$WORK/forged.dat"
status 0
check "calls of programs are left out, all others are as before" python3 - \
	"$WORK/all" "$WORK/before" "$OUT" "$WORK/calls" << 'END'
import json
import re
import sys
calls, where = [], {}
for line in open(sys.argv[1], errors="replace"):
    match = re.match(r"^\s*.*-(\d+)\s+\[(\d+)\].*?(\d+)\.(\d{9}): +(\w+): *(.*)$", line)
    if not match:
        continue
    pid, event = match[1], match[5]
    time = int(match[3]) * 10**9 + int(match[4])
    if event == "kvm_exit":
        where[pid] = int(re.search(r"rip 0x([0-9a-f]+)", match[6])[1], 16)
    if event == "kvm_entry":
        where.pop(pid, None)
    if event == "kvm_hypercall":
        calls.append((time, where.get(pid)))
calls.sort()
first = next(time for time, rip in calls if rip is not None and rip >> 63)
forged = sum(rip is not None and not rip >> 63 and time >= first for time, rip in calls)
early = sum(rip is not None and not rip >> 63 and time < first for time, rip in calls)
before, after = (json.load(open(path))["hypertrace"][0]["calls"] for path in sys.argv[2:4])
assert before["user"] == 0 and before["decoded"] == 1558, before
assert forged > 400 and early, (forged, early)
assert after["user"] == forged, (after, forged)
assert after["decoded"] == before["decoded"] - forged, (after, before)
lines = [json.loads(line) for line in open(sys.argv[4])]
assert sum(line.get("result") == "user" for line in lines) == forged
END
run report --hypertrace -q "$WORK/forged.dat"
check "text" grep -qE 'left out as calls of programs [0-9]{3}$' "$OUT"
finish
