# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-three: one load of a guest, recorded by trace-cmd, perf and LTTng at once, all with the monotonic clock
# needs: tracers
. /share/lab/lib.sh
PERF=kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_userspace_exit,sched:sched_switch,sched:sched_wakeup,sched:sched_waking,sched:sched_migrate_task
LTTNG=kvm_x86_entry,kvm_x86_exit,kvm_userspace_exit,sched_switch,sched_wakeup,sched_waking,sched_migrate_task
cd $TMP
if [ "$1" = drive ]; then
    mark "guest phases start"
    in_guest g1 "/work.sh busy0 sleep both"
    mark "guest phases end"
    exit
fi
if [ "$1" = perf ]; then
    perf record -q -a -k mono -e $PERF -o perf.data -- bash $ME drive
    exit
fi
start_guest g1 3 2 0; wait_guest g1 || exit 1
mkdir -p /run/lttng
run lttng-sessiond -d; sleep 2
run lttng create three --output=$TMP/three
run lttng enable-channel -k --subbuf-size=4M --num-subbuf=4 ch
run lttng enable-event -k -c ch $LTTNG || exit 1
run lttng add-context -k -c ch -t tid
run lttng start three || exit 1
record -C mono -b 8000 -o trace.dat -e kvm_entry -e kvm_exit -e kvm_userspace_exit -e sched_switch -e sched_wakeup -e sched_waking \
    -e sched_migrate_task bash $ME perf || exit 1
run lttng stop three
run lttng destroy three
tar -C $TMP -czf three.tar.gz three
keep trace.dat perf.data three.tar.gz
stop_guest g1
