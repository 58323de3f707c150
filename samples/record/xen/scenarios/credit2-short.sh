# SPDX-License-Identifier: LGPL-2.1-or-later
# credit2-short: a PV and a PVH domU beside dom0 until there are 250 KB: a small trace of most classes.
# dom0 and the PVH domU on separate pCPUs: see domU-ftrace-pvh.
XEN_OPTS="dom0_vcpus_pin"
LIMIT=1800
job() {
    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"' 'cpus="2-3"'
    mkdom pvh1 pvh 1 lab=mix:3000:3000 'tsc_mode="native"' 'cpus="2-3"'
    create burny; create pvh1; wait_ready burny pvh1
    go burny pvh1; sleep 1
    state before; tsc_info before
    trace_start 600 -S 512 -e all
    dom0_work &
    # this number of bytes takes as long as it takes on a busy machine
    until [ "$(stat -c %s $TRACE 2>/dev/null || echo 0)" -gt 250000 ]; do sleep 0.2; done
    trace_stop
    state after
    destroy_all
}
