# SPDX-License-Identifier: LGPL-2.1-or-later
# why --monitor: what a vCPU did in QEMU, by QEMU's log; against what KVM recorded of the same accesses.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES/recording-qemu" || exit 1
trace-cmd report -t host.dat > "$WORK/text" 2> /dev/null

for format in json text; do
	run why --quiet --format "$format" --vcpu web --from 112.4072 --to 114.8736 --monitor web.log --monitor db.log \
		host.dat
	status 0
	cp "$OUT" "$WORK/why.$format"
done
check "QEMU and KVM say the same" python3 "$GOLDEN/why_monitor.py" "$WORK/why.json" "$WORK/text" "$WORK/why.text" \
	"web v0=201" "web v1=202" > "$WORK/n"
check "there were enough: $(cat "$WORK/n")" test "$(cat "$WORK/n")" -gt 90
run why --quiet --vcpu g1v0 --from 112.9380 --to 112.9395 --monitor web.log host.dat
status 0
golden t203_why "$OUT"

# without it, all else is the same
run why --quiet --vcpu g1v0 --from 112.9380 --to 112.9395 host.dat
status 0
sed 's/, the monitor: [^#]*[^# ]  #/  #/; s/, the monitor: [^#]*$//' "$GOLDEN/t203_why.expected" > "$WORK/less"
same "$WORK/less" "$OUT"
# another machine has no accesses
run why --quiet --vcpu g2v0 --from 112.9380 --to 112.9395 --monitor web.log host.dat
status 0
check "nothing of db" test "$(grep -c "the monitor" "$OUT")" = 0
run why --quiet --vcpu g1v0 --at 113 --monitor nothing.log host.dat
status 3
run why --quiet --vcpu g1v0 --at 113 --monitor web.log -o web.log host.dat
status 2
finish
