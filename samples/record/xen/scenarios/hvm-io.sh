# SPDX-License-Identifier: LGPL-2.1-or-later
# hvm-io: a full HVM domU (qemu device model in dom0, SeaBIOS, emulated APIC/PIT/UART) traced while it boots.
LIMIT=900
job() {
    cat > $CFG/hvm1.cfg <<CFGEND
name="hvm1"
type="hvm"
kernel="/lab/vmlinuz"
ramdisk="/lab/domu.initrd"
memory=192
vcpus=2
serial="pty"
vnc=0
sdl=0
vga="none"
on_crash="preserve"
tsc_mode="native"
extra="console=ttyS0 quiet loglevel=4 rdinit=/init mitigations=off xen_emul_unplug=never lab=burn,mix:3000:3000"
CFGEND
    cat $CFG/hvm1.cfg >> $NOTES
    note "xl create -p hvm1"; xl -v create -p $CFG/hvm1.cfg > $OUT/xl-create-hvm1.log 2>&1 || { cat $OUT/xl-create-hvm1.log; exit 1; }
    state before; tsc_info before
    trace_start ${SECS:-8} -S 2048 -e all
    sleep 1; note "xl unpause hvm1"; xl unpause hvm1; note unpaused
    trace_wait
    state after
    xl list -l > $OUT/xl-list-l.json 2>/dev/null
    destroy_all
}
