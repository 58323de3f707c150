# SPDX-License-Identifier: LGPL-2.1-or-later
# self-test on this machine, as far as it allows: nothing fails, all that is skipped has a reason, and other tracers
# notice nothing.
. "$(dirname "$0")/lib.sh"

REAL=/sys/kernel/tracing
settings() { head -n 50 "$REAL"/{tracing_on,set_event,trace_clock,buffer_size_kb,current_tracer} 2> /dev/null; }
instances() { ls "$REAL/instances" 2> /dev/null | grep -c '^kshark-virt-test-'; }

mkdir "$WORK/tmp"
export TMPDIR=$WORK/tmp
settings > "$WORK/before"
run self-test --format json
status 0
cp "$OUT" "$WORK/json"
check "there is no message: $(cat "$ERR")" test ! -s "$ERR"
settings > "$WORK/after"
same "$WORK/before" "$WORK/after"
check "no instance is left" test "$(instances)" = 0
check "no file is left" test -z "$(ls "$WORK/tmp")"
cat > "$WORK/judge.py" << 'END'
import json, sys
said = json.load(open(sys.argv[1]))
checks = {c["check"]: c for c in said["checks"]}
verdicts = [c["verdict"] for c in said["checks"]]
for verdict in "ok", "failed", "skipped":
    assert said[verdict] == verdicts.count(verdict), said
assert [v["name"] for v in said["versions"]][:3] == ["kshark-virt", "kernel", "trace-cmd"], said
for c in checks.values():
    assert c["text"], c
    if "trace" in c:
        passes = -c["below"] <= c["trace"] - c["kernel"] <= c["above"]
        assert passes == (c["verdict"] == "ok"), c
if checks["record"]["verdict"] == "ok":
    # it has worked for a while, and has left its CPU for each sleep
    assert checks["thread: switches"]["trace"] > 20, said
    assert checks["thread: run time"]["trace"] > 10 ** 7, said
    # a KVM that emulates its guests has no VM exits to trace
    if checks["machine"]["verdict"] == "ok" and checks["vCPU: exits"]["verdict"] != "skipped":
        assert checks["vCPU: exits"]["trace"] > 100, said
else:
    print(checks["record"]["text"])
END
check "what it says agrees with itself" python3 "$WORK/judge.py" "$WORK/json"

# who may not trace is said so, and nothing fails
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$WORK"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$KSV_BIN" self-test > "$OUT" 2> "$ERR" < /dev/null
	STATUS=$?
else
	run self-test
fi
status 0
says "$OUT" 'it needs root: sudo kshark-virt self-test'
says "$OUT" '0 failed'

# a disk that fails, or a self-test that is killed: a verdict or a message, and the next one finds nothing in its way
if sanitized || ! grep -q '"check": "record", "verdict": "ok"' <(tr -d '\n' < "$WORK/json" | tr -s ' '); then
	echo "no broken disks: a sanitizer wants to be the first library, or nothing was recorded"
else
	cc -shared -fPIC -D_GNU_SOURCE -o "$WORK/broken.so" "$KSV_SOURCE_DIR/tests/hostile/broken_disk.c" -ldl
	n=0
	for how in 'write 1 28' 'write 5 28' 'fsync 1 5' 'rename 1 5' 'rename 1 kill' 'unlink 2 kill'; do
		read -r call at kind <<< "$how"
		rm -f "$WORK/done"
		LD_PRELOAD=$WORK/broken.so BROKEN_PROGRAM=kshark-virt BROKEN_CALL=$call BROKEN_AT=$at BROKEN_HOW=$kind \
			BROKEN_DONE=$WORK/done run self-test --format json
		[ -e "$WORK/done" ] || continue
		n=$((n + 1))
		if [ "$kind" = kill ]; then
			status 137
			wait_for sh -c "! pgrep -f 'kshark-virt [s]elf-test'"
			continue
		fi
		check "$how: a failure: $STATUS" test "$STATUS" = 1 -o "$STATUS" = 3
		check "$how: a message" test -s "$ERR"
		check "$how: no file is left" test -z "$(ls "$WORK/tmp")"
	done
	check "$n broken disks were tried" test "$n" -ge 5
	settings > "$WORK/after"
	same "$WORK/before" "$WORK/after"
	run self-test --format json
	status 0
	check "no instance is left" test "$(instances)" = 0
	rm -rf "$WORK/tmp"/kshark-virt-self-test-*
fi

run self-test trace.dat
status 2
run self-test -o "$WORK/none/out"
status 3
finish
