# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-boot: a guest boots while the host records, and its own ftrace has the levels and initcalls of its kernel, from the
# first on; once quietly and once with its messages on the serial console, which costs an exit for each letter
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    start_guest g1 3 2 0 trace_event=initcall:initcall_level,initcall:initcall_start,initcall:initcall_finish $2; wait_guest g1 || exit 1
    in_guest g1 'echo 0 > /sys/kernel/tracing/tracing_on'
    exit
fi
# the table of symbols would be 1 MB of each trace; kallsyms.txt has those of the initcalls
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
for way in quiet loud; do
    args=; [ $way = quiet ] || args=loglevel=6
    LIMIT=300 record -o $way.dat -b 16000 -C mono -e kvm:kvm_entry -e kvm:kvm_exit -e sched:sched_switch -e sched:sched_wakeup bash $ME drive "$args" || exit 1
    in_guest g1 'cat /proc/kallsyms' > all-kallsyms
    in_guest g1 ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms; cd /tmp; trace-cmd extract -o g1.dat > /dev/null 2>&1; cat g1.dat' > $way-g1.dat
    keep $way.dat $way-g1.dat
    stop_guest g1; while kill -0 $(cat $TMP/g1.pid) 2> /dev/null; do sleep 0.2; done
done
trace-cmd report -i quiet-g1.dat 2> /dev/null | sed -n 's/.*initcall_start: *func=\(0x\)*\([0-9a-f]*\).*/\2/p' | sort -u > functions
awk 'NR == FNR { wanted[$1] = 1; next } $1 in wanted { print $1, $2, $3 }' functions all-kallsyms > $OUT/kallsyms.txt
umount /proc/kallsyms
