# SPDX-License-Identifier: LGPL-2.1-or-later
# A trace that is given twice would count twice.
. "$(dirname "$0")/lib.sh"

cp "$SAMPLES/cases/unaligned-overlap.dat" "$WORK/host.dat"
cp "$SAMPLES/cases/unaligned-overlap-g.dat" "$WORK/guest.dat"
cd "$WORK" || exit 1
ln guest.dat link.dat
ln -s guest.dat symlink.dat
cp guest.dat copy.dat

for command in "report" "report --worst 1" "why --worst 1" "plot --tasks -o x.svg" "export -f csv-tables -o x"; do
	for again in guest.dat ./guest.dat link.dat symlink.dat; do
		# shellcheck disable=SC2086
		run $command host.dat guest.dat "$again"
		status 2
		says "$ERR" "guest.dat and $again are the same file, and would count twice: give only one of them"
		check "$command $again writes nothing" test ! -s "$OUT" -a ! -e x -a ! -e x.svg
	done
	# shellcheck disable=SC2086
	run $command host.dat guest.dat copy.dat
	status 2
	says "$ERR" "guest.dat and copy.dat are traces of the same guest's CPUs, and would count twice"
done
run report --full host.dat host.dat
status 2
says "$ERR" "host.dat and host.dat are the same file"
run rollup --host h "$SAMPLES/kvm-shared.dat" "$SAMPLES/kvm-shared.dat"
status 2
says "$ERR" "are the same file"
# Two guests of one host are no twins; a run may be compared with itself.
run report --full -q "$SAMPLES/kvm-talk.dat" "$SAMPLES/kvm-talk-web.dat" "$SAMPLES/kvm-talk-db.dat"
status 0
run compare -q a=host.dat b=host.dat
check "compared with itself" test "$STATUS" -lt 2 -o "$STATUS" = 4

# why: one document, with whatever answers.
run why -q --worst 3 --format json host.dat
status 0
check "three answers" test "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(len(d["answers"]), d["file"], all("subject" in a and "segments" in a for a in d["answers"]))' "$OUT")" = \
	"3 host.dat True"

finish
