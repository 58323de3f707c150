# SPDX-License-Identifier: LGPL-2.1-or-later
# Samples of a host's counters, as record wrote them: against /proc and vmstat at the same time, and the trace itself.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/samples_oracle.py
TRACE=$SAMPLES/host-samples.dat.gz
PROC=$SAMPLES/host-samples.proc.txt

# over_time FROM TO FILE: one interval
over_time()
{
	run report -q --over-time=1 --format json --from "$1ns" --to "$2ns" "$TRACE"
	status 0
	cp "$OUT" "$3"
}

check "looks at /proc before and after" python3 "$ORACLE" looks "$TRACE.samples.csv" "$PROC" > "$WORK/n"
check "there were enough" test "$(cat "$WORK/n")" -gt 130

read -r from to < <(python3 "$ORACLE" bounds "$PROC")
over_time "$from" "$to" "$WORK/seconds.json"
check "vmstat" python3 "$ORACLE" vmstat "$WORK/seconds.json" "$PROC" > "$WORK/n"
check "there were enough seconds" test "$(cat "$WORK/n")" = 3

# the trace begins after the first sample, and ends before the last one
mapfile -t times < <(sed -n '3,$p' "$TRACE.samples.csv" | sed 's/,.*//; $d')
files=()
for ((i = 1; i < ${#times[@]}; i++)); do
	files+=("$WORK/$i.json")
	over_time "${times[i - 1]}" "${times[i]}" "$WORK/$i.json"
done
check "switches of the trace" python3 "$ORACLE" switches "${files[@]}" > "$WORK/n"
check "there were enough switches" test "$(cat "$WORK/n")" -gt 8000

finish
