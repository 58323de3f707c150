# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What QEMU traced of itself: a stream beside its host's, on the host's axis; and alone.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_virt.sh"
. "$(dirname "$0")/lib_combo.sh"

# check_rows ROWS [SIDECAR]: of the list; they are the log's lines, where SIDECAR puts them
check_rows()
{
	python3 - "$log" "$@" <<'END'
import json, re, sys
at, offset, drift, names = 0, 0, 0, {}
if len(sys.argv) > 3:
    alignment = json.load(open(sys.argv[3]))["alignment"]
    at, offset, drift = (alignment[key] for key in ("at", "offset", "drift_ppm"))
    # as the host's trace calls its threads
    names = {str(one["thread"]): one["name"] for one in alignment["threads"]}
    if "IO disks" not in names.values():
        sys.exit("no iothread of that name among %s" % names)
wanted = []
for line in open(sys.argv[1]):
    found = re.match(r"(\d+)@(\d+)\.(\d{6}):(\w+) ?(.*)", line)
    if found:
        pid, seconds, micros, event, info = found.groups()
        time = int(seconds) * 10**9 + int(micros) * 1000
        wanted.append((time + offset + drift * (time - at) / 1e6, pid, event, info.rstrip()))
wanted.sort(key=lambda row: row[0])
shown = [line.rstrip("\n").split("\t") for line in open(sys.argv[2])]
# the list shows microseconds
times = [float(row[1]) * 1e9 for row in shown]
start = 0 if len(sys.argv) > 3 else wanted[0][0] - times[0]
if len(shown) != len(wanted) or len(shown) < 500:
    sys.exit("%d rows of %d events" % (len(shown), len(wanted)))
for row, time, (ns, *words) in zip(shown, times, wanted):
    if abs(ns - start - time) > 3000 or row[0] != "0" or [row[3], row[4], row[5].rstrip()] != words:
        sys.exit("%s is not %s at %d" % (row, words, ns))
    if names.get(row[3], row[2]) != row[2]:
        sys.exit("%s is not %s" % (row, names[row[3]]))
END
}

gui_init
cp "$KSV_SOURCE_DIR"/samples/recording-qemu/{host.dat,host.dat.meta.json,web.log} "$GUI_DIR"
host=$GUI_DIR/host.dat log=$GUI_DIR/web.log
"$KSV_BIN" align -q --write "$host" "$log" >"$GUI_DIR/aligned" || gui_fail "cannot be aligned"

combo_view "$host" "$log"
gui_ask "rows 0 $(gui_ask count)" | sed 's/^ *//' >"$GUI_DIR/all"
cut -f 4 "$GUI_DIR/all" | sort -c -n || gui_fail "the list is not in order of time"
grep '^1	' "$GUI_DIR/all" | cut -f 3- | sed 's/^/-\t/' | gui_strip >"$GUI_DIR/shown"
check_rows "$GUI_DIR/shown" "$log.meta.json" || gui_fail "the stream is not the log"
# it is no machine of the host
gui_need gui_not grep -q 'clock is wrong\|not recorded together\|is unknown which' "$GUI_LOG"
gui_shot beside
gui_quit

# alone, and not aligned
rm "$log.meta.json"
GUI_PROGRAM=("$KSV_BIN" view)
gui_run "$log"
gui_loaded "$log"
gui_list 0 "$(gui_ask count)" >"$GUI_DIR/shown"
check_rows "$GUI_DIR/shown" || gui_fail "the list is not the log"
gui_shot alone
gui_quit
