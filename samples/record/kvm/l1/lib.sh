# SPDX-License-Identifier: LGPL-2.1-or-later
# lib.sh: sourced by the scenarios, inside L1. OUT is the scenario's output folder (on the 9p share).
LAB=/share/lab; T=/sys/kernel/tracing; TMP=/tmp
: "${SCENARIO:?}"; OUT=/share/out/$SCENARIO; mkdir -p "$OUT"; export SCENARIO OUT

# note TEXT: a line in notes.txt stamped with L1's uptime.  No forks: cheap enough while recording.
note() { local u; read -r u _ < /proc/uptime; echo "[$u] $*" >> "$OUT/notes.txt"; echo "[$u] $*"; }
# mark TEXT: a note that is also written to the host's trace (an ftrace:print event), so that the
# notes can be found again in the trace on the trace's own clock.
mark() { echo "$*" > $T/trace_marker 2>/dev/null; note "$*"; }
# run CMD...: note the exact command, run it, keep its output
run() { note "\$ $*"; "$@" > $TMP/run.log 2>&1; local rc=$?; sed 's/^/    /' $TMP/run.log >> "$OUT/notes.txt"; cat $TMP/run.log; return $rc; }

# start_guest NAME CID VCPUS AGENT(0|1) [extra kernel args]
# In the environment: L2_CPU, L2_MEM, L2_DEVICES (of QEMU)
start_guest() {
    local name=$1 cid=$2 vcpus=$3 agent=$4; shift 4
    qemu-system-x86_64 -name guest=$name,debug-threads=on -accel kvm -cpu ${L2_CPU:-host} \
        -M microvm,acpi=on,rtc=on -smp $vcpus -m ${L2_MEM:-160} -nodefaults -no-user-config -display none -no-reboot \
        -kernel $LAB/vmlinuz -initrd $LAB/l2-initrd \
        -append "console=ttyS0 quiet mitigations=off nokaslr name=$name agent=$agent $*" \
        -device vhost-vsock-device,guest-cid=$cid ${L2_DEVICES:-} \
        -serial file:$TMP/$name.console \
        > $TMP/$name.qemu 2>&1 < /dev/null &
    echo $! > $TMP/$name.pid; echo $cid > $TMP/$name.cid
}
# wait_guest NAME: until its shell answers on vsock; then note what there is to know about it
wait_guest() {
    local name=$1 cid=$(cat $TMP/$1.cid) pid=$(cat $TMP/$1.pid) i v
    for i in $(seq 120); do
        [ "$(in_guest $name 'echo ready' 2>/dev/null)" = ready ] && break
        kill -0 $pid 2>/dev/null || i=120
        [ $i = 120 ] && { note "guest $name did not come up"; tail -20 $TMP/$name.console $TMP/$name.qemu; return 1; }
        sleep 1
    done
    note "guest $name: cid $cid, qemu pid $pid; $(tail -1 $TMP/$name.console)"
    for t in /proc/$pid/task/*; do note "    thread ${t##*/} '$(cat $t/comm)'"; done
    for v in /sys/kernel/debug/kvm/$pid-*/vcpu*; do
        note "    ${v##*/}: tid $(cat $v/pid 2>/dev/null), tsc-offset $(cat $v/tsc-offset) (guest tsc = host tsc + offset)"
    done
}
in_guest() { echo "$2" | socat -t 200 - VSOCK-CONNECT:$(cat $TMP/$1.cid):9000; }
# start_sshd NAME: its root answers to "ssh root@NAME" without a password, over vsock
start_sshd()
{
    [ -e ~/.ssh/id_ed25519 ] || { mkdir -p ~/.ssh; ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519; }
    printf 'Host %s\n  ProxyCommand socat -t 5 - VSOCK-CONNECT:%s:22\n  StrictHostKeyChecking no\n' $1 $(cat $TMP/$1.cid) >> ~/.ssh/config
    in_guest $1 "mkdir -p /root/.ssh; chmod 700 /root /root/.ssh; echo '$(cat ~/.ssh/id_ed25519.pub)' > /root/.ssh/authorized_keys"
    run ssh -o BatchMode=yes root@$1 'echo "ssh: $(hostname)"'
}
# L2_DEVICES that let a guest see L1's files; share_host: they are in g1's /host then, where "chroot /host" runs what L1
# has: perf, LTTng, QEMU. What is written goes to the guest's /tmp and /run.
L1_FILES="-fsdev local,id=l1,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-device,fsdev=l1,mount_tag=l1"
share_host() {
    in_guest g1 'for m in $(cat /host.list); do insmod /modules/$m 2>/dev/null; done; mkdir -p /host
        mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro l1 /host || exit
        for d in dev proc sys tmp run; do mount -o rbind /$d /host/$d; done; cp /bin/events /tmp; echo shared' | grep -qx shared ||
        { note "g1 does not see L1's files"; return 1; }
}
# start_nested [extra kernel args]: n1, a guest of g1 (900 MB, after share_host), with one vCPU; in_nested COMMAND
# Its hypercalls are its own hypervisor's, that is g1's, to handle and to record.
start_nested() {
    local i
    mkdir -p /l1; cp $LAB/vmlinuz $LAB/l2-initrd /l1/
    in_guest g1 "chroot /host modprobe kvm_amd || chroot /host modprobe kvm_intel; chroot /host modprobe vhost_vsock
        chroot /host qemu-system-x86_64 -name guest=n1,debug-threads=on -accel kvm -cpu host -M microvm,acpi=on,rtc=on -smp 1 -m 160 \
            -nodefaults -no-user-config -display none -kernel /l1/vmlinuz -initrd /l1/l2-initrd \
            -append 'console=ttyS0 quiet mitigations=off nokaslr name=n1 agent=0 $*' \
            -device vhost-vsock-device,guest-cid=10 -serial file:/tmp/n1.console > /tmp/n1.qemu 2>&1 < /dev/null &"
    for i in $(seq 120); do [ "$(in_nested 'echo ready' 2> /dev/null)" = ready ] && return; sleep 2; done
    note "n1 did not come up"; in_guest g1 'cat /tmp/n1.console /tmp/n1.qemu'; return 1
}
in_nested() {
    in_guest g1 "cat > /tmp/n1.sh <<'END_OF_IT'
$1
END_OF_IT
socat -t 200 - VSOCK-CONNECT:10:9000 < /tmp/n1.sh"
}
# bring_tool: kshark-virt, with its libraries, to /tmp/k; "tool ARGUMENTS" runs it
bring_tool()
{
    mkdir -p /tmp/k/bin /tmp/k/lib
    cp /share/lab/files/kshark-virt /tmp/k/bin/ && cp /share/lab/files/lib*.so* /tmp/k/lib/ ||
        { note "no kshark-virt: scripts/lab-test brings it"; return 1; }
}
tool() { LD_LIBRARY_PATH=/tmp/k/lib /tmp/k/bin/kshark-virt "$@"; }
# tracing_state: what a recorder could leave changed for all who trace. Sizes of buffers are rounded to pages, by the
# kernel: "7 (expanded: 1408)" is as much as 1410
tracing_state()
{
    grep . $T/tracing_on $T/trace_clock $T/set_event
    sed 's/.*expanded: //' $T/buffer_size_kb | awk '{ print int($1 / 16) }'
}
# start_monitored CID [extra QEMU arguments]: web, with 2 vCPUs and a monitor; monitor COMMAND, asks
start_monitored() { local cid=$1; shift; L2_DEVICES="-monitor unix:$TMP/web.mon,server=on,wait=off $*" start_guest web $cid 2 0; }
monitor() { mark "monitor: $*"; echo "$*" | socat -t 60 - UNIX-CONNECT:$TMP/web.mon; mark "monitor: done"; }
# is_in STATE: what web's monitor says of it
is_in() { echo 'info status' | socat -t 60 - UNIX-CONNECT:$TMP/web.mon 2> /dev/null | grep -q $1; }
# save_and_restore: web goes on in another QEMU process
save_and_restore()
{
    monitor "migrate \"exec:cat > $TMP/web.state\"" > /dev/null
    until is_in postmigrate; do sleep 0.05; done
    mark "saved"; monitor quit > /dev/null
    start_monitored 3 "-incoming exec:cat<$TMP/web.state"
    until is_in running; do sleep 0.05; done
    mark "restored"; sleep 0.5
}
stop_guest() { kill $(cat $TMP/$1.pid); wait $(cat $TMP/$1.pid) 2>/dev/null; true; }
# tid NAME VCPU: host thread of a vCPU
tid() { cat /sys/kernel/debug/kvm/$(cat $TMP/$1.pid)-*/vcpu$2/pid; }
# move NAME VCPU CPU: pin a vCPU thread to a host CPU
move() { local t=$(tid $1 $2); mark "move $1 vcpu$2 (tid $t) to host CPU $3"; taskset -pc $3 $t > /dev/null; }

# aggregate, separate: from now on, each hypercall with its exit and entry is one event, synthetic:hypergraph_host; or not
# any more. docs/hypertracing.md describes it.
WHOLE='hypergraph_host u64 nr; u64 a0; u64 a1; u64 a2; u64 a3; u32 vcpu_id; u64 guest_rip; u64 overhead'
WHOLE_EXIT='hist:keys=common_pid:t0=common_timestamp:rip=guest_rip if exit_reason==0x81||exit_reason==18'
WHOLE_CALL='hist:keys=common_pid:n=nr:r0=a0:r1=a1:r2=a2:r3=a3'
WHOLE_ENTRY='hist:keys=common_pid:took=common_timestamp-$t0:onmatch(kvm.kvm_exit).trace(hypergraph_host,kvm.kvm_hypercall.$n,kvm.kvm_hypercall.$r0,kvm.kvm_hypercall.$r1,kvm.kvm_hypercall.$r2,kvm.kvm_hypercall.$r3,vcpu_id,$rip,$took)'
trigger() { echo "$2" > $T/events/kvm/$1/trigger; }
aggregate() { echo "$WHOLE" >> $T/synthetic_events && trigger kvm_exit "$WHOLE_EXIT" && trigger kvm_hypercall "$WHOLE_CALL" && trigger kvm_entry "$WHOLE_ENTRY"; }
separate() { trigger kvm_entry "!$WHOLE_ENTRY"; trigger kvm_hypercall "!$WHOLE_CALL"; trigger kvm_exit "!$WHOLE_EXIT"; echo "!$WHOLE" >> $T/synthetic_events; }

# the host's events in most scenarios
HOST_EVENTS="-e kvm -e sched_switch -e sched_wakeup -e sched_migrate_task -e irq"
GUEST_EVENTS="-e sched -e irq -e timer -e raw_syscalls"

# record ARGS...: trace-cmd record with a time limit and one retry (connecting to a guest hung once in the
# making of this lab). The recorded command comes last in ARGS; files go to $TMP first (9p is slow).
record() {
    local k
    for k in 1 2; do
        run timeout -s INT -k 30 ${LIMIT:-150} trace-cmd record "$@" && return 0
        note "recording failed or timed out (try $k)"; trace-cmd reset > /dev/null 2>&1
    done
    return 1
}
keep() { local f; for f; do cp $TMP/$f "$OUT/" && note "kept $f, $(stat -c %s $TMP/$f) bytes"; done; }
ME=$(readlink -f "$0")
# `bash SCENARIO.sh drive` is the part that runs as trace-cmd's recorded command
case "${1:-}" in drive|guestrec) ;; *) note "scenario $SCENARIO: L1 $(uname -rm), $(nproc) CPUs, kernel command line: $(cat /proc/cmdline)";; esac
