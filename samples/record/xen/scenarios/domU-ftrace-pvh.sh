# SPDX-License-Identifier: LGPL-2.1-or-later
# domU-ftrace-pvh: xentrace + trace-cmd in dom0 + trace-cmd inside a PVH domU, all on x86-tsc.
# The domU sends its trace.dat over its console (base64); dom0 unpacks it as domU-trace.dat.
# dom0 and the PVH domU on separate pCPUs: otherwise dom0 hung (idle, no timer) in two of two tries.
XEN_OPTS="dom0_vcpus_pin"
LIMIT=400
job() {
    RAMDISK=/lab/domu-ft.initrd MEM=160 mkdom ft pvh 2 "lab=burn,mix:4000:6000 labft=1" 'tsc_mode="native"' 'cpus="2-3"'
    create ft; wait_ready ft
    state before; tsc_info before
    vmcb_info
    # both ftraces first (slow to start); xentrace lies inside both
    dom0_ftrace_start
    go ft
    wait_console ft 'FTRACE recording' 120
    trace_start ${SECS:-3} -S 1024 -e all
    trace_wait
    note "ask the domU to stop"; go ft
    dom0_ftrace_stop
    wait_console ft 'FTRACE sent' 400
    cp $(conlog ft) $OUT/domU-console.log
    sed -n '/=====BEGIN-BASE64/,/=====END-BASE64/p' $OUT/domU-console.log | tr -d '\r' | grep -v ===== | base64 -d | gunzip > $OUT/domU-trace.dat
    grep -aE 'DOMU\[|clocksource' $OUT/domU-console.log >> $NOTES
    state after; tsc_info after
    destroy_all
}
