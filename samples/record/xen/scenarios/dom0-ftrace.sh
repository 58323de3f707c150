# SPDX-License-Identifier: LGPL-2.1-or-later
# dom0-ftrace: xentrace and, over the same seconds, trace-cmd (clock x86-tsc) inside dom0.
job() {
    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"'
    create burny; wait_ready burny
    go burny; sleep 1
    state before; tsc_info before
    raw cat /sys/kernel/tracing/trace_clock
    dom0_ftrace_start
    trace_start ${SECS:-4} -S 1024 -e all      # lies inside the ftrace recording
    sleep 0.5; dom0_work
    trace_wait
    dom0_ftrace_stop
    state after; tsc_info after
    destroy_all
}
