# SPDX-License-Identifier: LGPL-2.1-or-later
# record-monitor: "kshark-virt record" of a host with three guests, of which two have monitors that trace themselves
# at the same time (QEMU's log backend: web.log, db.log). web has a disk on an iothread, read by QEMU's worker threads, and a
# network by vhost; db a network by QEMU's main loop; bios does not get further than its BIOS, whose timer is KVM's PIT.
# scripts/lab-test brings kshark-virt along.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web 'dd if=/dev/vda of=/dev/null bs=4k count=24 iflag=direct 2> /dev/null
        dd if=/dev/zero of=/dev/vda bs=8k count=6 oflag=direct 2> /dev/null; echo "web has read" > /dev/ttyS0'
    in_guest db 'for k in 1 2 3 4; do ping -c 1 -W 1 10.0.0.3 > /dev/null; usleep 20000; done' > /dev/null
    exit
fi
mkdir -p /tmp/k/bin /tmp/k/lib
cp /share/lab/files/kshark-virt /tmp/k/bin/ && cp /share/lab/files/lib*.so* /tmp/k/lib/ ||
    { note "no kshark-virt: scripts/lab-test brings it"; exit 1; }
# QEMU logs the names of devices when it makes them, and requests to them while the host is recorded
MADE="resettable_phase_enter_begin virtio_set_status"
ASKED="kvm_run_exit memory_region_ops_* virtio_queue_notify virtio_notify* virtqueue_pop virtqueue_fill virtio_blk_handle_*
    virtio_blk_req_complete blk_co_p* file_paio_submit thread_pool_*"
printf '%s\n' $MADE > $TMP/events
# trace NAME on|off
trace() { set -f; for e in $ASKED; do printf 'trace-event %s %s\n' "$e" $2; done > $TMP/commands; set +f
    socat -t 2 - UNIX-CONNECT:$TMP/$1.sock < $TMP/commands > /dev/null; }
for m in tun bridge; do modprobe $m; done
ip link add br0 type bridge; ip link set br0 up
for n in web db; do ip tuntap add tap-$n mode tap; ip link set tap-$n master br0 up; done
truncate -s 4M $TMP/disk.img
devices() { echo "-trace events=$TMP/events -D $TMP/$1.log -msg timestamp=on -monitor unix:$TMP/$1.sock,server=on,wait=off
    -netdev tap,id=n,ifname=tap-$1,script=no,downscript=no$3 -device virtio-net-device,netdev=n,mac=52:54:00:00:00:0$2"; }
L2_DEVICES="$(devices web 3 ,vhost=on) -object iothread,id=disks -drive file=$TMP/disk.img,if=none,id=d,format=raw,aio=threads
    -device virtio-blk-device,drive=d,iothread=disks" start_guest web 3 2 0
wait_guest web || exit 1
L2_DEVICES="$(devices db 4 '')" start_guest db 4 1 0
wait_guest db || exit 1
qemu-system-x86_64 -name guest=bios,debug-threads=on -accel kvm -cpu host -M pc -m 16 -nodefaults -no-user-config -display none \
    > $TMP/bios.qemu 2>&1 < /dev/null & echo $! > $TMP/bios.pid
for n in web:3 db:4; do
    in_guest ${n%:*} "for m in \$(cat /devices.list); do insmod /modules/\$m 2>/dev/null; done
        ifconfig eth0 10.0.0.${n#*:} netmask 255.255.255.0 up; ifconfig eth0; ls -l /dev/vda; cat /proc/interrupts" >> $OUT/notes.txt
done
in_guest db 'ping -c 3 10.0.0.3' >> $OUT/notes.txt
ps -eLo pid,tid,comm >> $OUT/notes.txt
# the table of symbols would be 1 MB of the trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
for n in web db; do trace $n on; done
LD_LIBRARY_PATH=/tmp/k/lib run /tmp/k/bin/kshark-virt record --guest web=none --guest db=none --guest bios=none -o monitor \
    --events kvm_entry,kvm_exit,kvm_userspace_exit,kvm_mmio,kvm_pio,kvm_msi_set_irq,kvm_apic_accept_irq,sched_switch,sched_waking,sched_wakeup \
    -- bash $ME drive || exit 1
for n in web db; do trace $n off; done
umount /proc/kallsyms
cp -r monitor $OUT/; cp $TMP/web.log $TMP/db.log $OUT/
stop_guest web; stop_guest db; stop_guest bios
