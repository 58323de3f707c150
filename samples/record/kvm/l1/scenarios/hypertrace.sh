# SPDX-License-Identifier: LGPL-2.1-or-later
# hypertrace: a guest reports its switches, interrupts, system calls to the host by hypercalls (hypertrace.ko): while
# it boots, from its initramfs (MODE-boot.dat; not with BOOT=0 in the environment), and for a moment afterwards
# (MODE.dat), plain and packed; and plain, each call aggregated with its exit and entry by the host. Its own ftrace
# records the same (MODE-boot-g1.dat, MODE-g1.dat)
. /share/lab/lib.sh
HYPER_EVENTS="-C mono -e kvm:kvm_hypercall -e kvm:kvm_entry -e kvm:kvm_exit -e sched:sched_switch -e sched:sched_wakeup"
IN_GUEST='T=/sys/kernel/tracing; H=/sys/kernel/debug/hypertrace'
if [ "$1" = drive-boot ]; then
    start_guest g1 3 2 0 hypertrace=$2; wait_guest g1 || exit 1
    in_guest g1 "$IN_GUEST"'; echo 0 > $H/enabled; echo 0 > $T/tracing_on'
    exit
elif [ "$1" = drive ]; then
    in_guest g1 "$IN_GUEST"'; echo 1 > $T/tracing_on; echo 1 > $H/enabled
        usleep 20000; busybox true; taskset 2 busybox true; echo "7 -1" > $H/user; usleep 20000
        cat $H/stats; echo 0 > $H/enabled; echo 0 > $T/tracing_on' > $OUT/$2-stats.txt
    exit
fi
# what the guest's ftrace has, which ends with it: NAME
keep_guest() {
    in_guest g1 'cd /tmp; trace-cmd extract -o g1.dat > /dev/null 2>&1; cat g1.dat' > $OUT/$1-g1.dat
}
end_guest() { stop_guest g1; while kill -0 $(cat $TMP/g1.pid) 2> /dev/null; do sleep 0.2; done; }
LIMIT=500 MODES="plain packed"
# L1 is no guest of KVM: the module must refuse to begin
run insmod /lab/hypertrace.ko
grep -q "No such device" $TMP/run.log || { note "hypertrace.ko does not refuse to begin without a host"; exit 1; }
# the table of symbols would be 1 MB of each trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
if [ "${BOOT:-1}" != 0 ]; then
    for mode in $MODES; do
        record -o $mode-boot.dat -b 16000 $HYPER_EVENTS bash $ME drive-boot $mode || exit 1
        keep_guest $mode-boot; keep $mode-boot.dat; end_guest
    done
fi
start_guest g1 3 2 0 hypertrace=plain; wait_guest g1 || exit 1
in_guest g1 'cat /proc/kallsyms' | grep -E '\[hypertrace\]| do_sys_openat2$' > $OUT/kallsyms.txt
in_guest g1 ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms'
for mode in $MODES aggregated; do
    how=$mode events=$HYPER_EVENTS
    [ $mode != aggregated ] || { aggregate || exit 1; how=plain events="-C mono -e synthetic:hypergraph_host"; }
    # functions by a pattern, where the kernel has fprobe
    in_guest g1 "$IN_GUEST"'; echo 0 > $H/enabled; echo 0 > $T/tracing_on; echo x86-tsc > $T/trace_clock
        echo 4000 > $T/buffer_size_kb; echo 1 > $T/events/sched/sched_switch/enable; echo > $T/trace
        echo do_sys_openat2 > $T/set_ftrace_filter; echo function > $T/current_tracer
        for e in sys_enter sys_exit; do echo 1 > $H/events/$e; done
        echo "do_sys_openat*" > $H/functions || echo do_sys_openat2 > $H/functions
        echo '$how' > $H/mode; grep . $H/mode $H/functions $H/events/*' >> $OUT/notes.txt 2>&1
    record -o $mode.dat $events bash $ME drive $mode || exit 1
    keep_guest $mode; keep $mode.dat
done
end_guest; separate; umount /proc/kallsyms
