# SPDX-License-Identifier: LGPL-2.1-or-later
# two-runqueues: credit2 on 2 sockets x 2 cores = two run queues; 4 busy vCPUs + dom0 balance over them.
SMP="4,sockets=2,cores=2,threads=1"
job() {
    mkdom burny pv 3 lab=burn,mix:40000:20000,mix:4000:6000 'tsc_mode="native"'
    mkdom sleepy pv 2 lab=mix:50000:50000,sleep:5000 'tsc_mode="native"'
    create burny; create sleepy; wait_ready burny sleepy
    go burny sleepy; sleep 2
    state before; tsc_info before; raw xl cpupool-list -c
    trace_start ${SECS:-5} -S 1024 -e all
    sleep 1; dom0_work
    trace_wait
    state after
    destroy_all
}
