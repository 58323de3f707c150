# SPDX-License-Identifier: LGPL-2.1-or-later
# What tests of "report --disks" and "report --locks" share, after lib.sh. PAGE is disks or locks; the folder is $WORK.

ORACLE=$GOLDEN/$PAGE.py
cp "$SAMPLES/host-$PAGE.dat" "$WORK"
cd "$WORK" || exit 1

# page ARGUMENT...: in page.json and page.csv; the laws hold
page()
{
	run report -q "--$PAGE" --format csv "$@"
	status 0
	cp "$OUT" page.csv
	run report -q "--$PAGE" --format json "$@"
	status 0
	cp "$OUT" page.json
	check "laws: $*" python3 "$ORACLE" laws page.json page.csv > n
}

# check_recount LEAST CPU: the sample, recounted from trace-cmd's text, of more than LEAST; the same with records of a
# CPU missing in the middle
check_recount()
{
	local from to

	command -v trace-cmd > /dev/null || return 0
	page "host-$PAGE.dat"
	trace-cmd report -R -t "host-$PAGE.dat" > text 2> said
	check "recounted" python3 "$ORACLE" text page.json text > n
	check "there were enough" test "$(cat n)" -gt "$1"
	trace-cmd convert -i "host-$PAGE.dat" -o v6.dat --file-version 6 --compression none > said 2>&1
	python3 "$GOLDEN/buffer_loss.py" v6.dat lost.dat z44 "$2" 7 > gap
	trace-cmd report -R -t lost.dat > text 2> said
	page lost.dat
	read -r from to < gap
	check "recounted with a gap" python3 "$ORACLE" text page.json text "$from" "$to" > n
}

# check_windows: windows side by side; page.json is the whole sample afterwards
check_windows()
{
	local begin end

	page "host-$PAGE.dat"
	read -r begin end < <(sed -n 's/.*"window_ns": \[\(.*\), \(.*\)\].*/\1 \2/p' page.json)
	for i in 0 1 2 3; do
		run report -q "--$PAGE" --format json --from $((begin + (end - begin) * i / 4))ns \
			--to $((begin + (end - begin) * (i + 1) / 4))ns "host-$PAGE.dat"
		status 0
		cp "$OUT" "part$i.json"
	done
	check "windows add up" python3 "$ORACLE" sums page.json part?.json > n
}

# check_unknown TEXT: a trace without such events is unknown, and not 0; text has TEXT
check_unknown()
{
	for trace in kvm-host.dat credit2-basic.xen; do
		run report -q "--$PAGE" --format json "$SAMPLES/$trace"
		status 0
		check "$trace: unknown" python3 - "$OUT" << 'END'
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
assert {trace[key] for key in trace if key != "trace"} == {None}, trace
END
		run report -q "--$PAGE" "$SAMPLES/$trace"
		says "$OUT" "$1"
	done
}

# check_machine KEY VALUE...: rows of the sample's machine alone: one with these values, and one of its vCPU's thread
check_machine()
{
	run report -q "--$PAGE" --format json --vcpu g1 "host-$PAGE.dat"
	status 0
	check "tasks of the machine alone" python3 - "$OUT" "$@" << 'END'
import json, sys
trace = json.load(open(sys.argv[1]))["traces"][0]
assert [row["name"].rsplit("-")[0] for row in trace["tasks"]] == ["CPU 0/KVM"], trace["tasks"]
keys, values = ["machine"] + sys.argv[2::2], ["g1"] + sys.argv[3::2]
assert [[str(row[key]) for key in keys] for row in trace["machines"]] == [values], trace["machines"]
END
}
