# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-hostonly: only the host is recorded (default clock); the guest works, untraced.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "host: guest phases start"; in_guest g1 "/work.sh sleep busy0 both ipc fork"; mark "host: guest phases end"
    exit
fi
start_guest g1 3 2 0; wait_guest g1 || exit 1
cd $TMP
record -C local -o trace.dat $HOST_EVENTS bash $ME drive || exit 1
keep trace.dat
stop_guest g1
