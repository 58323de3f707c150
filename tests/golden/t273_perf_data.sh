# SPDX-License-Identifier: LGPL-2.1-or-later
# perf.data files: what perf would have recorded of a trace.dat's events gives the same numbers as the trace.dat.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || { echo "trace-cmd is not installed"; exit 77; }
cd "$WORK" || exit 1

# made TRACE [HOW...]: p.data, as perf_data.py makes it; numbers that it prints in $made
made()
{
	made=$(python3 "$GOLDEN/perf_data.py" "$@") || fail "perf_data.py $*"
}

# numbers FILE COMMAND...: without what differs: the name, and bytes that perf adds to records
numbers()
{
	local file=$1

	shift
	run "$@" "$file"
	status 0
	sed "s/${file//./\\.}/FILE/g" "$OUT" | grep -v ',volume_bytes,'
}

trace-cmd convert --file-version 6 --compression none -i "$SAMPLES/kvm-shared.dat" -o t.dat > /dev/null 2>&1
check "t.dat" test -s t.dat
numbers t.dat report --format csv > right
check "there are numbers" test "$(wc -l < right)" -gt 150
made t.dat p.data
numbers p.data report --format csv > got
same right got
check "no notes" test ! -s "$ERR"
for command in "why --worst 5 --format json" "check --max steal.p99=1ns --format csv" "rollup --host h --start-time 2026-01-01T00:00:00Z" \
	       "top --once --format csv" "compare --format csv t.dat" "diff t.dat" "report --full"; do
	# shellcheck disable=SC2086
	run $command p.data
	check "$command reads it: $STATUS" test "$STATUS" -lt 2
done
run export -f csv-tables -o tables p.data
status 0
check "export" test -s tables/interval.csv
run plot -o p.svg p.data
status 0
check "plot" grep -q '<svg' p.svg

# As other files, they may come packed, or from a pipe.
gzip < p.data > p.data.gz
numbers p.data.gz report --format csv > got
same right got
"$KSV_BIN" report --format csv - < p.data | sed '2,$s/^[^,]*,/FILE,/' | grep -v ',volume_bytes,' > got
same right got

# trace-cmd prints the same records, with the names of threads: KernelShark gets this trace.dat.
cat > viewer << 'END'
#!/bin/bash
trace-cmd report -t "${@: -1}" > handed.txt 2>/dev/null
basename "${@: -1}" > name
basename "$(readlink -f "${@: -1}")" >> name
END
chmod +x viewer
some_plugins
trace-cmd report -t t.dat > right.txt 2>/dev/null
check "trace-cmd report" test "$(wc -l < right.txt)" -gt 5000
for how in "pipe zstd" "ids cycles" "threads alone" "big pipe"; do
	# shellcheck disable=SC2086
	made t.dat p.data $how
	QT_QPA_PLATFORM=offscreen KERNELSHARK=./viewer run view p.data
	status 0
	says "$ERR" "p.data: opened as "
	same right.txt handed.txt
done
# sidecars of guests know it by its own name
check "names" test "$(paste -sd ' ' name)" = "p.data.dat p.data"

# What limits the numbers is said.
made t.dat p.data cycles
run report --format csv p.data
status 0
says "$ERR" "p.data: 562 samples of events that are no tracepoints are left out"
made t.dat p.data cpus
run report --format csv p.data
says "$ERR" "p.data: only 2 of 4 CPUs were recorded. Record all: perf record -a"
made t.dat p.data task
run report --format csv p.data
says "$ERR" "p.data: only certain tasks were recorded"
made t.dat p.data unfinished
run report p.data
status 3
says "$ERR" "p.data: a perf.data file without the formats of its tracepoints: perf record writes them at its end"
made t.dat p.data
head -c 100000 p.data > cut.data
run report cut.data
status 3
says "$ERR" "cut.data: a perf.data file that is cut short"
made t.dat p.data pipe
head -c -1004 p.data > cut.data
run report cut.data
status 0
says "$ERR" "cut.data: damaged at byte "

# Losses are where they were: in the middle, and at the end of a CPU, where no sample follows.
made t.dat p.data lose
run report --full p.data
status 0
says "$OUT" "p2         100"
says "$OUT" "p0         ${made#* }"
says "$ERR" "p.data: records were lost 2 times"

# A guest that perf has recorded: the same offset of its clock as from its trace.dat.
trace-cmd convert --file-version 6 --compression none -i "$SAMPLES/kvm-nosync-g1.dat" -o g.dat > /dev/null 2>&1
made g.dat g.data
cp "$SAMPLES/kvm-nosync.dat" host.dat
run align host.dat g.dat
status 0
sed 's/g\.dat/GUEST/g' "$OUT" > right
run align host.dat g.data
status 0
sed 's/g\.data/GUEST/g' "$OUT" > got
same right got

# perf itself finds as many.
if command -v perf >/dev/null; then
	made t.dat p.data zstd
	check "perf script" test "$(perf script -F time -i p.data 2>/dev/null | wc -l)" = "${made% *}"
fi
finish
