# SPDX-License-Identifier: LGPL-2.1-or-later
# lost-records: one-page trace buffers, all events, a reader that looks every 1.5 s only.
job() {
    mkdom burny pv 2 lab=burn,mix:2000:2000 'tsc_mode="native"'
    create burny; wait_ready burny
    go burny; sleep 1
    state before; tsc_info before
    trace_start ${SECS:-6} -S 1 -s 1500 -e all
    sleep 1; dom0_work
    trace_wait
    state after
    destroy_all
}
