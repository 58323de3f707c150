# SPDX-License-Identifier: LGPL-2.1-or-later
# What guests report through hypercalls, call by call: decoded, unknown, KVM's own, lying.
. "$(dirname "$0")/lib.sh"

story()
{
	python3 "$GOLDEN/hyper_files.py" "$1" "$WORK/$1.${2:-dat}" || fail "no story $1"
}

for name in first boot liar others strangers later ours early unclocked whole lossy; do
	story $name
done
story xen xen

for name in first boot liar others strangers later ours early unclocked whole lossy; do
	run dump --hypertrace "$WORK/$name.dat"
	status 0
	{ echo "== $name"; cat "$OUT"; echo "-- said"; cat "$ERR"; } >> "$WORK/all"
done
run dump --hypertrace --cpu-hz 2.4G "$WORK/xen.xen"
status 0
{ echo "== xen"; cat "$OUT"; echo "-- said"; cat "$ERR"; } >> "$WORK/all"
golden t112_hypertrace_dump "$WORK/all"

# All formats have the same contents for each call.
run dump --hypertrace --quiet --format csv "$WORK/liar.dat"
status 0
cp "$OUT" "$WORK/csv"
run dump --hypertrace --quiet --format json "$WORK/liar.dat"
status 0
python3 - "$WORK/csv" "$OUT" <<'END' || fail "CSV and JSON differ"
import csv
import json
import sys
rows = list(csv.DictReader(open(sys.argv[1])))
objects = [json.loads(line) for line in open(sys.argv[2])]
assert len(rows) == len(objects) == 13, len(rows)
for row, o in zip(rows, objects):
    assert row == {"time_ns": str(o["time_ns"]), "pcpu": str(o["pcpu"]), "machine": o["machine"],
                   "vcpu": str(o["vcpu"]), "nr": str(o["nr"]), "result": o["result"],
                   "event": o["event"], "info": o["info"]}, (row, o)
assert objects[1]["fields"] == {"address": 0xffffffff81200000, "depth": 0}
assert objects[10]["registers"] == [1, 2, 3, (1 << 64) - 1]
assert [o["result"] for o in objects].count("senseless") == 3
END
checks=$((checks + 1))

# A dialect by its name, or one's own; names of functions.
run dump --hypertrace=hypertracing --quiet "$WORK/first.dat"
status 0
says "$OUT" 'cpu=0 pid=0 prev_pid=0'
sed -e 's/7001/77/' -e 's/7003/78/' "$KSV_SOURCE_DIR/examples/hypertrace-dialect.json" > "$WORK/own.json"
run dump --hypertrace="$WORK/own.json" "$WORK/strangers.dat"
status 0
says "$OUT" 'stage:                    number=1 (drivers)'
says "$ERR" 'g1: its hypercalls are decoded as those of mykernel, as requested'
printf 'ffffffff81200000 T vfs_read\nffffffff81000000 T schedule\n' > "$WORK/kallsyms"
run dump --hypertrace --kallsyms "$WORK/kallsyms" "$WORK/first.dat"
status 0
says "$OUT" 'entry address=0xffffffff81200000 (vfs_read) depth=0'
says "$OUT" 'exit address=0xffffffff81000400 (schedule+0x400) depth=1 value=777'

# Filters are those of records.
run dump --hypertrace --quiet --format csv --event 'sched_*' "$WORK/first.dat"
check "switches" test "$(wc -l < "$OUT")" = 6
run dump --hypertrace --quiet --format csv --vcpu d1v1 "$WORK/first.dat"
check "vCPU 1" test "$(grep -c ',g1,1,' "$OUT")" = 3
check "nothing else" test "$(wc -l < "$OUT")" = 4
run dump --hypertrace --quiet --format csv --pcpu 0 --from 1099512200us "$WORK/first.dat"
check "late ones" test "$(wc -l < "$OUT")" = 5

# What is no dialect, no symbols, no trace of hypercalls.
run dump --hypertrace=klingon "$WORK/first.dat"
status 2
says "$ERR" "no dialect is called 'klingon'; there are hypertrace, hypergraph, hypertracing; a file has a '.' in its name"
echo '{' > "$WORK/broken.json"
run dump --hypertrace="$WORK/broken.json" "$WORK/first.dat"
status 3
says "$ERR" 'broken.json: offset'
run dump --hypertrace=./none.json "$WORK/first.dat"
status 3
says "$ERR" './none.json: cannot read: No such file'
run dump --hypertrace --kallsyms "$WORK/broken.json" "$WORK/first.dat"
status 3
says "$ERR" 'broken.json: line 1 is not a line of kallsyms'
run dump --kallsyms "$WORK/kallsyms" "$SAMPLES/credit2-basic.xen"
status 2
run dump --hypertrace --list-events
status 2
run dump --hypertrace "$SAMPLES/kvm-shared.dat"
status 0
check "no calls" test ! -s "$OUT"
says "$ERR" 'has no hypercalls: record kvm:kvm_hypercall'
run dump --hypertrace "$SAMPLES/kvm-guest.dat"
status 3
finish
