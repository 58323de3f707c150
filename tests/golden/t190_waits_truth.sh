# SPDX-License-Identifier: LGPL-2.1-or-later
# report --waits: a guest that waits for one thing only, four times. What the host's trace alone shows of the ends of
# its waits, wait by wait, is what the guest's own trace shows.
. "$(dirname "$0")/lib.sh"

# truth WHAT CAUSE TIMES: of waits-WHAT.dat, a phase of which has at least TIMES waits that CAUSE ended
truth()
{
	local host=$SAMPLES/waits-$1.dat

	rm -rf "$WORK/tables"
	run export --quiet --format csv-tables -o "$WORK/tables" "$host"
	status 0
	check "trace-cmd reads the guest's trace" trace-cmd report -t -i "${host%.dat}-web.dat" \
		> "$WORK/guest.txt" 2> /dev/null
	check "$1: the guest's trace agrees" python3 "$GOLDEN/waits_truth.py" "$WORK/tables" \
		"$WORK/guest.txt" g1:web "$2" "$3" > "$WORK/$1"
	run report --quiet --waits --format json "$host" "${host%.dat}-web.dat"
	status 0
	check "$1: devices have their names" python3 "$GOLDEN/waits_truth.py" "$WORK/tables" \
		"$WORK/guest.txt" g1:web names "$OUT" >> "$WORK/$1"
	sed "s/^/waits-$1: /" "$WORK/$1"
}

truth timer timer 38
truth disk device 30
truth ipi vcpu 200
truth packet device 38
cat "$WORK"/{timer,disk,ipi,packet} > "$WORK/all"
golden t190_waits_truth "$WORK/all"

# without the guest's trace, a device has no name
run report --quiet --waits "$SAMPLES/waits-packet.dat"
status 0
says "$OUT" "device    0x23                        web's main loop-175"
run report --quiet --waits "$SAMPLES/waits-packet.dat" "$SAMPLES/waits-packet-web.dat"
status 0
says "$OUT" "device    0x23 virtio1                web's main loop-175"
finish
