# SPDX-License-Identifier: LGPL-2.1-or-later
# compare --boot: phases and levels of two boots, with the numbers that report --boot has.
. "$(dirname "$0")/lib.sh"

for name in boot slow_boot first; do
	python3 "$GOLDEN/hyper_files.py" $name "$WORK/$name.dat" || fail "no story $name"
done
cd "$WORK" || exit 1
for name in boot slow_boot; do
	run report --quiet --format json --boot $name.dat
	mv "$OUT" $name.json
done

# One boot each: what differs is seen, and that one value shows nothing of noise.
run compare --quiet --boot fast=boot.dat slow=slow_boot.dat --statistic mean
status 4
golden t117_compare_boot "$OUT"
run compare --quiet --boot --format csv fast=boot.dat slow=slow_boot.dat --statistic mean
status 4
check "as report --boot has it" python3 - "$OUT" boot.json slow_boot.json <<'END'
import csv
import json
import sys
got = {(row["run"], row["metric"]): float(row["value"]) for row in csv.DictReader(open(sys.argv[1]))
       if row["statistic"] == "mean"}
wanted = {}
for run, path in zip(("fast", "slow"), sys.argv[2:]):
    for machine in json.load(open(path))["boot"]:
        for stage in machine["stages"]:
            if stage["kind"] not in ("phase", "level", "shutdown") or not stage["end_known"]:
                continue
            name = "%s.boot_%s_" % (machine["machine"], stage["name"])
            wanted[run, name + "ns"] = stage["to_ns"] - stage["from_ns"]
            for metric in "true_ns", "exits", "exits_ns":
                wanted[run, name + metric] = stage[metric]
assert len(wanted) >= 40 and got == wanted, (got, wanted)
assert got["slow", "g1.boot_core_ns"] - got["fast", "g1.boot_core_ns"] == 250000, got
END

# Several boots of each kind: the output says which differences are more than noise.
for i in 1 2 3 4; do
	cp boot.dat boot$i.dat
	cp slow_boot.dat slow$i.dat
done
run compare --quiet --boot fast=boot1.dat fast=boot2.dat fast=boot3.dat fast=boot4.dat \
	slow=slow1.dat slow=slow2.dat slow=slow3.dat slow=slow4.dat --statistic mean --format csv
status 1
check "the longer level is found" grep -q '^g1.boot_core_ns,slow,mean,.*,different,' "$OUT"
check "others are alike" test "$(grep -c '^g1.boot_early_ns,slow,mean,.*,different,' "$OUT")" = 0

# A guest without a boot, options that exclude each other.
run compare --quiet --boot boot.dat first.dat
status 3
says "$ERR" "first.dat: has no complete phase or level of a guest's boot"
run compare --quiet --hypertrace hypergraph boot.dat slow_boot.dat
status 2
says "$ERR" '--hypertrace requires --boot'
run compare --quiet --boot --hypertrace klingon boot.dat slow_boot.dat
status 2
run compare --quiet --boot --hypertrace hypergraph boot.dat slow_boot.dat
status 4
finish
