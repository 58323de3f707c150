# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt split: a part of a xentrace file shows what the whole trace shows of its window, to the
# ns and byte for byte; other programs read it; nothing is there that is not complete.
. "$(dirname "$0")/lib.sh"

n=1
traces=("$SAMPLES"/*.xen "$SAMPLES"/domU.xen.gz)
if sanitized; then
	traces=("$SAMPLES/sched-null.xen" "$SAMPLES/dom0.xen")
fi
check "parts of all samples" python3 "$GOLDEN/split_windows.py" "$WORK" 150 "$n" "${traces[@]}"

# Damaged: those of unit.damaged, and real traces that were cut, overwritten, and have losses.
mkdir "$WORK/damaged"
python3 "$KSV_SOURCE_DIR/tests/damaged/make" "$WORK/damaged" > /dev/null
for trace in "$WORK"/damaged/*; do
	"$KSV_BIN" report --full -q "$trace" > /dev/null 2>&1 || rm "$trace"
done
python3 - "$SAMPLES" "$WORK/damaged" << 'END'
import random, sys
samples, folder = sys.argv[1:]
rng = random.Random(150)
for name in ("hvm-exits", "lost-records", "sched-credit"):
    data = open("%s/%s.xen" % (samples, name), "rb").read()
    open("%s/cut-%s" % (folder, name), "wb").write(data[:len(data) * 5 // 8])
    damaged = bytearray(data)
    for _ in range(6):
        at, n = rng.randrange(len(data) - 5000), rng.randrange(8, 3000)
        damaged[at:at + n] = rng.randbytes(n)
    open("%s/garbage-%s" % (folder, name), "wb").write(damaged)
    for _ in range(200):
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    open("%s/flipped-%s" % (folder, name), "wb").write(damaged)
END
sanitized && rm "$WORK"/damaged/[a-r]* "$WORK"/damaged/*-*-*
check "parts of damaged traces" python3 "$GOLDEN/split_windows.py" "$WORK" 151 0 "$WORK"/damaged/*

# Contradictions are at their times: in windows of a part, and in what is merged of two parts. 32768 pCPUs are those of
# pcpu-32767, too; here, each of 17 reports of them would take a second.
rm "$WORK/damaged/windows-32768"
cat > "$WORK/contradictions.py" << 'END'
import json, os, sys
import split_lib
from split_lib import window
folder = sys.argv[1]
judge, found = split_lib.Judge(), 0


def counted(*words):
    return json.loads(judge.must("report", "-q", "--full", "-f", "json", *words))["contradictions"]


for trace in sys.argv[2:]:
    report = json.loads(judge.must("report", "-q", "--full", "-f", "json", trace))
    begin, end = report["window_ns"]
    if not report["contradictions"] or end - begin < 8:
        continue
    step = (end - begin) // 8
    first, second, both = (os.path.join(folder, name + ".xen") for name in ("first", "second", "both"))
    cut = begin + 4 * step
    if split_lib.run("split", "-q", *window(begin, cut), "-o", first, trace).returncode or \
            split_lib.run("split", "-q", *window(cut, end), "-o", second, trace).returncode:
        continue
    judge.must("merge", "-q", "-o", both, first, second)
    for path, inner in [(first, window(begin + i * step, begin + (i + 1) * step)) for i in range(4)] + [
            (second, window(begin + i * step, begin + (i + 1) * step)) for i in range(4, 7)] + [(both, [])]:
        a, b = (counted(*inner, p) for p in (trace, path))
        judge.compared += 1
        found += len(a)
        if a != b:
            judge.differ += 1
            print(trace, path, inner, a, b)
print("%d kinds in windows" % found)
judge.finish(20 if found > 20 else 1 << 30)
END
check "contradictions in parts" \
	env PYTHONPATH="$GOLDEN" python3 "$WORK/contradictions.py" "$WORK" "$WORK"/damaged/*

# Other formats; packed and from a pipe; other clocks; parts of parts.
cat > "$WORK/more.py" << 'END'
import json, os, re, subprocess, sys
import split_lib
from split_lib import window
samples, folder = sys.argv[1:]
judge = split_lib.Judge()
trace, part = samples + "/hvm-exits.xen", folder + "/part.xen"
words = window(1200000001, 1900000000)
judge.must("split", "-q", *words, "-o", part, trace)
judge.same(trace, words, part, formats=("text", "csv"))
# a window of the part is one of the whole
inner = window(1300000000, 1500000007)
judge.must("split", "-q", *inner, "-o", folder + "/inner.xen", part)
judge.same(trace, inner, folder + "/inner.xen")
for page in split_lib.PAGES:
    a = judge.must("report", "-q", "-f", "json", *page, *inner, trace)
    b = judge.must("report", "-q", "-f", "json", *page, *inner, part)
    judge.compared += 1
    judge.differ += a.replace(trace, "FILE") != b.replace(part, "FILE")
# other commands
def plain(text, name):
    """Without what counts records of the file."""
    return re.sub(r'"evidence": \[[^]]*\]', "", text.replace(name, "FILE"))


for command in (["why", "--worst", "5", "-f", "json"], ["top", "-f", "csv", "--interval", "100ms"],
                ["check", "-f", "json", "--affinity", "d1=9"]):
    a = split_lib.run(*command, "-q", *words, trace)
    b = split_lib.run(*command, "-q", part)
    judge.compared += 1
    if plain(a.stdout, trace) != plain(b.stdout, part) or a.returncode != b.returncode:
        judge.differ += 1
        print(command, "differs", a.stderr, b.stderr)
judge.must("export", "-q", "-f", "csv-tables", *words, "-o", folder + "/a", trace)
judge.must("export", "-q", "-f", "csv-tables", "-o", folder + "/b", part)
for name in sorted(os.listdir(folder + "/a")):
    a, b = (open("%s/%s/%s" % (folder, side, name)).read() for side in "ab")
    judge.compared += 1
    # that one has the beginning and end of the trace as well
    if name != "host.csv" and a.replace(trace, "FILE") != b.replace(part, "FILE"):
        judge.differ += 1
        print(name, "differs")
# compressed before and after
packed = folder + "/packed.xen.gz"
subprocess.run("gzip -c %s > %s" % (trace, packed), shell=True, check=True)
judge.must("split", "-q", *words, packed)
judge.same(packed, words, folder + "/packed.split.xen")
subprocess.run(["gzip", folder + "/packed.split.xen"], check=True)
judge.same(packed, words, folder + "/packed.split.xen.gz")
if not subprocess.run(["zstd", "-q", "-o", folder + "/z.xen.zst", trace]).returncode:
    judge.must("split", "-q", *words, "-o", folder + "/z.xen", folder + "/z.xen.zst")
    judge.same(folder + "/z.xen.zst", words, folder + "/z.xen")
with open(trace, "rb") as data:
    subprocess.run([split_lib.BIN, "split", "-q", *words, "-o", folder + "/piped.xen", "-"],
                   stdin=data, check=True)
judge.same(trace, words, folder + "/piped.xen")
# times since TSC 0, another frequency: the part's times stay those of the trace
absolute = split_lib.ends(trace)[:2]
report = judge.must("report", "-q", "-f", "json", "--absolute", trace)
zero = json.loads(report)["window_ns"][0]
judge.must("split", "-q", "--absolute", "--from", "%dns" % (zero + 1200000000),
           "--to", "%dns" % (zero + 1900000000), "-o", folder + "/abs.xen", trace)
a = json.loads(judge.must("report", "-q", "-f", "json", folder + "/abs.xen"))["window_ns"]
judge.compared += 1
judge.differ += [abs(a[0] - 1200000000) > 1, abs(a[1] - 1900000000) > 1].count(True)
judge.must("split", "-q", "--cpu-hz", "2.3G", "--from", "1", "--to", "1.5",
           "-o", folder + "/hz.xen", trace)
judge.same(trace, ["--cpu-hz", "2.3G", "--from", "1", "--to", "1.5"], folder + "/hz.xen")
judge.finish(30)
END
check "formats, commands, packed, clocks" \
	env PYTHONPATH="$GOLDEN" python3 "$WORK/more.py" "$SAMPLES" "$WORK"

# Only some pCPUs: what runs there is known as it is of the whole, and the others are left out.
for pcpus in 0,2 1 3; do
	run split -q --from 1 --to 2 --pcpu "$pcpus" -o "$WORK/some.xen" "$SAMPLES/hvm-exits.xen"
	status 0
	run report -q -f json "$WORK/some.xen"
	cp "$OUT" "$WORK/some"
	run report -q -f json --from 1 --to 2 "$SAMPLES/hvm-exits.xen"
	check "pCPUs $pcpus" python3 - "$pcpus" "$WORK/some" "$OUT" << 'END'
import json, sys
kept = {int(p) for p in sys.argv[1].split(",")}
some, whole = (json.load(open(f)) for f in sys.argv[2:])
for a, b in zip(some["pcpus"], whole["pcpus"]):
    if a["pcpu"] in kept:
        assert a == b, (a, b)
    else:
        assert a["unknown_ns"] == a["lost_ns"] == 10 ** 9, a
known = 0
for a, b in zip(some["machines"], whole["machines"]):
    for v, w in zip(a["vcpus"], b["vcpus"]):
        for state, d in v["states"].items():
            known += d["total_ns"] if state in ("guest", "hypervisor") else 0
            # nothing that is otherwise
            assert d["total_ns"] <= w["states"].get(state, d)["total_ns"] or state == "unknown", (v["vcpu"], state)
            assert d["total_ns"] == 0 or state in ("guest", "hypervisor", "unknown"), (v["vcpu"], state)
assert known == sum(p["busy_ns"] for p in whole["pcpus"] if p["pcpu"] in kept), known
END
	run report --full "$WORK/some.xen"
	says "$ERR" "without the records of pCPU"
done

# xenalyze reads all of it: what it says of records is of those that are there, and of nearly all.
if command -v xenalyze > /dev/null && ! sanitized; then
	for name in credit2-basic hvm-exits pinned lost-records; do
		for pcpus in 0-3 0,2; do
			run split -q --from 0.5 --to 1.5 --pcpu "$pcpus" -o "$WORK/read.xen" \
				"$SAMPLES/$name.xen"
			status 0
			run dump -q -f json --cpu-hz 2.3G "$WORK/read.xen"
			status 0
			xenalyze_says "$WORK/read.xen" --cpu-hz 2300000000 --dump-all > "$WORK/dumped"
			check "xenalyze reads $name of pCPUs $pcpus" test $? = 0
			check "xenalyze knows the records of $name of pCPUs $pcpus" \
				env PYTHONPATH="$GOLDEN" python3 - "$OUT" "$WORK/dumped" << 'END'
import sys
import xenalyze
rows = xenalyze.ours(sys.argv[1], 2300000000)
said = [s.key for s in xenalyze.theirs(sys.argv[2]) if s.key]
n = sum(len(same) for same in rows.values())
strange = [key for key in said if key not in rows]
print("%d records, %d lines of xenalyze, %d of none" % (n, len(said), len(strange)))
sys.exit(bool(strange) or len(said) < 0.8 * n)
END
		done
	done
fi

# What is refused, and what it says.
cd "$WORK" || exit 1
cp "$SAMPLES/pinned.xen" t.xen
cp t.xen before
refuse 2 split
refuse 2 split t.xen t.xen
refuse 2 split t.xen
refuse 2 split -o copy.xen t.xen
refuse 2 split --from 2 --to 1 t.xen
refuse 2 split --from 100 t.xen
refuse 3 split --from 17200ns --to 17201ns t.xen
refuse 2 split --pcpu 9 t.xen
refuse 2 split --from 1 -o - t.xen
refuse 2 split --from 1 -o /dev/null t.xen
refuse 2 split --from 1 -o t.xen t.xen
refuse 2 split -
refuse 2 split -o x.xen "$SAMPLES/kvm-nested.dat"
refuse 3 split --from 1 -o no-folder/x.xen t.xen
refuse 3 split -o x.xen no-file.xen
ln -s t.xen link.xen.meta.json
refuse 2 split --from 1 -o link.xen t.xen
golden t150_split refused
same t.xen before
check "nothing is left" test -z "$(ls -A | grep -E '^x\.xen|^\.kshark|t\.split')"

# A sidecar that is not that of the file, or was spoilt: said, and left aside.
run split -q --from 1 --to 1.5 -o p.xen t.xen
status 0
cp p.xen.meta.json good.json
run split -q --from 1 --to 1.4 -o q.xen t.xen
cp good.json q.xen.meta.json
run report --full q.xen
status 0
says "$ERR" 'the sidecar'"'"'s "part" belongs to another file'
sed -i 's/"version": 1/"version": 2/' p.xen.meta.json
run report --full p.xen
status 0
says "$ERR" '"version" of "part" cannot be understood'
sed 's/ guest / dreaming /' good.json > p.xen.meta.json
run report --full p.xen
says "$ERR" '"changes" of "part" cannot be understood'
run report --full --correct-skew p.xen
cp good.json p.xen.meta.json
status 0

# The disk is full, the folder cannot be written to: what was there stays as it was.
cp p.xen p.before
(ulimit -f 40; exec "$KSV_BIN" split -q --from 0.5 -o p.xen t.xen) > "$OUT" 2> "$ERR"
STATUS=$?
status 3
says "$ERR" "cannot write"
same p.xen p.before
same p.xen.meta.json good.json
check "nothing is left" test -z "$(ls -A | grep '^\.kshark')"

finish
