# SPDX-License-Identifier: LGPL-2.1-or-later
# sched-rtds: the same as credit2-basic under rtds; dom0 gets 80 % so that the tools stay usable
XEN_IMG=xen-sched
XEN_OPTS="sched=rtds"
job() {
    raw xl sched-rtds -d Domain-0 -v all -p 10000 -b 8000 -e 1
    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"'
    mkdom sleepy pv 2 lab=mix:1000:20000,sleep:5000 'tsc_mode="native"'
    create burny; create sleepy; wait_ready burny sleepy
    go burny sleepy; sleep 1
    raw xl sched-rtds -v all
    state before; tsc_info before
    trace_start ${SECS:-3} -S 512 -e all
    sleep 0.5; dom0_work
    trace_wait
    state after
    destroy_all
}
