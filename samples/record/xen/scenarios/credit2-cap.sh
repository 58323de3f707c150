# SPDX-License-Identifier: LGPL-2.1-or-later
# credit2-cap: capped, a PV domU that burns on its one vCPU, may use 20 % of a pCPU (xl sched-credit2 -c 20); free, the same
# without a cap. dom0's vCPUs have pCPUs of their own, and so has each domain: no vCPU waits for another one.
XEN_OPTS="dom0_vcpus_pin"
job() {
    mkdom capped pv 1 lab=burn 'tsc_mode="native"' 'cpus="2"'
    mkdom free pv 1 lab=burn 'tsc_mode="native"' 'cpus="3"'
    create capped; create free; wait_ready capped free
    xl sched-credit2 -d capped -c 20
    raw xl sched-credit2
    go capped free; sleep 3
    state before
    trace_start ${SECS:-3} -S 256 -e sched
    sleep 1; trace_wait
    state after
    destroy_all
}
