# SPDX-License-Identifier: LGPL-2.1-or-later
# migration: a busy 2-vCPU domU whose vCPUs are moved by `xl vcpu-pin` at known moments.
# notes.txt has the TSC immediately before and after every pin.
job() {
    mkdom mover pv 2 lab=burn,burn 'tsc_mode="native"' 'cpus=["2","3"]'
    create mover; wait_ready mover
    go mover; sleep 1
    state before; tsc_info before
    trace_start 120 -S 1024 -e 0x0017f000   # gen+sched+dom0op+mem
    sleep 1
    # vcpu pcpu
    while read -r v p; do
        note "pin-begin mover v$v -> p$p"
        xl vcpu-pin mover $v $p
        note "pin-end   mover v$v -> p$p"
        sleep 0.3
    done <<LIST
0 3
1 2
0 0
1 1
0 2
1 3
0 1
1 0
LIST
    sleep 0.5
    trace_stop
    state after
    destroy_all
}
