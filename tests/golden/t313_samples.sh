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

# lines of numbers are short enough for a terminal
run report -q --over-time=3 "$TRACE"
status 0
check "short lines" test -z "$(grep '^  [0-9a-z]* *[0-9f]' "$OUT" | grep '.\{101\}')"
grep -v '^  [nuw]' "$OUT" > "$WORK/text"
golden "$TEST" "$WORK/text"

# a file may have any numbers
cp "$SAMPLES/kvm-host.dat" "$WORK/any.dat"
cat > "$WORK/any.dat.samples.csv" << 'END'
time_ns,user_ns,system_ns,available_bytes,switches,runnable
1793000000000,0,0,9223372036854775807,0,9223372036854775807
1793000000001,9223372036854775807,9223372036854775807,9223372036854775807,9223372036854775806,1
1794000000000,9223372036854775807,9223372036854775807,9223372036854775807,9223372036854775807,1
1799000000000,9223372036854775807,9223372036854775807,9223372036854775807,9223372036854775807,1
END
for format in text json csv; do
	run report -q --over-time=3 --format $format "$WORK/any.dat"
	status 0
done
run report -q --over-time=1 --format json --from 1793.3 --to 1794.5 "$WORK/any.dat"
says "$OUT" '"sampled_available_bytes": null'
run export -q -f perfetto -o "$WORK/any.pftrace" "$WORK/any.dat"
status 0
run plot -q --over-time=3 "$WORK/any.dat"
status 0
check "no such coordinates" test -z "$(grep -i 'nan\|inf"' "$OUT")"

# without records of tasks, samples are still known; one at each end of the window
run report -q -f json "$SAMPLES/host-disks.dat"
cp "$SAMPLES/host-disks.dat" "$WORK/disks.dat"
python3 - "$OUT" > "$WORK/disks.dat.samples.csv" << 'END'
import json, sys
begin, end = json.load(open(sys.argv[1]))["window_ns"]
print("time_ns,switches,runnable\n%d,100,3\n%d,1100,5" % (begin, end))
END
run report -q --over-time=4 -f json "$WORK/disks.dat"
status 0
python3 - "$OUT" << 'END' > "$WORK/said"
import json, sys
document = json.load(open(sys.argv[1]))
print(document["modes_not_recorded"], sum(one["sampled_switches"] for one in document["intervals"]))
for one in document["intervals"]:
    print(abs(one["sampled_switches"] - 250) <= 1, one["sampled_runnable"], one["switches"], one["idle_ns"])
END
cat > "$WORK/expected" << 'END'
None 1000
True 3.0 None None
True None None None
True None None None
True None None None
END
check "samples without tasks" diff "$WORK/expected" "$WORK/said"
run report -q --over-time=2 "$WORK/disks.dat"
status 0
check "no lines of tasks" test "$(grep -c 'tasks from' "$OUT")" = 0
check "lines of samples" test "$(grep -c 'sampled from' "$OUT")" = 2
finish
