# SPDX-License-Identifier: LGPL-2.1-or-later
# dom0-culprits: burny (PV) shares pCPUs 0 and 1 with dom0, whose threads work for hvm1 (HVM, on pCPU 2) and its
# console: the device model, xenstored, xenconsoled. dom0's ftrace shows which of them took burny's time.
LIMIT=900
job() {
    mkdom burny pv 2 lab=burn,burn 'tsc_mode="native"'
    cat > $CFG/hvm1.cfg <<CFGEND
name="hvm1"
type="hvm"
kernel="/lab/vmlinuz"
ramdisk="/lab/domu.initrd"
memory=192
vcpus=1
serial="pty"
vnc=0
sdl=0
vga="none"
on_crash="preserve"
tsc_mode="native"
extra="console=ttyS0 loglevel=7 rdinit=/init mitigations=off xen_emul_unplug=never lab=burn"
CFGEND
    cat $CFG/hvm1.cfg >> $NOTES
    create burny; wait_ready burny
    note "xl create -p hvm1"; xl -v create -p $CFG/hvm1.cfg > $OUT/xl-create-hvm1.log 2>&1 || { cat $OUT/xl-create-hvm1.log; exit 1; }
    raw xl vcpu-pin Domain-0 0 0; raw xl vcpu-pin Domain-0 1 1
    raw xl vcpu-pin burny 0 0; raw xl vcpu-pin burny 1 1; raw xl vcpu-pin hvm1 0 2
    go burny; note "xl unpause hvm1"; xl unpause hvm1
    # hvm1's kernel writes to its serial console by now
    sleep ${WARM:-8}
    state before; tsc_info before
    # the table of symbols would be most of the trace
    : > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms
    note "dom0 trace-cmd start"
    stdbuf -oL trace-cmd record -C x86-tsc -b 4096 -e sched:sched_switch -o $OUT/dom0-trace.dat > $OUT/trace-cmd.log 2>&1 & TC=$!
    for i in $(seq 1 120); do grep -q Hit $OUT/trace-cmd.log && break; sleep 0.5; done
    trace_start ${SECS:-2} -S 1024 -e sched
    xenstore-ls > /dev/null; xl list > /dev/null
    trace_wait
    dom0_ftrace_stop
    umount /proc/kallsyms
    raw ps -eLo pid,tid,comm
    state after
    destroy_all
}
