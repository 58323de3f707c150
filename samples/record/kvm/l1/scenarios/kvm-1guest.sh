# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-1guest: host + one guest (2 vCPUs), recorded together through the agent, with time sync.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "host: guest phases start"
    in_guest g1 "/work.sh sleep busy0 busy1 both ipc fork sleep"
    mark "host: guest phases end"
    exit
fi
start_guest g1 3 2 1; wait_guest g1 || exit 1
cd $TMP
record -o trace.dat --tsync-interval 1000 $HOST_EVENTS -A g1@3:823 $GUEST_EVENTS bash $ME drive || exit 1
keep trace.dat trace-g1.dat
stop_guest g1
