# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest that is a host itself, whose trace-cmd's offsets jump: once it is aligned without them, reports of its own
# machines do without them, too, and the times of its host are found in it.
. "$(dirname "$0")/lib.sh"

cp "$SAMPLES"/kvm-nested-shift.dat "$SAMPLES"/kvm-nested-shift-g1.dat "$WORK"
host=$WORK/kvm-nested-shift.dat guest=$WORK/kvm-nested-shift-g1.dat

run report --format json "$guest"
status 0
says "$ERR" "trace-cmd's own time offsets of this guest jump by 35.596 s"
cp "$OUT" "$WORK/before.json"
run align --write --format json "$host" "$guest"
status 0
cp "$OUT" "$WORK/align.json"

run report --format json "$guest"
status 0
cp "$OUT" "$WORK/after.json"
check "no warning of a jump" [ "$(grep -c 'jump by' "$ERR")" = 0 ]
run report --quiet --format json --from 425.5 --to 426.5 "$host" "$guest"
status 0
check "shorter by the jump, and the host's times are in it" python3 - "$WORK" "$OUT" << 'END'
import json, sys
before, align, after = (json.load(open("%s/%s.json" % (sys.argv[1], name)))
                        for name in ("before", "align", "after"))
host, guest = json.load(open(sys.argv[2]))["reports"]
length = [report["window_ns"][1] - report["window_ns"][0] for report in (before, after)]
jump = align["trace_cmd"]["most"] - align["trace_cmd"]["least"]
print(" ", length, jump, guest["window_ns"])
sys.exit(abs(length[0] - length[1] - jump) > 1 or
         any(abs(here - there - align["offset"]) > 1 for here, there in
             zip(host["window_ns"], guest["window_ns"])))
END
finish
