#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# oracles.sh DIR: for every .dat in DIR, what trace-cmd (3.1.6, on this machine) says about it, gzipped:
#   NAME.report.gz   trace-cmd report            NAME.options.txt  trace-cmd dump --summary --options
#   check.txt  share of guest events between kvm_entry and kvm_exit of their vCPU (see check.py)
#   truth.txt  kvm-nosync, kvm-ptp: the offset that host and guest events themselves demand (see offset_fit.py)
#   NAME.events.csv  count per event             together.report.gz  host and guest(s) in one report (time sync applied)
set -uo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
cd "${1:?usage: oracles.sh DIR}"
for f in *.dat; do
    [ -e "$f" ] || continue     # studies have none
    n=${f%.dat}
    trace-cmd dump --summary --options -i "$f" > "$n.options.txt" 2>&1
    trace-cmd report -t -i "$f" 2> "$n.report.err" > "$n.report"        # -t: full (nanosecond) timestamps
    awk 'NR>1 && match($0, /\] *[0-9]+(\.[0-9]+)?: +[a-z_A-Z0-9]+:/) {s=substr($0,RSTART,RLENGTH); sub(/:$/,"",s); sub(/^.*: +/,"",s); c[s]++}
         END {for (e in c) print c[e] "," e}' "$n.report" | sort -rn > "$n.events.csv"
    gzip -9f "$n.report"; [ -s "$n.report.err" ] || rm "$n.report.err"
done
host=$(ls trace.dat both.dat 2>/dev/null | head -1)
if [ -n "$host" ]; then
    g=$(ls "${host%.dat}"-*.dat 2>/dev/null)
    [ -n "$g" ] && trace-cmd report -t -i $host $(for x in $g; do echo -i $x; done) 2>/dev/null | gzip -9 > together.report.gz
    [ -n "$g" ] && python3 "$HERE/check.py" . > /dev/null               # -> check.txt
fi
# a guest reported by hypercalls what its own ftrace recorded
case $(basename "$PWD") in hypertrace)
    for f in *-g1.dat; do echo "$f"; python3 "$HERE/hypertrace.py" "${f%-g1.dat}.dat" "$f"; done > check.txt;;
hypertrace-nested)
    for mode in plain packed; do echo "$mode-n1.dat"; python3 "$HERE/hypertrace.py" "$mode-g1.dat" "$mode-n1.dat" 1; done > check.txt;;
esac
# what the offset really is, from the events alone: for the recordings whose metadata does not say (exactly)
map=$(sed -n 's/.* \(vcpu\)\([0-9]*\): tid \([0-9]*\),.*/\2=\3/p' notes.txt 2>/dev/null | paste -sd,)
case $(basename "$PWD") in
kvm-nosync)
    { echo "# host = guest + offset; unit TSC cycles"; python3 "$HERE/offset_fit.py" host-x86-tsc.report.gz guest-x86-tsc.report.gz $map
      echo "tsc-offset, negated: $(sed -n 's/.*tsc-offset -\([0-9]*\).*/\1/p' notes.txt | head -1)"
      echo "# unit ns"; python3 "$HERE/offset_fit.py" host-mono.report.gz guest-mono.report.gz $map
      awk '!/#/{w=$3-$1; if(!m||w<m){m=w;a=$1-$2-0.01;b=$3-$2}} END{printf "from mono-offset.txt: %.0f .. %.0f\n",a*1e9,b*1e9}' mono-offset.txt; } > truth.txt;;
kvm-ptp)
    trace-cmd report -t --raw-ts -i trace-g1.dat 2>/dev/null | gzip -9 > trace-g1.raw-ts.report.gz
    { echo "# host = raw guest + offset, ns: one offset for the whole recording, to compare with the TimeShift samples"
      python3 "$HERE/offset_fit.py" trace.report.gz trace-g1.raw-ts.report.gz $map; } > truth.txt;;
esac
true
