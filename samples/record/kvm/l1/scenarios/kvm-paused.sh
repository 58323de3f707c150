# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-paused: a guest that is paused and resumed by its monitor, then saved to a file and restored from it, by another
# QEMU process; it works in turns on one vCPU all the time (4 ms, 6 ms)
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    sleep 0.4
    monitor stop > /dev/null; sleep 0.3; monitor cont > /dev/null
    sleep 0.4
    save_and_restore
    exit
fi
start_monitored 3; wait_guest web || exit 1
in_guest web 'taskset 2 sh -c "while :; do i=0; while [ \$i -lt 200 ]; do i=\$((i+1)); done; usleep 6000; done" > /dev/null 2>&1 &' > /dev/null
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
record -o paused.dat -e kvm -e sched_switch -e sched_wakeup -e sched_waking bash $ME drive || exit 1
keep paused.dat; wait_guest web
stop_guest web; umount /proc/kallsyms
