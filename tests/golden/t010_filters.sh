# SPDX-License-Identifier: LGPL-2.1-or-later
# Every filter must give exactly those rows that awk picks from the complete output.
. "$(dirname "$0")/lib.sh"

sample=$SAMPLES/hvm-exits.xen
all=$WORK/all.csv
run dump --quiet --format csv "$sample"
status 0
mv "$OUT" "$all"
check "many rows" test "$(wc -l < "$all")" -gt 40000

# picks AWK-CONDITION OPTION...: $1 tsc, $2 time_ns, $3 pcpu, $4 domid, $5 vcpu, $6 id, $7 event
picks()
{
	local condition=$1 n

	shift
	awk -F, "NR == 1 || ($condition)" "$all" > "$WORK/picked"
	n=$(wc -l < "$WORK/picked")
	check "$*: some rows" test "$n" -gt 1
	check "$*: not all rows" test "$n" -lt "$(wc -l < "$all")"
	run dump --quiet --format csv "$@" "$sample"
	status 0
	same "$OUT" "$WORK/picked"
}

picks '$3 == 2' --pcpu 2
picks '$3 == 0 || $3 >= 2' --pcpu 0,2-3
picks '$3 == 0 || $3 >= 2' --pcpu 0 --pcpu 2-3
picks '$4 == 1 && $5 == 0' --vcpu d1v0
picks '$4 == 1' --vcpu d1
picks '$4 == 32767' --vcpu idle
picks '$4 == 0 || ($4 == 1 && $5 == 1)' --vcpu d0,d1v1
picks '$4 == 32767 && $5 == 1' --vcpu d32767v1
picks '$7 ~ /^running_to_/' --event 'running_to_*'
picks '$7 == "running_to_blocked" || $6 == "0x00021011"' --event running_to_blocked \
	--event 0x21011
picks '$3 == 0 && $4 == 1 && $7 ~ /^running_to_/' --event 'running_to_*' --pcpu 0 --vcpu d1

# Times: both ends included, every way to write them.
from=$(sed -n 10000p "$all" | cut -d, -f2)
to=$(sed -n 20000p "$all" | cut -d, -f2)
picks "\$2 >= $from && \$2 < $to" --from "${from}ns" --to "${to}ns"
seconds()
{
	printf '%d.%09d' $(($1 / 1000000000)) $(($1 % 1000000000))
}
picks "\$2 >= $from && \$2 < $to" --from "$(seconds "$from")" --to "$(seconds "$to")s"
picks '$2 >= 1500000000' --from 1500ms
picks '$2 >= 1500000000' --from 1500000us
picks '$2 >= 1500000000' --from 1.50
picks '$2 >= 1500250000' --from 1500.25ms
picks '$2 < 1' --to 1ns
tsc=$(sed -n 15000p "$all" | cut -d, -f1)
picks "\$1 >= $tsc" --from "tsc:$tsc"
picks "\$1 < $tsc" --to "tsc:$tsc"
run dump --quiet --format csv --from 1000 --to 2000 "$sample"
status 2
says "$ERR" "--from and --to lie outside the trace"
check "a span after the trace has the header alone" test "$(wc -l < "$OUT")" = 1

# A frequency that contradicts what the trace knows is refused with both; one that rounds it is taken.
run dump --cpu-hz 2.4G "$sample"
status 3
says "$ERR" "is 2400.000000 MHz, but the trace knows that its TSC has 2300.000"
run dump --quiet --format csv --cpu-hz 2.31G --to 1 "$sample"
status 0
XEN_CPUHZ=2.4G run dump "$sample"
status 3
for command in report why "check --max steal=1%" "plot -o $WORK/x.svg" "export -f sqlite -o $WORK/x.db" "top --once" \
	"rollup --host h --start-time 5" "split --from 1 -o $WORK/x.xen"; do
	# shellcheck disable=SC2086
	run $command --cpu-hz 2.4G "$sample"
	status 3
	says "$ERR" "its TSC has 2300.000"
done
check "nothing is written" test -z "$(ls "$WORK"/x.* 2>/dev/null)"
# Clock options, for a trace that knows none: without the run times of the scheduler.
python3 "$GOLDEN/xen_less.py" "$sample" "$WORK/unknown.xen" 'event not in (0x2800e, 0x28011)' ||
	fail "cannot make a trace"
whole=$sample
sample=$WORK/unknown.xen
run dump --quiet --format csv --cpu-hz 1G "$sample"
status 0
check "at 1 GHz a cycle is a ns" \
	awk -F, 'NR == 2 { first = $1 } NR > 1 && $2 != $1 - first { exit 1 }' "$OUT"
run dump --quiet --format csv --cpu-hz 1000M --absolute "$sample"
status 0
check "absolute times" awk -F, 'NR > 1 && $1 != $2 { exit 1 }' "$OUT"
cp "$OUT" "$WORK/absolute.csv"
export XEN_CPUHZ=1000000K XEN_ABSTS=1
run dump --quiet --format csv "$sample"
same "$OUT" "$WORK/absolute.csv"
export XEN_CPUHZ=2G
run dump --quiet --format csv --cpu-hz 1G "$sample"
same "$OUT" "$WORK/absolute.csv"
unset XEN_CPUHZ XEN_ABSTS
sample=$whole

# Records of unknown vCPUs: those of pCPU 2, without the scheduler's.
python3 "$GOLDEN/xen_less.py" "$sample" "$WORK/less.xen" 'pcpu != 2 or event >> 16 != 2' ||
	fail "cannot make a trace"
sample=$WORK/less.xen
run dump --quiet --format csv "$sample"
status 0
mv "$OUT" "$all"
picks '$4 == ""' --vcpu 'd?v?'
picks '$4 == 0 || ($4 == 1 && $5 == 1) || $4 == ""' --vcpu 'd0,d1v1,d?v?'

finish
