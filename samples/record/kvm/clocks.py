#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""clocks.py FOLDER KSHARK-VIRT: do the clocks of a recording's guests agree with the kernel?

For each guest with a trace: the offset of its TSC that debugfs showed (FOLDER/host.dat.meta.json), in ns, must
lie in the interval that causality gives without it, and in the one that trace-cmd's own protocol has found, if an
agent took part. Prints a line for each; status 1 if one does not.
"""
import json
import subprocess
import sys

folder, command = sys.argv[1:3]
recording = json.load(open(folder + "/recording.json"))
sidecar = json.load(open(folder + "/host.dat.meta.json"))
scale = recording["tsc_to_ns"]
failed = 0


def align(name, source):
    done = subprocess.run([command, "align", "-q", "--format", "json", "--source", source, folder + "/host.dat",
                           folder + "/" + name], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


def judge(guest, what, offset, low, high):
    global failed

    inside = low <= offset <= high
    failed += not inside
    print(f"{guest}: {offset} ns by debugfs is {'inside' if inside else 'OUTSIDE OF'} {low} .. {high}, {what}")


for file in recording["files"]:
    if file["role"] != "guest":
        continue
    guest = next(g for g in sidecar["guests"] if g["name"] == file["guest"])
    vcpu = guest["vcpus"][0]
    cycles = int(vcpu["tsc_offset"], 16) if isinstance(vcpu["tsc_offset"], str) else vcpu["tsc_offset"]
    cycles -= (cycles >> 63) << 64
    if vcpu["tsc_ratio"] != 1 << vcpu["tsc_ratio_frac_bits"]:
        sys.exit(f"{guest['name']}: its TSC has another speed")
    offset = -cycles * scale["mult"] >> scale["shift"]
    found = align(file["name"], "causality")
    judge(guest["name"], "by causality", offset, *found["interval"])
    failed += found["refused"]
    found = align(file["name"], "trace-cmd")
    added = found.get("trace_cmd")
    if added:
        judge(guest["name"], "trace-cmd's own", offset, added["least"] + found["interval"][0],
              added["most"] + found["interval"][1])
        print(f"{guest['name']}: trace-cmd's offset is {added['least']} .. {added['most']} ns")
    found = align(file["name"], "sidecar")
    judge(guest["name"], "as the sidecar aligns it", offset, found["offset"], found["offset"])
sys.exit(failed > 0)
