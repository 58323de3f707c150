# SPDX-License-Identifier: LGPL-2.1-or-later
# kshark-virt check: pinned vCPUs pass, others are found.
. "$(dirname "$0")/lib.sh"

pins="--affinity d0v0=0 --affinity d0v1=1 --affinity d1v0=2 --affinity d1v1=3"

run check $pins "$SAMPLES/pinned.xen"
status 0
golden t052_check_pinned "$OUT"

run check --affinity d0=0,1 --affinity d1=2-3 "$SAMPLES/pinned.xen"
status 0

# the last one counts
run check --affinity d1=0 --affinity d1=2-3 "$SAMPLES/pinned.xen"
status 0

run check --cpu-hz 2300002K --affinity d1v1=2 --to 100ms "$SAMPLES/pinned.xen"
status 1
golden t052_check_elsewhere "$OUT"

run check --cpu-hz 2300002K --format csv --affinity d1v1=2 --to 100ms "$SAMPLES/pinned.xen"
status 1
golden t052_check_csv "$OUT"

for sample in credit2-basic migration; do
	run check --cpu-hz 2300M --affinity d1=2,3 "$SAMPLES/$sample.xen"
	status 1
	{
		head -5 "$OUT"
		tail -1 "$OUT"
	} > "$WORK/ends"
	golden "t052_check_$sample" "$WORK/ends"
done

# also where several ranges reach into each other; each item is asked, even if it never counts
run check --affinity d1v0,d1,d0v1=0-3 --affinity d0,d1v1=0 --affinity d1v0=3,2 --affinity d0v1=1 \
	--affinity d1v1=3 "$SAMPLES/pinned.xen"
status 0
run check --affinity d1=0-3 --affinity d7v0,d8=1 --affinity d1v0=2 "$SAMPLES/pinned.xen"
status 2
says "$ERR" "d7v0,d8=1: the trace has no such vCPU"

printf '# as recorded\nd0v0=0\n\n  d0v1=1 # dom0\nd1v0=2\nd1v1=3\n' > "$WORK/pins"
run check --affinity-file "$WORK/pins" "$SAMPLES/pinned.xen"
status 0
says "$OUT" "0 of "
run check --affinity-file "$WORK/pins" --affinity d0v0=3 "$SAMPLES/pinned.xen"
status 1

printf 'd0v0=0\nd0v1 1\n' > "$WORK/wrong"
run check --affinity-file "$WORK/wrong" "$SAMPLES/pinned.xen"
status 2
says "$ERR" "line 2"
run check --affinity-file "$WORK/none" "$SAMPLES/pinned.xen"
status 3
run check --affinity d1v0 "$SAMPLES/pinned.xen"
status 2
run check --affinity d7v0=1 "$SAMPLES/pinned.xen"
status 2
says "$ERR" "the trace has no such vCPU"
run check "$SAMPLES/pinned.xen"
status 2
says "$ERR" "nothing to check"
run check --affinity d1v0=2
status 2
run check --affinity d1v0=2 "$WORK/none.xen"
status 3

# without memory, a list is not called wrong
if endures_no_memory; then
	cc -shared -fPIC -o "$WORK/no_memory.so" "$KSV_SOURCE_DIR/tests/hostile/no_memory.c" -ldl
	echo 'd1v0=2,3' > "$WORK/list"
	failed=0
	for ((at = 0; at < 60; at++)); do
		for arguments in "check --affinity-file $WORK/list" 'dump --vcpu d1v0,d2 --format csv'; do
			# shellcheck disable=SC2086
			NO_MEMORY_AT=$at LD_PRELOAD=$WORK/no_memory.so "$KSV_BIN" $arguments \
				"$WORK/none.xen" > "$OUT" 2> "$ERR"
			STATUS=$?
			status 3
			! grep -q 'not enough memory' "$ERR" || failed=$((failed + 1))
		done
	done
	check "some were needed" test "$failed" -gt 3
fi
finish
