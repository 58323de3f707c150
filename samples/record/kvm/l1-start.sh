#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# l1-start.sh WORKDIR: boot the L1 "host" under QEMU TCG (emulated AMD SVM) in the background.
# WORKDIR/share is its 9p share; WORKDIR/l1.pid its process; WORKDIR/l1-console.log its console.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
WORK=${1:?usage: l1-start.sh WORKDIR}; cd "$WORK"
mkdir -p share/jobs share/out share/lab
rm -f share/jobs/*
cp -r "$HERE"/l1/. share/lab/; cp vmlinuz l2-initrd share/lab/
# -snapshot: the disk image stays pristine. tsc=reliable: QEMU TCG does not offer invariant TSC, and
# without it Linux drops the TSC as clocksource, so KVM could not give its guests a stable kvm-clock.
setsid qemu-system-x86_64 -name l1 -accel tcg,thread=multi -cpu ${L1_CPU:-EPYC,+svm,+npt,+invtsc} \
    -M q35 -smp ${L1_CPUS:-4} -m ${L1_MEM:-2048} -nodefaults -display none -no-reboot -snapshot \
    -kernel vmlinuz -initrd l1-initrd \
    -append "console=ttyS0 quiet tsc=reliable mitigations=off nokaslr ${L1_APPEND:-}" \
    -drive file=l1.ext4,format=raw,if=virtio \
    -virtfs local,path=share,mount_tag=share,security_model=none \
    ${L1_DEVICES:-} -serial file:l1-console.log -monitor unix:l1-monitor.sock,server,nowait \
    > l1-qemu.log 2>&1 < /dev/null &
echo $! > l1.pid
for i in $(seq 240); do
    [ -e share/jobs/l1-up ] && { echo "L1 up after ${i}s"; exit 0; }
    kill -0 "$(cat l1.pid)" 2>/dev/null || { echo "L1 died:"; cat l1-qemu.log; tail -20 l1-console.log; exit 1; }
    sleep 1
done
echo "L1 did not come up"; tail -20 l1-console.log; exit 1
