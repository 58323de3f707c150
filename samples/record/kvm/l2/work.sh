#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# work.sh PHASE...: the guest's workload, in phases; each is bracketed by trace markers ("begin X" / "end X").
mark() { echo "$*" > /sys/kernel/tracing/trace_marker 2>/dev/null; }
loop() { i=0; while [ $i -lt $1 ]; do i=$((i+1)); done; }      # CPU-bound: about 1 s per 100000 here
for p; do
    mark "begin $p"
    case $p in
    busy0) taskset 1 sh -c ". /work.sh; loop 60000";;              # vCPU 0 busy
    busy1) taskset 2 sh -c ". /work.sh; loop 60000";;              # vCPU 1 busy
    both)  taskset 1 sh -c ". /work.sh; loop 60000" & taskset 2 sh -c ". /work.sh; loop 60000"; wait;;
    long)  taskset 1 sh -c ". /work.sh; loop ${N:-600000}" & taskset 2 sh -c ". /work.sh; loop ${N:-600000}"; wait;;
    sleep) for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do usleep 30000; done;;      # halts and wake-ups
    ipc)   hackbench -g 1 -f 2 -l 40 > /dev/null;;                 # 4 tasks, socket ping-pong
    timer) taskset 2 sh -c 'for k in $(seq 40); do usleep 20000; done';;   # halts and wake-ups on vCPU 1
    disk)  taskset 2 dd if=/dev/vda of=/dev/null bs=4k count=40 iflag=direct;;  # waits for each read
    ipi)   mkfifo /tmp/a /tmp/b                                     # a task on each vCPU waits for the other's
           taskset 1 sh -c 'exec 4< /tmp/a 3> /tmp/b; while read x <&4; do echo $x >&3; done' &
           taskset 2 sh -c 'exec 3> /tmp/a 4< /tmp/b; for k in $(seq 100); do echo $k >&3; read x <&4; done'
           wait; rm /tmp/a /tmp/b;;
    fork)  for k in 1 2 3 4 5 6 7 8; do /bin/busybox true; done;;
    bench) taskset 1 sh -c ". /work.sh; loop 40000"; hackbench -g 1 -f 4 -l 100 > /dev/null;;   # kvm-baseline's fixed work
    esac
    mark "end $p"
done
