# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt align: real pairs with what is known of them, pairs that do not belong together.
. "$(dirname "$0")/lib.sh"

run align "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat"
status 0
golden t080_trace_cmd "$OUT"

# trace-cmd's offsets hidden: 2280036601620 cycles * 933697879 / 2^31 ns (its TSC2NSEC) is the truth
cp "$SAMPLES/kvm-migration.dat" "$SAMPLES/kvm-migration-g1.dat" "$WORK"
run align --source causality --format json --write "$WORK/kvm-migration.dat" \
	"$WORK/kvm-migration-g1.dat"
status 0
golden t080_causality "$OUT"
golden t080_written "$WORK/kvm-migration-g1.dat.meta.json"
check "the true offset is in the interval" python3 - "$OUT" << 'END'
import json, sys
r = json.load(open(sys.argv[1]))
low, high = r["interval"]
truth = 2280036601620 * 933697879 >> 31
sys.exit(not (low <= truth <= high and high - low < 44000 and r["explained_percent"] == 100))
END
run report --full "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
status 0
says "$OUT" "CPU 0: 100.000 % of 7063 records"
sed -i 's/"offset": *[0-9]*/"offset": 991330677905/' "$WORK/kvm-migration-g1.dat.meta.json"
run report --full "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
says "$ERR" "the guest's clock is not aligned"
echo '[]' > "$WORK/kvm-migration-g1.dat.meta.json"
run report --full "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
status 0
says "$ERR" "not a JSON object"

# trace-cmd's samples over PTP are wrong; with all of the host's trace, 503036844331 to 503036881761
run align "$SAMPLES/kvm-ptp.dat" "$SAMPLES/kvm-ptp-g1.dat"
status 0
golden t080_ptp "$OUT"
says "$ERR" "trace-cmd's own offsets are wrong: with them, only 59.159 %"

# dom0 counts the host's TSC
run align "$SAMPLES/dom0.xen" "$SAMPLES/dom0-ftrace.dat"
status 0
golden t080_dom0 "$OUT"

# Xen's own offset of a PVH domain, from the sidecar: guest = host + 0xfffffff9e57d569a
run align "$SAMPLES/domU.xen.gz" "$SAMPLES/domU-ftrace.dat"
status 0
golden t080_domu "$OUT"
# events_alone: the same
events_alone()
{
	run align --source causality --format json "$SAMPLES/domU.xen.gz" \
		"$SAMPLES/domU-ftrace.dat"
	status 0
	check "the events alone say the same" python3 - "$OUT" << 'END'
import json, sys
r = json.load(open(sys.argv[1]))
low, high = r["interval"]
sys.exit(not (low <= 2**64 - 0xfffffff9e57d569a <= high and r["explained_percent"] == 100))
END
}
sanitized || events_alone
gzip -dc "$SAMPLES/domU.xen.gz" > "$WORK/domU.xen"
echo '{"domains":[{"id":1,"tsc_offset":"0xfffffff9e57e569a"}]}' > "$WORK/domU.xen.meta.json"
run align --source sidecar "$WORK/domU.xen" "$SAMPLES/domU-ftrace.dat"
status 1
says "$OUT" "host time = guest time +26214508902 cycles"

# every domain twice: nothing shows which one it is
python3 "$KSV_SOURCE_DIR/tests/gui/xen_twin.py" "$WORK/domU.xen" "$WORK/twin.xen"
run align "$WORK/twin.xen" "$SAMPLES/domU-ftrace.dat"
status 1
says "$OUT" "refused: two machines fit equally well; select one with --machine"
run align --machine d1001 "$WORK/twin.xen" "$SAMPLES/domU-ftrace.dat"
status 0
says "$OUT" "interval    26214554447 .. 26214610492 (56045 cycles wide) at guest time"
says "$OUT" "d1001v1 (10020001): 100.000 % of 5221 events"

# a guest whose TSC is scaled: libtracecmd's product overflows. Of the option TimeShift of trace-cmd:
# trace id, flags, number of CPUs; of each CPU its samples, with times, offsets and scalings; then
# the fractions. What they say is not what the events say, so nothing else may follow them.
rm "$WORK/kvm-migration-g1.dat.meta.json"
python3 - "$SAMPLES/kvm-migration-g1.dat" "$WORK/kvm-migration-g1.dat" << 'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.find(struct.pack("<QII", 0x7ca0e1c7f3872185, 0, 2)) + 16
counts = []
for cpu in range(2):
    n, = struct.unpack_from("<I", data, at)
    at += 4 + 16 * n
    struct.pack_into("<%dQ" % n, data, at, *[(1 << 30) + 53687] * n)
    at += 8 * n
    counts.append(n)
for n in counts:
    struct.pack_into("<%dQ" % n, data, at, *[30] * n)
    at += 8 * n
open(sys.argv[2], "wb").write(data)
END
run align "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
status 0
says "$ERR" "trace-cmd's own offsets are wrong"
says "$OUT" "they change during the trace; not used"
says "$OUT" "host time = guest time +991330177905 ns"

# trace-cmd's clock is right, but the two vCPUs' threads are exchanged. Of its option about the guest:
# the number of CPUs, then of each the CPU and the thread.
mkdir "$WORK/exchanged"
cp "$SAMPLES/kvm-migration-g1.dat" "$WORK/exchanged"
python3 - "$SAMPLES/kvm-migration.dat" "$WORK/exchanged/kvm-migration.dat" << 'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
old = struct.pack("<IIIII", 2, 0, 2394, 1, 2395)
assert data.count(old) == 1
open(sys.argv[2], "wb").write(data.replace(old, struct.pack("<IIIII", 2, 0, 2395, 1, 2394)))
END
host=$WORK/exchanged/kvm-migration.dat guest=$WORK/exchanged/kvm-migration-g1.dat
fits='it is paired with the wrong vCPUs: its events fit CPU 0 = g1v1, CPU 1 = g1v0 instead'
run report --full "$host" "$guest"
status 0
says "$ERR" "$fits, 100.000 % of them"
check "the clock is not blamed" sh -c "! grep -q 'not aligned' '$ERR'"
says "$OUT" "CPU 0: 71.457 % of 7063 records lie where g1v0 executed its guest; it is not this CPU"
run align --machine g1 --write "$host" "$guest"
status 0
says "$ERR" "$fits: with trace-cmd's own offsets, 100.000 % against 73.108 %"
says "$OUT" "host time = guest time with trace-cmd's offsets +0 ns"
says "$OUT" "CPU 0       g1v1 (2394): 100.000 % of 7063 events"
run report --full "$host" "$guest"
status 0
says "$OUT" "CPU 0: 100.000 % of 7063 records lie where g1v1 executed its guest"
check "nothing is wrong any more" sh -c "! grep -qE 'wrong|not aligned' '$ERR'"

# another machine than the one that is wanted
run align --machine d1 "$SAMPLES/dom0.xen" "$SAMPLES/dom0-ftrace.dat"
status 1
says "$ERR" "--machine d1 is the wrong machine: its events fit d0 (PID 10000) instead, 100.000 % of them"

# not a pair; the search is as long, and the same, as that for d1
if ! sanitized; then
	run align --source causality "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-migration-g1.dat"
	status 1
	says "$OUT" "refused: "
fi
run align "$SAMPLES/dom0.xen" "$SAMPLES/kvm-guest.dat"
status 3
# a source that is asked for, and has no answer, is not replaced by another one
for source in trace-cmd sidecar; do
	run align --source $source --machine d0 "$SAMPLES/dom0.xen" "$SAMPLES/dom0-ftrace.dat"
	status 1
	says "$OUT" "refused: no machine of the host fits the guest"
	check "nothing is said of the machine" test ! -s "$ERR"
done
for files in "none kvm-guest.dat" "kvm-host.dat none"; do
	run align "$SAMPLES/${files% *}" "$SAMPLES/${files#* }"
	status 3
	says "$ERR" "$SAMPLES/none: cannot open: No such file or directory"
done
run align "$SAMPLES/kvm-host.dat"
status 2
run align --source x "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 2
finish
