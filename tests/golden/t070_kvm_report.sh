# SPDX-License-Identifier: LGPL-2.1-or-later
# The report on KVM's samples; plot and check read the same model. t054_report_formats compares it with
# JSON, t071_kvm_oracle computes its numbers anew.
. "$(dirname "$0")/lib.sh"

run report --full "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 0
cat "$ERR" >> "$OUT"
golden t070_kvm_report_text "$OUT"

# Without its guest; in the order of a careless command line; a window; one vCPU.
run report --full "$SAMPLES/kvm-shared.dat"
status 0
golden t070_kvm_report_shared "$OUT"
run report --format json "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
cp "$OUT" "$WORK/right"
run report --format json "$SAMPLES/kvm-guest.dat" "$SAMPLES/kvm-host.dat"
status 0
same "$WORK/right" "$OUT"
run report --format csv --vcpu g1v1 --from 1023.3 --to 1023500ms "$SAMPLES/kvm-shared.dat"
status 0
check "only one vCPU was asked for" test "$(grep -c ',g1,g1v0,' "$OUT")" = 0
says "$OUT" ",window,,,from,,1023300000000,"
says "$OUT" ",state,g1,g1v1,unknown,0,0,"

# Both vCPUs were moved to pCPU 2, one after the other.
run check --affinity g1v0=2 --affinity g1v1=2 --from 1023.4 "$SAMPLES/kvm-shared.dat"
status 0
says "$OUT" "0 of "
run check --affinity g1=2 "$SAMPLES/kvm-shared.dat"
status 1
run check --affinity g2=2 "$SAMPLES/kvm-shared.dat"
status 2
says "$ERR" "g2=2: the trace has no such vCPU"

run plot --output "$WORK/kvm.svg" "$SAMPLES/kvm-shared.dat"
status 0
says "$WORK/kvm.svg" "g1v0"
says "$WORK/kvm.svg" "g1v1"
run plot --format csv "$SAMPLES/kvm-shared.dat"
status 0
says "$OUT" "vcpu,time_ns,pcpu"

# What tracing costs, and comparing.
run report --tracing "$SAMPLES/kvm-host.dat"
status 0
says "$OUT" "trace-cmd record -b"
run compare --format csv "$SAMPLES/kvm-shared.dat" "$SAMPLES/kvm-host.dat"
check "two traces are compared, and differ: status $STATUS" test "$STATUS" = 1
says "$OUT" "g1.steal_percent"
finish
