# SPDX-License-Identifier: LGPL-2.1-or-later
# With core scheduling, one pCPU records the switches of all pCPUs of its core. Each vCPU still has its own pCPU,
# its own time and its own VM exits. What a part of the trace shows is never more than the truth.
. "$(dirname "$0")/lib.sh"
trace=$WORK/trace.xen

run report -q --format json "$SAMPLES/cases/core-sched.xen"
status 0
checks=$((checks + 1))
python3 - "$OUT" <<'END' || fail "core-sched.xen: not 6 ms each on its own pCPU, with its own exits"
import json, sys
found = {}
for machine in json.load(open(sys.argv[1]))["machines"]:
    for vcpu in machine["vcpus"]:
        found[vcpu["vcpu"]] = ({p: round(ns / 1e6, 2) for p, ns in vcpu["pcpus_ns"].items()},
                               [(e["reason"], e["count"]) for e in vcpu["exits"]])
v0, v1 = ({"0": 6.0}, [("IO_INSTRUCTION", 27)]), ({"1": 6.0}, [("MSR_WRITE", 27)])
right = {"d1v0": v0, "d1v1": v1, "d2v0": v0, "d2v1": v1}
print(found)
sys.exit(found != right)
END

# sched-gran=core with two threads; socket with four and six
for case in 2:1 4:2 4:3 6:4; do
	check "make $case" python3 "$GOLDEN/core_sched.py" make "${case#*:}" "${case%:*}" "$trace" "$trace.part" \
		"$WORK/truth"
	run report -q --cpu-hz 1G --format json "$trace"
	status 0
	check "$case" python3 "$GOLDEN/core_sched.py" judge "$OUT" "$WORK/truth" all
	run report -q --cpu-hz 1G --format json "$trace.part"
	status 0
	check "$case, the second half" python3 "$GOLDEN/core_sched.py" judge "$OUT" "$WORK/truth" part
done

# A part has the cores of the whole, also if its own records do not show them; so has what is joined again.
part_is_window()
{
	run report -q --full --from "$2" --to "$3" "$1"
	status 0
	sed 1d "$OUT" > "$WORK/window"
	run split -q --from "$2" --to "$3" -o "$4" "$1"
	status 0
	run report -q --full "$4"
	status 0
	sed 1d "$OUT" > "$WORK/part"
	same "$WORK/window" "$WORK/part"
}
part_is_window "$SAMPLES/cases/core-sched.xen" 2100us 3000us "$WORK/a.xen"
part_is_window "$SAMPLES/cases/core-sched.xen" 3000us 5900us "$WORK/b.xen"
run merge -q -o "$WORK/ab.xen" "$WORK/a.xen" "$WORK/b.xen"
status 0
run report -q --full --from 2100us --to 5900us "$SAMPLES/cases/core-sched.xen"
sed 1d "$OUT" > "$WORK/window"
run report -q --full "$WORK/ab.xen"
sed 1d "$OUT" > "$WORK/part"
same "$WORK/window" "$WORK/part"
for wrong in '[ 0 ]' '[ 1, 0 ]' '[ 0, 0 ]' '[ 0, 99999 ]'; do
	python3 - "$WORK/a.xen.meta.json" "$wrong" << 'END'
import json, sys
path = sys.argv[1]
sidecar = json.load(open(path))
sidecar["part"]["cores"] = [{"pcpus": json.loads(sys.argv[2])}]
json.dump(sidecar, open(path, "w"))
END
	run report --full "$WORK/a.xen"
	status 0
	says "$ERR" '"cores" of "part" cannot be understood'
done

# A single record of a pCPU that is not there, about the idle vCPU of another one, is damage and no core.
run report -q --format json --cpu-hz 2300M "$SAMPLES/credit2-basic.xen"
cp "$OUT" "$WORK/right"
python3 - "$SAMPLES/credit2-basic.xen" "$WORK/damaged.xen" << 'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
idle = struct.pack("<IQI", 1 << 31 | 1 << 28 | 0x21021, struct.unpack_from("<Q", data, 16)[0], 0x7fff0000)
open(sys.argv[2], "wb").write(data + struct.pack("<III", 0x1001f003, 900, len(idle)) + idle)
END
run report -q --format json --cpu-hz 2300M "$WORK/damaged.xen"
status 0
check "one record of damage makes no core" python3 - "$WORK/right" "$OUT" << 'END'
import json, sys
right, got = (json.load(open(path)) for path in sys.argv[1:])
assert right["machines"] == got["machines"], "the machines differ"
END
finish
