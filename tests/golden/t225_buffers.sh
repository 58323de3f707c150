# SPDX-License-Identifier: LGPL-2.1-or-later
# All buffers of a trace.dat (trace-cmd record -B) are one trace.
. "$(dirname "$0")/lib.sh"

instances=$SAMPLES/cases/instances.dat

# Entries are in one buffer, switches in another, and the top one is empty. trace-cmd merges them, too.
run report --format json "$instances"
status 0
check "no note" test ! -s "$ERR"
trace-cmd report "$instances" > "$WORK/text" 2>/dev/null
cat > "$WORK/guest.py" <<'END'
import json
import re
import sys

entered, guest, records = None, 0, 0
for line in open(sys.argv[2]):
    found = re.search(r"(\d+)\.(\d{6}): (\w+):", line)
    if not found:
        continue
    records += 1
    time = int(found[1]) * 1000000 + int(found[2])
    if found[3] == "kvm_entry":
        entered = time
    elif found[3] == "kvm_exit":
        guest += time - entered
vcpu = json.load(open(sys.argv[1]))["machines"][0]["vcpus"][0]
print(vcpu["states"]["guest"]["total_ns"], guest * 1000, records)
sys.exit(vcpu["states"]["guest"]["total_ns"] != guest * 1000 or guest != 1200 or records != 94)
END
check "guest time by trace-cmd" python3 "$WORK/guest.py" "$OUT" "$WORK/text"

# The same records in two buffers count once, and that is said.
cat > "$WORK/twice.py" <<'END'
import struct
import sys

d = bytearray(open(sys.argv[1], "rb").read())
at = d.index(b"flyrecord\0")
n_cpus = int(sys.argv[3])
# the list of CPUs moves by a page, as their records do
for cpu in range(n_cpus):
    place = at + 10 + 16 * cpu
    struct.pack_into("<Q", d, place, struct.unpack_from("<Q", d, place)[0] + 4096)
option = struct.pack("<Q", at + 4096) + b"again\0"
option = struct.pack("<HI", 3, 4096 - 6) + option.ljust(4096 - 6, b"\0")
d[at - 2:at - 2] = option
open(sys.argv[2], "wb").write(d)
END
python3 "$WORK/twice.py" "$SAMPLES/cases/unaligned-apart.dat" "$WORK/twice.dat" 1
check "trace-cmd knows both" test "$(trace-cmd report "$WORK/twice.dat" 2>/dev/null | grep -c kvm_exit)" = \
	$((2 * $(trace-cmd report "$SAMPLES/cases/unaligned-apart.dat" 2>/dev/null | grep -c kvm_exit)))
for format in json csv; do
	run report --full -q --format $format "$SAMPLES/cases/unaligned-apart.dat"
	status 0
	sed "s|$SAMPLES/cases/unaligned-apart.dat|FILE|" "$OUT" > "$WORK/once.$format"
	run report --full --format $format "$WORK/twice.dat"
	status 0
	says "$ERR" "$WORK/twice.dat: 102 records are in two of its buffers, and are read once"
	grep -v '"warnings"\|"kind": "buffers"' "$OUT" | sed "s|$WORK/twice.dat|FILE|" > "$WORK/twice.$format"
done
same "$WORK/once.csv" "$WORK/twice.csv"
check "the warning is in JSON" test "$(wc -l < "$WORK/twice.json")" = "$(($(wc -l < "$WORK/once.json") + 1))"

# What one buffer lost is unknown on this pCPU, whatever another one has of this time; all else is the same.
cat > "$WORK/judge.py" <<'END'
import json
import sys

report, (lost, begin, end) = json.load(open(sys.argv[1])), map(int, sys.argv[2:])
begin += 1
assert report["lost"] == {"records": lost, "windows": [
    {"pcpu": 0, "from_ns": begin, "to_ns": end, "records": lost}]}, report["lost"]
assert report["pcpus"][0]["unknown_ns"] >= end - begin
assert report["machines"][0]["vcpus"][0]["states"]["unknown"]["total_ns"] == end - begin
END
cat > "$WORK/states.py" <<'END'
import json
import sys

for vcpu in json.load(open(sys.argv[1]))["machines"][0]["vcpus"]:
    print({name: state["total_ns"] for name, state in vcpu["states"].items()})
END
for lossy in "sched 7" "kvm 5"; do
	read -r buffer lost <<< "$lossy"
	python3 "$GOLDEN/buffer_loss.py" "$instances" "$WORK/loss.dat" "$buffer" 0 "$lost" > "$WORK/times"
	read -r begin end < "$WORK/times"
	trace-cmd report "$WORK/loss.dat" > "$WORK/text" 2>&1
	says "$WORK/text" "$buffer: CPU:0 [$lost EVENTS DROPPED]"
	run report --format json "$WORK/loss.dat"
	status 0
	says "$ERR" "the buffer '$buffer' lost $lost records"
	check "the loss of $buffer" python3 "$WORK/judge.py" "$OUT" "$lost" "$begin" "$end"
	for window in "--to ${begin}ns" "--from ${end}ns"; do
		for trace in instances loss; do
			file=$WORK/loss.dat
			[ "$trace" = loss ] || file=$instances
			# shellcheck disable=SC2086
			run report -q --format json $window "$file"
			status 0
			python3 "$WORK/states.py" "$OUT" > "$WORK/$trace.states"
		done
		check "all else is the same ($buffer, $window)" cmp "$WORK/instances.states" "$WORK/loss.states"
	done
done

finish
