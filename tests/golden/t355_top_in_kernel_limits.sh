# SPDX-License-Identifier: LGPL-2.1-or-later
# top --in-kernel: its memory is bounded, nothing stays in the kernel, and where the kernel takes no programs, trace
# buffers take their place.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/top_in_kernel_lib.sh"

# ---- more vCPUs than there is room for ----

begin -f csv --interval 500ms
wait_for lines "$OUT" 1
load 300 idle
# counted: vCPUs of the last whole interval whose states are known, and all
counted()
{
	awk -F, '$5 == "state" && $6 == "blocked" { n[$1]++; known[$1] += $8 == $2 - $1; last = $1 }
		 END { for (at in n) if (n[at] > most) { most = n[at]; known_most = known[at] }
		       print known[last] + 0 "/" n[last] + 0 }' "$OUT"
}
some() { test "$(counted)" = "$1"; }
wait_for some 256/300
unload
# places become free
load 100 idle
wait_for some 100/100
over
check "one note" test "$(grep -c 'there was no room for all vCPUs' "$ERR")" = 1
check "what is unknown is no number" test "$(grep -c ' v299,state,blocked,,,' "$OUT")" -ge 1
unload

# ---- more culprits than there is room for ----

load 4
begin -f csv --interval 10s
# each of these is a task of its own, and some of them have a pCPU that a vCPU waits for
for ((i = 0; i < 1200; i++)); do
	/bin/true
done
over
check "others are counted" test "$(awk -F, '$5 == "culprit" && $6 == "others" { ns += $8 } END { print (ns > 0) }' "$OUT")" = 1
says "$ERR" 'ms of steal have culprits that are unknown, or had no room: they are called others'
check "steal is that of all culprits" test -z "$(awk -F, '
	$5 == "state" && $6 == "preempted" { left[$1 $4] += $8 }
	$5 == "culprit" { left[$1 $4] -= $8 }
	END { for (at in left) if (left[at]) print at, left[at] }' "$OUT")"
unload

# ---- it ends, in each way ----

# ids: of the programs that top has in the kernel
ids() { sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$TOP"/fdinfo/* 2> /dev/null | sort -u; }
gone()
{
	local id

	for id in $IDS; do
		! bpftool prog show id "$id" > /dev/null 2>&1 || return 1
	done
}
load 2 idle
begin -f csv --interval 100ms
wait_for lines "$OUT" 2
IDS=$(ids)
check "it has programs" test "$(wc -l <<< "$IDS")" = 4
kill -9 "$TOP"
wait "$TOP" 2> /dev/null
TOP=
wait_for gone
begin -f csv --interval 100ms
wait_for lines "$OUT" 2
IDS=$(ids)
check "they are there" bpftool prog show id "${IDS%%$'\n'*}" > "$WORK/program"
over
wait_for gone

# ---- its outputs ----

for format in text json openmetrics; do
	run top --in-kernel --once --interval 200ms -f $format
	status 0
done
says "$OUT" 'kshark_virt_state_seconds_total{'
run top -q --in-kernel --once --interval 200ms --vcpu g1v1 -f csv
status 0
check "one vCPU" test "$(cut -d, -f4 "$OUT" | grep -o ' v[0-9]*$' | sort -u)" = ' v1'

# ---- where the kernel takes no programs ----

setpriv --bounding-set -sys_admin,-bpf,-perfmon "$KSV_BIN" top --in-kernel --once --interval 200ms -f csv \
	> "$OUT" 2> "$ERR" < /dev/null
STATUS=$?
status 0
says "$ERR" 'this host: its kernel cannot count (--in-kernel): it is not allowed'
says "$ERR" 'VM exits are not recorded (--no-exits)'
check "by trace buffers" grep -q ',machine_state,[a-z_]*,[0-9]' "$OUT"
rm -r "$KVM"
for options in '' --tasks --no-exits --host '-b 1M' "$SAMPLES/kvm-shared.dat" -; do
	# shellcheck disable=SC2086
	run top --in-kernel $options
	{
		echo "\$ kshark-virt top --in-kernel ${options/$SAMPLES/samples}"
		cat "$OUT" "$ERR"
		echo "status $STATUS"
	} >> "$WORK/transcript"
done
golden "$TEST" "$WORK/transcript"
mkdir "$KVM"
finish
