# SPDX-License-Identifier: LGPL-2.1-or-later
# compare --exits: what VM exits were for, as report --exits has it; a run without such exits has 0, and one whose
# trace cannot show them has nothing.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1
compared=0

# as_report TRACE...: the traces are the runs r0, r1 ...
as_report()
{
	local trace n=0 runs=() pages=()

	for trace; do
		run report --quiet --format json "$trace"
		cp "$OUT" "$WORK/report$n.json"
		run report --quiet --exits --format json "$trace"
		status 0
		cp "$OUT" "$WORK/exits$n.json"
		runs+=("r$n=$trace")
		pages+=("r$n=$WORK/exits$n.json=$WORK/report$n.json")
		n=$((n + 1))
	done
	run compare --quiet --exits --windows 1 --statistic mean,p50 --format csv "${runs[@]}"
	cp "$OUT" "$WORK/compared.csv"
	check "compare --exits $*" python3 "$GOLDEN/compare_exits.py" "$WORK/compared.csv" "${pages[@]}" > "$WORK/n"
	read -r n < "$WORK/n"
	[[ $n =~ ^[0-9]+$ ]] && compared=$((compared + n))
	return 0
}

as_report kvm-host.dat kvm-hypercall.dat cases/exits.dat
as_report hvm-exits.xen hvm-io.xen
as_report kvm-memory.dat kvm-memory.dat
python3 "$GOLDEN/trace_dat_less.py" cases/exits.dat "$WORK/less.dat" kvm_msr
as_report cases/exits.dat "$WORK/less.dat"
check "there are values ($compared)" test "$compared" -ge 400

# rates of ten windows have the mean of one
run compare -q --exits --statistic mean --metric 'g1.exits_per_s:MSR*' kvm-host.dat kvm-hypercall.dat
golden t092_compare_exits "$OUT"

# Of a run with several traces, one of which lacks an argument, all windows count.
run compare -q --exits --statistic mean --metric 'g1.exits_per_s:VMMCALL' -f csv a=kvm-host.dat a=kvm-hypercall.dat \
	b=kvm-hypercall.dat b=kvm-hypercall.dat
check "twenty windows each, and half the rate" python3 - "$OUT" << 'END'
import csv, sys
a, b = (row for row in csv.DictReader(open(sys.argv[1])))
assert a["values"] == b["values"] == "20" and abs(float(b["value"]) / float(a["value"]) - 2) < 1e-3, (a, b)
END

# A trace that shows no causes, and another one that does: what one of them cannot know is unknown there.
run compare -q --exits --statistic mean --metric 'g1.exits_per_s:NPF*' -f json kvm-host.dat kvm-memory.dat
check "unknown, and not 0" python3 - "$OUT" << 'END'
import json, sys
metrics = {m["metric"]: {s["run"]: s for s in m["statistics"]} for m in json.load(open(sys.argv[1]))["metrics"]}
assert "value" in metrics["g1.exits_per_s:NPF"]["kvm-host.dat"]
for name, lacks in ("g1.exits_per_s:NPF:swap-in", "kvm-host.dat"), \
        ("g1.exits_per_s:NPF:page 0xfeb02000", "kvm-memory.dat"):
    assert metrics[name][lacks].get("value") is None, metrics[name]
END

for arguments in '--exits --values kvm-durations.csv' '--exits --boot kvm-host.dat kvm-hypercall.dat'; do
	# shellcheck disable=SC2086
	run compare $arguments
	status 2
	says "$ERR" '--exits is of traces'
done
finish
