# SPDX-License-Identifier: LGPL-2.1-or-later
# migration: QEMU slows the vCPUs down by 40 %, which is time that the monitor keeps them asleep; of parts that split cut
# out, in which the brown-out goes on already
. "$(dirname "$0")/lib.sh"

for side in source target; do
	gzip -dc "$SAMPLES/kvm-throttled-$side.dat.gz" > "$WORK/$side.dat"
	cp "$SAMPLES/kvm-throttled-$side.dat.gz.meta.json" "$WORK/$side.dat.meta.json"
done
cd "$WORK" || exit 1
run migration source.dat target.dat
status 0
golden t362_migration_throttled "$OUT"
run migration -q -f csv source.dat target.dat
status 0
cp "$OUT" csv
trace-cmd report -t -i source.dat > text 2> /dev/null

# QEMU's throttle (cpu_throttle_thread()): the thread has left its guest for a signal, and sleeps for 6.67 ms of 16.67 ms
# or, woken early, in pieces. The last sleep of each is that of the blackout. A recount without the model, from
# sched_wakeup alone, which may be recorded some microseconds late
check "the time asleep" python3 - csv text <<'END'
import csv, re, sys
stopped = {row["vcpu"]: int(row["stopped_ns"]) for row in csv.DictReader(open(sys.argv[1]))
           if row["phase"] == "brown-out" and row["vcpu"]}
out, since, asleep = {}, {}, {}
for line in open(sys.argv[2], errors="replace"):
    found = re.match(r"\s*(.+)-(\d+)\s+\[\d+\]\s+(?:\S+\s+)?(\d+)\.(\d{9}): (\S+):\s+(.*)", line)
    if not found:
        continue
    task, _, s, ns, event, text = found.groups()
    at = int(s) * 10**9 + int(ns)
    vcpu = re.match(r"CPU (\d+)/KVM", task)
    if vcpu and event == "kvm_userspace_exit":
        out[vcpu[1]] = "KVM_EXIT_INTR" in text
    elif vcpu and event == "kvm_entry":
        out[vcpu[1]] = False
    elif event == "sched_switch":
        gone = re.match(r"CPU (\d+)/KVM:\d+ \[\d+\] S ==>", text)
        if gone and out.get(gone[1]):
            since[gone[1]] = at
    elif event == "sched_wakeup":
        woken = re.match(r"CPU (\d+)/KVM:", text)
        if woken and woken[1] in since:
            asleep.setdefault(woken[1], []).append((since.pop(woken[1]), at))
stop = max(int(row["from_ns"]) for row in csv.DictReader(open(sys.argv[1])) if row["phase"] == "blackout")
for vcpu, ns in stopped.items():
    own = sum(min(end, stop) - begin for begin, end in asleep[vcpu] if begin < stop)
    assert abs(ns / own - 1) < 0.01 and ns > 200000000, (vcpu, ns, own)
END

finish
