# SPDX-License-Identifier: LGPL-2.1-or-later
# align of a monitor's log, and what view does with it.
. "$(dirname "$0")/lib.sh"
cp -r "$SAMPLES/recording-qemu" "$WORK/folder"
cd "$WORK/folder" || exit 1

run align host.dat web.log
status 0
golden t204_text "$OUT"
check "nothing is stored" test ! -e web.log.meta.json
echo '{ "mine": true }' > web.log.meta.json
for log in web db; do
	run align --quiet --write --format json host.dat $log.log
	status 0
	cp "$OUT" $log.json
	check "$log is stored as it is printed" python3 - $log << 'END'
import json, sys
printed, stored = (json.load(open(sys.argv[1] + end)) for end in (".json", ".log.meta.json"))
alignment = stored["alignment"]
assert not printed["refused"] and printed["interval"][0] <= printed["offset"] <= printed["interval"][1]
assert {k: printed[k] for k in ("offset", "at", "unit", "source", "machine")} == \
    {k: alignment[k] for k in ("offset", "at", "unit", "source", "machine")}, (printed, alignment)
assert alignment["host"] == "host.dat" and len(alignment["threads"]) >= 3
assert stored.get("mine", True)
moment = json.load(open("host.dat.meta.json"))["moment"]
assert printed["offset"] == moment["trace_ns"] - moment["realtime_ns"]
END
done
check "its other contents are kept" grep -q mine web.log.meta.json

# by causality, if the clock was set; and not at all, if nothing fits
sed -E 's/@17955/@18955/' web.log > set.log
run align --write host.dat set.log
status 0
says "$OUT" "source      causality"
awk -F@ '{ srand(NR); split($2, t, ":"); printf "%s@%.6f%s\n", $1, t[1] + rand() * 3, substr($2, length(t[1]) + 1) }' \
	web.log > random.log
run align --write host.dat random.log
status 1
says "$OUT" "refused: no offset explains the events of its vCPUs"
check "nothing is stored of it" test ! -e random.log.meta.json
run align --machine web host.dat web.log
status 2
run align host.dat host.dat.meta.json
status 3

# in KernelShark, it is a stream beside its host's; without an alignment, there is a note
some_plugins
: > "$WORK/plugins/plugin-qemu.so"
run view --dry-run host.dat web.log
status 0
says "$OUT" "plugin-qemu.so"
says "$OUT" "web.log"
check "there is nothing to say" test ! -s "$ERR"
run view --dry-run host.dat random.log
status 0
says "$ERR" "random.log: is not aligned with its host"
# a name that KernelShark would take for another file's
cp web.log q.dat
run view --dry-run host.dat q.dat
status 0
says "$ERR" "q.dat: opened as"
says "$OUT" ".qemu"
finish
