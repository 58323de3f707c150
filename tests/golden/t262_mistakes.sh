# SPDX-License-Identifier: LGPL-2.1-or-later
# Mistakes: each is answered with what helps, with its exit status and without any output, as mistakes.table has it.
. "$(dirname "$0")/lib.sh"

some_plugins
cp "$SAMPLES/hvm-exits.xen" "$WORK/t.xen"
cp "$SAMPLES/kvm-host.dat" "$WORK/host.dat"
cp "$SAMPLES/kvm-guest.dat" "$WORK/guest.dat"
cd "$WORK" || exit 1
mkdir dir
: > empty.xen
: > empty.dat
# their first bytes are enough
mkdir lttng
printf '\x75\xd1\x1d\x57%0100d' 0 > lttng/metadata
printf 'PERFILE2%0100d' 0 > perf.data
printf '\xd4\xc3\xb2\xa1%0100d' 0 > cap.pcap
printf '\n\r\r\n%0100d' 0 > cap.pcapng
printf '# tracer: nop\n#\n' > ftrace.txt
printf 'PK\3\4%0100d' 0 > trace.zip
printf '\xfd7zXZ\0%0100d' 0 > t.xen.xz
printf 'BZh9%0100d' 0 > t.xen.bz2
echo "this is no trace, but some text that is long enough to be looked at" > text.txt
mkdir packed && cp t.xen packed
tar -cf trace.tar packed
tar -cf - packed | gzip > trace.tar.gz
printf '\xfd7zXZ\0%0100d' 0 > trace.tar.xz
cp "$KSV_BIN" vmlinux
printf '\x7fELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0%0100d' 0 > core
printf '\x7fELF\2\2\1\0\0\0\0\0\0\0\0\0\0\4%0100d' 0 > core.big
printf 'KDUMP   %0100d' 0 > vmcore
printf 'QFI\xfb%0100d' 0 > guest.qcow2
"$KSV_BIN" export -q -f sqlite -o x.sqlite t.xen
"$KSV_BIN" export -q -f perfetto -o trace.perfetto t.xen
printf 'cpus=4\n   sleep-12  [001]     1.000000: sched_switch: x\n' > report.txt
printf '{\n "version": 1,\n "cpu_hz": 1000000000\n}\n' > side.json
printf '[\n {"name": "x", "ph": "X"}\n]\n' > chrome.json
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12\n' 0 > lfs.xen
printf '<!DOCTYPE html>\n<html><title>404</title>\n' > page.dat
ls > before
rows=0
while IFS='|' read -r wanted arguments text; do
	[[ $wanted == [0-9] ]] || continue
	rows=$((rows + 1))
	# shellcheck disable=SC2086
	run $arguments
	check "$arguments: status $STATUS" test "$STATUS" = "$wanted"
	check "$arguments: '$text' instead of: $(head -1 "$ERR")" grep -qF -- "$text" "$ERR"
	check "$arguments: nothing is written" test ! -s "$OUT"
done < "$GOLDEN/mistakes.table"
check "there are rows" test "$rows" -ge 125
rm -f stdout stderr
ls > after
check "nothing is left behind: $(diff before after)" test -z "$(diff before after | grep '^>' | grep -v after)"
finish
