# SPDX-License-Identifier: LGPL-2.1-or-later
# The cgroups of a guest's tasks: who enters one, is made in one, and is moved to another one while it is executed.
# What trace-cmd prints checks all numbers of them, in windows as well.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}
cd "$SAMPLES" || exit 1
traces=(kvm-cgroups.dat kvm-cgroups-web.dat)
trace-cmd report -t -i kvm-cgroups-web.dat > "$WORK/text" 2> /dev/null

# cgroups OPTION...: what they are called
cgroups()
{
	for format in json csv; do
		run report --full -q --format $format "$@" "${traces[@]}"
		status 0
		cp "$OUT" "$WORK/report.$format"
	done
	python3 "$GOLDEN/guest_cgroups.py" "$WORK/text" "$WORK/report.json" "$WORK/report.csv"
}
check "all of it" test "$(cgroups)" = "/db /web unknown"
# the task that is moved is in /web from 34.837 to 35.664 s
check "before anybody is in one" test "$(cgroups --from 34.2 --to 34.8)" = "unknown"
check "one of two" test "$(cgroups --from 34.81 --to 34.82)" = "/web unknown"
check "cut where a task is moved" test "$(cgroups --from 35.6 --to 35.7)" = "/db /web unknown"
check "afterwards" test "$(cgroups --from 35.7 --to 35.9)" = "/db /web unknown"

run report --full -q "${traces[@]}"
status 0
sed -n "/guest's tasks/,/^  unknown /p" "$OUT" > "$WORK/printed"
golden t205_guest_cgroups "$WORK/printed"
run report -q --format json kvm-talk.dat kvm-talk-web.dat
check "a trace without cgroups has none" python3 -c 'import json, sys
guests = json.load(open(sys.argv[1]))["guests"]
assert guests and not any(guest["cgroups"] for guest in guests)' "$OUT"

finish
