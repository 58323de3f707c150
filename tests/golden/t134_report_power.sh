# SPDX-License-Identifier: LGPL-2.1-or-later
# report --power: how pCPUs sleep and how fast they are, as it was made; who is woken waits for the end of a sleep.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

power_files() { python3 "$KSV_SOURCE_DIR/tests/golden/power_files.py" "$@"; }
power_files kvm make kvm.dat
power_files xen make sleeps.xen

# as_made NAME KIND OPTION...: all three formats of a window are what was made
as_made()
{
	local file=$1 kind=$2 format

	shift 2
	for format in json csv text; do
		run report --quiet --power --format "$format" "$@" "$file"
		status 0
		cp "$OUT" "$WORK/power.$format"
	done
	check "$file $*: as made" power_files "$kind" check power.json power.csv power.text
}
as_made kvm.dat kvm --absolute
for window in "511627776 515627776" "513700000 520700000" "517000000 517500000"; do
	# shellcheck disable=SC2086
	set -- $window
	as_made kvm.dat kvm --absolute --from "1099.$1" --to "1099.$2"
done
as_made sleeps.xen xen --absolute --cpu-hz 1G
for window in "4.295 4.299" "4.29601 4.30702" "4.2975 4.2978"; do
	# shellcheck disable=SC2086
	set -- $window
	as_made sleeps.xen xen --absolute --cpu-hz 1G --from "$1" --to "$2"
done

# in SQL: as much time, and as often, in each state and at each frequency of each pCPU
run report --quiet --power --format json kvm.dat
cp "$OUT" power.json
run query -q -f csv kvm.dat "SELECT pcpu, kind, value, sum(to_ns - from_ns) AS ns, sum(begins) AS n
	FROM power GROUP BY 1, 2, 3"
status 0
check "the table power" python3 - power.json "$OUT" << 'END'
import csv
import json
import sys

report, want = json.load(open(sys.argv[1])), {}
for pcpu in report["pcpus"]:
    want[pcpu["pcpu"], "idle", "-1"] = pcpu["awake_ns"], None
    want[pcpu["pcpu"], "idle", ""] = pcpu["unknown_ns"], None
    for state in pcpu["idle_states"]:
        want[pcpu["pcpu"], "idle", str(state["state"])] = state["total_ns"], state["count"]
for row in report["pcpu_frequencies"]:
    known = row["khz"] is not None
    want[row["pcpu"], "frequency", str(row["khz"]) if known else ""] = row["total_ns"], row["changes"] if known else None
got = {(int(row["pcpu"]), row["kind"], row["value"]): (int(row["ns"]), int(row["n"])) for row in csv.DictReader(open(sys.argv[2]))}
assert len(got) > 10 and got.keys() == want.keys(), (got, want)
assert all(got[key][0] == ns and n in (None, got[key][1]) for key, (ns, n) in want.items()), (got, want)
END

run report --quiet --power kvm.dat
golden t134_power_kvm "$OUT"
run report --quiet --power --cpu-hz 1G sleeps.xen
golden t134_power_xen "$OUT"

# why shows the sleep below the wake-up, and agrees with the report
run why --quiet --cpu-hz 1G --vcpu d1v0 --worst 1 --kind wake sleeps.xen
status 0
golden t134_why_xen "$OUT"
run why --quiet --vcpu g1v0 --worst 1 --kind wake --format json kvm.dat
status 0
check "the sleep is shown" python3 - "$OUT" << 'END'
import json
import sys

def segments(all):
    for one in all:
        yield one
        yield from segments(one["segments"])

answer = json.load(open(sys.argv[1]))
sleeps = [one for one in segments(answer["answers"][0]["segments"]) if one["kind"] == "sleep"]
assert sleeps and all(one["cause"] in ("POLL", "C1", "state 2", "C6") for one in sleeps), sleeps
assert all(one["sleeps_ns"] >= one["to_ns"] - one["from_ns"] > 0 for one in sleeps)
END

# traces that do not show it, each with the events to record
run report --quiet --power "$SAMPLES/kvm-host.dat"
status 0
check "which events are missing" grep -q 'no idle states: record power:cpu_idle$' "$OUT"
run report --quiet --power "$SAMPLES/hvm-exits.xen"
status 0
check "which class is missing" grep -q 'no idle states: record class hw.pm' "$OUT"
run report --power --handlers kvm.dat
status 2
finish
