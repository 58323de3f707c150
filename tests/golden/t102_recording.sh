# SPDX-License-Identifier: LGPL-2.1-or-later
# The folder of a recording, wherever a trace can be given.
. "$(dirname "$0")/lib.sh"
some_plugins
export KERNELSHARK=kernelshark
cd "$WORK" || exit 1

# recording FOLDER HYPERVISOR STATE FILES [GUESTS]: write its recording.json
recording()
{
	printf '{ "recording_version": 1, "hypervisor": "%s", "state": "%s",\n  "files": [ %s ],\n' \
	       "$2" "$3" "$4" > "$1/recording.json"
	printf '  "guests": [ %s ], "a later version": { "has": "more" } }\n' "${5:-}" \
	       >> "$1/recording.json"
}

# file NAME ROLE [GUEST]: of such a list
file()
{
	printf '{ "name": "%s", "role": "%s"%s }' "$1" "$2" "${3:+, \"guest\": \"$3\"}"
}

mkdir kvm xen nested
cp "$SAMPLES/kvm-host.dat" kvm/host.dat
cp "$SAMPLES/kvm-guest.dat" kvm/web.dat
cp "$SAMPLES/domU.xen.gz" xen/host.xen.gz
cp "$SAMPLES/domU.xen.meta.json" xen/host.xen.meta.json
cp "$SAMPLES/domU-ftrace.dat" xen/burny.dat
cp "$SAMPLES/kvm-shared.dat" nested/host.dat
db='{ "name": "db", "how": "none", "why": "nobody answers" }'
# the guest first: what is opened first is the host all the same
recording kvm kvm complete "$(file web.dat guest web), $(file host.dat host)" "$db"
recording xen xen stopped "$(file host.xen.gz host), $(file burny.dat guest burny)"

# The same as with the files one by one.
for folder in kvm/ kvm/recording.json; do
	for command in "report --tracing" "report --format json" "check --affinity g1=0-9" \
		       "plot --format csv" align; do
		base=${folder%/recording.json}
		base=${base%/}
		files="$base/host.dat"
		case $command in
		report*|align*) files="$files $base/web.dat" ;;
		esac
		run $command -q $files
		cp "$OUT" one_by_one
		before=$STATUS
		run $command -q $folder
		status $before
		# only the folder shows that there is no trace of a guest
		sed -i '/^ "warnings": \[/,/^ \],/d' one_by_one "$OUT"
		same one_by_one "$OUT"
		check "$command: no word with -q" test ! -s "$ERR"
	done
done
for command in dump "plot --format csv" "check --affinity d1=0-9" align; do
	files=xen/host.xen.gz
	[ "$command" = align ] && files="$files xen/burny.dat"
	run $command -q $files
	cp "$OUT" one_by_one
	before=$STATUS
	run $command -q xen
	status $before
	same one_by_one "$OUT"
done
run compare --metric 'trace.*' -q kvm/host.dat other=nested/host.dat
before=$STATUS
sed 's|kvm/host.dat|RUN|' "$OUT" > one_by_one
cp nested/host.dat nested/alone.dat
recording nested kvm complete "$(file alone.dat host)"
run compare --metric 'trace.*' -q RUN=kvm other=nested
status $before
check "compare" diff -b <(sed 's/ \+/ /g' one_by_one) <(sed 's/ \+/ /g' "$OUT")
run view -n kvm xen/burny.dat
status 0
sed 's|.*plugin-kvm_combo.so ||' "$OUT" > names
check "view: host, guest, and what else was given" \
	test "$(cat names)" = "kvm/host.dat -a kvm/web.dat -a xen/burny.dat"
cd kvm || exit 1
run view -n recording.json
says "$OUT" "./host.dat -a ./web.dat"
cd .. || exit 1

# What there is to say.
run report --full kvm
status 0
says "$ERR" "kvm: there is no trace of guest db: nobody answers"
run plot -f csv kvm
check "plot: nothing about guests" test ! -s "$ERR"
run plot -f csv -o /dev/null xen
says "$ERR" "xen: the recording was stopped: for an unknown reason"
sed -i 's/"state": "stopped"/"state": "failed", "reason": "no \\u001b[31mroom"/' xen/recording.json
run plot -f csv -o /dev/null xen
says "$ERR" 'xen: the recording failed: no \x1b[31mroom'

# A guest whose clock is not aligned: said, and done.
run report --full xen
status 0
says "$ERR" "xen/burny.dat: is skipped, because it is not aligned with its host"
run align --write xen
status 0
says "$OUT" "source      sidecar"
run report --full xen
status 0
check "aligned now" test -z "$(grep 'left out' "$ERR")"
rm xen/burny.dat.meta.json

# Two guests: one after the other, and one document.
cp kvm/web.dat kvm/db.dat
recording kvm kvm complete \
	"$(file web.dat guest web), $(file host.dat host), $(file db.dat guest db)"
run align kvm
status 0
check "both" test "$(grep -c '^kvm/.*.dat: host time' "$OUT")" = 2
run align --format json kvm
status 0
check "one document" python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
found = found["alignments"]
assert [one["file"] for one in found] == ["kvm/web.dat", "kvm/db.dat"]
assert not any(one["refused"] for one in found)' "$OUT"
run align kvm kvm/web.dat
status 0
check "its host, and a guest" test "$(grep -c 'host time' "$OUT")" = 1
run align kvm/host.dat kvm
status 2
says "$ERR" "kvm: is a folder; give the guest's file"
run align nested
status 3
says "$ERR" "nested: contains no trace of a guest"

# What is not there, or no file of the folder: said, and the rest is read.
rm kvm/db.dat
run report --full kvm
status 0
says "$ERR" "kvm/db.dat: the trace of guest db is skipped: No such file or directory"
says "$OUT" "g1v0"
run report -qfjson kvm
status 0
says "$OUT" "kvm/db.dat: the trace of guest db is skipped: No such file or directory"
run align kvm
status 3
run plot -f csv kvm
status 0
run view -n kvm
status 0
says "$ERR" "kvm/db.dat: the trace of guest db is skipped"
ln -s ../xen/burny.dat kvm/db.dat
run report --full kvm
status 0
says "$ERR" "kvm/db.dat: the trace of guest db is skipped: is a link"
rm kvm/db.dat
mkfifo kvm/db.dat
run report --full kvm
status 0
says "$ERR" "kvm/db.dat: the trace of guest db is skipped: not a regular file"
rm kvm/db.dat

# It is still under way, or its recorder was killed.
sed -i 's/"complete"/"recording"/' kvm/recording.json
run report --full kvm
status 0
says "$ERR" "kvm: is still being recorded, or its recorder was killed: it is read to its present end"
says "$ERR" "kvm/db.dat: the trace of guest db is skipped: No such file or directory"
mv kvm/host.dat kvm/host.dat.cpu0
run report --full kvm
status 3
says "$ERR" "kvm/host.dat: the trace of the host: No such file or directory; "
says "$ERR" "trace-cmd has not joined its parts"
mv kvm/host.dat.cpu0 kvm/host.dat
mkdir half
gzip -dc xen/host.xen.gz | head -c 500000 > half/host.xen
recording half xen recording "$(file host.xen host)"
run report --full half
status 0
says "$OUT" "half/host.xen"
for at in 500001 600001 700001; do
	gzip -dc xen/host.xen.gz | tail -c +$at | head -c 100000 >> half/host.xen
done &
run report --full half
wait
status 0

# What a folder has stays.
for output in kvm/web.dat kvm/host.dat kvm/recording.json; do
	for command in report plot\ --format\ csv dump compare\ kvm; do
		cp "$output" before
		run $command -o $output kvm
		status 2
		says "$ERR" "--output $output: is "
		same before "$output"
	done
done
echo '{}' > kvm/web.dat.meta.json
run report -o kvm/web.dat.meta.json kvm
status 2
says "$ERR" "is the trace's sidecar"
run compare --plot kvm/web.svg --values "$SAMPLES/kvm-durations.csv" kvm
check "what is not in its list may be written" test "$STATUS" != 2
ln kvm/web.dat kvm/other.svg
run compare --plot kvm/other.svg kvm nested
status 2
rm kvm/web.dat.meta.json kvm/other.svg

# What is no recording.
mkdir nothing
run report --full nothing
status 3
says "$ERR" "nothing"
for bad in '{' '[]' '{"recording_version":2}' \
	   '{"recording_version":1,"hypervisor":"kvm","state":"complete"}'; do
	echo "$bad" > nothing/recording.json
	for command in report plot view\ -n dump align "check --affinity g1=1" "compare kvm"; do
		run $command nothing
		status 3
		says "$ERR" "nothing/recording.json: "
		check "nothing is written" test ! -s "$OUT"
	done
done
says "$ERR" "lists no trace of a host: give the traces one by one"
for state in recording stopped failed; do
	recording nothing kvm $state ""
	run report -q nothing
	status 3
	case $state in
	recording) says "$ERR" "it is still being recorded, or its recorder was killed" ;;
	stopped) says "$ERR" "give the traces one by one; the recording was stopped: for an unknown reason" ;;
	failed) says "$ERR" "give the traces one by one; the recording failed: for an unknown reason" ;;
	esac
done
recording nothing kvm complete "$(file ../kvm/host.dat host)"
run report --full nothing
status 3
says "$ERR" "'../kvm/host.dat' is not the name of a file in the folder"
rm nothing/recording.json
mkfifo nothing/recording.json
run report --full nothing
status 3
says "$ERR" "nothing/recording.json: cannot read: not a regular file"

finish
