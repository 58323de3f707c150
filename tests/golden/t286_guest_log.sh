# SPDX-License-Identifier: LGPL-2.1-or-later
# why --guest-log: verdicts about warnings of a guest's kernel, against causes that are known and a recount.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
python3 "$GOLDEN/guest_log.py" make .

# verdicts LOG [ARGUMENT...]: text and JSON, with the axis of the trace given
verdicts()
{
	local log=$1
	shift

	for format in json text; do
		run why --quiet --format "$format" --guest-log "g1:$log" "$@" host.txt
		status 0
		cp "$OUT" "why.$format"
	done
}

for log in console.log journal.json; do
	verdicts $log --log-offset g1:90
	check "$log: verdicts" python3 "$GOLDEN/guest_log.py" check why.json why.text host.txt 90 truth > n
	check "$log: enough of them: $(cat n)" test "$(cat n)" = 9
	[ $log != console.log ] || golden t286_verdicts why.text
done
# with fewer events, each number is the same or unknown, in JSON and in text
cp why.json whole.json
mv host.txt all.txt
for event in sched_wakeup sched_switch kvm_entry kvm_exit kvm_userspace_exit; do
	sed "/$event/d" all.txt > host.txt
	verdicts journal.json --log-offset g1:90
	check "without $event" python3 "$GOLDEN/verdicts_less.py" whole.json why.json why.text > n
	check "without $event, something is unknown" test "$(cat n)" -gt 10
done
mv all.txt host.txt
# a text of the journal has a time for every line
verdicts journal.log --log-offset g1:90
check "the journal's time" grep -q "when the journal got the line" why.text
check "the same verdicts" test "$(grep -c "verdict: the host kept" why.text)" = 6

# on another place, windows have other numbers, which add up and are counted right
verdicts console.log --log-offset g1:95.5
check "another offset" python3 "$GOLDEN/guest_log.py" check why.json why.text host.txt 95.5 > n

# in a window of the trace; what has no place is listed
verdicts console.log --log-offset g1:90 --from 127 --to 136
check "two, and two without a place" test "$(grep -c "verdict:" why.text)" = 4

# without an offset, nothing is guessed
verdicts console.log
check "no verdicts" test "$(grep -c "verdict: none" why.text)" = "$(grep -c verdict: why.text)"
check "all of them" test "$(grep -c '"verdict":' why.json)" = 0

# Xen: runstates that were counted from the records
printf '[    0.487710][    C0] hrtimer: interrupt took 52044207 ns\n' > xen.log
run why --quiet --format json --guest-log d1:xen.log --log-offset d1:1 "$SAMPLES/credit2-basic.xen"
status 0
cp "$OUT" xen.json
"$KSV_BIN" dump --quiet --format csv "$SAMPLES/credit2-basic.xen" > records.csv
check "runstates" python3 "$GOLDEN/guest_log.py" xen xen.json records.csv

# The guest's own trace has the clock of the log: "perf". With another clock nothing is known.
printf '[   34.500000][    C1] hrtimer: interrupt took 300000000 ns\n' > clock.log
cp "$SAMPLES/kvm-nosync.dat" host.dat
for clock in mono perf; do
	python3 "$GOLDEN/guest_log.py" clock "$SAMPLES/kvm-nosync-g1.dat" guest.dat $clock
	run align --quiet --write host.dat guest.dat
	status 0
	run why --quiet --format json --guest-log g1:clock.log host.dat guest.dat
	status 0
	check "clock $clock" python3 "$GOLDEN/guest_log.py" placed "$OUT" guest.dat.meta.json $clock
	run why --quiet --format json --guest-log g1:clock.log --log-offset g1:397.320515241 host.dat guest.dat
	status 0
	check "clock $clock and an offset" python3 "$GOLDEN/guest_log.py" placed "$OUT" guest.dat.meta.json offset
done
# the same of a compressed trace, and of one by perf, whose clock that is
gzip < guest.dat > packed.dat.gz
trace-cmd convert --file-version 6 --compression none -i guest.dat -o plain.dat > trace-cmd.log
python3 "$GOLDEN/perf_data.py" plain.dat guest.data > samples.txt
for guest in packed.dat.gz guest.data; do
	run align --quiet --write host.dat $guest
	status 0
	run why --quiet --format json --guest-log g1:clock.log host.dat $guest
	status 0
	check "$guest" python3 "$GOLDEN/guest_log.py" placed "$OUT" $guest.meta.json perf
done

# more logs, and mistakes
printf 'hello\n' > none.log
run why --quiet --guest-log g1:none.log host.txt
status 0
check "no warning" grep -q "no warning of a kind that is known" "$OUT"
for wrong in "--guest-log none.log" "--guest-log g7:none.log" "--log-offset g1:90" \
	"--guest-log g1:none.log --log-offset g1:tsc:5" "--guest-log g1:none.log --log-offset g1:+10%" \
	"--guest-log g1:none.log --log-offset g1:" "--guest-log g1:none.log --at 110" \
	"--guest-log g1:none.log --vcpu g1" "--guest-log g1:none.log --kind wake" \
	"--guest-log g1:none.log --format svg" "--guest-log g1:none.log -o none.log"; do
	# shellcheck disable=SC2086
	run why --quiet $wrong host.txt
	status 2
done
run why --quiet --guest-log g1:missing.log host.txt
status 3
check "the log is still there" test "$(cat none.log)" = hello
finish
