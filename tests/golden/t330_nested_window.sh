# SPDX-License-Identifier: LGPL-2.1-or-later
# --from and --to are the host's times in the reports of its guests that are hosts themselves, too, whose clocks
# may be others.
. "$(dirname "$0")/lib.sh"

host=$SAMPLES/hypertrace-nested.dat guest=$SAMPLES/hypertrace-nested-g1.dat

run report --quiet --format json --from 187700000000ns --to 188400000000ns "$host" "$guest"
status 0
cp "$OUT" "$WORK/both.json"
# the offset is in the guest's sidecar: its trace alone, asked for its own times
run report --quiet --format json --from 154684925554ns --to 155384925554ns "$guest"
status 0
check "the guest's own times, by its sidecar, and the numbers of them" \
	python3 - "$WORK/both.json" "$OUT" "$guest.meta.json" << 'END'
import json, sys
host, guest = json.load(open(sys.argv[1]))["reports"]
alone, sidecar = (json.load(open(path)) for path in sys.argv[2:])
offset = sidecar["alignment"]["offset"]
print(" ", host["window_ns"], guest["window_ns"])
sys.exit([ns - offset for ns in host["window_ns"]] != guest["window_ns"] or
         guest["machines"] != alone["machines"] or not guest["machines"])
END

# a time that only the host's trace has; it is its report's alone
for order in "$SAMPLES/kvm-nested-linux.dat $SAMPLES/kvm-nested-linux-g1.dat" \
	"$SAMPLES/kvm-nested-linux-g1.dat $SAMPLES/kvm-nested-linux.dat"; do
	# shellcheck disable=SC2086
	run report --format json --from 2096582000000ns $order
	status 0
	says "$ERR" 'kvm-nested-linux-g1.dat: is not reported as a host, because it has no records between --from'
	check "one report" python3 - "$OUT" << 'END'
import json, sys
(report,) = json.load(open(sys.argv[1]))["reports"]
sys.exit(not report["file"].endswith("kvm-nested-linux.dat"))
END
done
finish
