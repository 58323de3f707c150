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
start_guest() {
    local name=$1 cid=$2 vcpus=$3 agent=$4; shift 4
    qemu-system-x86_64 -name guest=$name,debug-threads=on -accel kvm -cpu ${L2_CPU:-host} \
        -M microvm,acpi=on,rtc=on -smp $vcpus -m ${L2_MEM:-160} -nodefaults -no-user-config -display none -no-reboot \
        -kernel $LAB/vmlinuz -initrd $LAB/l2-initrd \
        -append "console=ttyS0 quiet mitigations=off nokaslr name=$name agent=$agent $*" \
        -device vhost-vsock-device,guest-cid=$cid \
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
stop_guest() { kill $(cat $TMP/$1.pid); wait $(cat $TMP/$1.pid) 2>/dev/null; true; }
# tid NAME VCPU: host thread of a vCPU
tid() { cat /sys/kernel/debug/kvm/$(cat $TMP/$1.pid)-*/vcpu$2/pid; }
# move NAME VCPU CPU: pin a vCPU thread to a host CPU
move() { local t=$(tid $1 $2); mark "move $1 vcpu$2 (tid $t) to host CPU $3"; taskset -pc $3 $t > /dev/null; }

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
