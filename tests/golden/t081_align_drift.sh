# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest whose clock drifts: what is said of it, what is kept, and that all who read it do the same.
. "$(dirname "$0")/lib.sh"

host=$WORK/kvm-migration.dat guest=$WORK/kvm-migration-g1.dat
cp "$SAMPLES/kvm-migration.dat" "$WORK"

# libtracecmd makes ns of cycles by mult / 2^shift, of the option TSC2NSEC: with another mult, the
# guest's clock is slower
python3 - "$SAMPLES/kvm-migration-g1.dat" "$guest" << 'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
mult = 933697879
at = data.find(struct.pack("<II", mult, 31))
struct.pack_into("<I", data, at, round(mult / (1 + 200e-6)))
open(sys.argv[2], "wb").write(data)
END

run align --source causality "$host" "$guest"
status 0
golden t081_text "$OUT"
run align --source causality --format json --write "$host" "$guest"
status 0
golden t081_json "$OUT"
golden t081_written "$guest.meta.json"

# the true offset, without a drift, is that of t080: 2280036601620 cycles
cat > "$WORK/check.py" << 'END'
import json, sys
mult = 933697879
truth = mult / round(mult / (1 + 200e-6)) - 1
r = json.load(open(sys.argv[1]))
offset = (2280036601620 * mult >> 31) + truth * r["at"]
low, high = r["interval"]
ok = low <= offset <= high and low <= r["offset"] <= high and high - low < 44000
if "drift_interval" in r:
    low, high = r["drift_interval"]
    ok = ok and low <= truth * 1e6 <= high and low <= r["drift_ppm"] <= high
sys.exit(not ok)
END
check "the true offset is in the interval at that time" python3 "$WORK/check.py" "$OUT"

# how many of the guest's records the report finds in guest time shows which times it gives them
explained()
{
	run report --full "$host" "$guest"
	status 0
	says "$OUT" "CPU 0: 100.000 % of 7063 records"
	says "$OUT" "CPU 1: 100.000 % of 7552 records"
}
explained

# one that was stored when offsets were those at the guest's time 0
python3 - "$guest.meta.json" << 'END'
import json, sys
data = json.load(open(sys.argv[1]))
of = data["alignment"]
back = round(of["drift_ppm"] * 1e-6 * of.pop("at"))
of["offset"] -= back
of["interval"] = [end - back for end in of["interval"]]
json.dump(data, open(sys.argv[1], "w"))
END
explained

# an invalid time in the sidecar is ignored, with a note
sed -i 's/"unit"/"at": "noon", "unit"/' "$guest.meta.json"
run report --full "$host" "$guest"
status 0
says "$ERR" "alignment"
finish
