# SPDX-License-Identifier: LGPL-2.1-or-later
# What ends waits on arm64, where the monitor of samples/cases/arm-vhe-b.dat sets the lines of its vCPUs itself:
# a wake-up of a vCPU by a thread that has raised a line of this vCPU is one by a device. trace-cmd prints both.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || { echo "trace-cmd is not installed"; exit 77; }
cd "$WORK" || exit 1
trace-cmd report -R "$SAMPLES/cases/arm-vhe-b.dat" > text 2> /dev/null
python3 - > right << 'END'
import re
LINE = re.compile(r"\s*.+-(\d+)\s+\[\d+\]\S*\s+(?:\S+\s+)?[\d.]+:\s+(\w+):\s*(.*)")
raised, n = {}, 0
for pid, event, text in (m.groups() for m in map(LINE.match, open("text")) if m):
    if event == "kvm_irq_line" and "level=1" in text:
        raised[pid] = re.search(r"vcpu_idx=(\d+)", text)[1]
    woken = re.search(r"comm=CPU (\d+)/KVM", text) if event == "sched_waking" else None
    n += woken is not None and raised.pop(pid, None) == woken[1]
print(n, "device vmm-104")
END
check "there are wake-ups: $(cat right)" test "$(cut -d' ' -f1 right)" -gt 100
run export -q -f csv-tables -o tables "$SAMPLES/cases/arm-vhe-b.dat"
status 0
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["cause"] != "" { print $at["cause"], $at["waker"] }' \
	tables/wake.csv | sort | uniq -c | sed 's/^ *//' > got
same right got
finish
