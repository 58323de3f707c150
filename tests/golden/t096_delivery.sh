# SPDX-License-Identifier: LGPL-2.1-or-later
# What a KVM host's trace and its guest's show together: interrupts from their injection to the
# handler, and wake-ups down to the guest. See delivery_oracle.py.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

# oracle: what is seen can be judged by the records
oracle()
{
	! sanitized && command -v trace-cmd > /dev/null
}

# pair NAME HOST GUEST TID...
pair()
{
	local name=$1 host=$2 guest=$3

	shift 3
	run report --worst 5 --kind irq "$host" "$guest"
	status 0
	cp "$OUT" "$WORK/text"
	check "$name: nothing to complain of" test ! -s "$ERR"
	run report --worst 5 --kind wake "$host" "$guest"
	status 0
	cat "$OUT" >> "$WORK/text"
	run report --full --quiet "$host" "$guest"
	status 0
	sed -n '/^  interrupt delivery/,/^$/p' "$OUT" >> "$WORK/text"
	golden "t096_$name" "$WORK/text"
	run report --quiet --format json "$host" "$guest"
	status 0
	cp "$OUT" "$WORK/report.json"
	run report --quiet --format json --worst 1000000 --kind irq,wake "$host" "$guest"
	status 0
	cp "$OUT" "$WORK/worst.json"
	oracle || return
	trace-cmd report -l -t -i "$host" -i "$guest" > "$WORK/records" 2> /dev/null
	echo "$name:"
	check "$name: as the records show" python3 "$GOLDEN/delivery_oracle.py" \
		"$WORK/worst.json" "$WORK/report.json" "$WORK/records" "$host" "$guest" "$@"
}

pair migration kvm-migration.dat kvm-migration-g1.dat 2394 2395
pair host kvm-host.dat kvm-guest.dat 3414 3415

# Where the guest records what the handlers of the local timer and of a device do first, these and
# no other events show them: the pairing rests on no vector, but it comes out right by vector.
check "handlers are those of the vectors" python3 - "$WORK/worst.json" << 'END'
import collections, json, sys
shown = collections.defaultdict(collections.Counter)
for moment in json.load(open(sys.argv[1]))["worst"]:
    if moment["kind"] == "irq":
        shown[moment["vector"]][moment["event"]] += 1
assert set(shown[0xec]) == {"hrtimer_expire_entry"} and shown[0xec].total() > 400, shown
assert set(shown[0x22]) == {"irq_handler_entry"} and shown[0x22].total() >= 10, shown
assert not set(shown[0xfb]) & {"hrtimer_expire_entry", "irq_handler_entry"}, shown
END

# The oracle finds it if a record is missing.
if oracle; then
	awk '/hrtimer_expire_entry/ && ++n == 100 { next } { print }' "$WORK/records" \
		> "$WORK/fewer"
	if python3 "$GOLDEN/delivery_oracle.py" "$WORK/worst.json" "$WORK/report.json" \
		"$WORK/fewer" kvm-host.dat kvm-guest.dat 3414 3415 > "$WORK/said"; then
		fail "a missing record is not noticed"
	fi
fi

# All formats have the same contents.
run report --quiet --format csv --worst 1000000 --kind irq,wake kvm-host.dat kvm-guest.dat
status 0
check "CSV as JSON" python3 - "$WORK/worst.json" "$OUT" << 'END'
import csv, json, sys
moments, rows = json.load(open(sys.argv[1]))["worst"], list(csv.DictReader(open(sys.argv[2])))
assert len(moments) == len(rows)
for moment, row in zip(moments, rows):
    assert row["kind"] == moment["kind"] and row["end_ns"] == str(moment["end_ns"])
    if moment["kind"] == "irq":
        assert row["vector"] == str(moment["vector"]) and row["event"] == moment["event"]
        assert row["what"] == moment.get("name", ""), row
    else:
        guest = [step for step in moment["chain"] if step["step"] == "guest"]
        assert row["event_ns"] == "".join(str(step["time_ns"]) for step in guest), row
END

# One vCPU, and a window: what is injected in it.
run report --quiet --format json --vcpu g1v1 --from 1794s --to 1795s kvm-host.dat kvm-guest.dat
status 0
cp "$OUT" "$WORK/report.json"
run report --quiet --format json --worst 1000000 --kind irq --vcpu g1v1 --from 1794s --to 1795s \
	kvm-host.dat kvm-guest.dat
status 0
check "a vCPU in a window" python3 - "$WORK/report.json" "$OUT" << 'END'
import json, sys
vcpus = json.load(open(sys.argv[1]))["interrupt_delivery"]["vcpus"]
worst = json.load(open(sys.argv[2]))["worst"]
assert [v["vcpu"] for v in vcpus] == ["g1v1"] and worst
assert vcpus[0]["seen"] == len(worst) and vcpus[0]["max_ns"] == worst[0]["cost_ns"]
assert all(1794e9 <= w["time_ns"] < 1795e9 and w["vcpu"] == "g1v1" for w in worst)
END

# A guest that records vectors: with the right one, the 10 handlers of the device are seen as before;
# with another one, none is.
if command -v trace-cmd > /dev/null; then
	trace-cmd convert --file-version 6 -i kvm-guest.dat -o "$WORK/v6.dat" > "$WORK/said" 2>&1
	for vector in 0x22 0x23; do
		check "a trace with irq_vectors" python3 "$GOLDEN/irq_vectors.py" "$WORK/v6.dat" \
			"$WORK/vectors.dat" $vector
		run report --quiet --format json kvm-host.dat "$WORK/vectors.dat"
		status 0
		says "$OUT" "{\"vector\": 34, \"injected\": 29, $([ $vector = 0x22 ] &&
			echo '"seen": 10, "not_seen": 0' || echo '"seen": 0, "not_seen": 10')"
	done
fi

# Xen: event channels reach a PVH domain by vector 0xf3, and its handlers record irq_handler_entry.
cp domU.xen.gz domU.xen.meta.json domU-ftrace.dat "$WORK"
run align --write "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
status 0
run report --worst 3 --kind irq,wake --vcpu d1 "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
status 0
check "Xen: nothing to complain of" test ! -s "$ERR"
cp "$OUT" "$WORK/text"
run report --full --quiet "$WORK/domU.xen.gz" "$WORK/domU-ftrace.dat"
status 0
sed -n '/^  interrupt delivery/,/^$/p' "$OUT" >> "$WORK/text"
golden t096_xen "$WORK/text"
run report --quiet --format json --worst 1000000 --kind irq "$WORK/domU.xen.gz" \
	"$WORK/domU-ftrace.dat"
cp "$OUT" "$WORK/worst.json"
run dump --quiet --format csv "$WORK/domU.xen.gz"
cp "$OUT" "$WORK/rows.csv"
if oracle; then
	trace-cmd report -l "$WORK/domU-ftrace.dat" > "$WORK/records" 2> /dev/null
	check "Xen: as the records show" python3 "$GOLDEN/delivery_xen.py" "$WORK/worst.json" \
		"$WORK/rows.csv" "$WORK/records" "$WORK/domU-ftrace.dat.meta.json"
fi

# What is missing is said: the guest, and its alignment.
run report --worst 5 --kind irq kvm-host.dat
status 0
says "$OUT" "irq: unknown, as no aligned trace of the guest is given"
check "no claim that there is none" sh -c "! grep \"nothing of this kind\" \"\$1\"" - "$OUT"
run report --quiet --format json --worst 5 --kind irq kvm-host.dat
says "$OUT" '"not_visible": ["irq"]'

cp kvm-host.dat kvm-guest.dat "$WORK"
cat > "$WORK/kvm-guest.dat.meta.json" << 'END'
{ "alignment": { "host": "kvm-host.dat", "offset": 5000000, "drift_ppm": 0, "after_trace_cmd": true,
  "vcpus": [ { "guest_cpu": 0, "tid": 3414 }, { "guest_cpu": 1, "tid": 3415 } ] } }
END
cd "$WORK" || exit 1
run report --worst 5 --kind irq,wake kvm-host.dat kvm-guest.dat
status 0
says "$OUT" "irq: unknown, as the guest's clock is not aligned with the host's"
check "no event of a guest that is not aligned" sh -c "! grep -q 'of the guest' '$OUT'"
check "no handler of a guest that is not aligned" sh -c "! grep -q ' irq ' '$OUT'"
run report --full --quiet kvm-host.dat kvm-guest.dat
status 0
says "$OUT" "interrupt delivery is unknown, because the guest's clock is not aligned"

finish
