# SPDX-License-Identifier: LGPL-2.1-or-later
# report --devices: what devices were asked for, by the logs of two monitors; recounted from their text.
. "$(dirname "$0")/lib.sh"
cp -r "$SAMPLES/recording-qemu" "$WORK/folder"
cd "$WORK/folder" || exit 1
trace-cmd report -t host.dat > "$WORK/text" 2> /dev/null

# recount LATE: both logs, which are that late
recount()
{
	local format log

	run report --quiet --format json host.dat
	status 0
	cp "$OUT" "$WORK/report.json"
	for format in json csv text; do
		run report --devices --monitor web.log --monitor db.log --format "$format" host.dat
		status 0
		check "no notes" test ! -s "$ERR"
		cp "$OUT" "$WORK/devices.$format"
	done
	for log in web db; do
		check "$log is recounted" python3 "$GOLDEN/report_devices.py" "$WORK/devices.json" \
			"$WORK/devices.csv" "$WORK/report.json" $log.log "$WORK/text" host.dat.meta.json \
			"$1" > "$WORK/n"
		total=$((total + $(cat "$WORK/n")))
	done
}

total=0
recount 0
golden t201_devices "$WORK/devices.text"
check "aligned by the moment" test "$(grep -c '"aligned_by": "moment"' "$WORK/devices.json")" = 2
# their clock was set: an hour late
for log in web db; do
	awk -F@ '{ split($2, t, "."); printf "%s@%d.%s\n", $1, t[1] + 3600, substr($2, length(t[1]) + 2) }' \
		$log.log > late && mv late $log.log
done
recount 3600000000000
check "aligned by causality: $(grep -o '"aligned_by": "[a-z]*"' "$WORK/devices.json")" \
	test "$(grep -c '"aligned_by": "causality"' "$WORK/devices.json")" -ge 1
check "there were enough: $total" test "$total" -gt 400
cp "$SAMPLES"/recording-qemu/*.log .

# a window has its part of it, and the parts are the whole
parts=0
for window in "--to 113.5" "--from 113.5"; do
	# shellcheck disable=SC2086
	run report -q --devices --monitor web.log --format csv $window .
	status 0
	parts=$((parts + $(awk -F, '$4 == "request" && $5 ~ /blk/ { n += $7 } END { print n + 0 }' "$OUT")))
done
check "all 30 requests are in one of two windows: $parts" test "$parts" = 30

# requests without a place are reported all the same, with a note
sed -E 's/@([0-9]+)\.([0-9]{6}):(kvm_run|memory|virtio_q)/@\1.\2:no_\3/' web.log | grep -v no_ > few.log
python3 - << 'END'
import json
meta = json.load(open("host.dat.meta.json"))
meta.pop("moment")
json.dump(meta, open("host.dat.meta.json", "w"))
END
run report --devices --monitor few.log host.dat
status 0
says "$ERR" "few.log: its clock cannot be aligned with the host's"
says "$OUT" "its clock is not aligned: the page has all of its events, whatever their time"
check "its requests are there" grep -qE 'virtio-blk-device +read +24 ' "$OUT"
check "no access is placed" test "$(grep -cE '^  (virtio-mmio|serial)' "$OUT")" = 0

# what is asked must be a question
for wrong in "--devices host.dat" "--monitor web.log host.dat" "--devices --waits --monitor web.log host.dat" \
		"--devices --monitor web.log -o web.log host.dat"; do
	# shellcheck disable=SC2086
	run report $wrong
	status 2
done
check "the log is still there" test -s web.log
for wrong in nothing.log host.dat .; do
	run report --devices --monitor $wrong host.dat
	status 3
	says "$ERR" "$wrong: "
done
run report --devices --monitor web.log "$SAMPLES/kvm-host.dat"
status 3
says "$ERR" "it is of another host, or of another time"
run report --devices --monitor web.log "$SAMPLES/dom0.xen"
status 3
says "$ERR" "needs the trace of a KVM host"
sed 's/^[0-9]*@[0-9.]*://' web.log > without.log
run report --devices --monitor without.log host.dat
status 3
says "$ERR" "start QEMU with -msg timestamp=on"

# A QEMU that writes its process id in every line: all but the threads is the same.
cp "$SAMPLES"/recording-qemu/*.log "$SAMPLES/recording-qemu/host.dat.meta.json" .
pid_of() # MACHINE
{
	python3 -c 'import json, sys
print(next(g["pid"] for g in json.load(open("host.dat.meta.json"))["guests"] if g["name"] == sys.argv[1]))' "$1"
}
for log in web db; do
	sed -E "s/^[0-9]+@/$(pid_of "$log")@/" "$log.log" > "pid-$log.log"
	run report --devices --monitor "$log.log" --format json host.dat
	cp "$OUT" "$WORK/by-thread"
	run report --devices --monitor "pid-$log.log" --format json host.dat
	status 0
	says "$ERR" "its lines have the process id, but no thread"
	check "$log: its vCPUs are known" test "$(grep -c "kvm_run_exit as well" "$ERR")" = 0
	checks=$((checks + 1))
	python3 - "$OUT" "$WORK/by-thread" <<'END' || fail "$log: other numbers by its process id"
import json, sys
def facts(path):
    threads = []
    def strip(value):
        if isinstance(value, list):
            return [strip(v) for v in value]
        if not isinstance(value, dict):
            return value
        threads.extend(value.get("begun_by", []))
        return {k: strip(v) for k, v in value.items()
                if k not in ("begun_by", "file", "monitor", "path", "alignment", "explained_percent", "events",
                             "inside", "outside", "error_ns", "from_ns", "to_ns", "low_ns", "high_ns")}
    return strip(json.load(open(path))), len(threads)
(a, none), (b, some) = facts(sys.argv[1]), facts(sys.argv[2])
if a != b:
    print(json.dumps(a, indent=1)[:1500], json.dumps(b, indent=1)[:1500])
sys.exit(a != b or none or not some)
END
done
run report --devices --monitor "$SAMPLES/cases/qemu-pid.log" host.dat
status 0
check "the numbers of qemu-pid.log" grep -q "virtio-net-device *request *8 *440" "$OUT"
check "no thread began them" test "$(grep -c "main loop\|thread 286" "$OUT")" = 0
finish
