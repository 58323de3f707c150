# SPDX-License-Identifier: LGPL-2.1-or-later
# top-host: "kshark-virt top" of the host itself, beside a trace-cmd that records the same; a machine begins and ends
# in this time; beside "kshark-virt record", by its folder; and killed, so that the next one takes its buffers away;
# scripts/lab-test brings it along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web "/work.sh both ipc sleep" > /dev/null
    exit
fi
bring_tool || exit 1
# begin OPTION...: in the background; its pid is $top
begin() { tool top --format csv "$@" & top=$!; until ls $T/instances | grep -q kshark-virt-top; do sleep 0.1; done; }

start_guest web 3 2 0; wait_guest web || exit 1
cd $TMP
tracing_state > $OUT/before.txt
run tool top --format text --interval 1s --once || exit 1
tracing_state > $OUT/after.txt
begin --interval 500ms -o live.csv 2> live.err
note "beside it: $(ls $T/instances)"
record -o host.dat -C mono -e kvm -e sched_switch -e sched_wakeup -e sched_wakeup_new -e sched_migrate_task bash $ME drive || exit 1
start_guest db 4 1 0; wait_guest db || exit 1
sleep 3
stop_guest db; sleep 3
# the function is a shell of its own
pkill -TERM -x kshark-virt; wait $top; note "top has ended: $?"; cat live.err >> $OUT/notes.txt
note "instances left: $(ls $T/instances)"
# by the folder of a recording, until that ends; db is another machine by now
start_guest db 4 1 0; wait_guest db || exit 1
tool record --guest web=none --guest db=none -o recording -d 6 > record.log 2>&1 & recorder=$!
until grep -q 'recording into' record.log; do sleep 0.1; done
run tool top --format csv --interval 500ms -o beside.csv recording; note "top of the recording has ended: $?"
wait $recorder; note "the recording has ended: $?"
note "instances left: $(ls $T/instances)"
# killed: its instance stays, until the next one
begin > killed.csv
until [ -s killed.csv ]; do sleep 0.1; done
pkill -KILL -x kshark-virt; wait $top
note "killed: $(ls $T/instances)"
run tool top --format csv --interval 200ms --once || exit 1
note "instances left: $(ls $T/instances)"
cp -r recording $OUT/; keep host.dat live.csv beside.csv
stop_guest web; stop_guest db
