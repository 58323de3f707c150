# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt split and merge of trace.dat: a part has the numbers of the whole trace in its window, and
# the records that trace-cmd lists of it; guests get the same window and stay a pair with their host.
. "$(dirname "$0")/lib.sh"

traces=("$SAMPLES"/kvm-{hypercall,nested,restored,cgroups}.dat)
if sanitized; then
	traces=("$SAMPLES/kvm-hypercall.dat")
fi
if command -v trace-cmd > /dev/null; then
	check "parts of samples" env PYTHONPATH="$GOLDEN" python3 "$GOLDEN/split_dat.py" "$WORK" \
		"${traces[@]}"
fi

# Converted traces are of version 6, with one clock and no compression.
some_pair="$SAMPLES/kvm-nosync"
cd "$WORK" || exit 1
run split -q --from 10% --to 60% -o perf.dat "$SAMPLES/kvm-perf.data"
status 0
run report -q -f json --full --from 10% --to 60% "$SAMPLES/kvm-perf.data"
cp "$OUT" whole
run report -q -f json --full perf.dat
check "a part of a perf.data" python3 - whole "$OUT" << 'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for report in a, b:
    del report["file"]
    report.pop("warnings", None)
assert a == b
END

# A host and its guest: the same names in a folder, by which they belong together; the sidecars as well.
cp "$some_pair.dat" host.dat
cp "$some_pair-g1.dat" guest.dat
run align -q --write host.dat guest.dat
status 0
run split --from 20% --to 80% -o parts host.dat guest.dat
status 0
says "$ERR" "parts/host.dat: "
says "$ERR" "parts/guest.dat: "
run report -q -f json --from 20% --to 80% host.dat guest.dat
cp "$OUT" whole
run report -q -f json parts/host.dat parts/guest.dat
check "the pair" python3 - whole "$OUT" guest.dat.meta.json parts/guest.dat.meta.json << 'END'
import json, sys
a, b, whole, part = (json.load(open(f)) for f in sys.argv[1:])
assert a["machines"] == b["machines"] and a["pcpus"] == b["pcpus"] and a["steal"].keys() == b["steal"].keys()
delete = part.pop("part")
assert whole == part and delete["from_ns"] < delete["to_ns"]
# the guest's records are aligned as those of the whole trace: all of them have a row
def known(report):
    return [(g.get("machine"), sorted(t["pid"] for t in g["tasks"])) for g in report["guests"]]
assert known(a) == known(b), (known(a), known(b))
END
run split -q --to 50% -o first host.dat guest.dat
run split -q --from 50% -o second host.dat guest.dat
mkdir all
for name in host guest; do
	run merge -q -o all/$name.dat second/$name.dat first/$name.dat
	status 0
done
run report -q -f json host.dat guest.dat
cp "$OUT" whole
run report -q -f json all/host.dat all/guest.dat
check "the pair, merged" python3 - whole "$OUT" << 'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for report in a, b:
    del report["file"]
    report.pop("warnings", None)
a, b = (json.loads(json.dumps(r).replace("all/", "")) for r in (a, b))
assert a == b
END

# "view" gets such parts for a window, and removes them.
some_plugins
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
cat > kernelshark << 'END'
#!/bin/sh
for file; do
	case "$file" in
	*.dat) "$KSV_BIN" report -q -f json "$file" > "$SEEN" ;;
	esac
done
END
chmod +x kernelshark
begin=$("$KSV_BIN" report -q -f json host.dat | sed -n 's/.*window_ns": \[\([0-9]*\), \([0-9]*\).*/\1/p')
export QT_QPA_PLATFORM=offscreen
SEEN=$WORK/seen KERNELSHARK=$WORK/kernelshark run view --from $((begin + 1000000))ns \
	--to $((begin + 300000000))ns host.dat
status 0
check "the window is all that is opened" grep -q \
	"\"window_ns\": \[$((begin + 1000000)), $((begin + 300000000))\]" seen
check "the parts are removed" test -z "$(ls "$TMPDIR")"
unset TMPDIR

# What is refused, and what it says.
cp first/host.dat one.dat
cp second/host.dat.meta.json one.dat.meta.json
refuse 2 split host.dat
refuse 2 split --from 0 --to 1ns host.dat
refuse 2 split --from 10% host.dat guest.dat
refuse 2 split --from 10% --pcpu 0 host.dat
refuse 2 split --from 0 --to 1ns -o x.dat host.dat guest.dat
refuse 2 split --from 10% -o host.dat host.dat
refuse 2 split --from 10% -o . host.dat guest.dat
refuse 3 merge -o x.dat host.dat first/host.dat
refuse 3 merge -o x.dat one.dat first/host.dat
refuse 3 merge -o x.dat first/host.dat first/guest.dat
refuse 3 merge -o x.dat first/host.dat parts/host.dat
refuse 3 merge -o x.dat first/host.dat "$SAMPLES/pinned.xen"
golden t155_split_dat refused
check "nothing is left" test -z "$(ls -A | grep -E '^x\.dat|^\.kshark')"

# A sidecar that is not that of the file, or was spoilt: said, and left aside.
run report --full one.dat
status 0
says "$ERR" 'the sidecar'"'"'s "part" belongs to another file'
cp second/host.dat one.dat
sed 's/ guest / dreaming /' second/host.dat.meta.json > one.dat.meta.json
run report --full one.dat
status 0
says "$ERR" '"changes" of "part" cannot be understood'

finish
