#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A vCPU that never leaves its pCPU, so that no record of the scheduler names it: it has a row of its
# own, and the name that a sidecar gives it. "pinned" without the scheduler's records of pCPU 2 is
# such a trace; the vCPU there is d1v0.
. "$(dirname "$0")/lib.sh"

trace=$WORK/somebody.xen
python3 "$GOLDEN/xen_less.py" "$SAMPLES/pinned.xen" "$trace" 'pcpu != 2 or event >> 16 != 2' ||
	fail "cannot make a trace"

run report --full "$trace"
status 0
says "$ERR" "d?v? on p2: no record names the vCPU that was on this pCPU all the time"
golden t045_somebody "$OUT"

# All time of all vCPUs is that of the pCPUs, and all records belong to a vCPU.
run report -q --format csv "$trace"
status 0
check "conservation" python3 - "$OUT" <<'EOF'
import csv
import sys

ns = {"state": 0, "pcpu": 0}
for row in csv.DictReader(open(sys.argv[1])):
    # without the class hvm, the time in the hypervisor is part of the guest's
    if row["section"] in ns and row["name"] == "guest":
        ns[row["section"]] += int(row["total_ns"])
sys.exit(not (ns["state"] == ns["pcpu"] > 10**10))
EOF
run dump -q --format csv --pcpu 2 "$trace"
status 0
mv "$OUT" "$WORK/there"
run dump -q --format csv --vcpu 'd?v?' "$trace"
status 0
same "$OUT" "$WORK/there"
run dump -q --pcpu 2 "$trace"
check "rows of pCPU 2" test "$(wc -l < "$OUT")" -gt 1000
check "each row is d?v? on p2" test "$(grep -vc '^ *d?v? on p2 ' "$OUT")" = 0

# pinned NAME HARD_AFFINITY...: what the sidecar says of d1v0, d1v1 ...; NAME is what comes of it
pinned()
{
	local name=$1 list= id=0 affinity

	shift
	for affinity; do
		list="$list${list:+, }{ \"id\": $id, \"hard_affinity\": \"$affinity\" }"
		id=$((id + 1))
	done
	echo "{ \"domains\": [ { \"id\": 1, \"vcpus\": [ $list ] } ] }" > "$trace.meta.json"
	run dump -q --pcpu 2 "$trace"
	check "$*: $name" test "$(grep -vc "^ *$name " "$OUT")" = 0
}

pinned d1v0 2 3
pinned 'd?v? on p2' 2 2
pinned 'd?v? on p2' all 3
pinned 'd?v? on p2' 1-2 0,3
# d1v1 was on pCPU 3, whatever the sidecar says
pinned 'd?v? on p2' 3 2

# ran NAME VCPU...: what Xen has said of d1v0, d1v1 ...: AFFINITY/BEGIN/END, a pCPU for a vCPU that was
# running there, -PCPU for one that was not
ran()
{
	local name=$1

	shift
	python3 - "$@" > "$trace.meta.json" <<-'END'
		import json, sys

		def place(text):
		    return {"pcpu": int(text.lstrip("-")), "state": "blocked" if "-" in text else "running"}

		vcpus = []
		for i, text in enumerate(sys.argv[1:]):
		    affinity, begin, end = text.split("/")
		    vcpus.append({"id": i, "hard_affinity": affinity, "begin": place(begin)})
		    if end:
		        vcpus[-1]["end"] = place(end)
		json.dump({"domains": [{"id": 1, "vcpus": vcpus}]}, sys.stdout)
	END
	run dump -q --pcpu 2 "$trace"
	check "$*: $name" test "$(grep -vc "^ *$name " "$OUT")" = 0
}

ran d1v0 all/2/2 all/3/3
# also where another one is pinned that did not run, not even in another order
ran d1v0 all/2/2 2/3/-2
ran d1v2 2/-2/-2 2/-2/-2 0-3/2/2
# it was there at one of both moments only, or did not run
ran 'd?v? on p2' all/2/3 all/3/2
ran 'd?v? on p2' all/2/ all/3/
ran 'd?v? on p2' all/-2/-2 all/-2/-2
# after a trace has ended, a vCPU may sleep where it was; before it begins, too
ran d1v0 all/2/-2 all/-2/-2
ran d1v0 all/-2/2 all/-2/-2
ran 'd?v? on p2' all/2/-2 all/-2/2
# it is pinned there, whatever it did
ran d1v0 2/-2/ all/3/3
# not both: such a sidecar is of another recording
ran 'd?v? on p2' all/2/2 all/2/2
finish
