# SPDX-License-Identifier: LGPL-2.1-or-later
# check --core-isolation: where vCPUs of two machines are on one core.
. "$(dirname "$0")/lib.sh"

hz=(--cpu-hz 2300M)
run_check() # ARGUMENT...
{
	run check "${hz[@]}" -q --core-isolation "$@"
}

# One topology, as each of the three has it; lab's machines have none.
lscpu=$WORK/lscpu
printf '# CPU,Core,Socket,Node\n0,0,0,0\n1,0,0,0\n\n2,1,0,\n3,1,0,\n' > "$lscpu"
xl=$WORK/xl
printf 'host : lab\ncpu_topology :\ncpu:    core    socket     node\n%s\ndevice topology :\n' \
	'  0:       0        0        0
  1:       0        0        0
  2:       1        0        0
  3:       1        0        0' > "$xl"
json=$WORK/lab.json
printf '{ "cpu_khz": 1, "pcpus": [ %s { "id": 3, "core": 1, "socket": 0 } ] }' \
	"$(printf '{ "id": %d, "core": %d, "socket": 0 }, ' 0 0 1 0 2 1)" > "$json"

# Each row is what the records show.
rows=0
same() # NAME
{
	check "$1: as the records: $(cat "$WORK/said")" test "$STATUS" = 0
	rows=$((rows + $(tail -n 1 "$WORK/said")))
}
for name in credit2-basic hvm-exits migration sched-credit pinned; do
	trace=$SAMPLES/$name.xen
	hz=(--cpu-hz "$(known_hz "$trace")")
	run dump --quiet --format csv "${hz[@]}" "$trace"
	mv "$OUT" "$WORK/dump"
	run_check --topology "$lscpu" --format csv "$trace"
	check "$name: it has been judged" test "$STATUS" = 0 -o "$STATUS" = 1
	cp "$OUT" "$WORK/check"
	python3 "$GOLDEN/cores_oracle.py" xen "$trace" "$WORK/dump" "${hz[1]}" "$WORK/check" 0,1 2,3 \
		> "$WORK/said"
	STATUS=$?
	same "$name"
	for topology in "$xl" "$json"; do
		run_check --topology "$topology" --format csv "$trace"
		check "$name: the same by $topology" cmp "$OUT" "$WORK/check"
	done
done
hz=()
if command -v trace-cmd > /dev/null; then
	trace=$SAMPLES/recording-kvm
	trace-cmd report -t -i "$trace/host.dat" > "$WORK/text" 2> /dev/null
	run report -q --format json "$trace/host.dat"
	mv "$OUT" "$WORK/report"
	run_check --topology "$lscpu" --format csv "$trace"
	status 1
	cp "$OUT" "$WORK/check"
	python3 "$GOLDEN/cores_oracle.py" kvm "$WORK/text" "$WORK/report" "$WORK/check" 0,1 2,3 \
		> "$WORK/said"
	STATUS=$?
	same recording-kvm
fi
check "enough was compared: $rows" test "$rows" -gt 150

# what people see; sums are those of the rows
trace=$SAMPLES/hvm-exits.xen
hz=(--cpu-hz 2300M)
run_check --topology "$lscpu" --from 3 --to 3.6 "$trace"
status 1
golden t121_check_cores "$OUT"
# one machine alone disturbs no other, and neither do cores of their own
run_check --topology "$lscpu" "$SAMPLES/kvm-migration.dat"
status 0
says "$OUT" "0 times vCPUs of two machines were on one core"
printf '%s\n' 0,0,0 1,1,0 2,2,0 3,2,1 > "$WORK/apart"
run_check --topology "$WORK/apart" "$trace"
status 4
says "$ERR" "no two pCPUs share a core according to $WORK/apart"

# without a topology
run_check "$trace"
status 4
says "$ERR" "$trace: the topology is unknown: give --topology"
# a recording of Xen has one: four cores
hz=()
run_check "$SAMPLES/recording-xen"
status 4
says "$ERR" "no two pCPUs share a core according to the sidecar"
# a sidecar that does counts by itself
cp "$trace" "$WORK/topology.xen"
cp "$json" "$WORK/topology.xen.meta.json"
run_check --topology "$lscpu" --format csv "$trace"
cp "$OUT" "$WORK/check"
run_check --format csv "$WORK/topology.xen"
status 1
check "by the sidecar" cmp "$OUT" "$WORK/check"
# pCPUs of which the trace has nothing
printf '%s\n' 8,0,0 9,0,0 > "$WORK/others"
run_check --topology "$WORK/others" "$trace"
status 4
says "$OUT" "0 times vCPUs of two machines were on one core; nothing is known of"

# what is no topology
while IFS='|' read -r text words; do
	printf -- "$text" > "$WORK/bad"
	run_check --topology "$WORK/bad" "$trace"
	check "$text: $STATUS" test "$STATUS" = 3 -o "$STATUS" = 4
	says "$ERR" "$words"
done << 'END'
0,0,0\n1;0\n|bad, line 2: neither a sidecar nor output of
-1,0,0\n|bad, line 1
0\n|bad, line 1
99999999999,0,0\n|bad, line 1
{ "pcpus": [ 1, |bad
{ "pcpus": 7 }|the topology is unknown
{ "pcpus": [ 7, { "id": -1 }, { "id": 99999999999, "core": 0 } ] }|the topology is unknown
cpu: core socket node\nx\n|the topology is unknown
|the topology is unknown
END
head -c 5000 /dev/zero | tr '\0' 5 > "$WORK/bad"
run_check --topology "$WORK/bad" "$trace"
status 3
run_check --topology "$WORK/none" "$trace"
status 3
says "$ERR" "$WORK/none: cannot open: No such file"

# three pairs of 285 years each are more than 64 bits hold
printf '%s\n' 8,0,0 9,0,0 10,0,0 > "$WORK/others"
run_check --from 0 --to 9000000000 --topology "$WORK/others" "$trace"
status 4
says "$OUT" "nothing is known of 27000000000.000000000 s"

# all pCPUs in one core: each of a pCPU's changes would be compared with all others
seq -f '%g,0,0' 0 32767 > "$WORK/one"
run_check --topology "$WORK/one" "$trace"
status 3
says "$ERR" "core 0 of socket 0 has 32768 pCPUs, from 0 on, but at most 16 are possible"
seq -f '%g,0,0' 0 15 > "$WORK/one"
run_check --topology "$WORK/one" "$trace"
check "16 threads: $STATUS" test "$STATUS" = 0 -o "$STATUS" = 1

# windows times vCPUs
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%.6f %.6f\n", i * 1e-6, (i + 1) * 1e-6 }' > "$WORK/windows"
run check -q --cpu-hz 2300M --windows "$WORK/windows" $(printf -- '--max exit.p99=1s %.0s' $(seq 60)) "$trace"
status 3
says "$ERR" "100000 windows times "
finish
