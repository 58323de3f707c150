# SPDX-License-Identifier: LGPL-2.1-or-later
# sched-credit: the same as credit2-basic under the credit (1) scheduler
XEN_OPTS="sched=credit"
job() {

    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"'
    mkdom sleepy pv 2 lab=mix:1000:20000,sleep:5000 'tsc_mode="native"'
    create burny; create sleepy; wait_ready burny sleepy
    go burny sleepy; sleep 1
    state before; tsc_info before
    trace_start ${SECS:-3} -S 512 -e all
    sleep 0.5; dom0_work
    trace_wait
    state after
    destroy_all
}
