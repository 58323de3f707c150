# SPDX-License-Identifier: LGPL-2.1-or-later
# record-xen: "kshark-virt record" itself, for three seconds and for a command, and as a flight recorder, to
# the end and until a condition is met; scripts/lab-test brings it along.
XEN_OPTS=""
job() {
    mkdir -p /tmp/k/{bin,lib,libexec/kshark-virt}
    mv kshark-virt /tmp/k/bin/ && mv kshark-virt-xen-meta /tmp/k/libexec/kshark-virt/ ||
        { note "no kshark-virt: scripts/lab-test brings it"; return 1; }
    mv lib*.so* /tmp/k/lib/; export LD_LIBRARY_PATH=/tmp/k/lib
    mkdom burny pv 2 lab=burn,mix:4000:6000 'tsc_mode="native"'
    create burny; wait_ready burny; go burny; sleep 1
    raw /tmp/k/bin/kshark-virt record -d 3 -o $OUT/timed
    raw /tmp/k/bin/kshark-virt record --events sched -o $OUT/command -- sleep 1
    raw /tmp/k/bin/kshark-virt record --flight=1 -d 4 -o $OUT/flight
    raw /tmp/k/bin/kshark-virt record --flight=3 -d 60 --trigger 'wake>1us' -o $OUT/fired
    state after
    destroy_all
}
