# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-migration: busy vCPU threads are moved between host CPUs at known moments, then share one host CPU.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "busy loops start on both vCPUs"
    in_guest g1 "grep '^cpu' /proc/stat; N=1000000 /work.sh long" > $TMP/stat0 & W=$!
    sleep 1; move g1 0 3
    sleep 1; move g1 1 0
    sleep 1; move g1 0 1
    sleep 1; mark "both vCPU threads share host CPU 2 from here"; move g1 0 2; move g1 1 2
    sleep 2; mark "apart again"; move g1 0 1; move g1 1 3
    sleep 1
    in_guest g1 "killall sh 2>/dev/null" > /dev/null 2>&1; in_guest g1 "grep '^cpu' /proc/stat" > $TMP/stat1
    mark "busy loops ended"
    kill $W 2>/dev/null
    exit
fi
start_guest g1 3 2 1; wait_guest g1 || exit 1
move g1 0 1; move g1 1 2
cd $TMP
record -o trace.dat --tsync-interval 1000 $HOST_EVENTS -A g1@3:823 -e sched -e irq bash $ME drive || exit 1
note "guest /proc/stat before (8th number of a line: steal, 10 ms):"; cat stat0 >> $OUT/notes.txt
note "guest /proc/stat after:"; cat stat1 >> $OUT/notes.txt
keep trace.dat trace-g1.dat
stop_guest g1
