# SPDX-License-Identifier: LGPL-2.1-or-later
# The report's numbers are those that follow from what trace-cmd prints of the records; see
# kvm_oracle.py. Further traces, with their guests, come from KSV_KVM_TRACES: "HOST [GUEST...];...".
. "$(dirname "$0")/lib.sh"

command -v trace-cmd >/dev/null || {
	echo "trace-cmd is missing (Debian: apt-get install trace-cmd)"
	exit 77
}

# oracle HOST [GUEST...]
oracle()
{
	local text n=0 texts=()

	run report --quiet --format json "$@"
	status 0
	cp "$OUT" "$WORK/report.json"
	for trace in "$@"; do
		n=$((n + 1))
		text=$WORK/text$n
		trace-cmd report -t "$trace" > "$text" 2>/dev/null
		texts+=("$text")
	done
	echo "$(basename "$1"):"
	python3 "$GOLDEN/kvm_oracle.py" "$WORK/report.json" "${texts[@]}"
	STATUS=$?
	status 0
}

oracle "$SAMPLES/kvm-host.dat" "$SAMPLES/kvm-guest.dat"
oracle "$SAMPLES/kvm-shared.dat"
IFS=';' read -ra more <<< "${KSV_KVM_TRACES:-}"
for traces in "${more[@]}"; do
	# shellcheck disable=SC2086
	oracle $traces
done

# While both share a pCPU, each is the other's culprit.
run report --quiet --format json "$SAMPLES/kvm-shared.dat"
check "each vCPU is the other one's culprit" python3 - "$OUT" << 'END'
import json, sys
vcpus = json.load(open(sys.argv[1]))["machines"][0]["vcpus"]
first = [v["culprits"][0]["who"] for v in vcpus]
moves = [[(m["from_pcpu"], m["to_pcpu"]) for m in v["migration_list"]] for v in vcpus]
print(first, moves)
sys.exit(first != ["g1v1", "g1v0"] or moves != [[(1, 2)], [(0, 2)]])
END

# The oracle finds it if a number is wrong.
run report --quiet --format json "$SAMPLES/kvm-shared.dat"
trace-cmd report -t "$SAMPLES/kvm-shared.dat" 2>/dev/null |
	awk '/ R ==> CPU 0\/KVM/ && !done { done = 1; next } { print }' > "$WORK/text1"
if python3 "$GOLDEN/kvm_oracle.py" "$OUT" "$WORK/text1" > "$WORK/said"; then
	fail "a missing switch is not noticed"
fi
finish
