# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-talk: two guests that talk: web sends db a line, through a relay on the host (vhost, vsock), and waits for
# its answer, twelve times; db's other vCPU is busy. The chain of wake-ups crosses both guests and the host.
. /share/lab/lib.sh
if [ "$1" = drive ]; then
    mark "host: talk"
    in_guest db "taskset 2 sh -c '. /work.sh; loop 60000' > /dev/null 2>&1 < /dev/null &"
    in_guest web "$(cat <<'END'
cat > /tmp/ask.sh <<'ASK'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo "begin ask $i" > /sys/kernel/tracing/trace_marker
    echo $i; read answer
    echo "end ask $i" > /sys/kernel/tracing/trace_marker
    usleep 20000
done
ASK
socat EXEC:"sh /tmp/ask.sh" VSOCK-CONNECT:2:9100
END
)"
    mark "host: end"
    exit
fi
start_guest web 3 2 1; wait_guest web || exit 1
start_guest db 4 2 1;  wait_guest db || exit 1
in_guest db "socat VSOCK-LISTEN:9001,fork EXEC:cat > /dev/null 2>&1 < /dev/null &"
socat VSOCK-LISTEN:9100,fork VSOCK-CONNECT:4:9001 & relay=$!
cd $TMP
record -o trace.dat --tsync-interval 1000 $HOST_EVENTS -e sched_waking \
    -A web@3:823 -e sched -e irq -A db@4:823 -e sched -e irq bash $ME drive || exit 1
keep trace.dat trace-web.dat trace-db.dat
kill $relay
stop_guest web; stop_guest db
