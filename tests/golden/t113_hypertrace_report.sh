# SPDX-License-Identifier: LGPL-2.1-or-later
# What guests report through hypercalls, in numbers: calls, tasks, phases and levels, functions.
. "$(dirname "$0")/lib.sh"

for name in first boot liar others strangers later ours early unclocked whole lossy; do
	python3 "$GOLDEN/hyper_files.py" $name "$WORK/$name.dat" "$WORK/$name.truth" || fail "no $name"
done
python3 "$GOLDEN/hyper_files.py" xen "$WORK/xen.xen" || fail "no story xen"
printf 'ffffffff81000000 T schedule\nffffffff81000400 t pick_next_task\nffffffff81200000 T vfs_read\n' \
	> "$WORK/kallsyms"

cd "$WORK" || exit 1
all='--hypertrace --boot --function * --kallsyms kallsyms'
set -f
for file in first.dat boot.dat liar.dat others.dat strangers.dat later.dat ours.dat early.dat unclocked.dat \
	whole.dat lossy.dat; do
	run report --quiet $all $file
	status 0
	cat "$OUT" >> text
done
run report --quiet $all --cpu-hz 2.4G xen.xen
status 0
cat "$OUT" >> text
golden t113_hypertrace_text text

# JSON has each number of CSV. It and CSV come from the same statements of facts.
for file in first.dat boot.dat liar.dat others.dat lossy.dat strangers.dat later.dat ours.dat early.dat \
	unclocked.dat whole.dat; do
	run report --quiet --format csv $all $file
	cp "$OUT" as_csv
	run report --quiet --format json $all $file
	status 0
	check "$file: JSON has the numbers of CSV" python3 - "$OUT" as_csv <<'END'
import csv
import json
import sys

def leaves(value):
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
        # CSV has the length of a stage
        if "from_ns" in value and "to_ns" in value:
            yield value["to_ns"] - value["from_ns"]
    elif not isinstance(value, str):
        yield value

there, n = set(leaves(json.load(open(sys.argv[1])))), 0
for row in csv.DictReader(open(sys.argv[2])):
    for name, text in row.items():
        if name.endswith("_ns") or name == "count":
            assert not text or int(text) in there or int(text) == 0, row
            n += bool(text)
assert n > 5, n
END
done

# The report has the numbers of an independent count.
for name in first boot; do
	run dump --quiet --hypertrace --format json $name.dat
	cp "$OUT" calls
	run report --quiet --format json --hypertrace --boot --function '*' $name.dat
	check "$name: by brute force" python3 "$GOLDEN/hyper_oracle.py" "$OUT" calls $name.truth
done

# A guest that makes no hypercalls may record its boot in its own trace.
python3 "$GOLDEN/hyper_files.py" silent silent.dat
python3 "$GOLDEN/hyper_files.py" silent_g1 silent_g1.dat
cat > silent_g1.dat.meta.json <<'END'
{ "alignment": { "host": "silent.dat", "source": "causality", "offset": 0, "unit": "ns",
  "interval": [ 0, 0 ], "drift_ppm": 0, "after_trace_cmd": false,
  "vcpus": [ { "guest_cpu": 0, "tid": 2272 }, { "guest_cpu": 1, "tid": 2273 } ] } }
END
run report --quiet --boot --kallsyms kallsyms silent.dat silent_g1.dat
status 0
golden t113_hypertrace_own "$OUT"
run report --quiet --boot silent.dat
says "$OUT" 'no guest makes hypercalls in it'
run report --quiet --format json --boot silent.dat silent_g1.dat
check "levels of the guest's own trace" python3 - "$OUT" <<'END'
import json
import sys
report = json.load(open(sys.argv[1]))
assert report["hypertrace"] == []
boot = report["boot"][0]
assert boot["source"] == "trace"
assert [(s["kind"], s["name"], s["from_ns"] - (1 << 40), s["to_ns"] - (1 << 40), s["end_known"])
        for s in boot["stages"]] == [
    ("level", "early", 50000, 251000, True), ("level", "core", 251000, 604000, True),
    ("initcall", "initcall 0xffffffff81200000", 452000, 603000, True),
    ("level", "no such level", 604000, 805000, True),
    ("level", "late", 805000, report["window_ns"][1] - (1 << 40), False)], boot["stages"]
assert all(0 < s["true_ns"] <= s["to_ns"] - s["from_ns"] and s["tracing_calls"] == 0
           for s in boot["stages"])
END

# A window: what begins in it counts, time is clipped.
run report --quiet --format json --hypertrace --boot --from 1099512000us --to 1099512300us boot.dat
status 0
check "calls of the window, levels clipped to it" python3 - "$OUT" <<'END'
import json
import sys
report = json.load(open(sys.argv[1]))
assert report["hypertrace"][0]["calls"]["decoded"] == 3, report["hypertrace"]
stages = {s["name"]: (s["from_ns"], s["to_ns"]) for s in report["boot"][0]["stages"]}
assert stages == {"start_kernel": (1099512000000, 1099512300000),
                  "pure": (1099512000000, 1099512044776), "core": (1099512044776, 1099512147776),
                  "core_sync": (1099512147776, 1099512300000),
                  "acpi_ini": (1099512250776, 1099512300000)}, stages
END

# An impossible cost counts as unknown.
python3 "$GOLDEN/hyper_files.py" endless endless.dat
run report --quiet --format json --boot endless.dat
check "costs that cannot be" python3 - "$OUT" <<'END'
import json
import sys
stages = json.load(open(sys.argv[1]))["boot"][0]["stages"]
assert [(s["tracing_calls"], s["tracing_ns"]) for s in stages] == [(1, 1500), (4, 700), (1, 1500)], stages
END

# All formats have the same calls; what counts calls is no number of its own.
python3 "$GOLDEN/hyper_files.py" crowd crowd.dat
run report --quiet --format json --hypertrace=hypertrace crowd.dat
cp "$OUT" crowd.json
run report --quiet --hypertrace=hypertrace crowd.dat
says "$OUT" 'no events in hypercall_0x485415?? 300 (senseless), hypercall_20000 1'
says "$OUT" 'and 7 of other numbers'
says "$OUT" '1 hypercalls are of threads that are no vCPUs'
run report --quiet --format csv --hypertrace=hypertrace crowd.dat
check "CSV has what JSON has" python3 - crowd.json "$OUT" <<'END'
import csv
import json
import sys
report = json.load(open(sys.argv[1]))
rows = [(r["section"], r["name"], r["vcpu"], r["count"], r["total_ns"])
        for r in csv.DictReader(open(sys.argv[2])) if r["file"] == "crowd.dat"]
machine = report["hypertrace"][0]
assert machine["numbers"][0] == {"nr": 0x48541500, "name": "hypercall_0x485415??", "result": "senseless",
                                 "count": 300}, machine["numbers"][0]
for number in machine["numbers"]:
    assert ("hyper_number_" + number["result"], number["name"], "", str(number["count"]), "") in rows, number
assert ("hyper_number", "others", "", str(machine["other_numbers"]), "") in rows
assert ("hyper_stray_calls", "", "", str(report["stray_hypercalls"]), "") in rows
END

# Names are those that are known.
cat > own.json <<'END'
{ "hypertrace_dialect": "own",
  "events": [ { "number": 1213469957, "name": "initcall", "kind": "initcall", "edge": "entry",
                "fields": [ { "is": "address", "register": 1 } ] } ],
  "names": [ { "kind": "initcall", "number": 3, "name": "the third" } ] }
END
python3 "$GOLDEN/hyper_files.py" to_come to_come.dat
run report --quiet --format json --boot to_come.dat
check "no other names" python3 - "$OUT" <<'END'
import json
import sys
stages = json.load(open(sys.argv[1]))["boot"][0]["stages"]
assert [s["name"] for s in stages] == ["module loaded", "phase 99", "postcore", "level 12",
                                       "initcall 0xffffffff00000003"], stages
END
run report --quiet --boot --hypertrace=./own.json to_come.dat
says "$OUT" 'initcall 0xffffffff00000003'

# One at a time; a pattern of names, or of addresses if there are none; a vCPU of another machine.
run report --quiet --boot first.dat
status 0
says "$OUT" 'it reports no phase and no level'
check "no tasks" test "$(grep -c "guest's tasks" "$OUT")" = 0
run report --quiet --function 'pick*' --kallsyms kallsyms first.dat
status 0
says "$OUT" 'pick_next_task'
check "only that" test "$(grep -c vfs_read "$OUT")" = 0
run report --quiet --function '0x*400' first.dat
says "$OUT" '0xffffffff81000400'
run report --quiet --function 'nothing' first.dat
says "$OUT" 'none of 2 calls of functions matches'
run report --quiet --hypertrace --vcpu d2 --cpu-hz 2.4G xen.xen
check "not d1" test "$(grep -c 'hypertracing of d1' "$OUT")" = 0
says "$OUT" 'hypertracing of d2'
run report --quiet --hypertrace "$SAMPLES/kvm-shared.dat"
status 0
says "$OUT" 'no guest makes hypercalls in it: of KVM record kvm:kvm_hypercall'

# What does not go together.
run report --hypertrace --worst 3 first.dat
status 2
run report --boot --tracing first.dat
status 2
run report --kallsyms kallsyms first.dat
status 2
run report --hypertrace=klingon first.dat
status 2
run report --hypertrace=none.json first.dat
status 3
run report --boot --kallsyms none first.dat
status 3
finish
