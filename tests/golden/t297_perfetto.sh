# SPDX-License-Identifier: LGPL-2.1-or-later
# export --format perfetto: host and guests as machines, on one axis; questions in SQL to it, by a decoder of our own that
# enforces the rules of Perfetto's importer, and where it is at hand by Perfetto's trace_processor_shell.
. "$(dirname "$0")/lib.sh"

if ! command -v protoc > /dev/null; then
	echo "protoc is missing (Debian: apt-get install protobuf-compiler)"
	exit 77
fi

# What trace-cmd prints of each trace is all that there is of that machine.
run export -q -f perfetto -o "$WORK/pftrace" "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
status 0
if command -v trace-cmd > /dev/null; then
	trace-cmd report -t -R -i "$SAMPLES/kvm-host.dat" > "$WORK/host" 2> /dev/null
	trace-cmd report -t -R -i "$SAMPLES/kvm-guest.dat" > "$WORK/guest" 2> /dev/null
	check "records and their fields are those of trace-cmd" python3 "$GOLDEN/perfetto_records.py" "$WORK/pftrace" \
		"host=$WORK/host" "g1=$WORK/guest" > "$WORK/counted"
	read -r of_host of_guest < "$WORK/counted"
	check "there are many fields ($of_host, $of_guest)" test "$of_host" -ge 100000 -a "$of_guest" -ge 20000
fi

# Of a guest whose clock is not the host's, no record is on the axis; of vCPUs that are not wanted, none either.
export PYTHONPATH=$GOLDEN
machines() # EXPECTED ARGUMENT...
{
	local expected=$1
	shift
	run export -q -f perfetto -o "$WORK/machines" "$@"
	status 0
	check "$* has $expected" test "$(python3 -c 'import sys, perfetto_trace
print(*(name for name, in perfetto_trace.read(sys.argv[1]).execute(
    "SELECT DISTINCT name FROM machine JOIN cpu ON machine_id = id ORDER BY 1")))' "$WORK/machines")" = "$expected"
}
cp "$SAMPLES"/kvm-nosync{,-g1}.dat "$WORK"
run align --write "$WORK/kvm-nosync.dat" "$WORK/kvm-nosync-g1.dat"
status 0
machines "g1 host" "$WORK/kvm-nosync.dat" "$WORK/kvm-nosync-g1.dat"
# an offset that is wrong by half a second
sed -i -E 's/("offset": 397)3/\18/' "$WORK/kvm-nosync-g1.dat.meta.json"
machines host "$WORK/kvm-nosync.dat" "$WORK/kvm-nosync-g1.dat"
machines "g1 host n1" "$SAMPLES/kvm-nested-linux.dat" "$SAMPLES"/kvm-nested-linux-{g1,n1}.dat
machines "g1 host" --vcpu g1v0 "$SAMPLES/kvm-nested-linux.dat" "$SAMPLES"/kvm-nested-linux-{g1,n1}.dat

# Questions; of Xen's guest, with its clock.
mkdir "$WORK/samples"
ln -s "$SAMPLES"/{kvm-host.dat,kvm-guest.dat,recording-kvm,credit2-basic.xen,hvm-io.xen,lost-records.xen} \
	"$WORK/samples"
cp "$SAMPLES"/domU.xen.{gz,meta.json} "$SAMPLES/domU-ftrace.dat" "$WORK/samples"
run align --write "$WORK/samples/domU.xen.gz" "$WORK/samples/domU-ftrace.dat"
python3 "$GOLDEN/perfetto_queries.py" "$KSV_BIN" "$WORK/samples" "$WORK" > "$WORK/right" ||
	fail "not all answers are right"
check "many answers are right" test "$(cat "$WORK/right")" -ge 18
processor=${KSV_TRACE_PROCESSOR:-$(command -v trace_processor_shell)}
if [ -n "$processor" ]; then
	check "trace_processor_shell has the same answers" test "$(python3 "$GOLDEN/perfetto_queries.py" "$KSV_BIN" \
		"$WORK/samples" "$WORK" "$processor")" = "$(cat "$WORK/right")"
else
	echo "trace_processor_shell is not at hand: only our own decoder was asked"
fi

finish
