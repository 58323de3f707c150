# SPDX-License-Identifier: LGPL-2.1-or-later
# report --counters of processors' counters: small files by hand, with each number that they must have.
. "$(dirname "$0")/lib.sh"

cd "$WORK" || exit 1

# rows CASE KIND...: the rows of these kinds, in $WORK/rows; the laws hold
rows()
{
	local case=$1

	shift
	python3 "$GOLDEN/counters_files.py" "$case" "$case.data" || exit 1
	run report -q --counters --format csv "$case.data"
	status 0
	cp "$OUT" page.csv
	run report -q --counters --format json "$case.data"
	status 0
	cp "$OUT" page.json
	check "$case: laws" python3 "$GOLDEN/counters.py" laws page.json page.csv > n
	python3 - page.json "$@" << 'END' > rows
import json, sys
page = json.load(open(sys.argv[1]))
for kind in sys.argv[2:]:
    for row in page[kind]:
        subject = [row.get(key) for key in ("vcpu", "name", "pcpu", "state", "after", "counts_in") if row.get(key) is not None]
        ratios = [round(row[key], 6) for key in ("per_cycle", "per_1000_instructions") if key in row]
        counted = row["running_ns"] * 100 // row["enabled_ns"] if row["enabled_ns"] else row["enabled_ns"]
        print(kind, *subject, row["counter"], row["spans"], row["total_ns"], row["count"], *ratios, "counted", counted)
END
}

# expect WHAT: the rows must be those of standard input
expect()
{
	cat > expected
	check "$1" diff expected rows
}

rows runs vcpus after tasks
expect "by owner, and after steal" << 'END'
vcpus g1v0 both cycles:GH 3 60000 90000 counted 100
vcpus g1v0 both cpu/instructions/GH 3 60000 95000 1.055556 counted 100
vcpus g1v0 both cache-misses:GH 3 60000 650 6.842105 counted 100
vcpus g1v0 page-faults 3 60000 1 counted 100
after g1v0 steal both cycles:GH 1 20000 40000 counted 100
after g1v0 steal both cpu/instructions/GH 1 20000 20000 0.5 counted 100
after g1v0 steal both cache-misses:GH 1 20000 400 20.0 counted 100
after g1v0 steal page-faults 1 20000 0 counted 100
after g1v0 sleep both cycles:GH 1 20000 30000 counted 100
after g1v0 sleep both cpu/instructions/GH 1 20000 45000 1.5 counted 100
after g1v0 sleep both cache-misses:GH 1 20000 150 3.333333 counted 100
after g1v0 sleep page-faults 1 20000 0 counted 100
after g1v0 unknown both cycles:GH 1 20000 20000 counted 100
after g1v0 unknown both cpu/instructions/GH 1 20000 30000 1.5 counted 100
after g1v0 unknown both cache-misses:GH 1 20000 100 3.333333 counted 100
after g1v0 unknown page-faults 1 20000 1 counted 100
tasks idle both cycles:GH 1 31000 10 counted 100
tasks idle both cpu/instructions/GH 1 31000 5 0.5 counted 100
tasks idle both cache-misses:GH 1 31000 0 0.0 counted 100
tasks idle page-faults 1 31000 0 counted 100
tasks dd-3000 both cycles:GH 1 30000 60000 counted 100
tasks dd-3000 both cpu/instructions/GH 1 30000 15000 0.25 counted 100
tasks dd-3000 both cache-misses:GH 1 30000 900 60.0 counted 100
tasks dd-3000 page-faults 1 30000 2 counted 100
END
run report -q --counters runs.data
golden "$TEST" "$OUT"

# cycles and instructions of different sides, or modes, have nothing to do with each other
rows sides vcpus
expect "sides" << 'END'
vcpus g1v0 host cycles 3 60000 90000 counted 100
vcpus g1v0 guests instructions:G 3 60000 95000 146.153846 counted 100
vcpus g1v0 guests cycles:G 3 60000 650 counted 100
vcpus g1v0 host cycles:k 3 60000 1 counted 100
END

# A turn of others is long: who had the pCPU in it is unknown. Text has estimates.
rows shared tasks pcpus
grep -v ' page-faults \| cache-misses:GH ' rows > few
mv few rows
expect "counted in turns" << 'END'
tasks unknown both cycles:GH 1 8000000 3000 counted 50
tasks unknown both cpu/instructions/GH 1 8000000 4000 1.333333 counted 50
tasks dd-3000 both cycles:GH 3 440000 61000 counted 79
tasks dd-3000 both cpu/instructions/GH 3 440000 17000 0.278689 counted 79
tasks idle both cycles:GH 1 31000 10 counted 100
tasks idle both cpu/instructions/GH 1 31000 5 0.5 counted 100
pcpus 0 both cycles:GH 5 121000 150010 counted 100
pcpus 0 both cpu/instructions/GH 5 121000 110005 0.733318 counted 100
pcpus 1 both cycles:GH 3 8410000 4000 counted 51
pcpus 1 both cpu/instructions/GH 3 8410000 6000 1.5 counted 51
END
check "an estimate is count * enabled / running" python3 - page.json << 'END'
import json, sys
for rows in json.load(open(sys.argv[1])).values():
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and row.get("running_ns"):
            assert abs(row["estimate"] - row["count"] * row["enabled_ns"] / row["running_ns"]) < 1e-5, row
END
run report -q --counters shared.data
says "$OUT" "~6000"
says "$OUT" "events that are in a group with them may be missing, too"

# readings at entries and exits: states
rows states states after
expect "states" << 'END'
states g1v0 guest both cycles:GH 6 51000 900 counted 100
states g1v0 guest both cpu/instructions/GH 6 51000 1470 1.633333 counted 100
states g1v0 hypervisor both cycles:GH 9 9000 90060 counted 100
states g1v0 hypervisor both cpu/instructions/GH 9 9000 95030 1.055185 counted 100
after g1v0 steal both cycles:GH 5 20000 40320 counted 100
after g1v0 steal both cpu/instructions/GH 5 20000 20500 0.508433 counted 100
after g1v0 sleep both cycles:GH 5 20000 30320 counted 100
after g1v0 sleep both cpu/instructions/GH 5 20000 45500 1.50066 counted 100
after g1v0 unknown both cycles:GH 5 20000 20320 counted 100
after g1v0 unknown both cpu/instructions/GH 5 20000 30500 1.500984 counted 100
END

# lost records, and a switch without one: unknown; a counter that begins anew: no value, and not 0
rows gaps tasks pcpus
grep 'unknown\|dd-\|cp-\|pcpus 1' rows | grep 'cycles\|instr' > few
mv few rows
expect "gaps" << 'END'
tasks dd-3000 both cycles:GH 2 40000 60050 counted 100
tasks dd-3000 both cpu/instructions/GH 2 40000 15060 0.250791 counted 100
tasks unknown both cycles:GH 2 20000 1500 counted 100
tasks unknown both cpu/instructions/GH 2 20000 2700 1.8 counted 100
tasks cp-3001 both cycles:GH 1 10000 None counted 0
tasks cp-3001 both cpu/instructions/GH 1 10000 None counted 0
pcpus 1 both cycles:GH 4 40000 1550 counted 100
pcpus 1 both cpu/instructions/GH 4 40000 2760 counted 100
END
run report -q --counters gaps.data
says "$OUT" ">1550"
says "$OUT" "some counters began anew"

# without times, it is unknown how much was counted; without ids, what; alone, a counter is in no group
rows no-times vcpus
grep ' cycles' rows > few
mv few rows
expect "without times" << 'END'
vcpus g1v0 both cycles:GH 3 60000 90000 counted None
END
check "no estimate" test "$(grep -c '"estimate": null' page.json)" = "$(grep -c '"counter": ' page.json)"
run report -q --counters no-times.data
says "$OUT" "record with 'perf record -s'"
rows one after
expect "alone" << 'END'
after g1v0 steal both cycles:GH 1 20000 40000 counted 100
after g1v0 sleep both cycles:GH 1 20000 30000 counted 100
after g1v0 unknown both cycles:GH 1 20000 20000 counted 100
END
python3 "$GOLDEN/counters_files.py" no-ids no-ids.data
run report --counters no-ids.data
status 0
says "$OUT" "no counters were recorded"
says "$ERR" "30 values of counters are left out"

# other commands have the same numbers with counters and without
python3 "$GOLDEN/counters_files.py" plain plain.data
for what in --full --tasks --events; do
	run report -q "$what" --format json plain.data
	sed 's/plain.data/runs.data/' "$OUT" > plain.json
	run report -q "$what" --format json runs.data
	same "$OUT" plain.json
done
finish
