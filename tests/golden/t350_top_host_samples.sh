# SPDX-License-Identifier: LGPL-2.1-or-later
# top --host: what the host's kernel counted in each interval, recounted from the file of samples.
. "$(dirname "$0")/lib.sh"

cat > "$WORK/recount.py" << 'END'
import csv, json, sys
samples = [{key: int(value) if value else None for key, value in row.items()}
           for row in csv.DictReader(open(sys.argv[2]))]
first, last = samples[0]["time_ns"], samples[-1]["time_ns"]
STATES = list(samples[0])[list(samples[0]).index("runnable"):]
def at(key, time):
    """A counter at a time: between two samples, it grows evenly."""
    for a, b in zip(samples, samples[1:]):
        if a["time_ns"] <= time <= b["time_ns"]:
            return a[key] + (b[key] - a[key]) * (time - a["time_ns"]) / (b["time_ns"] - a["time_ns"])
n = known = 0
for interval in json.load(open(sys.argv[1]))["intervals"]:
    begin, end = interval["from_ns"], interval["to_ns"]
    facts = {fact["name"]: fact for fact in interval["facts"] if fact["section"] in ("host", "host_time")}
    assert len(facts) == len(samples[0]) - 1, len(facts)
    for key in list(samples[0])[1:]:
        is_time = key.endswith("_ns")
        fact = facts[key[:-3] if is_time else key]
        assert fact["section"] == ("host_time" if is_time else "host") and fact["machine"] == "host", fact
        got = fact["ns" if is_time else "count"]
        inside = [sample[key] for sample in samples if begin <= sample["time_ns"] < end]
        if key in STATES:
            want = sum(inside) / len(inside) if inside else None
        else:
            want = at(key, end) - at(key, begin) if first <= begin and end <= last else None
        assert (got is None) == (want is None) and (want is None or abs(got - want) <= 1), (key, begin, got, want)
        n += 1
        known += want is not None
print(n > 100, known > 60)
END

run_gz() { run top -q --host --format json "$@" "$SAMPLES/host-samples.dat.gz"; status 0; }
for step in 400ms 1s 100s; do
	run_gz --interval $step
	check "recounted, by $step" python3 "$WORK/recount.py" "$OUT" "$SAMPLES/host-samples.dat.gz.samples.csv" > "$WORK/n"
done
run_gz --interval 400ms
check "there were enough" test "$(python3 "$WORK/recount.py" "$OUT" "$SAMPLES/host-samples.dat.gz.samples.csv")" = "True True"

# other facts stay as they are, and text has the host in two lines
run top -q --format csv "$SAMPLES/host-samples.dat.gz"
cp "$OUT" "$WORK/without.csv"
run top -q --host --format csv "$SAMPLES/host-samples.dat.gz"
status 0
same <(grep -v ',host,\|,host_time,' "$OUT") "$WORK/without.csv"
run top -q --host --once "$SAMPLES/host-samples.dat.gz"
status 0
grep -A1 '^host' "$OUT" > "$WORK/text"
golden "$TEST" "$WORK/text"

# without samples, there is nothing to show
for trace in kvm-host.dat credit2-basic.xen; do
	run top -q --host "$SAMPLES/$trace"
	status 4
	says "$ERR" "there are no samples of the host's counters"
done
run top -q --host - < /dev/null
status 2
says "$ERR" "--host requires a complete trace, or this KVM host"
finish
