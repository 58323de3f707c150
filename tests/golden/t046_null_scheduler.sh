# SPDX-License-Identifier: LGPL-2.1-or-later
# Under the null scheduler a busy vCPU never leaves its pCPU, and no record names it. With what Xen said while
# this was recorded, each record has an owner, and each vCPU its time; without it, no vCPU is invented.
. "$(dirname "$0")/lib.sh"
trace=$WORK/trace.xen
cp "$SAMPLES/sched-null.xen" "$trace"

# owners FILE: how many records are whose
owners()
{
	run dump -q "$trace"
	status 0
	sed -E 's/^ *(d\?v\? on p[0-9]+|[^ ]+).*/\1/' "$OUT" | sort | uniq -c | sort -k 2 | sed 's/^ *//' > "$1"
}

cp "$SAMPLES/sched-null.xen.meta.json" "$trace.meta.json"
owners "$WORK/named"
cat > "$WORK/expected" <<'END'
446 d0v0:Domain-0
440 d0v1:Domain-0
1856 d1v0:burny
1773 d1v1:burny
190 idle
END
same "$WORK/named" "$WORK/expected"
# the pCPU of each is that of the sidecar, and the whole time known
run report -q --format json "$trace"
status 0
checks=$((checks + 1))
python3 - "$OUT" "$trace.meta.json" <<'END' || fail "times are not those of the sidecar's vCPUs"
import json, sys
report, meta = (json.load(open(path)) for path in sys.argv[1:])
where = {(d["id"], v["id"]): v["begin"]["pcpu"] for d in meta["domains"] for v in d["vcpus"]}
found = {}
for machine in report["machines"]:
    for vcpu in machine["vcpus"]:
        found[machine["id"], vcpu["id"]] = set(map(int, vcpu["pcpus_ns"]))
sys.exit(found != {key: {pcpu} for key, pcpu in where.items()})
END

rm "$trace.meta.json"
owners "$WORK/unnamed"
cat > "$WORK/expected" <<'END'
1773 d1v1
446 d?v? on p0
440 d?v? on p1
1856 d?v? on p2
190 idle
END
same "$WORK/unnamed" "$WORK/expected"
finish
