# SPDX-License-Identifier: LGPL-2.1-or-later
# diff: of every sample, cut in two, what differs is the difference of two reports.
. "$(dirname "$0")/lib.sh"

ORACLE=$GOLDEN/diff_oracle.py
compared=0
found=0

# is_difference by-id|by-name DIFF-ARGUMENT...: of what is in before.json and after.json
is_difference()
{
	local format n how=$1
	shift

	for format in csv json; do
		run diff --quiet --above 0 --most 1000000 --format $format "$@"
		[ "$STATUS" -le 1 ] || fail "diff $*: status $STATUS"
		cp "$OUT" "$WORK/diff.$format"
	done
	check "diff $*" python3 "$ORACLE" "$WORK/before.json" "$WORK/after.json" \
		"$WORK/diff.csv" "$WORK/diff.json" "$how" > "$WORK/compared"
	read -r n < "$WORK/compared"
	[[ $n =~ ^[0-9]+$ ]] && compared=$((compared + n))
	return 0
}

report_of() # NAME ARGUMENT...
{
	run report --quiet --format json "${@:2}"
	[ "$STATUS" = 0 ] || return 1
	cp "$OUT" "$WORK/$1.json"
}

mapfile -t samples < <(chosen "$SAMPLES"/*.xen "$SAMPLES"/*.xen.gz "$SAMPLES"/*.dat)
for sample in "${samples[@]}"; do
	if ! report_of whole "$sample"; then
		run diff -q --at 1 "$sample"
		status 3
		continue
	fi
	found=$((found + 1))
	at=$(python3 -c 'import json, sys; print(sum(json.load(open(sys.argv[1]))["window_ns"]) // 2)' \
		"$WORK/whole.json")
	report_of before --to "${at}ns" "$sample" && report_of after --from "${at}ns" "$sample" &&
		is_difference by-id --at "${at}ns" "$sample"
	# with itself, nothing differs
	run diff -q --above 0 "$sample" "$sample"
	status 0
	says "$OUT" 'Nothing differs'
done
check "there are samples ($found)" test "$found" -ge "$(least 25)"
check "there are numbers ($compared)" test "$compared" -ge "$(least 800)"

# Two traces, one of which has vCPUs that the other one has not.
report_of before "$SAMPLES/kvm-host.dat"
report_of after "$SAMPLES/kvm-shared.dat"
is_difference by-name "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-shared.dat"
report_of before "$SAMPLES/pinned.xen"
report_of after "$SAMPLES/credit2-basic.xen"
is_difference by-id "$SAMPLES/pinned.xen" "$SAMPLES/credit2-basic.xen"
report_of before --vcpu d1 "$SAMPLES/pinned.xen"
report_of after --vcpu d1 "$SAMPLES/credit2-basic.xen"
is_difference by-id --vcpu d1 "$SAMPLES/pinned.xen" "$SAMPLES/credit2-basic.xen"

# If two traces have names, these identify machines.
report_of before "$SAMPLES/recording-xen"
report_of after "$SAMPLES/saved.xen"
is_difference by-name "$SAMPLES/recording-xen" "$SAMPLES/saved.xen"

cd "$SAMPLES" || exit 1
run diff -q --at 1795 kvm-host.dat
status 1
golden t142_diff "$OUT"
run diff -q recording-xen credit2-basic.xen
golden t142_diff_others "$OUT"
run diff -q --at 1795 --above 10ms --most 3 kvm-host.dat
check "the three largest" test "$(grep -c ' of each second' "$OUT")" = 3
run diff -q --at 1795 --above 10s kvm-host.dat
status 0

# VM exits by argument add up to their reason, and are those of report --exits of both windows.
arguments=0

# has_arguments same|other DIFF-ARGUMENT...: of BEFORE and AFTER, whose arguments these are
has_arguments()
{
	local format how=$1 n side
	shift

	for side in before after; do
		local -n of=$side

		report_of $side "${of[@]}" && run report --quiet --exits --format json "${of[@]}"
		status 0
		cp "$OUT" "$WORK/$side-exits.json"
	done
	for format in csv json; do
		run diff --quiet --exits --above 0 --most 1000000 --format $format "$@"
		status 1
		cp "$OUT" "$WORK/diff.$format"
	done
	check "diff --exits $*" python3 "$GOLDEN/diff_arguments.py" "$WORK/before.json" \
		"$WORK/after.json" "$WORK/before-exits.json" "$WORK/after-exits.json" \
		"$WORK/diff.csv" "$WORK/diff.json" "$how" > "$WORK/compared"
	read -r n < "$WORK/compared"
	[[ $n =~ ^[0-9]+$ ]] && arguments=$((arguments + n))
	return 0
}

for cut in 'kvm-host.dat 1795' 'kvm-memory.dat 29' 'hvm-io.xen 5' 'cases/exits.dat 100.0004'; do
	read -r sample at <<< "$cut"
	before=(--to "$at" "$sample") after=(--from "$at" "$sample")
	has_arguments same --at "$at" "$sample"
done
before=(kvm-hypercall.dat) after=(cases/exits.dat)
has_arguments other kvm-hypercall.dat cases/exits.dat
before=(hvm-exits.xen) after=(hvm-io.xen)
has_arguments other hvm-exits.xen hvm-io.xen
check "there are arguments ($arguments)" test "$arguments" -ge 300

run diff -q --exits --at 1795 --most 4 kvm-host.dat
golden t142_diff_exits "$OUT"

# Traces that keep other arguments apart, and one without causes: none differs by its name alone.
run diff -q --exits --above 0 -f json kvm-memory.dat kvm-host.dat
check "the page of one trace is among the others of both" python3 - "$OUT" << 'END'
import json, sys
npf, = (i for i in json.load(open(sys.argv[1]))["differences"] if (i["kind"], i.get("what")) == ("exits", "NPF"))
parts = {part["argument"]: part for part in npf["arguments"]}
# the device's page of kvm-host.dat may be in kvm-memory.dat as well, which keeps 64 others
assert "page 0xfeb02000" not in parts and parts["others"]["after_count"] == npf["after_count"] > 0
assert not any("cause" in part for part in npf["arguments"])
assert sum(part["before_count"] for part in npf["arguments"]) == npf["before_count"]
END
# An event that one trace does not have.
python3 "$GOLDEN/trace_dat_less.py" cases/exits.dat "$WORK/less.dat" kvm_msr
run diff -q --exits --above 0 -f json kvm-hypercall.dat "$WORK/less.dat"
check "unknown, and nothing else" python3 - "$OUT" << 'END'
import json, sys
items = {i["what"]: i for i in json.load(open(sys.argv[1]))["differences"] if i["kind"] == "exits"}
assert items["MSR_WRITE"]["arguments"] is None, items["MSR_WRITE"]
assert items["IO_INSTRUCTION"]["arguments"]
END
run diff -q --exits --above 0 kvm-hypercall.dat "$WORK/less.dat"
says "$OUT" 'what for is unknown'

# A state that includes another one says so: without the class hvm, guest includes hypervisor.
python3 "$GOLDEN/xen_less.py" hvm-exits.xen "$WORK/sched.xen" 'event >> 16 != 8 or 0x10f000'
run diff -q --at 20ms "$WORK/sched.xen"
says "$OUT" ' was in its guest or in the hypervisor for '
run diff -q --at 20ms -f json "$WORK/sched.xen"
cp "$OUT" "$WORK/includes.json"
run diff -q --at 20ms -f csv "$WORK/sched.xen"
check "JSON and CSV name the other state" python3 - "$WORK/includes.json" "$OUT" << 'END'
import csv, json, sys
items = [i for i in json.load(open(sys.argv[1]))["differences"] if i["kind"] == "state"]
rows = [r for r in csv.DictReader(open(sys.argv[2])) if r["kind"] == "state" and not r["by"]]
assert any(i["what"] == "guest" for i in items)
for state, other in [(i["what"], i.get("includes", "")) for i in items] + \
        [(r["what"], r["includes"]) for r in rows]:
    assert other == ("hypervisor" if state == "guest" else ""), (state, other)
END

# What is wrong.
for arguments in '' pinned.xen '--at 1 pinned.xen saved.xen' 'pinned.xen saved.xen dom0.xen' \
	'--from 1 pinned.xen saved.xen' '--at 9000 pinned.xen' '--at 0 pinned.xen' \
	'--above tsc:5 --at 1 pinned.xen' '--most x --at 1 pinned.xen' '--most -1 --at 1 pinned.xen' \
	'--at 1 --from 2 --to 1 pinned.xen'; do
	# shellcheck disable=SC2086
	run diff $arguments
	status 2
	check "nothing is written" test ! -s "$OUT"
done
# vCPUs of Xen and of KVM have nothing to do with each other, whatever they are called
for traces in 'hvm-exits.xen kvm-host.dat' 'kvm-host.dat hvm-exits.xen'; do
	run diff -q $traces
	status 2
	says "$ERR" "give two traces of the same hypervisor"
done
run diff pinned.xen README.md
status 3
run diff -o "$SAMPLES/pinned.xen" pinned.xen saved.xen
status 2
echo old > "$WORK/file"
chmod 555 "$WORK"
if [ "$(id -u)" != 0 ]; then
	run diff -o "$WORK/file" pinned.xen saved.xen
	status 3
fi
chmod 755 "$WORK"
check "nothing has changed" test "$(cat "$WORK/file")" = old

# Names of others: quotes, line ends; domains of one name, whatever their number.
cp saved.xen "$WORK/odd.xen"
python3 - saved.xen.meta.json "$WORK/odd.xen.meta.json" << 'END'
import json, sys
meta = json.load(open(sys.argv[1]))
for domain in meta["domains"]:
    domain["name"] = "a,\"b'c\nd\\"
json.dump(meta, open(sys.argv[2], "w"))
END
run diff -q --above 0 --at 100ms "$WORK/odd.xen"
status 1
check "a name is escaped" grep -qF "(a,\"b'c\\x0ad\\\\) was" "$OUT"
check "and is a line" test "$(grep -c '^d\\' "$OUT")" = 0

finish
