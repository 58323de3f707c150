# SPDX-License-Identifier: LGPL-2.1-or-later
# Figures: rows, colours, labels and areas against totals that are computed from dump's output.
. "$(dirname "$0")/lib.sh"

# The samples whose records are complete.
for name in credit2-basic pinned hvm-exits; do
	sample=$SAMPLES/$name.xen
	run dump --quiet --format csv "$sample"
	status 0
	mv "$OUT" "$WORK/$name.csv"
	for by in vcpu pcpu; do
		for width in 900 333; do
			run plot --quiet --by $by --width $width -o "$WORK/$name-$by.svg" "$sample"
			status 0
			check "$name by $by, $width wide" python3 "$GOLDEN/plot_svg.py" \
				"$WORK/$name-$by.svg" "$WORK/$name.csv" $by
		done
		run plot --quiet --by $by --format svg --width 333 "$sample"
		status 0
		same "$OUT" "$WORK/$name-$by.svg"
	done
	# The size is that of the columns, not that of the trace.
	check "$name: small" test "$(wc -c < "$WORK/$name-vcpu.svg")" -lt 100000
done

# The check above must be able to fail: another trace's figure, and another colour.
python3 "$GOLDEN/plot_svg.py" "$WORK/pinned-vcpu.svg" "$WORK/hvm-exits.csv" vcpu > "$OUT"
check "the test sees other traces" test $? = 1
sed 's/#009e73/#009e74/' "$WORK/pinned-vcpu.svg" > "$WORK/wrong.svg"
python3 "$GOLDEN/plot_svg.py" "$WORK/wrong.svg" "$WORK/pinned.csv" vcpu > "$OUT"
check "the test sees other colours" test $? = 1

# The text of a row is what the report says: shares of what is known.
run plot --quiet -o "$WORK/lost.svg" "$SAMPLES/lost-records.xen"
run report --quiet --format json "$SAMPLES/lost-records.xen"
check "shares of rows" python3 -c 'import json, re, sys
report = json.load(open(sys.argv[1]))
window = report["window_ns"][1] - report["window_ns"][0]
tips = dict(re.findall("<title>(d[0-9]+v[0-9]+): ([^<]*)</title>", open(sys.argv[2]).read()))
for vcpu in (v for m in report["machines"] for v in m["vcpus"]):
    expected = ", ".join("%s %.2f %%" % (state, 100 * dist["total_ns"] / (
                         window if state == "unknown" else vcpu["known_ns"]))
                         for state, dist in vcpu["states"].items() if dist["total_ns"])
    assert tips[vcpu["vcpu"]] == expected, (tips[vcpu["vcpu"]], expected)
assert len(tips) == 4' "$OUT" "$WORK/lost.svg"

# texts KIND FILE: the texts of one kind, in their order
texts()
{
	sed -n "s|^<text class=\"$1\".*>\\(.*\\)</text>\$|\\1|p" "$2"
}

# Lost records are shown as unknown, hatched, and nothing is drawn over them.
run plot --quiet -o "$WORK/lost.svg" "$SAMPLES/lost-records.xen"
status 0
says "$WORK/lost.svg" '<pattern id="hatch0"'
check "unknown in the legend" grep -qx Unknown <(texts entry "$WORK/lost.svg")
check "unknown in each row" test "$(grep -c 'class="unknown" fill="url(#hatch' "$WORK/lost.svg")" = 5

# Zoomed in: texts of axis, rows, runs and migrations.
transcript=$WORK/transcript
zoom()
{
	run plot --quiet --cpu-hz 2300M -o "$WORK/zoom.svg" "$@"
	status 0
	echo "\$ plot ${*/#$KSV_SOURCE_DIR/SOURCE}" >> "$transcript"
	for kind in title machine name tick unit run migration entry; do
		texts "$kind" "$WORK/zoom.svg" | sed "s/^/$kind: /" >> "$transcript"
	done
	check "well-formed" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' \
		"$WORK/zoom.svg"
}
sample=$SAMPLES/credit2-basic.xen
zoom --title 'a < b & "c"' --from 1 --to 1.1 "$sample"
zoom --by pcpu --from 500ms --to 540ms "$sample"
zoom --by pcpu --from 500ms --to 540ms --vcpu d1 --pcpu 0,2-3 "$sample"
zoom --from 1500ms --to 1500400us --vcpu d1v0 "$SAMPLES/hvm-exits.xen"
zoom --from 1500ms --to 1500000007ns --pcpu 3 "$SAMPLES/hvm-exits.xen"
cp "$sample" "$WORK/named.xen"
echo '{ "domains": [ { "id": 1, "name": "web" }, { "id": 2, "name": "a<b" } ] }' \
	> "$WORK/named.xen.meta.json"
zoom --from 1 --to 1.01 "$WORK/named.xen"
golden t055_plot "$transcript"

# Heights.
run plot --quiet --height 500 --width 600 "$sample"
says "$OUT" 'width="600" height="500"'
run plot --quiet --height 100 "$sample"
status 2
says "$ERR" 'a height of 100 is too small for 6 rows: at least'
needed=$(sed -n 's/.*at least \([0-9]*\) are.*/\1/p' "$ERR")
run plot --quiet --height "$needed" "$sample"
status 0
run plot --quiet --width 100 "$sample"
status 2
needed=$(sed -n 's/.*at least \([0-9]*\) are.*/\1/p' "$ERR")
run plot --quiet --width "$needed" "$sample"
status 0

# PNG and PDF: the right kind, size and colours, and the same each time.
for format in png pdf; do
	for i in 1 2; do
		run plot --quiet -o "$WORK/$i.$format" --height 320 --scale 1.5 \
			"$SAMPLES/pinned.xen"
		status 0
	done
	same "$WORK/1.$format" "$WORK/2.$format"
done
check "a PDF" test "$(head -c 5 "$WORK/1.pdf")" = %PDF-
check "pixels of a PNG" python3 "$GOLDEN/plot_png.py" "$WORK/1.png" 1350 480 009e73 e4e6ea f0e442

# As many rows as a figure has, and one more.
for n in 1000 1001; do
	python3 "$GOLDEN/scale_files.py" xen_vcpus $n "$WORK/rows" > "$OUT"
	run plot -q -o "$WORK/rows.svg" "$WORK/rows"
	status $((n > 1000 ? 2 : 0))
done
says "$ERR" "1001 rows are too many: select vCPUs, at most 1000"

finish
