# SPDX-License-Identifier: LGPL-2.1-or-later
# record-tsc: "kshark-virt record" of a host and a guest, by ssh, that sets the TSCs of its two vCPUs by some seconds
# forward, and back, while it is recorded; scripts/lab-test brings it along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest db "/work.sh sleep busy0" > /dev/null
    mark "the TSC is set: $2"; in_guest db "echo 'tsc $2' > /proc/kvmhc" > /dev/null
    in_guest db "/work.sh ipc sleep" > /dev/null
    exit
fi
mkdir -p /tmp/k/bin /tmp/k/lib ~/.ssh
cp /share/lab/files/kshark-virt /tmp/k/bin/ && cp /share/lab/files/lib*.so* /tmp/k/lib/ ||
    { note "no kshark-virt: scripts/lab-test brings it"; exit 1; }
# without the register that shows the change to Linux, which would set it back
L2_CPU=host,tsc_adjust=off start_guest db 4 2 0; wait_guest db || exit 1
start_sshd db || exit 1
cd $TMP
record_db() { LD_LIBRARY_PATH=/tmp/k/lib run timeout 500 /tmp/k/bin/kshark-virt record --guest db=ssh:root@db -o $1 -- bash $ME drive $2; }
record_db forward 10000000000 || exit 1
record_db back -10000000000 || exit 1
cp -r forward back $OUT/
stop_guest db
