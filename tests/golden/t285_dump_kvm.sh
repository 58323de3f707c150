# SPDX-License-Identifier: LGPL-2.1-or-later
# dump of a KVM host and its guests: all records of all files in order of time. trace-cmd's own report of each file is
# the oracle for records, export for the states of vCPUs.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || { echo "trace-cmd is not installed"; exit 77; }
cd "$SAMPLES" || exit 1
out=$WORK/dump.csv

# equal MACHINE=FILE...: every record is there, with the state of its vCPU
equal()
{
	local files=("${@#*=}")

	run dump -q --format csv "${files[@]}"
	status 0
	cp "$OUT" "$out"
	rm -rf "$WORK/tables"
	run export -q --format csv-tables -o "$WORK/tables" "${files[@]}"
	status 0
	check "$*" python3 "$GOLDEN/dump_oracle.py" "$out" "$WORK/tables" "$@"
}

equal host=kvm-host.dat
# buffers, cycles of a TSC with the frequency of the sidecar, a machine that was restored
equal host=cases/instances.dat
equal host=kvm-restored.dat g1:web=kvm-restored-web.dat
# a clock that trace-cmd aligned, one of a sidecar with steps, two guests
equal host=kvm-host.dat g1=kvm-guest.dat
equal host=kvm-boot.dat g1=kvm-boot-g1.dat
equal host=kvm-talk.dat g1:db=kvm-talk-db.dat g2:web=kvm-talk-web.dat
# three levels: the vCPU of the innermost guest is that of the guest that executes it
equal host=kvm-nested-linux.dat g1=kvm-nested-linux-g1.dat n1=kvm-nested-linux-n1.dat
check "of the innermost guest, vCPUs are known" test "$(grep -c ',n1,[0-9]*,[0-9]*,[^,]*,[0-9]*,g1v[01],guest,' "$out")" -gt 1000

# Most records of a guest lie where its vCPU executes it: this judges state and vCPU by the guest's own records.
run dump -q --format csv --machine g1 kvm-host.dat kvm-guest.dat
status 0
check "the guest runs at its records" awk -F, 'NR > 1 { all += $8 != ""; guest += $8 == "guest" }
	END { exit !(all > 8000 && guest > 0.99 * all) }' "$OUT"

# Missing records are lines at their place, as many as trace-cmd prints, with the same number.
python3 "$GOLDEN/hyper_files.py" lossy "$WORK/lossy.dat" || fail "no story"
run dump -q --format csv "$WORK/lossy.dat"
status 0
grep ',lost_records,' "$OUT" | sed 's/^[0-9]*,host,\([0-9]*\),.*lost_records = \([a-z0-9]*\)$/\1 \2/' | sort > "$WORK/lost"
trace-cmd report "$WORK/lossy.dat" 2>/dev/null | sed -n 's/^CPU:\([0-9]*\) \[\([0-9]* \)\?EVENTS DROPPED\]$/\1 \2/p' |
	sed 's/^\([0-9]*\) $/\1 unknown/; s/ $//' | sort > "$WORK/right"
check "there are losses" test -s "$WORK/right"
same "$WORK/lost" "$WORK/right"
# missing records may be of a vCPU or of a task
run dump -q --format csv --vcpu d1v0 --task 'CPU 0/KVM' "$WORK/lossy.dat"
status 0
check "losses stay" test "$(grep -c ',lost_records,' "$OUT")" = "$(wc -l < "$WORK/right")"

# Every filter gives exactly those rows that awk picks. No field before the event has a comma here.
files=(waits-disk.dat waits-disk-web.dat)
run dump -q --format csv "${files[@]}"
cp "$OUT" "$out"
header=time_ns,machine,cpu,pcpu,task,pid,vcpu,state,system,event,info
check "the columns" test "$(head -1 "$out")" = $header
picks()
{
	local condition=$1 n

	shift
	awk -F, "NR == 1 || ($condition)" "$out" > "$WORK/picked"
	n=$(wc -l < "$WORK/picked")
	check "$*: some rows" test "$n" -gt 1
	check "$*: not all rows" test "$n" -lt "$(wc -l < "$out")"
	run dump -q --format csv "$@" "${files[@]}"
	status 0
	same "$OUT" "$WORK/picked"
}
picks '$2 == "host"' --machine host
picks '$2 == "g1:web"' --machine web
picks '$4 == 2' --pcpu 2
picks '$4 == 0 || ($4 != "" && $4 >= 2)' --pcpu 0,2-3
picks '$7 == "web v1"' --vcpu d1v1
picks '$7 ~ /^web /' --vcpu web
picks '$10 ~ /^kvm_e/' --event 'kvm_e*'
picks '$9 == "kvm" || $10 == "sched_switch"' --event 'kvm:*' --event sched_switch
picks '$5 ~ /^work\.sh-/' --task work.sh
picks '$6 == 195 || $5 == "idle"' --task 195 --task idle
picks '$2 == "g1:web" && $10 == "sched_switch" && $7 == "web v1"' --machine web --event sched_switch --vcpu d1v1
from=$(sed -n 12000p "$out" | cut -d, -f1)
to=$(sed -n 24000p "$out" | cut -d, -f1)
picks "\$1 >= $from && \$1 < $to" --from "${from}ns" --to "${to}ns"
picks "\$1 < $from" --to "${from}ns"
picks "\$1 >= $to" --from "${to}ns"

# All formats show the same.
run dump -q --format json --from "${from}ns" --to "${to}ns" "${files[@]}"
status 0
cp "$OUT" "$WORK/json"
run dump -q --from "${from}ns" --to "${to}ns" "${files[@]}"
status 0
cp "$OUT" "$WORK/text"
awk -F, "NR == 1 || \$1 >= $from && \$1 < $to" "$out" > "$WORK/csv"
cat > "$WORK/formats.py" <<'END'
import csv
import json
import re
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
objects = [json.loads(line) for line in open(sys.argv[2])]
lines = open(sys.argv[3]).read().splitlines()
assert len(rows) == len(objects) == len(lines) > 10000
fields = 0
for row, o, line in zip(rows, objects, lines):
    assert {k: "" if o[k] is None else str(o[k]) for k in row} == row, (row, o)
    assert o["version"] == 1
    whole = "%d.%09d" % divmod(o["time_ns"], 10**9)
    texts = [re.escape(text) for text in (row["machine"], row["task"], row["vcpu"] or "-",
                                          row["state"] or "-", row["event"], row["info"])]
    shown = r"%s +%s \[%03d\] +%s %s +%s: +%s: *%s" % (*texts[:2], o["cpu"], whole, *texts[2:])
    assert re.fullmatch(shown, line), (shown, line)
    if o["event"] == "sched_switch" and o["machine"] == "host":
        # the printed fields are the oracle for each by itself
        found = re.match(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=\S+ ==> "
                         r"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)$", o["info"])
        f = o["fields"]
        assert found.groups() == (f["prev_comm"], str(f["prev_pid"]), str(f["prev_prio"]),
                                  f["next_comm"], str(f["next_pid"]), str(f["next_prio"])), o
        fields += 1
assert fields > 100
END
check "formats" python3 "$WORK/formats.py" "$WORK/csv" "$WORK/json" "$WORK/text"

# Traces of other tools: perf.data and ftrace's text with the records of a trace.dat.
cd "$WORK" || exit 1
trace-cmd convert --file-version 6 --compression none -i "$SAMPLES/kvm-shared.dat" -o t.dat > /dev/null 2>&1
python3 "$GOLDEN/perf_data.py" t.dat p.data > /dev/null || fail "perf_data.py"
trace-cmd report -t -N t.dat > t.txt 2>/dev/null
for file in t.dat p.data t.txt; do
	run dump -q --format csv $file
	status 0
	cp "$OUT" "$file.csv"
done
check "there are records" test "$(wc -l < t.dat.csv)" -gt 5000
# time, CPU, pid, vCPU, state and event
cut -d, -f1,3,6-8,10 t.dat.csv > right
cut -d, -f1,3,6-8,10 p.data.csv > got
same got right
cut -d, -f1,3,6-8,10 t.txt.csv > got
same got right
# the fields, too, where perf has the event's own format
cut -d, -f1,3,10- t.dat.csv > right
cut -d, -f1,3,10- p.data.csv > got
same got right
# a pipe is a file as any other
run dump -q --format csv - < t.dat
check "standard input" test "$STATUS" -ne 2
"$KSV_BIN" dump -q --format csv - < t.dat > got
same got t.dat.csv

# LTTng: the same number of records of each event, on the same CPUs, as the trace.dat that it was made of.
tar -xJf "$SAMPLES/lttng-host.tar.xz" || exit 1
run dump -q --format csv lttng-host
if grep -qF "which this build does not read" "$ERR"; then
	echo "this build has no libbabeltrace2"
else
	status 0
	cut -d, -f3,10 "$OUT" | grep ',kvm_' | sort | uniq -c > got
	run dump -q --format csv "$SAMPLES/kvm-paused.dat"
	cut -d, -f3,10 "$OUT" | grep ',kvm_' | sort | uniq -c > right
	check "there are KVM's events" test "$(wc -l < right)" -gt 5
	same got right
fi

# What is wrong is said.
run dump --machine nobody "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 2
says "$ERR" "--machine nobody: no trace of such a machine; there are host, g1"
run dump -q --task nobody "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "--task nobody: no record of such a task"
run dump -e 'kvm_nothing*' "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "--event kvm_nothing*: no such event in the trace"
run dump --vcpu d9 "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "has no such vCPU or machine"
run dump --from 1s --to 2s "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "lie outside the trace"
run dump --from 1s --to 1s "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "--from is not before --to"
run dump --machine d1 "$SAMPLES/hvm-exits.xen"
status 2
says "$ERR" "--machine and --task are for KVM; --vcpu d1 selects a domain"
run dump "$SAMPLES/hvm-exits.xen" "$SAMPLES/kvm-host.dat"
status 2
says "$ERR" "give one file"
run dump --hypertrace --task sh "$SAMPLES/kvm-host.dat"
status 2
run dump "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-host.dat"
status 2
run dump "$SAMPLES/kvm-guest.dat"
status 3
says "$ERR" "no other file is its host's trace"
finish
