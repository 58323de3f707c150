# SPDX-License-Identifier: LGPL-2.1-or-later
# hypertrace-cost: what it costs a guest to report its events, by hypertrace.ko in all of its ways, and to be traced
# inside by ftrace, perf, LTTng: boots, many task switches and system calls; on the host, in a guest, and in a guest of
# the guest, or PARTS of that. One round: values.csv is a table for "kshark-virt compare --values", of which
# tests/bench/hypertrace makes many
# needs: tracers
. /share/lab/lib.sh
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
V=$OUT/values.csv KVM=/sys/kernel/debug/kvm N=${EVENTS:-4000}
WAYS="none off unheard plain exits aggregated most2 most3 packed ftrace perf lttng"
NESTED_WAYS="none unheard plain packed ftrace"
BOOTS="none ftrace unheard plain exits aggregated packed"

# value RUN METRIC VALUE
value() { echo "$1,$2,$3" >> $V; }
# turn WAYS: in reverse if ROUND is even
turn() { echo $1 | awk -v odd=$((${ROUND:-1} % 2)) '{ for (i = 1; i <= NF; i++) print odd ? $i : $(NF + 1 - i) }'; }

# --- what the host of the guest records ------------------------------------------------------
# host_trace LEVEL WAY: nothing; each call; also the exits and entries around it, which show what the vCPU did; or each
# call with them as one event
CALLS="kvm_exit kvm_hypercall kvm_entry"
host_trace()
{
    local e wanted=
    case $2 in
    plain | most* | packed) wanted=kvm_hypercall;;
    exits) wanted=$CALLS;;
    aggregated) aggregate || return 1; echo 1 > $T/events/synthetic/hypergraph_host/enable;;
    esac
    above "$1" "echo > $T/trace; for e in $wanted; do echo 1 > $T/events/kvm/\$e/enable; done"
}
host_quiet()
{
    above "$1" "for e in $CALLS; do [ ! -e $T/events/kvm ] || echo 0 > $T/events/kvm/\$e/enable; done"
    [ ! -e $T/events/synthetic/hypergraph_host ] || { echo 0 > $T/events/synthetic/hypergraph_host/enable; separate; }
}
# above LEVEL COMMAND: on the host of that level's machine
above() { case $1 in nested) in_guest g1 "$2";; *) bash -c "$2";; esac; }
# the bytes that ftrace has written; lost.txt lists lost events
host_bytes()
{
    above "$1" "PATH=\$PATH:/lab; awk '$LOST' $T/per_cpu/cpu*/stats; events read $T/per_cpu/cpu*/trace_pipe_raw" > $TMP/written
    sed '$d' $TMP/written >> $OUT/lost.txt
    tail -n 1 $TMP/written
}
LOST='/^(overrun|dropped events|commit overrun):/ && $NF { print FILENAME, $0 }'

# --- what goes on inside ---------------------------------------------------------------------
# for the shell inside, with WAY, KIND and N set: prints how many events, ns, bytes that were written inside
GUEST_RUN='T=/sys/kernel/tracing bytes=0
    case $KIND in
    switch) hyper=sched_switch ftrace=sched/sched_switch perf=sched:sched_switch;;
    syscall) hyper=syscalls ftrace="raw_syscalls/sys_enter raw_syscalls/sys_exit" perf=raw_syscalls:sys_enter,raw_syscalls:sys_exit;;
    esac
    hyper() { insmod /modules/hypertrace.ko events=$hyper $*; m=$(events $KIND $N); rmmod hypertrace; }
    case $WAY in
    none) m=$(events $KIND $N);;
    off) hyper enabled=0;;
    unheard | plain | exits | aggregated) hyper mode=plain;;
    most2) hyper most=2;;
    most3) hyper most=3;;
    packed) hyper mode=packed;;
    ftrace) echo > $T/trace; for e in $ftrace; do echo 1 > $T/events/$e/enable; done; m=$(events $KIND $N)
        for e in $ftrace; do echo 0 > $T/events/$e/enable; done
        bytes=$(events read $T/per_cpu/cpu*/trace_pipe_raw);;
    perf) chroot /host perf record -q -a -e $perf -o /tmp/perf.data sh -c "/tmp/events $KIND $N > /tmp/made" > /tmp/perf.log 2>&1
        m=$(cat /tmp/made) bytes=$(stat -c %s /tmp/perf.data);;
    lttng) lttng="chroot /host env HOME=/tmp lttng -n"; case $KIND in switch) what=sched_switch;; *) what="--syscall --all";; esac
        rm -rf /tmp/lttng; $lttng create cost -o /tmp/lttng > /tmp/lttng.log 2>&1; $lttng enable-event -k $what >> /tmp/lttng.log 2>&1
        $lttng start >> /tmp/lttng.log 2>&1; m=$(events $KIND $N); $lttng stop >> /tmp/lttng.log 2>&1
        $lttng destroy >> /tmp/lttng.log 2>&1; bytes=$(find /tmp/lttng -type f | xargs cat | wc -c);;
    esac
    echo $m $bytes'
# measure LEVEL WAY KIND: a value of each metric; the level is in front of it, with a point, if it is not the guest
measure()
{
    local level=$1 way=$2 kind=$3 made ns bytes exits calls written p=${1:+$1.}
    host_trace "$level" $way || { note "$way cannot be recorded"; return 1; }
    exits=$(cat $KVM/exits) calls=$(cat $KVM/hypercalls)
    read -r made ns bytes < <(inside "$level" "WAY=$way KIND=$kind N=$N; { $GUEST_RUN; } < /dev/null" | tail -n 1)
    exits=$(($(cat $KVM/exits) - exits)) calls=$(($(cat $KVM/hypercalls) - calls))
    written=$(host_bytes "$level")
    host_quiet "$level"
    [ "${made:-0}" -gt 0 ] || { inside "$level" "cat /tmp/$way.log"; note "$way $kind ${level:-guest}: nothing was made"; return 1; }
    per_event() { value $way "$p${kind}_$1" $(awk "BEGIN { printf \"%.4f\", $2 / $made }"); }
    per_event ns $ns
    [ "$level" != host ] || return 0
    per_event exits $exits
    per_event calls $calls
    per_event inner_bytes $bytes
    per_event host_bytes $written
}
inside()
{
    case $1 in
    '') in_guest g1 "$2";;
    nested) in_nested "$2";;
    host) PATH=$PATH:/lab bash -c "$2";;
    esac
}

# --- boots: from QEMU's begin to its end, which is when the guest is through -------------------
boot()
{
    local way=$1 cost=$1 begin end events=0 up written
    case $way in unheard | exits | aggregated) cost=plain;; esac
    host_trace '' $way || return 1
    begin=$(date +%s%N)
    start_guest b1 5 2 0 cost=$cost reboot=t
    wait $(cat $TMP/b1.pid)
    end=$(date +%s%N)
    written=$(host_bytes '')
    host_quiet ''
    read -r events up < <(sed -n 's/\r//; s/^BOOT [^ ]* //p' $TMP/b1.console)
    [ -n "$up" ] || { note "boot $way: it has not come up"; tail -n 5 $TMP/b1.console; return 1; }
    value $way boot_ms $(((end - begin) / 1000000))
    value $way boot_events $events
    value $way boot_host_bytes $written
}

# --- the parts ---------------------------------------------------------------------------------
start_tracers()
{
    # perf looks at all modules that there are, which takes minutes over 9p
    in_guest g1 'echo 16000 > /sys/kernel/tracing/buffer_size_kb; mkdir -p /run/lttng; mount -t tmpfs none /host/lib/modules/$(uname -r)/kernel
        (chroot /host lttng-sessiond -d > /tmp/sessiond.log 2>&1); sleep 2; cat /tmp/sessiond.log; chroot /host sh -c "perf --version; lttng --version"' >> $OUT/notes.txt
}
echo run,metric,value > $V
echo 16000 > $T/buffer_size_kb
for part in ${PARTS:-boots guest nested}; do
    case $part in
    boots) for way in $(turn "$BOOTS"); do boot $way || exit 1; done; continue;;
    esac
    L2_MEM=900 L2_DEVICES=$L1_FILES start_guest g1 3 2 0; wait_guest g1 && share_host || exit 1
    case $part in
    guest) start_tracers
        for kind in switch syscall; do
            for way in none ftrace; do measure host $way $kind || exit 1; done
            for way in $(turn "$WAYS"); do measure "" $way $kind || exit 1; done
        done;;
    nested) start_nested || exit 1
        for kind in switch syscall; do for way in $(turn "$NESTED_WAYS"); do measure nested $way $kind || exit 1; done; done;;
    esac
    note "$part is done"; stop_guest g1
done
