# SPDX-License-Identifier: LGPL-2.1-or-later
# pinned: every vCPU hard-pinned 1:1 (dom0 v0->p0 v1->p1, fixed v0->p2 v1->p3): no migration.
XEN_OPTS="dom0_vcpus_pin"
job() {
    mkdom fixed pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"' 'cpus=["2","3"]'
    create fixed; wait_ready fixed
    go fixed; sleep 1
    state before; tsc_info before
    trace_start ${SECS:-4} -S 512 -e all
    sleep 1; dom0_work
    trace_wait
    state after
    destroy_all
}
