# SPDX-License-Identifier: LGPL-2.1-or-later
# view with a program in KernelShark's place that prints what it was given.
. "$(dirname "$0")/lib.sh"

mkdir "$WORK/tmp"
some_plugins
export TMPDIR=$WORK/tmp QT_QPA_PLATFORM=offscreen
cd "$WORK" || exit 1
cat > viewer << 'END'
#!/bin/bash
echo "hz=${XEN_CPUHZ-} absolute=${XEN_ABSTS-} skew=${XEN_TSC_SKEW-}"
for name; do
	[ -f "$name" ] || continue
	echo "$name: $(cksum < "$name")"
	[ -e "$name.meta.json" ] && echo "sidecar: $(cat "$name.meta.json")"
done
[ "${WAIT-}" ] && { trap 'echo got TERM; exit 7' TERM; : > started; while :; do sleep 0.05; done; }
exit "${RESULT-0}"
END
chmod +x viewer
export KERNELSHARK=./viewer

cp "$SAMPLES/hvm-exits.xen" named.dat
sum=$(cksum < named.dat)
echo dat > named.dat.meta.json
gzip -c named.dat > trace.xen.gz
echo plain > trace.xen.meta.json

run view --cpu-hz 2.3G --absolute --correct-skew named.dat
status 0
says "$OUT" "hz=2300000000 absolute=1 skew=correct"
says "$OUT" "named.xen: $sum"
says "$OUT" "sidecar: dat"
says "$ERR" "named.dat: opened as"
check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"
run view trace.xen.gz
says "$OUT" "trace.xen.gz: $(cksum < trace.xen.gz)"
says "$OUT" "sidecar: plain"
says "$OUT" "hz= absolute= skew="
echo packed > trace.xen.gz.meta.json
run view trace.xen.gz
says "$OUT" "sidecar: packed"
check "no link is needed" test ! -s "$ERR"
cat named.dat | "$KSV_BIN" view - > "$OUT" 2> "$ERR"
says "$OUT" "stdin: $sum"
check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"

# a trace.dat and what aligns it with its host
cp "$SAMPLES/kvm-guest.dat" guest
echo aligned > guest.meta.json
run view guest
says "$OUT" "guest.dat: $(cksum < guest)"
says "$OUT" "sidecar: aligned"

RESULT=5 run view named.dat
status 5
KERNELSHARK=$WORK/missing run view named.dat
status 2
says "$ERR" "install KernelShark"
check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"

# A signal reaches KernelShark, and its answer is ours.
WAIT=1 "$KSV_BIN" view named.dat > "$OUT" 2> "$ERR" &
pid=$!
for ((i = 0; i < 200; i++)); do
	[ -e started ] && break
	sleep 0.05
done
kill -TERM $pid
wait $pid
STATUS=$?
status 7
says "$OUT" "got TERM"
check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"

# A signal while a pipe is copied.
mkfifo fifo
sleep 60 > fifo &
writer=$!
for signal in TERM HUP; do
	# under nohup, it would be ignored
	env --default-signal=$signal "$KSV_BIN" view fifo > "$OUT" 2> "$ERR" &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		[ -n "$(ls -A "$TMPDIR")" ] && break
		sleep 0.05
	done
	kill -$signal $pid
	wait $pid
	STATUS=$?
	status $((128 + $(kill -l $signal)))
	check "the temporary directory is gone" test -z "$(ls -A "$TMPDIR")"
done
kill $writer

# A directory for temporary files that cannot be used.
if [ ! -d /nonexistent ]; then
	TMPDIR=/nonexistent run view named.dat
	status 3
	says "$ERR" "set TMPDIR"
fi

finish
