# SPDX-License-Identifier: LGPL-2.1-or-later
# record, on a disk that fails or loses power at each use of it: what is there afterwards can be read as what it is,
# and the next recorder puts all in order.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

a_broken_disk

# broken CALL AT HOW: record, and the AT-th CALL fails. Return: was there such a call?
broken()
{
	kvm_host
	rm -rf broken next "$WORK/done" "$WORK/after"
	# a busy machine starts it late: there is time to be killed before that
	FAKE_LATE=$([ "$1 $3" = "write kill" ] && echo 1) \
		LD_PRELOAD=$BROKEN BROKEN_PROGRAM=kshark-virt BROKEN_CALL=$1 BROKEN_AT=$2 \
		BROKEN_HOW=$3 BROKEN_DONE=$WORK/done BROKEN_FOLDER=$WORK/records/broken \
		BROKEN_AFTER=$WORK/after run record -o broken -d 0.1
	[ -e "$WORK/done" ]
}

for call in write fsync rename unlink; do
	case $call in
	write) error=28 ;;
	*) error=5 ;;
	esac
	for kind in kill $error; do
		for ((at = 1; at < 200; at++)); do
			how="$call $at: $kind"
			broken $call $at $kind || break
			one_of "$STATUS" $([ $kind = kill ] && echo 137 0 3 || echo 0 3)
			[ "$STATUS" != 3 ] || check "$how: a message" test -s "$ERR"
			before=$(state broken)
			one_of "$before" none recording complete stopped failed
			run report -q broken
			one_of "$STATUS" 0 3
			run record -o next -d 0.1
			one_of "$(state broken)" none complete stopped failed
			status 0
			# trace-cmd of the killed one does not begin after all this
			wait_for none_runs trace-cmd
			is "$how: $(state next)" "$how: complete"
			restored
		done
		check "$call was tried" test "$at" -gt 1 -a "$at" -lt 200
	done
done

# no recorder comes after a loss of power, and /run is empty: what recording.json says is true
for call in fsync rename unlink exit; do
	for ((at = 1; at < 200; at++)); do
		how="$call $at: power"
		broken $call $at power || break
		wait_for none_runs trace-cmd
		rm -rf broken
		mv "$WORK/after" broken
		case $(state broken) in
		none | recording) ;;
		complete)
			same broken/host.dat "$FAKE_SAMPLE"
			seen=$call ;;
		*) one_of "$(state broken)" none recording complete ;;
		esac
		run report -q broken
		one_of "$STATUS" 0 3
		[ "$STATUS" != 3 ] || check "$how: a message" test -s "$ERR"
	done
	check "$call was tried" test "$at" -gt 1 -a "$at" -lt 200
done
is "$seen" exit
finish
