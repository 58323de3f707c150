# SPDX-License-Identifier: LGPL-2.1-or-later
# top --format prometheus: promtool has nothing against it, its counters are those of OpenMetrics, and the
# dashboard in examples/ names only metrics, labels and states that are there.
. "$(dirname "$0")/lib.sh"

judge=$(command -v promtool) || judge=
# all of them, with sanitizers too: the dashboard needs the metrics of each
for sample in credit2-basic.xen lost-records.xen kvm-host.dat hypertrace-nested.dat kvm-talk.dat; do
	run top -q -f prometheus "$SAMPLES/$sample"
	status 0
	cp "$OUT" "$WORK/$sample.prom"
	run top -q -f openmetrics "$SAMPLES/$sample"
	check "$sample: the same samples" cmp <(grep -v '^#' "$OUT") <(grep -v '^#' "$WORK/$sample.prom")
	check "$sample: each sample follows HELP and TYPE of its name" awk '
		/^# HELP / { help = $3 }
		/^# TYPE / { type = $3; if (type != help) exit bad = 1 }
		/^[^#]/ { name = $1; sub(/{.*/, "", name); if (name != type) exit bad = 1; n++ }
		END { exit bad || n < 20 }' "$WORK/$sample.prom"
	[ -z "$judge" ] || "$judge" check metrics < "$WORK/$sample.prom" > "$WORK/judged" 2>&1
	STATUS=$?
	[ -z "$judge" ] || check "$sample: promtool says $(head -3 "$WORK/judged")" test "$STATUS" = 0 -a ! -s "$WORK/judged"
done
# names that need an escape
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
meta["domains"][0]["name"] = 'a,"b\'c\nd\\'
json.dump(meta, open(sys.argv[2], "w"))
END
run top -q -f prometheus "$WORK/odd.xen"
says "$OUT" 'a,\"b'
[ -z "$judge" ] || check "promtool reads odd names" "$judge" check metrics < "$OUT"

# a file that is written again and again is whole each time
"$KSV_BIN" top -q -f prometheus --hold 0 --interval 500ms -o "$WORK/live.prom" - < "$SAMPLES/hvm-exits.xen"
check "a file of what comes in a pipe" grep -q '^kshark_virt_exits_total{' "$WORK/live.prom"

python3 - "$KSV_SOURCE_DIR/examples/grafana-dashboard.json" "$WORK"/*.prom << 'END'
import json, re, sys
board = json.load(open(sys.argv[1]))
labels, values = {}, {}
for path in sys.argv[2:]:
    for line in open(path):
        match = re.match(r"(kshark_virt_\w+)\{(.*)\} ", line)
        if match:
            pairs = re.findall(r'(\w+)="((?:[^"\\\\]|\\\\.)*)"', match[2])
            labels.setdefault(match[1], set()).update(key for key, _ in pairs)
            values.setdefault(match[1], set()).update(pairs)
queries = [t["expr"] for p in board["panels"] for t in p["targets"]]
queries += [v["definition"] for v in board["templating"]["list"] if "definition" in v]
bad = used = 0
for query in queries:
    for name, selector in re.findall(r"(kshark_virt_\w+)(?:\{([^}]*)\})?", query):
        used += 1
        if name not in labels:
            bad += not print("no such metric:", name)
            continue
        for key, operator, value in re.findall(r'(\w+)(=~?)"([^"]*)"', selector):
            if key != "instance" and key not in labels[name]:
                bad += not print(name, "has no label", key)
            if operator == "=" and (key, value) not in values[name]:
                bad += not print(name, "never has", key, value)
    known = set.union(*(labels[n] for n in re.findall(r"kshark_virt_\w+", query) if n in labels)) | {"instance"}
    for names in re.findall(r"by \(([^)]*)\)", query):
        bad += any(key.strip() not in known for key in names.split(","))
legends = {key for p in board["panels"] for t in p["targets"] for key in re.findall(r"{{(\w+)}}", t["legendFormat"])}
bad += bool(legends - set.union({"instance"}, *labels.values()))
print("dashboard: %d queries, %d uses of metrics, %d bad" % (len(queries), used, bad))
sys.exit(bad > 0 or used < 10)
END
check "the dashboard fits" test $? = 0
if [ -z "$judge" ] && [ "$failures" = 0 ]; then
	echo "$checks checks passed, but promtool is not installed (Debian: apt-get install prometheus)"
	exit 77
fi
finish
