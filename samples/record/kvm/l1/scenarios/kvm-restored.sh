# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-restored: a guest web (2 vCPUs) that traces itself is saved to a file, and restored from it by another QEMU
# process, or with PARTS=live in the environment, migrated to that while it runs; it works in turns on both vCPUs all
# the time. Its own trace goes on where it was, as its TSC does; both traces count cycles. The host's sidecar
# states which process goes on in place of which.
. /share/lab/lib.sh
# machine PID [CONTINUES]: a machine as the kernel shows it, for the sidecar
machine()
{
    local v
    printf '{ "name": "web", "pid": %d,%s "vcpus": [' $1 "${2:+ \"continues\": $2,}"
    for v in 0 1; do
        cd /sys/kernel/debug/kvm/$1-*/vcpu$v
        printf '%s { "id": %d, "tid": %d, "tsc_offset": "0x%x" }' "${comma:-}" $v $(cat pid) $(cat tsc-offset)
        comma=,
    done
    cd $TMP; printf ' ] }'
}
if [ "$1" = drive ]; then
    sleep 0.4
    if [ "${PARTS:-}" = live ]; then
        # the other one is there already, and gets all while this one runs
        mv $TMP/web.pid $TMP/source.pid
        L2_DEVICES="-monitor unix:$TMP/target.mon,server=on,wait=off -incoming unix:$TMP/web.migration" start_guest web 5 2 0
        until [ -S $TMP/web.migration ]; do sleep 0.05; done
        monitor "migrate -d unix:$TMP/web.migration" > /dev/null
        until is_in postmigrate; do sleep 0.05; done
        mark "migrated"; sleep 0.5; kill $(cat $TMP/source.pid)
        exit
    fi
    save_and_restore
    exit
fi
start_monitored 3; wait_guest web || exit 1
in_guest web ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms; cd /sys/kernel/tracing; echo 0 > tracing_on
for c in 1 2; do taskset $c sh -c "while :; do i=0; while [ \$i -lt 200 ]; do i=\$((i+1)); done; usleep 15000; done" > /dev/null 2>&1 & done
echo x86-tsc > trace_clock; echo 2000 > buffer_size_kb
for e in sched_switch sched_waking; do echo 1 > events/sched/$e/enable; done
echo 1 > tracing_on' > /dev/null
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
first=$(cat web.pid) before=$(machine $(cat web.pid))
record -o host.dat -C x86-tsc -e kvm_entry -e kvm_exit -e kvm_userspace_exit -e kvm_fpu -e kvm_write_tsc_offset \
    -e sched_switch -e sched_wakeup bash $ME drive || exit 1
khz=$(dmesg | sed -n 's/.*tsc: .* \([0-9]*\)\.\([0-9]\{3\}\) MHz.*/\1\2/p' | tail -n 1)
echo "{ \"cpu_khz\": ${khz:-0}, \"guests\": [ $before, $(machine $(cat web.pid) $first) ] }" > host.dat.meta.json
wait_guest web
in_guest web 'echo 0 > /sys/kernel/tracing/tracing_on; cd /tmp; trace-cmd extract -o web.dat > /dev/null 2>&1; cat web.dat' > web.dat
keep host.dat host.dat.meta.json web.dat
stop_guest web; umount /proc/kallsyms
