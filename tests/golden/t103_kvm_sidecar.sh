# SPDX-License-Identifier: LGPL-2.1-or-later
# The sidecar of a KVM host's trace: names of guests, which thread is which vCPU, and their clocks.
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1

# vcpu ID TID [MORE]: of a guest
vcpu()
{
	printf '{ "id": %d, "tid": %d%s }' "$1" "$2" "${3:+, $3}"
}

# sidecar TRACE [NAME VCPUS]...: write a sidecar of these guests
sidecar()
{
	local trace=$1 list=

	shift
	while [ $# -gt 0 ]; do
		list="$list${list:+, }{ \"name\": \"$1\", \"vcpus\": [ $2 ] }"
		shift 2
	done
	echo "{ \"guests\": [ $list ] }" > "$trace.meta.json"
}

# who FILE...: names of machines and vCPUs, and their threads, of the first host
who()
{
	run report -q --format json "$@"
	status 0
	python3 - "$OUT" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
report = report.get("reports", [report])[0]
print("; ".join("%s %s" % (machine["machine"], ", ".join("%s=%s" % (vcpu["vcpu"], vcpu["tid"])
                for vcpu in machine["vcpus"])) for machine in report["machines"]))
END
}

# Names, in the place of those that trace-cmd has, and with the guest's own trace.
cp "$SAMPLES/kvm-host.dat" host.dat
cp "$SAMPLES/kvm-guest.dat" guest.dat
check "as trace-cmd has recorded" test "$(who host.dat)" = "g1 g1v0=3414, g1v1=3415"
sidecar host.dat web "$(vcpu 0 3414), $(vcpu 1 3415)" db "$(vcpu 0 77)"
check "as the sidecar says" \
	test "$(who host.dat guest.dat)" = "g1:web web v0=3414, web v1=3415; g2:db db v0=77"
run report --full host.dat guest.dat
says "$OUT" "g1:web: 2 vCPUs"
check "nothing to say" test ! -s "$ERR"
sidecar host.dat 'w\u001b[31m\"' "$(vcpu 0 3414), $(vcpu 1 3415)"
run report --full host.dat
says "$OUT" 'g1:w\x1b[31m": 2 vCPUs'
sidecar host.dat web "$(vcpu 0 3414), $(vcpu 1 3415)"
run plot --by pcpu host.dat
says "$OUT" "g1:web"
cp "$SAMPLES/kvm-shared.dat" other.dat
run compare --metric '*.guest_percent' --format csv host.dat other.dat
says "$OUT" "g1:web.guest_percent"
run align --machine web -q host.dat guest.dat
status 0
says "$OUT" "web v0 (3414)"
run align --machine db -q host.dat guest.dat
status 2
says "$ERR" '--machine db: host.dat has no such machine; it has g1:web'

# Without trace-cmd's map: which vCPU a thread is, where it can but be guessed, and whose.
check "guessed" test "$(who other.dat)" = "g1 g1v0=2394, g1v1=2395"
sidecar other.dat web "$(vcpu 1 2394), $(vcpu 0 2395)"
check "the other way round" test "$(who other.dat)" = "g1:web web v0=2395, web v1=2394"
sidecar other.dat web "$(vcpu 3 2394)" db "$(vcpu 0 2395)"
check "of two machines" test "$(who other.dat)" = "g1:web web v3=2394; g2:db db v0=2395"
sidecar other.dat web "$(vcpu 0 2394)"
check "one of them is in it" test "$(who other.dat)" = "g1:web web v0=2394; g2 g2v1=2395"

# Clocks: the pair, taken for cycles, as both files have been recorded by mono.
for part in "" -g1; do
	python3 - "$SAMPLES/kvm-nosync$part.dat" "tsc$part.dat" << 'END'
import sys
data = open(sys.argv[1], "rb").read()
old = b"[mono] mono_raw boot tai x86-tsc\n"
assert data.count(old) == 1
open(sys.argv[2], "wb").write(data.replace(old, b"mono mono_raw boot tai [x86-tsc]\n"))
END
done
# tsc OFFSET [MORE]: both vCPUs have this one
tsc()
{
	sidecar tsc.dat web "$(vcpu 0 1013 "\"tsc_offset\": $1${2:+, $2}"),
		$(vcpu 1 1014 "\"tsc_offset\": $1${2:+, $2}")"
}

# aligned KEY: of the result as JSON
aligned()
{
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$OUT" "$1"
}
run align --format json tsc.dat tsc-g1.dat
status 0
check "without a sidecar" test "$(aligned source)" = causality
tsc '"0xffffffa37dda1157"'
run align --format json --write tsc.dat tsc-g1.dat
status 0
check "the sidecar's" test "$(aligned source) $(aligned offset)" = "sidecar 397320515241"
check "all explained" test "$(aligned explained_percent) $(aligned drift_ppm)" = "100.0 0.0"
run report --full --cpu-hz 1G tsc.dat tsc-g1.dat
status 0
check "used by report" test ! -s "$ERR"
says "$OUT" "g1:web: 2 vCPUs"
# a sidecar that says how long a cycle is
sed -i 's/^{/{ "cpu_khz": 1000000,/' tsc.dat.meta.json
cp "$OUT" with_hz
run report --full tsc.dat tsc-g1.dat
status 0
same with_hz "$OUT"
check "no message asks for --cpu-hz" test ! -s "$ERR"
# what contradicts it is refused, with both numbers; what rounds it is not
run report --full --cpu-hz 1.1G tsc.dat
status 3
says "$ERR" "tsc.dat: --cpu-hz or XEN_CPUHZ is 1100.000000 MHz"
says "$ERR" "its TSC has 1000.000000 MHz (sidecar)"
run report --full --cpu-hz 1001M tsc.dat
status 0
# both count ns, by factors that they contain: the same clock, by the same factor
for part in "" -g1; do
	python3 "$GOLDEN/trace_dat_edit.py" "tsc$part.dat" "scaled$part.dat" '
old, at = options(), len(d)
d += struct.pack("<HHIQHIIIQHIQ", 0, 0, 0, 36, 14, 16, 827194131, 31, 0, 0, 8, old)
put(link(), at, 8)'
done
cp tsc.dat.meta.json scaled.dat.meta.json
run align --format json scaled.dat scaled-g1.dat
status 0
check "the sidecar's, in ns" test "$(aligned source) $(aligned offset) $(aligned unit)" = \
	"sidecar 153044796703 ns"
check "all explained" test "$(aligned explained_percent) $(aligned drift_ppm)" = "100.0 0.0"
# one that is wrong is judged by the events, as any other
tsc -397320715241
run align --format json tsc.dat tsc-g1.dat
status 0
check "200 us beside it" test "$(aligned source)" = causality
run align --format json --source sidecar tsc.dat tsc-g1.dat
status 1
check "it was judged" test "$(aligned offset) $(aligned refused)" = "397320715241 True"
# with a ratio, to the cycle
tsc 2000000000000000001 '"tsc_ratio": 12884901888, "tsc_ratio_frac_bits": 32'
run align --format json --source sidecar tsc.dat tsc-g1.dat
status 1
check "a third, exactly: $(aligned offset)" test "$(aligned offset)" = -666666666666666667
check "and the drift: $(aligned drift_ppm)" test "$(aligned drift_ppm)" = -666666.666667
# vCPUs whose clocks differ have each its own
sidecar tsc.dat web "$(vcpu 0 1013 '"tsc_offset": "0xffffffa37dda1157"'),
	$(vcpu 1 1014 '"tsc_offset": "0xffffffa37dda1140"')"
run align --format json tsc.dat tsc-g1.dat
status 0
check "each its own" test "$(aligned source) $(aligned offset) $(aligned steps)" = \
	"sidecar 397320515241 [{'guest_cpu': 1, 'offset': 397320515264, 'back': False}]"
run align tsc.dat tsc-g1.dat
says "$OUT" "  CPU 1       +397320515264 cycles instead"
check "nothing to say" test ! -s "$ERR"
sidecar tsc.dat web "$(vcpu 0 1013 '"tsc_offset": "0xffffffa37dda1157"'),
	$(vcpu 1 1014 '"tsc_offset": "0xffffffa37e000000"')"
run align --format json tsc.dat tsc-g1.dat
status 0
check "which does not fit" test "$(aligned source)" = causality
says "$ERR" "tsc-g1.dat: g1:web: the TSC offset of vCPU 1 differs by +2485929 cycles from that of vCPU 0, according to "
says "$ERR" "the sidecar of the host's trace: this is not used, because the events do not fit it"
sidecar tsc.dat web "$(vcpu 0 1013 '"tsc_offset": "0xffffffa37dda1157"'),
	$(vcpu 1 1014 '"tsc_offset": "0xffffffa37dda1156"')"
run align --format json tsc.dat tsc-g1.dat
check "a cycle is none" test "$(aligned source)" = sidecar
check "and no step" sh -c "! grep -q steps '$OUT'"

# those that were changed during the trace, as nothing of the guest shows it: t104 has others
tsc '"0xffffffa37dda1157"' '"tsc_offset_at_end": "0xffffffa47dda1157"'
run align --format json tsc.dat tsc-g1.dat
status 0
check "changed in the end" test "$(aligned source)" = sidecar
says "$ERR" "the TSC offset of vCPU 0 changed by +4294967296 cycles during the recording"
sidecar tsc.dat web "$(vcpu 0 1013 '"tsc_offset": "0xffffffa37dda1157"'),
	$(vcpu 1 1014 '"tsc_offset": "0xffffffa37dda1157", "tsc_scale": 1.5')"
run align --format json tsc.dat tsc-g1.dat
check "not those of two speeds" test "$(aligned source)" = causality
says "$ERR" "the TSC of vCPU 1 runs at another speed than that of vCPU 0"
tsc '"0xffffffa37dda1157"' '"tsc_offset_at_end": -397320515241'
run align --format json tsc.dat tsc-g1.dat
check "the same at its end" test "$(aligned source)" = sidecar
check "nothing to say" test ! -s "$ERR"

# A damaged sidecar, of whatever trace, is set aside.
cp "$SAMPLES/hvm-exits.xen" a.xen
for bad in '{' '[]' '{ "cpu_khz": 1 }' ''; do
	for name in host.dat a.xen; do
		rm -f ./*.meta.json
		run report --full -q $name
		cp "$OUT" before
		printf '%s' "$bad" > $name.meta.json
		run report --full $name
		status 0
		same before "$OUT"
		check "$name: said once" test "$(grep -c "^$name.meta.json: " "$ERR")" = 1
		run plot -o /dev/null -f svg $name
		status 0
		says "$ERR" "$name.meta.json: "
	done
done
rm -f ./*.meta.json
run report --full -q host.dat guest.dat
cp "$OUT" before
echo '{ "alignment": { "offset": "x" } }' > guest.dat.meta.json
run report --full host.dat guest.dat
status 0
same before "$OUT"
says "$ERR" "guest.dat: the sidecar's \"alignment\" has no offset"

finish
