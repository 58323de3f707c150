# SPDX-License-Identifier: LGPL-2.1-or-later
# Traces of KVM that do not fit together, or are damaged: a message that helps, the rest is reported.
. "$(dirname "$0")/lib.sh"

# A guest without its host, and beside another one.
run report --full "$SAMPLES/kvm-guest.dat"
status 3
says "$ERR" "no other file is its host's trace"
run report --full "$SAMPLES/kvm-guest.dat" "$SAMPLES/kvm-shared.dat"
status 3
says "$ERR" "no other file is its host's trace"
says "$OUT" "g1v1  thread 2395"
run plot --output "$WORK/x.svg" "$SAMPLES/kvm-guest.dat"
status 3
says "$ERR" "not the trace of a KVM host"

# A guest of which another host was recorded: its trace id is another one.
run report --full "$SAMPLES/kvm-shared.dat" "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 0
check "the guest is reported with its host" test "$(grep -c "^guest " "$OUT")" = 1
check "both hosts are reported" test "$(grep -c "^  window " "$OUT")" = 2

# Cycles are distinguished from ns: what was split had times in ns, whatever its clock is called.
run report --full "$SAMPLES/kvm-shared.dat"
status 0
check "ns are taken for cycles" test ! -s "$ERR"
run report --full "$SAMPLES/kvm-shared.dat" --cpu-hz 2300M
status 0
says "$OUT" "1023.100066604 .. "

# Together with a xentrace file.
run report --format csv "$SAMPLES/hvm-exits.xen" "$SAMPLES/kvm-shared.dat"
status 0
says "$OUT" "kvm-shared.dat,state,g1,g1v0,guest,"
says "$OUT" "hvm-exits.xen,state,d0,d0v0,guest,"

# Damaged ones: cut off anywhere, or with something wrong in them, they end with a message or with
# a report of what is there.
for size in 5 300 4000 60000 900000 1050000; do
	head -c "$size" "$SAMPLES/kvm-shared.dat" > "$WORK/cut.dat"
	run report --full "$WORK/cut.dat"
	check "cut at $size: status $STATUS" test "$STATUS" = 3
	check "cut at $size: a message" grep -q "cut.dat" "$ERR"
done
size=$(stat -c %s "$SAMPLES/kvm-shared.dat")
for i in $(seq 1 20); do
	cp "$SAMPLES/kvm-shared.dat" "$WORK/bad.dat"
	chmod u+w "$WORK/bad.dat"
	printf '\377\000\377' | dd of="$WORK/bad.dat" bs=1 conv=notrunc status=none \
		seek=$((size * i / 21))
	timeout 60 "$KSV_BIN" report --full "$WORK/bad.dat" > "$OUT" 2> "$ERR"
	STATUS=$?
	check "changed at $i/21: status $STATUS" test "$STATUS" = 0 -o "$STATUS" = 3
done
# One wrong byte in a page makes libtracecmd give the same records again and again. Version 6 is not
# compressed: the byte is one of the 71st page of CPU 1.
if command -v trace-cmd > /dev/null; then
	trace-cmd convert --file-version 6 -i "$SAMPLES/kvm-host.dat" -o "$WORK/v6.dat" \
		> "$WORK/said" 2>&1
	python3 - "$WORK/v6.dat" << 'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
start, = struct.unpack_from("<Q", data, data.index(b"flyrecord\0") + 10 + 16)
assert data[start + 70 * 4096 + 2492] == 208
data[start + 70 * 4096 + 2492] = 81
open(sys.argv[1], "wb").write(data)
END
	run report --full "$WORK/v6.dat"
	status 0
	says "$ERR" "the records of CPU 1 are damaged; they are read up to there"
	run view --dry-run "$WORK/v6.dat"
	status 3
	says "$ERR" "v6.dat: damaged: libtracecmd comes to no end on it"
fi

finish
