# SPDX-License-Identifier: LGPL-2.1-or-later
# The summary: one screen that has the numbers of the report, names the worst vCPU and who took its pCPU.
. "$(dirname "$0")/lib.sh"
cd "$SAMPLES" || exit 1

# judged WIDTH LINES ARGUMENT...: the summary in $OUT against the JSON of the same arguments
judged()
{
	local width=$1 lines=$2
	shift 2
	"$KSV_BIN" report -q -f json "$@" > "$WORK/report.json" 2> "$ERR" &&
		"$KSV_BIN" report -q -f json --worst 1000000 --kind exit,steal,wake "$@" > "$WORK/worst.json" 2> "$ERR" &&
		python3 "$GOLDEN/summary_oracle.py" "$WORK/summary" "$WORK/report.json" "$WORK/worst.json" \
			"$width" "$lines"
}

# on_terminal COLUMNS LINES ARGUMENT...: what a terminal of that size shows, without colours, in $WORK/summary
on_terminal()
{
	python3 "$GOLDEN/on_terminal.py" "$1" "$2" "$KSV_BIN" report -q "${@:3}" < /dev/null |
		sed 's/\x1b\[[0-9;]*m//g' > "$WORK/summary"
}

hosts=0
for sample in $(chosen *.xen *.dat recording-*); do
	"$KSV_BIN" report -q -f json "$sample" > /dev/null 2>&1 || continue
	hosts=$((hosts + 1))
	run "$sample"
	status 0
	cp "$OUT" "$WORK/summary"
	check "$sample" judged 100 40 "$sample"
done
check "there are hosts" test "$hosts" -ge "$(least 25)"

for sample in $(chosen credit2-basic.xen recording-kvm sched-null.xen); do
	for size in "80 24" "90 33" "132 60"; do
		# shellcheck disable=SC2086
		on_terminal $size "$sample"
		width=${size% *}
		lines=$((${size#* } - 1))
		check "$sample at $size" judged "$((width < 100 ? width : 100))" \
			"$((lines < 24 ? 24 : lines < 40 ? lines : 40))" "$sample"
	done
done

run report sched-null.xen
cp "$OUT" "$WORK/summary"
run sched-null.xen
same "$OUT" "$WORK/summary"

# with guests, a window and some vCPUs
run report -q kvm-talk.dat kvm-talk-web.dat kvm-talk-db.dat
cp "$OUT" "$WORK/summary"
check "guests" judged 100 40 kvm-talk.dat kvm-talk-web.dat kvm-talk-db.dat
run report -q --vcpu d1 --from 1.2 --to 1.5 credit2-basic.xen
cp "$OUT" "$WORK/summary"
check "a window" judged 100 40 --vcpu d1 --from 1.2 --to 1.5 credit2-basic.xen
says "$OUT" "window   1.200000000 .. 1.500000000 s"
check "no other vCPU" test "$(grep -cE '^  d[0-9]v[0-9] ' "$OUT")" = 2

# the answer to the question: the vCPU that loses most, and who takes it
run credit2-basic.xen
golden t260_xen "$OUT"
check "the worst is first" grep -qE '^  d1v0 .* d2v0$' <(grep -A 1 '^  vCPU' "$OUT" | tail -1)
run recording-kvm
golden t260_kvm "$OUT"
# what was not recorded, and what to do
run dom0-culprits.xen
says "$OUT" "unknown  the class hvm (-e 0x8f000) was not recorded"
check "unknown numbers" grep -qE '^  d1v1 +48\.8 % +- ' "$OUT"
check "kinds of moments that the trace cannot show" grep -qx '  unknown: exit' "$OUT"
# why without options explains the same moments
for sample in recording-kvm credit2-basic.xen; do
	"$KSV_BIN" "$sample" 2> "$ERR" | sed -n 's/^ *\([0-9.]*\) s  .*/\1/p' | sort > "$WORK/shown"
	"$KSV_BIN" why -q -f json "$sample" 2> "$ERR" | sed -n 's/^   "window_ns": \[\([0-9]*\),.*/\1/p' |
		awk '{ printf "%.6f\n", $1 / 1e9 }' | sort > "$WORK/explained"
	check "three moments" test "$(wc -l < "$WORK/shown")" = 3
	same "$WORK/shown" "$WORK/explained"
done
run kvm-host.dat
check "all kinds are known" sh -c '! grep -q "^  unknown:" "$1"' - "$OUT"
# warnings stand first, and once
run lost-records.xen
check "warning first" test "$(sed -n '3s/^  \(warning\).*/\1/p' "$OUT")" = warning
check "not again" test "$(grep -c 'lost' "$ERR")" = 0

# --sort: each column, the largest first, the unknown last
columns=$("$KSV_BIN" report --sort none credit2-basic.xen 2>&1 | sed -n 's/.*not \(.*\) or \(.*\)/\1, \2/p' | tr -d ,)
check "columns" test "$(wc -w <<< "$columns")" = 8
for column in $columns; do
	run report -q --sort "$column" credit2-basic.xen
	status 0
	check "$column" python3 - "$OUT" "$column" << 'END'
import re
import sys
rows = [re.findall(r"\S+(?: (?:%|[mun]?s\b))?", line) for line in open(sys.argv[1]) if re.match(r"  d\dv\d ", line)]
assert len(rows) == 6, rows
at = ["vcpu", "guest", "hypervisor", "steal", "waiting", "blocked", "exits", "migrations"].index(sys.argv[2])
values = [row[at] if not at else float(re.sub(r"[^\d.]", "", row[at])) for row in rows]
assert values == sorted(values, reverse=at > 0), values
END
done
run report --sort steal --full credit2-basic.xen
status 2
run report --sort steal --format json credit2-basic.xen
status 2
run report --full --waits credit2-basic.xen
status 2

# a trace that is given without a command must be there; commands come first
run no-such-trace.xen
status 3
says "$ERR" "no-such-trace.xen: cannot open: No such file or directory"
run vew
status 2
says "$ERR" "did you mean 'view'"
cat credit2-basic.xen | "$KSV_BIN" report -q - > "$OUT" 2> "$ERR"
check "a pipe" grep -q '^The worst moments' "$OUT"
check "no commands for a pipe" test "$(grep -c kshark-virt "$OUT")" = 0
finish
