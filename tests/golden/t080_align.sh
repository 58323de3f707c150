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
sys.exit(not (low <= truth <= high and high - low < 41000 and r["explained_percent"] == 100))
END
run report "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
status 0
says "$OUT" "CPU 0: 100.000 % of 7063 records"
sed -i 's/"offset": *[0-9]*/"offset": 991330677905/' "$WORK/kvm-migration-g1.dat.meta.json"
run report "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
says "$ERR" "the guest's clock is not aligned"
echo '[]' > "$WORK/kvm-migration-g1.dat.meta.json"
run report "$WORK/kvm-migration.dat" "$WORK/kvm-migration-g1.dat"
status 3
says "$ERR" "not a JSON object"

# dom0 counts the host's TSC
run align "$SAMPLES/dom0.xen" "$SAMPLES/dom0-ftrace.dat"
status 0
golden t080_dom0 "$OUT"

# Xen's own offset of a PVH domain, from the sidecar: guest = host + 0xfffffff9e57d569a
run align "$SAMPLES/domU.xen.gz" "$SAMPLES/domU-ftrace.dat"
status 0
golden t080_domu "$OUT"
run align --source causality --format json "$SAMPLES/domU.xen.gz" "$SAMPLES/domU-ftrace.dat"
status 0
check "the events alone say the same" python3 - "$OUT" << 'END'
import json, sys
r = json.load(open(sys.argv[1]))
low, high = r["interval"]
sys.exit(not (low <= 2**64 - 0xfffffff9e57d569a <= high and r["explained_percent"] == 100))
END
gzip -dc "$SAMPLES/domU.xen.gz" > "$WORK/domU.xen"
echo '{"domains":[{"id":1,"tsc_offset":"0xfffffff9e57e569a"}]}' > "$WORK/domU.xen.meta.json"
run align --source sidecar "$WORK/domU.xen" "$SAMPLES/domU-ftrace.dat"
status 1
says "$OUT" "host time = guest time +26214508902 cycles"

# not a pair
run align --source causality "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-migration-g1.dat"
status 1
says "$OUT" "refused: "
run align "$SAMPLES/dom0.xen" "$SAMPLES/kvm-guest.dat"
status 3
run align "$SAMPLES/kvm-host.dat"
status 2
run align --source x "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 2
finish
