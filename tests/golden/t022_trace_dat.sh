# SPDX-License-Identifier: LGPL-2.1-or-later
# view: trace.dat files that cannot be read are named with what helps; the rest is opened.
. "$(dirname "$0")/lib.sh"

some_plugins
cd "$WORK" || exit 1

# at NAME OFFSET BYTES: a copy of the guest's trace with other bytes somewhere
at()
{
	cp "$SAMPLES/kvm-guest.dat" "$1"
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

cp "$SAMPLES/kvm-guest.dat" whole.dat
size=$(stat -c %s whole.dat)
# After the magic: "7", 0, byte order, size of a long, page size, "zstd", 0, "1.5.4", 0, 8 bytes
at lzma.dat 18 'lzma'
at unfinished.dat 29 '\0\0\0\0\0\0\0\0'
at far.dat 29 '\0\0\0\0\0\0\0\1'
printf '\027\010Dtracing7\0' > head.dat

run view --dry-run whole.dat
status 0
check "a whole file gives no message" test ! -s "$ERR"

run view --dry-run lzma.dat whole.dat
status 0
says "$ERR" "lzma.dat: compressed with lzma"
says "$ERR" "trace-cmd convert"
says "$ERR" "opening the rest without it"
says "$OUT" "plugin-kvm_combo.so whole.dat"

run view --dry-run unfinished.dat
status 3
says "$ERR" "unfinished.dat: not complete"
says "$ERR" "trace-cmd restore"

run view --dry-run far.dat head.dat whole.dat
status 0
says "$ERR" "far.dat: cut off: its options are at offset 72057594037927936"
says "$ERR" "head.dat: cut off: its head is"
says "$ERR" "opening the rest without them"

# However much is missing: no crash, and a cut of the data is always reported.
for keep in 0 5 9 10 12 20 36 40 1000 $((size / 2)) $((size - 200)); do
	head -c "$keep" whole.dat > short.dat
	run view --dry-run short.dat
	status 3
	if [ "$keep" -lt 10 ]; then
		says "$ERR" "short.dat: not a trace of xentrace, trace-cmd or QEMU"
	else
		says "$ERR" "short.dat: cut off"
	fi
done

finish
