# SPDX-License-Identifier: LGPL-2.1-or-later
# A recording by perf of a real KVM host: the same VM exits and runs as perf itself finds in it, now or, where perf is
# not installed, when this test was written (perf 6.1; the commands are in the first line of each text).
. "$(dirname "$0")/lib.sh"

cp "$SAMPLES/kvm-perf.data" "$WORK/p.data"
cd "$WORK" || exit 1
run report --format csv p.data
status 0
cp "$OUT" report.csv
check "no notes" test ! -s "$ERR"
run report --threads --format csv p.data
status 0
cp "$OUT" threads.csv

# compare KVM-STAT TIMEHIST
compare()
{
	check "$1" python3 "$GOLDEN/perf_oracle.py" "$1" "$2" report.csv threads.csv > compared
	grep -q " 0 differ" compared || cat compared
}
compare "$GOLDEN/t274_kvm_stat.txt" "$GOLDEN/t274_timehist.txt"
if command -v perf >/dev/null; then
	perf kvm -i p.data stat report --event=vmexit > kvm_stat 2>&1
	perf sched timehist -i p.data --summary > timehist 2> /dev/null
	compare kvm_stat timehist
fi

run report p.data
status 0
golden "$TEST" "$OUT"
finish
