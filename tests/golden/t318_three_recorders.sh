# SPDX-License-Identifier: LGPL-2.1-or-later
# One load of a guest, recorded by trace-cmd, perf and LTTng at once: in a window that all three have, the states of its
# vCPUs and its VM exits are as many, and as long but for the time between the recorders' looks at the clock.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1
tar -xJf "$SAMPLES/kvm-three-lttng.tar.xz" || exit 1
run report -q kvm-three-lttng
if grep -qF "which this build does not read" "$ERR"; then
	echo "this build has no libbabeltrace2"
	exit 77
fi
status 0

# perf began last, and ended first
n=0
for trace in "$SAMPLES/kvm-three.dat" "$SAMPLES/kvm-three-perf.data.gz" kvm-three-lttng; do
	n=$((n + 1))
	run report -q --full --from 27.3s --to 31.4s -f json "$trace"
	status 0
	cp "$OUT" "states.$n"
	run report -q --exits --from 27.3s --to 31.4s -f json "$trace"
	status 0
	cp "$OUT" "exits.$n"
done
check "three recorders agree" python3 "$GOLDEN/three_recorders.py"

finish
