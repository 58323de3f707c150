# SPDX-License-Identifier: LGPL-2.1-or-later
# saved: a PV domU that is paused and resumed, and one that is saved to a file and restored from it (with
# another number), all while being traced. Scheduler and domain events only, since this takes long here.
XEN_OPTS="dom0_vcpus_pin"
job() {
    mkdom web pv 2 lab=sleep:20000,sleep:50000 'tsc_mode="native"' 'cpus="2-3"'
    mkdom db pv 2 lab=mix:9000:40000,sleep:30000 'tsc_mode="native"' 'cpus="2-3"'
    create web; create db; wait_ready web db; go web db; sleep 1
    state before; tsc_info before
    trace_start 600 -S 256 -e 0x00021000
    sleep 0.5
    note "pause-begin web";    xl pause web;             note "pause-end web";    sleep 1
    note "unpause-begin web";  xl unpause web;           note "unpause-end web";  sleep 0.5
    note "save-begin db";      raw xl save db /tmp/db.save; note "save-end db";      state saved; sleep 0.5
    note "restore-begin db";   raw xl restore /tmp/db.save; note "restore-end db";   sleep 1
    trace_stop
    state after; tsc_info after
    cp "$(conlog db)" $OUT/db-console.log
    destroy_all
}
