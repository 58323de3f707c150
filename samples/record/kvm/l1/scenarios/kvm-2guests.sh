# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-2guests: host + two guests at once (web, cid 3, 2 vCPUs; db, cid 4, 2 vCPUs), through the agents, with time sync.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "host: web alone";  in_guest web "/work.sh sleep busy0 ipc"
    mark "host: db alone";   in_guest db  "/work.sh sleep busy1 ipc"
    mark "host: both guests"; in_guest web "/work.sh both ipc" & in_guest db "/work.sh both ipc"; wait
    mark "host: end"
    exit
fi
start_guest web 3 2 1; wait_guest web || exit 1
start_guest db 4 2 1;  wait_guest db || exit 1
cd $TMP
record -o trace.dat --tsync-interval 1000 $HOST_EVENTS \
    -A web@3:823 -e sched -e irq -e timer -A db@4:823 -e sched -e irq -e timer bash $ME drive || exit 1
keep trace.dat trace-web.dat trace-db.dat
stop_guest web; stop_guest db
