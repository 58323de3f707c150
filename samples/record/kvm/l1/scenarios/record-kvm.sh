# SPDX-License-Identifier: LGPL-2.1-or-later
# record-kvm: "kshark-virt record" itself, for a command, for a time, as a flight recorder, and killed;
# scripts/lab-test brings it along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web "/work.sh both ipc sleep" > /dev/null
    exit
fi
bring_tool || exit 1
recorder() { tool record --guest web=none --guest db=none "$@"; }

start_guest web 3 2 0; wait_guest web || exit 1
start_guest db 4 1 0; wait_guest db || exit 1
cd $TMP
tracing_state > $OUT/before.txt
run recorder -o command -- bash $ME drive || exit 1
run recorder -o timed -d 2 --events minimal || exit 1
# the last second alone; until a condition is met
bash $ME drive & driver=$!
run recorder --flight=1 -o flight -d 3 || exit 1
wait $driver
bash $ME drive & driver=$!
run recorder --flight=5 -o fired -d 60 --trigger 'wake>1us' --trigger 'exit>1us' || exit 1
wait $driver
tracing_state > $OUT/after.txt
# the recorder is killed, with all that it has started: the next one saves what there is
recorder -o killed > $TMP/killed.log 2>&1 &
for i in $(seq 300); do grep -q 'recording into' $TMP/killed.log && break; sleep 0.2; done
bash $ME drive
pkill -9 kshark-virt; pkill -9 trace-cmd
sleep 1
run recorder -o next -d 1 || exit 1
tracing_state > $OUT/after-killed.txt
cp -r command timed flight fired killed next $OUT/
stop_guest web; stop_guest db
