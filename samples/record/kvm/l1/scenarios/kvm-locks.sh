# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-locks: two tasks of a guest web, one per vCPU, take the same locks in turn: a spinlock and a mutex of the module
# kvmhc, and the lock of a file that both write. A task of the host is busy on the pCPU of vCPU 0, which loses it now and
# then while its task has a lock. The guest's own trace has the waits
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    taskset -c 2 sh -c 'while :; do :; done' & burner=$!
    in_guest web '/bin/sh /tmp/drive.sh'
    kill $burner
    exit
fi
start_guest web 3 2 1
wait_guest web || exit 1
in_guest web 'cat > /tmp/drive.sh <<"END_OF_IT"
. /work.sh
# both COMMAND: on both vCPUs at once
both() { taskset 1 sh -c "$1" & taskset 2 sh -c "$1"; wait; }
for what in spin mutex; do
    mark "begin $what"
    both "for k in 1 2 3 4 5 6 7 8 9 10; do echo $what 4 > /proc/kvmhc; done"
    mark "end $what"
done
mark "begin file"
both "for k in 1 2 3 4 5; do dd if=/dev/zero of=/tmp/file bs=2M count=1 conv=notrunc 2> /dev/null; done"
mark "end file"
END_OF_IT
dd if=/dev/zero of=/tmp/file bs=2M count=1; ls -l /proc/kvmhc' >> $OUT/notes.txt
taskset -pc 2 $(tid web 0) > /dev/null; taskset -pc 3 $(tid web 1) > /dev/null
# the tables of symbols would be 1 MB of each trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
in_guest web ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms'
cd $TMP
record -o kvm-locks.dat --tsync-interval 1000 -e kvm_entry -e kvm_exit -e sched_switch -e sched_wakeup -e sched_waking \
    -A web@3:823 -e lock:contention_begin -e lock:contention_end -e sched_switch -e sched_wakeup_new -e sched_waking bash $ME drive ||
    exit 1
keep kvm-locks.dat kvm-locks-web.dat
stop_guest web; umount /proc/kallsyms
