# SPDX-License-Identifier: LGPL-2.1-or-later
# An interrupt that is injected again, as it has not got through, is one interrupt, in all tables.
. "$(dirname "$0")/lib.sh"

# Of KVM, by host and guest: what is injected is what is to be delivered.
for name in kvm-migration:kvm-migration-g1 kvm-host:kvm-guest; do
	run report --quiet --format json "$SAMPLES/${name%:*}.dat" "$SAMPLES/${name#*:}.dat"
	status 0
	check "${name%:*}: both tables agree" python3 - "$OUT" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
injected = {vcpu["vcpu"]: {i["vector"]: i["count"] for i in vcpu["interrupts"]}
            for machine in report["machines"] for vcpu in machine["vcpus"]}
delivered = {vcpu["vcpu"]: {i["vector"]: i["injected"] for i in vcpu["vectors"]}
             for vcpu in report["interrupt_delivery"]["vcpus"]}
assert delivered and all(delivered.values()), "no deliveries"
assert injected == delivered, (injected, delivered)
END
done

# Of Xen: three of the injections become such that are done again.
run report --quiet --format json "$SAMPLES/hvm-exits.xen"
status 0
cp "$OUT" "$WORK/before.json"
check "an altered trace" python3 - "$SAMPLES/hvm-exits.xen" "$WORK/again.xen" << 'END'
import struct, sys
INJ_VIRQ, REINJ_VIRQ = 0x82004, 0x82005
data = bytearray(open(sys.argv[1], "rb").read())
found = [at for at in range(0, len(data) - 4, 4)
         if struct.unpack_from("<I", data, at)[0] & 0x8fffffff == INJ_VIRQ]
assert len(found) >= 10, found
for at in found[3:6]:
    word, = struct.unpack_from("<I", data, at)
    struct.pack_into("<I", data, at, word & ~0xfffffff | REINJ_VIRQ)
open(sys.argv[2], "wb").write(data)
END
run report --quiet --format json "$WORK/again.xen"
status 0
check "three interrupts less" python3 - "$WORK/before.json" "$OUT" << 'END'
import json, sys
before, after = (sum(i["count"] for machine in json.load(open(path))["machines"]
                     for vcpu in machine["vcpus"] for i in vcpu["interrupts"])
                 for path in sys.argv[1:])
assert before - after == 3, (before, after)
END

finish
