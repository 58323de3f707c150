# SPDX-License-Identifier: LGPL-2.1-or-later
# credit2-basic: dom0 (2 vCPU) + 2 PV domUs (2 vCPU each), burn/sleep mix, 4 pCPUs, credit2.
XEN_OPTS=""
job() {
    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"'
    mkdom sleepy pv 2 lab=mix:1000:20000,sleep:5000 'tsc_mode="native"'
    create burny; create sleepy; wait_ready burny sleepy
    go burny sleepy; sleep 2
    state before; tsc_info before
    trace_start ${SECS:-4} -S 512 -e all
    sleep 1; dom0_work
    trace_wait
    state after
    destroy_all
}
