# SPDX-License-Identifier: LGPL-2.1-or-later
# report --format html in a browser: after each click the page has the sums of JSON; no error, no request.
. "$(dirname "$0")/lib.sh"

browser=$(command -v chromium) || browser=
python3 - "$SAMPLES/saved.xen.meta.json" "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for i, domain in enumerate(meta["domains"]):
    domain["name"] = ["<img src=http://127.0.0.1:9/x onerror=alert(1)>", "</script><script>alert(1)</script>",
                      "\"><svg onload=alert(1)>"][i % 3]
json.dump(meta, open(sys.argv[2], "w"))
END
cp "$SAMPLES/saved.xen" "$WORK/odd.xen"
run report -q -f html -o "$WORK/odd.html" "$WORK/odd.xen"
status 0
mapfile -t samples < <(chosen "$SAMPLES"/{hvm-exits,lost-records}.xen "$SAMPLES/kvm-shared.dat")
for sample in "${samples[@]}"; do
	run report -q -f html -o "$WORK/page.html" "$sample"
	status 0
	[ -n "$browser" ] || continue
	check "$sample in a browser" python3 "$GOLDEN/html_browser.py" "$browser" "$KSV_BIN" "$sample" \
		"$WORK/page.html" "$WORK/odd.html" > "$WORK/checked"
	check "much was checked" test "$(cat "$WORK/checked")" -ge 50
done
if [ -z "$browser" ] && [ "$failures" = 0 ]; then
	echo "$checks checks passed, but chromium is not installed (Debian: apt-get install chromium)"
	exit 77
fi

finish
