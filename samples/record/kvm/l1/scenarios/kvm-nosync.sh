# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-nosync: host and guest recorded independently, same clock kind, no agent: no mapping, no time sync.
# Twice: -C x86-tsc (truth: the tsc-offset in the notes) and -C mono (truth: mono-offset.txt, measured).
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest g1 "sh /tmp/rec.sh $2"
    exit
fi
start_guest g1 3 2 0; wait_guest g1 || exit 1
# the guest records itself while it works
in_guest g1 'echo "cd /tmp; trace-cmd record -C \$1 -o /tmp/guest-\$1.dat -e sched -e irq -e timer /work.sh sleep busy0 busy1 ipc sleep > /tmp/rec.log 2>&1; tail -3 /tmp/rec.log" > /tmp/rec.sh'
cd $TMP
for clock in x86-tsc mono; do
    record -C $clock -o host-$clock.dat $HOST_EVENTS bash $ME drive $clock || exit 1
    in_guest g1 "cat /tmp/guest-$clock.dat" > guest-$clock.dat
    keep host-$clock.dat guest-$clock.dat
done
# how far apart the two CLOCK_MONOTONICs are: ask the guest for its uptime between two readings of ours
python3 - $(cat g1.cid) > $OUT/mono-offset.txt <<'P'
import socket, sys, time
print("# host_mono_before guest_uptime host_mono_after (s); guest resolution 10 ms; take the narrowest, offset = guest - host")
for _ in range(30):
    s = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); s.connect((int(sys.argv[1]), 9000))
    f = s.makefile("rw"); f.write("read u x < /proc/uptime; echo $u\n"); f.flush(); f.readline()  # warm-up: shell is running now
    a = time.clock_gettime(time.CLOCK_MONOTONIC)
    f.write("read u x < /proc/uptime; echo $u\n"); f.flush(); u = f.readline().strip()
    b = time.clock_gettime(time.CLOCK_MONOTONIC)
    print(f"{a:.6f} {u} {b:.6f}"); s.close()
P
stop_guest g1
