# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-cgroups: the tasks of a guest web (2 vCPUs on one pCPU) in cgroups: /web and /db, of which one is made while it is
# recorded; tasks enter them, are made in them, and one is moved from /web to /db while it is executed. Its own trace
# has cgroup_attach_task, the host's shows what time they really had
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    in_guest web '/bin/sh /tmp/drive.sh'
    exit
fi
start_guest web 3 2 1
wait_guest web || exit 1
in_guest web 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && mkdir /sys/fs/cgroup/web && cat > /tmp/drive.sh <<"END_OF_IT"
. /work.sh
C=/sys/fs/cgroup
mark "begin cgroups"
# enters by itself; what it makes is in it
sh -c "echo \$\$ > /sys/fs/cgroup/web/cgroup.procs; . /work.sh; loop 20000; for k in 1 2 3; do usleep 5000; done; cat /proc/self/cgroup > /tmp/in-web" &
mkdir $C/db
sh -c "echo \$\$ > /sys/fs/cgroup/db/cgroup.procs; . /work.sh; loop 20000; cat /proc/self/cgroup > /tmp/in-db" &
# is moved by another task while it goes on
sh -c ". /work.sh; loop 60000" & moved=$!
usleep 50000; echo $moved > $C/web/cgroup.procs
usleep 300000; echo $moved > $C/db/cgroup.procs
wait
mark "end cgroups"
END_OF_IT
ls /sys/fs/cgroup' >> $OUT/notes.txt
for v in 0 1; do taskset -pc 2 $(tid web $v) > /dev/null; done
# the tables of symbols would be 1 MB of each trace
: > $TMP/empty; mount --bind $TMP/empty /proc/kallsyms
in_guest web ': > /tmp/empty; mount --bind /tmp/empty /proc/kallsyms'
cd $TMP
record -o kvm-cgroups.dat --tsync-interval 1000 -e kvm_entry -e kvm_exit -e sched_switch -e sched_wakeup -e sched_waking \
    -A web@3:823 -e cgroup -e sched_switch -e sched_wakeup_new -e sched_waking bash $ME drive || exit 1
in_guest web 'cat /tmp/in-web /tmp/in-db' >> $OUT/notes.txt
keep kvm-cgroups.dat kvm-cgroups-web.dat
stop_guest web; umount /proc/kallsyms
