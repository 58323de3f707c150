# SPDX-License-Identifier: LGPL-2.1-or-later
# lib.sh: helpers for the job that runs inside dom0. Everything lands in /out.
OUT=/out
NOTES=$OUT/notes.txt
CFG=/tmp/cfg; mkdir -p $CFG
TRACE=$OUT/trace.xen

# note TEXT: one time-stamped line. The TSC is the one xentrace records carry
# (a PV dom0 reads the host's TSC directly).
note() { echo "[$(labload tsc)] $*" | tee -a $NOTES; }
# raw CMD...: the command and its output, into the notes
raw() { { echo "\$ $*"; "$@" 2>&1; echo; } >> $NOTES; }

# mkdom NAME TYPE VCPUS WORK [extra config lines...]
#   TYPE pv|pvh; WORK as in guest/domu-init (lab=...)
mkdom() {
    local name=$1 type=$2 vcpus=$3 work=$4; shift 4
    {   echo "name=\"$name\""
        echo "type=\"$type\""
        echo "kernel=\"/lab/vmlinux\""
        echo "ramdisk=\"${RAMDISK:-/lab/domu.initrd}\""
        echo "memory=${MEM:-96}"
        echo "vcpus=$vcpus"
        echo "on_crash=\"preserve\""
        echo "extra=\"console=hvc0 quiet loglevel=4 rdinit=/init mitigations=off $work\""
        for l in "$@"; do echo "$l"; done
    } > $CFG/$name.cfg
    { echo "--- $name.cfg"; cat $CFG/$name.cfg; echo; } >> $NOTES
}
conlog() { echo /var/log/xen/console/guest-$1.log; }
# create NAME: xl create; wait_ready NAME...: until the domU's init says READY
create() {
    note "xl create $1"
    xl -v create $CFG/$1.cfg > $OUT/xl-create-$1.log 2>&1; local rc=$?
    note "xl create $1 rc=$rc domid=$(xl domid $1 2>/dev/null)"
    [ $rc = 0 ] || { cat $OUT/xl-create-$1.log; exit 1; }
}
# go NAME...: ask the domUs (over their consoles) to start their loads
go() { local d; for d in "$@"; do echo go > $(xenstore-read /local/domain/$(xl domid $d)/console/tty); note "go $d"; done; }
wait_ready() {
    local d i
    for d in "$@"; do
        for i in $(seq 1 300); do grep -aq READY $(conlog $d) 2>/dev/null && break; sleep 0.5; done
        grep -aq READY $(conlog $d) && note "$d READY" || { note "$d NOT READY"; tail -5 $(conlog $d); }
    done
}
state() { # state LABEL
    echo "===== state: $1" >> $NOTES; note "state $1"
    raw xl list; raw xl vcpu-list
}
host_facts() {
    echo "===== host" >> $NOTES
    raw cat /proc/version; raw xl info
    echo "\$ xl dmesg | grep -iE 'mhz|tsc|detected|command line|scheduler|runqueue|virtualis|HVM|platform timer'" >> $NOTES
    xl dmesg | grep -iE 'mhz|tsc|detected|command line|sched|runqueue|virtualis|HVM|platform timer|clock' >> $NOTES
    echo >> $NOTES
    xl dmesg > $OUT/xl-dmesg.txt
}
# tsc_info LABEL: Xen's own view of every domain's TSC ('s' debug key)
tsc_info() {
    echo "===== xl debug-keys s ($1)" >> $NOTES
    local before=$(xl dmesg | wc -l)
    xl debug-keys s; sleep 0.5
    xl dmesg | tail -n +$((before+1)) >> $NOTES; echo >> $NOTES
}
# meta_start, meta_stop: record facts from Xen beside xentrace (20-boot.sh, LAB_FILES)
meta_start() {
    MT=; [ -x ./kshark-virt-xen-meta ] || return 0
    LD_LIBRARY_PATH=. ./kshark-virt-xen-meta -w -o $TRACE.meta.json 2>> $OUT/xen-meta.log & MT=$!
    local i; for i in $(seq 1 100); do [ -s $TRACE.meta.json ] && break; sleep 0.1; done
    note "xen-meta begins"
}
meta_stop() {
    [ -n "$MT" ] || return 0
    kill -TERM $MT; wait $MT; note "xen-meta ended rc=$?"; raw cat $OUT/xen-meta.log
}
# trace_start SECONDS [xentrace args]; then trace_wait
trace_start() {
    local secs=$1; shift
    meta_start
    echo "===== xentrace -D -T $secs $* $TRACE" >> $NOTES
    note "xentrace start"
    xentrace -D -T $secs "$@" $TRACE > $OUT/xentrace.log 2>&1 &
    XT=$!
}
trace_wait() { wait $XT; local rc=$?; meta_stop; note "xentrace ended rc=$rc size=$(stat -c %s $TRACE 2>/dev/null)"; raw cat $OUT/xentrace.log; }
# trace_stop: end a running xentrace now (SIGINT: it writes what is left and disables tracing)
trace_stop() { note "xentrace stop"; kill -INT $XT; trace_wait; }
# wait_console NAME TEXT SECONDS
wait_console() { local i; for i in $(seq 1 $3); do grep -aq "$2" $(conlog $1) && return 0; sleep 1; done; note "timeout waiting for '$2' on $1"; return 1; }
# dom0_ftrace_start / _stop: trace-cmd in dom0 on the TSC clock -> /out/dom0-trace.dat
dom0_ftrace_start() {
    note "dom0 trace-cmd start"
    stdbuf -oL trace-cmd record -C x86-tsc -b 8192 -e sched -e irq -e xen -o $OUT/dom0-trace.dat > $OUT/trace-cmd.log 2>&1 & TC=$!
    local i; for i in $(seq 1 120); do grep -q Hit $OUT/trace-cmd.log && break; sleep 0.5; done
    note "dom0 trace-cmd recording: $(cat /sys/kernel/tracing/trace_clock), tracing_on=$(cat /sys/kernel/tracing/tracing_on)"
}
dom0_ftrace_stop() {
    note "dom0 trace-cmd stop"; kill -INT $TC; wait $TC; note "dom0 trace-cmd ended rc=$?"; raw cat $OUT/trace-cmd.log
}
# vmcb_info: the TSC offset of every HVM/PVH vCPU, from Xen's VMCB dump ('v' debug key)
vmcb_info() {
    echo "===== xl debug-keys v (VMCBs: guest TSC = host TSC + tsc_offset)" >> $NOTES
    xl dmesg -c >/dev/null; xl debug-keys v; sleep 1; xl dmesg > $OUT/vmcb.txt
    grep -iE 'domain|vcpu|tsc' $OUT/vmcb.txt >> $NOTES; echo >> $NOTES
}
# dom0_work: about a second of file and process work in dom0
dom0_work() { note "dom0 work begin"; ls -lR /usr/share/doc/xen* /usr/share/doc/lib* > /dev/null; cat /usr/bin/x* > /dev/null; note "dom0 work end"; }
# hypertrace_job TYPE: what a domain of it reports by hypercalls, and what its own ftrace has of the same. Each of its vCPUs
# has a pCPU for itself, so that it is known whose each record is.
hypertrace_job() {
    RAMDISK=/lab/domu-ft.initrd MEM=160 mkdom ht $1 2 "lab=mix:1000:49000 labht=${MODE:-packed}" 'tsc_mode="native"' 'cpus=["2","3"]'
    create ht; wait_ready ht
    state before; tsc_info before
    go ht; wait_console ht 'HYPERTRACE .* ready' 60 || { tail $(conlog ht); return 1; }
    # runstates, exits, hypercalls of PV guests, and what guests say
    trace_start 300 -S 1024 -e 0x082a1000
    sleep 2; go ht
    wait_console ht 'HYPERTRACE sent' 200; trace_stop
    cp $(conlog ht) $OUT/domU-console.log
    sed -n '/=====BEGIN-BASE64/,/=====END-BASE64/p' $OUT/domU-console.log | tr -d '\r' | grep -v ===== | base64 -d | gunzip > $OUT/guest.txt
    grep -aE 'DOMU\[|clocksource|hypertrace|^[0-9] ' $OUT/domU-console.log >> $NOTES
    state after; destroy_all
}
destroy_all() { local d; for d in $(xl list | awk 'NR>1 && $2>0{print $1}'); do xl destroy $d; done; }
