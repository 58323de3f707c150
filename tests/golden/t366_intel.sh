# SPDX-License-Identifier: LGPL-2.1-or-later
# KVM on Intel's VMX: VM exits by reason equal those by trace-cmd and those that the machine's program makes, and what
# each was for is what the program does. KVM injects an exception again if its delivery was interrupted: that is one.
. "$(dirname "$0")/lib.sh"

gzip -dc "$SAMPLES/kvm-intel.dat.gz" > "$WORK/intel.dat"
cat > "$WORK/machine.txt" << END
web v0: 20 rounds, 20 reads, 20 writes, 20 mmio, 0 interrupted
web v1: 20 rounds, 20 reads, 20 writes, 20 mmio, 0 interrupted
END
check "exits by reason" python3 "$KSV_SOURCE_DIR/samples/record/cpu/exits.py" "$WORK/intel.dat" "$KSV_BIN" "$WORK/machine.txt"
run report -q --exits --format csv "$WORK/intel.dat"
status 0
python3 - "$OUT" << 'END' || fail "what exits were for"
import csv, sys
count = {(row["reason"], row["argument"]): int(row["count"])
         for row in csv.DictReader(open(sys.argv[1])) if row["vcpu"] == "all"}
for reason, argument in (("CPUID", "leaf 0x0 (vendor)"), ("MSR_READ", "read PAT"), ("MSR_WRITE", "write PAT"),
                         ("CR_ACCESS", "write CR0"), ("VMCALL", "call 0x3e8"), ("IO_INSTRUCTION", "read port 0x10"),
                         ("IO_INSTRUCTION", "write port 0x10")):
    assert count[reason, argument] == 40, (reason, argument)
# the first MMIO of all is a violation; the APIC: three writes at the start, then IPI, timer and two EOI
assert count["EPT_MISCONFIG", "write 0xa0000000"] + count["EPT_VIOLATION", "page 0xa0000000"] == 40
assert count["EPT_VIOLATION", "page 0xfee00000 (local APIC)"] == 2 * (3 + 20 * 4)
pages = [argument for reason, argument in count if reason == "EPT_VIOLATION" and argument.startswith("page 0x")]
for vcpu in 0x1000000, 0x2000000:
    assert all("page 0x%x" % (vcpu + 4096 * i) in pages for i in range(20))
END
trace-cmd report -R "$WORK/intel.dat" 2> /dev/null > "$WORK/text"
run report -q --full --format csv "$WORK/intel.dat"
status 0
check "some were injected again" grep -q 'kvm_inj_exception: .*reinjected=1' "$WORK/text"
for vcpu in g1v0 g1v1; do
	check "$vcpu: traps, interrupts, hypercalls" test 4 = \
		"$(grep -cE ",(trap,g1,$vcpu,invalid_opcode|interrupt,g1,$vcpu,6[45]|hypercall,g1,$vcpu,other),20," "$OUT")"
done
finish
