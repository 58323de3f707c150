# SPDX-License-Identifier: LGPL-2.1-or-later
# dynamic: domains that come and go during the trace, and a pause/unpause.
# Scheduler, domain and memory events only, since creating a domain takes many seconds here.
job() {
    mkdom stay pv 2 lab=mix:3000:7000,sleep:10000 'tsc_mode="native"'
    mkdom guest pv 1 lab=burn 'tsc_mode="native"'
    create stay; wait_ready stay; go stay; sleep 1
    state before; tsc_info before
    trace_start 300 -S 1024 -e 0x0017f000   # gen+sched+dom0op+mem
    sleep 1
    create guest; wait_ready guest; go guest; sleep 1; state "guest runs"
    note "pause-begin stay";   xl pause stay;   note "pause-end stay";   sleep 1.5
    note "unpause-begin stay"; xl unpause stay; note "unpause-end stay"; sleep 1
    note "destroy-begin guest"; xl destroy guest; note "destroy-end guest"
    sleep 1
    trace_stop
    state after
    destroy_all
}
