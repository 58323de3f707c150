# SPDX-License-Identifier: LGPL-2.1-or-later
# Damaged trace.dat files on which libtracecmd or libtraceevent crash, or come to no end: a message,
# and no crash, of the command as of KernelShark, to which view does not hand such files.
. "$(dirname "$0")/lib.sh"

if ! command -v trace-cmd > /dev/null; then
	echo "trace-cmd is missing"
	exit 77
fi
cd "$WORK" || exit 1
some_plugins

# refused FILE TEXT: by the command and by view
refused()
{
	run report --full --quiet "$1"
	status 3
	says "$ERR" "$1: $2"
	run view --dry-run "$1"
	status 3
	says "$ERR" "$1: $2"
}

trace-cmd convert --file-version 6 -i "$SAMPLES/kvm-nested.dat" -o v6.dat > said 2>&1
trace-cmd convert --file-version 7 --compression none -i "$SAMPLES/kvm-nested.dat" -o v7.dat \
	> said 2>&1
run report --full --quiet v6.dat
status 0
run report --full --quiet v7.dat
status 0

# Version 6, cut off within its headers, its options, its list of CPUs, and the records of each.
python3 - << 'END' > cuts
import struct
data = open("v6.dat", "rb").read()
options = data.index(b"options  \0")
records = data.index(b"flyrecord\0") + 10
print(12, 19, 100, options // 2, options - 2, options + 4, options + 30, records - 5,
      records, records + 20)
at = records
for cpu in range(4):
    offset, size = struct.unpack_from("<QQ", data, at + 16 * cpu)
    print(offset + 1, offset + size // 2, offset + size - 1)
END
for size in $(cat cuts); do
	head -c "$size" v6.dat > cut.dat
	[ "$size" -lt "$(stat -c %s v6.dat)" ] && refused cut.dat "cut off"
done

# changed FILE PYTHON: version 7, changed
changed()
{
	python3 "$GOLDEN/trace_dat_edit.py" v7.dat "$1" "$2"
}

# Options that lead back to themselves: libtracecmd reads them until its stack is full.
changed circle.dat 'put(find(0), options(), 8)'
refused circle.dat "damaged: its options go round in circles"
changed endless.dat 'put(options() + 16 + 2, 0xfffffff0)'
refused endless.dat "damaged: an option is larger than the section"
changed astray.dat 'put(link(), section(16), 8)'
refused astray.dat "damaged: where its options should be"

# Pages of no size, by which libtracecmd divides.
changed pages.dat 'put(14, 0)'
refused pages.dat "damaged: libtracecmd crashes on it"

# A page, not the first one, of which more is said to be used than it has.
used='put(cpu(1) + 3 * 4096 + 8, 0x7ffffff, 8); \
	put(cpu(1) + 3 * 4096 + 16, 29 | 1 << 5); put(cpu(1) + 3 * 4096 + 20, 0x7000000)'
changed used.dat "$used"
run report --full used.dat
status 0
says "$ERR" "used.dat: the records of CPU 1 are damaged; they are read up to there"
run view --dry-run used.dat
status 3
says "$ERR" "used.dat: damaged: libtracecmd crashes on it"

# A format of an event that libtraceevent cannot parse, and crashes on: how it is printed, which a report
# does not need, but KernelShark.
changed format.dat 'd[d.index(b"__print_symbolic(REC->exit_reason") + 28] = 0x80'
run report --full --quiet format.dat
status 0
for command in dump "view --dry-run"; do
	run $command format.dat
	status 3
	says "$ERR" "format.dat: damaged: libtracecmd crashes on it"
done
cp v7.dat whole.dat
for format in text json; do
	run report --full -f $format whole.dat pages.dat
	status 3
	says "$OUT" "whole.dat"
done
check "the document is whole" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$OUT"
# Of a guest, libtracecmd reads the records, and crashes after the first report.
trace-cmd convert --file-version 7 --compression none -i "$SAMPLES/kvm-nested-g1.dat" -o guest.dat > said 2>&1
python3 "$GOLDEN/trace_dat_edit.py" guest.dat bad-guest.dat "$used"
for command in report "report --full" why "export -f csv-tables -o tables"; do
	run $command whole.dat bad-guest.dat
	status 3
	says "$ERR" "bad-guest.dat: damaged: libtracecmd crashes on it"
done
check "no tables" test ! -e tables

run view --dry-run format.dat whole.dat
status 0
says "$ERR" "opening the rest without it"

# without memory, it is not the file that is to blame, as far as the libraries show
if endures_no_memory; then
	cc -shared -fPIC -o no_memory.so "$KSV_SOURCE_DIR/tests/hostile/no_memory.c" -ldl
	failed=0
	for ((at = 20; at < 60; at++)); do
		NO_MEMORY_AT=$at LD_PRELOAD=./no_memory.so "$KSV_BIN" report --full --quiet whole.dat >"$OUT" 2>"$ERR"
		STATUS=$?
		[ "$STATUS" != 0 ] || continue
		status 3
		check "its head is good" test -z "$(grep 'the head of' "$ERR")"
		! grep -q 'not enough memory' "$ERR" || failed=$((failed + 1))
	done
	check "most were needed" test "$failed" -gt 10
fi
finish
