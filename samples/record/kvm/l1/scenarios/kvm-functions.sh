# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-functions: functions by ftrace's tracers: tasks of the host that sleep, by "function_graph", with and without their
# sleep; a guest that boots with "function"; then host and guest at once, "function" in the host and "function_graph" in
# the guest, whose vCPU 0 shares its pCPU with a busy task. PARTS in the environment: some of sleep, boot, pair
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    taskset -c 2 sh -c 'while :; do :; done' & burner=$!
    in_guest g1 '. /work.sh; for k in 1 2 3; do usleep 20000; done
        for k in 1 2 3; do dd if=/dev/zero of=/tmp/file bs=64k count=2 2> /dev/null; done; /bin/busybox true'
    kill $burner
    exit
fi
BOOT="do_one_initcall,pci_*,acpi_ns_*,device_*,driver_*,bus_*,kobject_*,clocksource_*,virtio*,sysfs_*"
GUEST="vfs_* ksys_* do_nanosleep hrtimer_* shmem_* do_sys_open*"
HOST="kvm_vcpu_halt kvm_vcpu_kick kvm_vcpu_wake_up kvm_emulate_hypercall kvm_emulate_halt kvm_emulate_wrmsr"
SLEEP="do_nanosleep hrtimer_nanosleep vfs_read vfs_write"
filters() { for f; do echo "-l $f"; done; }
# the table of symbols would be 1 MB of each trace: it has only those of the names in FILE
symbols_of="awk 'NR == FNR { wanted[\$1] = 1; next } \$3 in wanted'"
in_guest_symbols="$symbols_of /tmp/functions /proc/kallsyms > /tmp/kallsyms && mount --bind /tmp/kallsyms /proc/kallsyms; wc -l < /tmp/kallsyms"
printf '%s\n' $HOST $SLEEP > $TMP/functions
eval "$symbols_of $TMP/functions /proc/kallsyms" > $TMP/kallsyms; mount --bind $TMP/kallsyms /proc/kallsyms

part() { case ${PARTS:-sleep boot pair} in *$1*) true;; *) false;; esac; }

part sleep && for way in sleep no-sleep; do
    option=; [ $way = sleep ] || option="-O nosleep-time"
    run trace-cmd record -o $TMP/$way.dat -C local -p function_graph $option $(filters $SLEEP) -e sched_switch \
        sh -c 'for k in 1 2 3 4 5; do sleep 0.02; done'
    keep $way.dat
    echo sleep-time > $T/trace_options
done

if part boot; then
start_guest g1 3 2 0 ftrace=function ftrace_filter=$BOOT trace_buf_size=6M
wait_guest g1 || exit 1
in_guest g1 "cd /sys/kernel/tracing; echo 0 > tracing_on; grep -h '^entries\|^overrun' per_cpu/cpu*/stats
    cat trace | sed -n 's/^.*: \([^ ]*\) <-\([^ ]*\)\$/\1\n\2/p' | sort -u > /tmp/functions; $in_guest_symbols
    cd /tmp; trace-cmd extract -o g1.dat 2>&1" >> $OUT/notes.txt
in_guest g1 'cat /tmp/g1.dat' > $TMP/boot.dat
keep boot.dat
stop_guest g1; while kill -0 $(cat $TMP/g1.pid) 2> /dev/null; do sleep 0.2; done
fi

if part pair; then
start_guest g1 3 2 1
wait_guest g1 || exit 1
taskset -pc 2 $(tid g1 0) > /dev/null; taskset -pc 3 $(tid g1 1) > /dev/null
in_guest g1 "cd /sys/kernel/tracing; for f in $GUEST; do echo \"\$f\" >> set_ftrace_filter; done
    sed 's/ .*//' set_ftrace_filter > /tmp/functions; echo > set_ftrace_filter; $in_guest_symbols" >> $OUT/notes.txt
cd $TMP
record -o functions.dat --tsync-interval 1000 -e kvm_entry -e kvm_exit -e sched_switch -e sched_wakeup -p function $(filters $HOST) \
    -A g1@3:823 -p function_graph $(filters $GUEST) -e sched_switch bash $ME drive || exit 1
keep functions.dat functions-g1.dat
stop_guest g1
fi
umount /proc/kallsyms
