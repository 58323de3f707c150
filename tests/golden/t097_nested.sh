# SPDX-License-Identifier: LGPL-2.1-or-later
# A guest that is a host itself: exits of its guest are distinguished, as trace-cmd's text says; its own
# trace is that of a guest and of a host in one report.
. "$(dirname "$0")/lib.sh"

host=$SAMPLES/kvm-nested.dat guest=$SAMPLES/kvm-nested-g1.dat

# What goes on while l3vmm's guest does port I/O: 30 times out, 30 times in.
run report --full --quiet --from 1090.583879047 --to 1090.658429347 "$host" "$guest"
status 0
golden t097_io "$OUT"
says "$OUT" '  L2:IOIO                       60'

run align "$host" "$guest"
status 0
golden t097_align "$OUT"

# trace-cmd has taken L3's offset for the guest's while L3 ran: 724 events are 35.6 s too late
shifted=$SAMPLES/kvm-nested-shift.dat
run report --full "$shifted" "$SAMPLES/kvm-nested-shift-g1.dat"
status 0
says "$OUT" "100.000 % of 690 records lie where g1v0 executed its guest; 374 more lie outside of the"
says "$ERR" "trace-cmd's own time offsets of this guest jump by 35.596 s"
check "once, though the file is a guest's and a host's" [ "$(grep -c 'jump by' "$ERR")" = 1 ]
run align --format json "$shifted" "$SAMPLES/kvm-nested-shift-g1.dat"
status 0
says "$ERR" "trace-cmd's own offsets are wrong: they change by 35596100960 ns, and with them 724 of"
check "events alone put all of them right, and agree with the offsets of the others" \
	python3 - "$OUT" << 'END'
import json, sys
r = json.load(open(sys.argv[1]))
low, high = r["interval"]
print(" ", r["offset"], low, high, r["trace_cmd"])
sys.exit(r["source"] != "causality" or r["explained_percent"] != 100 or r["unknown"] != 0 or
         not low <= r["trace_cmd"]["least"] <= high or high - low > 33000)
END

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing: that is all (Debian: apt-get install trace-cmd)"
	finish
}

# two_reports NAME FILE...: of a host with its guest, and of the guest as a host, one behind the other, are
# NAME-host.json and NAME-guest.json
two_reports()
{
	local name=$1

	shift
	run report --quiet --format json "$@"
	status 0
	check "two reports" python3 - "$OUT" "$WORK/$name" << 'END'
import json, sys
host, guest = json.load(open(sys.argv[1]))["reports"]
json.dump(host, open(sys.argv[2] + "-host.json", "w"))
json.dump(guest, open(sys.argv[2] + "-guest.json", "w"))
END
}

# oracles HOST GUEST [INNER]
oracles()
{
	two_reports all "$@"
	# whose tasks are those of the guest itself: t172_nested_tasks.sh judges them with INNER's
	two_reports two "$1" "$2"
	trace-cmd report -t "$1" > "$WORK/host.txt" 2>/dev/null
	trace-cmd report -t "$2" > "$WORK/guest.txt" 2>/dev/null
	check "the host" python3 "$GOLDEN/kvm_oracle.py" "$WORK/two-host.json" "$WORK/host.txt" \
		"$WORK/guest.txt"
	check "the guest as a host" python3 "$GOLDEN/kvm_oracle.py" "$WORK/all-guest.json" \
		"$WORK/guest.txt"
}

# A Linux as the guest's guest, which has a trace of its own, aligned with the guest's.
oracles "$SAMPLES/kvm-nested-linux.dat" "$SAMPLES/kvm-nested-linux-g1.dat" \
	"$SAMPLES/kvm-nested-linux-n1.dat"
check "the guest's guest inside its vCPU" python3 - "$WORK/all-guest.json" << 'END'
import json, sys
(inner,) = json.load(open(sys.argv[1]))["guests"]
(cpu,) = inner["cpus"]
print(" ", cpu)
sys.exit(cpu["vcpu"] != "g1v0" or cpu["inside"] < 2000 or cpu["outside"] != 0)
END

oracles "$host" "$guest"

run report --quiet --format json --worst 1000000 --kind exit "$host"
status 0
check "levels, exit by exit" python3 "$GOLDEN/nested_exits.py" "$OUT" "$WORK/host.txt" \
	"$WORK/guest.txt"

# They find it if a number is wrong.
sed 's/"nested": true/"nested": false/' "$OUT" > "$WORK/wrong.json"
if python3 "$GOLDEN/nested_exits.py" "$WORK/wrong.json" "$WORK/host.txt" "$WORK/guest.txt" \
	> "$WORK/said"; then
	fail "a wrong level is not noticed"
fi
awk '/ kvm_nested_vmexit:/ && !done { done = 1; next } { print }' "$WORK/host.txt" \
	> "$WORK/less.txt"
if python3 "$GOLDEN/kvm_oracle.py" "$WORK/two-host.json" "$WORK/less.txt" \
	"$WORK/guest.txt" > "$WORK/said"; then
	fail "a missing record is not noticed"
fi
finish
