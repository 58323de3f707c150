# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-memory: memvmm (LAB_FILES), whose guest touches pages: 24 of each kind. Two disks of L1 (L1_DEVICES) do 25 reads a
# second each: the first one has the files, the second one is swapped to; tests/golden/memory_truth.py compares
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    echo $$ > /sys/fs/cgroup/vm/cgroup.procs
    run $LAB/files/memvmm /dev/vdb 20000
    exit
fi
mount -t cgroup2 none /sys/fs/cgroup; echo +memory > /sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/vm
mkswap /dev/vdc; swapon /dev/vdc; echo 0 > /proc/sys/vm/page-cluster; echo 1 > /proc/sys/vm/drop_caches
# the table of symbols would be 1 MB of the trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
cd $TMP
record -o memory.dat -C local -e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_userspace_exit -e kvm:kvm_page_fault \
    -e kvm:kvm_mmio -e kvm:kvm_pio -e kvm:kvm_try_async_get_page -e kvm:kvm_vcpu_wakeup -e kvmmmu:fast_page_fault \
    -e sched_switch -e sched_waking -e sched_wakeup -e sched_migrate_task -e filemap:mm_filemap_add_to_page_cache \
    -e block:block_bio_queue -e block:block_rq_issue -e block:block_rq_complete -e kmem:mm_page_alloc \
    -e syscalls:sys_enter_ioctl -e syscalls:sys_exit_ioctl bash $ME drive || exit 1
keep memory.dat
umount /proc/kallsyms; swapoff /dev/vdc
