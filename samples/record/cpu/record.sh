#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh SCENARIO WORKDIR: builds what SCENARIO boots in WORKDIR unless it is there, boots it, and writes
# WORKDIR/out/SCENARIO, with what trace-cmd says of it. LAB_FILES: files that scenarios find in /lab/files.
# An emulator that makes no more progress is ended after TIMEOUT seconds, and started again, TRIES times in all.
set -euo pipefail
HERE=$(dirname "$(readlink -f "$0")")
S=${1:?}; WORK=${2:?}; mkdir -p "$WORK/out"; WORK=$(readlink -f "$WORK")
ARCH=$(sed -n 's/^# cpu: //p' "$HERE/scenarios/$S.sh")
if [ ! -e "$WORK/$ARCH/.built" ]; then
    echo "$S: building the lab of $ARCH in $WORK (about 2 minutes)"
    "$HERE/build.sh" "$WORK" "$ARCH" > "$WORK/build-$ARCH.log" 2>&1 ||
        { tail "$WORK/build-$ARCH.log"; echo "the lab cannot be built: $WORK/build-$ARCH.log"; exit 1; }
fi
cd "$WORK/$ARCH"
case $ARCH in arm64) compiler=aarch64-linux-gnu-gcc ;; *) compiler=gcc ;; esac
"$compiler" -O2 -Wall -static -pthread -o host/bin/machine "$HERE/machine.c"
rm -rf host/lab; mkdir -p host/lab/files
cp "$HERE/scenarios/$S.sh" host/lab/scenario.sh; cp "$HERE/host.sh" host/lab/; install -m 755 "$HERE/init" host/init
# shellcheck disable=SC2086
[ -z "${LAB_FILES:-}" ] || cp -L $LAB_FILES host/lab/files/
(cd host; find . | cpio -o -H newc 2> /dev/null | gzip -1) > initrd
APPEND="rdinit=/init mitigations=off nokaslr panic=-1 quiet"
OUT=out.img

boot_arm64() {
    qemu-system-aarch64 -accel tcg,thread=multi -M virt,virtualization=on,gic-version=3 -cpu max,pauth-impdef=on -smp 2 -m 1024 \
        -kernel vmlinuz -initrd initrd -append "console=ttyAMA0 $APPEND" -drive file=$OUT,format=raw,if=virtio \
        -nodefaults -display none -serial file:serial.log -no-reboot > emulator.log 2>&1 < /dev/null &
}
# A PC of bochs loads kernels from a disc. Its CPUs do not wake up from MWAIT each time, and have no APERF and MPERF,
# although CPUID lists them.
boot_amd64() {
    local isolinux=/usr/lib/ISOLINUX/isolinux.bin ldlinux=/usr/lib/syslinux/modules/bios/ldlinux.c32
    rm -rf disc; mkdir -p disc/isolinux; cp "$isolinux" "$ldlinux" disc/isolinux/; cp vmlinuz initrd disc/
    printf '%s\n' "default lab" "label lab" "kernel /vmlinuz" "append initrd=/initrd console=ttyS0 tsc=reliable idle=halt clearcpuid=aperfmperf $APPEND" \
        > disc/isolinux/isolinux.cfg
    xorriso -as mkisofs -quiet -o disc.iso -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 \
        -boot-info-table disc > disc.log 2>&1
    cp "$HERE/bochsrc" .
    # Debian's bochs has its debugger built in, which waits for a command
    echo continue > commands
    bochs -q -f bochsrc -rc commands > emulator.log 2>&1 < /dev/null &
}
# one try; why it has failed is in $why
try() {
    rm -f "$OUT"* serial.log; truncate -s 67092480 $OUT
    "boot_$ARCH"
    local emulator=$! began=$SECONDS
    while kill -0 $emulator 2> /dev/null; do
        [ $((SECONDS - began)) -lt "${TIMEOUT:-1800}" ] || { kill -KILL $emulator; why="not done after ${TIMEOUT:-1800} s"; return 1; }
        sleep 1
    done
    rm -rf "${WORK:?}/out/$S"; mkdir -p "$WORK/out/$S"
    tar -C "$WORK/out/$S" -xf $OUT 2> /dev/null || { why="the emulator has ended"; return 1; }
    [ "$(cat "$WORK/out/$S/rc")" = 0 ] || { why="failed: $(tail -n 1 "$WORK/out/$S/job.log")"; return 1; }
}
failed=()
until try; do
    failed+=("try $((${#failed[@]} + 1)): $why")
    echo "$S: ${failed[-1]}"
    [ ${#failed[@]} -lt "${TRIES:-2}" ] || exit 1
done
[ ${#failed[@]} = 0 ] || printf '%s\n' "${failed[@]}" > "$WORK/out/$S/tries.txt"
