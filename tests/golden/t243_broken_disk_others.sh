# SPDX-License-Identifier: LGPL-2.1-or-later
# record on Xen, as a flight recorder and with a guest's agent, and study, on a disk that fails or loses power at some
# uses of it: what is there afterwards can be read as what it is, and the next one puts all in order.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

a_broken_disk
export FAKE_PAGES=$WORK/pages
cat > "$WORK/xentrace" << 'END'
#!/bin/bash
[ "$1" = --version ] && { echo "xentrace v1.2"; exit; }
out=${!#}
trap exit INT
cat "$FAKE_SAMPLE" > "$out"
echo 32 > "$FAKE_PAGES"
# the real one ends as well if its recorder is killed
while kill -0 "$PPID" 2> /dev/null; do sleep 0.05; done
END
cat > "$WORK/kshark-virt-xen-meta" << 'END'
#!/bin/bash
[ "$1" != --buffers ] || { echo "{ \"trace_buffer_pages\": $(cat "$FAKE_PAGES"), \"max_pcpus\": 4 }"; exit; }
echo '{ "cpu_khz": 2300000, "domains": [ { "id": 1, "name": "burny" } ] }' > "${!#}"
trap 'exit 0' TERM
while kill -0 "$PPID" 2> /dev/null; do sleep 0.05; done
END
chmod +x "$WORK/xentrace" "$WORK/kshark-virt-xen-meta"

# The scenarios: what a host needs, and the words that record gets.
xen()
{
	tree record_xen.tree
	: > "$FAKE_PAGES"
	cp "$WORK/xentrace" "$WORK/kshark-virt-xen-meta" "$WORK/bin"
	FAKE_SAMPLE=$SAMPLES/pinned.xen
}
flight()
{
	kvm_host
	FAKE_SAMPLE=$SAMPLES/kvm-shared.dat
	words=(--flight=60)
}
agent()
{
	kvm_host
	FAKE_SAMPLE=$SAMPLES/kvm-nested-g1.dat
	export FAKE_GUEST=db
	python3 -c 'import socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("ready", flush=True)
while True:
    c = s.accept()[0]
    if struct.unpack(">III", c.recv(12))[1] not in (5, 6, 10):
        c.send(struct.pack(">III", 12, 5, 0))' "$KSHARK_VIRT_ROOT/vsock4" > "$WORK/ready" &
	listener=$!
	wait_for grep -q ready "$WORK/ready"
}

# judge: after a recording in which a use of the disk failed
judge()
{
	tried="$tried $scenario-$call"
	one_of "$STATUS" $([ $kind = kill ] && echo 137 0 3 || echo 0 3)
	[ "$STATUS" != 3 ] || check "$how: a message" test -s "$ERR"
	one_of "$(state broken)" none recording complete stopped failed
	run report -q broken
	one_of "$STATUS" 0 3
	run record -o next -d 0.1 "${words[@]}"
	wait_for none_runs trace-cmd
	one_of "$(state broken)" none complete stopped failed
	is "$how: $STATUS, $(state next)" "$how: 0, complete"
	[ $scenario = xen ] || restored
}

# judge_power: after a loss of power, which no recorder comes after: what recording.json says is true
judge_power()
{
	wait_for none_runs trace-cmd
	rm -rf broken
	mv "$WORK/after" broken
	one_of "$(state broken)" none recording complete
	run report -q broken
	one_of "$STATUS" 0 3
	[ "$(state broken)" != complete ] || {
		same "broken/host.${FAKE_SAMPLE##*.}" "$FAKE_SAMPLE"
		status 0
		complete="$complete $scenario"
	}
	[ "$STATUS" != 3 ] || check "$how: a message" test -s "$ERR"
}

# judge_study: after a study in which a use of the disk failed
judge_study()
{
	tried="$tried study-$call"
	one_of "$STATUS" $([ $kind = kill ] && echo 137 0 3 || echo 0 3 4)
	[ "$STATUS" = 0 ] || [ $kind = kill ] || check "$how: a message" test -s "$ERR"
	[ -e study ] || return
	run study study
	one_of "$STATUS" 0 3 4
	[ -e study/plan.json ] || return
	run study --resume study
	is "$how: $STATUS" "$how: 0"
	run study -f csv study
	status 0
}

tried=
for scenario in xen flight agent; do
	for call in write fsync rename unlink; do
		for kind in kill $([ $call = write ] && echo 28 || echo 5); do
			# the first uses, and later ones farther and farther apart; each note of what flight changes
			uses='1 4 16'
			[ "$scenario $call $kind" != "flight write kill" ] || uses=$(seq 14)
			for at in $uses; do
				how="$scenario, $call $at: $kind"
				words=()
				listener=
				$scenario
				rm -rf broken next "$WORK/done"
				LD_PRELOAD=$BROKEN BROKEN_PROGRAM=kshark-virt BROKEN_CALL=$call \
					BROKEN_AT=$at BROKEN_HOW=$kind BROKEN_DONE=$WORK/done \
					run record -o broken -d 0.1 "${words[@]}"
				[ ! -e "$WORK/done" ] || judge
				[ -z "$listener" ] || kill "$listener"
				[ -e "$WORK/done" ] || break
			done
		done
	done
	unset FAKE_GUEST
done
complete=
for scenario in xen flight; do
	for call in fsync rename unlink exit; do
		for ((at = 1; at < 200; at++)); do
			how="$scenario, $call $at: power"
			words=()
			$scenario
			rm -rf broken "$WORK/done" "$WORK/after"
			LD_PRELOAD=$BROKEN BROKEN_PROGRAM=kshark-virt BROKEN_CALL=$call BROKEN_AT=$at \
				BROKEN_HOW=power BROKEN_DONE=$WORK/done BROKEN_AFTER=$WORK/after \
				BROKEN_FOLDER=$WORK/records/broken run record -o broken -d 0.1 "${words[@]}"
			[ -e "$WORK/done" ] || break
			judge_power
		done
		check "$how: not for ever" test "$at" -lt 200
	done
	check "$scenario: complete" grep -q " $scenario" <<< "$complete"
done
xen
for call in write fsync rename; do
	for kind in kill $([ $call = write ] && echo 28 || echo 5); do
		for at in 1 4 16; do
			how="study, $call $at: $kind"
			rm -rf study "$WORK/done"
			LD_PRELOAD=$BROKEN BROKEN_PROGRAM=kshark-virt BROKEN_CALL=$call \
				BROKEN_AT=$at BROKEN_HOW=$kind BROKEN_DONE=$WORK/done \
				run study -q -o study --rounds 2 --max-rounds 2 --warm-up 0 --seed 1 --results time \
				-c none,events -- true
			[ -e "$WORK/done" ] || break
			judge_study
		done
	done
done
for scenario in xen flight agent study; do
	for call in write rename; do
		check "$scenario-$call was tried" grep -q " $scenario-$call" <<< "$tried"
	done
done
finish
