# SPDX-License-Identifier: LGPL-2.1-or-later
# Events of KVM that say more than "a vCPU enters or leaves its guest": halt polling, nested guests,
# reasons of other hypervisors and architectures, threads of kernels before 4.14. samples/cases has
# small traces made by hand for that; trace-cmd's fields of the same records are the oracle.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is not installed"
	exit 77
fi
CASES=$SAMPLES/cases

# against TRACE NAME=REASON...: what report says of a trace, and what its records say
against()
{
	local trace=$1

	shift
	run report --quiet --format json "$trace"
	status 0
	cp "$OUT" "$WORK/report.json"
	trace-cmd report -R -t "$trace" > "$WORK/raw.txt" 2> "$WORK/said"
	check "$(basename "$trace") by its records" \
		python3 "$GOLDEN/kvm_events.py" "$WORK/report.json" "$WORK/raw.txt" "$@"
}

against "$CASES/haltpoll.dat" HLT=12 EPT_VIOLATION=48
against "$CASES/nested-intel-5.x.dat" L2:EPT_VIOLATION=48 L2:DR_ACCESS=29 VMREAD=23 VMRESUME=24
against "$CASES/pvm.dat" 0x10000=0x10000 0x20000=0x20000 0x30000=0x30000 0x40000=0x40000 \
	0x50000=0x50000
against "$CASES/old-kernel-end.dat" EPT_VIOLATION=48
against "$CASES/never-entered.dat" EPT_VIOLATION=48
against "$CASES/riscv.dat" SUPERVISOR_SYSCALL=10 LOAD_GUEST_PAGE_FAULT=21 VIRTUAL_INST_FAULT=22 \
	STORE_GUEST_PAGE_FAULT=23 IRQ_S_TIMER=0x8000000000000005
against "$CASES/loongarch.dat" INT=0 TLBL=1 TLBS=2 GSPR=22 0x67=103
against "$CASES/s390.dat" "Host interruption=0" Instruction=4 "Program interruption=8" \
	"Stop request=40"

# Polling is no cost of HLT: the worst moment is not one of 176 us, and a limit holds.
run report --quiet --worst 3 --kind exit "$CASES/haltpoll.dat"
status 0
check "no exit costs what KVM polled" test "$(grep -c "^ *7.000 us  exit " "$OUT")" = 3
run check --max 'exit[HLT].p99=50us' "$CASES/haltpoll.dat"
status 0
run export --quiet --format csv-tables --output "$WORK/tables" "$CASES/haltpoll.dat"
status 0
check "export has polling" python3 - "$WORK/tables" << 'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/interval.csv", newline="")))
ns = sum(int(r["end_ns"]) - int(r["start_ns"]) for r in rows if r["state"] == "polling")
assert ns == 4520000, ns
exits = list(csv.DictReader(open(sys.argv[1] + "/exit.csv", newline="")))
assert sum(int(e["polling_ns"] or 0) for e in exits) == 4520000 - 176000, exits[-1]
END
run plot --quiet --output "$WORK/figure.svg" "$CASES/haltpoll.dat"
status 0
check "the figure shows polling" grep -q "#bbffbb" "$WORK/figure.svg"

# Without the event, that time is the hypervisor's: nothing else changes.
run report --quiet --format json "$CASES/haltpoll.dat"
cp "$OUT" "$WORK/whole.json"
sed 's/name: kvm_vcpu_wakeup$/name: kvm_vcpu_wakeXp/' "$CASES/haltpoll.dat" > "$WORK/less.dat"
check "it is altered" test "$(cmp -l "$CASES/haltpoll.dat" "$WORK/less.dat" | wc -l)" = 1
run report --quiet --format json "$WORK/less.dat"
status 0
check "polling or hypervisor" python3 - "$WORK/whole.json" "$OUT" << 'END'
import json, sys
whole, less = (json.load(open(path))["machines"][0]["vcpus"][0]["states"] for path in sys.argv[1:])
ns = {state: (whole[state]["total_ns"] or 0, less[state]["total_ns"] or 0) for state in whole}
polled, hypervisor = ns.pop("polling"), ns.pop("hypervisor")
assert polled[0] == 4520000 and not polled[1], polled
assert hypervisor[1] == hypervisor[0] + polled[0], hypervisor
assert all(a == b for a, b in ns.values()), ns
END

# The machine has the thread that never enters; nothing says that it has none.
run report --quiet --threads "$CASES/never-entered.dat"
status 0
run report --full --quiet "$CASES/never-entered.dat"
says "$OUT" "g1v1  thread 2001"

# POWER's events do not say which thread is which vCPU: a message says so.
python3 - "$CASES/s390.dat" "$WORK/ppc64.dat" << 'END'
import struct, sys
d = open(sys.argv[1], "rb").read()
at = d.index(b"kvm\0" + struct.pack(">I", 2))
events = at + 8
sizes, place = [], events
for _ in range(2):
    size, = struct.unpack_from(">Q", d, place)
    sizes.append((place, size))
    place += 8 + size
texts = [d[p + 8:p + 8 + size] for p, size in sizes]
texts[0] = texts[0].replace(b"kvm_s390_sie_enter", b"kvm_guest_enter").replace(
    b"print fmt:", b"print fmt:   ")
texts[1] = texts[1].replace(b"kvm_s390_sie_exit", b"kvm_guest_exit")
new = b"kvm_hv\0" + struct.pack(">I", 2) + b"".join(
    struct.pack(">Q", len(text)) + text for text in texts)
assert len(new) == place - at
open(sys.argv[2], "wb").write(d[:at] + new + d[place:])
END
for command in "report" "plot --output $WORK/x.svg" "why --at 100.0005 --vcpu g1v0"; do
	run $command "$WORK/ppc64.dat"
	status 3
	says "$ERR" "KVM of ppc64 is not understood"
done

finish
