# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt merge of separate trace.dat files of a host: trace-cmd lists all their records in the result, numbers know
# where nothing was recorded, and files that do not belong together are refused.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd > /dev/null || { echo "trace-cmd is not installed"; exit 77; }
cd "$WORK" || exit 1

# records FILE: as trace-cmd lists them, without the buffers' losses
records()
{
	trace-cmd report -t "$1" 2> /dev/null | grep -v '^cpus=\|EVENTS\? DROPPED\|LOST'
}

# only OUT CPUS FROM [BUFFER]: as if no other CPU or buffer had been recorded
only()
{
	python3 "$GOLDEN/merge_parallel.py" "$3" "$1" "$2" ${4:+"$4"} || fail "merge_parallel.py $*"
}

# unpacked FROM TO
unpacked()
{
	trace-cmd convert --file-version 7 --compression none -i "$1" -o "$2" > /dev/null 2>&1
	check "$2" test -s "$2"
}

# refused TEXT FILE...
refused()
{
	run merge -o x.dat "${@:2}"
	status 3
	says "$ERR" "$1"
	check "nothing is written: $*" test ! -e x.dat -a ! -e x.dat.meta.json
}

# part OUT FROM TO: trace-cmd before 3.3 numbers a single file, too
part()
{
	trace-cmd split -i "$SAMPLES/kvm-host.dat" -o "$1" "$2" "$3" > /dev/null 2>&1
	[ ! -e "$1.1" ] || mv "$1.1" "$1"
	check "$1" test -s "$1"
}

# One after the other, as trace-cmd itself has split them.
part a.dat 1793.2 1794.5
part b.dat 1795 1797
run merge -o ab.dat b.dat a.dat
status 0
says "$ERR" "ab.dat: 37163 records of 2 files"
# its kernel did not move
says "$ERR" "ab.dat: the files do not show whether the host was booted between them"
{ records a.dat; records b.dat; } > right
records ab.dat > got
same right got
check "there are records" test "$(wc -l < right)" -gt 30000
run report -q -f json ab.dat
cp "$OUT" ab.json
for part in a b; do
	run report -q -f json $part.dat
	cp "$OUT" $part.json
done
records a.dat > a.txt
records b.dat > b.txt
check "exits add up, and what lies between is lost" env PYTHONPATH="$GOLDEN" python3 - << 'END'
import json
from trace_text import records
a, b, ab = (json.load(open(name + ".json")) for name in ("a", "b", "ab"))
def exits(report):
    return {e["reason"]: e["count"] for m in report["machines"] for e in m["exits"]}
x, y, z = exits(a), exits(b), exits(ab)
assert z == {reason: x.get(reason, 0) + y.get(reason, 0) for reason in z} and sum(z.values()) > 3000, (x, y, z)
def lost(report):
    return {p["pcpu"]: p["lost_ns"] for p in report["pcpus"]}
# from the last record of each pCPU in the one to its first record in the other
def times(name):
    found = {}
    for ns, _, cpu, _, _ in records(name):
        found.setdefault(cpu, []).append(ns)
    return found
x, y = times("a.txt"), times("b.txt")
assert len(x) == 4
for cpu in x:
    gap = y[cpu][0] - x[cpu][-1]
    # the records themselves are known: 1 ns
    assert gap > 480e6 and 0 <= gap - (lost(ab)[cpu] - lost(a)[cpu] - lost(b)[cpu]) <= 1, (cpu, gap, lost(ab))
END
# One that moved (KASLR); moments of the sidecars: real time and the clock of the trace, in ns.
unpacked a.dat am.dat
unpacked b.dat bm.dat
LC_ALL=C sed -i 's/^ffffffff81000000 T _stext$/ffffffff9a000000 T _stext/' am.dat bm.dat
run merge -o moved.dat am.dat bm.dat
status 0
check "no word of a boot" test "$(grep -c booted "$ERR")" = 0
refused "are of different boots: the kernel was at address 0xffffffff81000000, then at 0xffffffff9a000000" a.dat bm.dat
# moment FILE REAL CLOCK
moment() { echo "{\"moment\": {\"realtime_ns\": $2, \"trace_ns\": $3}}" > "$1.meta.json"; }
moment a.dat 1700000000000000000 1793000000000
moment b.dat 1700000002500000000 1795000000000
run merge -o boot.dat b.dat a.dat
status 0
check "no word of a boot" test "$(grep -c booted "$ERR")" = 0
moment b.dat 1700000012000000000 1795000000000
run merge -o boot.dat b.dat a.dat
status 0
says "$ERR" "boot.dat: by the sidecars, the files' clocks began up to 10 s apart: the host was booted or suspended"
rm a.dat.meta.json b.dat.meta.json
# of version 6, to which trace-cmd gives no clock
for part in a b; do
	trace-cmd convert --file-version 6 --compression none -i $part.dat -o ${part}6.dat > /dev/null 2>&1
done
run merge -q -o ab6.dat a6.dat b6.dat
status 0
{ records a6.dat; records b6.dat; } > right
records ab6.dat > got
same right got
refused "have no common axis" a6.dat b.dat
# a pCPU that only the first one has
unpacked b.dat b7.dat
only b012.dat 0,1,2 b7.dat
run merge -q -o hole.dat a.dat b012.dat
status 0
run report -q --full hole.dat
check "it ends with a loss" grep -q 'records_lost' <(trace-cmd report hole.dat 2> /dev/null)
{ records a.dat; records b012.dat; } > right
records hole.dat | grep -v records_lost > got
same right got

# At one time: other pCPUs, or other buffers, in the time that both have.
unpacked "$SAMPLES/kvm-shared.dat" all.dat
only p01.dat 0,1 all.dat
only p23.dat 2,3 all.dat
run merge -o both.dat p23.dat p01.dat
status 0
says "$ERR" "records are left out: when they came, not all of the files were being recorded"
records both.dat > got
first=$(head -1 got) last=$(tail -1 got)
records all.dat | awk -v first="$first" -v last="$last" '$0 == first { on = 1 } on; $0 == last { exit }' > right
same right got
unpacked "$SAMPLES/cases/instances.dat" buffers.dat
only kvm.dat 0 buffers.dat kvm
only sched.dat 0 buffers.dat sched
run merge -q -o joined.dat kvm.dat sched.dat
status 0
records joined.dat > got
first=$(head -1 got) last=$(tail -1 got)
records buffers.dat | awk -v first="$first" -v last="$last" '$0 == first { on = 1 } on; $0 == last { exit }' > right
same right got
check "all but what one of them lacks" test "$(wc -l < got)" -gt 80
run report -q joined.dat
status 0

# Traces of other tools, and sidecars: guests of both, quotas of none.
cp "$SAMPLES/kvm-perf.data" one.data
run split -q --to 40% -o one.dat one.data
run split -q --from 60% -o two.dat one.data
echo '{"cpu_khz": 2000000, "guests": [{"name": "x", "pid": 1, "vcpus": [{"id": 0, "tid": 2, "cgroup": 0}]}],
 "cgroups": [{"path": "/"}], "idle_states": ["POLL"], "other": 1}' > one.dat.meta.json
echo '{"cpu_khz": 2000001, "guests": [{"name": "x", "pid": 1}, {"name": "y", "pid": 7}], "other": 2, "governors": ["g"]}' \
	> two.dat.meta.json
run merge -o data.dat two.dat one.dat
status 0
says "$ERR" "data.dat: the files do not show whether the host was booted between them"
check "sidecar" python3 - << 'END'
import json
got = json.load(open("data.dat.meta.json"))
assert sorted(g["name"] for g in got["guests"]) == ["x", "y"] and "cgroups" not in got and "other" not in got, got
assert got["cpu_khz"] == 2000000 and got["governors"] == ["g"] and got["idle_states"] == ["POLL"], got
assert "cgroup" not in json.dumps(got), got
END
run merge -q -o same.dat one.data one.dat
status 3
says "$ERR" "and are of one time"

cp a.dat copy.dat
refused "is one a copy of the other one, or are they of different boots" a.dat copy.dat
refused "some of the files are of one time, others are not" a.dat copy.dat b.dat
refused "numbers of both together would be wrong" a.dat "$SAMPLES/kvm-guest.dat"
refused "are of different hosts or kernels" a.dat "$SAMPLES/kvm-nosync.dat"
run split -q --to 50% -o part.dat a.dat
refused "not a part that 'kshark-virt split' wrote" part.dat b.dat
head -c 1000 b.dat > cut.dat
refused "cut.dat" a.dat cut.dat
finish
