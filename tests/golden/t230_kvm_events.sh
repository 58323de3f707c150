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

# POWER9 has the states of the same records, and exits by its traps. Up to POWER8, one thread enters several vCPUs, so that
# the records do not show which thread is which vCPU: a message says so.
cat > "$WORK/power.py" << 'END'
import re, struct, sys
trace, power9, power8 = sys.argv[1:]
d = bytearray(open(trace, "rb").read())
at = d.index(b"kvm\0" + struct.pack(">I", 2))
place, texts = at + 8, []
for _ in range(2):
    size, = struct.unpack_from(">Q", d, place)
    texts.append(bytes(d[place + 8:place + 8 + size]))
    place += 8 + size
def field(text, name):
    return int(re.search(rb" %s;\s*offset:(\d+);" % name, text)[1])
ids = [int(re.search(rb"ID: (\d+)", text)[1]) for text in texts]
vcpu, trap = field(texts[0], b"id"), field(texts[1], b"icptcode")
traps = {4: 0xc00, 0x28: 0x500, 0: 0x980, 8: 0xe00}
entries = []
for word in range(place // 4 * 4, len(d) - 24, 4):
    kind, flags = struct.unpack_from(">HH", d, word)
    if kind == ids[0] and not flags and struct.unpack_from(">I", d, word + 4)[0] == 2000:
        entries.append(word + vcpu)
    if kind == ids[1] and not flags and struct.unpack_from(">I", d, word + 4)[0] == 2000:
        # one byte, and room up to the next word
        struct.pack_into(">I", d, word + trap, traps[d[word + trap]])
assert len(entries) == 40, len(entries)
new = b"kvm_hv\0" + struct.pack(">I", 2)
for text, name in zip(texts, (b"kvm_guest_enter", b"kvm_guest_exit")):
    text = re.sub(rb"name: \w+", b"name: " + name, text).replace(b" id;", b" vcpu_id;")
    text = re.sub(rb"u8 icptcode;(.*?)size:1;\tsigned:0;", rb"int trap;\1size:4;\tsigned:1;", text)
    size = len(texts[0]) - 3 if name.endswith(b"enter") else len(texts[1])
    text = re.sub(rb"print fmt:.*", b'print fmt: "x"', text, flags=re.S)
    new += struct.pack(">Q", size) + text.ljust(size - 1) + b"\n"
assert len(new) == place - at, (len(new), place - at)
d[at:place] = new
open(power9, "wb").write(d)
for i, entry in enumerate(entries):
    struct.pack_into(">I", d, entry, i % 2)
open(power8, "wb").write(d)
END
check "power.py" python3 "$WORK/power.py" "$CASES/s390.dat" "$WORK/power9.dat" "$WORK/power8.dat"
run report -q --format csv "$CASES/s390.dat"
grep ',state,\|,exits,' "$OUT" | sed 's/^[^,]*,//; s/,Instruction,/,SYSCALL,/; s/,Stop request,/,EXTERNAL,/
	s/,Host interruption,/,HV_DECREMENTER,/; s/,Program interruption,/,H_DATA_STORAGE,/' | sort > "$WORK/right"
run report -q --format csv "$WORK/power9.dat"
status 0
grep ',state,\|,exits,' "$OUT" | sed 's/^[^,]*,//' | sort > "$WORK/got"
same "$WORK/right" "$WORK/got"
check "there are rows" test "$(wc -l < "$WORK/right")" -gt 15
for command in "report" "plot --output $WORK/x.svg" "why --at 100.0005 --vcpu g1v0"; do
	run $command "$WORK/power8.dat"
	status 3
	says "$ERR" "KVM of POWER8 and older is not understood"
done

finish
