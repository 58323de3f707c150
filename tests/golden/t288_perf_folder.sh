# SPDX-License-Identifier: LGPL-2.1-or-later
# Folders of "perf record --threads": the numbers of the same records in one file, and what is wrong with a folder.
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || { echo "trace-cmd is not installed"; exit 77; }
cd "$WORK" || exit 1

# made FOLDER HOW...
made()
{
	local folder=$1

	shift
	rm -rf "$folder"
	python3 "$GOLDEN/perf_data.py" t.dat "$folder" "$@" > counts || fail "perf_data.py $*"
}

# numbers FILE: without what differs: the name, and bytes that perf adds to records
numbers()
{
	run report --format csv "$1"
	status 0
	sed '2,$s/^[^,]*,/FILE,/' "$OUT" | grep -v ',volume_bytes,'
}

trace-cmd convert --file-version 6 --compression none -i "$SAMPLES/kvm-shared.dat" -o t.dat > /dev/null 2>&1
numbers t.dat > right
check "there are numbers" test "$(wc -l < right)" -gt 150
for how in folder "folder zstd" "folder big"; do
	# shellcheck disable=SC2086
	made d $how
	numbers d/ > got
	same right got
	check "no notes: $how" test ! -s "$ERR"
done
made file lose
numbers file > right_lost
made d folder lose
numbers d > got
same right_lost got
says "$ERR" "d: records were lost 2 times"

# Each command takes a folder; split writes a trace.dat of its records.
made d folder
for command in "why --worst 1" "check --max steal.p99=1ns" "rollup --host h --start-time 2026-01-01T00:00:00Z" "top --once" \
	       "compare t.dat" "diff t.dat" "dump"; do
	# shellcheck disable=SC2086
	run $command d
	check "$command reads it: $STATUS" test "$STATUS" -lt 2
done
run split --to 50% -o half.dat d
status 0
run split --to 50% -o right.dat t.dat
status 0
trace-cmd report -t half.dat 2> /dev/null > got
trace-cmd report -t right.dat 2> /dev/null > right_half
same right_half got

# KernelShark gets a trace.dat with the name of the folder.
cat > viewer << 'END'
#!/bin/bash
trace-cmd report -t "${@: -1}" > handed.txt 2>/dev/null
readlink -f "${@: -1}" > name
END
chmod +x viewer
some_plugins
QT_QPA_PLATFORM=offscreen KERNELSHARK=./viewer run view d
status 0
trace-cmd report -t t.dat > right.txt 2>/dev/null
same right.txt handed.txt
check "its name" test "$(basename "$(cat name)")" = d

# refused STATUS TEXT: what report says of the folder d
refused()
{
	run report --format csv d
	status "$1"
	says "$ERR" "$2"
	made d folder
}
run report d/data
status 3
says "$ERR" "d/data: a part of a folder of 'perf record --threads': give the folder that it is in"
run report d/data.1
status 3
says "$ERR" "d/data.1: a part of a folder of 'perf record --threads': give the folder that it is in"
run report d d/
status 2
says "$ERR" "would count twice"
rm d/data
refused 3 "d: a folder of 'perf record --threads' without its file data, which describes the events"
rm d/data.*
refused 3 "d: a folder of 'perf record --threads' without its files data.0, data.1"
rm d/data.1
refused 0 "d: its file data.1 is missing, and with it all records of some CPUs"
rm d/data.2
refused 0 "d: 2 of the 4 CPUs that were recorded have no record in it. If one of its files data.2 ... is missing"
cp d/data.0 d/data.3
refused 3 "d: its files data.0 and data.3 both have records of CPU 0: one of them belongs to another recording"
mv d/data.0 kept && ln -s ../kept d/data.0
refused 3 "d: its file data.0 is a link, which may lead out of the folder: put the file there"
rm d/data.0 && mkfifo d/data.0
refused 3 "d: its file data.0: not a regular file"
rm d/data.0 && mkdir d/data.0
refused 3 "d: its file data.0: not a regular file"
mv d/data kept && ln -s ../kept d/data
refused 3 "d: its file data is a link"
: > d/data
refused 3 "d: "
: > d/data.1
run report d
status 0
mkdir d/kcore_dir && : > d/data.0~ && : > d/data.00
run report d
status 0

# What is cut off is missing from there on: no CPU goes on doing what it did last.
head -c 60000 d/data.0 > cut && mv cut d/data.0
run report --full d
status 0
says "$ERR" "d/data.0: damaged at byte "
says "$ERR" "d: records were lost 1 time"
made d folder
printf '\377\377\377\377\377\377\377\377' | dd of=d/data.2 bs=1 seek=344 conv=notrunc 2> /dev/null
refused 0 "d/data.2: damaged at byte "

# Parts of other recordings: with other events, or of another time.
made other folder ids
cp other/data.1 d/data.1
refused 3 "d: its file data.1 belongs to another recording: it has no event of this one"
made d folder
python3 - << 'END'
# a recording of two seconds later
import struct
data = bytearray(open("d/data.1", "rb").read())
at = 0
while at < len(data):
    kind, _, size = struct.unpack_from("<IHH", data, at)
    if kind == 9:
        time, = struct.unpack_from("<Q", data, at + 32)
        struct.pack_into("<Q", data, at + 32, time + 20000000000)
    at += size
open("d/data.1", "wb").write(data)
END
refused 0 " samples are earlier or later than the recording was: some of its files belong to another recording"
made file
mkdir plain && cp file plain/data && cp d/data.0 plain/data.7
run report plain
status 3
says "$ERR" "so that data.7 belongs to another recording: remove one of them"
rm plain/data.7
numbers plain > got
same right got

# perf reads the same folder, and finds as many samples, exits and runs.
if command -v perf >/dev/null; then
	for how in "folder" "folder zstd"; do
		# shellcheck disable=SC2086
		made d $how
		check "perf script: $how" test "$(perf script -F time -i d 2>/dev/null | wc -l)" = "$(cut -d' ' -f1 counts)"
	done
fi

# A recording of a real KVM host, as a folder: the numbers of the file, and perf's.
cp "$SAMPLES/kvm-perf.data" one.data
python3 "$GOLDEN/perf_folder.py" one.data one
numbers one.data > right
numbers one > got
same right got
if command -v perf >/dev/null; then
	run report --format csv one
	cp "$OUT" report.csv
	run report --threads --format csv one
	cp "$OUT" threads.csv
	perf kvm -i one stat report --event=vmexit > kvm_stat 2>&1
	perf sched timehist -i one --summary > timehist 2> /dev/null
	check "as perf" python3 "$GOLDEN/perf_oracle.py" kvm_stat timehist report.csv threads.csv > compared
	grep -q " 0 differ" compared || cat compared
fi

# A real one, where perf may record: KernelShark gets as many records as perf script prints.
if perf record -q -a -e 'sched:*' --threads -o real -- sleep 0.2 > /dev/null 2>&1 && test -s real/data.0; then
	QT_QPA_PLATFORM=offscreen KERNELSHARK=./viewer run view real
	status 0
	for event in sched_switch sched_waking; do
		check "real: $event" test "$(grep -c " $event: " handed.txt)" = \
			"$(perf script -i real -F event 2> /dev/null | grep -c ":$event:")"
	done
	check "real: there are some" grep -q ' sched_switch: ' handed.txt
fi
finish
