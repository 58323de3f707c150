# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-baseline: a fixed workload (work.sh bench: CPU loop, then hackbench) with tracing off, on the host only, in the
# guest only, and on both. Interleaved, ROUNDS times. durations.csv: config,round,guest_s (guest clock),host_s.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    read -r a _ < /proc/uptime
    g=$(in_guest g1 'read -r a x < /proc/uptime; /work.sh bench; read -r b x < /proc/uptime; echo $a $b')
    read -r b _ < /proc/uptime
    echo "$2 $3 $g $a $b" | awk '{printf "%s,%s,%.2f,%.2f\n", $1, $2, $4-$3, $6-$5}' >> $OUT/durations.csv
    exit
fi
if [ "$1" = guestrec ]; then      # guest only: the guest records itself around the same workload
    read -r a _ < /proc/uptime
    g=$(in_guest g1 'cd /tmp; trace-cmd record -C local -o /tmp/guest.dat -e sched -e irq -e timer sh -c "read -r a x < /proc/uptime; /work.sh bench; read -r b x < /proc/uptime; echo \$a \$b > /tmp/t" > /tmp/rec.log 2>&1; cat /tmp/t')
    read -r b _ < /proc/uptime
    echo "guest $2 $g" | awk '{printf "%s,%s,%.2f,\n", $1, $2, $4-$3}' >> $OUT/durations.csv
    exit
fi
start_guest g1 3 2 1; wait_guest g1 || exit 1
echo "config,round,guest_s,host_s" > $OUT/durations.csv
cd $TMP
bash $ME drive warmup 0
for r in $(seq ${ROUNDS:-4}); do
    bash $ME drive none $r
    record -C local -o host.dat $HOST_EVENTS bash $ME drive host $r || exit 1
    bash $ME guestrec $r
    record -o both.dat $HOST_EVENTS -A g1@3:823 -e sched -e irq -e timer bash $ME drive both $r || exit 1
done
in_guest g1 'cat /tmp/guest.dat' > guest.dat
cp host.dat host-only.dat; cp guest.dat guest-only.dat
keep host-only.dat guest-only.dat both.dat both-g1.dat
stop_guest g1
