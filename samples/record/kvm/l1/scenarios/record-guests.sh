# SPDX-License-Identifier: LGPL-2.1-or-later
# record-guests: "kshark-virt record" of a host and two guests alike (two vCPUs, the same work): web by trace-cmd's
# agent, db by ssh; scripts/lab-test brings it along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web "/work.sh sleep busy0 ipc" > /dev/null &
    in_guest db "/work.sh sleep busy0 ipc" > /dev/null
    wait
    exit
fi
mkdir -p /tmp/k/bin /tmp/k/lib ~/.ssh
cp /share/lab/files/kshark-virt /tmp/k/bin/ && cp /share/lab/files/lib*.so* /tmp/k/lib/ ||
    { note "no kshark-virt: scripts/lab-test brings it"; exit 1; }
start_guest web 3 2 1; wait_guest web || exit 1
start_guest db 4 2 0; wait_guest db || exit 1
start_sshd db || exit 1
cd $TMP
LD_LIBRARY_PATH=/tmp/k/lib run timeout 500 /tmp/k/bin/kshark-virt record --guest db=ssh:root@db -o guests -- bash $ME drive || exit 1
cp -r guests $OUT/
stop_guest web; stop_guest db
