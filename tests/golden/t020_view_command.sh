# SPDX-License-Identifier: LGPL-2.1-or-later
# view --dry-run: under which names files are handed to KernelShark.
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/tmp"
some_plugins
export TMPDIR=$WORK/tmp
cd "$WORK" || exit 1
cp "$SAMPLES/hvm-exits.xen" trace.xen
cp trace.xen named.dat
cp trace.xen "with blank.xen"
cp trace.xen ./-dash.xen
cp trace.xen "it's.xen"
gzip -c trace.xen > trace.gz
gzip -c trace.xen > packed.dat
cp "$SAMPLES/kvm-nested-g1.dat" ftrace.dat
cp ftrace.dat ftrace.bin
cp ftrace.dat "with blank.dat"
echo text > text.txt
echo "ffffffff81000000 T _text" > symbols
mkdir sub
cp named.dat sub/named.dat
mkfifo fifo fifo.dat

transcript=$WORK/transcript
attempt()
{
	run view --dry-run "$@"
	status 0
	{
		echo "\$ kshark-virt view $*"
		cat "$OUT" "$ERR"
	} >> "$transcript"
	check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"
}

attempt
attempt trace.xen
attempt trace.gz
attempt named.dat
attempt packed.dat
attempt ftrace.dat
attempt ftrace.bin
attempt text.txt -- -p their.so
attempt trace.xen text.txt
attempt ./-dash.xen
attempt "it's.xen"
attempt trace.xen ftrace.dat
attempt ftrace.dat trace.xen trace.gz
attempt named.dat sub/named.dat
attempt "with blank.xen" "with blank.xen" "with blank.dat"
attempt --cpu-hz 2,3G --absolute --correct-skew trace.xen
attempt trace.xen -- --cpu 1,2 --task 'd1v0 x'
echo '{}' > session.json
attempt -s session.json
attempt -s session.json -- -style fusion
# session NAME MTIME: as KernelShark saves it, of one trace
session()
{
	printf '{ "data streams": [ { "data": { "file": "%s", "name": "top", "time": %s } } ],
		"Markers": { "markA": { "isSet": true, "row": 5 } } }' "$@" > session.json
}
session trace.xen "$(stat -c %Y trace.xen)"
attempt -s session.json
attempt --no-combos trace.xen ftrace.dat
# the view that the window begins with
attempt --show 1.5s..2500ms --mark 2 --page why --select 'web v0' --select 1:pcpu3 --scroll 7 trace.xen
attempt --mark 3..1 --a-to-b --select 1:d1 --select task12 --graphs cpu0-2,task12,cpu5 --graphs 2:none \
	--hypertrace hypergraph --kallsyms symbols trace.xen ftrace.dat -- -style fusion
cat trace.xen > fifo &
attempt fifo
wait
cat trace.xen > fifo.dat &
attempt ftrace.dat fifo.dat
wait
cat ftrace.dat > fifo &
attempt fifo
wait
(run() { gzip -c ftrace.dat | "$KSV_BIN" "$@" > "$OUT" 2> "$ERR"; STATUS=$?; }
 attempt -
 exit $((failures > 0))) || fail "packed standard input"
(run() { cat trace.xen | "$KSV_BIN" "$@" > "$OUT" 2> "$ERR"; STATUS=$?; }
 attempt -
 exit $((failures > 0))) || fail "standard input"
(run() { cat ftrace.dat | "$KSV_BIN" "$@" > "$OUT" 2> "$ERR"; STATUS=$?; }
 attempt trace.xen -
 exit $((failures > 0))) || fail "standard input"

useless() # STATUS ARGUMENT...: nothing is left to open
{
	run view --dry-run "${@:2}"
	status "$1"
	echo "\$ kshark-virt view ${*:2}" >> "$transcript"
	cat "$OUT" "$ERR" >> "$transcript"
	check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"
}
useless 2 --select 3:pcpu0 trace.xen ftrace.dat
useless 3 text.txt
cat text.txt > fifo &
useless 3 fifo
wait
# KernelShark would crash
session trace.xen 1
useless 3 -s session.json
session gone.xen 1
useless 3 -s session.json
echo text > session.json
useless 3 -s session.json

golden t020_view_command "$transcript"
finish
