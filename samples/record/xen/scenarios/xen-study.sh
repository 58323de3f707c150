# SPDX-License-Identifier: LGPL-2.1-or-later
# xen-study: "kshark-virt study" of a domU: bytes with xentrace, with ftrace in the domU, with both, and with neither;
# docs/overhead-study.md has the results, and says what to bring along.
XEN_OPTS="dom0_vcpus_pin"
# on two cores, four emulated CPUs wait for each other most of the time
THREAD=single
LIMIT=3600
study() { LD_LIBRARY_PATH=/tmp/k/lib /tmp/k/bin/kshark-virt study "$@" 2>&1 | tee -a $NOTES; }
job() {
    mkdir -p /tmp/k/{bin,lib} ~/.ssh
    mv kshark-virt /tmp/k/bin/ || { note "no kshark-virt: see docs/overhead-study.md"; return 1; }
    mv lib*.so* /tmp/k/lib/
    ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519
    printf 'Host g1\n  HostName 10.0.0.2\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  ConnectTimeout 10\n' > ~/.ssh/config
    printf '  ServerAliveInterval 3\n  ServerAliveCountMax 4\n' >> ~/.ssh/config
    modprobe xen-netback
    cat > /tmp/vif <<'END'
#!/bin/sh
[ "$1" = online ] || exit 0
ip addr add 10.0.0.1/24 dev $vif && ip link set $vif up && xenstore-write $XENBUS_PATH/hotplug-status connected
END
    chmod +x /tmp/vif
    RAMDISK=/lab/domu-ssh.initrd MEM=192 mkdom g1 pv 2 "labssh=$(cut -d ' ' -f 2 ~/.ssh/id_ed25519.pub)" \
        'tsc_mode="native"' 'cpus="2-3"' 'vif=["script=/tmp/vif"]'
    create g1; wait_ready g1
    raw ssh -o BatchMode=yes root@g1 'echo "ssh: $(hostname)"; ls /dev/shm'
    state before
    cat > /tmp/plan.json <<'END'
{
  "benchmarks": [
    { "name": "hackbench", "where": "g1", "format": "hackbench",
      "command": ["hackbench", "-g", "2", "-f", "10", "-l", "100"] },
    { "name": "cyclictest", "where": "g1", "format": "cyclictest", "metric": "*.avg",
      "command": ["cyclictest", "-q", "-m", "-p", "80", "-i", "2000", "-l", "1000"] }
  ],
  "configurations": ["none", "events", "events@guest", "events@both"],
  "guests": ["g1=ssh:root@g1"],
  "rounds": 6, "max_rounds": 6, "warm_up": 1, "seed": 45, "max_seconds": 1500, "buffer_bytes": 4194304
}
END
    # what there is so far comes out, too, if dom0 hangs; --with study.tar goes on with that
    while sleep 30; do tar -C $OUT -cf /dev/vdc .; sync; done & saver=$!
    [ ! -e study.tar ] || tar -C $OUT -xf study.tar
    # an emulated guest may crash, or not answer in time: then it goes on with a new one
    for k in $(seq 10); do
        if [ -e $OUT/study/plan.json ]; then study --resume $OUT/study; else study -o $OUT/study /tmp/plan.json; fi
        [ ! -e $OUT/study/results.csv ] || break
        note "try $k has ended: $(xl list g1 | tail -n 1); $(grep -a 'Kernel panic' $(conlog g1) | tail -n 1)"
        xl destroy g1; sleep 2; rm -f $(conlog g1); create g1; wait_ready g1
    done
    kill $saver
    state after
    destroy_all
    # PDF needs a library that is not brought along
    [ -e $OUT/study/results.csv ]
}
