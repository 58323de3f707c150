# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-ptp: like kvm-1guest, but with -C mono, for which trace-cmd cannot use the kvm protocol and negotiates ptp:
# time sync by exchanged packets, so the offset is an estimate that differs from sample to sample.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "host: guest phases start"; in_guest g1 "/work.sh sleep busy0 busy1 ipc fork sleep"; mark "host: guest phases end"
    exit
fi
start_guest g1 3 2 1; wait_guest g1 || exit 1
cd $TMP
record -C mono -o trace.dat --tsync-interval 1000 $HOST_EVENTS -A 3:823 --name g1 -C mono -e sched -e irq bash $ME drive || exit 1
keep trace.dat trace-g1.dat
stop_guest g1
