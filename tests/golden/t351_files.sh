# SPDX-License-Identifier: LGPL-2.1-or-later
# report --files: bytes by task and file descriptor, recounted from trace-cmd's text, of all system calls and of four; and as
# many as programs are known to have moved.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit

rows=0
for name in host-files host-files-some; do
	gunzip -c "$SAMPLES/$name.dat.gz" > $name.dat
	trace-cmd report -R -t $name.dat > text 2> said
	run report -q --files --format json $name.dat
	status 0
	cp "$OUT" $name.json
	check "recounted: $name" python3 "$GOLDEN/files_oracle.py" text $name.json > n
	rows=$((rows + $(cat n)))
	# a window: its calls, and in two halves the same as in one
	read -r from middle to <<< "$(python3 -c 'import json, sys
begin, end = json.load(open(sys.argv[1]))["window_ns"]
print(begin + (end - begin) // 4, begin + (end - begin) // 2, end)' $name.json)"
	for window in "$from $middle" "$middle $to"; do
		read -r a b <<< "$window"
		run report -q --files --format json --absolute --from "${a}ns" --to "${b}ns" $name.dat
		status 0
		check "recounted: $name, $window" python3 "$GOLDEN/files_oracle.py" text "$OUT" "$a" "$b" > n
	done
done
check "there were enough rows ($rows)" test $rows -gt 90

# what the programs of record/host/files.sh have moved
run report -q --files --format csv host-files.dat
status 0
has() { check "$*: $(grep -c "$1" "$OUT")" test "$(cut -d, -f3,4,7-11 "$OUT" | grep -c "$1")" = 1; }
has '^file,host,read,0,100,0,400000$'
has '^file,host,write,1,100,0,400000$'
has '^file,host,write,1,1,1,0$'
has '^file,host,write,4,8,0,80000$'
run report -q --files host-files.dat
status 0
check "text has the columns" grep -qE '^ +task +file +calls +failed +bytes +bytes/s +in calls +p50 +p99 +max$' "$OUT"

# not all calls were recorded, or none: that is no 0
run report -q --files host-files-some.dat
status 0
says "$OUT" 'bytes of other calls are missing below'
run report -q --files --format json "$SAMPLES/host-futexes.dat.gz"
status 0
says "$OUT" '"files": null'
run report -q --files "$SAMPLES/host-futexes.dat.gz"
status 0
says "$OUT" 'bytes of files are unknown'
finish
