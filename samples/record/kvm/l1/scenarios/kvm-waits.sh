# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-waits: four recordings of a guest web (2 vCPUs) that waits for one thing only: timer, disk (virtio-blk, 50
# requests a second), ipi (two tasks that wait for each other, one per vCPU), packet (of another guest, db, by
# virtio-net over a bridge). Its own trace shows which interrupts came; tests/golden/waits_truth.py compares
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    case $2 in
    timer) in_guest web '/work.sh timer';;
    disk) in_guest web '/work.sh disk';;
    ipi) in_guest web '/work.sh ipi';;
    packet) in_guest db 'for k in $(seq 40); do ping -c 1 -W 1 10.0.0.3 > /dev/null; usleep 20000; done';;
    esac
    exit
fi
for m in tun bridge; do modprobe $m; done
ip link add br0 type bridge; ip link set br0 up
for n in web db; do ip tuntap add tap-$n mode tap; ip link set tap-$n master br0 up; done
truncate -s 4M $TMP/disk.img
net() { echo "-netdev tap,id=n,ifname=tap-$1,script=no,downscript=no -device virtio-net-device,netdev=n,mac=52:54:00:00:00:0$2"; }
L2_DEVICES="$(net web 3) -drive file=$TMP/disk.img,if=none,id=d,format=raw,throttling.iops-total=50 -device virtio-blk-device,drive=d" start_guest web 3 2 1
wait_guest web || exit 1
L2_DEVICES=$(net db 4) start_guest db 4 1 0; wait_guest db || exit 1
for n in web:3 db:4; do
    in_guest ${n%:*} "for m in \$(cat /devices.list); do insmod /modules/\$m 2>/dev/null; done
        ifconfig eth0 10.0.0.${n#*:} netmask 255.255.255.0 up; ifconfig eth0; ls -l /dev/vda" >> $OUT/notes.txt
done
in_guest db 'ping -c 3 10.0.0.3' >> $OUT/notes.txt
# the tables of symbols would be 1 MB of each trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
in_guest web ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms'
cd $TMP
for what in timer disk ipi packet; do
    record -o waits-$what.dat --tsync-interval 1000 -e kvm -e sched_switch -e sched_wakeup -e sched_waking -e power:cpu_idle \
        -A web@3:823 -e sched_switch -e sched_waking -e irq_handler_entry -e irq_vectors bash $ME drive $what || exit 1
    keep waits-$what.dat waits-$what-web.dat
done
stop_guest web; stop_guest db; umount /proc/kallsyms
