# SPDX-License-Identifier: LGPL-2.1-or-later
# Machines and vCPUs have the names that the host's file gives them, whatever other files are open.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1

# named NAME SAMPLE: a copy in whose map of guests g1 has another name, of as many letters
named()
{
	python3 - "$1" "$SAMPLES/$2.dat" > "$1.dat" << 'END'
import struct, sys
data = bytearray(open(sys.argv[2], "rb").read())
head = struct.pack("<H", 13)		# the option GUEST: its size, then the name
at = data.index(b"g1\0", data.rindex(b"x86-tsc]") - 400)
while data[at - 6:at - 4] != head:
    at = data.index(b"g1\0", at + 1)
data[at:at + 2] = sys.argv[1].encode()
sys.stdout.buffer.write(data)
END
}

# vcpus FILE...: names of machines and vCPUs, and their threads, of the first host
vcpus()
{
	run report --format json "$@"
	status 0
	python3 - "$OUT" << 'END'
import json, sys
# the first one is the host's
report = json.load(open(sys.argv[1]))
report = report.get("reports", [report])[0]
for machine in report["machines"]:
    print(machine["id"], machine["machine"])
    for vcpu in machine["vcpus"]:
        print(vcpu["vcpu"], vcpu["tid"])
END
}

cp "$SAMPLES/kvm-nested-g1.dat" guest.dat
for name in g1 g7 db; do
	named "$name" kvm-nested
	vcpus "$name.dat" > alone
	check "there are vCPUs" test -s alone
	vcpus "$name.dat" guest.dat > with
	same alone with
	run plot --format csv "$name.dat"
	cut -d, -f1 "$OUT" | sort -u > drawn
	[ "$name" = g7 ] && machine=g7 || machine=g1
	[ "$name" = db ] && vcpu="db v0" || vcpu=${machine}v0
	says drawn "$vcpu"
	run check --affinity "${machine}v0=0,1,2,3" "$name.dat"
	status 0
done
run report --format csv db.dat
says "$OUT" ",state,g1:db,db v0,"

# A guest of which only the sidecar has a map: it says which CPU is which vCPU, and no names.
cp "$SAMPLES/kvm-nosync.dat" "$SAMPLES/kvm-nosync-g1.dat" .
vcpus kvm-nosync.dat > alone
run align --quiet --write kvm-nosync.dat kvm-nosync-g1.dat
status 0
vcpus kvm-nosync.dat kvm-nosync-g1.dat > with
same alone with
check "the guest is paired" grep -q '"vcpu": "g1v0"' "$OUT"
finish
