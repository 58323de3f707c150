# SPDX-License-Identifier: LGPL-2.1-or-later
# overcommit: 8 busy vCPUs (2 domUs x 4) that may only run on pCPUs 2-3: long runnable times.
job() {
    mkdom hog1 pv 4 lab=burn,burn,burn,burn 'tsc_mode="native"' 'cpus="2-3"'
    mkdom hog2 pv 4 lab=burn,burn,burn,mix:30000:10000 'tsc_mode="native"' 'cpus="2-3"'
    create hog1; create hog2; wait_ready hog1 hog2
    go hog1 hog2; sleep 2
    state before; tsc_info before
    trace_start ${SECS:-5} -S 1024 -e all
    trace_wait
    state after
    destroy_all
}
