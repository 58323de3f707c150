# SPDX-License-Identifier: LGPL-2.1-or-later
# What trace-cmd makes of a trace, converted, split or of version 6, gives the same report: whether
# times are ns or cycles is what libtracecmd takes them for, not the name of a clock.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is missing"
	exit 77
fi
cd "$WORK" || exit 1

# variants NAME: copies of a sample, NAME-converted.dat and so on
variants()
{
	cp "$SAMPLES/$1.dat" "$1-original.dat"
	trace-cmd convert --file-version 7 --compression none -i "$SAMPLES/$1.dat" \
		-o "$1-converted.dat" > said 2>&1
	trace-cmd convert --file-version 6 -i "$SAMPLES/$1.dat" -o "$1-old.dat" > said 2>&1
	trace-cmd split -i "$SAMPLES/$1.dat" -o "$1-split.dat" > said 2>&1
	mv "$1-split.dat.1" "$1-split.dat"
}

# report FILE...: into report.csv, without the name of the file
report()
{
	run report --cpu-hz 2596M --format csv "$@"
	status 0
	check "$*: says $(cat "$ERR")" test ! -s "$ERR"
	sed "s/^$1,/FILE,/" "$OUT" > report.csv
}

# Both are cycles for the kernel; trace-cmd knew their scale (TSC2NSEC), which it applies.
for name in kvm-nested kvm-nested-g1; do
	variants "$name"
done
report kvm-nested-original.dat
mv report.csv original.csv
says original.csv ",window,,,from,,1089690914451,"
for kind in converted old; do
	report "kvm-nested-$kind.dat"
	same original.csv report.csv
done
# split leaves out which thread is which vCPU, and renumbers pages: times and states stay
report kvm-nested-split.dat
for measure in window state exits exit_cost runnable; do
	grep "^FILE,$measure," original.csv > a
	grep "^FILE,$measure," report.csv > b
	check "the report has $measure" test -s a
	same a b
done

# side by side
pairs=("original converted" "old split" "converted original" "converted split" "split converted"
	"split old")
! sanitized || pairs=("${pairs[@]:0:2}")
for pair in "${pairs[@]}"; do
	read -r host guest <<< "$pair"
	run align --quiet --format json "kvm-nested-$host.dat" "kvm-nested-g1-$guest.dat"
	status 0
	says "$OUT" '"unit": "ns"'
	# what is searched for allows for clocks that are not read at once
	interval='-13330, 13179'
	! grep -q '"source": "causality"' "$OUT" || interval='-13831, 13680'
	says "$OUT" "\"interval\": [$interval]"
done

# Without a scale, they are cycles, on both sides of an alignment; --cpu-hz is asked for.
variants dom0-ftrace
for kind in original converted old split; do
	run align --quiet "$SAMPLES/dom0.xen" "dom0-ftrace-$kind.dat"
	status 0
	says "$OUT" "interval    -20056 .. 57629 (77685 cycles wide)"
	run align "$SAMPLES/kvm-nosync.dat" "dom0-ftrace-$kind.dat"
	[ "$kind" = split ] && continue
	status 3
	says "$ERR" "counts ns and dom0-ftrace-$kind.dat counts cycles of the TSC"
done

# An alignment is of times in a unit; the sidecar of another file does not fit.
cp "$SAMPLES/dom0.xen" .
run align --quiet --write dom0.xen dom0-ftrace-split.dat
status 0
says dom0-ftrace-split.dat.meta.json '"unit": "cycles"'
run report --full dom0.xen dom0-ftrace-original.dat
status 3
says "$ERR" "no other file is its host's trace"
run report --full dom0.xen dom0-ftrace-split.dat
status 0
cp dom0-ftrace-split.dat.meta.json kvm-nested-g1-original.dat.meta.json
run report --full kvm-nested-original.dat kvm-nested-g1-original.dat
status 0
says "$ERR" "is for times in cycles"
finish
