# SPDX-License-Identifier: LGPL-2.1-or-later
# report --exits: what VM exits were for, as the records say it.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

run report --quiet --exits kvm-host.dat
status 0
golden t272_exits_kvm-host "$OUT"
run report --quiet --exits cases/exits.dat
status 0
golden t272_exits "$OUT"

# against TRACE [OPTION...]: the report of a window, and what its records say
against()
{
	local trace=$1 format

	shift
	for format in json csv; do
		run report --quiet --exits --format $format "$@" "$trace"
		status 0
		cp "$OUT" "$WORK/exits.$format"
	done
	trace-cmd report -R -t "$trace" > "$WORK/raw.txt" 2> "$WORK/said"
	# shellcheck disable=SC2046
	check "$trace $*: as in the records" python3 "$GOLDEN/exits_oracle.py" \
		"$WORK/exits.json" "$WORK/exits.csv" "$WORK/raw.txt" \
		$(printf '%s\n' "$@" | sed -n 's/^--\(from\|to\)=\([0-9]*\)\.\([0-9]*\)$/\2\3/p')
}

against kvm-host.dat
against kvm-host.dat --from=1794.000000001 --to=1794.500000000
against kvm-host.dat --from=1795.100000000 --to=1796.600000000
against kvm-hypercall.dat
against cases/exits.dat
# an exit begins, its record follows after the end of the window
against cases/exits.dat --from=100.000000000 --to=100.000005351
against cases/exits.dat --from=100.000005350 --to=100.000400000
against cases/exits.dat --from=100.000400000 --to=100.001463151

# An event that was not recorded: the exits are there, and their arguments are unknown.
python3 "$GOLDEN/trace_dat_less.py" cases/exits.dat "$WORK/less.dat" kvm_msr kvm_page_fault
for event in kvm_msr kvm_page_fault; do
	run report --quiet --exits "$WORK/less.dat"
	status 0
	says "$OUT" "note     kvm:$event was not recorded: what the exits"
done
run report --quiet --exits --format json "$WORK/less.dat"
check "unknown, not another one" python3 - "$OUT" << 'END'
import json, sys
vcpus = json.load(open(sys.argv[1]))["vcpus"]
exits = {e["reason"]: e for e in vcpus[0]["exits"]}
for reason, count in ("MSR_WRITE", 28), ("MSR_READ", 5), ("EPT_VIOLATION", 132), ("L2:EPT_VIOLATION", 2):
    assert exits[reason]["count"] == count
    parts = exits[reason]["arguments"]
    assert [(p["argument"], p["count"]) for p in parts] == [("unknown", count)], parts
assert [p["argument"] for p in exits["CPUID"]["arguments"]][0].startswith("leaf 0x40000000")
assert "arguments" not in exits["EXTERNAL_INTERRUPT"]
END
# Everything else is the same without these events.
for page in --full --exits; do
	for trace in cases/exits.dat "$WORK/less.dat"; do
		run report --quiet $page --format csv "$trace"
		sed 's/^[^,]*,//' "$OUT" | grep -v '^[^,]*,[^,]*,\(L2:\)\?\(MSR\|EPT_VIOLATION\)' \
			> "$WORK/$(basename "$trace").csv"
	done
	check "$page: the rest is the same" cmp -s "$WORK/exits.dat.csv" "$WORK/less.dat.csv"
done

# Xen: the records of its handlers, against Xen's own xenalyze
for trace in hvm-exits.xen hvm-io.xen credit2-4.20.xen; do
	run report --quiet --exits --format json "$trace"
	status 0
	cp "$OUT" "$WORK/exits.json"
	if command -v xenalyze > /dev/null && ! sanitized; then
		xenalyze_says "$SAMPLES/$trace" --cpu-hz "$(known_hz "$trace")" --dump-all \
			> "$WORK/xenalyze"
		xenalyze_says "$SAMPLES/$trace" --cpu-hz "$(known_hz "$trace")" --summary \
			> "$WORK/summary"
		check "$trace: as xenalyze prints" python3 "$GOLDEN/exits_xen.py" \
			"$WORK/exits.json" "$WORK/xenalyze" "$WORK/summary"
	fi
done
run report --quiet --exits hvm-io.xen
status 0
golden t272_exits_xen "$OUT"

# one vCPU alone; not with another page; a trace without known exits
run report --quiet --exits --vcpu g1v1 kvm-host.dat
status 0
check "only what was asked for" test "$(grep -c 'VM exits' "$OUT")" = 2
run report --exits --waits kvm-host.dat
status 2
run report --quiet --exits --format json waits-ipi.dat
status 0
finish
