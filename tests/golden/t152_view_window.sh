# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt view --from --to: what stands for a window of a xentrace file is a file of its own, which
# every command takes. Not all of the trace is read for it, and it shows what the whole trace
# shows, or unknown where a look back does not reach.
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$WORK/cache
some_plugins
cd "$WORK" || exit 1

# pointer_of OPTION... FILE: what KernelShark is to open
pointer_of()
{
	run view -n "$@"
	status 0
	POINTER=$(sed 's/.* //' "$OUT")
	check "what stands for a window is there" test -s "$POINTER"
}

# same_window POINTER TRACE OPTION...: a window shows what the whole trace shows, unless that is
# unknown: so is the end of an interval that ends long after the window
cat > same_window.py << 'END'
import json, sys
window, whole = (json.load(open(f)) for f in sys.argv[1:])
assert window["clock"] == whole["clock"] and window["window_ns"] == whole["window_ns"]
assert window["volume"] == whole["volume"]
assert {c["what"] for c in window["contradictions"]} <= {c["what"] for c in whole["contradictions"]}
unknown_ns = 0
for p, q in zip(window["pcpus"], whole["pcpus"]):
    missing = p["unknown_ns"] - q["unknown_ns"]
    assert missing >= 0
    # a window without interrupts does not show that they were recorded
    assert p["interrupts"] == q["interrupts"] or p["interrupts"] is None and not q["interrupts"], (p, q)
    for key in ("busy_ns", "guest_ns", "hypervisor_ns", "idle_ns"):
        # the records of the window may not show it
        if p[key] is None:
            assert window["not_recorded"]
            continue
        assert q[key] is not None, (p, q)
        assert q[key] - missing <= p[key] <= q[key], (p, q)
names = [v["vcpu"] for m in window["machines"] for v in m["vcpus"]]
vcpus = {v["vcpu"]: v for m in whole["machines"] for v in m["vcpus"]}
assert names and set(names) <= set(vcpus)
for v in (v for m in window["machines"] for v in m["vcpus"]):
    w = vcpus[v["vcpu"]]
    unknown = v["states"].get("unknown", {"total_ns": 0})["total_ns"]
    unknown_ns += unknown
    for state, d in w["states"].items():
        got = v["states"].get(state, {"total_ns": 0})["total_ns"]
        if got is None:
            assert window["not_recorded"]
            continue
        assert state == "unknown" or d["total_ns"] - unknown <= got <= d["total_ns"], (v["vcpu"], state)
    if not unknown:
        assert v["migrations"] in (w["migrations"], None)
        assert v["exits"] is None or \
            sum(e["count"] for e in v["exits"]) == sum(e["count"] for e in w["exits"])
    assert v["hypercalls"] == w["hypercalls"] and v["traps"] == w["traps"]
print("%d ns of %d vCPUs are unknown" % (unknown_ns, len(names)))
sys.exit(unknown_ns > len(names) * (window["window_ns"][1] - window["window_ns"][0]) / 2)
END
# plain NAME FILE: without the name, and how often the whole file lost records
plain()
{
	sed -e "s|$1|X|" -e 's/,$//' "$2" | sed -e '/{"kind": "loss"/d' |
		sed -e '/^ "warnings": \[$/{N;/\n \]$/d}'
}
same_window()
{
	local pointer=$1 trace=$2
	shift 2

	run report -q -f json "$pointer"
	status 0
	cp "$OUT" window.json
	run report -q -f json "$@" "$trace"
	status 0
	check "the window of $trace $*" python3 same_window.py window.json "$OUT"
}

for name in pinned hvm-exits lost-records dom0 credit2-4.20 migration; do
	cp "$SAMPLES/$name.xen" t.xen
	for window in "0 0.2" "0.3 0.5" "1 99"; do
		read -r from to <<< "$window"
		"$KSV_BIN" report --full -q --from "$from" t.xen > /dev/null 2>&1 || continue
		pointer_of --from "$from" --to "$to" t.xen
		same_window "$POINTER" t.xen --from "$from" --to "$to"
	done
	run dump -q -f csv "$POINTER"
	cp "$OUT" a
	run dump -q -f csv --from "$from" --to "$to" t.xen
	same a "$OUT"
	run split -q -o part.xen "$POINTER"
	status 0
	run report -q -f json part.xen
	plain part.xen "$OUT" > a
	run report -q -f json "$POINTER"
	plain "$POINTER" "$OUT" > b
	same a b
done

# a large one: no more of it is read than its ends, the window, and some MB around
big=$KSV_BUILD_DIR/bin/xentrace_repeat
if [ -x "$big" ] && ! sanitized; then
	"$big" "$SAMPLES/credit2-basic.xen" 60 big.xen > /dev/null
	for window in "0 0.5" "100 101.5" "200.25 200.26" "237 99999"; do
		read -r from to <<< "$window"
		pointer_of --from "$from" --to "$to" big.xen
		same_window "$POINTER" big.xen --from "$from" --to "$to"
	done
	echo '{ "cpu_khz": 2300000 }' > big.xen.meta.json
	pointer_of --from 100 --to 101 big.xen
	if command -v strace > /dev/null; then
		strace -f -e trace=pread64,read -o calls "$KSV_BIN" report --full -q "$POINTER" > /dev/null
		check "not all of it is read" test "$(sed -n 's/.*= \([0-9]*\)$/\1/p' calls |
			awk '{ n += $1 } END { print n }')" -lt "$(($(stat -c %s big.xen) / 3))"
	fi
fi

# times since TSC 0, TSCs, another frequency; a sidecar and compressed data are found by the trace
cp "$SAMPLES/hvm-exits.xen" t.xen
pointer_of --from tsc:88000000000 --to tsc:89000000000 t.xen
run report -q -f json "$POINTER"
plain "$POINTER" "$OUT" > a
run report -q -f json --from tsc:88000000000 --to tsc:89000000000 t.xen
plain t.xen "$OUT" > b
same a b
cp "$OUT" zero
run report -q -f json --absolute "$POINTER"
check "absolute times" python3 - "$OUT" zero << 'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a["volume"]["records"] == b["volume"]["records"]
assert a["window_ns"][0] > 30 * 10 ** 9 > b["window_ns"][0]
END
gzip -c t.xen > g.xen.gz
echo '{ "cpu_khz": 2400000, "domains": [ { "id": 1, "name": "web" } ] }' > g.xen.meta.json
pointer_of --from 1 --to 2 g.xen.gz
run report -q -f json "$POINTER"
plain "$POINTER" "$OUT" > a
run report -q -f json --from 1 --to 2 g.xen.gz
plain g.xen.gz "$OUT" > b
same a b
says a d1:web

# the same window has the same file, another one another
pointer_of --from 1 --to 2 t.xen
first=$POINTER
pointer_of --from 1 --to 2 t.xen
check "the same" test "$first" = "$POINTER"
pointer_of --from 1 --to 2.5 "$first"
check "another" test "$first" != "$POINTER"
# odd names
odd=$'a b\n"\e[31m%s.xen'
cp t.xen "$odd"
run view -n --from 1 --to 2 -- "$odd"
cp t.xen "$odd"
run view -n --from 1 --to 2 "$odd"
status 0
pointer=$(find cache -name '*.window' -newer t.xen -exec grep -l 'x1b\|u001b' {} +)
run report --full -q "$pointer"
status 0
cp t.xen $'\xff.xen'
run view -n --from 1 --to 2 $'\xff.xen'
status 3
says "$ERR" 'a name in UTF-8'

# what is refused
cp "$SAMPLES/kvm-nested.dat" k.dat
refuse 2 view -n --from 1 --to 2 k.dat
refuse 3 view -n --from 1 t.xen k.dat
refuse 2 view -n --from 100 t.xen
refuse 2 view -n --from 2 --to 1 t.xen
refuse 2 view -n --from 1
refuse 2 view -n --from 1 -s session.json
mkfifo pipe
refuse 3 view -n --from 1 pipe
# what stands for a window, and its trace, is spoilt
printf '{ "kshark_virt_window": 2, "trace": "t.xen", "from_ns": 1, "to_ns": 2 }' > v2.window
printf '{ "kshark_virt_window": 1, "from_ns": 1, "to_ns": 2 }' > no-trace.window
printf '{ "kshark_virt_window": 1, "trace": "t.xen", "from_ns": 2, "to_ns": 2 }' > empty.window
printf '{ "kshark_virt_window": 1, "trace": "gone.xen", "from_ns": 1, "to_ns": 2 }' > gone.window
printf '{ "kshark_virt_window": 1, "trace": "t.xen", "from_ns": 1, ' > cut.window
printf '{ "kshark_virt_window": 1, "trace": "t.xen", "from_ns": 999999999999, "to_ns": 1999999999999 }' \
	> late.window
for name in v2 no-trace empty gone cut late; do
	refuse 3 report "$name.window"
done
cp "$first" own.window
refuse 2 report -o own.window own.window
golden t152_view_window refused

finish
