# SPDX-License-Identifier: LGPL-2.1-or-later
# compare: another governor, or another mean frequency, is named: it may be why values differ.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

make() { python3 "$KSV_SOURCE_DIR/tests/golden/power_files.py" kvm make "$@"; }
# governors FILE NAME...: those of its sidecar
governors()
{
	python3 - "$@" << 'END'
import json
import sys

path = sys.argv[1] + ".meta.json"
meta = json.load(open(path))
meta["governors"] = sys.argv[2:]
json.dump(meta, open(path, "w"))
END
}
# said FILE FILE: the sentences on conditions, in the text and in JSON
said()
{
	run compare --quiet --statistic mean --metric 'g1.exits_per_s' "$1" "$2"
	grep 'this alone may explain' "$OUT" > "$WORK/text"
	run compare --quiet --statistic mean --metric 'g1.exits_per_s' --format json "$1" "$2"
	python3 -c 'import json, sys
for one in json.load(open(sys.argv[1]))["conditions"]:
    for sentence in one["confounders"]:
        print(sentence.replace("\n", "\\x0a"))' "$OUT" > "$WORK/json"
	check "$1, $2: text and JSON say the same" cmp "$WORK/text" "$WORK/json"
	cat "$WORK/text" >> "$WORK/said"
	echo "--- $1, $2" >> "$WORK/said"
}
make slow.dat
make same.dat 1.04
make fast.dat 1.5
make both.dat
make other.dat
make unknown.dat
governors slow.dat schedutil
governors fast.dat schedutil
governors both.dat powersave schedutil
governors other.dat $'perfor\nmance'
said slow.dat same.dat
said slow.dat fast.dat
said slow.dat both.dat
said slow.dat other.dat
said slow.dat unknown.dat
said slow.dat "$SAMPLES/kvm-host.dat"
golden t135_conditions "$WORK/said"

# the mean is the report's
run compare --quiet --format json slow.dat fast.dat
cp "$OUT" compared.json
run report --quiet --power --format json fast.dat
check "as report has it" python3 - compared.json "$OUT" << 'END'
import json
import sys

compared, report = (json.load(open(path)) for path in sys.argv[1:])
speed = report["vcpus"][0]["frequency"]
conditions = {one["run"]: one for one in compared["conditions"]}
assert abs(conditions["fast.dat"]["mean_khz"] - speed["mean_khz"]) < 1, (conditions, speed)
assert conditions["slow.dat"]["governors"] == conditions["fast.dat"]["governors"] == ["schedutil"]
END
finish
