# SPDX-License-Identifier: LGPL-2.1-or-later
# hypertrace-nested: n1, a guest of the guest g1, reports its events by hypercalls (hypertrace.ko); g1 is their host and
# records them (MODE-g1.dat), as does n1's own ftrace (MODE-n1.dat); the host sees the exits that they cost (MODE.dat)
. /share/lab/lib.sh
IN_NESTED='T=/sys/kernel/tracing; H=/sys/kernel/debug/hypertrace'
if [ "$1" = drive ]; then
    in_nested "$IN_NESTED"'; echo 1 > $T/tracing_on; echo 1 > $H/enabled
        usleep 20000; busybox true; busybox true; echo "7 -1" > $H/user; usleep 20000
        cat $H/stats; echo 0 > $H/enabled; echo 0 > $T/tracing_on' > $OUT/$2-stats.txt
    exit
fi
# the tables of symbols would be 1 MB of each trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
L2_MEM=900 L2_DEVICES=$L1_FILES start_guest g1 3 2 0; wait_guest g1 && share_host && start_nested hypertrace=plain || exit 1
in_guest g1 ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms; echo "threads of n1:"; grep . /proc/$(pidof qemu-system-x86_64)/task/*/comm' >> $OUT/notes.txt
in_nested ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms'
for mode in plain packed; do
    in_nested "$IN_NESTED"'; echo 0 > $H/enabled; echo 0 > $T/tracing_on; echo x86-tsc > $T/trace_clock
        echo 4000 > $T/buffer_size_kb; echo 1 > $T/events/sched/sched_switch/enable; echo > $T/trace
        for e in sys_enter sys_exit; do echo 1 > $H/events/$e; done; echo '$mode' > $H/mode'
    # g1's ftrace, on the same clock as the host's but for the offset of its TSC
    in_guest g1 'T=/sys/kernel/tracing; echo 0 > $T/tracing_on; echo > $T/trace; echo mono > $T/trace_clock; echo 8000 > $T/buffer_size_kb
        for e in kvm/kvm_hypercall kvm/kvm_entry kvm/kvm_exit sched/sched_switch sched/sched_wakeup; do echo 1 > $T/events/$e/enable; done; echo 1 > $T/tracing_on'
    record -o $mode.dat -C mono -e kvm:kvm_hypercall -e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_nested_vmenter -e kvm:kvm_nested_vmexit -e kvm:kvm_nested_vmexit_inject \
        -e kvm:kvm_nested_intr_vmexit -e sched:sched_switch -e sched:sched_wakeup bash $ME drive $mode || exit 1
    in_guest g1 'echo 0 > /sys/kernel/tracing/tracing_on; cd /tmp; trace-cmd extract -o g1.dat > /dev/null 2>&1; cat g1.dat' > $mode-g1.dat
    in_nested 'cd /tmp; trace-cmd extract -o n1.dat > /dev/null 2>&1; cat n1.dat' > $mode-n1.dat
    keep $mode.dat $mode-g1.dat $mode-n1.dat
done
stop_guest g1; umount /proc/kallsyms
