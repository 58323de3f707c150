# SPDX-License-Identifier: LGPL-2.1-or-later
# What the scenarios do in the emulated host: files go to /out.
T=/sys/kernel/tracing
tool() { /lab/files/kshark-virt "$@"; }
# run COMMAND...: its output goes to notes.txt, after the command itself
run() { echo "\$ $*" >> /out/notes.txt; "$@" >> /out/notes.txt 2>&1; }
# what a recorder could leave changed for all who trace
tracing_state() { grep . $T/tracing_on $T/trace_clock $T/set_event; ls $T/instances; }
# start NAME ROUNDS: a machine that has stopped after its first round; its process is in $machine
start() {
    machine -name "$@" > /tmp/"$1".txt & machine=$!
    until grep -q '^State:.T' /proc/$machine/status; do [ -d /proc/$machine ] || return 1; sleep 0.1; done
}
# record_host ROUNDS: the vCPUs of a machine and a busy task share CPU 1. web works for ROUNDS; then web and db for a time
record_host() {
    echo "$(uname -rm), $(nproc) CPUs, $(grep -m 1 -E '^(model name|CPU part)' /proc/cpuinfo)" > /out/notes.txt
    run tool --version
    # 10 MB of names of functions would be in each trace
    : > /tmp/kallsyms; mount -o bind /tmp/kallsyms /proc/kallsyms
    taskset 2 sh -c 'while :; do :; done' & burner=$!
    tracing_state > /out/before.txt
    start web "$1" || return
    echo "kill -CONT $machine; while grep -qs '^State:.[^Z]' /proc/$machine/status; do sleep 0.1; done" > /tmp/web.sh
    run tool record --events full -o /out/command -- sh /tmp/web.sh || return
    mv /tmp/web.txt /out/machine.txt
    start web 1000000 && web=$machine || return
    start db 1000000 && db=$machine || return
    kill -CONT $web $db
    run tool record -d 1 -o /out/timed || return
    kill $web $db $burner
    tracing_state > /out/after.txt
    run tool self-test
    echo "self-test: $?" >> /out/notes.txt
}
