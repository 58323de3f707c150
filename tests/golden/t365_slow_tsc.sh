# SPDX-License-Identifier: LGPL-2.1-or-later
# A TSC of 1 GHz or slower: its cycles are converted by a factor that libtracecmd takes for a negative one. Times are the
# cycles of trace-cmd's raw report, as long as the file says; and "record" chooses another clock.
. "$(dirname "$0")/lib.sh"
. "$GOLDEN/record_lib.sh"

# 50 MHz: 20 ns
for sample in kvm-host kvm-quota; do
	cp "$SAMPLES/$sample".dat* .
	[ ! -e "$sample.dat.gz" ] || gzip -d "$sample.dat.gz"
	python3 "$GOLDEN/trace_dat_edit.py" "$sample.dat" slow.dat 'struct.pack_into("<II", d, find(14), 0xa0000000, 27)'
	trace-cmd report -t --raw-ts slow.dat 2> /dev/null |
		sed -nE 's/^ .*-[0-9]+ +\[0*([0-9]+)\] *([^ 0-9][^ ]{4} *)?([0-9]+)\.?([0-9]*): +([a-z_0-9]+):.*/\1 \3\4 \5/p' |
		awk '{ printf "%d %.0f %s\n", $1, $2 * 20, $3 }' > expected
	run dump -q slow.dat
	status 0
	sed -nE 's/^host .* \[0*([0-9]+)\] +([0-9]+)\.([0-9]+) +\S+ +[^:]*: +([a-z_0-9]+):.*/\1 \2\3 \4/p' "$OUT" |
		awk '{ printf "%d %.0f %s\n", $1, $2, $3 }' > found
	check "$sample: there are records" test "$(wc -l < expected)" -gt 1000
	check "$sample: times are 20 ns a cycle" cmp <(sort expected) <(sort found)
done

kvm_host
echo '2684354560 27' > "$KSHARK_VIRT_ROOT/perf_tsc"
run record -d 0.1 -o slow
status 0
says "$ERR" "the TSC runs at 1 GHz or slower"
is "$(json slow/recording.json 'j["files"][0]["clock"]')" mono
echo '1342177280 27' > "$KSHARK_VIRT_ROOT/perf_tsc"
run record -d 0.1 -o fast
status 0
is "$(json fast/recording.json 'j["files"][0]["clock"]')" x86-tsc
finish
