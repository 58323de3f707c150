# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest's TSC that is set while it is recorded: each event is aligned by what counted then.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

# world CHANGE... [OPTION...]: host.dat and guest.dat, and the offsets that are right
world()
{
	rm -f -- *.dat *.json
	python3 "$GOLDEN/tsc_steps.py" . "$@" > offsets
	run align --format json --write host.dat guest.dat
	cp "$OUT" result.json
}

# aligned SOURCE OFFSET...: all events are explained, each CPU has these offsets, one after the other
aligned()
{
	status 0
	check "$*" python3 - "$@" << 'END'
import json, sys
result = json.load(open("result.json"))
offsets = [[result["offset"]], [result["offset"]]]
for step in result.get("steps", []):
    of = offsets[step["guest_cpu"]]
    if "from" not in step:
        of.pop()
    of.append(step["offset"])
wanted = [int(arg) for arg in sys.argv[2:]]
print(result["source"], result["explained_percent"], offsets, wanted, file=sys.stderr)
sys.exit(result["source"] != sys.argv[1] or result["explained_percent"] != 100 or
         offsets != [wanted, wanted])
END
}

# as the sidecar has it afterwards, each event is in guest time, which report needs for deliveries
used()
{
	run report --full --cpu-hz 1G host.dat guest.dat
	status 0
	check "report takes it" test "$(grep -c guest.dat "$ERR")" = 0
	run align --format json host.dat guest.dat
	same result.json "$OUT"
}

# Recorded by the host: forward, back, by less than a guest runs, there and back, more than once.
for changes in 5000000000 -5000000 -500 300 "70000000 -20000000 3000" "5000000 -5000000" \
	"-20000000 -20000000"; do
	# shellcheck disable=SC2086
	world $changes
	# shellcheck disable=SC2046
	aligned kvm_write_tsc_offset $(cat offsets)
	check "nothing to say" test ! -s "$ERR"
	used
	# shellcheck disable=SC2086
	world $changes no-sidecar
	# shellcheck disable=SC2046
	aligned kvm_write_tsc_offset $(cat offsets)
done

# the guest's TSC has another speed, which only the sidecar says
for changes in 5000000000 -5000000; do
	world $changes scaled
	# shellcheck disable=SC2046
	aligned kvm_write_tsc_offset $(cat offsets)
	check "nothing to say" test ! -s "$ERR"
	used
done

# nothing is known of the second vCPU: a note says that it is taken for one like the first
world -5000000 alone
says "$ERR" "web: the TSC offset of vCPU 1 is not recorded, and others change or differ: it is assumed to begin as that of vCPU 0"

# when it was, in the guest's time after that, and whether its clock goes back
world -5000000
run align host.dat guest.dat
says "$OUT" "host time = guest time +987654321000 cycles"
says "$OUT" "  CPU 0       +987659321000 cycles from guest time 111882319532 on, where its clock goes back"
says "$OUT" "  CPU 1       +987659321000 cycles from guest time 111882321704 on, where its clock goes back"
world 5000000000
run align host.dat guest.dat
says "$OUT" "  CPU 1       +982654321000 cycles from guest time 116887321704 on"

# before the guest's trace begins: nothing has changed for that
for change in 5000000000 -5000000; do
	world $change late
	aligned kvm_write_tsc_offset "$(tail -n 1 offsets)"
	check "nothing to say" test ! -s "$ERR"
done

# Known from the sidecar alone, which does not say when: the events do, and it is said.
for change in 5000000000 5000000 -5000000; do
	world $change unrecorded
	# shellcheck disable=SC2046
	aligned sidecar $(cat offsets)
	says "$ERR" "guest.dat: g1:web: the TSC offset of vCPU 0 changed by"
	says "$ERR" "according to the sidecar of the host's trace, which does not record when: the events show it"
	used
	world $change unrecorded late
	aligned sidecar "$(tail -n 1 offsets)"
done

# Two changes, of which the sidecar has the sum: that is not used, and it is said.
world 70000000 -20000000 unrecorded
check "by the events" grep -q '"source": "causality"' result.json
says "$ERR" "the TSC offset of vCPU 0 changed by +50000000 cycles during the recording"
says "$ERR" "this is not used, because the events do not fit it"

# A ring buffer of Linux goes on counting up to the end of its page: here that is too much to be right.
world -5000000 ring
status 1
says "$ERR" "this is not used, because the events do not fit it"

# A sidecar that is damaged: said, and not used.
world 5000000000
for bad in '"cpu_": 0' '"guest_cpu": -1' '"guest_cpu": 5000'; do
	sed "s/\"guest_cpu\": 0, \"from\"/$bad, \"from\"/; s/^ *\"guest_cpu\": 0,\$/$bad,/" \
		guest.dat.meta.json > bad.json
	cp guest.dat.meta.json kept.json
	cp bad.json guest.dat.meta.json
	run report --full --cpu-hz 1G host.dat guest.dat
	cp kept.json guest.dat.meta.json
	status 3
	says "$ERR" "has impossible steps"
done

finish
