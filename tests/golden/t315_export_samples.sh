# SPDX-License-Identifier: LGPL-2.1-or-later
# Samples of a host's counters in export: as record wrote them, and as counters in Perfetto.
. "$(dirname "$0")/lib.sh"

TRACE=$SAMPLES/host-samples.dat.gz

run export -q -f csv-tables -o "$WORK/tables" "$TRACE"
status 0
same <(tr -d '\r' < "$WORK/tables/host_sample.csv") "$TRACE.samples.csv"

# those around a window: what was counted in it lies between them
run query -q -f csv --from 74731.3 --to 74731.5 "$TRACE" "SELECT time_ns, runnable FROM host_sample"
status 0
same "$OUT" <(printf 'time_ns,runnable\n74731257929349,15\n74732128209673,16\n')
run query -q -f csv "$SAMPLES/kvm-host.dat" "SELECT count(*) AS n FROM host_sample"
status 0
same "$OUT" <(printf 'n\n0\n')

command -v protoc > /dev/null || { finish; exit; }
run export -q -f perfetto -o "$WORK/trace.pftrace" "$TRACE"
status 0
PYTHONPATH=$GOLDEN python3 - "$WORK/trace.pftrace" "$TRACE.samples.csv" << 'END' > "$WORK/n" || fail "counters"
import csv, sys
import perfetto_trace

database = perfetto_trace.read(sys.argv[1])
samples = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(open(sys.argv[2]))]
n = 0
for name, key, divisor in (("CPU user", "user_ns", 10 ** 6), ("CPU system", "system_ns", 10 ** 6), ("runnable tasks", "runnable", 0),
                           ("context switches", "switches", 1), ("memory available", "available_bytes", 0),
                           ("disks written", "written_bytes", 1), ("IO pressure", "io_some_ns", 10 ** 6)):
    said = database.execute("SELECT ts, value FROM counter c JOIN track t ON t.id = c.track_id WHERE t.name = ? ORDER BY ts",
                            (name,)).fetchall()
    assert [ts for ts, _ in said][1:] == [one["time_ns"] for one in samples[1:-1]], (name, said)
    for (_, value), one, after in zip(said, samples, samples[1:]):
        seconds = (after["time_ns"] - one["time_ns"]) / 1e9
        want = (after[key] - one[key]) / divisor / seconds if divisor else one[key]
        assert abs(value - want) <= 1, (name, value, want)
        n += 1
print(n, database.execute("SELECT count(DISTINCT track_id) FROM counter").fetchone()[0])
END
check "all counters" test "$(cat "$WORK/n")" = "28 31"
finish
