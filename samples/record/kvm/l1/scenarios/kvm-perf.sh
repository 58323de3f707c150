# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-perf: a host, recorded by perf and by trace-cmd at once, while its guest works, untraced: perf.data of all CPUs
# (compressed by zstd), the same through a pipe, of certain tasks, of "perf kvm stat record"; and what perf says of them
# needs: tracers
. /share/lab/lib.sh
EVENTS=kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_userspace_exit,sched:sched_switch,sched:sched_wakeup,sched:sched_waking
WORK="in_guest g1 '/work.sh busy0 both'"
cd $TMP
if [ "$1" = drive ]; then
    mark "guest phases start"
    eval "$WORK" &
    run perf record -q -a -z -e $EVENTS -o perf.data -- sleep ${SECONDS_OF_PERF:-1.5}
    run perf record -q -a -e $EVENTS,sched:sched_migrate_task -o plain.data -- sleep 1
    perf record -q -a -e $EVENTS -o - -- sleep 0.5 > pipe.data 2>> $OUT/notes.txt
    run perf record -q -e $EVENTS -p $(cat g1.pid) -o task.data -- sleep 0.5
    run perf record -q -a -m 4 -e 'kvm:*,sched:*' -o lost.data -- sleep 1
    run perf record -q -a -k mono -z -e $EVENTS -o mono.data -- sleep 0.5
    run timeout -s INT 2 perf kvm stat record -a -o stat.data
    wait
    mark "guest phases end"
    exit
fi
start_guest g1 3 2 0; wait_guest g1 || exit 1
perf --version >> $OUT/notes.txt
record -C local -o trace.dat $HOST_EVENTS -e sched_waking bash $ME drive || exit 1
keep trace.dat ./*.data
for f in perf plain stat; do
    perf kvm -i $f.data stat report --event=vmexit > $OUT/$f.stat 2>&1
    perf sched timehist -i $f.data --summary > $OUT/$f.timehist 2>&1
done
stop_guest g1
