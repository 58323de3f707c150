# SPDX-License-Identifier: LGPL-2.1-or-later
# report --format html: one file that stands alone; its tables and its figure have the numbers of JSON.
. "$(dirname "$0")/lib.sh"

compared=0
# page_is_json ARGUMENT...: of a report
page_is_json()
{
	local name pages=()

	run report -q -f json "$@"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/report.json"
	for name in waits threads handlers migrations exits power; do
		run report -q -f json --$name "$@"
		cp "$OUT" "$WORK/$name.json"
		pages+=("$name=$WORK/$name.json")
	done
	run report -q -f html -o "$WORK/page.html" "$@"
	status 0
	check "nothing on standard output" test ! -s "$OUT"
	check "page of $*" python3 "$GOLDEN/html_page.py" "$WORK/page.html" "$WORK/report.json" "${pages[@]}" \
		> "$WORK/compared"
	compared=$((compared + $(cat "$WORK/compared" || echo 0)))
}

mapfile -t samples < <(chosen "$SAMPLES"/{hvm-exits,lost-records,saved,dom0-culprits,migration}.xen \
	"$SAMPLES"/kvm-{host,shared,nested,paused}.dat "$SAMPLES"/cases/{pvm,haltpoll,exits}.dat)
for sample in "${samples[@]}"; do
	page_is_json "$sample" || fail "no report of $sample"
done
page_is_json "$SAMPLES/hvm-exits.xen" --from 10ms --to 25ms || fail "no report"
page_is_json "$SAMPLES/kvm-host.dat" --from 1793.3 --to 1793.7 || fail "no report"
page_is_json "$SAMPLES/credit2-basic.xen" --from 1.0001 --to 2 --vcpu d1 || fail "no report"
check "numbers were compared ($compared)" test "$compared" -ge "$(least 1000)"

# several hosts are one page
run report -q -f json "$SAMPLES/hvm-exits.xen" "$SAMPLES/saved.xen"
cp "$OUT" "$WORK/report.json"
run report -q -f html "$SAMPLES/hvm-exits.xen" "$SAMPLES/saved.xen"
status 0
cp "$OUT" "$WORK/page.html"
check "two hosts" python3 "$GOLDEN/html_page.py" "$WORK/page.html" "$WORK/report.json" > /dev/null

# the same again is the same
run report -q -f html "$SAMPLES/hvm-exits.xen" "$SAMPLES/saved.xen"
same "$OUT" "$WORK/page.html"

# warnings stand in the page, with the worst vCPU and its culprit in words
run report -q -f html "$SAMPLES/lost-records.xen"
check "lost records" grep -q '<li class="warning">.*lost' "$OUT"
run report -q -f html "$SAMPLES/kvm-shared.dat"
check "culprit" grep -q '^<p>The vCPU with the most steal is <b>[^<]*</b>: .*The main culprit is <b>' "$OUT"
run report -q -f html "$SAMPLES/lost-records.xen"
check "a culprit may be unknown" grep -q 'The trace does not show what had its pCPU' "$OUT"
run report -q -f html "$SAMPLES"/kvm-talk{,-web,-db}.dat
check "clocks of guests" test "$(grep -c '<li class="info">clock of .* of its records in .* lie in times' "$OUT")" = 2

# the command that makes it
run report -q -f html --from 10ms --to 25ms "$SAMPLES/hvm-exits.xen"
check "command" grep -qF "<pre><code>kshark-virt report -q -f html --from 10ms --to 25ms $SAMPLES/hvm-exits.xen</code>" "$OUT"

# hostile names never become markup: all of the page is checked as before
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK" << 'END'
import json, sys
names = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "<!--",
         "]]></title>", "a&lt;b", "\u202eevil", "x\u0000y", "'onclick='1"]
meta = json.load(open(sys.argv[1]))
for turn in range(len(names)):
    for i, domain in enumerate(meta["domains"]):
        domain["name"] = names[(turn + i) % len(names)]
    json.dump(meta, open(f"{sys.argv[2]}/odd{turn}.json", "w"))
END
for turn in 0 1 2 3 4 5 6 7 8; do
	name="$WORK/<img src=x onerror=alert($turn)>.xen"
	name=${name//\//%}
	mkdir -p "$WORK/odd"
	cp "$SAMPLES/saved.xen" "$WORK/odd/$name"
	cp "$WORK/odd$turn.json" "$WORK/odd/$name.meta.json"
	run report -q -f json "$WORK/odd/$name"
	cp "$OUT" "$WORK/report.json"
	run report -q -f html "$WORK/odd/$name"
	[ "$STATUS" = 0 ] || fail "no page of hostile names $turn"
	cp "$OUT" "$WORK/page.html"
	check "hostile names $turn" python3 "$GOLDEN/html_page.py" "$WORK/page.html" "$WORK/report.json" > /dev/null
done

# memory follows the records, and not the number of the highest pCPU: most of the others are one row together
if ! sanitized; then
	python3 "$GOLDEN/long_and_wide.py" 1 "$WORK/wide.xen" 32767
	check "a small file takes little memory" python3 - "$KSV_BIN" "$WORK/wide.xen" "$OUT" << 'END'
import resource, subprocess, sys
with open(sys.argv[3], "wb") as out:
    subprocess.run([sys.argv[1], "report", "-q", "-f", "html", sys.argv[2]], stdout=out, check=True)
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 64 << 10
END
	check "in a short page" test "$(stat -c %s "$OUT")" -lt 100000
	says "$OUT" '<th scope="row">32767 without records</th>'
fi
# of very many rows, the page has the first ones, and says so
python3 "$GOLDEN/scale_files.py" xen_vcpus 2000 "$WORK/many.xen" > "$WORK/n"
run report -q -f html "$WORK/many.xen"
says "$OUT" 'The table has the first 10000 of 20000 rows. Formats csv and json have all of them.'

# a page has all pages
run report -q -f html --full "$SAMPLES/hvm-exits.xen"
status 2
says "$ERR" '--format html has all pages'

finish
