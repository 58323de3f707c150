# SPDX-License-Identifier: LGPL-2.1-or-later
# top-host: "kshark-virt top" of the host itself, beside a trace-cmd that records the same; a machine begins meanwhile;
# top is killed, and its buffers are taken away by the next one; scripts/lab-test brings it along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web "/work.sh both ipc sleep" > /dev/null
    exit
fi
mkdir -p /tmp/k/bin /tmp/k/lib
cp /share/lab/files/kshark-virt /tmp/k/bin/ && cp /share/lab/files/lib*.so* /tmp/k/lib/ ||
    { note "no kshark-virt: scripts/lab-test brings it"; exit 1; }
top() { LD_LIBRARY_PATH=/tmp/k/lib /tmp/k/bin/kshark-virt top "$@"; }
# what is changed for all who trace
state() { grep . $T/tracing_on $T/trace_clock $T/set_event; sed 's/.*expanded: //' $T/buffer_size_kb | awk '{ print int($1 / 16) }'; }

start_guest web 3 2 0; wait_guest web || exit 1
cd $TMP
state > $OUT/before.txt
run top --format text --interval 1s --once || exit 1
state > $OUT/after.txt
LD_LIBRARY_PATH=/tmp/k/lib /tmp/k/bin/kshark-virt top --format csv --interval 500ms -o $TMP/live.csv 2> $TMP/live.err & live=$!
until ls $T/instances | grep -q kshark-virt-top; do sleep 0.1; done
note "beside it: $(ls $T/instances)"
record -o host.dat -C mono -e kvm -e sched_switch -e sched_wakeup -e sched_wakeup_new -e sched_migrate_task bash $ME drive || exit 1
start_guest db 4 1 0; wait_guest db || exit 1
sleep 3
kill $live; wait $live; note "top has ended: $?"; cat $TMP/live.err >> $OUT/notes.txt
note "instances left: $(ls $T/instances)"
# killed: its instance stays, until the next one
LD_LIBRARY_PATH=/tmp/k/lib /tmp/k/bin/kshark-virt top --format csv > $TMP/killed.csv & live=$!
until [ -s $TMP/killed.csv ]; do sleep 0.1; done
kill -9 $live; wait $live
note "killed: $(ls $T/instances)"
run top --format csv --interval 200ms --once || exit 1
note "instances left: $(ls $T/instances)"
keep host.dat live.csv
stop_guest web; stop_guest db
