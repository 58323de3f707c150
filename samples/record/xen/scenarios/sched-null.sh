# SPDX-License-Identifier: LGPL-2.1-or-later
# sched-null: null scheduler: dom0's 2 vCPUs + one 2-vCPU domU fill the 4 pCPUs
XEN_IMG=xen-sched
XEN_OPTS="sched=null"
job() {

    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"'
    create burny; wait_ready burny
    go burny; sleep 1
    state before; tsc_info before
    trace_start ${SECS:-3} -S 512 -e all
    sleep 0.5; dom0_work
    trace_wait
    state after
    destroy_all
}
