# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-hypercall: the guest issues KVM hypercalls from a small module (see l2/kvmhc/kvmhc.c): nr 1000 and 1001
# (unknown to KVM) with counting arguments, and nr 1 (VAPIC_POLL_IRQ, which KVM accepts). hackbench in the
# background makes the guest kernel issue its own (KICK_CPU 5, SEND_IPI 10, SCHED_YIELD 11) where it does.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "host: module hypercalls start"
    in_guest g1 'for k in 0 1 2 3; do echo "1000 25 $((k*100))" > /proc/kvmhc; usleep 50000; done
                 echo "1001 10 7000" > /proc/kvmhc; echo "1 5 0" > /proc/kvmhc; usleep 50000
                 taskset 2 sh -c "echo 1000 20 9000 > /proc/kvmhc"'
    mark "host: kernel hypercalls (hackbench)"
    in_guest g1 '/work.sh ipc both'
    mark "host: end"
    exit
fi
start_guest g1 3 2 1; wait_guest g1 || exit 1
in_guest g1 'ls -l /proc/kvmhc; dmesg | grep -iE "kvm|kvmhc"' >> $OUT/notes.txt 2>&1
cd $TMP
record -o trace.dat --tsync-interval 1000 -e kvm -e sched_switch -e sched_wakeup \
    -A g1@3:823 -e sched -e irq bash $ME drive || exit 1
keep trace.dat trace-g1.dat
stop_guest g1
