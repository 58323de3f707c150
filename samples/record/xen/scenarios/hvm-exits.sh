# SPDX-License-Identifier: LGPL-2.1-or-later
# hvm-exits: a PVH domU (2 vCPU) under emulated SVM + nested paging: VMENTRY/VMEXIT records.
job() {
    mkdom pvh1 pvh 2 lab=burn,mix:3000:3000 'tsc_mode="native"'
    create pvh1; wait_ready pvh1
    go pvh1; sleep 1
    state before; tsc_info before
    vmcb_info
    trace_start ${SECS:-4} -S 1024 -e all
    trace_wait
    state after
    destroy_all
}
