# SPDX-License-Identifier: LGPL-2.1-or-later
# What is written is there whole or not at all; what is read stays.
. "$(dirname "$0")/lib.sh"

cp "$SAMPLES/hvm-exits.xen" "$WORK/a.xen"
cd "$WORK" || exit 1
umask 027
nothing_left()
{
	check "no temporary file is left" test -z "$(find "$WORK" -name '.kshark-virt-*')"
}

# The input, by whatever name, and its sidecar.
echo '{}' > a.xen.meta.json
for command in dump report plot\ --format\ csv; do
	for input in - a.xen; do
		for output in a.xen ./a.xen a.xen.meta.json; do
			[ "$input $output" = "- a.xen.meta.json" ] && continue
			"$KSV_BIN" $command -o $output $input < a.xen > "$OUT" 2> "$ERR"
			STATUS=$?
			status 2
			says "$ERR" "--output $output: is the trace"
			same a.xen "$SAMPLES/hvm-exits.xen"
		done
	done
	"$KSV_BIN" $command a.xen >> a.xen 2> "$ERR"
	STATUS=$?
	status 2
	same a.xen "$SAMPLES/hvm-exits.xen"
done
printf 'run,metric,value\na,m,1\nb,m,2\n' > v.csv
cp v.csv v.copy
for option in "-o v.csv --values -" "-o v.csv --values v.csv" "--plot v.svg --values -"; do
	ln -f v.csv v.svg
	"$KSV_BIN" compare $option < v.csv > "$OUT" 2> "$ERR"
	STATUS=$?
	status 2
	same v.csv v.copy
done
rm v.svg
run compare --plot both.svg -o both.svg --values v.csv
status 2
says "$ERR" "--output both.svg: is the plot"

# A run that fails leaves what was there, or nothing.
for command in report dump plot; do
	echo old > good.csv
	run $command --format csv -o good.csv nonexistent
	status 3
	check "$command: the old output stays" test "$(cat good.csv)" = old
	run $command --format csv -o new.csv nonexistent
	status 3
	check "$command: there is no new output" test ! -e new.csv
done
run report --format csv -o good.csv a.xen nonexistent
status 3
check "no half of a report" test "$(cat good.csv)" = old
run report --full -o no/folder a.xen
status 3
says "$ERR" "no/folder: cannot write: No such file or directory"
mkdir folder
run report --full -o folder a.xen
status 3
says "$ERR" "folder: cannot write: Is a directory"

# Too few values to decide is a result, and is written like any other.
printf 'run,metric,value\na,m,1\nb,m,2\n' > few.csv
run compare --values few.csv
status 4
cp "$OUT" few.txt
echo old > good.csv
run compare -o good.csv --values few.csv
status 4
same few.txt good.csv
run compare -o /dev/full --values few.csv
status 3
says "$ERR" "/dev/full: cannot write: No space left on device"

# Modes, links, and names that are no files.
run report --format csv -q -o new.csv a.xen
status 0
cp new.csv report.csv
check "a new file's mode is the umask's" test "$(stat -c %a new.csv)" = 640
chmod 604 new.csv
ln -s new.csv link.csv
ln -s made.csv dangling.csv
run report --format csv -q -o link.csv a.xen
status 0
check "the mode stays" test "$(stat -c %a new.csv)" = 604
check "the link stays" test -L link.csv
run report --format csv -q -o dangling.csv a.xen
status 0
check "the link stays" test -L dangling.csv
same made.csv report.csv
ln -s loop.csv loop.csv
run report --format csv -q -o loop.csv a.xen
status 3
mkfifo fifo
cat fifo > through &
run report --format csv -q -o fifo a.xen
status 0
wait
same through report.csv
check "still a FIFO" test -p fifo
run report --format csv -q -o /dev/null a.xen
status 0
check "still a device" test -c /dev/null
{ echo before; "$KSV_BIN" report --format csv -q -o /dev/stdout a.xen; } > "$OUT"
same <(echo before; cat report.csv) "$OUT"
"$KSV_BIN" report --format csv -q -o /dev/fd/7 a.xen 7> "$OUT"
same report.csv "$OUT"
if [ "$(id -u)" != 0 ]; then
	chmod 444 new.csv
	run report --format csv -q -o new.csv a.xen
	status 3
	says "$ERR" "Permission denied"
fi

# No room: the disk's, and what the shell allows.
run report --format csv -q -o /dev/full a.xen
status 3
says "$ERR" "/dev/full: cannot write: No space left on device"
echo old > good.csv
(ulimit -f 16; "$KSV_BIN" dump --format csv -q -o good.csv a.xen) > "$OUT" 2> "$ERR"
STATUS=$?
status 3
says "$ERR" "good.csv: cannot write: File too large"
check "the old output stays" test "$(cat good.csv)" = old
nothing_left

# A signal while it is written: the reader's end of a FIFO is open, but nothing comes. The new file
# is there by then, because its name is taken before the trace is read.
for signal in TERM HUP INT; do
	rm -f never
	mkfifo never
	sleep 60 > never &
	writer=$!
	env --default-signal=$signal "$KSV_BIN" report -q -o good.csv never > "$OUT" 2> "$ERR" &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		[ -n "$(find . -name '.kshark-virt-*')" ] && break
		sleep 0.05
	done
	check "it is being written" test -n "$(find . -name '.kshark-virt-*')"
	kill -$signal $pid
	wait $pid
	check "ended by SIG$signal" test $? = $((128 + $(kill -l $signal)))
	kill $writer
	wait $writer 2> /dev/null
	check "the old output stays" test "$(cat good.csv)" = old
	nothing_left
done

# Closed standard descriptors: messages do not end up in what is opened next.
"$KSV_BIN" report --full -o closed.txt a.xen 2>&-
"$KSV_BIN" report --full -q -o right.txt a.xen
same right.txt closed.txt
"$KSV_BIN" report --full -q -o closed.txt a.xen 2>&- 1>&- <&-
STATUS=$?
status 0
same right.txt closed.txt
"$KSV_BIN" report --full -q a.xen 2> "$ERR" >&-
STATUS=$?
status 3
says "$ERR" "standard output: cannot write: Bad file descriptor"
finish
