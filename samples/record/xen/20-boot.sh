#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# 20-boot.sh WORKDIR NAME SCENARIO_FILE
# Boots Xen + dom0 under qemu (TCG, no KVM), runs SCENARIO_FILE's job() in dom0, and
# unpacks what it left in /out into WORKDIR/out/NAME.
# SCENARIO_FILE may set (it is sourced here as well as in dom0):
#   XEN_OPTS   more Xen options           (default: empty = Xen's defaults, credit2)
#   SMP        qemu -smp                  (default: 4,sockets=1,cores=4,threads=1)
#   QEMU_CPU   qemu -cpu                  (default: EPYC,+svm,+npt,-monitor,-smap)
#   DOM0_VCPUS dom0_max_vcpus             (default: 2)
#   XEN_IMG    hypervisor in build/       (default: xen; xen-sched has rtds and null)
#   THREAD     of qemu -accel tcg         (default: multi; single: one CPU at a time, better on few cores)
#   LIMIT      seconds before qemu is ended (default: 900, or what the environment says)
# LAB_FILES in the environment: files that the job finds in its folder; with kshark-virt-xen-meta (and the
# libraries that dom0 lacks) among them, each trace has a sidecar.
set -euo pipefail
WORK=$(realpath "${1:?}"); NAME=${2:?}; SCN=$(realpath "${3:?}")
HERE=$(dirname "$(realpath "$0")")
B=$WORK/build; R=$WORK/run/$NAME; O=$WORK/out/$NAME
mkdir -p "$R" "$O"
XEN_OPTS="" SMP="4,sockets=1,cores=4,threads=1" QEMU_CPU="EPYC,+svm,+npt,-monitor,-smap" DOM0_VCPUS=2 XEN_IMG=xen THREAD=multi LIMIT=${LIMIT:-900}
# shellcheck disable=SC1090
. "$SCN"

# The job, as a tar on a raw disk (dom0's /dev/vdb); room for the results (/dev/vdc).
rm -rf "$R/job"; mkdir -p "$R/job"
cp "$HERE/guest/lib.sh" "$R/job/lib.sh"; cp "$SCN" "$R/job/scenario.sh"
# shellcheck disable=SC2086
[ -z "${LAB_FILES:-}" ] || cp -L $LAB_FILES "$R/job/"
printf '#!/bin/bash\n. ./lib.sh\n. ./scenario.sh\nhost_facts\njob\n' > "$R/job/job.sh"
tar -C "$R/job" -cf "$R/in.img" .; truncate -s %1M "$R/in.img"
rm -f "$R/out.img"; truncate -s 512M "$R/out.img"
# dom0's root is thrown away after the run: snapshot=on.

XEN_CMD="console=com1 com1=115200,8n1 loglvl=all guest_loglvl=all dom0_mem=1024M,max:1024M dom0_max_vcpus=$DOM0_VCPUS spec-ctrl=no noreboot=true $XEN_OPTS"
DOM0_CMD="console=hvc0 mitigations=off quiet loglevel=4 rdinit=/init net.ifnames=0 panic=5"
QEMU=(qemu-system-x86_64
    -machine q35 -accel "tcg,thread=$THREAD" -cpu "$QEMU_CPU" -smp "$SMP" -m 2560M
    -display none -vga none -nodefaults -no-reboot -monitor none
    -serial "file:$R/serial.log"
    -kernel "$B/$XEN_IMG" -append "$XEN_CMD"
    -initrd "$B/vmlinux $DOM0_CMD,$B/dom0.initrd"
    -drive "file=$B/dom0.img,format=raw,if=none,id=d0,snapshot=on"
    -device virtio-blk-pci,drive=d0,disable-legacy=on
    -drive "file=$R/in.img,format=raw,if=none,id=d1,readonly=on"
    -device virtio-blk-pci,drive=d1,disable-legacy=on
    -drive "file=$R/out.img,format=raw,if=none,id=d2"
    -device virtio-blk-pci,drive=d2,disable-legacy=on)
printf '%q ' "${QEMU[@]}" > "$R/qemu-cmd.txt"
rm -f "$R/serial.log"
"${QEMU[@]}" & PID=$!
echo $PID > "$R/qemu.pid"
trap 'kill $PID 2>/dev/null || true' EXIT
T0=$(date +%s)
while kill -0 $PID 2>/dev/null; do
    # dom0 powers the machine off itself; the marker is the safety net.
    if grep -aq 'LAB.* POWEROFF' "$R/serial.log" 2>/dev/null; then
        for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 $PID 2>/dev/null || break; sleep 1; done
        kill $PID 2>/dev/null || true; break
    fi
    if [ $(( $(date +%s) - T0 )) -gt "$LIMIT" ]; then
        echo "$NAME: over $LIMIT s, ending qemu"; kill $PID; break
    fi
    sleep 1
done
wait $PID 2>/dev/null || true
trap - EXIT
echo "$NAME: qemu ran $(( $(date +%s) - T0 )) s"
cp "$R/serial.log" "$O/serial.log"; cp "$R/qemu-cmd.txt" "$O/"
tar -C "$O" -xf "$R/out.img" && echo "$NAME: results unpacked in $O"
{ echo "===== Xen command line (from qemu -append)"; echo "$XEN_CMD"
  echo "===== dom0 command line"; echo "$DOM0_CMD"
  echo "===== qemu: -cpu $QEMU_CPU -smp $SMP"; qemu-system-x86_64 --version | head -1
  cat "$O/notes.txt"; } > "$O/notes.tmp" && mv "$O/notes.tmp" "$O/notes.txt"
rm -f "$R/in.img" "$R/out.img"
