#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# 30-oracle.sh SCENARIO_OUT_DIR
# Runs Xen's own reader over trace.xen and keeps its answers next to it:
#   oracle-dump-all.txt.gz  oracle-summary.txt.gz  oracle-scatterplot-pcpu.txt.gz
#   oracle-scatterplot-runstate.txt.gz  oracle-dump-raw-reads.txt.gz
#   oracle-complaints.txt   what xenalyze said on stderr beyond its usual chatter
# xenalyze assumes VMX and exits on the first SVM exit code it does not know: --svm-mode. From Xen 4.19
# on, events show which of both it is, and there is no such option.
# Its clock is coarse: it keeps (hz << 10) / 1e9 as an integer, so its seconds are off by up
# to 1/2355 at 2.3 GHz (84 ppm too long here): exact times must come from the raw TSCs.
# Without --cpu-hz it assumes 2.4 GHz: the option gets the MHz that Xen detected.
set -euo pipefail
HERE=$(dirname "$(realpath "$0")")
D=$(realpath "${1:?}"); cd "$D"
X=$(command -v xenalyze || echo /usr/sbin/xenalyze)
SVM=(); ! "$X" --help 2>&1 | grep -q -e --svm-mode || SVM=(--svm-mode)
KHZ=$(awk '/^cpu_mhz/{printf "%d", $3*1000; exit}' notes.txt); KHZ=${KHZ:-2300000}
one() { # NAME OPTIONS...
    local n=$1; shift
    "$X" "${SVM[@]}" --cpu-hz "${KHZ}000" "$@" trace.xen > "o.$n" 2> "e.$n" || echo "xenalyze $* : exit $?" >> "e.$n"
    gzip -6nc "o.$n" > "oracle-$n.txt.gz"; gzip -9nc "e.$n" > "oracle-$n.stderr.txt.gz"
}
one dump-all --dump-all
one summary --summary
one scatterplot-pcpu --scatterplot-pcpu
one scatterplot-runstate --scatterplot-runstate
one dump-raw-reads --dump-no-processing
{ echo "xenalyze ${SVM[*]} --cpu-hz ${KHZ}000 (Xen detected $KHZ kHz)"
  echo "raw-read lines (cpu-change records may repeat; exact count: 40-index.py): $(grep -cE '^R p' o.dump-raw-reads || true)"
  echo "lines of --dump-all: $(wc -l < o.dump-all)"
  echo "TRC_LOST_RECORDS records (0x1f001): $(awk '$1=="R" && $5=="1f001"' o.dump-raw-reads | wc -l)"
  for n in dump-all summary scatterplot-pcpu; do
      echo "--- $n: stderr lines other than the usual start-up/end chatter"
      grep -vE 'scan_for_new_pcpu|^Creating (vcpu|domain)|init_pcpus|^Using (VMX|SVM)|read returned zero|^deactivate_pcpu|Using first_tsc' "e.$n" | sort | uniq -c | sort -rn | head -20 || true
  done; } > oracle-complaints.txt
rm -f o.* e.*
# ftrace files, if any, through trace-cmd of the lab's own dom0 tree (timestamps: raw TSC)
ROOT=$(realpath "$D/../../build/rootfs" 2>/dev/null || true)
for f in *-trace.dat; do
    [ -s "$f" ] && [ -x "$ROOT/usr/bin/trace-cmd" ] || continue
    cp "$f" "$ROOT/tmp/oracle.dat"
    chroot "$ROOT" trace-cmd report -t /tmp/oracle.dat 2>/dev/null | gzip -9nc > "oracle-${f%.dat}-report.txt.gz" || true
    rm -f "$ROOT/tmp/oracle.dat"
    echo "$f: $(zcat "oracle-${f%.dat}-report.txt.gz" | wc -l) lines of trace-cmd report -t" >> oracle-complaints.txt
done
cat oracle-complaints.txt
# a domain reported by hypercalls what its own ftrace recorded
[ ! -s guest.txt ] || python3 "$HERE/../kvm/hypertrace.py" trace.xen guest.txt | tee check.txt || true
