# SPDX-License-Identifier: LGPL-2.1-or-later
# What the host did for a guest's memory: report --exits, export, why.
. "$(dirname "$0")/lib.sh"
trace=$SAMPLES/kvm-memory.dat

# tables OUT TRACE: export
tables()
{
	rm -rf "$1"
	run export -q --format csv-tables -o "$1" "$2"
	status 0
}

tables "$WORK/whole" "$trace"
trace-cmd report -R -t "$trace" > "$WORK/raw.txt" 2> "$WORK/said"
check "as the monitor had it done" python3 "$GOLDEN/memory_truth.py" "$WORK/whole/exit.csv" "$WORK/raw.txt"

# add_up EXITS.json EXIT.csv: causes and arguments of a reason are its exits, as in the table of export
add_up()
{
	python3 - "$@" << 'END'
import collections, csv, json, sys
document = json.load(open(sys.argv[1]))
table = collections.Counter((row["reason"], row["cause"] or "unknown") for row in csv.DictReader(open(sys.argv[2])))
for vcpu in document["vcpus"]:
    for reason in vcpu["exits"]:
        for parts in (reason.get("causes"), reason.get("arguments")):
            if parts is None:
                continue
            for key in ("count", "ns"):
                get = (lambda e: e["count"]) if key == "count" else (lambda e: (e["cost"] or {}).get("total_ns", 0))
                assert sum(map(get, parts)) == get(reason), (reason, key)
        for cause in reason.get("causes", []):
            if vcpu["vcpu"] == "all":
                assert table[reason["reason"], cause["cause"]] == cause["count"], cause
            mine = [a for a in reason["arguments"] if a["cause"] == cause["cause"]]
            assert sum(a["count"] for a in mine) == cause["count"], (cause, mine)
        assert ("causes" in reason) == (reason["reason"] == "NPF"), reason
END
}
run report -q --exits --format json "$trace"
status 0
check "causes add up to their reason, arguments to their cause" add_up "$OUT" "$WORK/whole/exit.csv"

# The law of missing records: without an event, a cause is the same or unknown.
cat > "$WORK/law.py" << 'END'
import csv, sys
whole, less = ({(row["vcpu"], row["time_ns"]): row["cause"] for row in csv.DictReader(open(path))
                if row["reason"] == "NPF"} for path in sys.argv[1:3])
assert whole.keys() == less.keys()
assert all(less[key] in ("", whole[key]) for key in whole), [(k, whole[k], less[k]) for k in whole]
known = sum(1 for key in less if less[key])
assert known < len(whole), known
assert known or sys.argv[3:] == ["none"], known
END
trace-cmd convert -i "$trace" -o "$WORK/plain.dat" --compression none > "$WORK/said" 2>&1
for event in kvm_mmio:none mm_filemap_add_to_page_cache block_bio_queue mm_page_alloc fast_page_fault \
	kvm_try_async_get_page sys_exit_ioctl sched_waking kvm_page_fault kvm_userspace_exit:none; do
	python3 "$GOLDEN/trace_dat_less.py" "$WORK/plain.dat" "$WORK/less.dat" "${event%:*}"
	tables "$WORK/less" "$WORK/less.dat"
	check "without ${event%:*}: the same or unknown" python3 "$WORK/law.py" "$WORK/whole/exit.csv" \
		"$WORK/less/exit.csv" "$(expr "$event" : '.*:\(.*\)')"
done
run report -q --exits "$WORK/less.dat"
status 0
says "$OUT" "kvm:kvm_userspace_exit was not recorded: what the host did during some exits is unknown"

# windows add up
run report -q --exits --format csv "$trace"
cp "$OUT" "$WORK/whole.csv"
for window in "--to=27" "--from=27 --to=28.5" "--from=28.5"; do
	# shellcheck disable=SC2086
	run report -q --exits --format csv $window "$trace"
	cat "$OUT" >> "$WORK/parts.csv"
done
check "windows add up" python3 - "$WORK/whole.csv" "$WORK/parts.csv" << 'END'
import collections, csv, sys
def counts(path):
    found = collections.Counter()
    for row in csv.DictReader(open(path)):
        if row["count"] != "count":
            found[row["vcpu"], row["reason"], row["cause"], row["argument"]] += int(row["count"])
    return found
assert counts(sys.argv[1]) == counts(sys.argv[2])
assert any(cause == "userfault" for _, _, cause, _ in counts(sys.argv[1]))
END
run report -q --worst 3 --kind exit "$trace"
says "$OUT" "file read"
run report -q --exits "$trace"
grep -v '^      page' "$OUT" > "$WORK/text"
golden t299_memory "$WORK/text"
finish
