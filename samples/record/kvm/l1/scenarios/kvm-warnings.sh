# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-warnings: "kshark-virt record" of a host whose guest web warns of a CPU that did nothing, for three reasons: its
# process gets SIGSTOP for 25 s; its module kvmhc spins for 25 s with interrupts off; its cgroup has cpu.max 5 %, and
# kvmhc counts for more than 20 s. Each time with a new guest, its own trace with the clock of its log, and its dmesg.
# PARTS in the environment: which of stopped, spins, quota. scripts/lab-test shows how to bring kshark-virt along
. /share/lab/lib.sh
C=/sys/fs/cgroup
# the same word in the guest's log and in its trace
MARK='cd /sys/kernel/tracing; echo "the same time" > trace_marker; echo "the same time" > /dev/kmsg'
# counting TIME: how many loops of kvmhc take about that many hundredths of a second, without a quota
counting()
{
    in_guest web 'n=1000000; t=0
        while [ $t -lt 30 ]; do n=$((n*2)); a=$(cut -d" " -f1 /proc/uptime | tr -d .); echo loops $n > /proc/kvmhc
            b=$(cut -d" " -f1 /proc/uptime | tr -d .); t=$((b-a)); done
        echo $((n/t*'$1'))' | tail -n 1
}
if [ "$1" = drive ]; then
    sleep 5
    case $2 in
    stopped) kill -STOP $(tid web 1); sleep 25; kill -CONT $(tid web 1);;
    # a grace period of RCU begins in that time
    spins) in_guest web 'taskset 1 sh -c "for k in 1 2 3 4 5 6; do usleep 300000; done" &
        taskset 2 sh -c "echo irqs 25000 > /proc/kvmhc"' & sleep 26;;
    quota) in_guest web "taskset 2 sh -c 'echo loops $3 > /proc/kvmhc'";;
    esac
    sleep 3
    exit
fi
bring_tool || exit 1
mount -t cgroup2 cgroup2 $C; echo +cpu > $C/cgroup.subtree_control; mkdir -p $C/web || exit 1
# of the table of symbols, which would be 1 MB of each trace, only what the recorder needs
grep -E ' sched_cfs_(period|slack)_timer$' /proc/kallsyms > $TMP/kallsyms; mount --bind $TMP/kallsyms /proc/kallsyms
cd $TMP
for what in ${PARTS:-stopped spins quota}; do
    start_guest web 3 2 0 rcutree.jiffies_till_first_fqs=250 rcutree.jiffies_till_next_fqs=250; wait_guest web || exit 1
    move web 0 2; move web 1 3
    [ $what != quota ] || { loops=$(counting 45); note "loops: $loops"; }
    in_guest web ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms; cd /sys/kernel/tracing; echo 0 > tracing_on
        echo perf > trace_clock; echo 2000 > buffer_size_kb
        for e in sched_switch sched_waking; do echo 1 > events/sched/$e/enable; done
        echo 1 > tracing_on; '"$MARK" > /dev/null
    # vCPU 1 is busy all the time: Linux has no soft lockup of a CPU that was idle when it looked last, which is every 4 s
    in_guest web 'taskset 2 sh -c "while :; do :; done"' > /dev/null & sleep 9
    if [ $what = quota ]; then
        echo "5000 100000" > $C/web/cpu.max; cat $TMP/web.pid > $C/web/cgroup.procs; cat $C/web/cpu.stat > $TMP/quota.cpu.txt
    fi
    run timeout -s INT 400 env LD_LIBRARY_PATH=/tmp/k/lib /tmp/k/bin/kshark-virt record --guest web=none --regions none \
        --events minimal -o $what -- bash $ME drive $what $loops || exit 1
    if [ $what = quota ]; then
        cat $C/web/cpu.stat >> $TMP/quota.cpu.txt; cat $TMP/web.pid > $C/cgroup.procs
    fi
    in_guest web "$MARK" > /dev/null
    in_guest web 'echo 0 > /sys/kernel/tracing/tracing_on; cd /tmp; trace-cmd extract -o web.dat > /dev/null 2>&1; cat web.dat' > $what/web.dat
    in_guest web dmesg > $what/web.dmesg
    stop_guest web; cp web.console $what/console.log
    cp -r $what $OUT/; note "kept $what"
done
[ ! -e $TMP/quota.cpu.txt ] || cp $TMP/quota.cpu.txt $OUT/
umount /proc/kallsyms
