# SPDX-License-Identifier: LGPL-2.1-or-later
# Halt polling: hits, misses and their times are those of kvm_vcpu_wakeup; without that event, all is unknown.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1
compared=0

# against TRACE BEGIN END OPTION...
against()
{
	local trace=$1 begin=$2 end=$3 format n
	shift 3

	for format in json csv; do
		run report --quiet --format $format "$@" "$trace"
		status 0
		cp "$OUT" "$WORK/report.$format"
	done
	trace-cmd report -R -t "$trace" > "$WORK/raw.txt" 2> "$WORK/said"
	check "$trace $*: as in the records" python3 "$GOLDEN/polling.py" "$WORK/report.json" "$WORK/report.csv" \
		"$WORK/raw.txt" "$begin" "$end" > "$WORK/n"
	read -r n < "$WORK/n"
	[[ $n =~ ^[0-9]+$ ]] && compared=$((compared + n))
	return 0
}

against kvm-host.dat 0 9999999999999
against kvm-host.dat 1794000000000 1795300000000 --from 1794 --to 1795.3
against kvm-hypercall.dat 0 9999999999999
check "there are polls ($compared)" test "$compared" -ge 700

# 20 polls hit, 5 missed, 4.52 ms together
run report --quiet --full cases/haltpoll.dat
status 0
says "$OUT" '20 of 25 polls hit, and saved about 80.00 us of wake-up latency'
says "$OUT" 'frees at most 4.520 ms of pCPU time, 1.000 ms of it in polls that missed'
# nothing woke a vCPU that slept: what a hit saved is unknown
run report --quiet --format json --from 100.0009 --to 100.0020 cases/haltpoll.dat
check "not known, not 0" python3 -c '
import json, sys
polls, = json.load(open(sys.argv[1]))["halt_polling"]
assert polls["hits"]["count"] and polls["about_saved_ns"] is None, polls' "$OUT"

# without the event, polling is unknown and in the hypervisor; Xen does not poll
python3 "$GOLDEN/trace_dat_less.py" cases/haltpoll.dat "$WORK/less.dat" kvm_vcpu_wakeup
run report --quiet --format json "$WORK/less.dat"
check "unknown" python3 -c '
import json, sys
assert json.load(open(sys.argv[1]))["halt_polling"] is None' "$OUT"
run report --quiet --full "$WORK/less.dat"
check "no line" test "$(grep -c 'halt_poll' "$OUT")" = 0
run report --quiet --format json hvm-exits.xen
check "nothing of Xen" test "$(grep -c halt_polling "$OUT")" = 0
finish
