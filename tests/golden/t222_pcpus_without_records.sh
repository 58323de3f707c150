# SPDX-License-Identifier: LGPL-2.1-or-later
# Of a pCPU without a record, all of the window is unknown, also above the highest one with records, as far as the
# file or the sidecar says how many there are. The row of each pCPU adds up to the window.
. "$(dirname "$0")/lib.sh"

# rows NUMBER: NUMBER pCPUs, each of which adds up; the unknown ones are wholly unknown
rows()
{
	checks=$((checks + 1))
	python3 - "$OUT" "$@" <<'END' || fail "pCPUs of $(basename "$1")"
import json, sys
report = json.load(open(sys.argv[1]))
begin, end = report["window_ns"]
wrong = len(report["pcpus"]) != int(sys.argv[3])
for pcpu in report["pcpus"]:
    if pcpu["busy_ns"] + pcpu["idle_ns"] + pcpu["unknown_ns"] != end - begin:
        wrong = True
    if str(pcpu["pcpu"]) in sys.argv[4:] and pcpu["unknown_ns"] != end - begin:
        wrong = True
if wrong:
    print(end - begin, json.dumps(report["pcpus"])[:2000])
sys.exit(wrong)
END
}

trace=$SAMPLES/cases/idle-last-cpu.dat
run report -q --format json "$trace"
status 0
rows "$trace" 3 1 2
run report --full -q "$trace"
check "text" test "$(grep -cE '^  p[12] +((0 ns|-) +){5}[0-9.]+ ms' "$OUT")" = 2

# another side: Xen, of which the sidecar names two pCPUs more than have records
trace=$WORK/pinned.xen
cp "$SAMPLES/pinned.xen" "$trace"
run report -q --cpu-hz 2300M --format json "$trace"
rows "$trace" 4
printf '{ "pcpus": [ { "id": 0, "core": 0 }, { "id": 5, "core": 2 } ] }\n' > "$trace.meta.json"
run report -q --cpu-hz 2300M --format json "$trace"
status 0
rows "$trace" 6 4 5
finish
