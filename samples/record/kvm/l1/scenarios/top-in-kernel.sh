# SPDX-License-Identifier: LGPL-2.1-or-later
# top-in-kernel: "kshark-virt top --in-kernel" of the host, beside a trace-cmd that records the same: what programs in
# the kernel and KVM's own counters count; scripts/lab-test brings it along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web "/work.sh both ipc sleep" > /dev/null
    exit
fi
bring_tool || exit 1
start_guest web 3 2 0; wait_guest web || exit 1
cd $TMP
tool top --in-kernel --format csv --interval 500ms > kernel.csv 2> kernel.err & top=$!
for i in $(seq 300); do [ -s kernel.csv ] && break; sleep 0.2; done
record -o host.dat -C mono -e kvm -e sched_switch -e sched_wakeup -e sched_wakeup_new -e sched_migrate_task \
    bash $ME drive || exit 1
sleep 2
pkill -TERM -x kshark-virt; wait $top; note "top has ended: $?"; cat kernel.err >> $OUT/notes.txt
note "programs left: $(ls -d $T/instances/kshark-virt* 2> /dev/null)"
stop_guest web
keep host.dat kernel.csv
