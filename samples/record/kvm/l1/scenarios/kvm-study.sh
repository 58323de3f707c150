# SPDX-License-Identifier: LGPL-2.1-or-later
# kvm-study: "kshark-virt study" of a guest: exits and bytes with tracing of the host, of the guest, of both, and of
# neither; docs/overhead-study.md has the results, and says what to bring along.
. /share/lab/lib.sh
bring_tool || exit 1
start_guest g1 3 2 0; wait_guest g1 || exit 1
start_sshd g1 || exit 1
in_guest g1 'mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm'
cd $TMP
cat > plan.json <<'END'
{
  "benchmarks": [
    { "name": "hackbench", "where": "g1", "format": "hackbench", "command": ["hackbench", "-g", "2", "-f", "10", "-l", "200"] },
    { "name": "cyclictest", "where": "g1", "format": "cyclictest", "metric": "*.avg",
      "command": ["cyclictest", "-q", "-m", "-p", "80", "-i", "2000", "-l", "1500"] }
  ],
  "configurations": ["none", "events", "events@guest", "events@both"],
  "guests": ["g1=ssh:root@g1"],
  "rounds": 6, "max_rounds": 6, "warm_up": 1, "seed": 45, "max_seconds": 3000, "buffer_bytes": 4194304
}
END
tool study -o $OUT/study ${ROUNDS:+--rounds $ROUNDS --max-rounds $ROUNDS} plan.json 2>&1 | tee -a $OUT/notes.txt
# on a busy machine, an emulated guest may not answer in time
for k in 1 2 3 4; do
    [ ! -e $OUT/study/results.csv ] && [ -e $OUT/study/plan.json ] || break
    tool study --resume $OUT/study 2>&1 | tee -a $OUT/notes.txt
done
stop_guest g1
# PDF needs a library that is not brought along
[ -e $OUT/study/results.csv ]
