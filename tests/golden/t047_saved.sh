# SPDX-License-Identifier: LGPL-2.1-or-later
# A domain that is paused is offline until it is resumed; one that is saved is offline from then on, and the one that
# is restored from it, with another number, until that. Compared with when the commands ran, on the same clock.
. "$(dirname "$0")/lib.sh"
trace=$WORK/saved.xen
cp "$SAMPLES/saved.xen" "$SAMPLES/saved.xen.meta.json" "$WORK"

# offline FROM TO: domains whose vCPUs are all offline all the time between two TSCs, and those that are never
offline()
{
	local base=95646076701 khz=2596133

	run report -q --format json --from "$((($1 - base) * 1000000 / khz))ns" \
		--to "$((($2 - base) * 1000000 / khz))ns" "$trace"
	status 0
	python3 - "$OUT" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
begin_ns, end_ns = report["window_ns"]
length = end_ns - begin_ns
for machine in report["machines"]:
    ns = [vcpu["states"]["offline"]["total_ns"] for vcpu in machine["vcpus"]]
    print(machine["machine"], "always" if min(ns) == length else "never" if not max(ns) else "partly")
END
}

# as samples/README.md has them
pause=98780606828 unpause=102344468937 unpaused=103715449717
save=105710392627 saved=114989825362 restore=119723911030 restored=125799970749
end=129500000000

offline "$pause" "$unpause" > "$WORK/paused"
offline "$unpaused" "$save" > "$WORK/between"
offline "$save" "$saved" > "$WORK/saving"
offline "$saved" "$restore" > "$WORK/saved"
offline "$restored" "$end" > "$WORK/restored"
for part in paused between saving saved restored; do
	echo "$part"
	sed 's/^/  /' "$WORK/$part"
done > "$WORK/said"
cat > "$WORK/expected" <<'END'
paused
  d0:Domain-0 never
  d1:web always
  d2:db never
  d3:db always
between
  d0:Domain-0 never
  d1:web never
  d2:db never
  d3:db always
saving
  d0:Domain-0 never
  d1:web never
  d2:db partly
  d3:db always
saved
  d0:Domain-0 never
  d1:web never
  d2:db always
  d3:db always
restored
  d0:Domain-0 never
  d1:web never
  d2:db always
  d3:db never
END
same "$WORK/said" "$WORK/expected"
# the records alone show the same, but for the names
rm "$trace.meta.json"
offline "$saved" "$restore" > "$WORK/nameless"
printf '%s\n' 'd0 never' 'd1 never' 'd2 always' 'd3 always' > "$WORK/expected"
same "$WORK/nameless" "$WORK/expected"
finish
