#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who runs on which pCPU, field values and symbols are what Xen's own xenalyze prints, on every sample,
# record by record. What is compared and what xenalyze is silent about is listed in xenalyze_fields.py;
# differences that are meant, in xenalyze_compare.py.
. "$(dirname "$0")/lib.sh"

if sanitized; then
	echo "t030 runs the same with sanitizers"
	exit 77
fi
command -v xenalyze >/dev/null || {
	echo "xenalyze is missing (Debian: apt-get install xen-utils-common)"
	exit 77
}

names=()
for trace in "$SAMPLES"/*.xen; do
	name=$(basename "$trace" .xen)
	# xenalyze does not know vCPUs that a sidecar names: t046
	[ ! -e "$trace.meta.json" ] || continue
	# both have the same frequency
	hz=$(known_hz "$trace")
	names+=("$name=$hz")
	xenalyze_says "$trace" --cpu-hz "$hz" --dump-all > "$WORK/$name.txt"
	run dump --quiet --format json --cpu-hz "$hz" "$trace"
	status 0
	mv "$OUT" "$WORK/$name.json"
done
# Of a later Xen, whose exits on AMD's processors have events of their own, it says the same.
python3 "$GOLDEN/xen_less.py" "$SAMPLES/hvm-exits.xen" "$WORK/later.xen" 'event + (event & ~0x500 == 0x81002)'
xenalyze_says "$WORK/later.xen" --cpu-hz 2300000000 --dump-all > "$WORK/later"
check "xenalyze reads exits of a later Xen" cmp "$WORK/hvm-exits.txt" "$WORK/later"

compare()
{
	python3 "$GOLDEN/xenalyze_fields.py" "$@"
}
compare "$WORK" "${names[@]}"
STATUS=$?
status 0

# The comparison itself: a value, a symbol and an event that differ are found twice each, as a line
# that fits nothing and a record that is not printed, the event once more, because no line ever has
# it; a record that is missing is found once here, and once as time of no vCPU.
name=hvm-exits
mkdir "$WORK/bad"
cp "$WORK/$name.txt" "$WORK/bad"
sed -e '0,/"credit":-\?[0-9]*/s//"credit":123456/' -e '0,/(iret)/s//(irate)/' \
	-e '0,/"event":"do_block"/s//"event":"do_yield"/' -e 3d \
	"$WORK/$name.json" > "$WORK/bad/$name.json"
compare "$WORK/bad" "$name=2300000000" > "$WORK/said"
STATUS=$?
status 1
says "$WORK/said" ", 40496 records of 33 events, failures 9"

# Another vCPU is said to run, and a record of ours is gone: who runs differs twice.
sed -e '0,/"domid":1,\(.*"event":"vmentry"\)/s//"domid":7,\1/' -e '$d' "$WORK/$name.json" \
	> "$WORK/bad/$name.json"
compare "$WORK/bad" "$name=2300000000" > "$WORK/said"
STATUS=$?
status 1
says "$WORK/said" "failures 2, not printed by xenalyze"
finish
