# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-moved: a guest web (2 vCPUs) is migrated live from one emulated host to another one, over a network between them,
# while it writes to its memory; "kshark-virt record" records both. Both wall clocks are set by an exchange like NTP's.
# PARTS in the environment: plain, or throttled: it writes more than the network can carry, and QEMU slows it down
# (auto-converge). notes.txt has QEMU's own figures of it, and how far the clocks are apart before and after
# needs: peer
. /share/lab/lib.sh
SOURCE=10.0.0.1 TARGET=10.0.0.2
modprobe virtio_net
for dev in /sys/class/net/e*; do dev=${dev##*/}; done
[ "$ROLE" = source ] && me=$SOURCE || me=$TARGET
ip addr add $me/24 dev $dev; ip link set $dev up; ip link set lo up; hostname $ROLE
CLOCKS="python3 /share/lab/clocks.py"
$CLOCKS serve 9001 &
bring_tool || exit 1
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
EVENTS=${EVENTS:-kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_fpu,kvm:kvm_userspace_exit,kvm:kvm_page_fault,kvm:kvm_mmio,kvm:kvm_vcpu_wakeup,kvm:kvm_write_tsc_offset,kvm:kvm_try_async_get_page,sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_waking,sched:sched_migrate_task,kvmmmu:fast_page_fault,filemap:mm_filemap_add_to_page_cache,block:block_bio_queue,block:block_rq_issue,block:block_rq_complete,kmem:mm_page_alloc,syscalls:sys_enter_ioctl,syscalls:sys_exit_ioctl}
# begin_recording NAME; end_recording
begin_recording()
{
    mkfifo $TMP/end; cd $TMP
    tool record --guest web=none -b 24M -o $1 -e "$EVENTS" -- bash -c "read < $TMP/end" > $TMP/record.log 2>&1 & recorder=$!
    for i in $(seq 300); do grep -q 'recording into' $TMP/record.log && return; sleep 0.2; done
    cat $TMP/record.log; return 1
}
end_recording() { echo > $TMP/end; wait $recorder; cat $TMP/record.log >> "$OUT/notes.txt"; }
# qmp NAME: what QEMU says by itself, with its time stamps
qmp()
{
    until [ -S $TMP/$1.qmp ]; do sleep 0.05; done
    { echo '{"execute":"qmp_capabilities"}'; echo '{"execute":"migrate-set-capabilities","arguments":{"capabilities":[{"capability":"events","state":true}]}}'; sleep 1000; } |
        socat - UNIX-CONNECT:$TMP/$1.qmp > "$TMP/$1.qmp.log" &
}
QMP="-qmp unix:$TMP/web.qmp,server=on,wait=off"

if [ "$ROLE" = target ]; then
    start_monitored 3 "$QMP -incoming tcp:0.0.0.0:4444"; qmp web
    # what the source asks for, one after the other
    while :; do
        word=$(socat -u TCP-LISTEN:9000,reuseaddr -)
        case $word in
        clock) note "clock set; source's clock ahead, ns, lowest and highest: $($CLOCKS compare $SOURCE 9001 set)";;
        record) begin_recording target; note "recording";;
        save) end_recording; cp -r $TMP/target $OUT/; cp $TMP/web.qmp.log $OUT/target.qmp.log
            echo 'info migrate' | socat -t 5 - UNIX-CONNECT:$TMP/web.mon > $OUT/target.info.txt; note "$(in_guest web 'cat /proc/uptime')";;
        end) break;;
        esac
        # only one answer for each
        echo $word | socat -u - TCP-LISTEN:9002,reuseaddr
    done
    exit
fi

# on_target WORD: it has done so
on_target()
{
    until echo $1 | socat -u - TCP:$TARGET:9000 2> /dev/null; do sleep 0.5; done
    [ $1 = end ] || until socat -u TCP:$TARGET:9002 - 2> /dev/null | grep -q $1; do sleep 0.2; done
}
hmp() { echo "$*" | socat -t 20 - UNIX-CONNECT:$TMP/web.mon; }
start_monitored 3 "$QMP"; qmp web; wait_guest web || exit 1
# vCPU 0 writes to its memory again and again, vCPU 1 works in turns
case ${PARTS:=plain} in
plain) pause="usleep 20000" blocks=240 limit=4000 bandwidth=40M;;
throttled) pause=true blocks=160 limit=300 bandwidth=3M;;
esac
in_guest web "cat > /tmp/load.sh <<'END_OF_IT'
taskset 1 sh -c 'while :; do dd if=/dev/zero of=/tmp/f bs=64k count=$blocks conv=notrunc; $pause; done' &
taskset 2 sh -c 'while :; do i=0; while [ \$i -lt 200 ]; do i=\$((i+1)); done; usleep 15000; done' &
END_OF_IT
setsid sh /tmp/load.sh > /dev/null 2>&1 < /dev/null &
" > /dev/null &
sleep 3
hmp "migrate_set_capability return-path on" > /dev/null
hmp "migrate_set_parameter downtime-limit $limit" > /dev/null
hmp "migrate_set_parameter max-bandwidth ${BANDWIDTH:-$bandwidth}" > /dev/null
[ $PARTS = plain ] || { hmp "migrate_set_capability auto-converge on"; hmp "migrate_set_parameter throttle-trigger-threshold 10"; hmp "migrate_set_parameter cpu-throttle-initial 40"; hmp "migrate_set_parameter cpu-throttle-increment 20"; } > /dev/null
on_target clock; $CLOCKS reference
note "target's clock ahead, ns, lowest and highest: $($CLOCKS compare $TARGET 9001)"
on_target record
begin_recording source || exit 1
note "recording"; sleep ${BEFORE:-1.5}
mark "migrate"; hmp "migrate -d tcp:$TARGET:4444" > /dev/null
for i in $(seq 400); do
    hmp 'info migrate' | grep -E 'Migration status: (completed|failed)' && break
    [ $((i % 5)) != 0 ] || note "$(hmp 'info migrate' | tr -d '\r' | grep -E 'dirty pages rate|throttle|remaining' | paste -sd ';')"
    sleep 0.2
done
mark "migrated"; sleep ${AFTER:-2}
end_recording
on_target save
note "target's clock ahead, ns, lowest and highest: $($CLOCKS compare $TARGET 9001)"
hmp 'info migrate' > $OUT/source.info.txt; cp $TMP/web.qmp.log $OUT/source.qmp.log
cp -r $TMP/source $OUT/
stop_guest web
on_target end
