# SPDX-License-Identifier: LGPL-2.1-or-later
# A recording whose guest has a damaged trace: the numbers of its host alone, and a warning.
. "$(dirname "$0")/lib.sh"
some_plugins
export KERNELSHARK=kernelshark

cd "$WORK" || exit 1
if ! command -v trace-cmd > tool; then
	echo "no trace-cmd"
	exit 77
fi
for name in kvm-nested kvm-nested-g1; do
	trace-cmd convert --file-version 7 --compression none -i "$SAMPLES/$name.dat" -o $name.dat > said 2>&1
done

# recording NAME [GUEST]: a folder of that name, with a file that is said to be a guest's trace
recording()
{
	mkdir -p "$1"
	cp kvm-nested.dat "$1/host.dat"
	[ -z "${2:-}" ] || cp "$2" "$1/web.dat"
	printf '{ "recording_version": 1, "hypervisor": "kvm", "state": "complete", "guests": [],\n' > "$1/recording.json"
	printf '  "files": [ { "name": "host.dat", "role": "host" }%s ] }\n' \
	       "${2:+, { \"name\": \"web.dat\", \"role\": \"guest\", \"guest\": \"web\" \}}" >> "$1/recording.json"
}

# damaged in its records, so that libtracecmd crashes later than when it opens the file
python3 "$GOLDEN/trace_dat_edit.py" kvm-nested-g1.dat crash.dat 'put(cpu(1) + 3 * 4096 + 8, 0x7ffffff, 8); \
	put(cpu(1) + 3 * 4096 + 16, 29 | 1 << 5); put(cpu(1) + 3 * 4096 + 20, 0x7000000)'
head -c 5000 kvm-nested-g1.dat > short.dat
: > empty.dat
head -c 50000 /dev/zero > zeros.dat
recording alone
recording sound kvm-nested-g1.dat
run report -qfjson sound
cp "$OUT" sound.json

# kind, and a word of the reason
for case in "crash crashes" "short cut" "empty not" "zeros not"; do
	kind=${case% *}
	recording $kind $kind.dat
	for command in "report --full" "report -f json" "report -f csv" "report --tasks" "why --worst 3" \
		       "why -f json --worst 3" "check --max steal=1%" "dump -f csv" "plot -f csv" \
		       "top -f json --interval 100ms" "diff -f json --at 50%" "split --from 50% -o part" \
		       "export -f csv-tables -o tables" "export -f perfetto -o trace" view\ -n; do
		for folder in alone $kind; do
			rm -rf part part.meta.json tables trace
			run $command $folder
			# only the report of several hosts is a list of them
			sed "s|$folder/|F/|g" "$OUT" > $folder.out
			[ ! -e tables ] || tail -n +1 tables/[!s]*.csv | sed "s|$folder/|F/|g" >> $folder.out
			# the folder was made before the guest was read
			[ ! -d part ] || mv part/host.dat alike
			[ ! -f part ] || mv part alike
			[ ! -f alike ] || cat alike >> $folder.out
			rm -f alike
			[ $folder = $kind ] || alone_status=$STATUS
		done
		status "$alone_status"
		case $command in
		"report -f json"|"why -f json"*)
			check "$command, $kind: the numbers of the host, and a warning" python3 -c '
import json, sys
alone, found = (json.load(open(name)) for name in sys.argv[1:3])
found, = found.get("reports", [found])
warnings = [warning["text"] for warning in found.pop("warnings")]
before = [warning["text"] for warning in alone.pop("warnings", [])]
assert found == alone and warnings[1:] == before and warnings[0].startswith(
    "F/web.dat: the trace of guest web is skipped: "), warnings' alone.out $kind.out
			;;
		*)
			check "$command, $kind: the numbers of the host" cmp alone.out $kind.out
			;;
		esac
		# commands that look only at hosts do not open it
		case $command in
		check*|plot*|top*|diff*) ;;
		view*) says "$ERR" "$kind/web.dat: " ;;
		*) says "$ERR" "$kind/web.dat: the trace of guest web is skipped: " ;;
		esac
	done
	run report $kind/host.dat $kind/web.dat
	status 3
	run report $kind
	status 0
	says "$OUT" "web.dat: the trace of guest web is skipped"
	run align $kind
	status 3
done
# one bit, by which times are out of the reach of a search for the right vCPUs: a clock that is wrong
python3 -c '
import sys
data = bytearray(open(sys.argv[1], "rb").read())
assert data[9501] == 117
data[9501] ^= 32
open("far.dat", "wb").write(data)' "$SAMPLES/kvm-nested-g1.dat"
recording far far.dat
for files in far "far/host.dat far/web.dat"; do
	run report -f json $files
	status 0
	says "$OUT" "the guest's clock is not aligned with the host's"
done
run report -qfjson alone
check "a sound guest has more" test "$(wc -c < sound.json)" -gt "$(wc -c < "$OUT")"
finish
